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
/// 0 unless the call is supported and rounds rows in front of its tiles.
size_t matmulWorkspaceBytes(const KernelCall &call);
/// Whether tiles of bfloat16 compute the supported call faster.
bool matmulPaysInParts(const KernelCall &call);
KernelCost matmulCost(const KernelCall &call);

/// The sizes of a product whose operands have static shapes of rank 2 at least,
/// and its batches: `packedElements` is how far apart matrices of a packed b
/// are. The plan says which operands are transposed or packed.
Status planProduct(const KernelCall &call,
                   int64_t (*packedElements)(const MatmulPlan &),
                   MatmulPlan &plan);
/// When all batches share one b and a is one tall matrix, so is the product.
void foldBatches(MatmulPlan &plan);

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

/// The nearest one, of two the even one: beyond the largest one infinity.
/// Denormals are zeros, NaN stays NaN.
uint32_t roundToBfloat16(float value);

/// The same of pairs of rows 2l, in the lower half, and 2l + 1, rounded to
/// bfloat16: [columns/64][ceil(rows/2)][64].
uint32_t *packPairs(MatrixElements source, int64_t rows, int64_t columns,
                    uint32_t *target);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_MATMUL_H
