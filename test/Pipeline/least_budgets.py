#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds the smallest memory budgets of chains of residual blocks (make_chain.py)
with their gradients: what dlc names is to be met, and one byte less refused.

usage: least_budgets.py PREFIX products|convolutions BLOCKS...

dlc and dlc-opt are found by PATH.
"""

import pathlib
import re
import subprocess
import sys

MOST_GROWTH = 2.2


def compile_within(path, budget):
    """The bytes of the arenas, or those that are asked for."""
    command = ["dlc", "compile", path, "--memory-budget", str(budget), "--emit=plan"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode == 0:
        return sum(map(int, re.findall(r"plan.arena .* size\((\d+)\)", result.stdout))), None
    return None, int(re.search(r"budget of at least (\d+) bytes", result.stderr).group(1))


def differentiate(prefix, kind, count):
    """The path of a chain with its gradients."""
    maker = [sys.executable, pathlib.Path(__file__).with_name("make_chain.py"), str(count)]
    path = f"{prefix}.{count}.mlir"
    if kind == "products":
        chain = subprocess.run(maker, capture_output=True, check=True).stdout
        passes = ["--graph-gradient=wrt=x"]
    else:
        model = f"{prefix}.{count}-symbol.json"
        with open(model, "wb") as file:
            subprocess.run([*maker, kind], stdout=file, check=True)
        chain = subprocess.run(["dlc", "compile", model, "--training", "--shape",
                                "data=2x8x16x16", "--emit=import"], capture_output=True,
                               check=True).stdout
        passes = ["--graph-infer-types", "--graph-gradient"]
    subprocess.run(["dlc-opt", "-", *passes, "-o", path], input=chain, check=True)
    return path


prefix, kind = sys.argv[1:3]
former = None
for count in map(int, sys.argv[3:]):
    path = differentiate(prefix, kind, count)
    _, least = compile_within(path, 1)
    planned, _ = compile_within(path, least)
    _, named = compile_within(path, least - 1)
    text = f"{count} blocks: {least} bytes"
    text += ", met" if planned is not None and planned <= least else ", not met"
    if named != least:
        text += f", but {named} are asked for with one less"
    if former:
        grown = least / former
        text += f", at most {MOST_GROWTH} times" if grown <= MOST_GROWTH else f", {grown} times"
    former = least
    print(text)
