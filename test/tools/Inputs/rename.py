#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a network of MXNet (JSON) with other names and attributes of nodes.

usage: rename.py FILE OLD=NEW... NAME:ATTRIBUTE=VALUE...
"""
import json
import sys

with open(sys.argv[1]) as file:
    network = json.load(file)
nodes = {node["name"]: node for node in network["nodes"]}
for change in sys.argv[2:]:
    what, value = change.split("=", 1)
    name, _, attribute = what.partition(":")
    if attribute:
        nodes[name].setdefault("attrs", {})[attribute] = value
    else:
        nodes[name]["name"] = value
print(json.dumps(network))
