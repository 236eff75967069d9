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

template <typename Source>
inline void runPairAttentionOf(const AttentionPlan &plan,
                               void *const *arguments, int64_t begin,
                               int64_t end) {
  PairAttentionScratch scratch;
  AttentionRows state;
  PairAttention<Source, VectorProduct> attention(plan, state, scratch);
  const VectorProduct product;
  attention.begin(product);
  for (int64_t tile = begin; tile < end; ++tile)
    runTileOf<Source>(plan, arguments, tile, attention);
}

inline void runPairAttention(const AttentionPlan &plan, void *const *arguments,
                             int64_t begin, int64_t end) {
  (plan.isShort ? runPairAttentionOf<uint16_t>
                : runPairAttentionOf<float>)(plan, arguments, begin, end);
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_ATTENTIONPAIRVECTORS_H
