#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""End-to-end tests of dlc on whole networks.

usage: run.py --dlc build/bin/dlc [--target cuda:sm_80]
       run.py --store

Each network is made small enough for a test by tools/benchmarks/models.py's
own builders. The answers to compare with are stored in references/NAME.npz, by
--store: they come from ONNX's reference evaluator (package onnx), which shares
nothing with DLC. With --target for a GPU, the tests that compare with stored
answers run, on the GPU that libcuda.so.1 has. Prints 'N passed, N failed'.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "benchmarks"))
sys.path.insert(0, os.path.join(ROOT, "tools", "examples", "digits"))

import models  # noqa: E402

TOLERANCE = 1e-4  # of the largest output
SHORT_TOLERANCE = 1e-2  # the same of f16, of which each operation rounds
REFERENCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "references")


def run(*command, expected=0):
    done = subprocess.run(command, text=True, capture_output=True)
    if done.returncode != expected:
        raise AssertionError(f"{' '.join(command)}: exit {done.returncode}: "
                             f"{done.stderr.strip() or done.stdout.strip()}")
    return done


def largest_error(found, expected):
    scale = np.abs(expected).max() or 1
    return np.abs(found.astype(np.float64) - expected).max() / scale


def feeds_of(model, seed=1):
    random = np.random.default_rng(seed)
    feeds = {}
    for value in model.graph.input:
        kind = value.type.tensor_type
        shape = [d.dim_value for d in kind.shape.dim]
        if kind.elem_type == onnx.TensorProto.INT64:
            high = 2 if "mask" in value.name else 100
            feeds[value.name] = random.integers(0, high, shape)
        else:
            feeds[value.name] = random.standard_normal(shape).astype(np.float32)
    return feeds


def store_reference(model, feeds, name):
    outputs = ReferenceEvaluator(model).run(None, feeds)
    values = {f"input {key}": value for key, value in feeds.items()}
    for output, value in zip(model.graph.output, outputs):
        values[f"output {output.name}"] = value
    os.makedirs(REFERENCES, exist_ok=True)
    np.savez_compressed(os.path.join(REFERENCES, f"{name}.npz"), **values)


TARGET = []  # Options of dlc compile.


def check_kernels(dlc, artifact):
    """A GPU computes everything; the host checks indices."""
    kernels = re.findall(r"^kernel @\d+ (.*)$", run(dlc, "dump", artifact).stdout,
                         re.MULTILINE)
    there = [kernel for kernel in kernels if " threads=256 " in kernel]
    others = r"Copy |Reference reference\.resolve_indices "
    here = [kernel for kernel in kernels
            if kernel not in there and not re.match(others, kernel)]
    assert there and not here, f"on the GPU {there}, on the CPU {here}"


def check_network(dlc, folder, network, kind=None):
    """With `kind`, f16, floats are short ones; answers are to be near those of f32."""
    network.save(folder)
    path = os.path.join(folder, f"{network.name}.onnx")
    model = onnx.load(path)
    feeds = feeds_of(model)
    if dlc is None:
        return store_reference(model, feeds, network.name)
    own = feeds
    if kind:
        models.shorten(path, kind)
        own = {name: value.astype(np.float16) if value.dtype == np.float32 else value
               for name, value in feeds.items()}
    np.savez(os.path.join(folder, "in.npz"), **own)
    artifact = os.path.join(folder, "m.dlc")
    text = run(dlc, "compile", path, "-o", artifact, *TARGET).stderr
    staying = [line for line in text.splitlines() if " and not on " in line]
    assert not staying, text
    if TARGET:
        check_kernels(dlc, artifact)
    first = open(artifact, "rb").read()
    run(dlc, "compile", path, "-o", artifact, *TARGET)
    assert first == open(artifact, "rb").read(), "compiled twice, bytes differ"
    with np.load(os.path.join(REFERENCES, f"{network.name}.npz")) as stored:
        for name, value in feeds.items():
            assert np.array_equal(stored[f"input {name}"], value), \
                f"the stored reference is for another input {name}: run --store"
        expected = [stored[f"output {o.name}"] for o in model.graph.output]
    for threads in ("1", "2"):
        run(dlc, "run", artifact, "--inputs", os.path.join(folder, "in.npz"),
            "--outputs", os.path.join(folder, "out.npz"), "--threads", threads)
        found = np.load(os.path.join(folder, "out.npz"))
        for output, value in zip(model.graph.output, expected):
            error = largest_error(found[output.name], value)
            assert error <= (SHORT_TOLERANCE if kind else TOLERANCE), \
                f"{output.name}: error {error:.2e}"


