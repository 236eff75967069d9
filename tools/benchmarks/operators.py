# SPDX-License-Identifier: Apache-2.0
"""Single operations of many shapes beside ONNX Runtime: what whole networks hide.

Prints one row for each: microseconds of an artifact for these shapes and of ONNX
Runtime (the least of all runs, in turn, with the same inputs), their ratio, and
the largest difference of all outputs over the largest value; at the end the
median and what is slower. With --open the artifact is for any extents. Exits
with 1 where an operation cannot be compiled or run, or an output differs.
"""

import argparse
import pathlib
import re
import statistics
import sys
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from compare import Execution, Runtime, interleave
from shipped import compile_model, error_of

# Sums of many terms are rounded in another order.
TOLERANCE = 3e-4
random = np.random.default_rng(1)
cases = {}


def weights(*shape):
    return random.standard_normal(shape).astype("f4") / 10


def case(name, nodes, inputs, constants=(), results=("y",), integers=()):
    """`inputs`: shapes; `integers`: outputs that are i64."""
    cases[name] = nodes, inputs, dict(constants), results, integers


def one(name, operator, shape, constants=(), integers=(), **attributes):
    constants = dict(constants)
    case(f"{operator} {'x'.join(map(str, shape))} {name}".strip(),
         [helper.make_node(operator, ["x", *constants], ["y"], **attributes)], {"x": shape}, constants, integers=integers)


def ints(*values):
    return np.array(values, "i8")


