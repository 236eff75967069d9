#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Matches arrays with names by structure with the layers of small networks, as
Gluon names both: answers are those of the layers meant, refusals say why.

usage: check_structures.py DLC FOLDER
"""

import array
import json
import math
import os
import random
import subprocess
import sys
import zipfile

DLC, FOLDER = sys.argv[1], sys.argv[2]
random.seed(7)
failures = 0


def floats(count):
    return array.array("f", [random.uniform(-1, 1) for _ in range(count)])


def npy(values, *shape):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + values.tobytes()


def read_npy(data):
    return array.array("f", data[10 + int.from_bytes(data[8:10], "little"):])


class Network:
    """Nodes of a symbol file, and what they compute of one input of 2 x 4."""

    def __init__(self, layers):
        """`layers` are scopes of names by paths of attributes, in the file's
        order; one with the value of another path shares its parameters."""
        self.nodes, self.numbers = [], {}
        self.data = floats(8)
        self.arrays, self.values = {}, {}
        for path, scope in layers.items():
            if scope not in self.values:
                self.values[scope] = floats(16), floats(4)
            weight, bias = self.values[scope]
            self.arrays |= {f"{path}.weight": npy(weight, 4, 4), f"{path}.bias": npy(bias, 4)}
        self.input = (self.variable("data"), self.data)

    def node(self, op, name, inputs, **attributes):
        attrs = {key: str(value) for key, value in attributes.items()}
        self.nodes.append({"op": op, "name": name, "attrs": attrs, "inputs": [[i, 0, 0] for i in inputs]})
        return len(self.nodes) - 1

    def variable(self, name):
        if name not in self.numbers:
            self.numbers[name] = self.node("null", name, [])
        return self.numbers[name]

    def dense(self, scope, x):
        weight, bias = self.values[scope]
        inputs = [x[0], self.variable(scope + "_weight"), self.variable(scope + "_bias")]
        name = f"{scope}_fwd{len(self.nodes)}"
        values = [bias[j] + sum(x[1][4 * i + k] * weight[4 * j + k] for k in range(4)) for i in range(2) for j in range(4)]
        return self.node("FullyConnected", name, inputs, num_hidden=4), values

    def tanh(self, x):
        return self.node("tanh", f"tanh{len(self.nodes)}", [x[0]]), [math.tanh(value) for value in x[1]]

    def chain(self, *scopes):
        """One layer behind the other; tanh lies before each."""
        x = self.input
        for scope in scopes:
            x = self.dense(scope, self.tanh(x))
        return x

    def join(self, *parts):
        """What tells parts from each other: 1 x the first + 2 x the second ..."""
        node, value = parts[0]
        for factor, (other, term) in enumerate(parts[1:], 2):
            scaled = self.node("_mul_scalar", f"mul{len(self.nodes)}", [other], scalar=factor)
            node = self.node("elemwise_add", f"add{len(self.nodes)}", [node, scaled])
            value = [a + factor * b for a, b in zip(value, term)]
        return node, value


def check(name, layers, build, refusal=None, said=()):
    global failures
    network = Network(layers)
    head, answer = build(network)
    base = os.path.join(FOLDER, name)
    arguments = [i for i, node in enumerate(network.nodes) if node["op"] == "null"]
    with open(base + "-symbol.json", "w") as file:
        json.dump({"nodes": network.nodes, "arg_nodes": arguments, "heads": [[head, 0, 0]],
                   "attrs": {"mxnet_version": ["int", 10901]}}, file)
    with zipfile.ZipFile(base + ".npz", "w") as file:
        for key, data in network.arrays.items():
            file.writestr(key + ".npy", data)
    with open(base + "-data.npy", "wb") as file:
        file.write(npy(network.data, 2, 4))
    exported = subprocess.run([DLC, "export", base + "-symbol.json", "--params", base + ".npz", "--shape", "data=2x4",
                               "-o", base + "-named-symbol.json", *said], capture_output=True, text=True)
    if refusal is not None:
        if exported.returncode != 1 or refusal not in exported.stderr:
            failures += 1
            print(f"{name}: expected a refusal with '{refusal}', got {exported.stderr or 'none'}")
        return
    ran = subprocess.run([DLC, "run", base + "-named-symbol.json", "--params", base + "-named-0000.params", "--input",
                          f"data={base}-data.npy", "--outputs", base + "-out.npz"], capture_output=True, text=True)
    if exported.returncode or ran.returncode:
        failures += 1
        print(f"{name}: expected an answer, got {exported.stderr}{ran.stderr}")
        return
    with zipfile.ZipFile(base + "-out.npz") as file:
        found = read_npy(file.read(file.namelist()[0]))
    difference = max(abs(a - b) for a, b in zip(found, answer, strict=True))
    if not difference < 1e-4:
        failures += 1
        print(f"{name}: expected the answer of the layers meant, got a difference of {difference}")


NOTHING, NUMBERS = "nothing tells it", "only numbers in names tell it"
FLOW, BOTH = "only the flow of data tells it", "numbers in names tell another one than the flow of data"
GUESS = ["--guess-layers"]

# Made, registered and used in one order; ten layers are not sorted as text.
many = [f"dense{i}" for i in range(8, 12)]
check("sequence", dict(zip("0123", many)), lambda n: n.chain(*many))
scope = {"first": "net0_dense0", "second": "net0_dense1"}
check("scope", scope, lambda n: n.chain("net0_dense0", "net0_dense1"), NUMBERS)
check("scope-guess", scope, lambda n: n.chain("net0_dense0", "net0_dense1"), said=GUESS)
# Nothing says that blocks which were made apart are registered in that order.
apart = {"dec": "dense0", "enc": "dense1"}
check("apart", apart, lambda n: n.chain("dense0", "dense1"), NUMBERS)
check("apart-guess", apart, lambda n: n.chain("dense0", "dense1"), said=GUESS)
# A container runs in its order, or in reverse.
check("container", {"0": "dense1", "1": "dense0"}, lambda n: n.chain("dense1", "dense0"), BOTH)
check("reverse", {"0": "dense0", "1": "dense1"}, lambda n: n.chain("dense1", "dense0"), BOTH)
check("reverse-guess", {"0": "dense0", "1": "dense1"}, lambda n: n.chain("dense1", "dense0"), said=GUESS)
# first = Dense(); second = Dense(); self.second = first ...
turned = {"first": "dense1", "second": "dense0"}
chain = lambda n: n.chain("dense1", "dense0")
check("turned", turned, chain, BOTH)
check("turned-said", turned, chain, said=["--layer", "first=dense1"])
check("turned-wrong", turned, chain, "expected a layer of the network, got 'dense7'; it has 'dense1', 'dense0'",
      said=["--layer", "first=dense7"])
check("turned-path", turned, chain, "expected a layer of the file, got 'third'; it has 'first', 'second'",
      said=["--layer", "third=dense1"])
check("turned-twice", turned, chain, "once, got 'dense1' twice",
      said=["--layer", "first=dense1", "--layer", "second=dense1"])
# Prefixes: of no meaning, or the words of attributes, whole or in part.
check("prefix", {"first": "out", "second": "in"}, lambda n: n.chain("out", "in"), FLOW)
check("prefix-guess", {"first": "out", "second": "in"}, lambda n: n.chain("out", "in"), said=GUESS)
check("letters", {"o": "in", "i": "out"}, lambda n: n.chain("in", "out"), FLOW)
check("word", {"bb": "net0_zz", "aaa": "net0_aaab"}, lambda n: n.chain("net0_aaab", "net0_zz"))
attention = {"proj_key": "cell_key", "proj_query": "cell_query", "proj_value": "cell_value"}
check("words", attention, lambda n: n.join(n.chain("cell_query"), n.chain("cell_value"), n.chain("cell_key")))
cells = {f"cells.{i}.{path}_proj": f"cell{i}_{path}_proj" for i in range(2) for path in ["key", "query", "out"]}
check("cells", cells, lambda n: n.chain(*[f"cell{i}_{s}_proj" for i in range(2) for s in ["query", "key", "out"]]))
# With numbers they are no counts where Gluon would not count so.
turned = {"fc2": "fc2", "fc1": "fc1"}
check("numbered", turned, lambda n: n.chain("fc1", "fc2"))
check("numbered-side", turned, lambda n: n.join(n.chain("fc1"), n.chain("fc2")))
check("classes", {"decoder.fc": "decoder0_dense0", "encoder.fc": "encoder0_dense0"},
      lambda n: n.chain("encoder0_dense0", "decoder0_dense0"))
# The attribute conv1 has what is called conv0: these numbers say nothing of words.
units = {"5.0.dense1": "s_dense0", "5.0.dense2": "s_dense1", "5.1.dense1": "s_dense2", "5.1.dense2": "s_dense3"}
check("units", units, lambda n: n.chain("s_dense0", "s_dense1", "s_dense2", "s_dense3"), NUMBERS)
check("units-guess", units, lambda n: n.chain("s_dense0", "s_dense1", "s_dense2", "s_dense3"), said=GUESS)
check("shifted", {"dense1": "dense2", "dense2": "dense1"}, lambda n: n.join(n.chain("dense1"), n.chain("dense2")), NUMBERS)
# A container is no layer, whether registered before or behind one.
block = "hybridsequential0_dense0"
check("stem", {"stem": "dense0", "body.0": block}, lambda n: n.chain("dense0", block))
# ... whatever the attribute of the layer has in common with its class.
check("leaf", {"res": "dense0", "body.fc": "resblock0_dense0"}, lambda n: n.chain("dense0", "resblock0_dense0"))
check("leaf-side", {"body.fc": "resblock0_dense0", "res": "dense0"},
      lambda n: n.join(n.chain("dense0"), n.chain("resblock0_dense0")))
# Layers without words among those with words.
mixed = {"query": "net0_query", "gate": "net0_dense0", "key": "net0_key", "skip": "net0_dense1"}
for name, scopes in ("mixed", ["query", "dense1", "key", "dense0"]), ("mixed2", ["dense1", "key", "query", "dense0"]):
    build = lambda n, scopes=scopes: n.join(*[n.chain("net0_" + scope) for scope in scopes])
    check(name, mixed, build, NUMBERS)
    check(name + "-guess", mixed, build, said=GUESS)
encoders = {"norm": "net0_dense0", "layers.0.fc": "net0_encl0_dense0", "layers.1.fc": "net0_encl1_dense0"}
check("encoders", encoders, lambda n: n.chain("net0_encl0_dense0", "net0_encl1_dense0", "net0_dense0"))
check("head", {"head": "dense0", "body.0": block}, lambda n: n.chain(block, "dense0"))
# Side by side: one behind several; in turns; each whole, by its scope or its flow.
side = {"body.0": "dense0", "body.1": "dense1", "side": "dense2"}
sides = lambda n: n.join(n.chain("dense2"), n.chain("dense0", "dense1"))
check("side", side, sides, NUMBERS)
check("side-guess", side, sides, said=GUESS)
turns = {"a.0": "dense0", "a.1": "dense2", "b.0": "dense1", "b.1": "dense3"}
flat = lambda n: n.join(*[n.chain(f"dense{i}") for i in range(4)])
check("turns", turns, flat, NOTHING)
check("turns-guess", turns, flat, NOTHING, said=GUESS)
check("turns-flow", turns, lambda n: n.join(n.chain("dense0", "dense2"), n.chain("dense1", "dense3")), NOTHING, said=GUESS)
# One answer does not make the others known.
check("turns-said", turns, flat, NOTHING, said=["--layer", "a.1=dense2"] + GUESS)
check("turns-all", turns, flat, said=[f"--layer={path}={scope}" for path, scope in turns.items()])
whole = {"a.0": "dense0", "a.1": "dense1", "b.0": "dense2", "b.1": "dense3"}
check("whole-flow", whole, lambda n: n.join(n.chain("dense2", "dense3"), n.chain("dense0", "dense1")), said=GUESS)
scopes = {"a.0": "seq0_dense0", "a.1": "seq0_dense1", "b.0": "seq1_dense0", "b.1": "seq1_dense1"}
check("whole-scope", scopes, lambda n: n.join(*[n.chain(s) for s in reversed(scopes.values())]), said=GUESS)
# Both directions of two recurrent layers.
ways = {f"_unfused.{i}.{way}_cell": f"lstm0_{way}{i}" for i in range(2) for way in "lr"}
check("ways", ways, lambda n: n.join(*[n.chain(f"lstm0_{way}{i}") for i in range(2) for way in "rl"]), said=GUESS)
# Shared parameters are saved once for each block.
check("shared", {"0": "dense0", "1": "dense1", "2": "dense0"}, lambda n: n.chain("dense0", "dense1", "dense0"))
check("twins", {"a": "right", "b": "left"}, lambda n: n.join(n.chain("left"), n.chain("right")), NOTHING, said=GUESS)
# Layers that only training reads.
spare = {"body": "body", "aux": "aux", "head": "head"}
used = lambda n: n.chain("body", "head")
check("spare", spare, used, "expected 2 ('body', 'head'), got 3 ('body', 'aux', 'head'); --layer head= leaves one out")
check("spare-out", spare, used, said=["--layer", "aux="])
check("spare-block", {"body": "body", "aux.0": "aux0", "aux.1": "aux1", "head": "head"}, used, said=["--layer", "aux="])
check("spare-said", spare, used, said=["--layer", "body=body", "--layer", "head=head"])

print("all structures are as expected" if not failures else f"{failures} failures")
sys.exit(failures != 0)
