// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of plain tensors with few output channels, in steps of one or
// two columns. See Vector.h for who may include it.
//
// Packing pixels, as for a product, takes as long as some channels of results:
// here a few vectors of a row of each result are summed at once, with the input
// read where it is, once for each tap and up to four channels.

#ifndef DLC_RUNTIME_KERNEL_CPU_FEWCHANNELTILES_H
#define DLC_RUNTIME_KERNEL_CPU_FEWCHANNELTILES_H

#include "Activations.h"
#include "KernelSet.h"
#include "Vector.h"

namespace dlc::rt::cpu {
namespace {

/// Output channels whose sums are held at once.
constexpr int kFewOutputs = 4;
/// Most vectors of each of them, and of fewer.
constexpr int kFewVectors[kFewOutputs + 1] = {
    0, 8, kLanes == 16 ? 8 : 5, kLanes == 16 ? 8 : 3, kLanes == 16 ? 6 : 2};
constexpr int kMostFewVectors = 8;

/// Some output channels of one image and group.
struct FewChannels {
  const FewChannelPlan &plan;
  const float *x, *w;           ///< w: of the first of them.
  const float *bias, *residual; ///< Null when absent.
  float *y;
};

/// Rows of results, from `row` on, and the rows of the kernel that meet the
/// image there, of all of them the same.
struct FewRows {
  int64_t row, tapBegin, tapEnd;
};

/// Sums of `rows` rows and `vectors` vectors from `column` on, of which the
/// first and the last vector may reach beyond the image where loads are masked.
template <int stride, int outputs, int rows, int vectors, bool masked>
void sumBlock(const FewChannels &few, const FewRows &at, int64_t column) {
  const FewChannelPlan &plan = few.plan;
  Vec sums[outputs * rows][vectors];
  DLC_UNROLL for (int m = 0; m < outputs; ++m) {
    DLC_UNROLL for (int r = 0; r < rows; ++r) {
      DLC_UNROLL for (int v = 0; v < vectors; ++v) sums[m * rows + r][v] =
          splat(few.bias ? few.bias[m] : 0.0f);
    }
  }
  const int64_t left = column * stride - plan.padLeft;
  constexpr int64_t width = kLanes * stride; ///< What a vector is taken from.
  // Of the first and the last vector, by columns of the kernel.
  LaneMask masks[masked ? kMostFewTaps : 1][2][stride];
  for (int64_t j = 0; masked && j < plan.kernelW; ++j)
    for (int half = 0; half < stride; ++half) {
      const int64_t before = left + j * plan.dilationW + half * kLanes;
      constexpr int64_t toLast = (vectors - 1) * width;
      masks[j][0][half] = lanes(-before, plan.inW - before);
      masks[j][1][half] = lanes(-before - toLast, plan.inW - before - toLast);
    }
  const int64_t top = at.row * plan.strideH - plan.padTop;
  const int64_t rowStep = plan.strideH * plan.inW;
  for (int64_t c = 0; c < plan.inChannels; ++c)
    for (int64_t i = at.tapBegin; i < at.tapEnd; ++i) {
      const float *from =
          few.x + (c * plan.inH + top + i * plan.dilationH) * plan.inW + left;
      const float *taps =
          few.w + (c * plan.kernelH + i) * plan.kernelW * plan.tapStep;
      for (int64_t j = 0; j < plan.kernelW; ++j) {
        const int64_t shift = j * plan.dilationW;
        DLC_UNROLL for (int r = 0; r < rows; ++r) {
          Vec values[vectors];
          const float *row = from + r * rowStep + shift;
          DLC_UNROLL for (int v = 0; v < vectors; ++v) {
            auto pixels = [&](int half) __attribute__((always_inline)) {
              const float *first = row + v * width + half * kLanes;
              return masked && (v == 0 || v + 1 == vectors)
                         ? maskedLoad(first, masks[j][v > 0][half])
                         : load(first);
            };
            if constexpr (stride == 1)
              values[v] = pixels(0);
            else
              values[v] = evenOf(pixels(0), pixels(1));
          }
          DLC_UNROLL for (int m = 0; m < outputs; ++m) {
            const float weight = taps[m * plan.channelStep];
            DLC_UNROLL for (int v = 0; v < vectors; ++v) sums[m * rows + r][v] =
                plusProduct(sums[m * rows + r][v], weight, values[v]);
          }
        }
        taps += plan.tapStep;
      }
    }
  const int64_t size = plan.outH * plan.outW;
  const int64_t count = plan.outW - column;
  DLC_UNROLL for (int m = 0; m < outputs; ++m) {
    DLC_UNROLL for (int r = 0; r < rows; ++r) {
      const int64_t first = m * size + (at.row + r) * plan.outW + column;
      DLC_UNROLL for (int v = 0; v < vectors; ++v) {
        Vec sum = sums[m * rows + r][v];
        const int64_t place = first + v * kLanes;
        if (few.residual)
          sum += loadFirst(few.residual + place, count - v * kLanes);
        if (isClamp(plan.epilogue))
          sum = minOf(maxOf(sum, splat(clampLow(plan.epilogue))),
                      splat(clampHigh(plan.epilogue)));
        storeFirst(few.y + place, sum, count - v * kLanes);
      }
    }
  }
}

/// Rows of one output channel at once: enough sums that none waits for the one
/// before.
constexpr int fewRowsOf(int outputs, int vectors) {
  if (outputs > 1 || vectors > 4)
    return 1;
  return vectors == 1 ? 8 : vectors == 2 ? 4 : 2;
}

using SumBlock = void (*)(const FewChannels &few, const FewRows &at,
                          int64_t column);

/// Those of so many output channels, by vectors: of one row, and of several.
template <int stride, int outputs, bool masked> struct SumBlocks {
  SumBlock one[kMostFewVectors + 1] = {}, several[kMostFewVectors + 1] = {};
  constexpr SumBlocks() { fill<1>(); }
  template <int vectors> constexpr void fill() {
    if constexpr (vectors <= kFewVectors[outputs]) {
      one[vectors] = sumBlock<stride, outputs, 1, vectors, masked>;
      several[vectors] = sumBlock<stride, outputs, fewRowsOf(outputs, vectors),
                                  vectors, masked>;
      fill<vectors + 1>();
    }
  }
};

template <int stride, bool masked>
SumBlock sumBlockOf(int64_t outputs, int64_t vectors, bool isOneRow) {
  static constexpr SumBlocks<stride, 1, masked> one;
  static constexpr SumBlocks<stride, 2, masked> two;
  static constexpr SumBlocks<stride, 3, masked> three;
  static constexpr SumBlocks<stride, 4, masked> four;
  auto choose = [&](const auto &blocks) {
    return isOneRow ? blocks.one[vectors] : blocks.several[vectors];
  };
  return outputs == 1   ? choose(one)
         : outputs == 2 ? choose(two)
         : outputs == 3 ? choose(three)
                        : choose(four);
}

/// Rows [firstRow, lastRow) of `vectors` vectors.
template <int stride>
void sumRows(const FewChannels &few, int64_t outputs, int64_t vector,
             int64_t vectors, bool isInside, int64_t firstRow,
             int64_t lastRow) {
  const FewChannelPlan &plan = few.plan;
  const int64_t atOnce = fewRowsOf(outputs, vectors);
  // Of rows of the kernel those inside of the image.
  auto rowsOf = [&](int64_t row) {
    const int64_t top = row * plan.strideH - plan.padTop;
    auto before = [&](int64_t bound) {
      const int64_t distance = bound - top;
      return distance <= 0
                 ? 0
                 : least((distance + plan.dilationH - 1) / plan.dilationH,
                         plan.kernelH);
    };
    return FewRows{row, before(0), before(plan.inH)};
  };
  for (int64_t row = firstRow; row < lastRow;) {
    const FewRows at = rowsOf(row), last = rowsOf(row + atOnce - 1);
    const bool isOneRow = atOnce == 1 || row + atOnce > lastRow ||
                          at.tapBegin != last.tapBegin ||
                          at.tapEnd != last.tapEnd;
    (isInside ? sumBlockOf<stride, false>(outputs, vectors, isOneRow)
              : sumBlockOf<stride, true>(outputs, vectors, isOneRow))(
        few, at, vector * kLanes);
    row += isOneRow ? 1 : atOnce;
  }
}

/// Rows of vectors [begin, end).
template <int stride>
void sumColumns(const FewChannels &few, int64_t outputs, int64_t begin,
                int64_t end, int64_t firstRow, int64_t lastRow) {
  const FewChannelPlan &plan = few.plan;
  // Vectors that are inside with all their taps: [first, last).
  constexpr int64_t width = kLanes * stride;
  const int64_t first = (plan.padLeft + width - 1) / width;
  const int64_t reach = (plan.kernelW - 1) * plan.dilationW - plan.padLeft;
  const int64_t room = least((plan.inW - reach) / stride, plan.outW);
  const int64_t last = room > 0 ? room / kLanes : 0;
  for (int64_t vector = begin, count; vector < end; vector += count) {
    // Evenly, and no vector but those at the ends of a block is outside.
    const int64_t most = kFewVectors[outputs];
    const int64_t blocks = (end - vector + most - 1) / most;
    count = (end - vector + blocks - 1) / blocks;
    if (vector + 1 < first)
      count = 1;
    else if (vector + count > last + 1)
      count = last > vector ? last + 1 - vector : 1;
    const bool isInside = vector >= first && vector + count <= last;
    sumRows<stride>(few, outputs, vector, count, isInside, firstRow, lastRow);
  }
}

void runFewChannels(const FewChannelPlan &plan, void *const *arguments,
                    int64_t begin, int64_t end) {
  const auto *x = static_cast<const float *>(arguments[0]);
  const auto *w = static_cast<const float *>(arguments[1]);
  const auto *bias = static_cast<const float *>(arguments[2]);
  const auto *residual = static_cast<const float *>(arguments[3]);
  auto *y = static_cast<float *>(arguments[4]);
  const int64_t outSize = plan.outH * plan.outW;
  const int64_t vectors = (plan.outW + kLanes - 1) / kLanes;
  const int64_t columnBlocks =
      (vectors + plan.columnBlock - 1) / plan.columnBlock;
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t columnIndex = tile % columnBlocks;
    int64_t rest = tile / columnBlocks;
    const int64_t rowIndex = rest % plan.rowBlocks;
    rest /= plan.rowBlocks; // Image and group.
    const int64_t group = rest % plan.group;
    const int64_t firstVector = columnIndex * plan.columnBlock;
    const int64_t lastVector = least(firstVector + plan.columnBlock, vectors);
    const int64_t firstRow = rowIndex * plan.rowBlock;
    const int64_t lastRow = least(firstRow + plan.rowBlock, plan.outH);
    for (int64_t m = 0; m < plan.outChannels; m += kFewOutputs) {
      const int64_t channel = group * plan.outChannels + m;
      const int64_t offset = (rest * plan.outChannels + m) * outSize;
      const int64_t outputs = least<int64_t>(plan.outChannels - m, kFewOutputs);
      const FewChannels few = {plan,
                               x + rest * plan.inChannels * plan.inH * plan.inW,
                               w + group * plan.groupStep + m * plan.k,
                               bias ? bias + channel : nullptr,
                               residual ? residual + offset : nullptr,
                               y + offset};
      (plan.strideW == 1 ? sumColumns<1>
                         : sumColumns<2>)(few, outputs, firstVector, lastVector,
                                          firstRow, lastRow);
      const int64_t firstColumn = firstVector * kLanes;
      const int64_t columns =
          least(lastVector * kLanes, plan.outW) - firstColumn;
      for (int64_t each = 0; each < outputs; ++each)
        activateRest(few.y + each * outSize + firstRow * plan.outW +
                         firstColumn,
                     plan.outW, lastRow - firstRow, columns, plan.epilogue);
    }
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_FEWCHANNELTILES_H
