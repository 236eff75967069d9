#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks who includes whom, and that only tools/ owns main and cl::opt.

usage: layers.py SOURCE_ROOT
"""

import os
import re
import sys

# What files of a layer may include of ours. A layer is a folder and its public
# headers; the longest matching name counts. Its own headers and dlc/abi are
# every layer's. MLIR, LLVM and lld are for those that say so.
LLVM = ["mlir/", "llvm/", "lld/"]


def runtime(*names):
    return [f"dlc/runtime/{name}/" for name in names]


# What the compiler takes from the runtime: plain data and the definitions.
DEFINITIONS = runtime("Base", "Kernel")
DIALECTS = ["dlc/dialects/"]
GRAPH = ["dlc/dialects/Base/", "dlc/dialects/Graph/"]
PASSES = ["dlc/passes/"]

ALLOWED = {
    "include/dlc-c": ["dlc-c/"],
    "include/dlc/abi": [],
    "runtime/Base": [],
    "runtime/Device": runtime("Base"),
    "runtime/Artifact": runtime("Base"),
    "runtime/IO": runtime("Base"),
    "runtime/Storage": runtime("Base", "Device"),
    "runtime/Engine": runtime("Base", "Device", "Storage"),
    "runtime/Resource": runtime("Base", "Device", "Storage", "Engine"),
    "runtime/Kernel": runtime("Base", "Device", "Storage", "Engine", "Resource"),
    "runtime/NDArray": runtime("Base", "Device", "Storage", "Engine", "Resource", "Kernel", "IO"),
    "runtime/Executor": runtime("Base", "Artifact", "Device", "Storage", "Engine", "Resource",
                                "Kernel"),
    "runtime/Binding": runtime("Base", "Artifact", "Device", "Storage", "Engine", "Resource",
                               "Kernel", "Executor", "IO", "NDArray"),
    "runtime/CAPI": ["dlc-c/", "dlc/runtime/"],
    "lib/Planning": [],
    "dialects/Base": LLVM,
    "dialects/Graph": LLVM + ["dlc/dialects/Base/"] + DEFINITIONS,
    "dialects/Kernel": LLVM + ["dlc/dialects/Base/"],
    "dialects/Plan": LLVM + ["dlc/dialects/Base/"],
    "lib/Analysis": LLVM + DIALECTS,
    "lib/Frontend": LLVM + GRAPH + DEFINITIONS,
    "lib/Frontend/ONNX": LLVM + GRAPH + DEFINITIONS + runtime("IO") + ["dlc/Frontend/"],
    "lib/Frontend/MXNet": LLVM + GRAPH + DEFINITIONS + runtime("IO") + [
        "dlc/Frontend/", "dlc/Symbol/"],
    "lib/Export": LLVM + GRAPH + DEFINITIONS + ["dlc/Frontend/Faults.h"],
    "lib/Gradient": LLVM + GRAPH + ["dlc/Planning/"],
    "lib/Numerics": LLVM + GRAPH + DEFINITIONS,
    "lib/Symbol": LLVM + GRAPH + DEFINITIONS + ["dlc/Frontend/", "dlc/Gradient/"],
    "lib/Training": LLVM + GRAPH + DEFINITIONS + ["dlc/Frontend/", "dlc/Gradient/"],
    "lib/KernelLibrary": LLVM + GRAPH + DEFINITIONS + ["dlc/Tuning/"],
    "lib/Tuning": runtime("Base", "Device", "Kernel"),
    "lib/Codegen": LLVM + DIALECTS + ["dlc/Analysis/"],
    "passes/Conversion": LLVM + DIALECTS + DEFINITIONS + ["dlc/Analysis/", "dlc/KernelLibrary/", "dlc/Planning/"],
    # Fusion asks what Conversion can generate and a library can compute.
    "passes/Graph": LLVM + GRAPH + DEFINITIONS + [
        "dlc/dialects/Kernel/", "dlc/passes/Conversion/", "dlc/Analysis/", "dlc/KernelLibrary/",
        "dlc/Planning/", "dlc/Gradient/"],
    "passes/Kernel": LLVM + ["dlc/dialects/Base/", "dlc/dialects/Kernel/"],
    "passes/Plan": LLVM + ["dlc/dialects/Base/", "dlc/dialects/Kernel/", "dlc/dialects/Plan/",
                           "dlc/Planning/"],
    "lib/Pipeline": LLVM + DIALECTS + PASSES + ["dlc/KernelLibrary/GPULibraries.h"],
    "lib/Artifact": LLVM + DIALECTS + DEFINITIONS + runtime("Artifact") + [
        "dlc/Analysis/", "dlc/Codegen/"],
    "lib/InitAll": LLVM + DIALECTS + PASSES + ["dlc/Codegen/", "dlc/InitAll.h",
                                               "dlc/Pipeline/"],
    "lib/Compiler": LLVM + DIALECTS + runtime("Base", "Device") + [
        "dlc/Artifact/", "dlc/Codegen/", "dlc/Export/", "dlc/Frontend/", "dlc/InitAll.h",
        "dlc/Numerics/",
        "dlc/KernelLibrary/", "dlc/Pipeline/", "dlc/Symbol/", "dlc/Training/", "dlc/Tuning/",
        "dlc/passes/Graph/"],
    "lib/Executor": ["llvm/", "dlc/Compiler/", "dlc/Symbol/"] + runtime("Base", "Binding", "Device",
                                                                         "NDArray"),
    "lib/CAPI": ["llvm/", "dlc-c/", "dlc/Codegen/", "dlc/Compiler/", "dlc/Executor/",
                 "dlc/Symbol/"] + runtime(
        "Base", "CAPI", "Device"),
}
# Headers that the table is about; those of the system and of others are not.
RULED = tuple(LLVM + ["dlc/", "dlc-c/"])
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]|^include "([^"]+)"', re.M)
OWNED_BY_TOOLS = re.compile(r"^int main\(|\bcl::opt<", re.M)


def layer_of(path):
    """The layer of a file, and the headers that are its own."""
    place = re.sub(r"^include/dlc/(?=(runtime|dialects|passes)/)", "", path)
    place = re.sub(r"^include/dlc/(?=[A-Z])", "lib/", place).replace("InitAll.h", "InitAll/")
    names = [name for name in ALLOWED if place.startswith(name + "/")]
    layer = max(names, key=len, default=None)
    own = re.sub("^(include|lib)/", "", layer or "") + "/"
    return layer, own if own.startswith("dlc") else "dlc/" + own


def check(path):
    """Yields each problem of a file, and None for each include that is right."""
    text, (layer, own) = open(path, encoding="utf-8").read(), layer_of(path)
    if OWNED_BY_TOOLS.search(text):
        yield f"{path}: main and cl::opt belong to tools/"
    if layer is None:
        yield f"{path}: expected a layer of test/lint/layers.py"
        return
    allowed = tuple(ALLOWED[layer] + [own, "dlc/abi/"])
    for name in (a or b for a, b in INCLUDE.findall(text)):
        wrong = name.startswith(RULED) and not name.startswith(allowed)
        yield f"{path}: {layer} must not include {name}" if wrong else None


def main():
    os.chdir(sys.argv[1])
    findings = []
    for root in ("include", "lib", "passes", "dialects", "runtime"):
        for folder, _, files in os.walk(root):
            for path in (os.path.join(folder, f) for f in sorted(files)):
                if path.endswith((".h", ".cpp", ".c", ".td")):
                    findings += check(path)
    problems = [finding for finding in findings if finding]
    print("\n".join(problems) or f"{len(findings)} includes keep the layers")
    sys.exit(bool(problems))


main()
