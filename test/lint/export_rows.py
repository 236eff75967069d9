#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every operation of Graph has one row in the table of the ONNX export.

usage: export_rows.py GraphDialect.md SOURCE_ROOT
"""

import glob
import os
import re
import sys

# What holds values and operations together.
STRUCTURE = {"constant", "fusion", "none", "yield"}

reference, root = sys.argv[1:]
operations = set(re.findall(r"^### `graph\.(\w+)`", open(reference, encoding="utf-8").read(), re.M))
rows = []
for path in glob.glob(os.path.join(root, "lib", "Export", "ONNX", "Operators", "*.cpp")):
    rows += re.findall(r'^    \{"(\w+)", "\w*"', open(path, encoding="utf-8").read(), re.M)
problems = [f"graph.{name}: expected a row in lib/Export/ONNX/Operators" for name in operations - STRUCTURE - set(rows)]
problems += [f"graph.{name}: expected one row, got {rows.count(name)}" for name in set(rows) if rows.count(name) != 1]
problems += [f"{name}: expected an operation of Graph" for name in set(rows) - operations]
print("\n".join(sorted(problems)) or f"{len(rows)} operations have a row")
sys.exit(bool(problems))
