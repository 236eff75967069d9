# SPDX-License-Identifier: Apache-2.0
# Finds LLVM, MLIR and LLD 22 and prepares their CMake functions.
# The version file of MLIR accepts major.minor only.
list(APPEND CMAKE_PREFIX_PATH /usr/lib/llvm-22)
find_package(MLIR 22.1 REQUIRED CONFIG)
find_package(LLD REQUIRED CONFIG HINTS ${LLVM_DIR}/../lld)
# One MLIR in the process: everything links libMLIR.so (MLIRConfig.cmake does
# not export this setting).
set(MLIR_LINK_MLIR_DYLIB ON)
set(LLVM_EXTERNAL_LIT ${LLVM_TOOLS_BINARY_DIR}/lit CACHE PATH "")
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
