#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each pass has its four names, its documentation and its test.

usage: passes.py SOURCE_ROOT

A pass `FuseOperatorsPass` with the flag `graph-fuse-operators` lies in
`FuseOperators.cpp` and is tested in `fuse-operators.mlir`, beside each other
under lib/ or passes/ and under test/.
"""

import os
import re
import sys

DEF = re.compile(r'^def (\w+)\s*:\s*Pass<"([^"]*)"(.*?)^}', re.M | re.S)
FLAG = re.compile(r"^(graph|kernel|plan|convert|codegen)-[a-z0-9-]+$")
# The unit that a flag starts with.
UNIT = re.compile(r"^(graph|kernel|plan|convert|codegen-cpu|codegen-nvptx)-")


def field(body, name):
    match = re.search(rf'let {name} = (?:"(.*?)"|\[{{(.*?)}}\]);', body, re.S)
    return (match[1] or match[2] or "").strip() if match else ""


def kebab(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()


def files_under(*roots):
    return {os.path.join(folder, f) for root in roots
            for folder, _, files in os.walk(root) for f in files}


def check(name, flag, body, sources, tests):
    base = name.removesuffix("Pass")
    unit, stem = UNIT.match(flag), UNIT.sub("", flag)
    if not name.endswith("Pass"):
        yield "expected a name that ends in Pass"
    if not FLAG.match(flag):
        yield f"expected a flag that matches {FLAG.pattern}, got '{flag}'"
    # Its unit, then what else the def says: plan-verify is VerifyPlan's.
    words = [] if not unit else [w for w in kebab(base).split("-")
                                 if w not in unit[1].split("-")]
    if unit and stem != "-".join(words):
        yield f"expected the flag '{unit[1]}-{'-'.join(words)}', got '{flag}'"
    summary, description = field(body, "summary"), field(body, "description")
    if not summary or summary.endswith("."):
        yield "expected a summary without a period"
    for word in ("Requires:", "Ensures:", "Cost:", "```mlir"):
        if word not in description:
            yield f"expected '{word}' in the description"
    stems = (base, base.removeprefix("Convert"))
    if not any(os.path.basename(s) == f"{b}.cpp" for s in sources for b in stems):
        yield f"expected {stems[-1]}.cpp"
    if not any(os.path.basename(t) == f"{stem}.mlir" for t in tests):
        yield f"expected the test {stem}.mlir"


def main():
    os.chdir(sys.argv[1])
    sources, tests = files_under("passes", "lib"), files_under("test")
    problems, count = [], 0
    for path in sorted(files_under("include")):
        if os.path.basename(path) != "Passes.td":
            continue
        for name, flag, body in DEF.findall(open(path, encoding="utf-8").read()):
            count += 1
            problems += [f"{path}: {name}: {problem}"
                         for problem in check(name, flag, body, sources, tests)]
    print("\n".join(problems) or f"{count} passes are named, documented and tested")
    sys.exit(bool(problems))


main()
