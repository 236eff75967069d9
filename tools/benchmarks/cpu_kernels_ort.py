#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares dlc-bench-cpu-kernels with ONNX Runtime, case by case.

usage: cpu_kernels_ort.py BENCH CASES [THREADS]

Each case becomes a one-node model (a convolution with bias and ReLU, as the
benchmark runs it; constant operands are initializers). Times are the best of
several runs, in CPU time of the calling thread on both sides; the two programs
run one after the other, never together.
"""
import math
import re
import subprocess
import sys
import time

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper


def matmul_model(case):
    batch, m, n, k = map(int, re.match(r"matmul (\d+)x(\d+)x(\d+)x(\d+)", case).groups())
    constant, transposed = "const" in case, "trans_b" in case
    rng = np.random.default_rng(0)
    inputs = {"a": rng.random((batch, m, k), np.float32) - 0.5}
    stored = (n, k) if transposed else (k, n)
    b = rng.random(stored if constant else (batch, *stored), np.float32) - 0.5
    nodes, initializers, name = [], [], "b"
    if constant:
        initializers.append(numpy_helper.from_array(b, "b"))
    else:
        inputs["b"] = b
    if transposed:
        perm = [1, 0] if constant else [0, 2, 1]
        nodes.append(helper.make_node("Transpose", ["b"], ["bt"], perm=perm))
        name = "bt"
    nodes.append(helper.make_node("MatMul", ["a", name], ["y"]))
    return nodes, initializers, inputs


def conv_model(case):
    c, h, w, oc, kh, kw, s, p, g = map(int, re.match(
        r"conv (\d+)x(\d+)x(\d+) (\d+) (\d+)x(\d+) s(\d+) p(\d+) g(\d+)", case).groups())
    rng = np.random.default_rng(0)
    weight = rng.random((oc, c // g, kh, kw), np.float32) - 0.5
    bias = rng.random(oc, np.float32) - 0.5
    nodes = [helper.make_node("Conv", ["x", "w", "bias"], ["z"], strides=[s, s],
                              pads=[p] * 4, group=g),
             helper.make_node("Relu", ["z"], ["y"])]
    initializers = [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(bias, "bias")]
    return nodes, initializers, {"x": rng.random((1, c, h, w), np.float32) - 0.5}


def time_ort(case, threads):
    nodes, initializers, inputs = (matmul_model if case.startswith("matmul") else conv_model)(case)
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, v.shape) for n, v in inputs.items()],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = ort.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, value in inputs.items():
        binding.bind_cpu_input(name, value)
    result = session.run(["y"], inputs)[0]
    binding.bind_ortvalue_output("y", ort.OrtValue.ortvalue_from_numpy(result))
    best, total, runs = math.inf, 0.0, 0
    while runs < 5 or (total < 0.15 and runs < 1000):
        start = time.thread_time()
        session.run_with_iobinding(binding)
        seconds = time.thread_time() - start
        best, total, runs = min(best, seconds), total + seconds, runs + 1
    return best * 1e6


def main():
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    bench, cases = sys.argv[1], sys.argv[2]
    threads = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    with open(cases) as text:
        ours = subprocess.run([bench, str(threads)], stdin=text, capture_output=True,
                              text=True, check=True).stdout.splitlines()
    print(ours[0])
    print(f"{'case':42} {'us':>9} {'GF/s':>7} {'%peak':>6} {'ORT us':>9} {'ratio':>6}")
    for line in ours[1:]:
        case, us, gf, percent = line.split("\t")
        reference = time_ort(case, threads)
        print(f"{case:42} {us:>9} {gf:>7} {percent:>6} {reference:9.1f} "
              f"{float(us) / reference:6.2f}", flush=True)


if __name__ == "__main__":
    main()
