// SPDX-License-Identifier: Apache-2.0
//
// Depthwise convolutions of blocked tensors [N][C/16][H][W][16], or of bfloat16
// in blocks of 32: lanes are channels, so each element is multiplied where it
// is. See Vector.h for who may include it.
//
// Some outputs of a row are summed in registers; each element under them is
// loaded once for every row of taps. Weights are packed [C/16][taps][16].

#ifndef DLC_RUNTIME_KERNEL_CPU_BLOCKEDDEPTHWISETILES_H
#define DLC_RUNTIME_KERNEL_CPU_BLOCKEDDEPTHWISETILES_H

#include "Activations.h"
#include "PairRows.h"

namespace dlc::rt::cpu {
namespace {

/// Channels of bfloat16 lie two by two in the lanes of a vector. Where a vector
/// is half a line, those of a line are two vectors, of the channels with even
/// numbers and of those with odd ones: so a line takes a shift and a mask,
/// where vectors of neighbours take two operations each.
constexpr int kLineVectors = kLanes == kChannelBlock ? 2 : 1;

template <typename Source, int vectors>
[[gnu::always_inline]] inline void loadLanes(const Source *source,
                                             Vec (&values)[vectors]) {
  if constexpr (vectors == 1) {
    values[0] = loadElements(source, kLanes);
  } else {
    const auto line =
        reinterpret_cast<Words>(load(reinterpret_cast<const float *>(source)));
    values[0] = reinterpret_cast<Vec>(line << 16);
    values[1] = reinterpret_cast<Vec>(line & 0xffff0000u);
  }
}

template <typename Result, int vectors>
[[gnu::always_inline]] inline void storeLanes(Result *target,
                                              const Vec (&values)[vectors]) {
  if constexpr (vectors == 1)
    storeElements(target, values[0], kLanes);
  else
    storeAlternating(target, values[0], values[1]);
}

/// Output rows of one vector of channels of a plane, or of a line of them.
template <typename Source, typename Result, int vectors> struct BlockedRows {
  const BlockedDepthwisePlan &plan;
  const Source *x;
  const float *w; ///< [taps], of 16 channels or kLineVectors vectors.
  Vec bias[vectors];
  Vec low, high;          ///< The bounds of a clamp, or infinite ones.
  const Result *residual; ///< Of the first row; null when absent.
  Result *y;              ///< Of the first row.
  int64_t first, last;
};

/// One of them.
template <typename Source, typename Result, int vectors>
struct BlockedRow : BlockedRows<Source, Result, vectors> {
  using Base = BlockedRows<Source, Result, vectors>;
  using Base::plan, Base::x, Base::residual, Base::y, Base::low, Base::high;
  /// Of weights.
  static constexpr int64_t kTapStep = vectors * kChannelBlock;

  explicit BlockedRow(const Base &rows) : Base(rows), row(rows.first) {
    firstIn = row * plan.strideH - plan.padTop;
    if (plan.inRows < plan.inH)
      firstIn = (firstIn % plan.inRows + plan.inRows) % plan.inRows;
  }
  /// Goes on to the next row.
  void step() {
    ++row;
    firstIn += plan.strideH;
    // Of few rows in memory the first one is where the last one was followed.
    if (plan.inRows < plan.inH && firstIn >= plan.inRows)
      firstIn %= plan.inRows;
    y += plan.outW * blockOf<Result>;
    if (residual)
      residual += plan.outW * blockOf<Result>;
  }

  int64_t row;
  int64_t firstIn; ///< Where the row under the first tap is, or would be.

  int64_t inRow(int64_t tap) const {
    return row * plan.strideH - plan.padTop + tap * plan.dilationH;
  }
  bool hasRow(int64_t tap) const {
    return inRow(tap) >= 0 && inRow(tap) < plan.inH;
  }
  /// Of a tap that hasRow(). Taps reach over all rows in memory at most once.
  const Source *xRow(int64_t tap) const {
    int64_t at = firstIn + tap * plan.dilationH;
    if (at >= plan.inRows)
      at -= plan.inRows;
    return x + at * plan.inW * blockOf<Source>;
  }

