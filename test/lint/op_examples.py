#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns the examples in a generated dialect reference into modules.

usage: op_examples.py DIALECT.md

Each operation's first mlir block becomes one module, wrapped in a function (or
a plan.program) that defines the values which the block uses but does not. An
operation without an example is an error.
"""

import re
import sys

HEADING = re.compile(r"^### `([a-z]+\.[a-z0-9_]+)`")
BLOCK = re.compile(r"```mlir\n(.*?)```", re.S)
VALUES = r"((?:%\w+(?:, )?)+)"
# "%a, %b ... : types" of one operation, or of one list of plan.launch.
LIST = re.compile(VALUES + r"[^%:()]*: ([^%()]*?)(?:\)|$)")
USE = re.compile(r"(?:^|= )[a-z]+\.[a-z0-9_]+\s+" + VALUES + r"(.*)$")
FUNCTIONAL = re.compile(r"^[a-z]+\.\w+ @\w+\(" + VALUES + r"\)( : .*)$")


def split_types(text):
    return [part.strip() for part in re.split(r",(?![^<]*>)", text)]


def uses(line):
    """Pairs (value, type) that one line reads."""
    if "plan.launch" in line:
        lists = LIST.findall(line)
        return [p for v, t in lists for p in zip(v.split(", "), split_types(t))]
    rest = re.sub(r"^%[^=]*= ", "", line)
    match = FUNCTIONAL.match(rest) or USE.search(rest)
    if not match:
        return []
    values, rest = match[1].split(", "), match[2]
    if " : (" in rest:
        start = rest.rindex(" : (") + 4
        return list(zip(values, split_types(rest[start : rest.index(")", start)])))
    kind = rest.rsplit(" : ", 1)[-1].split(" to ")[0].strip()
    return [(value, kind) for value in values]


def module(name, block):
    """The block as a module: symbols outside, the rest in one body."""
    symbols, body, needed, defined, depth = [], [], {}, set(), 0
    for line in (line.strip() for line in block.strip().splitlines()):
        outside = depth > 0 or re.match(r"(kernel\.(func|library)|plan\.program)", line)
        (symbols if outside else body).append(line)
        if outside:
            depth += line.endswith("{") - (line == "}")
            continue
        for value, kind in uses(line):
            if value not in defined:
                needed.setdefault(value, kind)
        defined.update(re.findall(r"%\w+", line.split(" = ")[0] if " = " in line else ""))
    if name.startswith("plan.") and body:
        buffers = [f'{v} = plan.buffer <cpu:0> : {t}' for v, t in needed.items()]
        lines = ["plan.program @example {", *buffers, *body, "}"]
    else:
        arguments = ", ".join(f"{v}: {t}" for v, t in needed.items())
        lines = [f"func.func @example({arguments}) {{", *body, "return", "}"]
    return "\n".join([f"// {name}", *symbols, *lines, "// -----"])


def main():
    text = open(sys.argv[1], encoding="utf-8").read()
    missing = []
    for part in re.split(r"^(?=### `)", text, flags=re.M):
        heading, block = HEADING.match(part), BLOCK.search(part)
        if heading and block and heading[1] in block[1]:
            print(module(heading[1], block[1]))
        elif heading:
            missing.append(heading[1])
    if missing:
        sys.exit(f"operations without an example: {', '.join(missing)}")


main()
