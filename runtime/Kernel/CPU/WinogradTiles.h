// SPDX-License-Identifier: Apache-2.0
//
// cpu.conv as F(4x4, 3x3): Lavin and Gray, Fast Algorithms for Convolutional
// Neural Networks (2016), with the points 0, p, -p, q, -q and infinity, p = 5/8
// and q = 3/2: they are among the eighths that lose least, where the error of 1
// and 2 is four to five times as large (tools/benchmarks/winograd_points.py),
// and no factor of the inputs' is rounded. See Vector.h for who may include it.
//
// A tile is 4x4 outputs, which need 6x6 inputs. The first kernel transforms
// those of each input channel to 36 numbers; the second multiplies, for each of
// the 36, the weights [OC][C] by the block's tiles [C][tiles], and transforms
// sums back. Both work on vectors of tiles, the first after it has turned four
// columns of four tiles round, the second before it does.
//
// A value that is not finite would spread over its whole tile, and sums of the
// 36 overflow earlier than those of nine: sums that are not finite are computed
// again by the definition.

#ifndef DLC_RUNTIME_KERNEL_CPU_WINOGRADTILES_H
#define DLC_RUNTIME_KERNEL_CPU_WINOGRADTILES_H

#include "MicroKernel.h"

namespace dlc::rt::cpu {
namespace {

constexpr int kMostTiles = kWinogradVectors * kLanes;

/// Neighbouring tiles of a block in one row of tiles.
struct TileRun {
  int64_t image, row, column; ///< Of the first; counted in tiles.
  int first, count;           ///< Their places in the block.
};

/// A block: up to kWinogradVectors vectors of tiles, the last may be part full.
struct TileBlock {
  TileBlock(const WinogradPlan &plan, int64_t block);

