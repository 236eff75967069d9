# SPDX-License-Identifier: Apache-2.0
# The regression tests in text. With DLC_CHECK_ROUNDTRIP=1 in the environment
# every dlc-opt also prints, parses and compares its input. `dlc` is found by PATH.

import os
import sys

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "DLC"
config.test_format = lit.formats.ShTest(not llvm_config.use_lit_shell)
config.suffixes = [".mlir", ".test"]
# Inputs of unit tests.
config.excludes = ["CMakeLists.txt", "data", "Inputs", "Kernels.mlir", "Empty.mlir"]
config.test_source_root = os.path.dirname(__file__)
roundtrip = os.environ.get("DLC_CHECK_ROUNDTRIP") == "1"
# The two runs may be under way at once, so each has a folder to write in.
config.test_exec_root = os.path.join(
    config.dlc_binary_dir, "roundtrip" if roundtrip else "test")

llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
llvm_config.with_environment("PATH", config.dlc_tools_dir, append_path=True)
# MLIR's library has no sanitizer: what its allocators poison where they are
# inlined into our code, the library would be blamed for writing.
config.environment["ASAN_OPTIONS"] = ":".join(
    [os.environ.get("ASAN_OPTIONS", ""), "allow_user_poisoning=0"]).strip(":")
# What NVIDIA's libraries keep, where there are any, is not ours.
config.environment["LSAN_OPTIONS"] = (
    f"suppressions={config.dlc_source_dir}/test/Inputs/leaks.txt:print_suppressions=0")
config.substitutions += [
    ("%dlc_source_dir", config.dlc_source_dir),
    ("%dlc_binary_dir", config.dlc_binary_dir),
    ("%python", sys.executable),
    ("%digits", f"{config.dlc_source_dir}/tools/examples/digits/digits.onnx"),
    ("%libdlc_rt", f"{config.dlc_binary_dir}/lib/libdlc_rt.so"),
    ("%compat", f"{config.dlc_source_dir}/test/compat"),
    # In front of a command: the driver that interprets PTX.
    ("%fake-cuda", f"env LD_LIBRARY_PATH={config.dlc_binary_dir}/test/runtime/Device/CUDA/"
                   "FakeDriver"),
    # The same with the libraries that stand for NVIDIA's.
    ("%fake-libraries", f"env LD_LIBRARY_PATH={config.dlc_binary_dir}/test/runtime/Device/CUDA/"
                        f"FakeDriver:{config.dlc_binary_dir}/test/runtime/Kernel/CUDA/FakeLibraries"),
]

opt = os.path.join(config.dlc_tools_dir, "dlc-opt")
if roundtrip:
    opt += " --verify-roundtrip"
tools = [
    ToolSubst("dlc-opt", opt, unresolved="fatal"),
    ToolSubst("dlc-translate", unresolved="ignore"),
    "FileCheck",
    "not",
    "count",
    "split-file",
]
llvm_config.add_tool_substitutions(
    tools, [config.dlc_tools_dir, config.llvm_tools_dir]
)
