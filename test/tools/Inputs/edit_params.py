#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies a .params or .states file with one array of it changed.

usage: edit_params.py FROM TO drop NAME
       edit_params.py FROM TO keep NAME        (it alone)
       edit_params.py FROM TO add NAME         (one i64 of 0)
       edit_params.py FROM TO set BEGIN VALUE  (an i64, in the array whose name
                                                begins so)
       edit_params.py FROM - print NAME        (its numbers, each once)
"""
import struct
import sys

SIZES = {0: 4, 1: 8, 6: 8}  # f32, f64, i64
V3 = 0xF993FACA


def read(data):
    """Names and the bytes of each array of a dense V2 or V3 list."""
    at = 24
    arrays = []
    for _ in range(struct.unpack_from("<Q", data, 16)[0]):
        start = at
        rank = struct.unpack_from("<i", data, at + 8)[0]
        dims = struct.unpack_from(f"<{rank}q", data, at + 12)
        at += 12 + 8 * rank + 8
        kind = struct.unpack_from("<i", data, at)[0]
        at += 4
        count = 1
        for dim in dims:
            count *= dim
        at += count * SIZES[kind]
        arrays.append(data[start:at])
    names = []
    at += 8
    for _ in arrays:
        length = struct.unpack_from("<Q", data, at)[0]
        names.append(data[at + 8:at + 8 + length].decode())
        at += 8 + length
    assert at == len(data), (at, len(data))
    return names, arrays


def write(names, arrays):
    data = struct.pack("<3Q", 0x112, 0, len(arrays)) + b"".join(arrays)
    data += struct.pack("<Q", len(names))
    for name in names:
        data += struct.pack("<Q", len(name)) + name.encode()
    return data


source, target, action, name = sys.argv[1:5]
with open(source, "rb") as file:
    names, arrays = read(file.read())
if action == "drop":
    i = names.index(name)
    del names[i], arrays[i]
elif action == "keep":
    i = names.index(name)
    names, arrays = [name], [arrays[i]]
elif action == "add":
    names.append(name)
    arrays.append(struct.pack("<Iii3iq", V3, 0, 0, 1, 0, 6, 0))
elif action == "print":
    array = arrays[names.index(name)]
    [count] = struct.unpack_from("<q", array, 12)  # Of a vector.
    print(*sorted(set(struct.unpack(f"<{count}f", array[-4 * count:]))))
    sys.exit()
else:
    [i] = [i for i, each in enumerate(names) if each.startswith(name)]
    arrays[i] = arrays[i][:-8] + struct.pack("<q", int(sys.argv[5]))
with open(target, "wb") as file:
    file.write(write(names, arrays))
