#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a chain of residual blocks, each with its weights: x + tanh(x w), or as
a symbol of MXNet x + relu(norm(conv(x))); or writes values of the former's inputs
(.npz), small enough that no tanh comes near 1.

usage: make_chain.py BLOCKS [convolutions | INPUTS.npz]
"""

import json
import random
import struct
import sys
import zipfile

count = int(sys.argv[1])


def write_inputs(path):
    draw = random.Random(1)
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (32,32,)}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with zipfile.ZipFile(path, "w") as file:
        for name in ["x", *(f"w{i}" for i in range(count))]:
            values = [draw.gauss(0, 0.02) for _ in range(32 * 32)]
            file.writestr(name + ".npy",
                          b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) +
                          header.encode() + struct.pack("<1024f", *values))


def print_chain():
    weights = "".join(f', %w{i}: tensor<32x32xf32> {{graph.name = "w{i}"}}' for i in range(count))
    print(f"""func.func @main(%x0: tensor<32x32xf32> {{graph.name = "x"}}{weights})
    -> (tensor<32x32xf32> {{graph.name = "y"}}) {{""")
    for i in range(count):
        print(f"""  %m{i} = graph.matmul %x{i}, %w{i} : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %r{i} = graph.tanh %m{i} : tensor<32x32xf32>
  %x{i + 1} = graph.add %x{i}, %r{i} : tensor<32x32xf32>""")
    print(f"  return %x{count} : tensor<32x32xf32>\n}}")


def print_convolutions():
    nodes = []

    def add(kind, name, *inputs, **attrs):
        nodes.append({"op": kind, "name": name, "inputs": [[i, 0, 0] for i in inputs],
                      "attrs": {key: str(value) for key, value in attrs.items()}})
        return len(nodes) - 1

    x = add("null", "data")
    for i in range(count):
        weight = add("null", f"conv{i}_weight")
        y = add("Convolution", f"conv{i}", x, weight, kernel=(3, 3), pad=(1, 1), num_filter=8,
                no_bias=True)
        states = [add("null", f"norm{i}_{state}")
                  for state in ("gamma", "beta", "moving_mean", "moving_var")]
        y = add("BatchNorm", f"norm{i}", y, *states, fix_gamma=False)
        y = add("Activation", f"relu{i}", y, act_type="relu")
        x = add("elemwise_add", f"sum{i}", x, y)
    arguments = [i for i, node in enumerate(nodes) if node["op"] == "null"]
    print(json.dumps({"nodes": nodes, "arg_nodes": arguments, "heads": [[x, 0, 0]],
                      "attrs": {"mxnet_version": ["int", 10901]}}))


if len(sys.argv) > 2 and sys.argv[2] == "convolutions":
    print_convolutions()
elif len(sys.argv) > 2:
    write_inputs(sys.argv[2])
else:
    print_chain()
