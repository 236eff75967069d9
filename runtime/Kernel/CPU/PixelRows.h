// SPDX-License-Identifier: Apache-2.0
//
// The elements of a blocked tensor under pixels of a convolution, as rows of a
// matrix: a term for each block of channels, or two of them, tap and channel.
// See Vector.h for who may include it.

#ifndef DLC_RUNTIME_KERNEL_CPU_PIXELROWS_H
#define DLC_RUNTIME_KERNEL_CPU_PIXELROWS_H

#include "KernelSet.h"
#include "Vector.h"

namespace dlc::rt::cpu {
namespace {

/// Channels of a block of floats, or of bfloat16.
template <typename Element>
constexpr int64_t
    blockOf = (sizeof(Element) == sizeof(uint16_t) ? 2 : 1) * kChannelBlock;

/// What is read where nothing is.
template <typename Element> alignas(64) constexpr Element kNoTermsOf[32] = {};
constexpr const float *kNoTerms = kNoTermsOf<float>;

/// Terms of a line of a cache, rounded, and channels of a block.
constexpr int64_t kLineTerms = 32;
static_assert(kLineTerms == blockOf<uint16_t>);

/// Offsets of rows that lie right behind each other.
template <int64_t step> struct EvenOffsets {
  constexpr EvenOffsets() {
    for (int64_t i = 0; i < kMostPairRows; ++i)
      at[i] = i * step;
  }
  int64_t at[kMostPairRows] = {};
};
template <int64_t step> constexpr EvenOffsets<step> kEvenOffsets;

/// Terms of rows that begin with a line, and then go by taps and by blocks of
/// channels.
template <typename Element> struct TermRows {
  const Element *block; ///< Channels of the first line.
  /// Of each row from there, [taps][kSplitRows]; negative where zeros are.
  const int64_t *offsets;
  int64_t taps, tap;   ///< All, and that of the first line.
  int64_t blockStride; ///< From a block of channels to the next one.
  bool hasZeros;       ///< Whether an offset may be negative.

  [[gnu::always_inline]] const Element *at(int64_t row) const {
    const int64_t offset = offsets[tap * kSplitRows + row];
    return offset < 0 ? kNoTermsOf<Element> : block + offset;
  }
  /// Whether each row is a line behind the one before.
  bool areNext() const { return offsets == kEvenOffsets<kLineTerms>.at; }
  /// Goes on to the next lines.
  [[gnu::always_inline]] void advance() {
    if (++tap < taps)
      return;
    tap = 0;
    block += blockStride;
  }
};

/// The elements of x under pixels of an image: floats, or bfloat16, whose
/// blocks of channels are twice as large.
template <typename Element> class PixelRowsOf {
public:
  PixelRowsOf(const BlockedPlan &plan, const Element *x, int64_t first,
              int64_t count, int64_t *offsets);

  struct Terms {
    const Element *plane;
    const int64_t *offsets;
  };
  Terms terms(int64_t term) const {
    const int64_t index = term / kChannelBlock;
    if (index >= pairedBlocks * taps)
      return {x + index / taps * blockStride,
              offsets + index % taps * kSplitRows};
    const int64_t pair = index / 2;
    return {x + pair / taps * 2 * blockStride + index % 2 * halfStride,
            offsets + pair % taps * kSplitRows};
  }
  [[gnu::always_inline]] const Element *at(const Terms &terms,
                                           int64_t row) const {
    const int64_t offset = terms.offsets[row];
    return offset < 0 ? kNoTermsOf<Element> : terms.plane + offset;
  }

  /// From line `index` on, where all channels are in blocks of a line.
  TermRows<Element> linesFrom(int64_t index) const {
    return {x + index / taps * 2 * blockStride,
            offsets,
            taps,
            index % taps,
            2 * blockStride,
            hasOutside};
  }

private:
  static constexpr bool isShort = sizeof(Element) == sizeof(uint16_t);
  static constexpr int64_t kPixelStep = blockOf<Element>;

  const Element *x;
  int64_t taps;
  int64_t blockStride;  ///< Elements of sixteen channels.
  int64_t halfStride;   ///< From the first of two blocks to the other one.
  int64_t pairedBlocks; ///< The first of them, whose terms go by two of them.
  const int64_t *offsets; ///< [taps][kSplitRows], negative outside of x.
  bool hasOutside = false;
};

using PixelRows = PixelRowsOf<float>;

template <typename Element>
inline PixelRowsOf<Element>::PixelRowsOf(const BlockedPlan &plan,
                                         const Element *x, int64_t first,
                                         int64_t count, int64_t *offsets)
    : x(x), taps(plan.kernelH * plan.kernelW),
      blockStride(plan.inH * plan.inW * kChannelBlock),
      halfStride(isShort ? kChannelBlock : blockStride),
      pairedBlocks(
          plan.hasPairedBlocks ? plan.inChannels / (2 * kChannelBlock) * 2 : 0),
      offsets(offsets) {
  const bool isWhole = taps == 1 && plan.strideH == 1 && plan.strideW == 1 &&
                       plan.padTop <= 0 && plan.padLeft == 0 &&
                       plan.inW == plan.outW &&
                       plan.outH - plan.padTop <= plan.inH;
  if (isWhole) {
    this->x += (first - plan.padTop * plan.inW) * kPixelStep;
    this->offsets = kEvenOffsets<kPixelStep>.at;
    return;
  }
  int64_t top = first / plan.outW * plan.strideH - plan.padTop;
  int64_t left = first % plan.outW * plan.strideW - plan.padLeft;
  const int64_t width = plan.outW * plan.strideW - plan.padLeft;
  for (int64_t i = 0; i < count; ++i, left += plan.strideW) {
    if (left == width) { // A division for each pixel would take longer.
      left = -plan.padLeft;
      top += plan.strideH;
    }
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t row = top + tap / plan.kernelW * plan.dilationH;
      const int64_t column = left + tap % plan.kernelW * plan.dilationW;
      const bool isInside =
          row >= 0 && row < plan.inH && column >= 0 && column < plan.inW;
      offsets[tap * kSplitRows + i] =
          isInside ? (row * plan.inW + column) * kPixelStep : -1;
      hasOutside |= !isInside;
    }
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_PIXELROWS_H