  [[gnu::always_inline]] void start(Vec (&sums)[vectors]) const {
    DLC_UNROLL for (int v = 0; v < vectors; ++v) sums[v] = Base::bias[v];
  }
  [[gnu::always_inline]] void finish(Vec (&sums)[vectors],
                                     int64_t column) const {
    const int64_t at = column * blockOf<Result>;
    if (residual) {
      Vec added[vectors];
      loadLanes(residual + at, added);
      DLC_UNROLL for (int v = 0; v < vectors; ++v) sums[v] += added[v];
    }
    DLC_UNROLL for (int v = 0; v < vectors; ++v) sums[v] =
        minOf(maxOf(sums[v], low), high);
    // Of floats the other activations have a loop of their own.
    if constexpr (sizeof(Result) == sizeof(uint16_t))
      if (!isClamp(plan.epilogue))
        DLC_UNROLL for (int v = 0; v < vectors; ++v) {
          float values[kLanes];
          store(values, sums[v]);
          activateRest(values, kLanes, 1, kLanes, plan.epilogue);
          sums[v] = load(values);
        }
    storeLanes(y + at, sums);
  }
};

/// The rows of taps that are inside of the image: where each begins, and its
/// weights.
template <int kernel, typename Source> struct BlockedTaps {
  template <typename Row>
  [[gnu::always_inline]] explicit BlockedTaps(const Row &r) {
    for (int64_t tap = 0; tap < kernel; ++tap)
      if (r.hasRow(tap)) {
        x[count] = r.xRow(tap);
        w[count++] = r.w + tap * kernel * Row::kTapStep;
      }
  }
  const Source *x[kernel];
  const float *w[kernel];
  int count = 0;
};

/// Which of the elements under some outputs of a row may lie outside of it.
enum class Outside {
  None,
  Ends, ///< On each side as many as half a kernel has.
  Any,
};

/// Outputs [column, column + count) of a square kernel without dilation.
template <int kernel, int stride, int count, Outside outside, typename Source,
          typename Result, int vectors>
[[gnu::always_inline]] inline void
blockedOutputs(const BlockedRow<Source, Result, vectors> &r,
               const BlockedTaps<kernel, Source> &taps, int64_t column) {
  const BlockedDepthwisePlan &plan = r.plan;
  constexpr int width = (count - 1) * stride + kernel;
  const int64_t left = column * stride - plan.padLeft;
  const int64_t begin = -left, end = plan.inW - left;
  Vec sums[count][vectors];
  DLC_UNROLL for (int i = 0; i < count; ++i) r.start(sums[i]);
  for (int tap = 0; tap < taps.count; ++tap) {
    const Source *x = taps.x[tap] + left * blockOf<Source>;
    Vec w[kernel][vectors];
    DLC_UNROLL for (int j = 0; j < kernel; ++j)
        DLC_UNROLL for (int v = 0; v < vectors; ++v) w[j][v] =
            load(taps.w[tap] + j * r.kTapStep + v * kLanes);
    DLC_UNROLL for (int at = 0; at < width; ++at) {
      const Source *element = x + at * blockOf<Source>;
      if constexpr (outside == Outside::Any) {
        if (at < begin || at >= end)
          continue;
      } else if (outside == Outside::Ends && at < kernel / 2) {
        element = at < begin ? kNoTermsOf<Source> : element;
      } else if (outside == Outside::Ends && at >= width - kernel / 2) {
        element = at >= end ? kNoTermsOf<Source> : element;
      }
      Vec values[vectors];
      loadLanes(element, values);
      DLC_UNROLL for (int j = 0; j < kernel; ++j) {
        const int i = (at - j) / stride;
        if (at >= j && (at - j) % stride == 0 && i < count)
          DLC_UNROLL for (int v = 0; v < vectors; ++v) sums[i][v] +=
              w[j][v] * values[v];
      }
    }
  }
  DLC_UNROLL for (int i = 0; i < count; ++i) r.finish(sums[i], column + i);
}

/// Whether it takes less time to choose where to load from, and to multiply
/// zeros, than to branch: not of few outputs, and not where an element is a
/// factor of many.
constexpr bool choosesElements(int kernel, int stride, int count) {
  return count >= 7 && (kernel == 3 || stride > 1);
}

template <int kernel, int stride, int count, typename Source, typename Result,
          int vectors>
[[gnu::always_inline]] inline void
runOutputs(const BlockedRow<Source, Result, vectors> &r,
           const BlockedTaps<kernel, Source> &taps, int64_t &column) {
  constexpr int width = (count - 1) * stride + kernel;
  for (; column + count <= r.plan.outW; column += count) {
    const int64_t left = column * stride - r.plan.padLeft;
    const int64_t behind = left + width - r.plan.inW;
    if (left >= 0 && behind <= 0)
      blockedOutputs<kernel, stride, count, Outside::None>(r, taps, column);
    else if (choosesElements(kernel, stride, count) && -left <= kernel / 2 &&
             behind <= kernel / 2)
      blockedOutputs<kernel, stride, count, Outside::Ends>(r, taps, column);
    else
      blockedOutputs<kernel, stride, count, Outside::Any>(r, taps, column);
  }
}

/// Seven or fourteen at a time: images of networks are multiples of them.
template <int kernel, int stride, typename Source, typename Result, int vectors>
void runBlockedRows(const BlockedRows<Source, Result, vectors> &rows) {
  for (BlockedRow<Source, Result, vectors> r(rows); r.row < r.last; r.step()) {
    const BlockedTaps<kernel, Source> taps(r);
    int64_t column = 0;
    if constexpr (kLanes == 16 && vectors == 1) // With 32 registers.
      runOutputs<kernel, stride, 14>(r, taps, column);
    runOutputs<kernel, stride, 7>(r, taps, column);
    runOutputs<kernel, stride, 3>(r, taps, column);
    runOutputs<kernel, stride, 1>(r, taps, column);
  }
}

/// As blockedOutputs(), of any kernel, and of any stride where that is 0.
template <int stride, int count, bool isInside, typename Source,
          typename Result, int vectors>
[[gnu::always_inline]] inline void
anyOutputs(const BlockedRow<Source, Result, vectors> &r, int64_t column) {
  const BlockedDepthwisePlan &plan = r.plan;
  const int64_t step = stride ? stride : plan.strideW;
  const int64_t left = column * step - plan.padLeft;
  Vec sums[count][vectors];
  DLC_UNROLL for (int i = 0; i < count; ++i) r.start(sums[i]);
  for (int64_t tap = 0; tap < plan.kernelH; ++tap) {
    if (!r.hasRow(tap))
      continue;
    const Source *x = r.xRow(tap);
    const float *w = r.w + tap * plan.kernelW * r.kTapStep;
    int64_t at = left;
    for (int64_t j = 0; j < plan.kernelW; ++j, at += plan.dilationW) {
      const float *weights = w + j * r.kTapStep;
      DLC_UNROLL for (int i = 0; i < count; ++i) {
        const int64_t inX = at + i * step;
        if (!isInside && (inX < 0 || inX >= plan.inW))
          continue;
        Vec values[vectors];
        loadLanes(x + inX * blockOf<Source>, values);
        DLC_UNROLL for (int v = 0; v < vectors; ++v) sums[i][v] +=
            load(weights + v * kLanes) * values[v];
      }
    }
  }
  DLC_UNROLL for (int i = 0; i < count; ++i) r.finish(sums[i], column + i);
}

template <int stride, int count, typename Source, typename Result, int vectors>
[[gnu::always_inline]] inline void
runAnyOutputs(const BlockedRow<Source, Result, vectors> &r, int64_t &column) {
  const BlockedDepthwisePlan &plan = r.plan;
  const int64_t width =
      (count - 1) * plan.strideW + (plan.kernelW - 1) * plan.dilationW + 1;
  for (; column + count <= plan.outW; column += count) {
    const int64_t left = column * plan.strideW - plan.padLeft;
    if (left >= 0 && left + width <= plan.inW)
      anyOutputs<stride, count, true>(r, column);
    else
      anyOutputs<stride, count, false>(r, column);
  }
}

/// Eight sums at once: none waits for the one before.
template <int stride, typename Source, typename Result, int vectors>
void runAnyBlockedRows(const BlockedRows<Source, Result, vectors> &rows) {
  for (BlockedRow<Source, Result, vectors> r(rows); r.row < r.last; r.step()) {
    int64_t column = 0;
    runAnyOutputs<stride, 8>(r, column);
    runAnyOutputs<stride, 4>(r, column);
    runAnyOutputs<stride, 1>(r, column);
  }
}

template <typename Source, typename Result, int vectors>
using BlockedRowsFunction =
    void (*)(const BlockedRows<Source, Result, vectors> &);

template <typename Source, typename Result, int vectors>
inline BlockedRowsFunction<Source, Result, vectors>
rowsFunctionOf(const BlockedDepthwisePlan &plan) {
  const bool isSquare = plan.kernelH == plan.kernelW &&
                        plan.strideH == plan.strideW && plan.dilationH == 1 &&
                        plan.dilationW == 1;
  const int64_t kernel = plan.kernelH, stride = plan.strideH;
  if (isSquare && kernel == 3 && stride <= 2)
    return stride == 1 ? runBlockedRows<3, 1, Source, Result, vectors>
                       : runBlockedRows<3, 2, Source, Result, vectors>;
  if (isSquare && kernel == 5 && stride <= 2)
    return stride == 1 ? runBlockedRows<5, 1, Source, Result, vectors>
                       : runBlockedRows<5, 2, Source, Result, vectors>;
  if (isSquare && kernel == 7 && stride <= 2)
    return stride == 1 ? runBlockedRows<7, 1, Source, Result, vectors>
                       : runBlockedRows<7, 2, Source, Result, vectors>;
  return plan.strideW == 1   ? runAnyBlockedRows<1, Source, Result, vectors>
         : plan.strideW == 2 ? runAnyBlockedRows<2, Source, Result, vectors>
                             : runAnyBlockedRows<0, Source, Result, vectors>;
}

/// What each line of channels of a depthwise convolution of bfloat16 needs, in
/// the order of loadLanes().
struct LineWeights {
  static constexpr int64_t kMostTaps = 7 * 7;

