// SPDX-License-Identifier: Apache-2.0
//
// The tiles of cpu.conv_weight_gradient. See Vector.h for who may include it.
//
// Of both operands a row lies along the terms, the pixels: so lanes are terms,
// and each sum is a vector until its terms run out. Nothing is transposed, and
// the output's gradient is read in place; columns of x are packed, which fills
// in the padding.

#ifndef DLC_RUNTIME_KERNEL_CPU_CONVWEIGHTTILES_H
#define DLC_RUNTIME_KERNEL_CPU_CONVWEIGHTTILES_H

#include "ConvPack.h"
#include "Vector.h"

namespace dlc::rt::cpu {
namespace {

/// Rows of the columns that one call takes: as many as make a Quad of sums.
constexpr int64_t kDotRows = 4;
/// Output channels that one call takes: 3 x 4 sums leave registers for three
/// vectors of the gradient and one of the columns.
constexpr int64_t kDotChannels = 3;

/// result[channel][row] = or += gradient[channel][...] . columns[row][...]
struct DotArguments {
  const float *gradient; ///< Channels lie `channelStride` apart.
  int64_t channelStride, gradientImage;
  const float *columns; ///< Rows lie `rowStride` apart; whole vectors.
  int64_t rowStride, columnsImage;
  int64_t images, terms; ///< Terms of each image.
  float *result;         ///< Channels lie `resultStride` apart.
  int64_t resultStride;
  int64_t rows; ///< Valid ones, at most kDotRows; the others are packed, too.
  bool accumulate;
};

template <int channels> void dotKernel(const DotArguments &t) {
  Vec sums[channels][kDotRows] = {};
  const int64_t channelStride = t.channelStride, rowStride = t.rowStride;
  for (int64_t image = 0; image < t.images; ++image) {
    const float *g = t.gradient + image * t.gradientImage;
    const float *a = t.columns + image * t.columnsImage;
    auto step = [&](auto loadOf) __attribute__((always_inline)) {
      Vec factors[channels];
      DLC_UNROLL for (int i = 0; i < channels; ++i) factors[i] =
          loadOf(g + i * channelStride);
      DLC_UNROLL for (int j = 0; j < kDotRows; ++j) {
        Vec column = load(a + j * rowStride);
        DLC_UNROLL for (int i = 0; i < channels; ++i) sums[i][j] +=
            factors[i] * column;
        DLC_KEEP_LOADS_HERE();
      }
      g += kLanes;
      a += kLanes;
    };
    int64_t left = t.terms;
    for (; left >= kLanes; left -= kLanes)
      step([](const float *p)
               __attribute__((always_inline)) { return load(p); });
    if (left > 0) {
      const LaneMask mask = lanes(0, left);
      step([&](const float *p)
               __attribute__((always_inline)) { return maskedLoad(p, mask); });
    }
  }
  DLC_UNROLL for (int i = 0; i < channels; ++i) {
    Quad sum = sumLanes(sums[i]);
    float *target = t.result + i * t.resultStride;
    if (t.rows == kDotRows) {
      // Not auto, with which gcc forgets that it is not aligned.
      UnalignedQuad *quad = reinterpret_cast<UnalignedQuad *>(target);
      *quad = t.accumulate ? *quad + sum : sum;
      continue;
    }
    for (int64_t j = 0; j < t.rows; ++j)
      target[j] = t.accumulate ? target[j] + sum[j] : sum[j];
  }
}

/// One row of the columns of x: the elements that one tap meets, along the
/// pixels, with zeros for those outside. Writes whole vectors in ascending
/// order: up to one vector behind the last pixel may change, and the first
/// lanes behind it are zero.
struct RowPacker {
  RowPacker(const ConvPlan &plan, int64_t kernelY, int64_t kernelX)
      : plan(plan), originY(kernelY * plan.dilationH - plan.padTop),
        originX(kernelX * plan.dilationW - plan.padLeft),
        firstX(firstReaching(0, originX, plan.strideW)),
        endX(firstReaching(plan.inW, originX, plan.strideW)) {}

  void pack(const float *channel, int64_t pixel, int64_t pixels,
            float *target) const;

private:
  static void fill(float *target, int64_t count) {
    for (int64_t i = 0; i < count; i += kLanes)
      store(target + i, Vec{});
  }
  void copy(const float *source, int64_t count, float *target) const;

