// SPDX-License-Identifier: Apache-2.0
//
// The table of entries.

#include "dlc/runtime/Kernel/CPU/CPULibrary.h"

#include "Conv.h"
#include "Matmul.h"

using namespace dlc::rt;
using namespace dlc::rt::cpu;

static Status prepareBestMatmul(const KernelCall &call,
                                std::unique_ptr<PreparedKernel> &prepared) {
  return prepareMatmul(call, bestIsa(), prepared);
}

static Status prepareBestConv(const KernelCall &call,
                              std::unique_ptr<PreparedKernel> &prepared) {
  return prepareConv(call, bestIsa(), prepared);
}

static constexpr LibraryEntry entries[] = {
    {"cpu.matmul", prepareBestMatmul, packedMatmulBytes, packMatmul,
     isMatmulSupported, matmulCost},
    {"cpu.conv", prepareBestConv, packedConvBytes, packConv, isConvSupported,
     convCost},
};

std::span<const LibraryEntry> cpu::libraryEntries() { return entries; }