def bottleneck():
    g = models.Network("bottleneck", 1)
    x = g.input("data", onnx.TensorProto.FLOAT, [2, 3, 33, 33])
    x = g.op("Relu", g.batch_norm(g.conv(x, 3, 16, 7, 2), 16))
    x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    y = g.op("Relu", g.batch_norm(g.conv(x, 16, 8, 1), 8))
    y = g.op("Relu", g.batch_norm(g.conv(y, 8, 8, 3, 2), 8))
    y = g.batch_norm(g.conv(y, 8, 32, 1), 32)
    x = g.op("Relu", g.op("Add", y, g.batch_norm(g.conv(x, 16, 32, 1, 2), 32)))
    x = g.op("Flatten", g.op("GlobalAveragePool", x))
    x = g.op("Gemm", x, g.normal((10, 32), 0.2), g.normal(10, 0.1), transB=1)
    g.output(g.op("Softmax", x, axis=-1), "prob", [2, 10])
    return g


def test_bottleneck(dlc, folder):
    """Two ResNet blocks, one with a strided shortcut."""
    check_network(dlc, folder, bottleneck())


def test_inverted_residual(dlc, folder):
    """Depthwise convolutions and clips of MobileNetV2."""
    g = models.Network("inverted", 2)
    x = g.input("data", onnx.TensorProto.FLOAT, [1, 8, 15, 15])
    y = g.op("Clip", g.batch_norm(g.conv(x, 8, 24, 1), 24), g.scalar(0), g.scalar(6))
    y = g.op("Clip", g.batch_norm(g.conv(y, 24, 24, 3, 1, group=24), 24), g.scalar(0), g.scalar(6))
    y = g.op("Add", x, g.batch_norm(g.conv(y, 24, 8, 1), 8))
    y = g.op("Clip", g.conv(y, 8, 24, 3, 2, group=8), g.scalar(0), g.scalar(6))
    g.output(y, "y", [1, 24, 8, 8])
    check_network(dlc, folder, g)


def test_separable(dlc, folder):
    """Channels that end within a block: 200, 88 and 72."""
    g = models.Network("separable", 7)
    x = g.input("data", onnx.TensorProto.FLOAT, [1, 3, 33, 31])
    x = g.op("Relu", g.batch_norm(g.conv(x, 3, 200, 3, 2), 200))
    y = g.conv(g.conv(x, 200, 200, 3, group=200), 200, 200, 1)
    x = g.op("Relu", g.op("Add", x, y))
    x = g.op("Concat", g.conv(x, 200, 88, 3, 2), g.conv(x, 200, 72, 1, 2), axis=1)
    x = g.op("Clip", g.conv(x, 160, 88, 1), g.scalar(0), g.scalar(6))
    x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    x = g.op("Sigmoid", g.conv(x, 88, 72, 3, 2))
    x = g.op("Flatten", g.op("GlobalAveragePool", x))
    g.output(g.linear(x, 72, 10), "y", [1, 10])
    check_network(dlc, folder, g)


def bert():
    return models.bert("bert_tiny", 3, layers=2, hidden=48, heads=4, inner=96, length=12,
                       vocabulary=100)


def test_bert(dlc, folder):
    check_network(dlc, folder, bert())


def test_short_floats(dlc, folder):
    if dlc is None:
        return
    for network in (bottleneck(), bert()):
        check_network(dlc, folder, network, "f16")


