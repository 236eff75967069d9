#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what MXNet 1.9.1 computes with networks of its zoo, for ZooTest.cpp.

usage: make_zoo.py FOLDER [NETWORK...]   (mxnet 1.9.1, Python 3.8, numpy < 1.24)

The networks are those of tools/benchmarks/networks. Their values are functions
of names and places, which the test computes again, to the bit (values()).
NAME.npz has of a run for inference "shape", that of the data, and "out".
NAME-training.npz has of a run for training of those in TRAINED also "seed", that
of the data, and "gradients" and, if there are any, "states", in MXNet's order of arguments and
auxiliary states, a row for each: the largest absolute value, the Euclidean norm,
and SAMPLES elements, one every max(1, size / SAMPLES), with zeros behind those
of small arrays. Dropout has the rate 0 there: two programs draw other numbers.

MXNet computes in double: what the test finds different is not its rounding. How
far its own f32 is from that is printed. Where f32 rounds a value at the corner of
an activation to the other side, a gradient changes by far more than roundings do.
So the data is of the seed, of SEEDS, whose values stay farthest from corners;
MXNet's own f32 shows that for a network as deep as mobilenetv2 none is far enough.
"""

import gzip
import json
import os
import pathlib
import sys

os.environ["MXNET_MKLDNN_ENABLED"] = "0"
import mxnet as mx
import numpy as np

NETWORKS = pathlib.Path(__file__).resolve().parents[2] / "tools" / "benchmarks" / "networks"
# The two whose last pooling has a kernel of 7 and 8 need images that large.
SIDES = {"densenet121": 224, "inceptionv3": 299}
TRAINED = {"resnet18_v1": (4, 3, 48, 48), "mobilenetv2_1.0": (4, 3, 32, 32),
           "vgg16": (2, 3, 32, 32)}
SAMPLES = 126
SEEDS = 16


def read(network):
    """A network, which drops nothing."""
    text = gzip.open(NETWORKS / (network + "-symbol.json.gz")).read().decode()
    return mx.sym.load_json(text.replace('"p": "0.5"', '"p": "0.0"'))


def mix(x):
    """The hash "lowbias32" (C. Wellons, hash-prospector), of u32."""
    x = (x ^ (x >> 16)) * np.uint32(0x7FEB352D)
    x = (x ^ (x >> 15)) * np.uint32(0x846CA68B)
    return x ^ (x >> 16)


def units(name, count):
    """`count` numbers in [-1, 1), multiples of 2^-23: exact in f32."""
    seed = np.uint32(2166136261)
    for byte in name.encode():  # FNV-1a
        seed = np.uint32((int(seed ^ np.uint32(byte)) * 16777619) & 0xFFFFFFFF)
    numbers = mix(np.arange(count, dtype=np.uint32) + mix(np.array([seed]))[0])
    return ((numbers >> 8).astype("i4") - (1 << 23)).astype("f4") * np.float32(2.0**-23)


def values(name, shape):
    """He's scale for weights; no sum here has a product that is rounded."""
    u = units(name, int(np.prod(shape)))
    if name.endswith("weight"):
        u = u * np.float32(np.sqrt(6.0 / np.prod(shape[1:])))
    elif name.endswith(("gamma", "running_var")):
        u = np.float32(1) + np.float32(0.5) * u
    elif not name.startswith(("data", "head")):
        u = np.float32(0.125) * u
    return u.reshape(shape)


def bind(symbol, shape, seed, is_training, dtype):
    """An executor with its values."""
    names, states = symbol.list_arguments(), symbol.list_auxiliary_states()
    shapes, _, state_shapes = symbol.infer_shape(data=shape)

    def array(name, shape):
        own = f"data{seed}" if name == "data" else name
        return mx.nd.array(values(own, shape), dtype=dtype)

    gradients = [mx.nd.zeros(s, dtype=dtype) for s in shapes] if is_training else None
    return symbol.bind(mx.cpu(), [array(n, s) for n, s in zip(names, shapes)],
                       args_grad=gradients, grad_req="write" if is_training else "null",
                       aux_states=[array(n, s) for n, s in zip(states, state_shapes)])


