#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks that dlc writes for MXNet give MXNet 1.9.1 the same answers.

usage: check_saved.py --dlc build/bin/dlc [--every N] [--cases nnvm.jsonl]
                                   (Python 3.8, mxnet==1.9.1, numpy<1.24)

Takes every case of operators.jsonl (or of that file), writes its symbol and its values with
dlc export, lets MXNet load both, and compares what it computes with the case.
Prints 'N alike, N differ, N not comparable': the latter are networks whose last
node MXNet cannot run, with values of a type that its files do not keep.
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

# As make_cases.py.
USES_LIBRARY = len(sys.argv) > 1 and sys.argv[1] == "library"
os.environ["MXNET_MKLDNN_ENABLED"] = "1" if USES_LIBRARY else "0"
os.environ["MXNET_STORAGE_FALLBACK_LOG_VERBOSE"] = "0"

import mxnet as mx
import numpy as np

CASES = pathlib.Path(__file__).resolve().parent / "operators.jsonl"
# MXNet 1.9.1 has them and fails on them.
BROKEN = ("IdentityAttachKLSparseReg",)
OF_LIBRARY = ("_contrib_quantize", "_contrib_dequantize", "_contrib_requantize", "_sg_mkldnn_",
              "_contrib_BatchNormWithReLU")


def decode(array):
    return np.array([float(v) for v in array[2]]).astype(array[0]).reshape(array[1])


def check(dlc, case, folder):
    values = {name: decode(value) for group in ("inputs", "states") for name, value in case[group].items()}
    is_numpy = "is_np_shape" in case["symbol"].get("attrs", {})
    with mx.util.np_shape(is_numpy):
        old = os.path.join(folder, "old")
        with open(old + "-symbol.json", "w") as file:
            json.dump(case["symbol"], file)
        arrays = {("arg:" if name in case["inputs"] else "aux:") + name: mx.nd.array(value, dtype=value.dtype)
                  for name, value in values.items()}
        mx.nd.save(old + ".params", arrays)
        new = os.path.join(folder, "new")
        subprocess.run([dlc, "export", old + "-symbol.json", "--params", old + ".params", "-o", new + "-symbol.json"],
                       check=True, stdout=subprocess.DEVNULL)
        symbol, arguments, states = mx.model.load_checkpoint(new, 0)
        executor = symbol.bind(mx.cpu(), args=arguments, aux_states=states, grad_req="null")
        # Without it MXNet refuses to give another type than it sums up in.
        os.environ["MXNET_SAFE_ACCUMULATION"] = str(int("out_dtype" in str(case["symbol"])))
        found = [value.asnumpy() for value in executor.forward(is_train=False)]
    expected = [decode(value) for value in case["outputs"]]
    assert len(found) == len(expected), f"{len(found)} outputs, expected {len(expected)}"
    for a, b in zip(found, expected):
        assert a.shape == b.shape and a.dtype == b.dtype, f"{a.dtype}{a.shape}, expected {b.dtype}{b.shape}"
        scale = max(1.0, np.abs(b[np.isfinite(b)].astype("f8")).max(initial=0))
        assert np.allclose(a.astype("f8"), b.astype("f8"), rtol=0, atol=1e-6 * scale, equal_nan=True), "other values"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dlc", required=True, type=os.path.abspath)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--cases", type=pathlib.Path, default=CASES)
    options = parser.parse_args(sys.argv[2:] if USES_LIBRARY else sys.argv[1:])
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for i, line in enumerate(options.cases.read_text().splitlines()):
            case = json.loads(line)
            operators = {node["op"] for node in case["symbol"]["nodes"]}
            needs_library = any(op == "RNN" or op.startswith(OF_LIBRARY) for op in operators)
            if i % options.every or needs_library != USES_LIBRARY:
                continue
            if operators & set(BROKEN):
                counts["not comparable"] += 1
                continue
            try:
                check(options.dlc, case, folder)
                counts["alike"] += 1
            except Exception as error:  # MXNet's, and what is wrong.
                if "only support floating point types" in str(error):
                    counts["not comparable"] += 1
                    continue
                counts["differ"] += 1
                print(f"line {i + 1}: {case['symbol']['nodes'][-1]}: {str(error).splitlines()[-1][:200]}")
    print(", ".join(f"{counts[each]} {each}" for each in ("alike", "differ", "not comparable")), flush=True)
    if USES_LIBRARY:
        return counts["differ"] > 0
    done = subprocess.run([sys.executable, __file__, "library", *sys.argv[1:]])
    return counts["differ"] > 0 or done.returncode != 0


if __name__ == "__main__":
    sys.exit(main())
