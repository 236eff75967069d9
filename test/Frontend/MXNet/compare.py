#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks an array of floats in an .npz against a .npy, within 1e-6.

usage: compare.py ARRAYS.npz NAME EXPECTED.npy
"""

import array
import sys
import zipfile


def read(data):
    """The float32 elements of an .npy of version 1."""
    start = 10 + int.from_bytes(data[8:10], "little")
    header = data[10:start].decode()
    assert "'<f4'" in header and "'fortran_order': False" in header, header
    values = array.array("f")
    values.frombytes(data[start:])
    return values


found = read(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2] + ".npy"))
with open(sys.argv[3], "rb") as file:
    expected = read(file.read())
assert len(found) == len(expected) > 0, (len(found), len(expected))
for a, b in zip(found, expected):
    assert abs(a - b) <= 1e-6, (a, b)
