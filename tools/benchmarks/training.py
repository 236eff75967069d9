#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times steps of training resnet18 (SGD with momentum) beside the peers.

usage: training.py [--dlc DLC] [--batch 8] [--threads 2] [--rounds 3]
                   [--torch PYTHON] [--mxnet PYTHON] [--trajectory]
       training.py --recompute [NETWORK...] [--of-mxnet PART --batch 32]

The peers are interpreters that can import torch, or mxnet 1.9.1 (Python 3.8,
numpy<1.24); without one, dlc is timed alone. All take turns, so that other work
on the machine disturbs each alike. Prints milliseconds a step, the least and the
median of means of 4 steps, and the ratio of dlc's. With --trajectory, 20 steps on one batch of four
with the same first values, and the losses of dlc and MXNet, without and with its
oneDNN: exits with 1 where dlc's differ from the former by more than 2e-3, of
losses above 1 as a part of them.

With --recompute, steps of the networks (resnet18_v1 and mobilenetv2_1.0 without
names) that compute nothing again, those of the default, and those within half of
the default's bytes, or within the smallest budget that can be met: compiled
first, on random values then, in turn. Exits with 1 where the default takes more
than 1.05 times the first's median, or a budget more than 1.3 times. With
--of-mxnet, steps of the default, the first then, and those within that part of
the bytes that MXNet takes for training (memory.py), or the smallest budget.
"""

import argparse
import gzip
import json
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import zipfile

import memory

NETWORKS = pathlib.Path(__file__).resolve().parent / "networks"
RATE, MOMENTUM = 0.01, 0.9
SMALL_RATE = 0.001  # At larger ones, rounding alone leads MXNet's two backends apart.
STEPS = 4  # A round of each.
MOST = {"default": 1.05, "half": 1.3, "part": 1.3}  # Times of the first's steps.

MXNET = """
import json, sys, time
import numpy as np
import mxnet as mx
from mxnet import autograd, gluon
options = json.loads(sys.argv[1])
data = np.load(options["data"])
x, y = mx.nd.array(data["data"]), mx.nd.array(data["label"])
network = gluon.SymbolBlock.imports(options["model"], ["data"], options["params"])
loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
network.hybridize(static_alloc=True, static_shape=True)
trainer = gluon.Trainer(network.collect_params(), "sgd",
                        {"learning_rate": options["rate"], "momentum": options["momentum"]})
size = options["batch"]
for step in range(options["steps"]):
    begin = time.perf_counter()
    first = step * size % len(x)
    with autograd.record():
        loss = loss_of(network(x[first:first + size]), y[first:first + size])
    loss.backward()
    trainer.step(size)
    mx.nd.waitall()
    print(json.dumps([time.perf_counter() - begin, float(loss.mean().asscalar())]), flush=True)
"""

TORCH = """
import json, sys, time
import torch
from torch import nn
options = json.loads(sys.argv[1])
torch.set_num_threads(options["threads"])


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs),
            nn.ReLU(), nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False),
            nn.BatchNorm2d(outputs))
        self.side = nn.Identity() if stride == 1 else nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return torch.relu(self.body(x) + self.side(x))


layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
          nn.MaxPool2d(3, 2, 1), Block(64, 64, 1), Block(64, 64, 1)]
for width in (64, 128, 256):
    layers += [Block(width, 2 * width, 2), Block(2 * width, 2 * width, 1)]
network = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))
x = torch.randn(options["batch"], 3, 224, 224)
y = torch.randint(0, 1000, (options["batch"],))
loss_of = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(network.parameters(), options["rate"], options["momentum"])
run = torch.compile(network) if options["compiled"] else network
for step in range(options["steps"]):
    begin = time.perf_counter()
    optimizer.zero_grad()
    loss = loss_of(run(x), y)
    loss.backward()
    optimizer.step()
    print(json.dumps([time.perf_counter() - begin, float(loss)]), flush=True)
