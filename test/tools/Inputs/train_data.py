#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes small arrays to train with, some that do not fit together, and small
networks that end otherwise than in a softmax.

usage: train_data.py FOLDER
"""
import json
import os
import random
import struct
import sys
import zipfile


def npy(kind, shape, values):
    """The bytes of an .npy file of floats ("<f4", "<f2") or integers ("<i8")."""
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    codes = {"<f4": "f", "<f2": "e", "<i8": "q"}
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode()
            + struct.pack(f"<{len(values)}{codes[kind]}", *values))


def write(name, **arrays):
    with zipfile.ZipFile(os.path.join(sys.argv[1], name + ".npz"), "w") as file:
        for key, value in arrays.items():
            file.writestr(key + ".npy", value)


random.seed(3)
rows = [[random.gauss(0, 1) for _ in range(12)] for _ in range(43)]
labels = [(row[0] > 0) + 2 * (row[1] > 0) for row in rows]
data = npy("<f4", (43, 12), [each for row in rows for each in row])
write("data", data=data, softmax_label=npy("<i8", (43,), labels))
hot = [float(each == label) for label in labels for each in range(7)]
write("column", data=data, softmax_label=npy("<i8", (43, 1), labels))
write("hot", data=data, softmax_label=npy("<f4", (43, 7), hot))
write("counts", data=data, label=npy("<i8", (42,), labels[1:]))
write("names", image=data, softmax_label=npy("<i8", (43,), labels))
write("digits", image=npy("<f4", (43, 1, 8, 8), [0.0] * (43 * 64)))
write("onehot", image=npy("<f4", (43, 1, 8, 8), [0.0] * (43 * 64)),
      label=npy("<i8", (43, 10), [0] * 430))
write("classes", image=npy("<f4", (43, 1, 8, 8), [0.0] * (43 * 64)),
      label=npy("<i8", (43,), [0] * 5 + [10] + [9] * 37))
write("zeros", image=npy("<f4", (43, 1, 8, 8), [0.0] * (43 * 64)),
      label=npy("<i8", (43,), [0] * 43))
write("unlabelled", data=data)
write("nan", data=npy("<f4", (43, 12), [0.0] * 40 + [float("nan")] + [0.0] * 475),
      softmax_label=npy("<i8", (43,), labels))
write("others", data=data, softmax_label=npy("<i8", (43,), labels[:40] + [-1, 9, 9]))
write("parts", data=data, softmax_label=npy("<f4", (43,), labels[:40] + [1.5, 0, 0]))
# A class for each of five places.
write("places", data=data, label=npy("<i8", (43, 5), [(i + j) % 5 for i in labels for j in range(5)]))
write("placed", data=data, label=npy("<f4", (43, 5, 1), [float(i > j) for i in labels for j in range(5)]))
write("above", image=npy("<f4", (43, 1, 8, 8), [0.0] * (43 * 64)),
      label=npy("<f4", (43, 10), [1] * 60 + [5] + [0] * 369))
write("half", data=npy("<f2", (43, 12), [each for row in rows for each in row]),
      softmax_label=npy("<i8", (43,), labels))
write("values", data=data,
      label=npy("<f4", (43, 2), [each for row in rows for each in row[:2]]))
write("pairs", data=data, softmax_label=npy("<i8", (43, 2), labels * 2))
write("biases", data=data, softmax_label=npy("<i8", (43,), labels),
      fc2_bias=npy("<f4", (43, 7), [0.0] * (43 * 7)))
write("narrow", data=npy("<f4", (43, 5), [0.0] * 215), softmax_label=npy("<i8", (43,), labels))
write("labelled", data=data,
      softmax_label=npy("<f4", (43,), [float(each) for each in labels]))
write("weights", data=data, w=npy("<f4", (43, 4), [0] * 172),
      label=npy("<f4", (43, 4), [0] * 172))
write("fours", data=data,
      label=npy("<f4", (43, 4), [each for row in rows for each in row[:4]]))
write("signs", data=data, label=npy("<i8", (43,), labels))


def network(name, hidden, nodes, outputs):
    """A product of the data with `hidden` columns, then `nodes`, each of an
    operator, a name and inputs by name; ends in `outputs`."""
    known = ["data", "fc_weight", "fc_bias"]
    listed = [{"op": "null", "name": each, "inputs": []} for each in known]
    every = [("FullyConnected", "fc", known, {"num_hidden": str(hidden)})]
    for op, node, inputs, attributes in every + nodes:
        listed.append({"op": op, "name": node, "attrs": attributes,
                       "inputs": [[known.index(each), 0, 0] for each in inputs]})
        known.append(node)
    variables = [i for i, node in enumerate(listed) if node["op"] == "null"]
    with open(os.path.join(sys.argv[1], name + "-symbol.json"), "w") as file:
        json.dump({"nodes": listed, "arg_nodes": variables,
                   "heads": [[known.index(each), 0, 0] for each in outputs]}, file)


label = ("null", "label", [], {})
network("regression", 2,
        [label, ("LinearRegressionOutput", "out", ["fc", "label"], {})], ["out"])
network("own", 2, [("square", "squared", ["fc"], {}),
                   ("MakeLoss", "out", ["squared"], {})], ["out"])
network("hinge", 4, [label, ("SVMOutput", "out", ["fc", "label"], {})], ["out"])
network("shifted", 4,
        [("null", "shift", [], {"__shape__": "(4,)"}),
         ("broadcast_add", "sum", ["fc", "shift"], {}), label,
         ("SoftmaxOutput", "out", ["sum", "label"], {})], ["out"])
network("aside", 4, [label, ("SoftmaxOutput", "out", ["fc", "label"], {})],
        ["fc", "out"])
