# SPDX-License-Identifier: Apache-2.0
"""Expects the arrays of two .npz files to be alike, within 2e-5 of the largest
value of each, 2e-3 where they are of f16, and 2e-2 where all of them are floats
of bf16, which .npz files have as f32: near.py A B."""

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
            letter = "d" if b"'<f8'" in header else "e" if b"'<f2'" in header else "f"
            values = data[10 + length:]
            count = len(values) // struct.calcsize(letter)
            is_bf16 = letter == "f" and not any(values[0::4]) and not any(values[1::4])
            arrays[name] = (struct.unpack(f"<{count}{letter}", values),
                            2e-2 if is_bf16 else 2e-3 if letter == "e" else 2e-5)
    return arrays


a, b = read(sys.argv[1]), read(sys.argv[2])
if not a or a.keys() != b.keys():
    sys.exit(f"expected {sorted(a)}, got {sorted(b)}")
for array, (values, tolerance) in a.items():
    scale = max(abs(value) for value in values)
    error = max(abs(x - y) for x, y in zip(values, b[array][0], strict=True))
    if not error <= tolerance * scale:
        sys.exit(f"{array}: expected at most {tolerance * scale}, got {error}")
