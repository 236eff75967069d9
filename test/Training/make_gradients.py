#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes gradients.jsonl: gradients that MXNet 1.9.1 computes.

usage: make_gradients.py OUTPUT      (Python 3.8, mxnet==1.9.1, numpy<1.24)

Of each operator the first case of test/Symbol/operators.jsonl that has floats
alone and no states, in the form of layers.jsonl; without operators that have no
gradient. Where MXNet's gradient and central differences are further apart than
1e-2 of the largest, it is wrong or not defined at these values, and the next
case of the operator is tried: nothing wrong is taken for an answer. Prints which
operators are left without a case.
"""

import json
import os
import pathlib
import sys

os.environ["MXNET_MKLDNN_ENABLED"] = "0"
os.environ["MXNET_STORAGE_FALLBACK_LOG_VERBOSE"] = "0"

import mxnet as mx
import numpy as np

CASES = pathlib.Path(__file__).resolve().parents[1] / "Symbol" / "operators.jsonl"
# In training these are others: dropout, noise, losses with gradients of their own.
OTHER_IN_TRAINING = """Dropout BatchNorm CuDNNBatchNorm SoftmaxOutput LinearRegressionOutput LogisticRegressionOutput
MAERegressionOutput SVMOutput MakeLoss LeakyReLU RNN CTCLoss BlockGrad _contrib_SyncBatchNorm
_contrib_gradientmultiplier _contrib_round_ste _contrib_sign_ste make_loss""".split()

# Operands by which MXNet gives zeros, though its results follow them.
ZERO = {"ROIPooling": ["b"], "_contrib_ROIAlign": ["b"]}


def decode(array):
    return np.array([float(v) for v in array[2]]).astype(array[0]).reshape(array[1])


def encode(array):
    array = np.asarray(array, dtype="float32")
    return [list(array.shape), [float("%.9g" % v) for v in array.reshape(-1)]]


def compute(case):
    random = np.random.RandomState(5)
    values = {name: decode(value) for name, value in case["inputs"].items()}
    if not all(np.isfinite(value).all() for value in values.values()):
        return None
    with mx.util.np_shape("is_np_shape" in case["symbol"].get("attrs", {})):
        symbol = mx.sym.load_json(json.dumps(case["symbol"]))[0]
        arguments = {name: mx.nd.array(value) for name, value in values.items()}
        zero = ZERO.get(case["symbol"]["nodes"][-1]["op"], [])
        gradients = {name: mx.nd.zeros(value.shape) for name, value in values.items() if name not in zero}
        executor = symbol.bind(mx.cpu(), args=arguments, args_grad=gradients)
        output = executor.forward(is_train=True)[0]
        if output.dtype != np.float32 or output.size == 0 or not np.isfinite(output.asnumpy()).all():
            return None
        head = (np.round(random.uniform(-2, 2, output.shape) * 8) / 8).astype("float32")
        result = output.asnumpy()
        executor.backward([mx.nd.array(head)])
        found = {name: value.asnumpy() for name, value in gradients.items()}

        def loss():
            value = executor.forward(is_train=False)[0].asnumpy().astype("float64")
            return float((value * head).sum())

        for name in found:
            value = values[name]
            flat, slope = value.reshape(-1), np.zeros(value.size)
            for i in range(value.size):
                ends = []
                for step in (1 / 128, -1 / 128):
                    moved = flat.copy()
                    moved[i] += step
                    arguments[name][:] = moved.reshape(value.shape)
                    ends.append(loss())
                slope[i] = (ends[0] - ends[1]) * 64
            arguments[name][:] = value
            if not np.abs(slope - found[name].reshape(-1)).max(initial=0) <= 1e-2 * max(1, np.abs(slope).max(initial=0)):
                return None
    if not any(value.any() for value in found.values()):
        return None
    return {"symbol": json.loads(symbol.tojson()), "inputs": {name: encode(value) for name, value in values.items()},
            "states": {}, "head": encode(head), "output": encode(result),
            "gradients": {name: encode(value) for name, value in found.items()}, "newStates": {}}


def main():
    seen = set(OTHER_IN_TRAINING)
    count = 0
    with open(sys.argv[1], "w") as file:
        for number, line in enumerate(CASES.read_text().splitlines()):
            case = json.loads(line)
            name = case["symbol"]["nodes"][-1]["op"]
            arrays = list(case["inputs"].values())
            if name in seen or name.startswith(("_random", "_sample")) or case["states"] or not arrays \
                    or any(array[0] != "float32" or not 0 < len(array[2]) <= 64 for array in arrays):
                continue
            # MXNet ends the process for some operators: each in one of its own.
            child = os.fork()
            if child == 0:
                try:
                    result = compute(case)
                except Exception:  # No gradient, or none for these values.
                    result = None
                if result:
                    file.write(json.dumps(result, separators=(",", ":")) + "\n")
                    file.flush()
                os._exit(0 if result else 1)
            _, status = os.waitpid(child, 0)
            if status == 0:
                seen.add(name)
                count += 1
    left = sorted({json.loads(line)["symbol"]["nodes"][-1]["op"] for line in CASES.read_text().splitlines()} - seen)
    print(count, "cases; none of", " ".join(left))


if __name__ == "__main__":
    main()
