// SPDX-License-Identifier: Apache-2.0
//
// Where the matrices of a batch are. See Vector.h for who may include it.

#ifndef DLC_RUNTIME_KERNEL_CPU_BATCHOFFSET_H
#define DLC_RUNTIME_KERNEL_CPU_BATCHOFFSET_H

#include "KernelSet.h"

namespace dlc::rt::cpu {
namespace {

/// Offset of batch `index` for an operand that moves by `steps`.
inline int64_t batchOffset(const MatmulPlan &plan, const int64_t *steps,
                           int64_t index) {
  int64_t offset = 0;
  for (int d = plan.batchRank - 1; d >= 0; --d) {
    offset += index % plan.batchDims[d] * steps[d];
    index /= plan.batchDims[d];
  }
  return offset;
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_BATCHOFFSET_H