  int64_t begin;   ///< In the chunk; a multiple of kLanes.
  int64_t vectors; ///< At least one.
  int width;       ///< Places: vectors * kLanes.
  int runCount = 0;
  TileRun runs[kMostTiles];
};

inline TileBlock::TileBlock(const WinogradPlan &plan, int64_t block) {
  const int64_t firstVector = plan.vectors * block / plan.blocks;
  vectors = plan.vectors * (block + 1) / plan.blocks - firstVector;
  begin = firstVector * kLanes;
  width = static_cast<int>(vectors * kLanes);
  const int valid = static_cast<int>(least<int64_t>(width, plan.tiles - begin));
  int64_t tile = plan.firstTile + begin;
  for (int place = 0; place < valid; ++runCount) {
    const int64_t column = tile % plan.tilesW, row = tile / plan.tilesW;
    const auto count =
        static_cast<int>(least<int64_t>(plan.tilesW - column, valid - place));
    runs[runCount] = {row / plan.tilesH, row % plan.tilesH, column, place,
                      count};
    place += count;
    tile += count;
  }
}

constexpr float kP = kWinogradP, kQ = kWinogradQ;
constexpr float kPP = kP * kP, kQQ = kQ * kQ;

/// Numbers 0 and 5 of B^T d, of the elements d(0) to d(5).
template <typename Function>
[[gnu::always_inline]] inline void outerInputs(Function &&d, Vec &first,
                                               Vec &last) {
  first = kPP * kQQ * d(0) - (kPP + kQQ) * d(2) + d(4);
  last = kPP * kQQ * d(1) - (kPP + kQQ) * d(3) + d(5);
}

/// Those of a point and its negative, where `other` is the square of the other
/// point.
template <typename Function>
[[gnu::always_inline]] inline void
innerInputs(Function &&d, float point, float other, Vec &first, Vec &last) {
  const Vec even = d(4) - other * d(2), odd = d(3) - other * d(1);
  first = plusProduct(even, point, odd);
  last = minusProduct(even, point, odd);
}

/// B^T d: six numbers of a row or a column to six.
[[gnu::always_inline]] inline void transformInputs(Vec (&d)[6]) {
  auto at = [&](int i) __attribute__((always_inline)) { return d[i]; };
  Vec t[6];
  outerInputs(at, t[0], t[5]);
  innerInputs(at, kP, kQQ, t[1], t[2]);
  innerInputs(at, kQ, kPP, t[3], t[4]);
  DLC_UNROLL for (int i = 0; i < 6; ++i) d[i] = t[i];
}

/// What the rows of G are multiplied by. Of blocked tensors that is left to
/// where sums come back: so transforms of weights take six operations.
constexpr auto kByBoth = static_cast<float>(1 / (double{kPP} * kQQ));
constexpr auto kByP = static_cast<float>(1 / (2 * double{kPP} * (kPP - kQQ)));
constexpr auto kByQ = static_cast<float>(1 / (2 * double{kQQ} * (kQQ - kPP)));

/// A^T m: six sums to four outputs of three taps, or three of four, of weights
/// with those factors or without.
template <bool hasFactors, int outputs = 4>
[[gnu::always_inline]] inline void transformBack(const Vec (&m)[6],
                                                 Vec (&y)[4]) {
  const Vec sumP = m[1] + m[2], differenceP = m[1] - m[2];
  const Vec sumQ = m[3] + m[4], differenceQ = m[3] - m[4];
  constexpr float p = hasFactors ? 1 : kByP, q = hasFactors ? 1 : kByQ;
  y[0] = (hasFactors ? 1 : kByBoth) * m[0] + p * sumP + q * sumQ;
  y[1] = kP * p * differenceP + kQ * q * differenceQ;
  y[2] = kPP * p * sumP + kQQ * q * sumQ;
  if constexpr (outputs == 4)
    y[3] = kP * kPP * p * differenceP + kQ * kQQ * q * differenceQ;
  y[outputs - 1] += m[5];
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// Transforms a block of tiles, channel by channel. Rows of images are
/// transformed along columns first, as vectors of neighbours: a run of n tiles
/// needs 4n + 2 of them.
class InputTransform {
public:
  InputTransform(const WinogradPlan &plan, const TileBlock &block);
  /// Of one channel: its plane of image 0, and its row of the first of the 36.
  void run(const float *x, float *target, int64_t targetStride);

private:
  /// Room for runs of one tile each, which take two quads, for what the last
  /// vector writes behind its run, and for two quads of zeros.
  static constexpr int kRowFloats = 8 * kMostTiles + kLanes + 8;
  static constexpr int kZeros = kRowFloats - 8;
  /// A vector of columns of one run.
  struct Piece {
    int64_t source; ///< Of row 0 and lane 0 in a channel; may lie outside.
    int target;
    int rowBegin, rowEnd; ///< Rows in the image.
    bool isInside;        ///< All lanes are.
    LaneMask mask;
  };

  void transformColumns(const float *x);
  [[gnu::always_inline]] Vec quadsOf(const float *row, int tile, int shift);

  const WinogradPlan &plan;
  const int64_t vectors;
  int pieceCount = 0;
  Piece pieces[2 * kMostTiles];
  int quadAt[kMostTiles]; ///< Where in a row a tile's first four columns are.
  alignas(64) float rows[6][kRowFloats];
};

inline InputTransform::InputTransform(const WinogradPlan &plan,
                                      const TileBlock &block)
    : plan(plan), vectors(block.vectors) {
  for (int &at : quadAt)
    at = kZeros;
  for (auto &row : rows)
    for (int i = kZeros; i < kRowFloats; ++i)
      row[i] = 0;
  const int64_t imageSize = plan.inChannels * plan.inH * plan.inW;
  for (int r = 0; r < block.runCount; ++r) {
    const TileRun &run = block.runs[r];
    const int start = 4 * (run.first + r);
    for (int i = 0; i < run.count; ++i)
      quadAt[run.first + i] = start + 4 * i;
    const int64_t y = 4 * run.row - plan.padTop;
    const int64_t x = 4 * run.column - plan.padLeft;
    for (int column = 0; column < 4 * run.count + 2; column += kLanes) {
      Piece &piece = pieces[pieceCount++];
      const int64_t left = x + column;
      piece.source = run.image * imageSize + y * plan.inW + left;
      piece.target = start + column;
      piece.rowBegin =
          static_cast<int>(least<int64_t>(most<int64_t>(-y, 0), 6));
      piece.rowEnd = static_cast<int>(
          most<int64_t>(least<int64_t>(plan.inH - y, 6), piece.rowBegin));
      piece.isInside = left >= 0 && left + kLanes <= plan.inW;
      piece.mask = lanes(-left, plan.inW - left);
    }
  }
}

inline void InputTransform::transformColumns(const float *x) {
  for (int p = 0; p < pieceCount; ++p) {
    const Piece &piece = pieces[p];
    Vec d[6];
    const float *source = x + piece.source;
    if (piece.isInside && piece.rowBegin == 0 && piece.rowEnd == 6) {
      DLC_UNROLL for (int i = 0; i < 6; ++i) d[i] = load(source + i * plan.inW);
    } else {
      for (int i = 0; i < 6; ++i)
        d[i] = i >= piece.rowBegin && i < piece.rowEnd
                   ? maskedLoad(source + i * plan.inW, piece.mask)
                   : Vec{};
    }
    transformInputs(d);
    DLC_UNROLL for (int i = 0; i < 6; ++i) store(rows[i] + piece.target, d[i]);
  }
}

/// Columns `shift` to `shift` + 3 of tiles `tile`, tile + 4, ...
inline Vec InputTransform::quadsOf(const float *row, int tile, int shift) {
  return joinQuads([&](int q) __attribute__((always_inline)) {
    return row + quadAt[tile + 4 * q] + shift;
  });
}

inline void InputTransform::run(const float *x, float *target,
                                int64_t targetStride) {
  transformColumns(x);
  for (int v = 0; v < vectors; ++v) {
    for (int i = 0; i < 6; ++i) {
      Vec left[4], right[4], d[6];
      DLC_UNROLL for (int j = 0; j < 4; ++j) {
        left[j] = quadsOf(rows[i], v * kLanes + j, 0);
        right[j] = quadsOf(rows[i], v * kLanes + j, 4);
      }
      turnQuads(left);
      turnQuads(right);
      DLC_UNROLL for (int j = 0; j < 4; ++j) d[j] = left[j];
      d[4] = right[0];
      d[5] = right[1];
      transformInputs(d);
      DLC_UNROLL for (int j = 0; j < 6; ++j)
          store(target + (i * 6 + j) * targetStride + v * kLanes, d[j]);
    }
  }
}

/// Where block `block` of transformed inputs lies: [36][C][width].
inline float *inputsOf(const WinogradPlan &plan, float *transformed,
                       const TileBlock &block) {
  return transformed + block.begin * 36 * plan.inChannels;
}

/// Tiles of the grid: block, channel block, the last fastest.
void runWinogradInput(const WinogradPlan &plan, void *const *arguments,
                      int64_t begin, int64_t end) {
  const auto *x = static_cast<const float *>(arguments[0]);
  auto *transformed = static_cast<float *>(arguments[5]);
  const int64_t channelBlocks =
      (plan.inChannels + plan.inBlock - 1) / plan.inBlock;
  for (int64_t tile = begin, next; tile < end; tile = next) {
    const int64_t first = tile % channelBlocks;
    next = least(tile + channelBlocks - first, end);
    const TileBlock block(plan, tile / channelBlocks);
    InputTransform transform(plan, block);
    float *target = inputsOf(plan, transformed, block);
    const int64_t last =
        least((first + next - tile) * plan.inBlock, plan.inChannels);
    for (int64_t c = first * plan.inBlock; c < last; ++c)
      transform.run(x + c * plan.inH * plan.inW, target + c * block.width,
                    plan.inChannels * block.width);
  }
}

//===----------------------------------------------------------------------===//
// Products and outputs
//===----------------------------------------------------------------------===//

/// Output channels [channelBegin, channelEnd) of a block.
struct WinogradTile {
  const WinogradPlan &plan;
  const TileBlock &block;
  const float *transformed; ///< Of the block.
  const float *x, *w;
  const float *direct;          ///< w before it was transformed.
  const float *bias, *residual; ///< Null when absent.
  float *y;
  int64_t channelBegin, channelEnd;
  float *sums; ///< [36][channels][width].

  void run() const;

private:
  void multiply() const;
  bool transformOutputs(int64_t channel, float (*rows)[4 * kMostTiles]) const;
  void computeDirectly(int64_t channel, float (*rows)[4 * kMostTiles]) const;
  void write(int64_t channel, const float (*rows)[4 * kMostTiles]) const;
};

inline void WinogradTile::multiply() const {
  const int64_t channels = plan.inChannels;
  const int64_t count = channelEnd - channelBegin;
  const MicroKernel kernel =
      microKernelOf<AForm::Columns, false>(kPanelRows, block.vectors);
  TileArguments t = {};
  t.aStride = kPanelRows;
  t.aAhead = kPanelRows * channels;
  t.bStride = block.width;
  t.cStride = block.width;
  for (int64_t point = 0; point < 36; ++point) {
    for (int64_t k = 0; k < channels; k += plan.kBlock) {
      t.k = least(plan.kBlock, channels - k);
      t.b = transformed + (point * channels + k) * block.width;
      t.accumulate = k > 0;
      for (int64_t i = 0; i < count; i += kPanelRows) {
        const int64_t channel = channelBegin + i;
        const int64_t group = channel / kWinogradRows;
        t.a = w +
              ((group * 36 + point) * kWinogradRows + channel % kWinogradRows) *
                  channels +
              k * kPanelRows;
        t.c = sums + (point * count + i) * block.width;
        kernel(t);
      }
    }
  }
}

/// Fills four rows of outputs, tile after tile. False if one is not finite.
inline bool
WinogradTile::transformOutputs(int64_t channel,
                               float (*rows)[4 * kMostTiles]) const {
  const int64_t stride = (channelEnd - channelBegin) * block.width;
  const float *source = sums + (channel - channelBegin) * block.width;
  Vec zero = {}; // NaN when something is not finite.
  for (int v = 0; v < block.vectors; ++v) {
    Vec half[6][4];
    DLC_UNROLL for (int j = 0; j < 6; ++j) {
      Vec m[6];
      DLC_UNROLL for (int i = 0; i < 6; ++i) m[i] =
          load(source + (i * 6 + j) * stride + v * kLanes);
      transformBack<true>(m, half[j]);
    }
    DLC_UNROLL for (int r = 0; r < 4; ++r) {
      const Vec m[6] = {half[0][r], half[1][r], half[2][r],
                        half[3][r], half[4][r], half[5][r]};
      Vec out[4];
      transformBack<true>(m, out);
      DLC_UNROLL for (int j = 0; j < 4; ++j) zero += out[j] * 0.0f;
      turnQuads(out);
      DLC_UNROLL for (int j = 0; j < 4; ++j)
          storeQuads(rows[r] + 4 * (v * kLanes + j), 16, out[j]);
    }
  }
  bool isFinite = true;
  for (int lane = 0; lane < kLanes; ++lane)
    isFinite &= zero[lane] == 0.0f;
  return isFinite;
}

/// The same by the definition.
inline void WinogradTile::computeDirectly(int64_t channel,
                                          float (*rows)[4 * kMostTiles]) const {
  const int64_t plane = plan.inH * plan.inW;
  const float *weights = direct + channel * plan.inChannels * 9;
  for (int r = 0; r < block.runCount; ++r) {
    const TileRun &run = block.runs[r];
    for (int64_t at = 0; at < int64_t{16} * run.count; ++at) {
      const int64_t row = at % 4, column = at / 4;
      const int64_t top = 4 * run.row + row - plan.padTop;
      const int64_t left = 4 * run.column + column - plan.padLeft;
      const float *image = x + run.image * plan.inChannels * plane;
      float sum = 0;
      for (int64_t c = 0; c < plan.inChannels; ++c)
        for (int64_t tap = 0; tap < 9; ++tap) {
          const int64_t inY = top + tap / 3, inX = left + tap % 3;
          if (inY >= 0 && inY < plan.inH && inX >= 0 && inX < plan.inW)
            sum +=
                image[c * plane + inY * plan.inW + inX] * weights[c * 9 + tap];
        }
      rows[row][4 * run.first + column] = sum;
    }
  }
}

inline void WinogradTile::write(int64_t channel,
                                const float (*rows)[4 * kMostTiles]) const {
  const bool clamp = isClamp(plan.epilogue);
  const Vec low = splat(clampLow(plan.epilogue));
  const Vec high = splat(clampHigh(plan.epilogue));
  const Vec start = splat(bias ? bias[channel] : 0.0f);
  for (int r = 0; r < block.runCount; ++r) {
    const TileRun &run = block.runs[r];
    const int64_t columns =
        least<int64_t>(4 * run.count, plan.outW - 4 * run.column);
    for (int64_t row = 0; row < 4 && 4 * run.row + row < plan.outH; ++row) {
      const int64_t at = ((run.image * plan.outChannels + channel) * plan.outH +
                          4 * run.row + row) *
                             plan.outW +
                         4 * run.column;
      const float *source = rows[row] + 4 * run.first;
      for (int64_t j = 0; j < columns; j += kLanes) {
        const int64_t count = columns - j;
        Vec value = loadFirst(source + j, count) + start;
        if (residual)
          value += loadFirst(residual + at + j, count);
        if (clamp)
          value = minOf(maxOf(value, low), high);
        storeFirst(y + at + j, value, count);
      }
      activateRest(y + at, plan.outW, 1, columns, plan.epilogue);
    }
  }
}

inline void WinogradTile::run() const {
  multiply();
  alignas(64) float rows[4][4 * kMostTiles];
  const int64_t end = least(channelEnd, plan.outChannels);
  for (int64_t channel = channelBegin; channel < end; ++channel) {
    if (!transformOutputs(channel, rows)) [[unlikely]]
      computeDirectly(channel, rows);
    write(channel, rows);
  }
}

/// Tiles of the grid: channel block, block, the last fastest, so that one part
/// of the weights meets all tiles; or, where weights are few, the other way
/// round, so that threads multiply what they have transformed.
void runWinogradProduct(const WinogradPlan &plan, void *const *arguments,
                        int64_t begin, int64_t end) {
  alignas(64) float sums[kScratchBytes / sizeof(float)];
  auto *transformed = static_cast<float *>(arguments[5]);
  const int64_t rows =
      (plan.outChannels + kWinogradRows - 1) / kWinogradRows * kWinogradRows;
  const int64_t parts = (plan.outChannels + plan.outBlock - 1) / plan.outBlock;
  for (int64_t tile = begin; tile < end; ++tile) {
    const TileBlock block(plan, plan.isBlockSlowest ? tile / parts
                                                    : tile % plan.blocks);
    const int64_t part =
        plan.isBlockSlowest ? tile % parts : tile / plan.blocks;
    const int64_t channel = part * plan.outBlock;
    WinogradTile{plan,
                 block,
                 inputsOf(plan, transformed, block),
                 static_cast<const float *>(arguments[0]),
                 static_cast<const float *>(arguments[1]),
                 static_cast<const float *>(arguments[6]),
                 static_cast<const float *>(arguments[2]),
                 static_cast<const float *>(arguments[3]),
                 static_cast<float *>(arguments[4]),
                 channel,
                 least(channel + plan.outBlock, rows),
                 sums}
        .run();
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_WINOGRADTILES_H