  const ConvPlan &plan;
  const int64_t originY, originX;
  const int64_t firstX, endX; ///< Output columns that meet the image.
};

inline void RowPacker::copy(const float *source, int64_t count,
                            float *target) const {
  if (plan.strideW == 1) {
    for (int64_t i = 0; i < count; i += kLanes)
      store(target + i, loadFirst(source + i, count - i));
    return;
  }
  if (plan.strideW == 2) {
    int64_t i = 0;
    // Whole vectors end with an odd element, which the last run may lack.
    for (; i + kLanes < count; i += kLanes)
      store(target + i,
            evenOf(load(source + 2 * i), load(source + 2 * i + kLanes)));
    const int64_t left = 2 * (count - i) - 1;
    store(target + i,
          evenOf(loadFirst(source + 2 * i, left),
                 maskedLoad(source + 2 * i + kLanes, lanes(0, left - kLanes))));
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    target[i] = source[i * plan.strideW];
}

inline void RowPacker::pack(const float *channel, int64_t pixel, int64_t pixels,
                            float *target) const {
  int64_t y = pixel / plan.outW, x = pixel % plan.outW;
  float *const end = target + pixels;
  while (target < end) {
    const int64_t run = least<int64_t>(plan.outW - x, end - target);
    const int64_t inY = y * plan.strideH + originY;
    const int64_t first = most(firstX, x), last = least(endX, x + run);
    if (inY < 0 || inY >= plan.inH || first >= last) {
      fill(target, run);
    } else {
      fill(target, first - x);
      copy(channel + inY * plan.inW + first * plan.strideW + originX,
           last - first, target + (first - x));
      fill(target + (last - x), x + run - last);
    }
    target += run;
    ++y;
    x = 0;
  }
  store(end, Vec{});
}

struct ConvWeightTile {
  const ConvWeightPlan &plan;
  const float *x, *gradient;     ///< Of the group, in the first image.
  float *result;                 ///< Of the group.
  int64_t xImage, gradientImage; ///< Elements of an image.
  int64_t rowBegin, rowEnd, channelBegin, channelEnd;
  float *scratch;

  void run() const;

private:
  int64_t rowStride() const { return plan.images * plan.imageTerms; }
  void pack(int64_t image, int64_t images, int64_t pixel, int64_t pixels) const;
  void multiply(int64_t image, int64_t images, int64_t pixel, int64_t pixels,
                bool accumulate) const;
};

/// The tile's rows of columns, each image behind the one before.
inline void ConvWeightTile::pack(int64_t image, int64_t images, int64_t pixel,
                                 int64_t pixels) const {
  if (pixels == 0) // Sums of nothing, and no width to divide by.
    return;
  const ConvPlan &columns = plan.columns;
  const int64_t plane = columns.inH * columns.inW;
  const int64_t taps = columns.kernelH * columns.kernelW;
  for (int64_t row = rowBegin; row < rowEnd; ++row) {
    const int64_t tap = row % taps;
    RowPacker packer(columns, tap / columns.kernelW, tap % columns.kernelW);
    const float *channel = x + image * xImage + row / taps * plane;
    float *target = scratch + (row - rowBegin) * rowStride();
    for (int64_t i = 0; i < images; ++i)
      packer.pack(channel + i * xImage, pixel, pixels,
                  target + i * plan.imageTerms);
  }
}

inline void ConvWeightTile::multiply(int64_t image, int64_t images,
                                     int64_t pixel, int64_t pixels,
                                     bool accumulate) const {
  /// Channels whose part of the gradient stays in L1 while all rows pass.
  constexpr int64_t channelGroup = 4 * kDotChannels;
  const ConvPlan &columns = plan.columns;
  DotArguments t = {};
  t.channelStride = columns.pixels;
  t.gradientImage = gradientImage;
  t.rowStride = rowStride();
  t.columnsImage = plan.imageTerms;
  t.images = images;
  t.terms = pixels;
  t.resultStride = columns.k;
  t.accumulate = accumulate;
  const float *first = gradient + image * gradientImage + pixel;
  for (int64_t group = channelBegin; group < channelEnd;
       group += channelGroup) {
    const int64_t groupEnd = least(group + channelGroup, channelEnd);
    for (int64_t row = rowBegin; row < rowEnd; row += kDotRows) {
      t.rows = least(kDotRows, rowEnd - row);
      t.columns = scratch + (row - rowBegin) * t.rowStride;
      for (int64_t channel = group; channel < groupEnd;
           channel += kDotChannels) {
        t.gradient = first + channel * columns.pixels;
        t.result = result + channel * columns.k + row;
        switch (least(kDotChannels, groupEnd - channel)) {
        case 1:
          dotKernel<1>(t);
          break;
        case 2:
          dotKernel<2>(t);
          break;
        default:
          dotKernel<kDotChannels>(t);
        }
      }
    }
  }
}

inline void ConvWeightTile::run() const {
  const ConvPlan &columns = plan.columns;
  bool accumulate = false;
  int64_t image = 0;
  do {
    const int64_t images = least(plan.images, columns.batch - image);
    int64_t pixel = 0;
    do {
      const int64_t pixels = least(plan.pixelBlock, columns.pixels - pixel);
      pack(image, images, pixel, pixels);
      // Rows that fill the last call are multiplied, too.
      for (int64_t row = rowEnd - rowBegin; row % kDotRows != 0; ++row)
        for (int64_t l = 0; l < rowStride(); l += kLanes)
          store(scratch + row * rowStride() + l, Vec{});
      multiply(image, images, pixel, pixels, accumulate);
      accumulate = true;
      pixel += pixels;
    } while (pixel < columns.pixels);
    image += images;
  } while (image < columns.batch);
}

void runConvWeightGradient(const ConvWeightPlan &plan, void *const *arguments,
                           int64_t begin, int64_t end) {
  static_assert((kMaxWeightRows * kMaxWeightTerms + kLanes) * sizeof(float) <=
                kScratchBytes);
  alignas(64) float scratch[kMaxWeightRows * kMaxWeightTerms + kLanes];
  const ConvPlan &columns = plan.columns;
  const int64_t inSize = columns.inChannels * columns.inH * columns.inW;
  const int64_t outSize = columns.outChannels * columns.pixels;
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t channel = tile % plan.channelBlocks * plan.channelBlock;
    const int64_t row =
        tile / plan.channelBlocks % plan.rowBlocks * plan.rowBlock;
    const int64_t group = tile / plan.channelBlocks / plan.rowBlocks;
    ConvWeightTile{plan,
                   static_cast<const float *>(arguments[0]) + group * inSize,
                   static_cast<const float *>(arguments[1]) + group * outSize,
                   static_cast<float *>(arguments[2]) +
                       group * columns.outChannels * columns.k,
                   columns.group * inSize,
                   columns.group * outSize,
                   row,
                   least(row + plan.rowBlock, columns.k),
                   channel,
                   least(channel + plan.channelBlock, columns.outChannels),
                   scratch}
        .run();
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_CONVWEIGHTTILES_H
