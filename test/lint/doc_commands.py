#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of a document.

usage: doc_commands.py DOCUMENT SOURCE_ROOT BINARY_DIR

Blocks that begin with ```sh tested run line by line in an empty folder that
looks like a checkout built into build/. Other ```sh blocks may hold make and
cmake only, which set up and build. Links to files must lead somewhere.
"""

import os
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```sh *(\w*)\n(.*?)^```", re.M | re.S)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)\)")


def run(line, folder):
    done = subprocess.run(["bash", "-euc", line], cwd=folder, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(f"$ {line}\n{done.stdout}" if done.returncode else f"$ {line}")
    return done.returncode == 0


def main():
    document, source, binary = map(os.path.abspath, sys.argv[1:4])
    text, failed = open(document, encoding="utf-8").read(), False
    for link in LINK.findall(text):
        if not os.path.exists(os.path.join(os.path.dirname(document), link)):
            print(f"{document}: expected a file at the end of the link {link}")
            failed = True
    with tempfile.TemporaryDirectory() as folder:
        for name in os.listdir(source):
            if not name.startswith((".", "build")):
                os.symlink(os.path.join(source, name), os.path.join(folder, name))
        os.symlink(binary, os.path.join(folder, "build"))
        for kind, block in BLOCK.findall(text):
            for line in block.splitlines():
                if kind == "tested":
                    failed |= not run(line, folder)
                elif not re.match(r"(make|cmake) ", line):
                    print(f"{document}: expected '{line}' in a block marked tested")
                    failed = True
    sys.exit(failed)


main()
