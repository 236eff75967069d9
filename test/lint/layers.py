#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks who includes whom, and that only tools/ owns main and cl::opt.

usage: layers.py SOURCE_ROOT
"""

import os
import re
import sys

# Which headers ("dlc/X", "mlir/", ...) files of a layer must not include. A
# layer is a folder and its public headers; the longest matching name counts.
COMPILER = ["mlir/", "llvm/", "lld/"]
ABOVE_DIALECTS = ["dlc/passes/", "dlc/Codegen/", "dlc/Frontend/", "dlc/Pipeline/",
                  "dlc/Artifact/", "dlc/Compiler/", "dlc/KernelLibrary/"]
PLAIN = COMPILER + ABOVE_DIALECTS + ["dlc/dialects/"]
RUNTIME = [f"dlc/runtime/{layer}/" for layer in
           ("Base", "Artifact", "Device", "Storage", "Engine", "Resource", "Kernel", "Executor",
            "IO", "NDArray", "CAPI")]


def runtime_but(*allowed):
    names = {f"dlc/runtime/{name}/" for name in allowed}
    return PLAIN + ["dlc/Planning/"] + [r for r in RUNTIME if r not in names]


FORBIDDEN = {
    "lib/Planning": PLAIN + ["dlc/runtime/"],
    "runtime": PLAIN + ["dlc/Planning/"],
    "runtime/Base": runtime_but("Base"),
    "runtime/Device": runtime_but("Base", "Device"),
    "runtime/Storage": runtime_but("Base", "Device", "Storage"),
    "runtime/Artifact": runtime_but("Base", "Artifact"),
    "runtime/IO": runtime_but("Base", "IO"),
    "runtime/Engine": runtime_but("Base", "Device", "Storage", "Engine"),
    "runtime/Resource": runtime_but("Base", "Device", "Storage", "Engine", "Resource"),
    "runtime/Kernel": runtime_but("Base", "Device", "Storage", "Engine", "Resource", "Kernel"),
    "runtime/NDArray": runtime_but("Base", "Device", "Storage", "Engine", "Resource", "Kernel",
                                   "IO", "NDArray"),
    "runtime/Executor": PLAIN + ["dlc/runtime/CAPI/", "dlc/runtime/NDArray/"],
    "dialects/Base": ABOVE_DIALECTS + [f"dlc/dialects/{d}/" for d in ("Graph", "Kernel", "Plan")],
    "dialects/Graph": ABOVE_DIALECTS + ["dlc/dialects/Kernel/", "dlc/dialects/Plan/"],
    "dialects/Kernel": ABOVE_DIALECTS + ["dlc/dialects/Graph/", "dlc/dialects/Plan/"],
    "dialects/Plan": ABOVE_DIALECTS + ["dlc/dialects/Graph/", "dlc/dialects/Kernel/"],
    "lib/CAPI": ["mlir/"],
    "include/dlc-c": PLAIN + ["dlc/runtime/"],
    "include/dlc/abi": ["dlc/runtime/"] + PLAIN,
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]|^include "([^"]+)"', re.M)
OWNED_BY_TOOLS = re.compile(r"^int main\(|\bcl::opt<", re.M)


def layer_of(path):
    place = re.sub(r"^include/dlc/(?=(runtime|dialects|passes)/)", "", path)
    place = re.sub(r"^include/dlc/(?=[A-Z])", "lib/", place)
    names = [name for name in FORBIDDEN if place.startswith(name + "/")]
    return max(names, key=len, default=None)


def main():
    os.chdir(sys.argv[1])
    problems, edges = [], 0
    for root in ("include", "lib", "passes", "dialects", "runtime"):
        for folder, _, files in os.walk(root):
            for path in (os.path.join(folder, f) for f in sorted(files)):
                if not path.endswith((".h", ".cpp", ".c", ".td")):
                    continue
                text, layer = open(path, encoding="utf-8").read(), layer_of(path)
                if OWNED_BY_TOOLS.search(text):
                    problems.append(f"{path}: main and cl::opt belong to tools/")
                for name in (a or b for a, b in INCLUDE.findall(text)):
                    edges += 1
                    if any(name.startswith(p) for p in FORBIDDEN.get(layer, ())):
                        problems.append(f"{path}: {layer} must not include {name}")
    print("\n".join(problems) or f"{edges} includes keep the layers")
    sys.exit(bool(problems))


main()
