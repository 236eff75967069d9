#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plans the memory of networks of MXNet's zoo, beside MXNet's own plan.

usage: memory.py [--dlc DLC] [--dlc-opt DLC_OPT] [--batch 32] [--mode MODE]
                 [NETWORK...]

MODE is inference, training (the gradients of all parameters, with statistics of
the batch) or budget: training in the part BUDGET of MXNet's bytes, or in the
smallest budget that can be met, with the modelled time of a step over that without
a budget. MXNet's figures are the "Total N MB allocated" of Executor.debug_str() of
MXNet 1.9.1, batch 32; neither they nor ours count what the caller binds: inputs,
parameters, gradients. Exits with 1 when a ratio of bytes is above its bar (BARS),
or one of times above MOST_TIME.
"""

import argparse
import gzip
import math
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent / "networks"
STATES = ("running_mean", "running_var")
SIDE = {"inceptionv3": 299}
MXNET = {  # MB at batch 32: inference, training.
    "resnet50_v1": (300, 2772),
    "mobilenetv2_1.0": (365, 2670),
    "densenet121": (267, 4165),
    "inceptionv3": (430, 3176),
    "vgg16": (910, 2427),
}
BUDGET = 0.3  # What the mode budget asks for, of MXNet's bytes.
MOST_TIME = 1.3  # Of the modelled time without a budget.
# Largest geometric mean, and largest ratio of one network.
BARS = {"inference": (0.65, 0.95), "training": (0.6, math.inf), "budget": (BUDGET, BUDGET)}


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"{' '.join(command)}: {result.stderr[-2000:]}")
    return result.stdout


def write_zeros(path, shapes):
    """A .params file (V2) of zeros; most of it is a hole of the file system."""
    with open(path, "wb") as file:
        file.write(struct.pack("<QQQ", 0x112, 0, len(shapes)))
        for shape in shapes.values():
            file.write(struct.pack("<IiI", 0xF993FAC9, 0, len(shape)))
            file.write(struct.pack(f"<{len(shape)}q", *shape))
            file.write(struct.pack("<iii", 1, 0, 0))
            file.seek(4 * math.prod(shape), os.SEEK_CUR)
        file.write(struct.pack("<Q", len(shapes)))
        for name in shapes:
            file.write(struct.pack("<Q", len(name)) + name.encode())


def parameters(text):
    """The shapes of the inputs but the data, of a module as text."""
    pattern = r'tensor<([0-9x]*)f32> \{graph.name = "([^"]*)"'
    inputs = re.search(r"func.func @main\((.*?)\) ->", text, re.S).group(1)
    return {name: [int(d) for d in dims.split("x") if d]
            for dims, name in re.findall(pattern, inputs) if name != "data"}


def arena(plan):
    """Bytes of all arenas, and the lower bound of the planner."""
    sizes = re.findall(r"plan.arena @\S+ <\S+> size\((\d+)\) lower_bound\((\d+)\)", plan)
    return sum(int(s) for s, _ in sizes), sum(int(b) for _, b in sizes)


def plan(options, name, folder):
    """The text of the network's plan."""
    model = os.path.join(folder, name + "-symbol.json")
    with gzip.open(FOLDER / (name + "-symbol.json.gz")) as packed:
        pathlib.Path(model).write_bytes(packed.read())
    side = SIDE.get(name, 224)
    shape = ["--shape", f"data={options.batch}x3x{side}x{side}"]
    if options.mode != "inference":
        shape.append("--training")
    graph = run(options.dlc, "compile", model, *shape, "--emit=import")
    if options.mode == "inference":
        params = os.path.join(folder, name + ".params")
        write_zeros(params, parameters(graph))
        return run(options.dlc, "compile", model, *shape, "--params", params, "--emit=plan")
    names = ",".join(name for name in parameters(graph) if not name.endswith(STATES))
    text = os.path.join(folder, name + ".mlir")
    pathlib.Path(text).write_text(graph, encoding="utf-8")
    differentiated = os.path.join(folder, name + "-gradient.mlir")
    run(options.dlc_opt, text, "-o", differentiated, "--graph-infer-types",
        f"--graph-gradient=wrt={names}")
    if options.mode == "budget":
        return plan_within(options, differentiated,
                           int(BUDGET * MXNET[name][1] * 2**20 * options.batch / 32))
    return run(options.dlc, "compile", differentiated, "--emit=plan")


def plan_within(options, path, budget):
    """The plan within a budget, and a last line with the modelled time's ratio."""
    command = [options.dlc, "compile", path, "--emit=plan", "--remarks", "--memory-budget"]
    result = subprocess.run([*command, str(budget)], capture_output=True, text=True, check=False)
    least = re.search(r"budget of at least (\d+) bytes", result.stderr)
    if least:
        result = subprocess.run([*command, least[1]], capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"{path}: {result.stderr[-2000:]}")
    plain = subprocess.run(command[:-1], capture_output=True, text=True, check=True).stderr
    step = int(re.search(r"NanosecondsBefore=(\d+)", plain)[1])
    kept, again = (int(re.findall(r"Nanoseconds=(\d+)", text)[-1])
                   for text in (plain, result.stderr))
    return f"{result.stdout}\nmodelled {(step + again) / (step + kept):.3f}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dlc", default="build/bin/dlc")
    parser.add_argument("--dlc-opt", default="build/bin/dlc-opt")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--mode", choices=BARS, default="inference")
    parser.add_argument("networks", nargs="*", metavar="NETWORK")
    options = parser.parse_args()
    ratios, times = [], []
    print(f"{options.mode}, batch {options.batch}; MB of 2^20 bytes")
    print(f"{'network':18} {'MXNet':>7} {'dlc':>7} {'bound':>7} ratio")
    for name in options.networks or MXNET:
        with tempfile.TemporaryDirectory() as folder:
            text = plan(options, name, folder)
        size, bound = arena(text)
        modelled = re.findall(r"\nmodelled (\S+)", text)
        mxnet = MXNET[name][options.mode != "inference"] * options.batch / 32
        times += map(float, modelled)
        ratios.append(size / 2**20 / mxnet)
        print(f"{name:18} {mxnet:7.0f} {size / 2**20:7.0f} {bound / 2**20:7.0f} "
              f"{ratios[-1]:.3f}", *(f"time {ratio}" for ratio in modelled), flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"{'geometric mean':42} {mean:.3f}")
    most_mean, most = BARS[options.mode]
    sys.exit(mean > most_mean or max(ratios) > most or max(times, default=1) > MOST_TIME)


if __name__ == "__main__":
    main()
