// SPDX-License-Identifier: Apache-2.0
//
// Columns of x: the right operand of a convolution as a product, packed in
// panels a few vectors wide. See Vector.h for who may include it.
//
// A panel is a run of output pixels, which may span several output rows. For
// one tap of the kernel each output row reads a run of an input row, cut where
// it leaves the image: a segment. Segments depend on the tap and not on the
// channel, so each is found once and then used for all channels. Lanes that
// read padding are masked off, which makes them zero.

#ifndef DLC_RUNTIME_KERNEL_CPU_CONVPACK_H
#define DLC_RUNTIME_KERNEL_CPU_CONVPACK_H

#include "KernelSet.h"
#include "MicroKernel.h"
#include "Vector.h"

namespace dlc::rt::cpu {
namespace {

/// Part of a vector that comes from one input row.
struct Segment {
  int64_t offset; ///< Of lane 0 in the channel; may lie outside.
  int first, end; ///< Lanes.
  LaneMask low;   ///< Of the elements that make up these lanes: at stride 2
  LaneMask high;  ///< two vectors.
};

class PanelPacker {
public:
  /// The panel of `vectors` vectors that starts at output pixel `pixel`.
  PanelPacker(const ConvPlan &plan, int64_t pixel, int64_t vectors);

  /// Packs terms [kBegin, kEnd) of the channels at x.
  void pack(const float *x, int64_t kBegin, int64_t kEnd, float *target);

private:
  static constexpr int kMaxLanes = kConvVectors * kLanes;
  /// A run of output pixels in one output row.
  struct Row {
    int64_t y, x;
    int lane, count;
  };

  void packTap(const float *x, int64_t kernelY, int64_t kernelX,
               int64_t channels, float *target);
  bool packInside(const float *x, int vector, int64_t kernelY, int64_t kernelX,
                  int64_t channels, float *target, int64_t targetStride) const;
  int findSegments(int vector, int64_t kernelY, int64_t kernelX);
  template <int stride>
  void packVector(const float *x, int segmentCount, int64_t channels,
                  float *target, int64_t targetStride) const;