  /// Of the 32 channels from `channel` on; w is packed, null are no biases.
  LineWeights(const BlockedDepthwisePlan &plan, const float *packed,
              const float *bias, int64_t channel) {
    const int64_t taps = plan.kernelH * plan.kernelW;
    const float *of = packed + channel * taps;
    for (int64_t tap = 0; tap < taps; ++tap, of += kChannelBlock)
      alternate(load(of), load(of + taps * kChannelBlock), w[tap][0],
                w[tap][1]);
    if (bias)
      alternate(load(bias + channel), load(bias + channel + kChannelBlock),
                biases[0], biases[1]);
  }

  Vec w[kMostTaps][2];
  Vec biases[2] = {};

private:
  static void alternate(Vec low, Vec high, Vec &even, Vec &odd) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const Vec &from = lane < kLanes / 2 ? low : high;
      even[lane] = from[2 * lane % kLanes];
      odd[lane] = from[2 * lane % kLanes + 1];
    }
  }
};

template <typename Source, typename Result>
void runBlockedDepthwiseOf(const BlockedDepthwisePlan &plan,
                           void *const *arguments, int64_t begin, int64_t end) {
  const auto *x = static_cast<const Source *>(arguments[0]);
  const auto *w = static_cast<const float *>(arguments[1]);
  const auto *bias = static_cast<const float *>(arguments[2]);
  const auto *residual = static_cast<const Result *>(arguments[3]);
  auto *y = static_cast<Result *>(arguments[4]);
  const auto run = rowsFunctionOf<Source, Result, 1>(plan);
  const bool clamps = isClamp(plan.epilogue);
  const Vec low = splat(clamps ? clampLow(plan.epilogue) : -__builtin_inff());
  const Vec high = splat(clamps ? clampHigh(plan.epilogue) : __builtin_inff());
  // Of 16 channels, of which a plane of bfloat16 has twice as many.
  const int64_t inSize = plan.inRows * plan.inW * kChannelBlock;
  const int64_t outSize = plan.outRows * plan.outW * kChannelBlock;
  const int64_t taps = plan.kernelH * plan.kernelW;
  constexpr bool areLines = kLineVectors == 2 &&
                            sizeof(Source) == sizeof(uint16_t) &&
                            sizeof(Result) == sizeof(uint16_t);
  auto ofChannel = [](int64_t channel, int64_t size, int64_t width) {
    return channel / width * (width / kChannelBlock) * size + channel % width;
  };
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t block = tile % plan.blocks;
    const int64_t rows = tile / plan.blocks; // Of image and block of rows.
    const int64_t image = rows / plan.rowBlocks;
    const int64_t first = rows % plan.rowBlocks * plan.rowBlock;
    const int64_t last = least(first + plan.rowBlock, plan.outH);
    const int64_t row = (first - plan.outFirst) * plan.outW * blockOf<Result>;
    const int64_t ofImage = image * plan.blocks;
    auto xOf = [&](int64_t channel) {
      return x + ofImage * inSize + ofChannel(channel, inSize, blockOf<Source>);
    };
    auto placeOf = [&](int64_t channel) {
      return ofImage * outSize + row +
             ofChannel(channel, outSize, blockOf<Result>);
    };
    if constexpr (areLines) {
      const int64_t channel = block * kChannelBlock;
      if (block % 2 == 0 && tile + 1 < end && taps <= LineWeights::kMostTaps &&
          channel + blockOf<Source> <= plan.channels) {
        const int64_t at = placeOf(channel);
        const LineWeights own(plan, w, bias, channel);
        rowsFunctionOf<Source, Result, 2>(plan)(
            {plan,
             xOf(channel),
             reinterpret_cast<const float *>(own.w),
             {own.biases[0], own.biases[1]},
             low,
             high,
             residual ? residual + at : nullptr,
             y + at,
             first,
             last});
        ++tile;
        continue;
      }
    }
    for (int64_t lane = 0; lane < kChannelBlock; lane += kLanes) {
      const int64_t channel = block * kChannelBlock + lane;
      const int64_t at = placeOf(channel);
      run({plan,
           xOf(channel),
           w + block * taps * kChannelBlock + lane,
           {bias ? loadFirst(bias + channel, plan.channels - channel) : Vec{}},
           low,
           high,
           residual ? residual + at : nullptr,
           y + at,
           first,
           last});
    }
    if constexpr (sizeof(Result) == sizeof(float)) {
      const int64_t rowSize = plan.outW * kChannelBlock;
      activateRest(y + (ofImage + block) * outSize + row, rowSize, last - first,
                   rowSize, plan.epilogue);
    }
  }
}

/// Of PairKernels: x, y or both are bfloat16.
inline void runShortDepthwise(const BlockedDepthwisePlan &plan,
                              void *const *arguments, int64_t begin,
                              int64_t end) {
  const auto run = !plan.isShortY  ? runBlockedDepthwiseOf<uint16_t, float>
                   : plan.isShortX ? runBlockedDepthwiseOf<uint16_t, uint16_t>
                                   : runBlockedDepthwiseOf<float, uint16_t>;
  run(plan, arguments, begin, end);
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_BLOCKEDDEPTHWISETILES_H