def test_large_short_floats(dlc, folder):
    """What operations compute in between does not overflow where results do not."""
    if dlc is None:
        return
    g = models.Network("large", 6)
    x = g.input("x", onnx.TensorProto.FLOAT, [4, 256])
    values = (np.random.default_rng(1).standard_normal((4, 256)) * 100).astype(np.float16)
    wide = values.astype(np.float64)
    norm = np.sqrt((wide * wide).sum(1, keepdims=True))
    expected = {
        "l2": norm, "lp": wide / norm,
        "logsum": np.log((wide * wide / 16).sum(1, keepdims=True)),
        "mean": np.full_like(wide, 40000), "sum": 40000 + 40000 - 30000 + 0 * wide}
    big, less = [g.weight(np.full((4, 256), value, np.float32)) for value in (40000, -30000)]
    quarter = g.op("Mul", x, g.scalar(0.25))
    found = {"l2": g.op("ReduceL2", x, axes=[1]), "lp": g.op("LpNormalization", x, axis=1, p=2),
             "logsum": g.op("ReduceLogSum", g.op("Mul", quarter, quarter), axes=[1]),
             "mean": g.op("Mean", big, big, big), "sum": g.op("Sum", big, big, less)}
    for name, value in found.items():
        g.output(value, name, list(expected[name].shape))
    g.save(folder)
    path = os.path.join(folder, "large.onnx")
    models.shorten(path, "f16")
    np.savez(os.path.join(folder, "in.npz"), x=values)
    run(dlc, "compile", path, "-o", os.path.join(folder, "m.dlc"), *TARGET)
    run(dlc, "run", os.path.join(folder, "m.dlc"), "--inputs", os.path.join(folder, "in.npz"),
        "--outputs", os.path.join(folder, "out.npz"))
    answers = np.load(os.path.join(folder, "out.npz"))
    for name, value in expected.items():
        error = largest_error(answers[name], value)
        assert error <= SHORT_TOLERANCE, f"{name}: error {error:.2e}"


def test_mlp(dlc, folder):
    check_network(dlc, folder, models.mlp("mlp_small", 4, batch=5, width=70, layers=3))


def test_elementwise(dlc, folder):
    check_network(dlc, folder, models.elementwise("elementwise_small", 5, size=1 << 12))


def test_digits(dlc, folder):
    """The trained network classifies real digits, batch size by data."""
    if dlc is None:
        return
    from train import held_out_split

    _, _, images, labels = held_out_split()
    np.save(os.path.join(folder, "image.npy"), images)
    run(dlc, "run", os.path.join(ROOT, "tools", "examples", "digits", "digits.onnx"),
        "--input", f"image={folder}/image.npy", "--outputs", f"{folder}/out.npz")
    found = np.load(f"{folder}/out.npz")["probability"]
    accuracy = (found.argmax(1) == labels).mean()
    assert accuracy >= 0.97, f"accuracy {accuracy}"


def test_training(dlc, folder):
    """Digits from nothing, as a symbol and as an ONNX model, to held-out ones."""
    if dlc is None:
        return
    from data import write

    write(folder)
    examples = os.path.join(ROOT, "tools", "examples", "digits")
    data = ["--data", f"{folder}/train.npz", "--test", f"{folder}/test.npz"]
    for model, options in (
            ("digits-symbol.json", ["--momentum", "0.9", "--learning-rate", "0.1"]),
            ("digits.onnx", ["--loss", "softmax-cross-entropy", "--initializer", "xavier",
                             "--optimizer", "adam", "--learning-rate", "0.002"])):
        text = run(dlc, "train", os.path.join(examples, model), *data, "--epochs", "10",
                   *options).stdout
        accuracy = float(re.findall(r"test accuracy ([0-9.]+) %", text)[-1])
        assert accuracy > 97, f"{model}: accuracy {accuracy}"


HOST_ONLY = ("test_digits", "test_training")  # They compile for the machine.


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--dlc", help="the program to test")
    group.add_argument("--store", action="store_true",
                       help="write the references anew and test nothing")
    parser.add_argument("--target", help="what networks are compiled for")
    options = parser.parse_args()
    dlc = None if options.store else os.path.abspath(options.dlc)
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    if options.target:
        TARGET.extend(["--target", options.target])
        tests = [(name, test) for name, test in tests if name not in HOST_ONLY]
    failed = 0
    for name, test in tests:
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(dlc, folder)
                print("ok  ", name, flush=True)
            except AssertionError as error:
                failed += 1
                print("FAIL", name, error, flush=True)
    print(f"{len(tests) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
