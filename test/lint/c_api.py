#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what a shared library of DLC exports.

usage: c_api.py NM LIBRARY LIST HEADER...

The exported symbols are those of LIST, one a line and sorted; each is declared
in a header with DLC_API, and the comment before it says "Since". All that
the headers declare is exported, so give those of this library only.
"""
import re
import subprocess
import sys

# A comment and the declaration that follows it.
DECLARATION = re.compile(
    r"(?P<comment>/\*(?:[^*]|\*(?!/))*\*/\s*)?^DLC_API\s[^;]*?\b(?P<name>dlc\w+)\(",
    re.MULTILINE,
)
SINCE = re.compile(r"Since \d+\.\d+ \((un)?stable\)")


def exported(nm, library):
    """Names of all symbols that the dynamic linker can see, versions cut off."""
    output = subprocess.run(
        [nm, "-D", "--defined-only", library],
        check=True, capture_output=True, text=True,
    ).stdout
    return {line.split()[-1].split("@")[0] for line in output.splitlines()}


def declared(headers):
    """Of each declared function: whether its comment says Since."""
    result = {}
    for header in headers:
        with open(header) as file:
            for match in DECLARATION.finditer(file.read()):
                comment = match["comment"] or ""
                result[match["name"]] = bool(SINCE.search(comment))
    return result


def main(nm, library, list_path, *headers):
    with open(list_path) as file:
        listed = file.read().split()
    errors = []
    if listed != sorted(set(listed)):
        errors.append("expected a sorted list without repetitions")
    symbols, functions = exported(nm, library), declared(headers)
    for name in sorted(symbols - set(listed)):
        errors.append(f"{name} is exported but not listed")
    for name in sorted(set(listed) - symbols):
        errors.append(f"{name} is listed but not exported")
    for name in sorted(symbols - functions.keys()):
        errors.append(f"{name} is exported but declared in no header")
    for name in sorted(functions.keys() - symbols):
        errors.append(f"{name} is declared but not exported")
    for name in sorted(name for name, since in functions.items() if not since):
        errors.append(f"expected 'Since' in the comment of {name}")
    for error in errors:
        print(f"{list_path}: {error}")
    return bool(errors)


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
