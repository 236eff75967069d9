#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every pass of DLC alone, and every pipeline, on each module of a folder.

usage: odd_modules.py FOLDER

A run must end with 0, or with 1 and an error that is not the trace of a crash.
"""

import pathlib
import re
import subprocess
import sys


def passes():
    text = subprocess.run(["dlc-opt", "--help"], capture_output=True, text=True,
                          check=True).stdout  # fmt: skip
    # The options of passes are indented further.
    flags = re.findall(r"^ {6}--((?:graph|kernel|plan|convert-graph|convert-kernel"
                       r"|codegen|dlc-to)-[a-z-]+)\b", text, re.M)  # fmt: skip
    return sorted(set(flags) - {"convert-graph", "convert-kernel"})


def main():
    flags, problems, runs = passes(), 0, 0
    # At least the passes of four units and the four pipelines.
    assert len(flags) >= 16, flags
    for module in sorted(pathlib.Path(sys.argv[1]).glob("*.mlir")):
        for flag in flags:
            done = subprocess.run(["dlc-opt", module, f"--{flag}", "-o", "-"],
                                  capture_output=True, text=True)  # fmt: skip
            runs += 1
            clean = done.returncode == 0 or (
                done.returncode == 1 and "error: " in done.stderr
                and "Stack dump" not in done.stderr)  # fmt: skip
            if not clean:
                problems += 1
                print(f"{module.name} --{flag}: {done.returncode}")
                print(done.stderr[:600])
    print(f"{runs} runs, {problems} crashes")
    sys.exit(problems != 0 or runs == 0)


main()
