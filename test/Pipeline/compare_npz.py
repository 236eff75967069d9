#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares arrays of f32 in two .npz files within BOUND of their largest values.

usage: compare_npz.py A.npz B.npz BOUND
"""

import math
import struct
import sys
import zipfile


def read(path):
    with zipfile.ZipFile(path) as file:
        for name in sorted(file.namelist()):
            data = file.read(name)
            values = data[10 + struct.unpack_from("<H", data, 8)[0]:]
            yield name, struct.unpack(f"<{len(values) // 4}f", values)


def main():
    arrays, others = dict(read(sys.argv[1])), dict(read(sys.argv[2]))
    bound = float(sys.argv[3])
    assert arrays and arrays.keys() == others.keys(), "expected the same arrays"
    for name, values in arrays.items():
        largest = max(map(abs, values))
        assert math.isfinite(largest) and len(values) == len(others[name]), name
        worst = max(abs(a - b) for a, b in zip(values, others[name]))
        assert worst <= bound * largest, f"{name}: {worst} of {largest}"


main()
