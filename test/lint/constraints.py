#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a test breaks each numbered constraint of the dialects.

usage: constraints.py SOURCE_ROOT

Descriptions number their constraints `(gather_c1)`; a test under test/dialects
that expects an error names the one it breaks, in a function's name or beside
it (`gather_c1_element` counts too). Families number theirs once for all
members, `mnemonic # "_c1)` or `(NAME_c1)`: for them a test of one operation of
that file will do.
"""

import os
import re
import sys

LITERAL = re.compile(r"\((?!NAME)([a-z0-9]+(?:_[a-z0-9]+)*_c\d+)\)")
FAMILY = re.compile(r'(?:"|NAME)_(c\d+)\)|^\s*"_(c\d+)\)', re.M)
MNEMONIC = re.compile(r'def \w+\s*:\s*\w+<\s*"([a-z0-9_]+)"')


def read(root, folder, suffix):
    for path, _, names in sorted(os.walk(os.path.join(root, folder))):
        for name in sorted(names):
            if name.endswith(suffix):
                with open(os.path.join(path, name), encoding="utf-8") as file:
                    yield name, file.read()


def main():
    root = sys.argv[1]
    named = set()
    for _, text in read(root, "test/dialects", ".mlir"):
        if "expected-error" in text or "cannot be computed" in text:
            named |= set(re.findall(r"\b\w+?_c\d+(?=_|\b)", text))
    problems, count = [], 0
    for name, text in read(root, "include/dlc/dialects", ".td"):
        literal = set(LITERAL.findall(text))
        count += len(literal)
        problems += [f"{name}: expected a test that breaks {constraint}"
                     for constraint in sorted(literal - named)]  # fmt: skip
        members = MNEMONIC.findall(text)
        for constraint in sorted({a or b for a, b in FAMILY.findall(text)}):
            count += 1
            if not any(f"{member}_{constraint}" in named - literal
                       for member in members):  # fmt: skip
                problems.append(f"{name}: expected a test that breaks "
                                f"{constraint} of a family")  # fmt: skip
    print("\n".join(problems) or f"{count} constraints are tested")
    sys.exit(bool(problems) or count == 0)


main()
