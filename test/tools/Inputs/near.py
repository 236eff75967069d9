# SPDX-License-Identifier: Apache-2.0
"""Expects the arrays of two .npz files to be alike, within 2e-5 of the largest
value of each: near.py A B."""

import struct
import sys
import zipfile


def read(path):
    """The floats of each array, by name."""
    arrays = {}
    with zipfile.ZipFile(path) as members:
        for name in members.namelist():
            data = members.read(name)
            (length,) = struct.unpack_from("<H", data, 8)
            letter = "d" if b"'<f8'" in data[:length] else "f"
            values = data[10 + length:]
            count = len(values) // struct.calcsize(letter)
            arrays[name] = struct.unpack(f"<{count}{letter}", values)
    return arrays


a, b = read(sys.argv[1]), read(sys.argv[2])
if not a or a.keys() != b.keys():
    sys.exit(f"expected {sorted(a)}, got {sorted(b)}")
for array in a:
    scale = max(abs(value) for value in a[array])
    error = max(abs(x - y) for x, y in zip(a[array], b[array], strict=True))
    if not error <= 2e-5 * scale:
        sys.exit(f"{array}: expected at most {2e-5 * scale}, got {error}")
