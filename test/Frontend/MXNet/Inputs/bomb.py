# SPDX-License-Identifier: Apache-2.0
"""Writes an .npz of few bytes whose one member unpacks to 16 MiB, has a header
that says 2x3 and a checksum that nobody has looked at yet.

usage: bomb.py ARCHIVE.npz
"""

import sys
import zipfile

header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n"
start = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("fc_weight.npy", start + bytes(1 << 24))
with open(sys.argv[1], "r+b") as file:
    data = file.read()
    file.seek(data.rindex(b"PK\x01\x02") + 16)
    file.write(b"none")
