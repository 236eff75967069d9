#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes an MXNet network of one operator, whose operands are nodes, too.

usage: one_node.py OUT-symbol.json OPERATOR [KEY=VALUE ...] [-- OPERAND ...]

An operand is SHAPExTYPE=VALUE (3x4xfloat16=2), of one value, N.., the float32
numbers below N, or :NAME, a variable.
"""

import json
import sys

path, operator, *rest = sys.argv[1:]
at = rest.index("--") if "--" in rest else len(rest)
nodes, operands = [], []
for i, text in enumerate(rest[at + 1:]):
    attributes = {}
    if text.startswith(":"):
        kind, name = "null", text[1:]
    elif text.endswith(".."):
        kind, name, attributes = "_npi_arange", f"in{i}", {"start": "0", "stop": text[:-2], "step": "1", "dtype": "float32"}
    else:
        (*dims, dtype), value = text.split("=")[0].split("x"), text.split("=")[1]
        kind, name = "_full", f"in{i}"
        attributes = {"shape": f"({','.join(dims)},)", "dtype": dtype, "value": value}
    nodes.append({"op": kind, "name": name, "attrs": attributes, "inputs": []})
    operands.append([i, 0, 0])
nodes.append({"op": operator, "name": "r", "attrs": dict(each.split("=", 1) for each in rest[:at]), "inputs": operands})
count = 2 if "returned=True" in rest or "histogram" in operator else 1
with open(path, "w") as file:
    json.dump({"nodes": nodes, "arg_nodes": [i for i, node in enumerate(nodes) if node["op"] == "null"],
               "heads": [[len(nodes) - 1, i, 0] for i in range(count)],
               "attrs": {"mxnet_version": ["int", 10901], "is_np_shape": ["int", 1]}}, file)