def run(symbol, shape, seed, is_training, dtype):
    """Outputs, gradients and states after a run, of f64."""
    executor = bind(symbol, shape, seed, is_training, dtype)
    out = executor.forward(is_train=is_training)[0]
    if is_training:
        executor.backward([mx.nd.array(values("head", out.shape), dtype=dtype)])
    lists = [[out], executor.grad_arrays if is_training else [], executor.aux_arrays]
    return [[a.asnumpy().astype("f8") for a in arrays] for arrays in lists]


def corner_distance(symbol, shape, seed):
    """How close any value comes to a corner of ReLU or ReLU6, as a part of the
    root of the mean square of its array."""
    nodes = json.loads(symbol.tojson())["nodes"]
    corners = {}
    for node in nodes:
        if node["op"] in ("Activation", "clip"):
            name = nodes[node["inputs"][0][0]]["name"] + "_output"
            corners[name] = (0, 6) if node["op"] == "clip" else (0,)
    internals = symbol.get_internals()
    inputs = mx.sym.Group([internals[name] for name in corners])
    # Gradients are not asked for, but memory is as if: outputs stay.
    outputs = bind(inputs, shape, seed, True, "f8").forward(is_train=True)
    least = np.inf
    for output, places in zip(outputs, corners.values()):
        x = output.asnumpy()
        distance = min(np.abs(x - place).min() for place in places)
        least = min(least, distance / np.sqrt(np.square(x).mean()))
    return least


def rows(arrays):
    table = np.zeros((len(arrays), 2 + SAMPLES), "f4")
    for row, array in zip(table, arrays):
        flat = array.reshape(-1)
        taken = flat[::max(1, flat.size // SAMPLES)][:SAMPLES]
        row[:2] = np.abs(flat).max(), np.sqrt(np.square(flat).sum())
        row[2:2 + taken.size] = taken
    return table


def report(name, found, expected):
    """The largest difference as a part of the largest value, of all arrays."""
    worst = max(np.abs(f - e).max() / np.abs(e).max() for f, e in zip(found, expected)
                if np.abs(e).max() > 1e-9)  # What is 0 but for rounding.
    print(f"{name}: f32 differs by {worst:.1e} of the largest value", flush=True)


def write_inference(folder, name, symbol):
    side = SIDES.get(name, 64)
    shape = (1, 3, side, side)
    (out,), _, _ = run(symbol, shape, 0, False, "f8")
    report(name, run(symbol, shape, 0, False, "f4")[0], [out])
    np.savez_compressed(os.path.join(folder, name + ".npz"), shape=np.array(shape),
                        out=out.astype("f4"))


def write_training(folder, name, symbol):
    shape = TRAINED[name]
    distance, seed = max((corner_distance(symbol, shape, seed), seed) for seed in range(SEEDS))
    print(f"{name} training: data of seed {seed}, {distance:.1e} from the closest corner")
    (out,), gradients, states = run(symbol, shape, seed, True, "f8")
    other = run(symbol, shape, seed, True, "f4")
    for what, found, expected in zip(("out", "gradients", "states"), other,
                                     ([out], gradients, states)):
        if expected:
            report(f"{name} training, {what}", found, expected)
    tables = {"gradients": rows(gradients)}
    if states:
        tables["states"] = rows(states)
    np.savez_compressed(os.path.join(folder, name + "-training.npz"), shape=np.array(shape),
                        seed=np.array([seed]), out=out.astype("f4"), **tables)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for network in sys.argv[2:] or sorted(
            path.name.split("-symbol")[0] for path in NETWORKS.glob("*.gz")):
        network_symbol = read(network)
        write_inference(sys.argv[1], network, network_symbol)
        if network in TRAINED:
            write_training(sys.argv[1], network, network_symbol)
