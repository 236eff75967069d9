// SPDX-License-Identifier: Apache-2.0
//
// Convolutions whose weights may be anything: the kernels read zeros outside of
// an image and multiply them, which an infinite weight makes NaN of, while by
// definition there is no term. Weights that are packed are known, and are
// finite where that matters; others are looked at in each run, and where one is
// not finite the convolution is computed as it is defined.

#ifndef DLC_RUNTIME_KERNEL_CPU_DEFINEDCONV_H
#define DLC_RUNTIME_KERNEL_CPU_DEFINEDCONV_H

#include "ConvShape.h"

namespace dlc::rt::cpu {

/// Whether some tap may lie outside, in kernels that multiply by zero there.
bool needsFiniteWeights(const ConvShape &shape);

/// What a guard takes of the workspace, behind `before` bytes of others; 0
/// where none is needed.
size_t guardBytes(const ConvShape &shape, size_t before);

/// Puts a guard around `prepared`, whose workspace has `before` bytes, where
/// one is needed and the call's workspace has room: calls of older artifacts
/// have none.
void guardWeights(const KernelCall &call, const ConvShape &shape,
                  const KernelSet &kernels, size_t before,
                  std::unique_ptr<PreparedKernel> &prepared);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_DEFINEDCONV_H
