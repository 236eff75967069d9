// SPDX-License-Identifier: Apache-2.0
//
// F(2x2, 3x3) on blocked tensors, of which transformed inputs and weights are
// rounded to bfloat16 (Lavin and Gray, Fast Algorithms for Convolutional Neural
// Networks, 2016). Its transforms add and subtract, nothing else, so rounding
// is not magnified as in F(4x4, 3x3), whose points are fractions. See Vector.h
// for who may include it.
//
// Inputs of a block of tiles are transformed to [16][C/32][tiles][32], rows of
// lines as products of rounded floats read them; weights are transformed and
// packed as pairs, [OC/64][16][C/2][64].

#ifndef DLC_RUNTIME_KERNEL_CPU_ROUNDEDWINOGRADTILES_H
#define DLC_RUNTIME_KERNEL_CPU_ROUNDEDWINOGRADTILES_H

#include "Activations.h"
#include "PairRows.h"

namespace dlc::rt::cpu {
namespace {

constexpr int kSquarePoints = 16;
/// Sums of a point of a group of panels, with a gap.
constexpr int64_t kSquareSums = kMostSquares * kPackedColumns + kWinogradGap;

/// A tile of 2x2 outputs.
struct Square {
  int64_t image, row, column; ///< Of its first output.
};

/// The tiles of block `index` of a plan: divisions for each channel would take
/// as long as their transforms.
struct SquareBlock {
  SquareBlock(const RoundedWinogradPlan &plan, int64_t index) {
    const int64_t begin = plan.tiles * index / plan.blocks;
    count = plan.tiles * (index + 1) / plan.blocks - begin;
    const int64_t row = begin / plan.tilesW;
    Square next = {row / plan.tilesH, row % plan.tilesH * 2,
                   begin % plan.tilesW * 2};
    for (int64_t i = 0; i < count; ++i) {
      at[i] = next;
      next.column += 2;
      if (next.column < plan.outW)
        continue;
      next.column = 0;
      next.row += 2;
      if (next.row < plan.outH)
        continue;
      next.row = 0;
      ++next.image;
    }
  }

