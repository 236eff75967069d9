#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes small ONNX models of an input data (Nx12) and an output y (Nx4).

usage: write_onnx.py FOLDER
"""
import os
import struct
import sys


def varint(value):
    low, value = value & 127, value >> 7
    return bytes([low | 128]) + varint(value) if value else bytes([low])


def field(number, value):
    """An integer, or bytes, text and messages."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def node(op, inputs, output, **floats):
    attributes = [field(5, field(1, key) + varint(2 << 3 | 5) + struct.pack("<f", value)
                        + field(20, 1)) for key, value in floats.items()]
    return field(1, b"".join([field(1, each) for each in inputs]
                             + [field(2, output), field(4, op)] + attributes))


def tensor(name, dims, values):
    return field(5, b"".join(field(1, dim) for dim in dims) + field(2, 1) + field(8, name)
                 + field(9, struct.pack(f"<{len(values)}f", *values)))


def port(number, name, dims):
    shape = b"".join(field(1, field(1, dim) if isinstance(dim, int) else field(2, dim))
                     for dim in dims)
    kind = field(1, field(1, 1) + field(2, shape))
    return field(number, field(1, name) + field(2, kind))


def model(name, parts):
    graph = b"".join(parts) + port(11, "data", ["N", 12]) + port(12, "y", ["N", 4])
    with open(os.path.join(sys.argv[1], name), "wb") as file:
        file.write(field(1, 8) + field(8, field(2, 17)) + field(7, graph))


weight = tensor("w", [12, 4], [((7 * i) % 11 - 5) / 10 for i in range(48)])
product = node("MatMul", ["data", "w"], "p")
# A number that is no weight by its place.
model("number.onnx", [weight, tensor("temp", [1], [2]), product,
                      node("Mul", ["p", "temp"], "y")])
# PyTorch's names, of which one tells nothing.
model("norm.onnx", [weight, tensor("norm.weight", [4], [1.5] * 4),
                    tensor("norm.bias", [4], [0.5] * 4), product,
                    node("LayerNormalization", ["p", "norm.weight", "norm.bias"], "y")])
# What is no momentum.
model("momentum.onnx", [weight, product]
      + [tensor(name, [4], [1] * 4) for name in ("scale", "shift", "mean", "variance")]
      + [node("BatchNormalization", ["p", "scale", "shift", "mean", "variance"], "y",
              momentum=float("nan"))])
