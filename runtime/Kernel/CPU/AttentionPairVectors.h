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

  void multiply(int64_t rows, LineRows a, const uint32_t *b, int64_t bStride,
                int64_t lines, int64_t columns, float *sums,
                int64_t sumStride) const {
    int64_t offsets[kPairRows];
    for (int64_t i = 0; i < kPairRows; ++i)
      offsets[i] = i * a.row;
    PairArguments<float> t = {};
    t.bStride = bStride;
    t.pairs = lines * kLinePairs;
    t.cStride = sumStride;
    t.cPanel = kPanelWidth;
    const int64_t calls = (rows + kPairRows - 1) / kPairRows;
    for (int64_t row = 0, call = 0; call < calls; ++call) {
      const int64_t count = rows / calls + (call < rows % calls);
      t.a = {a.first + row * a.row, offsets, 1, 0, a.line};
      for (int64_t j = 0; j < columns; j += kPairVectors * kLanes) {
        t.b = t.ahead = b + j;
        t.c = sums + row * sumStride + j;
        const int64_t width =
            least<int64_t>(columns - j, kPairVectors * kLanes);
        pairKernelOf<float>(count, width / kLanes)(t);
      }
      row += count;
    }
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