  int64_t count;
  Square at[kMostSquares];
};

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// B^T d of a row or a column.
[[gnu::always_inline]] inline void transformFour(Vec (&d)[4]) {
  const Vec first = d[0] - d[2], last = d[1] - d[3];
  const Vec sum = d[1] + d[2], difference = d[2] - d[1];
  d[0] = first;
  d[1] = sum;
  d[2] = difference;
  d[3] = last;
}

/// The numbers of a tile of the elements that pixelOf(row, column) gives, to
/// `target`, rounded.
template <typename Element, typename Function>
[[gnu::always_inline]] inline void
transformSquare(Function &&pixelOf, Element *target, int64_t pointStride) {
  Vec d[4][4]; // By columns.
  DLC_UNROLL for (int j = 0; j < 4; ++j) {
    DLC_UNROLL for (int i = 0; i < 4; ++i) d[j][i] = pixelOf(i, j);
    transformFour(d[j]);
  }
  DLC_UNROLL for (int i = 0; i < 4; ++i) {
    Vec row[4] = {d[0][i], d[1][i], d[2][i], d[3][i]};
    transformFour(row);
    DLC_UNROLL for (int j = 0; j < 4; ++j)
        storeOperands(target + (i * 4 + j) * pointStride, row[j]);
  }
}

/// For one vector of channels of `x`, the plane.
template <typename Element, typename Source>
inline void transformSquareAt(const RoundedWinogradPlan &plan, const Square &at,
                              const Source *x, Element *target) {
  constexpr int64_t step = blockOf<Source>;
  const int64_t top = at.row - plan.padTop, left = at.column - plan.padLeft;
  const int64_t rowStride = plan.inW * step;
  const Source *origin = x + top * rowStride + left * step;
  if (top >= 0 && left >= 0 && top + 4 <= plan.inH && left + 4 <= plan.inW)
    return transformSquare(
        [&](int i, int j) __attribute__((always_inline)) {
          return loadElements(origin + i * rowStride + j * step, kLanes);
        },
        target, plan.pointStride);
  bool hasRow[4], hasColumn[4];
  DLC_UNROLL for (int i = 0; i < 4; ++i) {
    hasRow[i] = top + i >= 0 && top + i < plan.inH;
    hasColumn[i] = left + i >= 0 && left + i < plan.inW;
  }
  transformSquare(
      [&](int i, int j) __attribute__((always_inline)) {
        return loadElements((hasRow[i] & hasColumn[j])
                                ? origin + i * rowStride + j * step
                                : kNoTermsOf<Source>,
                            kLanes);
      },
      target, plan.pointStride);
}

/// Those of a block, to [16][C/32][tiles][32].
template <typename Element, typename Source>
inline void transformInputs(const RoundedWinogradPlan &plan,
                            const SquareBlock &block, const Source *x,
                            Element *transformed) {
  constexpr int64_t width = blockOf<Source>;
  const int64_t planeSize = plan.inH * plan.inW;
  for (int64_t first = 0; first < plan.inChannels; first += kLineTerms) {
    Element *target = transformed + first * plan.blockTiles;
    for (int64_t t = 0; t < block.count; ++t, target += kLineTerms) {
      const Square &at = block.at[t];
      const Source *line = x + (at.image * plan.inChannels + first) * planeSize;
      for (int64_t lane = 0; lane < kLineTerms; lane += kLanes)
        transformSquareAt(
            plan, at, line + lane / width * width * planeSize + lane % width,
            target + lane);
    }
  }
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// What becomes of the sums of some tiles, of channels [channel, channel +
/// channels) of a group of panels.
template <typename Source, typename Residual, typename Result>
class SquareOutputs {
public:
  SquareOutputs(const RoundedWinogradPlan &plan, void *const *arguments,
                int64_t channel, int64_t channels)
      : plan(plan), x(static_cast<const Source *>(arguments[0])),
        w(static_cast<const uint32_t *>(arguments[6]) +
          channel * plan.inChannels / 2 * 9),
        bias(static_cast<const float *>(arguments[2])),
        residual(static_cast<const Residual *>(arguments[3])),
        y(static_cast<Result *>(arguments[4])), channel(channel),
        channels(channels) {}

  void run(const SquareBlock &block, const float *sums) const {
    for (int64_t t = 0; t < block.count; ++t, sums += kPackedColumns) {
      const Square &at = block.at[t];
      for (int64_t column = 0; column < channels; column += kLanes) {
        Vec out[2][2];
        transformBack(sums + column, out);
        if (!areFinite(out)) [[unlikely]]
          computeDirectly(at, column, out);
        write(at, channel + column, out);
      }
    }
  }

private:
  /// A^T m A.
  [[gnu::always_inline]] static void transformBack(const float *sums,
                                                   Vec (&out)[2][2]) {
    Vec half[2][4];
    DLC_UNROLL for (int j = 0; j < 4; ++j) {
      Vec m[4];
      DLC_UNROLL for (int i = 0; i < 4; ++i) m[i] =
          load(sums + (i * 4 + j) * kSquareSums);
      half[0][j] = m[0] + m[1] + m[2];
      half[1][j] = m[1] - m[2] - m[3];
    }
    DLC_UNROLL for (int i = 0; i < 2; ++i) {
      out[i][0] = half[i][0] + half[i][1] + half[i][2];
      out[i][1] = half[i][1] - half[i][2] - half[i][3];
    }
  }
  [[gnu::always_inline]] static bool areFinite(const Vec (&out)[2][2]) {
    // NaN when something is not finite, or so large that it may soon not be.
    const Vec zero = ((out[0][0] + out[0][1]) + (out[1][0] + out[1][1])) * 0.0f;
    const IntVec isZero = zero == Vec{};
    bool isFinite = true;
    DLC_UNROLL for (int lane = 0; lane < kLanes; ++lane) isFinite &=
        isZero[lane] != 0;
    return isFinite;
  }
  void computeDirectly(const Square &at, int64_t column,
                       Vec (&out)[2][2]) const;
  [[gnu::always_inline]] void write(const Square &at, int64_t outChannel,
                                    Vec (&out)[2][2]) const;

  /// The first channel of 32, of a pixel.
  const Source *termsAt(int64_t image, int64_t line, int64_t pixel) const {
    constexpr int64_t block = blockOf<Source>;
    return x +
           (image * plan.inChannels + line * kLineTerms) * plan.inH * plan.inW +
           pixel * block;
  }

  const RoundedWinogradPlan &plan;
  const Source *const x;
  const uint32_t *const w; ///< Of the group, [C/32][9][16][channels].
  const float *const bias; ///< Null when absent, as the next one.
  const Residual *const residual;
  Result *const y;
  const int64_t channel, channels;
};

/// By the definition.
template <typename Source, typename Residual, typename Result>
void SquareOutputs<Source, Residual, Result>::computeDirectly(
    const Square &at, int64_t column, Vec (&out)[2][2]) const {
  const int64_t half = plan.inH * plan.inW * kChannelBlock;
  for (int output = 0; output < 4; ++output) {
    const int64_t top = at.row + output / 2 - plan.padTop;
    const int64_t left = at.column + output % 2 - plan.padLeft;
    Vec sum = {};
    const uint32_t *pairs = w + column;
    for (int64_t line = 0; line < plan.inChannels / kLineTerms; ++line)
      for (int64_t tap = 0; tap < 9;
           ++tap, pairs += kLineTerms / 2 * channels) {
        const int64_t row = top + tap / 3, inColumn = left + tap % 3;
        if (row < 0 || row >= plan.inH || inColumn < 0 || inColumn >= plan.inW)
          continue;
        const Source *from = termsAt(at.image, line, row * plan.inW + inColumn);
        float terms[kLineTerms];
        roundTerms(from, kChannelBlock, terms);
        roundTerms(from +
                       (sizeof(Source) == sizeof(float) ? half : kChannelBlock),
                   kChannelBlock, terms + kChannelBlock);
        for (int64_t l = 0; l < kLineTerms / 2; ++l) {
          Words words;
          __builtin_memcpy(&words, pairs + l * channels, sizeof(words));
          sum += reinterpret_cast<Vec>(words << 16) * terms[2 * l];
          sum += reinterpret_cast<Vec>(words & 0xffff0000u) * terms[2 * l + 1];
        }
      }
    out[output / 2][output % 2] = sum;
  }
}

template <typename Source, typename Residual, typename Result>
void SquareOutputs<Source, Residual, Result>::write(const Square &at,
                                                    int64_t outChannel,
                                                    Vec (&out)[2][2]) const {
  const Epilogue &epilogue = plan.epilogue;
  const Vec start = bias ? load(bias + outChannel) : Vec{};
  auto offsetOf = [&](int64_t block, int i, int j) {
    const int64_t pixel =
        ((at.image * plan.outChannels + outChannel / block * block) *
             plan.outH +
         (at.row + i) * block) *
            plan.outW +
        (at.column + j) * block;
    return pixel + outChannel % block;
  };
  const bool isWhole = isClamp(epilogue);
  const Vec low = splat(clampLow(epilogue)), high = splat(clampHigh(epilogue));
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      if (at.row + i >= plan.outH || at.column + j >= plan.outW)
        continue;
      Vec value = out[i][j] + start;
      if (residual)
        value +=
            loadElements(residual + offsetOf(blockOf<Residual>, i, j), kLanes);
      if (isWhole) {
        value = minOf(maxOf(value, low), high);
      } else if (epilogue.activation != Activation::None) {
        float values[kLanes];
        store(values, value);
        activateRest(values, kLanes, 1, kLanes, epilogue);
        value = load(values);
      }
      storeElements(y + offsetOf(blockOf<Result>, i, j), value, kLanes);
    }
}

/// Calls function(outputs) with the SquareOutputs of what a plan's tensors
/// hold.
template <typename Function>
inline void withOutputs(const RoundedWinogradPlan &plan, void *const *arguments,
                        int64_t channel, int64_t channels,
                        Function &&function) {
  auto ofSource = [&]<typename Source>(const Source *) {
    if (plan.isShortY)
      function(SquareOutputs<Source, uint16_t, uint16_t>(plan, arguments,
                                                         channel, channels));
    else if (plan.isShortResidual)
      function(SquareOutputs<Source, uint16_t, float>(plan, arguments, channel,
                                                      channels));
    else
      function(SquareOutputs<Source, float, float>(plan, arguments, channel,
                                                   channels));
  };
  if (plan.isShortX)
    ofSource(static_cast<const uint16_t *>(nullptr));
  else
    ofSource(static_cast<const float *>(nullptr));
}

/// The sums of all points of a block of tiles for a group of panels, and what
/// becomes of them.
template <typename Element, typename Multiply>
inline void computeSquares(const RoundedWinogradPlan &plan,
                           void *const *arguments, const SquareBlock &block,
                           int64_t channel, const Element *transformed,
                           float *sums, Multiply &&multiply) {
  const int64_t pairs = plan.inChannels / 2;
  const int64_t channels = least(kPackedColumns, plan.outChannels - channel);
  const auto *w = static_cast<const uint32_t *>(arguments[1]);
  const uint32_t *point = w + kSquarePoints * pairs * channel;
  const uint32_t *end = w + kSquarePoints * pairs * plan.outChannels;
  for (int i = 0; i < kSquarePoints; ++i) {
    const uint32_t *next = point + pairs * channels;
    multiply(block.count, transformed + i * plan.pointStride, point, channels,
             sums + i * kSquareSums,
             plan.hasLargeWeights && next < end ? next : nullptr);
    point = next;
  }
  withOutputs(plan, arguments, channel, channels,
              [&](const auto &outputs) { outputs.run(block, sums); });
}

/// Tiles [begin, end) of the grid. multiply(tiles, lines, pairs, columns, sums,
/// next) computes the product of a point; `next` are weights to fetch for the
/// one behind it, or null.
template <typename Element, typename Multiply>
inline void forSquares(const RoundedWinogradPlan &plan, void *const *arguments,
                       int64_t begin, int64_t end, Multiply &&multiply) {
  alignas(64) float sums[kSquarePoints * kSquareSums];
  // No other range begins there.
  Element *transformed = static_cast<Element *>(arguments[5]) +
                         begin * kSquarePoints * plan.pointStride;
  const int64_t groups =
      (plan.outChannels + kPackedColumns - 1) / kPackedColumns;
  const int64_t parts = plan.blocks * plan.groupParts;
  const int64_t last = parts * end / plan.gridTiles;
  for (int64_t part = parts * begin / plan.gridTiles; part < last;) {
    const int64_t index = part / plan.groupParts;
    const int64_t own = least(last, (index + 1) * plan.groupParts) - part;
    const SquareBlock block(plan, index);
    if (plan.isShortX)
      transformInputs(plan, block, static_cast<const uint16_t *>(arguments[0]),
                      transformed);
    else
      transformInputs(plan, block, static_cast<const float *>(arguments[0]),
                      transformed);
    const int64_t first = part % plan.groupParts;
    for (int64_t group = groups * first / plan.groupParts;
         group < groups * (first + own) / plan.groupParts; ++group)
      computeSquares(plan, arguments, block, group * kPackedColumns,
                     transformed, sums, multiply);
    part += own;
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_ROUNDEDWINOGRADTILES_H
