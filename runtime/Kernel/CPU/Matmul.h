// SPDX-License-Identifier: Apache-2.0
//
// The portable half of cpu.matmul: checks, plan and packing.

#ifndef DLC_RUNTIME_KERNEL_CPU_MATMUL_H
#define DLC_RUNTIME_KERNEL_CPU_MATMUL_H

#include "KernelSet.h"

#include "dlc/runtime/Kernel/Library.h"

namespace dlc::rt::cpu {

bool isMatmulSupported(const KernelCall &call, std::string &why);
/// 0 and no effect unless the call is supported and `operand` is b. Whether
/// the call says already that the operand is packed does not matter.
size_t packedMatmulBytes(const KernelCall &call, size_t operand);
void packMatmul(const KernelCall &call, size_t operand, const void *source,
                void *target);
KernelCost matmulCost(const KernelCall &call);

/// Chooses the grid of a plan whose sizes and steps are known, and makes one
/// matrix of batches where that is the same product.
void finishMatmulPlan(MatmulPlan &plan);

/// Element (l, j) lies at data[l * rowStep + j * columnStep].
struct MatrixElements {
  const float *data;
  int64_t rowStep, columnStep;
};

/// Writes [columns/width][rows][width], the last part as wide as there are
/// columns, zero padded to a multiple of kPanelWidth; gives where it ends.
float *packColumns(MatrixElements source, int64_t rows, int64_t columns,
                   int64_t width, float *target);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_MATMUL_H