"""


def npy(code, shape, values):
    dims = "".join(f"{dim}," for dim in shape)
    header = f"{{'descr': '<{code[1]}{code[2]}', 'fortran_order': False, 'shape': ({dims})}}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
            struct.pack(f"<{len(values)}{code[0]}", *values))


def write_data(path, examples, side=224):
    draw = random.Random(1)
    data = [2 * draw.random() - 1 for _ in range(examples * 3 * side * side)]
    labels = [i * 37 % 1000 for i in range(examples)]
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("data.npy", npy("ff4", (examples, 3, side, side), data))
        file.writestr("label.npy", npy("qi8", (examples,), labels))


def unpack(name, folder):
    path = pathlib.Path(folder, "net-symbol.json")
    path.write_bytes(gzip.decompress((NETWORKS / f"{name}-symbol.json.gz").read_bytes()))
    return str(path)


def train_command(options, model, data, batch, rate):
    return [options.dlc, "train", model, "--data", data, "--loss", "softmax-cross-entropy",
            "--optimizer", "sgd", "--momentum", str(MOMENTUM), "--learning-rate", str(rate),
            "--batch", str(batch), "--threads", str(options.threads)]


def run(command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"{' '.join(command)}: {result.stderr[-2000:]}")
    return result.stdout


def run_dlc(options, folder, data, batch, epochs, *more, rate=RATE):
    """Seconds of each epoch, and its loss."""
    command = train_command(options, f"{folder}/net-symbol.json", data, batch, rate)
    output = run([*command, "--epochs", str(epochs), *more])
    lines = re.findall(r"epoch \d+: loss ([0-9.e+-]+).*, ([0-9.]+) s", output)
    return [float(time) for _, time in lines], [float(loss) for loss, _ in lines]


def run_peer(python, script, options, **more):
    """Seconds and losses of each step."""
    given = {"rate": RATE, "momentum": MOMENTUM, "threads": options.threads, **more}
    threads = str(options.threads)
    environment = {**os.environ, "OMP_NUM_THREADS": threads}
    command = [python, "-c", script, json.dumps(given)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if result.returncode:
        sys.exit(f"{python}: {result.stderr[-2000:]}")
    steps = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("[")]
    return [time for time, _ in steps], [loss for _, loss in steps]


def report(times):
    ours = None
    print(f"{'':16} {'least ms':>9} {'median ms':>9}  dlc's median over its")
    for name, steps in times.items():
        steps.sort()
        least, median = steps[0], steps[len(steps) // 2]
        ours = ours or median
        print(f"{name:16} {1000 * least:9.0f} {1000 * median:9.0f}  {ours / median:.2f}")


def compare_speed(options, folder):
    data = f"{folder}/data.npz"
    write_data(data, STEPS * options.batch)
    peers = {}
    if options.mxnet:
        run_dlc(options, folder, data, options.batch, 1, "--checkpoint", f"{folder}/net")
        peers["mxnet"] = (options.mxnet, MXNET, {
            "data": data, "model": f"{folder}/net-symbol.json",
            "params": f"{folder}/net-0001.params"})
    if options.torch:
        peers["torch"] = (options.torch, TORCH, {"compiled": False})
        peers["torch compiled"] = (options.torch, TORCH, {"compiled": True})
    times = {"dlc": [], **{name: [] for name in peers}}
    for _ in range(options.rounds):
        epochs, _ = run_dlc(options, folder, data, options.batch, 3)
        times["dlc"] += [time / STEPS for time in epochs[1:]]
        for name, (python, script, more) in peers.items():
            steps, _ = run_peer(python, script, options, batch=options.batch,
                                steps=2 + 2 * STEPS, **more)
            times[name] += [sum(steps[i:i + STEPS]) / STEPS
                            for i in range(2, len(steps), STEPS)]
    report(times)
    return True


def compare_losses(options, folder):
    data = f"{folder}/data.npz"
    write_data(data, 4)
    # First values for both: what dlc begins with, after a step that changes nothing.
    run_dlc(options, folder, data, 4, 1, "--checkpoint", f"{folder}/net", rate=1e-30)
    params = f"{folder}/net-0001.params"
    _, ours = run_dlc(options, folder, data, 4, 20, "--params", params, rate=SMALL_RATE)
    theirs = []
    for enabled in ("0", "1"):
        os.environ["MXNET_MKLDNN_ENABLED"] = enabled
        theirs.append(run_peer(options.mxnet, MXNET, options, data=data, batch=4, steps=20,
                               model=f"{folder}/net-symbol.json", params=params,
                               rate=SMALL_RATE)[1])
    for step, (a, b, c) in enumerate(zip(ours, *theirs), 1):
        print(f"step {step}: dlc {a:.4f}, mxnet {b:.4f}, mxnet with oneDNN {c:.4f}")

    def worst(a, b):
        return max(abs(x - y) / max(y, 1) for x, y in zip(a, b))

    print(f"largest difference, of losses above 1 as a part of them: "
          f"{worst(ours, theirs[0]):.1e}; between MXNet's own "
          f"{worst(*theirs):.1e}")
    return len(ours) == 20 and worst(ours, theirs[0]) <= 2e-3


def compile_within(options, step, path, budget):
    """Compiles for the budget, or for the smallest one that can be met."""
    command = [options.dlc, "compile", step, "-o", path, "--memory-budget"]
    result = subprocess.run([*command, str(budget)], capture_output=True, text=True, check=False)
    least = re.search(r"budget of at least (\d+) bytes", result.stderr)
    if least:
        run([*command, least[1]])
    elif result.returncode:
        sys.exit(f"{step}: {result.stderr[-2000:]}")


def bench(options, path, seconds):
    return json.loads(run([options.dlc, "bench", path, "--json", "--warmup", "1", "--seconds",
                           str(seconds), "--threads", str(options.threads)]))


def compile_steps(options, folder, name):
    """Paths of a step's programs, by what they compute again."""
    data, step = f"{folder}/data.npz", f"{folder}/{name}.mlir"
    write_data(data, options.batch, memory.SIDE.get(name, 224))
    command = train_command(options, unpack(name, folder), data, options.batch, RATE)
    pathlib.Path(step).write_text(run([*command, "--emit=import"]), encoding="utf-8")
    kinds = ("default", "part") if options.of_mxnet else ("none", "default", "half")
    paths = {kind: f"{folder}/{name}-{kind}.dlc" for kind in kinds}
    run([options.dlc, "compile", step, "-o", paths["default"]])
    if options.of_mxnet:
        theirs = memory.MXNET[name][1] * 2**20 * options.batch / 32
        compile_within(options, step, paths["part"], int(options.of_mxnet * theirs))
        return paths
    run([options.dlc, "compile", step, "-o", paths["none"], "--no-recompute"])
    size = bench(options, paths["default"], 0.01)["arena_bytes"]
    compile_within(options, step, paths["half"], size // 2)
    return paths


def compare_recompute(options, folder):
    names = options.recompute or ["resnet18_v1", "mobilenetv2_1.0"]
    programs = {name: compile_steps(options, folder, name) for name in names}
    keep = True
    print(f"{'network':18} {'again':8} {'MB':>6} {'of default':>10} {'median ms':>9}  time", flush=True)
    for name, paths in programs.items():
        times, sizes = {kind: [] for kind in paths}, {}
        for _ in range(options.rounds):
            for kind, path in paths.items():
                result = bench(options, path, options.seconds)
                times[kind].append(result["median_ms"])
                sizes[kind] = result["arena_bytes"]
        medians = {kind: sorted(each)[len(each) // 2] for kind, each in times.items()}
        for kind, median in medians.items():
            ratio = median / medians[next(iter(paths))]
            keep &= ratio <= MOST.get(kind, 1)
            print(f"{name:18} {kind:8} {sizes[kind] / 2**20:6.0f} "
                  f"{sizes[kind] / sizes['default']:10.3f} {median:9.0f}  {ratio:.3f}", flush=True)
    return keep


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dlc", default="build/bin/dlc")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--torch", metavar="PYTHON")
    parser.add_argument("--mxnet", metavar="PYTHON")
    parser.add_argument("--trajectory", action="store_true")
    parser.add_argument("--recompute", nargs="*", metavar="NETWORK")
    parser.add_argument("--of-mxnet", type=float, metavar="PART")
    parser.add_argument("--seconds", type=float, default=3, help="of each program in a round")
    options = parser.parse_args()
    if options.trajectory and not options.mxnet:
        parser.error("expected --mxnet beside --trajectory")
    with tempfile.TemporaryDirectory() as folder:
        if options.recompute is not None:
            sys.exit(not compare_recompute(options, folder))
        unpack("resnet18_v1", folder)
        compare = compare_losses if options.trajectory else compare_speed
        sys.exit(not compare(options, folder))


if __name__ == "__main__":
    main()
