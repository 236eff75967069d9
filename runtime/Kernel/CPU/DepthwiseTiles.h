// SPDX-License-Identifier: Apache-2.0
//
// Convolutions with one input channel a group. See Vector.h for who may
// include it.
//
// A plane is walked in strips one vector wide, from top to bottom. Each input
// row is loaded once per strip and added to the sums of all output rows that
// it reaches, which stay in registers. Strips at the left and right border use
// masked loads, the others plain ones.

#ifndef DLC_RUNTIME_KERNEL_CPU_DEPTHWISETILES_H
#define DLC_RUNTIME_KERNEL_CPU_DEPTHWISETILES_H

#include "Activations.h"
#include "KernelSet.h"
#include "Vector.h"

namespace dlc::rt::cpu {
namespace {

/// One output plane.
struct DepthwisePlane {
  const DepthwisePlan &plan;
  const float *x, *w;
  float bias;
  const float *residual; ///< Null when absent.
  float *y;
};

/// Ends the sums of one strip, row after row. The bounds stay in memory: the
/// registers belong to the weights and the sums.
class StripWriter {
public:
  StripWriter(const DepthwisePlane &p, int64_t column)
      : low(splat(-__builtin_inff())), high(splat(__builtin_inff())),
        y(p.y + column), residual(p.residual ? p.residual + column : nullptr),
        stride(p.plan.outW), count(p.plan.outW - column) {
    if (isClamp(p.plan.epilogue)) {
      low = splat(clampLow(p.plan.epilogue));
      high = splat(clampHigh(p.plan.epilogue));
    }
    // Masked stores are slow on some machines. In a plane one vector wide the
    // lanes too many fall on the next rows, which are yet to be written; their
    // residual, perhaps in the same memory, is yet to be read, though.
    const bool overwrites = column == 0 && !residual;
    if (count >= kLanes || overwrites)
      fullEnd = p.y + p.plan.outW * p.plan.outH - kLanes;
    else
      fullEnd = p.y - 1;
  }

