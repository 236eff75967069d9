#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports the ten largest source files and functions; a report, not a gate.

usage: sizes.py SOURCE_ROOT

A function is what LLVM style makes of one: a line that starts at the margin
and ends in '{', up to the '}' at the margin.
"""

import os
import re
import sys

SKIPPED = "namespace|struct|class|enum|extern|union|public|protected|private"
START = re.compile(rf"^(?!{SKIPPED})[A-Za-z].*")
NAME = re.compile(r"([~\w:]+)\(")


def functions(lines):
    start = None
    for number, line in enumerate(lines):
        if START.match(line) and start is None:
            start = number
        if line.startswith("}"):
            if start is not None and "(" in "".join(lines[start : start + 3]):
                name = NAME.search(" ".join(lines[start : start + 3]))
                yield number - start + 1, name[1] if name else "?"
            start = None
        elif line.endswith(";") and start is not None and line[:1].strip():
            start = None


def main():
    os.chdir(sys.argv[1])
    files, found = [], []
    for root in ("include", "lib", "passes", "dialects", "runtime", "tools", "test"):
        for folder, _, names in os.walk(root):
            for path in (os.path.join(folder, name) for name in names):
                if path.endswith((".h", ".cpp", ".c", ".td")):
                    lines = open(path, encoding="utf-8").read().splitlines()
                    files.append((len(lines), path))
                    found += [(n, f"{path}: {f}") for n, f in functions(lines)]
    for title, rows in (("files", files), ("functions", found)):
        print(f"largest of {len(rows)} {title}, in lines:")
        for count, what in sorted(rows, reverse=True)[:10]:
            print(f"{count:6} {what}")


main()
