#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a network of NNVM with its parameters, data and answer.

usage: nnvm.py FOLDER

As nnvm.graph.create(symbol).json() and nnvm.compiler.save_param_dict write
them, by hand: no release of NNVM runs here. The answer is computed here, too.
"""

import array
import json
import pathlib
import random
import struct
import sys

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
random.seed(3)


def numbers(count):
    return [random.randint(-16, 16) / 16 for _ in range(count)]


def save(name, shape, values):
    header = str({"descr": "<f4", "fortran_order": False, "shape": shape}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    data = array.array("f", values).tobytes()
    (folder / name).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data)


def save_dictionary(name, tensors):
    parts = [struct.pack("<3Q", 0xF7E58D4F05049CB7, 0, len(tensors))]
    parts += [struct.pack("<Q", len(key)) + key.encode() for key in tensors]
    parts.append(struct.pack("<Q", len(tensors)))
    for shape, values in tensors.values():
        data = array.array("f", values).tobytes()
        parts.append(struct.pack("<2Q3i2BH", 0xDD5E40F096B4A13F, 0, 1, 0, len(shape), 2, 32, 1))
        parts += [struct.pack(f"<{len(shape) + 1}q", *shape, len(data)), data]
    (folder / name).write_bytes(b"".join(parts))


def variable(name):
    return {"op": "null", "name": name, "inputs": []}


def node(op, inputs, **attrs):
    return {"op": op, "name": op + "0", "attrs": attrs, "inputs": [[i, 0, 0] for i in inputs]}


nodes = [variable("data"), variable("weight"), variable("bias"),
         node("conv2d", [0, 1, 2], channels="3", kernel_size="(1, 1)", layout="NHWC", kernel_layout="HWIO"),
         variable("gamma"), variable("beta"), variable("mean"), variable("var"),
         node("batch_norm", [3, 4, 5, 6, 7], axis="3", epsilon="0"), node("relu", [8]),
         node("global_avg_pool2d", [9], layout="NHWC"), node("flatten", [10]), variable("rows"),
         node("dense", [11, 12], units="2", use_bias="False")]
variables = [i for i, each in enumerate(nodes) if each["op"] == "null"]
file = {"nodes": nodes, "arg_nodes": variables, "node_row_ptr": list(range(len(nodes) + 1)),
        "heads": [[len(nodes) - 1, 0, 0]]}
(folder / "net.json").write_text(json.dumps(file))
compiled = dict(file, nodes=nodes[:3] + [node("tvm_op", [0, 1, 2], func_name="fuse_conv2d", num_inputs="3")],
                arg_nodes=[0, 1, 2], heads=[[3, 0, 0]], attrs={"dltype": ["list_str", ["float32"] * 4]})
(folder / "compiled.json").write_text(json.dumps(compiled))

data, weight, bias, rows = numbers(2 * 2 * 2 * 2), numbers(2 * 3), numbers(3), numbers(2 * 3)
gamma, beta, mean, var = numbers(3), numbers(3), numbers(3), [1, 4, 0.25]
save_dictionary("net.params", {
    "weight": ((1, 1, 2, 3), weight), "bias": ((3,), bias), "gamma": ((3,), gamma), "beta": ((3,), beta),
    "mean": ((3,), mean), "var": ((3,), var), "rows": ((2, 3), rows)})
answer = []
for image in range(2):
    means = [0, 0, 0]
    for pixel in range(4):
        place = (image * 4 + pixel) * 2
        for c in range(3):
            y = data[place] * weight[c] + data[place + 1] * weight[3 + c] + bias[c]
            means[c] += max(0, (y - mean[c]) / var[c] ** 0.5 * gamma[c] + beta[c]) / 4
    answer += [sum(means[c] * rows[k * 3 + c] for c in range(3)) for k in range(2)]
save("data.npy", (2, 2, 2, 2), data)
save("answer.npy", (2, 2), answer)