  [[gnu::always_inline]] void write(Vec sum) {
    DLC_KEEP_LOADS_HERE();
    if (residual) {
      sum += loadFirst(residual, count);
      residual += stride;
    }
    sum = minOf(maxOf(sum, low), high);
    if (y <= fullEnd)
      store(y, sum);
    else
      storeFirst(y, sum, count);
    y += stride;
  }

private:
  Vec low, high;
  float *y;
  const float *residual; ///< Null when absent.
  int64_t stride, count;
  const float *fullEnd; ///< Up to there whole vectors may be stored.
};

/// Reads the elements under the taps of one input row, for one strip. At
/// stride 2 vectors are parted into even and odd elements within each group of
/// four lanes only; unmix() puts the sums in order.
template <int kernel, int stride, bool masked> class StripReader {
public:
  /// Elements [begin, end), relative to lane 0 at tap 0, are in the image.
  StripReader(int64_t begin, int64_t end) {
    if constexpr (masked)
      for (int i = 0; i < kLoads; ++i)
        masks[i] = lanes(begin - offsetOf(i), end - offsetOf(i));
  }

  [[gnu::always_inline]] void read(const float *source,
                                   Vec (&taps)[kernel]) const {
    if constexpr (stride == 1) {
      DLC_UNROLL for (int i = 0; i < kernel; ++i) taps[i] = at(source, i);
    } else {
      DLC_UNROLL for (int i = 0; i < kernel; i += 2) {
        Vec low = at(source, i), high = at(source, i + 1);
        taps[i] = mixedEvenOf(low, high);
        if (i + 1 < kernel)
          taps[i + 1] = mixedOddOf(low, high);
      }
    }
  }

private:
  static constexpr int kLoads = stride == 1 ? kernel : kernel + 1;
  /// At stride 2 loads come in pairs, two elements from pair to pair.
  static constexpr int offsetOf(int load) {
    return stride == 1 ? load : load / 2 * 2 + load % 2 * kLanes;
  }
  [[gnu::always_inline]] Vec at(const float *source, int i) const {
    if constexpr (masked)
      return maskedLoad(source + offsetOf(i), masks[i]);
    else
      return load(source + offsetOf(i));
  }
  LaneMask masks[masked ? kLoads : 1];
};

/// The sums of the output rows that an input row reaches. Input rows come in
/// groups of `stride`; with group t, sums[j] is that of output row t - j, which
/// gets tap j * stride + phase of the group's row number `phase`.
template <int kernel, int stride, bool masked> struct Strip {
  static constexpr int depth = (kernel - 1) / stride + 1;

  Strip(const DepthwisePlane &p, int64_t column)
      : reader(imageBegin(p, column), p.plan.inW + imageBegin(p, column)) {
    DLC_UNROLL for (int i = 0; i < kernel; ++i) {
      DLC_UNROLL for (int j = 0; j < kernel; ++j) w[i][j] =
          splat(p.w[i * kernel + j]);
    }
    bias = splat(p.bias);
    DLC_UNROLL for (int j = 0; j < depth; ++j) sums[j] = bias;
  }

  /// Where the image begins, relative to lane 0 at tap 0.
  static int64_t imageBegin(const DepthwisePlane &p, int64_t column) {
    return p.plan.padLeft - column * stride;
  }

  template <int phase> [[gnu::always_inline]] void add(const float *row) {
    Vec taps[kernel];
    reader.read(row, taps);
    DLC_UNROLL for (int i = 0; i < kernel; ++i) {
      DLC_UNROLL for (int j = 0; j < depth; ++j) {
        if (j * stride + phase < kernel)
          sums[j] += w[(j * stride + phase) % kernel][i] * taps[i];
      }
    }
  }

  /// The sum of output row t - (depth - 1), after its last tap.
  [[gnu::always_inline]] Vec last() const {
    return stride == 1 ? sums[depth - 1] : unmix(sums[depth - 1]);
  }

  /// Not a loop: clang would make it a memmove, and the sums live in memory.
  template <int j = depth - 1> [[gnu::always_inline]] void advance() {
    if constexpr (j > 0) {
      sums[j] = sums[j - 1];
      advance<j - 1>();
    } else {
      sums[0] = bias;
    }
  }

  StripReader<kernel, stride, masked> reader;
  Vec w[kernel][kernel], sums[depth], bias;
};

/// One strip of an odd kernel known at compile time, without dilation.
template <int kernel, int stride, bool masked>
[[gnu::noinline]] void runStrip(const DepthwisePlane &p, int64_t column) {
  static_assert(kernel % 2 == 1 && stride <= 2);
  using ThisStrip = Strip<kernel, stride, masked>;
  constexpr int depth = ThisStrip::depth;
  const int64_t inW = p.plan.inW, inH = p.plan.inH, top = p.plan.padTop;
  ThisStrip strip(p, column);
  StripWriter writer(p, column);
  const float *origin = p.x - ThisStrip::imageBegin(p, column) - top * inW;
  auto inside = [&](int64_t inY) { return inY >= 0 && inY < inH; };
  // Inlined wherever it is used: what it captures shall stay in registers.
  auto checkedSteps = [&](int64_t begin, int64_t end)
                          __attribute__((always_inline)) {
                            for (int64_t t = begin; t < end; ++t) {
                              const float *row = origin + t * stride * inW;
                              if (inside(t * stride - top))
                                strip.template add<0>(row);
                              // The tap of the last sum is one of phase 0: the
                              // kernel is odd.
                              if (t >= depth - 1)
                                writer.write(strip.last());
                              if constexpr (stride == 2) {
                                if (inside(t * stride + 1 - top))
                                  strip.template add<1>(row + inW);
                              }
                              strip.advance();
                            }
                          };
  // Away from the top and the bottom there is nothing to check.
  const int64_t groups = p.plan.outH + depth - 1;
  const int64_t begin =
      least(most<int64_t>(depth - 1, (top + stride - 1) / stride), groups);
  const int64_t end = most(begin, least(groups, (inH + top) / stride));
  checkedSteps(0, begin);
  const float *row = origin + begin * stride * inW;
  for (int64_t t = begin; t < end; ++t, row += stride * inW) {
    strip.template add<0>(row);
    writer.write(strip.last());
    if constexpr (stride == 2)
      strip.template add<1>(row + inW);
    strip.advance();
  }
  checkedSteps(end, groups);
}

template <int kernel, int stride> void runStrips(const DepthwisePlane &p) {
  const DepthwisePlan &plan = p.plan;
  // Elements that the plain loads of a strip touch from its left edge on.
  constexpr int64_t reach =
      stride == 1 ? kLanes + kernel - 1 : 2 * kLanes + (kernel - 1) / 2 * 2;
  for (int64_t column = 0; column < plan.outW; column += kLanes) {
    // The last strip may overlap the one before, unless that has written over
    // its residual.
    if (column + kLanes > plan.outW && plan.outW >= kLanes && !p.residual)
      column = plan.outW - kLanes;
    const int64_t left = column * stride - plan.padLeft;
    if (left >= 0 && left + reach <= plan.inW)
      runStrip<kernel, stride, false>(p, column);
    else
      runStrip<kernel, stride, true>(p, column);
  }
}

/// Every `stride`th element from `source` on, or every `anyStride`th where that
/// is 0. Of two the element behind the last one is read, too.
template <int stride>
[[gnu::always_inline]] inline Vec loadEvery(const float *source,
                                            int64_t anyStride) {
  if constexpr (stride == 1)
    return load(source);
  if constexpr (stride == 2)
    return evenOf(load(source), load(source + kLanes));
#if DLC_VECTOR_BYTES == 64
  const __m512i places = _mm512_mullo_epi32(
      _mm512_set1_epi32(static_cast<int>(anyStride)),
      _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
  return _mm512_i32gather_ps(places, source, sizeof(float));
#else
  Vec value = {};
  for (int lane = 0; lane < kLanes; ++lane)
    value[lane] = source[lane * anyStride];
  return value;
#endif
}

/// As loadEvery(), of those that are in a row of `width` elements; zeros for
/// others. That of lane 0 is number `left`.
inline Vec loadInside(const float *row, int64_t left, int64_t stride,
                      int64_t width) {
  if (stride == 1)
    return maskedLoad(row + left, lanes(-left, width - left));
  Vec value = {};
  for (int lane = 0; lane < kLanes; ++lane) {
    const int64_t at = left + lane * stride;
    if (at >= 0 && at < width)
      value[lane] = row[at];
  }
  return value;
}

/// Adds the products of a row of results that lie next to each other, from
/// `column` on; load(row, left, tap, v) is what a tap meets of vector v, whose
/// first element is number `left` of an image's row.
template <int vectors, typename Load>
[[gnu::always_inline]] inline void addTaps(const DepthwisePlane &p, int64_t row,
                                           int64_t column, Vec (&sums)[vectors],
                                           Load load) {
  const DepthwisePlan &plan = p.plan;
  for (int64_t i = 0; i < plan.kernelH; ++i) {
    const int64_t inY = row * plan.strideH - plan.padTop + i * plan.dilationH;
    if (inY < 0 || inY >= plan.inH)
      continue;
    const float *inRow = p.x + inY * plan.inW;
    for (int64_t j = 0; j < plan.kernelW; ++j) {
      const float weight = p.w[i * plan.kernelW + j];
      const int64_t left =
          column * plan.strideW - plan.padLeft + j * plan.dilationW;
      DLC_UNROLL for (int v = 0; v < vectors; ++v) sums[v] +=
          weight * load(inRow, left + v * kLanes * plan.strideW, j, v);
    }
  }
}

inline void finishSum(const DepthwisePlane &p, int64_t row, int64_t column,
                      Vec sum) {
  const int64_t at = row * p.plan.outW + column;
  const int64_t count = p.plan.outW - column;
  if (p.residual)
    sum += loadFirst(p.residual + at, count);
  if (isClamp(p.plan.epilogue))
    sum = minOf(maxOf(sum, splat(clampLow(p.plan.epilogue))),
                splat(clampHigh(p.plan.epilogue)));
  storeFirst(p.y + at, sum, count);
}

/// Elements of a row, every so many of which become neighbours: for wide
/// kernels in steps of more than two, which read each of them several times.
class PartedRow {
public:
  /// Of `reach` elements that results in steps read.
  PartedRow(const DepthwisePlan &plan, int64_t reach)
      : pays(plan.strideW > 2 && plan.kernelW >= 2 * plan.strideW &&
             plan.kernelW <= kMostTaps && reach + plan.strideW <= kMost),
        step(plan.strideW), reach(reach), pitch((reach + step - 1) / step) {
    for (int64_t j = 0; pays && j < plan.kernelW; ++j) {
      const int64_t at = j * plan.dilationW;
      places[j] = at % step * pitch + at / step;
    }
  }

  void read(const float *source) {
    float *target = elements;
    for (int64_t phase = 0; phase < step; ++phase, target += pitch)
      for (int64_t i = 0, at = phase; at < reach; ++i, at += step)
        target[i] = source[at];
  }
  /// Vector v of what tap j meets.
  Vec tap(int64_t j, int v) const {
    return load(elements + places[j] + v * kLanes);
  }

  /// Whether they are read often enough, and fit.
  const bool pays;

private:
  static constexpr int64_t kMost = 4096, kMostTaps = 512;
  const int64_t step, reach, pitch;
  int64_t places[kMostTaps];
  // Vectors may end behind the last element, where nothing uses them.
  float elements[kMost + kLanes];
};

/// Any kernel and dilation: steps of more than two columns, and those of one or
/// two with kernels wider than kMostFewTaps, as resampling has them. Where all
/// taps of a few vectors are in the image, they share each weight.
template <int stride> void runAnyStrips(const DepthwisePlane &p) {
  const DepthwisePlan &plan = p.plan;
  constexpr int vectors = 6;
  // Elements that such a block reads from its first one on.
  const int64_t reach = (vectors * kLanes - 1) * plan.strideW +
                        (plan.kernelW - 1) * plan.dilationW +
                        (stride == 2 ? 2 : 1);
  constexpr int64_t mostStride = 1 << 26; // Places of lanes are of 32 bits.
  PartedRow parted(plan, reach);
  for (int64_t row = 0; row < plan.outH; ++row)
    for (int64_t column = 0; column < plan.outW;) {
      const int64_t left = column * plan.strideW - plan.padLeft;
      if (left >= 0 && left + reach <= plan.inW &&
          column + vectors * kLanes <= plan.outW &&
          plan.strideW <= mostStride) {
        Vec sums[vectors];
        DLC_UNROLL for (int v = 0; v < vectors; ++v) sums[v] = splat(p.bias);
        const float *known = nullptr;
        if (parted.pays)
          addTaps(p, row, column, sums,
                  [&](const float *inRow, int64_t, int64_t tap, int v) {
                    if (inRow != known)
                      parted.read(inRow + left);
                    known = inRow;
                    return parted.tap(tap, v);
                  });
        else
          addTaps(p, row, column, sums,
                  [&](const float *inRow, int64_t at, int64_t, int) {
                    return loadEvery<stride>(inRow + at, plan.strideW);
                  });
        for (int v = 0; v < vectors; ++v)
          finishSum(p, row, column + v * kLanes, sums[v]);
        column += vectors * kLanes;
        continue;
      }
      Vec sums[1] = {splat(p.bias)};
      addTaps(p, row, column, sums,
              [&](const float *inRow, int64_t at, int64_t, int) {
                return loadInside(inRow, at, plan.strideW, plan.inW);
              });
      finishSum(p, row, column, sums[0]);
      column += kLanes;
    }
}

inline void runPlane(const DepthwisePlane &p) {
  const DepthwisePlan &plan = p.plan;
  const bool square = plan.kernelH == plan.kernelW &&
                      plan.strideH == plan.strideW && plan.dilationH == 1 &&
                      plan.dilationW == 1;
  const int64_t kernel = plan.kernelH, stride = plan.strideH;
  if (square && kernel == 3 && stride == 1)
    runStrips<3, 1>(p);
  else if (square && kernel == 3 && stride == 2)
    runStrips<3, 2>(p);
  else if (square && kernel == 5 && stride == 1)
    runStrips<5, 1>(p);
  else if (square && kernel == 5 && stride == 2)
    runStrips<5, 2>(p);
  else if (square && kernel == 7 && stride == 1)
    runStrips<7, 1>(p);
  else if (square && kernel == 7 && stride == 2)
    runStrips<7, 2>(p);
  else if (plan.strideW == 1)
    runAnyStrips<1>(p);
  else if (plan.strideW == 2)
    runAnyStrips<2>(p);
  else
    runAnyStrips<0>(p);
  activateRest(p.y, plan.outW, plan.outH, plan.outW, plan.epilogue);
}

void runDepthwise(const DepthwisePlan &plan, void *const *arguments,
                  int64_t begin, int64_t end) {
  const auto *x = static_cast<const float *>(arguments[0]);
  const auto *w = static_cast<const float *>(arguments[1]);
  const auto *bias = static_cast<const float *>(arguments[2]);
  const auto *residual = static_cast<const float *>(arguments[3]);
  auto *y = static_cast<float *>(arguments[4]);
  const int64_t outSize = plan.outH * plan.outW;
  const int64_t first = begin * plan.planeBlock;
  const int64_t last = least(end * plan.planeBlock, plan.planes);
  for (int64_t plane = first; plane < last; ++plane) {
    const int64_t channel = plane % plan.channels;
    runPlane(
        {plan, x + plane / plan.multiplier * plan.inH * plan.inW,
         w + channel * plan.kernelH * plan.kernelW, bias ? bias[channel] : 0.0f,
         residual ? residual + plane * outSize : nullptr, y + plane * outSize});
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_DEPTHWISETILES_H