def convolution(images, channels, image, results, kernel, stride=1, dilation=1, group=1):
    dims = len(image)
    kernel = (kernel,) * dims if isinstance(kernel, int) else kernel
    pads = [(k - 1) * dilation // 2 for k in kernel] * 2
    case(f"Conv {images}x{channels}x{'x'.join(map(str, image))} to {results}, {'x'.join(map(str, kernel))}"
         f" stride {stride} dilation {dilation} group {group}",
         [helper.make_node("Conv", ["x", "w", "b"], ["y"], strides=[stride] * dims, dilations=[dilation] * dims,
                           group=group, pads=pads)],
         {"x": (images, channels, *image)}, {"w": weights(results, channels // group, *kernel), "b": weights(results)})


def transposed(channels, image, results, kernel, stride, pad, group=1):
    dims = len(image)
    case(f"ConvTranspose {channels}x{'x'.join(map(str, image))} to {results}, {kernel} stride {stride} group {group}",
         [helper.make_node("ConvTranspose", ["x", "w"], ["y"], strides=[stride] * dims, pads=[pad] * 2 * dims,
                           group=group)],
         {"x": (1, channels, *image)}, {"w": weights(channels, results // group, *[kernel] * dims)})


def convolutions():
    for row in ((1, 3, (224, 224), 32, 3, 2), (1, 3, (224, 224), 64, 7, 2), (1, 3, (320, 320), 16, 6, 2),
                (1, 1, (28, 28), 32, 5), (1, 1, (512, 512), 1, 3), (1, 3, (512, 512), 3, 3), (1, 16, (256, 256), 8, 3),
                (1, 64, (64, 64), 64, 3, 2), (1, 64, (56, 56), 64, 5), (1, 64, (56, 56), 3, 7), (1, 16, (232, 328), 3, 9),
                (1, 128, (28, 28), 128, 3, 1, 2), (1, 256, (32, 32), 256, 3, 1, 4), (1, 256, (32, 32), 21, 1),
                (1, 512, (7, 7), 512, 3), (1, 64, (80, 80), 80, 1), (1, 2048, (1, 1), 512, 1), (1, 512, (2, 2), 512, 3),
                (4, 32, (32, 32), 64, 3), (8, 64, (8, 8), 64, 3), (1, 17, (61, 47), 33, 3), (1, 48, (1, 200), 96, 3)):
        convolution(*row)
    for channels, side, kernel, stride, dilation in ((64, 56, 3, 1, 1), (64, 112, 3, 2, 1), (128, 28, 5, 1, 1), (96, 56, 7, 1, 1),
                                                     (96, 56, 7, 2, 1), (96, 32, 9, 1, 1), (64, 32, 3, 1, 6), (512, 16, 31, 1, 1),
                                                     (64, 64, 13, 1, 1), (240, 7, 5, 1, 1)):
        convolution(1, channels, (side, side), channels, kernel, stride, dilation, channels)
    for row in ((1, 48, (56, 56), 96, 7, 2, 1, 48), (1, 128, (28, 28), 128, 3, 1, 1, 32), (1, 160, (14, 14), 160, 3, 1, 1, 5),
                (1, 1, (16000,), 64, 400, 160), (1, 64, (2000,), 64, 3), (1, 512, (400,), 512, 7), (1, 32, (8000,), 1, 7),
                (1, 1, (8000,), 16, 7), (1, 64, (1000,), 64, 3, 1, 8), (1, 256, (500,), 256, 31, 1, 1, 256),
                (1, 768, (100,), 768, 128, 1, 1, 16), (1, 1, (16, 112, 112), 16, 3), (1, 16, (16, 56, 56), 32, 3),
                (1, 3, (16, 112, 112), 45, (1, 7, 7), 2), (1, 64, (8, 28, 28), 64, (3, 1, 1)), (1, 32, (16, 32, 32), 32, 3)):
        convolution(*row)
    for row in ((512, (100,), 256, 16, 8, 4), (64, (1600,), 32, 4, 2, 1), (64, (32, 32), 64, 2, 2, 0), (64, (64, 64), 32, 4, 2, 1),
                (256, (16, 16), 128, 3, 2, 1), (21, (32, 32), 21, 16, 8, 4, 21), (100, (1, 1), 512, 4, 1, 0),
                (64, (64, 64), 64, 3, 1, 1), (32, (64, 64), 3, 9, 4, 3), (16, (8, 16, 16), 8, 2, 2, 0)):
        transposed(*row)


def products():
    for m, k, n in ((1, 512, 512), (2, 1024, 1024), (4, 768, 3072), (8, 256, 1000), (32, 300, 300), (50, 768, 768),
                    (100, 100, 100), (197, 192, 576), (128, 1024, 30), (256, 3, 64), (4096, 16, 16), (1024, 1024, 1),
                    (513, 257, 129), (64, 4096, 64), (2000, 64, 2)):
        case(f"Gemm {m}x{k}x{n}", [helper.make_node("Gemm", ["x", "w", "b"], ["y"])], {"x": (m, k)},
             {"w": weights(k, n), "b": weights(n)})
    for b, m, k, n in ((12, 128, 64, 128), (8, 50, 32, 50), (96, 10, 10, 10), (16, 1, 64, 512), (16, 64, 512, 1),
                       (6, 1000, 8, 8), (2, 33, 65, 17)):
        case(f"MatMul {b}x{m}x{k}x{n}", [helper.make_node("MatMul", ["x", "z"], ["y"])], {"x": (b, m, k), "z": (b, k, n)})
    for equation, a, b in (("bhqd,bhkd->bhqk", (2, 8, 64, 32), (2, 8, 64, 32)), ("bqhd,bkhd->bhqk", (2, 64, 8, 32), (2, 64, 8, 32)),
                           ("bhwc,hkc->bhwk", (4, 14, 14, 64), (14, 14, 64)), ("nctv,vw->nctw", (2, 64, 50, 25), (25, 25)),
                           ("bij,bj->bi", (16, 100, 100), (16, 100)), ("bi,bi->b", (300, 512), (300, 512))):
        case(f"Einsum {equation}", [helper.make_node("Einsum", ["x", "z"], ["y"], equation=equation)], {"x": a, "z": b})
    for operator, gates in (("LSTM", 4), ("GRU", 3)):
        for steps, batch, inputs, hidden, directions in ((100, 1, 64, 64, 1), (50, 1, 256, 256, 2), (30, 8, 128, 128, 1)):
            case(f"{operator} {steps}x{batch}x{inputs} to {directions}x{hidden}",
                 [helper.make_node(operator, ["x", "w", "r", "b"], ["y"], hidden_size=hidden,
                                   direction="bidirectional" if directions == 2 else "forward")],
                 {"x": (steps, batch, inputs)},
                 {"w": weights(directions, gates * hidden, inputs), "r": weights(directions, gates * hidden, hidden),
                  "b": weights(directions, 2 * gates * hidden)})


def folds():
    for operator in "MaxPool", "AveragePool":
        for shape, kernel, stride, pad in (((1, 64, 112, 112), 3, 2, 1), ((1, 256, 20, 20), 5, 1, 2), ((1, 256, 20, 20), 13, 1, 6),
                                           ((1, 512, 7, 7), 7, 1, 0), ((1, 64, 1000), 3, 2, 0), ((1, 16, 16, 56, 56), 2, 2, 0)):
            dims = len(shape) - 2
            one(f"by {kernel}", operator, shape, kernel_shape=[kernel] * dims, strides=[stride] * dims, pads=[pad] * 2 * dims)
    for operator in "ReduceSum", "ReduceMax", "ReduceL2", "ReduceLogSumExp":
        for shape, axes in (((1, 64, 56, 56), (2, 3)), ((32, 1000), (1,)), ((1000, 32), (0,)), ((8, 128, 64), (1,)), ((50, 60, 70), (0, 2))):
            one(f"along {axes}", operator, shape, {"a": ints(*axes)}, keepdims=0)
    for operator in "Softmax", "LogSoftmax", "Hardmax":
        for shape, axis in (((32, 1000), -1), ((12, 128, 128), -1), ((1, 21, 64, 64), 1)):
            one(f"along {axis}", operator, shape, axis=axis)
    for shape, axis in (((1, 21, 128, 128), 1), ((64, 1000), -1)):
        one(f"along {axis}", "ArgMax", shape, integers=("y",), axis=axis)
        one(f"along {axis}", "CumSum", shape, {"a": np.array(axis, "i8")})
    for shape, k in (((1, 10000), 100), ((64, 1000), 5), ((10, 8400), 300)):
        case(f"TopK {'x'.join(map(str, shape))} {k}", [helper.make_node("TopK", ["x", "k"], ["y", "i"])], {"x": shape},
             {"k": ints(k)}, ("y", "i"), ("i",))
    for shape in (128, 768), (1000, 64):
        one("", "LayerNormalization", shape, {"s": weights(shape[-1]), "b": weights(shape[-1])})
    one("", "InstanceNormalization", (1, 64, 64, 64), {"s": weights(64), "b": weights(64)})


def movements():
    for shape, order in (((1, 64, 56, 56), (0, 2, 3, 1)), ((8, 128, 12, 64), (0, 2, 1, 3)), ((1000, 1000), (1, 0)), ((4, 5, 6, 7, 8), (4, 2, 0, 3, 1))):
        one(f"to {order}", "Transpose", shape, perm=order)
    case("Concat of channels", [helper.make_node("Concat", ["x", "z"], ["y"], axis=1)],
         {"x": (1, 64, 56, 56), "z": (1, 64, 56, 56)})
    one("every second", "Slice", (1, 64, 56, 56), {"s": ints(0, 0), "e": ints(56, 56), "a": ints(2, 3), "p": ints(2, 2)})
    for mode in "constant", "reflect", "edge":
        one(mode, "Pad", (1, 32, 64, 64), {"p": ints(0, 0, 3, 3, 0, 0, 3, 3)}, mode=mode)
    for mode, places in (("nearest", "asymmetric"), ("linear", "half_pixel"), ("linear", "align_corners"), ("cubic", "half_pixel")):
        for shape, factor in (((1, 64, 32, 32), 2), ((1, 3, 256, 256), 0.5), ((1, 16, 100, 100), 1.5)):
            case(f"Resize {'x'.join(map(str, shape))} by {factor} {mode} {places}",
                 [helper.make_node("Resize", ["x", "", "s"], ["y"], mode=mode, coordinate_transformation_mode=places,
                                   nearest_mode="floor")],
                 {"x": shape}, {"s": np.array([1, 1, factor, factor], "f4")})
    one("of rows", "Gather", (30000, 384), {"i": random.integers(0, 30000, (1, 128))})
    one("", "Tile", (1, 64, 14, 14), {"r": ints(1, 1, 2, 2)})
    one("", "DepthToSpace", (1, 64, 64, 64), blocksize=2)
    case("GridSample 1x32x64x64", [helper.make_node("GridSample", ["x", "g"], ["y"])], {"x": (1, 32, 64, 64), "g": (1, 64, 64, 2)})


def elements():
    for operator in ("Relu", "Sigmoid", "Tanh", "Exp", "Erf", "Softplus", "Elu", "Mish", "HardSwish", "LeakyRelu", "Sin", "Floor", "Reciprocal"):
        one("", operator, (1, 64, 56, 56))
    for operator in "Add", "Mul", "Div", "Max":
        for a, b in (((1, 64, 56, 56), (1, 64, 56, 56)), ((1, 64, 56, 56), (64, 1, 1)), ((1000, 1), (1, 1000))):
            case(f"{operator} {a} and {b}", [helper.make_node(operator, ["x", "z"], ["y"])], {"x": a, "z": b})


def write(path, name, is_open):
    nodes, inputs, constants, results, integers = cases[name]
    ports = [helper.make_tensor_value_info(key, TensorProto.FLOAT, [f"{key}{i}" for i in range(len(shape))] if is_open else shape)
             for key, shape in inputs.items()]
    outputs = [helper.make_tensor_value_info(key, TensorProto.INT64 if key in integers else TensorProto.FLOAT, None)
               for key in results]
    graph = helper.make_graph(nodes, "operation", ports, outputs,
                              [numpy_helper.from_array(value, key) for key, value in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)


def compare(name, options, runtime):
    """The ratio of times, and whether results agree."""
    import onnxruntime
    source, artifact = options.folder / "operation.onnx", options.folder / "operation.dlc"
    write(source, name, options.open)
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = options.threads
    settings.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(source), settings, providers=["CPUExecutionProvider"])
    feed = {key: random.standard_normal(shape).astype("f4") for key, shape in cases[name][1].items()}
    compile_model(options.dlc, source, artifact, *(["--batches=none"] if options.open else []))
    execution = Execution(runtime, artifact)
    execution.bind(feed)
    execution.run()
    error = error_of(execution.outputs(), session.run(None, feed))
    times = interleave({"dlc": execution.run, "ort": lambda: session.run(None, feed)}, options.rounds, options.seconds,
                       time.perf_counter)
    execution.close()
    own, peer = min(times["dlc"]) * 1e3, min(times["ort"]) * 1e3
    print(f"| {name} | {own:.1f} | {peer:.1f} | {own / peer:.2f} | {error:.1e} |", flush=True)
    return own / peer, error <= TOLERANCE


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dlc", required=True, help="the dlc program")
    parser.add_argument("--runtime", required=True, help="libdlc_rt.so")
    parser.add_argument("--models", type=pathlib.Path, required=True, help="where to keep the model and its artifact")
    parser.add_argument("--only", default="", help="operations whose names this regular expression finds")
    parser.add_argument("--open", action="store_true", help="artifacts for any extents")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.04, help="of each, in a round")
    options = parser.parse_args()
    options.folder = options.models / "operators"
    options.folder.mkdir(parents=True, exist_ok=True)
    for family in convolutions, products, folds, movements, elements:
        family()
    runtime = Runtime(options.runtime, options.threads)
    print("| operation | DLC us | ORT us | DLC/ORT | error |\n|---|---|---|---|---|", flush=True)
    found = {name: compare(name, options, runtime) for name in cases if re.search(options.only, name)}
    if not found:
        sys.exit(f"operators.py: expected operations that '{options.only}' finds, got none")
    slower = sorted((ratio, name) for name, (ratio, _) in found.items() if ratio > 1)
    print(f"\nmedian {statistics.median(ratio for ratio, _ in found.values()):.2f}; slower: {len(slower)} of {len(found)}")
    for ratio, name in reversed(slower):
        print(f"{ratio:.2f} {name}")
    sys.exit(not all(agrees for _, agrees in found.values()))


if __name__ == "__main__":
    main()
