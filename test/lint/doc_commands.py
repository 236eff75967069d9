#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of documents that are marked as tested.

usage: doc_commands.py SOURCE_ROOT BINARY_DIR [DOCUMENT...]

Blocks that begin with ```sh tested run line by line in an empty folder that
looks like a checkout built into build/. Other ```sh blocks may hold make and
cmake only, which set up and build; they do not run. Blocks without a language
do not run either: what they show needs an installation, takes minutes or fails
on purpose. Links to files must lead somewhere. Without DOCUMENT: README.md,
CHANGELOG.md and all documents below docs/ and test/.
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


def documents(source):
    """Every document of the project, so that none can be forgotten."""
    found = [name for name in os.listdir(source) if name.endswith(".md")]
    for root in ("docs", "test"):
        for folder, _, files in os.walk(os.path.join(source, root)):
            below = os.path.relpath(folder, source)
            found += [os.path.join(below, f) for f in files if f.endswith(".md")]
    return [os.path.join(source, name) for name in sorted(found)]


def check(document, folder):
    """Whether all is well with a document, whose commands run in a folder."""
    text, good = open(document, encoding="utf-8").read(), True
    for link in LINK.findall(text):
        if not os.path.exists(os.path.join(os.path.dirname(document), link)):
            print(f"{document}: expected a file at the end of the link {link}")
            good = False
    for kind, block in BLOCK.findall(text):
        for line in block.splitlines():
            if kind == "tested":
                good &= run(line, folder)
            elif not re.match(r"(make|cmake) ", line):
                print(f"{document}: expected '{line}' in a block marked tested")
                good = False
    return good


def main():
    source, binary, *chosen = map(os.path.abspath, sys.argv[1:])
    chosen = chosen or documents(source)
    good = bool(chosen)
    for document in chosen:
        print(f"# {os.path.relpath(document, source)}")
        with tempfile.TemporaryDirectory() as folder:
            for name in os.listdir(source):
                if not name.startswith((".", "build")):
                    os.symlink(os.path.join(source, name),
                               os.path.join(folder, name))
            os.symlink(binary, os.path.join(folder, "build"))
            good &= check(document, folder)
    sys.exit(not good)


main()
