// SPDX-License-Identifier: Apache-2.0
//
// Attention of rounded operands with the instruction of AVX512-BF16. See
// Vector.h for who may include it.

#ifndef DLC_RUNTIME_KERNEL_CPU_ATTENTIONPAIRVECTORS_H
#define DLC_RUNTIME_KERNEL_CPU_ATTENTIONPAIRVECTORS_H

#include "AttentionPairs.h"
#include "PairKernel.h"

namespace dlc::rt::cpu {
namespace {

class VectorProduct {
public:
  VectorProduct(const AttentionPlan &, int64_t) {}

  int64_t rowsAtOnce() const { return kTallRows; }

  void multiply(int64_t rows, LineRows<uint16_t> a, const uint32_t *b,
                int64_t bStride, int64_t lines, int64_t columns, float *sums,
                int64_t sumStride) const {
    constexpr int64_t wide = kPairVectors * kLanes;
    for (int64_t j = 0; j < columns; j += wide)
      multiplyPairs(rows, a, {b + j, bStride, lines * kLinePairs, nullptr},
                    least(columns - j, wide), sums + j, sumStride);
  }
};

inline void runPairAttention(const AttentionPlan &plan, void *const *arguments,
                             int64_t begin, int64_t end) {
  runPairAttentionBy<VectorProduct>(plan, arguments, begin, end);
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_ATTENTIONPAIRVECTORS_H