  const ConvPlan &plan;
  int vectors;
  int rowCount = 0;
  Row rows[kMaxLanes];
  Segment segments[kLanes];
};

inline PanelPacker::PanelPacker(const ConvPlan &plan, int64_t pixel,
                                int64_t vectors)
    : plan(plan), vectors(static_cast<int>(vectors)) {
  int64_t y = pixel / plan.outW, x = pixel % plan.outW;
  const int64_t count = least(vectors * kLanes, plan.pixels - pixel);
  for (int64_t lane = 0; lane < count; ++rowCount) {
    const int64_t run = least(plan.outW - x, count - lane);
    rows[rowCount] = {y, x, static_cast<int>(lane), static_cast<int>(run)};
    lane += run;
    ++y;
    x = 0;
  }
}

/// First output position whose input position is at least `bound`.
inline int64_t firstReaching(int64_t bound, int64_t origin, int64_t stride) {
  const int64_t distance = bound - origin;
  if (distance <= 0)
    return 0;
  // Shifts where they do: divisions would take longer than the loads.
  if (stride <= 2)
    return stride == 1 ? distance : (distance + 1) >> 1;
  return (distance + stride - 1) / stride;
}

/// Fills `segments` with those of one vector; returns their number.
inline int PanelPacker::findSegments(int vector, int64_t kernelY,
                                     int64_t kernelX) {
  const int base = vector * kLanes;
  const int64_t originX = kernelX * plan.dilationW - plan.padLeft;
  const int64_t originY = kernelY * plan.dilationH - plan.padTop;
  const int64_t firstX = firstReaching(0, originX, plan.strideW);
  const int64_t endX = firstReaching(plan.inW, originX, plan.strideW);
  int count = 0;
  for (int i = 0; i < rowCount; ++i) {
    const Row &row = rows[i];
    if (row.lane + row.count <= base)
      continue;
    if (row.lane >= base + kLanes)
      break;
    const int64_t inY = row.y * plan.strideH + originY;
    if (inY < 0 || inY >= plan.inH)
      continue;
    // Lanes of this vector, as positions of the row from row.x on.
    const int64_t shift = row.lane - base;
    const int64_t first =
        most<int64_t>(most<int64_t>(firstX - row.x, 0) + shift, 0);
    const int64_t end =
        least<int64_t>(least<int64_t>(endX - row.x, row.count) + shift, kLanes);
    if (first >= end)
      continue;
    Segment &segment = segments[count++];
    segment.offset = inY * plan.inW + (row.x - shift) * plan.strideW + originX;
    segment.first = static_cast<int>(first);
    segment.end = static_cast<int>(end);
    if (plan.strideW == 2) {
      segment.low = lanes(2 * first, 2 * end - 1);
      segment.high = lanes(2 * first - kLanes, 2 * end - 1 - kLanes);
    } else {
      segment.low = lanes(first, end);
      segment.high = segment.low;
    }
  }
  return count;
}

template <int stride>
[[gnu::always_inline]] inline Vec
readSegment(const float *channel, const Segment &segment, int64_t strideW) {
  const float *source = channel + segment.offset;
  if constexpr (stride == 1)
    return maskedLoad(source, segment.low);
  if constexpr (stride == 2)
    return evenOf(maskedLoad(source, segment.low),
                  maskedLoad(source + kLanes, segment.high));
  Vec value = {};
  for (int lane = segment.first; lane < segment.end; ++lane)
    value[lane] = source[lane * strideW];
  return value;
}

/// One vector of one tap, for all channels of the block.
template <int stride>
inline void PanelPacker::packVector(const float *x, int segmentCount,
                                    int64_t channels, float *target,
                                    int64_t targetStride) const {
  const int64_t plane = plan.inH * plan.inW, strideW = plan.strideW;
  if (segmentCount == 0) {
    for (int64_t c = 0; c < channels; ++c)
      store(target + c * targetStride, Vec{});
    return;
  }
  const Segment first = segments[0];
  if (segmentCount == 1) {
    for (int64_t c = 0; c < channels; ++c)
      store(target + c * targetStride,
            readSegment<stride>(x + c * plane, first, strideW));
    return;
  }
  const Segment second = segments[1];
  for (int64_t c = 0; c < channels; ++c) {
    const float *channel = x + c * plane;
    Vec value = join(readSegment<stride>(channel, first, strideW),
                     readSegment<stride>(channel, second, strideW));
    for (int i = 2; i < segmentCount; ++i)
      value = join(value, readSegment<stride>(channel, segments[i], strideW));
    store(target + c * targetStride, value);
  }
}

/// The common case without segments: the vector lies in one output row and
/// reads one input row away from its ends. False when it is not.
inline bool PanelPacker::packInside(const float *x, int vector, int64_t kernelY,
                                    int64_t kernelX, int64_t channels,
                                    float *target, int64_t targetStride) const {
  const int base = vector * kLanes;
  int i = 0;
  while (i < rowCount && rows[i].lane + rows[i].count <= base)
    ++i;
  if (i == rowCount || plan.strideW > 2)
    return false;
  const Row &row = rows[i];
  if (row.lane > base || row.lane + row.count < base + kLanes)
    return false;
  const int64_t inY =
      row.y * plan.strideH + kernelY * plan.dilationH - plan.padTop;
  const int64_t left = (row.x + base - row.lane) * plan.strideW +
                       kernelX * plan.dilationW - plan.padLeft;
  if (left < 0 || left + plan.strideW * kLanes > plan.inW || inY < 0 ||
      inY >= plan.inH)
    return false;
  const int64_t plane = plan.inH * plan.inW;
  const float *source = x + inY * plan.inW + left;
  // Channels are pages apart, where no processor looks ahead: of windows that
  // are one pixel, which meet each only once, the next panel's are fetched.
  const int64_t ahead =
      plan.kernelH * plan.kernelW == 1 ? plan.strideW * vectors * kLanes : 0;
  for (int64_t c = 0; c < channels;
       ++c, source += plane, target += targetStride) {
    __builtin_prefetch(source + ahead, 0, 2);
    store(target, plan.strideW == 1
                      ? load(source)
                      : evenOf(load(source), load(source + kLanes)));
  }
  return true;
}

/// The terms of one tap, k = channel * taps + tap, for `channels` channels.
inline void PanelPacker::packTap(const float *x, int64_t kernelY,
                                 int64_t kernelX, int64_t channels,
                                 float *target) {
  const int64_t step = plan.kernelH * plan.kernelW * vectors * kLanes;
  for (int v = 0; v < vectors; ++v, target += kLanes) {
    if (packInside(x, v, kernelY, kernelX, channels, target, step))
      continue;
    const int count = findSegments(v, kernelY, kernelX);
    if (plan.strideW == 1)
      packVector<1>(x, count, channels, target, step);
    else if (plan.strideW == 2)
      packVector<2>(x, count, channels, target, step);
    else
      packVector<0>(x, count, channels, target, step);
  }
}

inline void PanelPacker::pack(const float *x, int64_t kBegin, int64_t kEnd,
                              float *target) {
  const int64_t taps = plan.kernelH * plan.kernelW;
  const int64_t plane = plan.inH * plan.inW, width = vectors * kLanes;
  const int64_t firstChannel = kBegin / taps, firstTap = kBegin % taps;
  const int64_t lastChannel = kEnd / taps, lastTap = kEnd % taps;
  int64_t tap = 0;
  for (int64_t kernelY = 0; kernelY < plan.kernelH; ++kernelY) {
    for (int64_t kernelX = 0; kernelX < plan.kernelW; ++kernelX, ++tap) {
      const int64_t begin = firstChannel + (tap < firstTap);
      const int64_t end = lastChannel + (tap < lastTap);
      if (begin < end)
        packTap(x + begin * plane, kernelY, kernelX, end - begin,
                target + (begin * taps + tap - kBegin) * width);
    }
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_CONVPACK_H
