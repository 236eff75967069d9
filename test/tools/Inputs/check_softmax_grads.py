#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the gradient of a bias in front of a softmax p: p_0 (e_0 - p), where
that of p_0 is 1 and there is no other.

usage: check_softmax_grads.py OUTPUTS.npz SOFTMAX GRADS.npz BIAS

Prints the names of all gradients.
"""
import struct
import sys
import zipfile


def read(path, name):
    """The elements of a member of f32."""
    data = zipfile.ZipFile(path).read(name + ".npy")
    begin = 10 + struct.unpack_from("<H", data, 8)[0]
    return struct.unpack_from(f"<{(len(data) - begin) // 4}f", data, begin)


p = read(sys.argv[1], sys.argv[2])
found = read(sys.argv[3], sys.argv[4])
assert len(found) == len(p), (len(found), len(p))
for i, value in enumerate(found):
    expected = p[0] * ((i == 0) - p[i])
    assert abs(value - expected) <= 1e-6, (i, value, expected)
assert max(map(abs, found)) > 1e-4, found
print(" ".join(name[:-4] for name in zipfile.ZipFile(sys.argv[3]).namelist()))
