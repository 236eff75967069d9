#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns the examples in a generated dialect reference into functions.

usage: op_examples.py DIALECT.md

Each operation's first mlir block becomes one function whose arguments are the
values that the block uses but does not define. An operation without an example
is an error.
"""

import re
import sys

HEADING = re.compile(r"^### `([a-z]+\.[a-z0-9_]+)`")
BLOCK = re.compile(r"```mlir\n(.*?)```", re.S)
LINE = re.compile(
    r"^\s*(?:(?P<results>%[^=]*?)\s*=\s*)?(?P<op>[a-z]+\.[a-z0-9_]+)"
    r"\s*(?P<operands>%[\w, %]*\w)?(?P<rest>.*)$"
)


def split_types(text):
    """Splits at commas outside of angle brackets."""
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += (char == "<") - (char == ">")
        if char == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def operand_types(rest, count):
    if " : (" not in rest:
        return [rest.rsplit(" : ", 1)[-1].strip()] * count
    start = rest.rindex(" : (") + 4
    return split_types(rest[start : rest.index(")", start)])


def function(name, block):
    defined, arguments = set(), {}
    for line in block.strip().splitlines():
        match = LINE.match(line)
        if not match:
            raise ValueError(f"{name}: cannot read {line!r}")
        operands = re.findall(r"%\w+", match["operands"] or "")
        if operands:
            types = operand_types(match["rest"], len(operands))
            if len(types) != len(operands):
                raise ValueError(f"{name}: {len(operands)} operands in {line!r}")
            for operand, kind in zip(operands, types):
                if operand not in defined:
                    arguments[operand] = kind
        defined.update(re.findall(r"%\w+", match["results"] or ""))
    parameters = ", ".join(f"{value}: {kind}" for value, kind in arguments.items())
    body = "\n".join("  " + line.strip() for line in block.strip().splitlines())
    return f"func.func @{name.split('.')[1]}({parameters}) {{\n{body}\n  return\n}}\n"


def main():
    text = open(sys.argv[1], encoding="utf-8").read()
    parts = re.split(r"^(?=### `)", text, flags=re.M)
    missing = []
    for part in parts:
        heading = HEADING.match(part)
        if not heading:
            continue
        block = BLOCK.search(part)
        if not block:
            missing.append(heading[1])
            continue
        print(function(heading[1], block[1]))
    if missing:
        sys.exit(f"operations without an example: {', '.join(missing)}")


if __name__ == "__main__":
    main()
