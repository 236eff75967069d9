#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the nodes of an MXNet network into groups a and b: the first half of
them, but for the data, and the rest.

usage: add_groups.py IN-symbol.json OUT-symbol.json
"""

import json
import sys

with open(sys.argv[1]) as file:
    network = json.load(file)
nodes = network["nodes"]
for i, node in enumerate(nodes):
    if node["name"] != "data":
        group = "a" if i < len(nodes) // 2 else "b"
        node.setdefault("attrs", {})["__ctx_group__"] = group
with open(sys.argv[2], "w") as file:
    json.dump(network, file)
