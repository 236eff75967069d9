// SPDX-License-Identifier: Apache-2.0
//
// All kernels on tiles of bfloat16 for the tiles and the vector width that the
// including file sets, as a table.

#ifndef DLC_RUNTIME_KERNEL_CPU_SPLITKERNELS_H
#define DLC_RUNTIME_KERNEL_CPU_SPLITKERNELS_H

#include "SplitConv.h"
#include "SplitMatmul.h"

namespace dlc::rt::cpu {
namespace {

constexpr SplitKernels thisSplitKernels = {runSplitMatmul, runSplitConv};

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_SPLITKERNELS_H
