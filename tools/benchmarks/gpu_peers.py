#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times on a GPU what tools/scripts/gpu-check.sh times, by PyTorch and JAX.

usage: gpu_peers.py [--dlc FOLDER] [--only NAME...] [--plain] [--small]

Prints a row for each kernel and network with the microseconds that PyTorch takes
as it is and compiled (torch.compile), both replayed as a CUDA graph where that
can be, and JAX, if these can be imported; 256 MB of f32, products of 4096 x 4096
x 4096, ResNet-50 and BERT-base of random weights. With --dlc, a folder that
gpu-check.sh prepared, what dlc's kernels take in the same run, each by itself,
that over the least of the others, and, for networks, a whole run with the copies
of inputs and outputs. --plain: without torch.compile, which takes its time.
--small: on any machine, to try the script.
"""

import argparse
import pathlib
import statistics
import subprocess
import time

import torch
from torch import nn

HAS_GPU = torch.cuda.is_available()
DEVICE = "cuda" if HAS_GPU else "cpu"


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, step):
        super().__init__()
        outputs = 4 * width

        def part(a, b, window, stride):
            return nn.Sequential(
                nn.Conv2d(a, b, window, stride, window // 2, bias=False), nn.BatchNorm2d(b))

        self.parts = nn.Sequential(part(inputs, width, 1, 1), nn.ReLU(),
                                   part(width, width, 3, step), nn.ReLU(),
                                   part(width, outputs, 1, 1))
        self.side = part(inputs, outputs, 1, step) if step != 1 or inputs != outputs else None

    def forward(self, x):
        return torch.relu(self.parts(x) + (self.side(x) if self.side else x))


def resnet50():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
              nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for width, count, step in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(count):
            layers.append(Bottleneck(inputs, width, step if i == 0 else 1))
            inputs = 4 * width
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000)]
    return nn.Sequential(*layers).eval()


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(30522, 768)
        layer = nn.TransformerEncoderLayer(768, 12, 3072, 0.0, "gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 12)

    def forward(self, tokens):
        return self.layers(self.words(tokens))


def once(run):
    """Milliseconds of a run, by the device's clock; it is waited for, as dlc
    explain does: GPUs are faster for a while than they are for long."""
    if not HAS_GPU:
        begin = time.perf_counter()
        run()
        return (time.perf_counter() - begin) * 1e3
    begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
    begin.record()
    run()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end)


def graphed(run):
    """`run` as one piece of work, if it can be."""
    if not HAS_GPU:
        return run
    try:
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(3):
                run()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            run()
        return graph.replay
    except RuntimeError as error:
        print(f"note: not recorded: {str(error).splitlines()[0]}")
        return run


def microseconds(run, rounds=20):
    for _ in range(3):
        run()
    return statistics.median(once(run) for _ in range(rounds)) * 1e3


def torch_times(compiles, function, *arguments):
    with torch.inference_mode():
        plain = microseconds(graphed(lambda: function(*arguments)))
        if not compiles:
            return plain, None
        compiled = torch.compile(function)
        return plain, microseconds(graphed(lambda: compiled(*arguments)))


def jax_time(name, shape, kind):
    """Of the kernels; None without JAX or where it has no such form here."""
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        return None
    functions = {
        "relu": lambda x: jnp.maximum(x, 0),
        "exp_tanh": lambda x: jnp.tanh(jnp.exp(x)),
        "softmax": lambda x: jax.nn.softmax(x, axis=1),
        "layer_norm": lambda x: (x - x.mean(1, keepdims=True)) * jax.lax.rsqrt(
            x.var(1, keepdims=True) + 1e-5),
        "transpose": lambda x: x.T + 0,
        "matmul": lambda x: jnp.matmul(x, x, precision="highest" if kind == "f32" else None),
    }
    if name not in functions:
        return None
    types = {"f32": jnp.float32, "f16": jnp.float16, "bf16": jnp.bfloat16}
    x = jax.random.normal(jax.random.key(0), shape).astype(types[kind])
    run = jax.jit(functions[name])
    for _ in range(3):
        run(x).block_until_ready()
    times = []
    for _ in range(7):  # By the host: of runs queued behind each other.
        begin = time.perf_counter()
        for _ in range(20):
            y = run(x)
        y.block_until_ready()
        times.append((time.perf_counter() - begin) / 20 * 1e6)
    return statistics.median(times)


def dlc_times(folder, file, is_network):
    """Microseconds of the kernels of a program, and of a run of a network."""
    program = pathlib.Path(folder) / f"{file}.gpu.dlc"
    if not program.exists():
        return None, None

    def dlc(*command):
        return subprocess.run([pathlib.Path(folder) / "dlc", *command], capture_output=True,
                              text=True, check=True).stdout

    table = dlc("explain", program, "--random", "--runs", "20").splitlines()
    rows = [line for line in table if " Generated " in line or " Library " in line]
    if file.startswith("matmul"):  # The fastest of several.
        rows = [min((row for row in rows if "matmul " in row), key=lambda row: float(row.split()[0]))]
    kernels = sum(float(row.split()[0]) for row in rows)
    if not is_network:
        return kernels, None
    text = dlc("bench", program, "--seconds", "1")
    return kernels, float(text.split("median ")[1].split()[0]) * 1e3


def cases(small):
    """Name, file of gpu-check, whether it is a network, function, arguments, and what JAX needs."""
    rows, columns = (64, 1024) if small else (65536, 1024)
    side = 128 if small else 4096
    x = torch.randn(rows, columns, device=DEVICE)
    norm = nn.LayerNorm(columns, device=DEVICE)
    wide = x.reshape(-1)
    square = x.reshape(-1)[:side * side // 4 * 4].reshape(-1, 64) if small else x.reshape(8192, -1)
    yield "relu", "relu_256MB", False, torch.relu, (wide,), (tuple(wide.shape), "f32")
    yield "exp_tanh", "exp_tanh_256MB", False, lambda v: torch.tanh(torch.exp(v)), (wide,), (
        tuple(wide.shape), "f32")
    yield "softmax", "softmax_256MB", False, lambda v: torch.softmax(v, 1), (x,), (
        (rows, columns), "f32")
    yield "layer_norm", "layer_norm_256MB", False, norm, (x,), ((rows, columns), "f32")
    yield "transpose", "transpose_256MB", False, lambda v: v.T.contiguous(), (square,), (
        tuple(square.shape), "f32")
    torch.backends.cuda.matmul.allow_tf32 = False
    for kind, dtype in (("f32", torch.float32), ("f16", torch.float16), ("bf16", torch.bfloat16)):
        a = torch.randn(side, side, device=DEVICE).to(dtype)
        for suffix in ("", "_library"):
            yield "matmul", f"matmul_4096_{kind}{suffix}", False, torch.matmul, (a, a), (
                (side, side), kind)
    for kind, dtype, heads, depth in (("f16", torch.float16, 64, 64),
                                      ("bf16", torch.bfloat16, 32, 128)):
        q = torch.randn(1, 2 if small else heads, side, depth, device=DEVICE).to(dtype)
        yield "attention", f"attention_4096_{kind}", False, (
            lambda v: nn.functional.scaled_dot_product_attention(v, v, v)), (q,), None
    for batch, dtype, name in ((1, torch.float16, "resnet50 f16"),
                               (2 if small else 128, torch.bfloat16, "resnet50 b128 bf16")):
        network = resnet50().to(DEVICE, dtype, memory_format=torch.channels_last)
        image = torch.randn(batch, 3, 64 if small else 224, 64 if small else 224, device=DEVICE)
        image = image.to(dtype, memory_format=torch.channels_last)
        yield name, name.replace(" ", "_"), True, network, (image,), None
    bert = Bert().to(DEVICE, torch.float16 if HAS_GPU else torch.float32).eval()
    tokens = torch.randint(30522, (1, 16 if small else 128), device=DEVICE)
    yield "bert_base f16", "bert_base_f16", True, bert, (tokens,), None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dlc", help="folder that gpu-check.sh prepared")
    parser.add_argument("--only", nargs="*", help="names of cases")
    parser.add_argument("--plain", action="store_true", help="without torch.compile")
    parser.add_argument("--small", action="store_true", help="small cases, on any machine")
    options = parser.parse_args()
    if not HAS_GPU and not options.small:
        parser.error("expected a GPU, or --small")
    print(f"{torch.cuda.get_device_name() if HAS_GPU else 'no GPU'}, PyTorch {torch.__version__}")
    print("| | PyTorch us | compiled | JAX | dlc, kernels | of the least | a run |")
    print("|---|---|---|---|---|---|---|")
    for name, file, is_network, function, arguments, for_jax in cases(options.small):
        if options.only and name not in options.only:
            continue
        plain, compiled = torch_times(not options.plain, function, *arguments)
        jax = jax_time(name, *for_jax) if for_jax else None
        own, run = dlc_times(options.dlc, file, is_network) if options.dlc else (None, None)
        least = min(each for each in (plain, compiled, jax) if each)
        cells = [f"{each:.1f}" if each else "" for each in (plain, compiled, jax, own)]
        cells.append(f"{own / least:.2f}" if own else "")
        cells.append(f"{run:.1f}" if run else "")
        print(f"| {file or name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
