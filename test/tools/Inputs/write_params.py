#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a .params file (V2) with one vector of f32.

usage: write_params.py FILE NAME NUMBER...
"""
import struct
import sys

path, name, numbers = sys.argv[1], sys.argv[2].encode(), [float(n) for n in sys.argv[3:]]
with open(path, "wb") as file:
    file.write(struct.pack("<QQQ", 0x112, 0, 1))
    file.write(struct.pack("<Iiiq", 0xF993FAC9, 0, 1, len(numbers)))
    file.write(struct.pack("<iii", 1, 0, 0))
    file.write(struct.pack(f"<{len(numbers)}f", *numbers))
    file.write(struct.pack("<QQ", 1, len(name)) + name)
