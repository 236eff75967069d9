// SPDX-License-Identifier: Apache-2.0
//
// The tiles of cpu.conv with more than one input channel a group. See Vector.h
// for who may include it.
//
// A tile packs its block of pixels, a block of K at a time, into panels on the
// stack. One panel and the rows of w in use stay in L1; partial sums wait in y.
// Packing even a 1x1 convolution's pixels pays: rows of x lie a whole plane
// apart, which is a page and often the same cache set for each.

#ifndef DLC_RUNTIME_KERNEL_CPU_CONVTILES_H
#define DLC_RUNTIME_KERNEL_CPU_CONVTILES_H

#include "ConvPack.h"
#include "MicroKernel.h"

namespace dlc::rt::cpu {
namespace {

struct ConvTile {
  const ConvPlan &plan;
  const float *x, *w;           ///< Of the image and the group.
  const float *bias, *residual; ///< Null when absent.
  float *y;
  int64_t vectorBegin, vectorEnd, channelBegin, channelEnd;
  float *scratch;

  void run() const;

private:
  int64_t panelCount() const {
    return (vectorEnd - vectorBegin + kConvVectors - 1) / kConvVectors;
  }
  /// First vector of a panel; they are dealt out evenly.
  int64_t panelBegin(int64_t panel) const {
    return vectorBegin + (vectorEnd - vectorBegin) * panel / panelCount();
  }
  /// Terms of a block, each four times, of one pixel of the tail.
  float *tailTerms(int64_t pixel) const {
    return scratch + (vectorEnd - vectorBegin) * kLanes * plan.kBlock +
           pixel * kPanelRows * plan.kBlock;
  }
  void packTail(int64_t kBegin, int64_t kEnd) const;
  void runTail(int64_t begin, int64_t end, int64_t kBegin, int64_t kEnd) const;
  void runPanel(int64_t panel, int64_t begin, int64_t end, int64_t kBegin,
                int64_t kEnd) const;
};

/// Channels [begin, end) of one panel for terms [kBegin, kEnd).
inline void ConvTile::runPanel(int64_t panel, int64_t begin, int64_t end,
                               int64_t kBegin, int64_t kEnd) const {
  const int64_t first = panelBegin(panel);
  const int64_t vectors = panelBegin(panel + 1) - first;
  const int64_t pixel = first * kLanes;
  const int64_t valid = least(vectors * kLanes, plan.pixels - pixel);
  const bool last = kEnd == plan.k;
  TileArguments t = {};
  t.k = kEnd - kBegin;
  t.b = scratch + (first - vectorBegin) * kLanes * t.k;
  t.bStride = vectors * kLanes;
  t.cStride = plan.pixels;
  t.accumulate = kBegin > 0;
  t.clamp = last && isClamp(plan.epilogue);
  t.low = clampLow(plan.epilogue);
  t.high = clampHigh(plan.epilogue);
  t.aStride = plan.packedW ? kPanelRows : plan.k;
  t.aPanel = kPanelRows * plan.k;
  // Sums of few terms are stored before those of the next ones have begun.
  constexpr int64_t manyTerms = 64;
  const bool mayHaveTwo = plan.packedW && t.k >= manyTerms;
  for (int64_t channel = begin, count; channel < end; channel += count) {
    const bool hasTwo = mayHaveTwo && end - channel >= kTwoPanels;
    count = least(hasTwo ? kTwoPanels : kPanelRows, end - channel);
    t.aAhead = (hasTwo ? kTwoPanels : kPanelRows) * plan.k;
    t.a = plan.packedW ? w + channel * plan.k + kBegin * kPanelRows
                       : w + channel * plan.k + kBegin;
    const int64_t at = channel * plan.pixels + pixel;
    t.c = y + at;
    t.rowBias = bias && !t.accumulate ? bias + channel : nullptr;
    t.residual = residual && !t.accumulate ? residual + at : nullptr;
    runTile(plan.packedW ? microKernelOf<AForm::Columns, false>(count, vectors)
                         : microKernelOf<AForm::Rows, false>(count, vectors),
            t, count, valid, vectors);
    if (last)
      activateRest(t.c, t.cStride, count, valid, plan.epilogue);
  }
}

/// Terms are repeated as often as w has rows in a panel, so that a vector of w
/// times a vector of terms is a few terms of four dot products.
inline void ConvTile::packTail(int64_t kBegin, int64_t kEnd) const {
  const int64_t terms = kEnd - kBegin;
  float *packed = tailTerms(plan.tailPixels);
  PanelPacker(plan, plan.vectors * kLanes, 1).pack(x, kBegin, kEnd, packed);
  for (int64_t pixel = 0; pixel < plan.tailPixels; ++pixel) {
    float *target = tailTerms(pixel);
    for (int64_t l = 0; l < terms; ++l)
      for (int64_t row = 0; row < kPanelRows; ++row)
        target[l * kPanelRows + row] = packed[l * kLanes + pixel];
  }
}

/// Sums of a[i] * b[i] over the i of equal remainder by four.
inline void dotFour(const float *a, const float *b, int64_t count,
                    float (&sums)[kPanelRows]) {
  constexpr int64_t chains = 4;
  const Vec none = {};
  Vec partial[chains] = {none, none, none, none};
  int64_t i = 0;
  for (; i + chains * kLanes <= count; i += chains * kLanes) {
    DLC_UNROLL for (int j = 0; j < chains; ++j) partial[j] +=
        load(a + i + j * kLanes) * load(b + i + j * kLanes);
  }
  for (; i < count; i += kLanes)
    partial[0] += loadFirst(a + i, count - i) * loadFirst(b + i, count - i);
  const Vec all = (partial[0] + partial[1]) + (partial[2] + partial[3]);
  for (int64_t row = 0; row < kPanelRows; ++row)
    sums[row] = 0;
  for (int64_t lane = 0; lane < kLanes; ++lane)
    sums[lane % kPanelRows] += all[lane];
}

/// Channels [begin, end) of the tail for terms [kBegin, kEnd).
inline void ConvTile::runTail(int64_t begin, int64_t end, int64_t kBegin,
                              int64_t kEnd) const {
  const bool last = kEnd == plan.k;
  const float low = clampLow(plan.epilogue), high = clampHigh(plan.epilogue);
  for (int64_t channel = begin; channel < end; channel += kPanelRows) {
    const float *a = w + channel * plan.k + kBegin * kPanelRows;
    for (int64_t pixel = 0; pixel < plan.tailPixels; ++pixel) {
      float sums[kPanelRows];
      dotFour(a, tailTerms(pixel), (kEnd - kBegin) * kPanelRows, sums);
      const int64_t count = least(kPanelRows, end - channel);
      for (int64_t row = 0; row < count; ++row) {
        const int64_t at =
            (channel + row) * plan.pixels + plan.vectors * kLanes + pixel;
        float sum = sums[row];
        if (kBegin > 0) {
          sum += y[at];
        } else {
          sum += bias ? bias[channel + row] : 0.0f;
          sum += residual ? residual[at] : 0.0f;
        }
        if (last && isClamp(plan.epilogue)) {
          sum = low > sum ? low : sum;
          sum = high < sum ? high : sum;
        }
        y[at] = sum;
      }
    }
  }
  if (last)
    activateRest(y + begin * plan.pixels + plan.vectors * kLanes, plan.pixels,
                 end - begin, plan.tailPixels, plan.epilogue);
}

inline void ConvTile::run() const {
  /// Channels whose rows of w stay in L2 while all panels pass.
  constexpr int64_t channelGroup = 64;
  const int64_t panels = panelCount();
  int64_t kBegin = 0;
  do {
    const int64_t kEnd = least(kBegin + plan.kBlock, plan.k);
    for (int64_t panel = 0; panel < panels; ++panel) {
      const int64_t first = panelBegin(panel);
      PanelPacker(plan, first * kLanes, panelBegin(panel + 1) - first)
          .pack(x, kBegin, kEnd,
                scratch + (first - vectorBegin) * kLanes * (kEnd - kBegin));
    }
    const bool hasTail = plan.tailPixels > 0 && vectorEnd == plan.vectors;
    if (hasTail)
      packTail(kBegin, kEnd);
    for (int64_t channel = channelBegin; channel < channelEnd;
         channel += channelGroup) {
      const int64_t end = least(channel + channelGroup, channelEnd);
      for (int64_t panel = 0; panel < panels; ++panel)
        runPanel(panel, channel, end, kBegin, kEnd);
      if (hasTail)
        runTail(channel, end, kBegin, kEnd);
    }
    kBegin = kEnd;
  } while (kBegin < plan.k);
}

void runConv(const ConvPlan &plan, void *const *arguments, int64_t begin,
             int64_t end) {
  alignas(64) float scratch[kScratchBytes / sizeof(float)];
  const auto *x = static_cast<const float *>(arguments[0]);
  const auto *w = static_cast<const float *>(arguments[1]);
  const auto *bias = static_cast<const float *>(arguments[2]);
  const auto *residual = static_cast<const float *>(arguments[3]);
  auto *y = static_cast<float *>(arguments[4]);
  const int64_t inSize = plan.inChannels * plan.inH * plan.inW;
  const int64_t outSize = plan.outChannels * plan.pixels;
  const int64_t wRows = plan.packedW ? (plan.outChannels + kPanelRows - 1) /
                                           kPanelRows * kPanelRows
                                     : plan.outChannels;
  // Neighbours with the same pixels run as one tile: those are packed once.
  for (int64_t tile = begin, next; tile < end; tile = next) {
    const int64_t channelIndex = tile % plan.channelBlocks;
    const int64_t merged = least(plan.channelBlocks - channelIndex, end - tile);
    next = tile + merged;
    int64_t rest = tile / plan.channelBlocks;
    const int64_t pixelIndex = rest % plan.pixelBlocks;
    rest /= plan.pixelBlocks; // Image and group.
    const int64_t group = rest % plan.group;
    const int64_t channel = channelIndex * plan.channelBlock;
    ConvTile{plan,
             x + rest * inSize,
             w + group * wRows * plan.k,
             bias ? bias + group * plan.outChannels : nullptr,
             residual ? residual + rest * outSize : nullptr,
             y + rest * outSize,
             plan.vectors * pixelIndex / plan.pixelBlocks,
             plan.vectors * (pixelIndex + 1) / plan.pixelBlocks,
             channel,
             least(channel + merged * plan.channelBlock, plan.outChannels),
             scratch}
        .run();
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_CONVTILES_H
