# SPDX-License-Identifier: Apache-2.0
"""Expects the arrays of two .npz files to be alike, within 2e-5 of the largest
finite value of each, 2e-3 where they are of f16, and 2e-2 of bf16, with NaN and
Inf in the same places: near.py A B."""

import math
import struct
import sys
import zipfile


def read(path):
    """The floats of each array, by name, with what they may be off by."""
    arrays = {}
    with zipfile.ZipFile(path) as members:
        for name in members.namelist():
            data = members.read(name)
            (length,) = struct.unpack_from("<H", data, 8)
            header = data[:10 + length]
            values = data[10 + length:]
            letter, tolerance = next(
                kind for key, kind in {b"'<f8'": ("d", 2e-5), b"'<f4'": ("f", 2e-5),
                                       b"'<f2'": ("e", 2e-3), b"'<V2'": ("f", 2e-2)}.items()
                if key in header)
            if tolerance == 2e-2:  # The upper halves of f32.
                values = b"".join(b"\0\0" + values[at:at + 2]
                                  for at in range(0, len(values), 2))
            count = len(values) // struct.calcsize(letter)
            arrays[name] = (struct.unpack(f"<{count}{letter}", values), tolerance)
    return arrays


a, b = read(sys.argv[1]), read(sys.argv[2])
if not a or a.keys() != b.keys():
    sys.exit(f"expected {sorted(a)}, got {sorted(b)}")
for array, (values, tolerance) in a.items():
    scale = max((abs(value) for value in values if math.isfinite(value)), default=0)
    error = 0
    for x, y in zip(values, b[array][0], strict=True):
        if math.isfinite(x) and math.isfinite(y):
            error = max(error, abs(x - y))
        elif not (x == y or math.isnan(x) and math.isnan(y)):
            sys.exit(f"{array}: expected {x}, got {y}")
    if not error <= tolerance * scale:
        sys.exit(f"{array}: expected at most {tolerance * scale}, got {error}")
