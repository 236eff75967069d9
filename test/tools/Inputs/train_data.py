#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes small arrays to train with, and some that do not fit together.

usage: train_data.py FOLDER
"""
import os
import random
import struct
import sys
import zipfile


def npy(kind, shape, values):
    """The bytes of an .npy file of floats ("<f4") or integers ("<i8")."""
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode()
            + struct.pack(f"<{len(values)}{'f' if kind == '<f4' else 'q'}", *values))


def write(name, **arrays):
    with zipfile.ZipFile(os.path.join(sys.argv[1], name + ".npz"), "w") as file:
        for key, value in arrays.items():
            file.writestr(key + ".npy", value)


random.seed(3)
rows = [[random.gauss(0, 1) for _ in range(12)] for _ in range(43)]
labels = [(row[0] > 0) + 2 * (row[1] > 0) for row in rows]
data = npy("<f4", (43, 12), [each for row in rows for each in row])
write("data", data=data, softmax_label=npy("<i8", (43,), labels))
write("counts", data=data, label=npy("<i8", (42,), labels[1:]))
write("names", image=data, softmax_label=npy("<i8", (43,), labels))
write("digits", image=npy("<f4", (43, 1, 8, 8), [0.0] * (43 * 64)))
write("onehot", image=npy("<f4", (43, 1, 8, 8), [0.0] * (43 * 64)),
      label=npy("<i8", (43, 10), [0] * 430))
