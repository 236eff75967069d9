# SPDX-License-Identifier: Apache-2.0
"""Writes an .npz of few bytes whose one member unpacks to many, 16 MiB of them
without BYTES, has a header that says 2x3, or SIZE floats, and a checksum that
nobody has looked at yet.

usage: bomb.py ARCHIVE.npz [BYTES SIZE]
"""

import sys
import zipfile

count, shape = (int(sys.argv[2]), f"({sys.argv[3]},)") if len(sys.argv) > 2 else (1 << 24, "(2, 3)")
header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
start = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("fc_weight.npy", start + bytes(count))
with open(sys.argv[1], "r+b") as file:
    data = file.read()
    file.seek(data.rindex(b"PK\x01\x02") + 16)
    file.write(b"none")
