#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models go out as ONNX and give the same answers.

usage: export.py --dlc build/bin/dlc [--every N] [--onnxruntime]

Takes every N-th (20 without the option, 1 for all) of ONNX's conformance
models and of the cases that MXNet 1.9.1 answered (test/Symbol/operators.jsonl),
writes them with dlc export, in turn for the oldest opset that has what they
need and for the newest, and checks them with onnx.checker. The answers of the
first are those of dlc, which imports what it wrote; those of the second are
those of ONNX's reference evaluator. With --onnxruntime both are ONNX Runtime's,
as far as it has kernels, at opsets that it knows. Prints
'N exported, N failed'.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.reference
from onnx import numpy_helper

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CASES = os.path.join(ROOT, "test", "Symbol", "operators.jsonl")
DATA = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data", "node")
NEWEST = 27
NEWEST_OF_RUNTIME = 22
MXNET_TYPES = {"float32": 0, "float64": 1, "float16": 2, "uint8": 3, "int32": 4, "int8": 5, "int64": 6}
# ONNX Runtime differs from the answers that ONNX stores for these models of
# ONNX, too.
RUNTIME_DIFFERS = ("test_dft", "test_maxunpool_export_with_output_shape",
                   "test_resize_downsample_scales_cubic_align_corners",
                   "test_resize_downsample_scales_linear_align_corners")


class Unsupported(Exception):
    """The model cannot be imported, ONNX has no operators for it, or nothing here can run it."""


def export(dlc, model, output, opset, *options):
    """Writes `output`, whose checked model is returned."""
    command = [dlc, "export", model, "-o", output, *options]
    if opset:
        command += ["--opset", str(opset)]
    done = subprocess.run(command, text=True, capture_output=True)
    if done.returncode != 0:
        report = subprocess.run([dlc, "import-report", model, *options], text=True, capture_output=True)
        if report.returncode == 1 or "which ONNX has no operators for" in done.stderr:
            raise Unsupported(done.stderr)
        raise AssertionError(done.stderr.strip())
    written = onnx.load(output)
    onnx.checker.check_model(written, full_check=True)
    return written


def evaluate(path, model, feeds, with_runtime):
    feeds = {value.name: feeds[value.name] for value in model.graph.input}
    if not with_runtime:
        try:
            return onnx.reference.ReferenceEvaluator(model).run(None, feeds)
        except NotImplementedError as error:
            raise Unsupported(str(error)) from error
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(path, options).run(None, feeds)
    except Exception as error:  # Its exceptions have no common class.
        if any(text in str(error).lower() for text in ("not_implemented", "numpy", "batchwise")):
            raise Unsupported(str(error)) from error
        raise


def compare(found, expected, tolerance):
    assert len(found) == len(expected), f"{len(found)} outputs, expected {len(expected)}"
    for i, (a, b) in enumerate(zip(found, expected)):
        a, b = np.asarray(a), np.asarray(b)
        assert a.shape == b.shape, f"output {i} of shape {a.shape}, expected {b.shape}"
        if a.dtype.kind not in "fc" or not a.size:
            assert np.array_equal(a, b), f"output {i} differs"
            continue
        finite = b[np.isfinite(b)]
        scale = max(1.0, np.abs(finite).max()) if finite.size else 1.0
        assert np.allclose(a.astype("f8"), b.astype("f8"), rtol=0, atol=tolerance * scale, equal_nan=True), \
            f"output {i} differs by {np.nanmax(np.abs(a.astype('f8') - b.astype('f8')))}"


def check_conformance(dlc, name, folder, opset, with_runtime):
    """Left in `folder` for dlc test where nobody else answers."""
    source, target = os.path.join(DATA, name), os.path.join(folder, name)
    os.makedirs(target)
    path = os.path.join(target, "model.onnx")
    model = export(dlc, os.path.join(source, "model.onnx"), path, opset)
    sets = os.path.join(source, "test_data_set_0")
    if not with_runtime:
        os.symlink(sets, os.path.join(target, "test_data_set_0"))
        return
    if name.startswith(RUNTIME_DIFFERS):
        return
    read = lambda kind, i: numpy_helper.to_array(onnx.load_tensor(os.path.join(sets, f"{kind}_{i}.pb")))
    feeds = {value.name: read("input", i) for i, value in enumerate(model.graph.input)}
    expected = [read("output", i) for i in range(len(model.graph.output))]
    compare(evaluate(path, model, feeds, True), expected, 1e-3)


def decode(array):
    return np.array([float(v) for v in array[2]]).astype(array[0]).reshape(array[1])


def check_case(dlc, case, folder, opset, with_runtime):
    values = {name: decode(value) for group in ("inputs", "states") for name, value in case[group].items()}
    options = []
    for node in case["symbol"]["nodes"]:
        if node["op"] == "null":
            value = values[node["name"]]
            node.setdefault("attrs", {})["__dtype__"] = str(MXNET_TYPES[str(value.dtype)])
            node["attrs"].pop("__shape__", None)
            options += ["--shape", node["name"] + "=" + "x".join(map(str, value.shape))]
    network = os.path.join(folder, "net-symbol.json")
    with open(network, "w") as file:
        json.dump(case["symbol"], file)
    path = os.path.join(folder, "net.onnx")
    model = export(dlc, network, path, opset, *options)
    found = evaluate(path, model, values, with_runtime)
    is_half = any(value[0] == "float16" for value in case["outputs"])
    compare(found, [decode(value) for value in case["outputs"]], 2e-3 if is_half else 1e-5)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dlc", required=True)
    parser.add_argument("--every", type=int, default=20)
    parser.add_argument("--onnxruntime", action="store_true")
    options = parser.parse_args()
    dlc, with_runtime = os.path.abspath(options.dlc), options.onnxruntime
    newest = NEWEST_OF_RUNTIME if with_runtime else NEWEST
    counts = collections.Counter()

    def attempt(what, check, *arguments):
        try:
            check(*arguments)
            counts["exported"] += 1
        except Unsupported:
            counts["unsupported"] += 1
        except Exception as error:
            counts["failed"] += 1
            print(f"FAIL {what}: {str(error).splitlines()[0]}")

    with tempfile.TemporaryDirectory() as folder:
        names = sorted(os.listdir(DATA))[::options.every]
        for i, name in enumerate(names):
            # What is of a newer opset cannot go back to that of the runtime.
            opset = newest if i % 2 and not with_runtime else 0
            attempt(name, check_conformance, dlc, name, os.path.join(folder, "conformance"), opset, with_runtime)
        if not with_runtime:
            done = subprocess.run([dlc, "test", os.path.join(folder, "conformance"), "--expected-failures",
                                   os.path.join(ROOT, "test", "conformance", "expected-failures.txt")],
                                  text=True, capture_output=True)
            if done.returncode != 0:
                counts["failed"] += 1
                print(done.stdout)
        with open(CASES) as file:
            lines = file.readlines()
        for i in range(0, len(lines), options.every):
            case = json.loads(lines[i])
            opset = newest if i // options.every % 2 else 0
            attempt(f"line {i + 1}: {case['symbol']['nodes'][-1]}", check_case, dlc, case, folder, opset, with_runtime)
    print(f"{counts['exported']} exported, {counts['failed']} failed, {counts['unsupported']} unsupported")
    least = 2000 // options.every // 2
    if counts["exported"] < least:
        print(f"expected at least {least} exported")
    return counts["failed"] > 0 or counts["exported"] < least


if __name__ == "__main__":
    sys.exit(main())
