// SPDX-License-Identifier: Apache-2.0
//
// cpu.integer_matmul and cpu.integer_conv over sums that something else adds
// up.
// See Vector.h for who may include it.

#ifndef DLC_RUNTIME_KERNEL_CPU_INTEGERTILES_H
#define DLC_RUNTIME_KERNEL_CPU_INTEGERTILES_H

#include "BatchOffset.h"
#include "IntegerKernel.h"

namespace dlc::rt::cpu {
namespace {

/// Rows of a are a multiple of that many in the copy, those of a tile.
constexpr int64_t kByteTileRows = 16;
/// From row to row of the copy, beside its terms: rows shall not all fall into
/// the same sets of a cache.
constexpr int64_t kByteRowGap = 64;

struct IntegerScratch {
  alignas(64) uint32_t sums[kMostByteRows * kPackedColumns];
  alignas(64) uint8_t rows[kByteRowsBytes];
  uint32_t rowSums[kMostByteRows];
};

/// Rows of a matrix, where they begin.
class MatrixBytes {
public:
  MatrixBytes(const IntegerPlan &plan, const uint8_t *a, int64_t row)
      : a(a + row * plan.product.lda), stride(plan.product.lda),
        flip(plan.isSignedA ? 0x80 : 0) {}

  /// Terms [begin, begin + count) of row `row`, as u8.
  void copy(int64_t row, int64_t begin, int64_t count, uint8_t *to) const {
    const uint8_t *from = a + row * stride + begin;
    for (int64_t l = 0; l < count; ++l)
      to[l] = from[l] ^ flip;
  }

private:
  const uint8_t *a;
  const int64_t stride;
  const uint8_t flip;
};

/// Pixels of an image, what is in their windows.
class WindowBytes {
public:
  WindowBytes(const IntegerConvPlan &plan, const uint8_t *image, int64_t pixel)
      : plan(plan), image(image), pixel(pixel) {}

  void copy(int64_t row, int64_t begin, int64_t count, uint8_t *to) const {
    const Windows &w = plan.windows;
    const int64_t y = (pixel + row) / w.outW, x = (pixel + row) % w.outW;
    const uint8_t *corner =
        image + (y * w.strideH * plan.width + x * w.strideW) * plan.channels;
    const int64_t rowRuns = w.kernelW * plan.channels / plan.run;
    int64_t index = begin / plan.run, skip = begin % plan.run;
    while (count > 0) {
      const int64_t length = least(plan.run - skip, count);
      const uint8_t *from = corner +
                            (index / rowRuns * w.dilationH * plan.width +
                             index % rowRuns * w.dilationW) *
                                plan.channels +
                            skip;
      __builtin_memcpy(to, from, length);
      to += length;
      count -= length;
      skip = 0;
      ++index;
    }
  }

private:
  const IntegerConvPlan &plan;
  const uint8_t *image;
  const int64_t pixel;
};

/// Copies terms of one block of `rows` rows, zero padded, and sums them up
/// where b has zero points.
template <typename Source>
inline void copyBytes(const IntegerPlan &plan, const Source &source,
                      int64_t rows, int64_t block, bool needsSums,
                      IntegerScratch &scratch) {
  const int64_t begin = block * plan.termBlock;
  const int64_t count = least(plan.termBlock, plan.product.k - begin);
  const int64_t stride = plan.termBlock + kByteRowGap;
  for (int64_t i = 0; i < rows; ++i) {
    uint8_t *to = scratch.rows + i * stride;
    source.copy(i, begin, count, to);
    __builtin_memset(to + count, 0, plan.termBlock - count);
    if (!needsSums)
      continue;
    uint32_t sum = 0;
    for (int64_t l = 0; l < count; ++l)
      sum += to[l];
    scratch.rowSums[i] = block == 0 ? sum : scratch.rowSums[i] + sum;
  }
  const int64_t tiles = (rows + kByteTileRows - 1) / kByteTileRows;
  __builtin_memset(scratch.rows + rows * stride, 0,
                   (tiles * kByteTileRows - rows) * stride);
}

/// The zero points of a tile, of what is multiplied.
class ZeroPoints {
public:
  ZeroPoints(const IntegerPlan &plan, const IntegerArguments &arguments)
      : plan(plan), of(arguments.bZero),
        a(valueOf(arguments.aZero, 0, plan.isSignedA) +
          (plan.isSignedA ? 128 : 0)) {
    const int64_t count = plan.hasZeroOfColumns ? plan.product.n : 1;
    for (int64_t j = 0; j < count; ++j)
      isSumNeeded |= ofColumn(j) != 0;
  }

  uint32_t ofA() const { return a; }
  uint32_t ofColumn(int64_t j) const {
    return valueOf(of, plan.hasZeroOfColumns ? j : 0, plan.isSignedB) -
           (plan.isSignedB ? 0 : 128);
  }
  /// Whether sums of rows are.
  bool needsSums() const { return isSumNeeded; }

private:
  static uint32_t valueOf(const void *zero, int64_t at, bool isSigned) {
    return isSigned ? static_cast<const int8_t *>(zero)[at]
                    : static_cast<const uint8_t *>(zero)[at];
  }

  const IntegerPlan &plan;
  const void *of;
  const uint32_t a;
  bool isSumNeeded = false;
};

/// What zero points add to sums of up to 64 columns of b, from `first` on:
/// `more`, and for each one of a row's sum of terms minus `zero`.
struct ColumnTerms {
  ColumnTerms(const IntegerPlan &plan, const ZeroPoints &zeros, const int8_t *b,
              int64_t first, int64_t columns) {
    const int8_t *columnSums = b + plan.terms * plan.columns;
    const auto terms = static_cast<uint32_t>(plan.product.k);
    for (int64_t j = 0; j < columns; ++j) {
      uint32_t sum;
      __builtin_memcpy(&sum, columnSums + (first + j) * 4, sizeof(sum));
      zero[j] = zeros.ofColumn(first + j);
      more[j] = zeros.ofA() * (terms * zero[j] - sum);
    }
    for (int64_t j = columns; j < kPackedColumns; ++j)
      zero[j] = more[j] = 0;
  }

  alignas(64) uint32_t more[kPackedColumns];
  alignas(64) uint32_t zero[kPackedColumns];
};

/// The sums of a tile of the grid, up to 64 columns of them.
struct TileResults {
  const IntegerScratch &scratch;
  const ColumnTerms columns;
  const bool needsSums; ///< Those of rows.
  const int64_t rows, count;

  /// Of row i, a vector of columns from j on; the last of them mean nothing.
  [[gnu::always_inline]] Words at(int64_t i, int64_t j) const {
    Words sum = loadWords(scratch.sums + i * kPackedColumns + j) +
                loadWords(columns.more + j);
    if (needsSums)
      sum -= loadWords(columns.zero + j) * scratch.rowSums[i];
    return sum;
  }
};

//===----------------------------------------------------------------------===//
// Requantization
//===----------------------------------------------------------------------===//

typedef uint8_t Line __attribute__((vector_size(16)));
typedef uint8_t UnalignedLine
    __attribute__((vector_size(16), aligned(1), may_alias));
constexpr int64_t kLine = 16;

/// Of up to 64 columns, from `first` on.
class Requantization {
public:
  Requantization(const IntegerPlan &plan, const IntegerArguments &arguments,
                 int64_t first, int64_t count)
      : zero(plan.isSignedC ? *static_cast<const int8_t *>(arguments.cZero)
                            : *static_cast<const uint8_t *>(arguments.cZero)),
        low(splat(static_cast<float>((plan.isSignedC ? -128 : 0) - zero))),
        high(splat(static_cast<float>((plan.isSignedC ? 127 : 255) - zero))) {
    for (int64_t j = 0; j < kPackedColumns; ++j) {
      const int64_t at = first + least(j, count - 1);
      multiplier[j] =
          arguments.multiplier[plan.hasMultiplierOfColumns ? at : 0];
      offset[j] = arguments.offset[plan.hasOffsetOfColumns ? at : 0];
    }
  }

  /// Sixteen columns of row i, from j on.
  [[gnu::always_inline]] Line bytesOf(const TileResults &sums, int64_t i,
                                      int64_t j) const {
    alignas(64) uint32_t words[kLine];
    DLC_UNROLL for (int64_t v = 0; v < kLine; v += kLanes)
        storeWords(words + v, roundedOf(sums.at(i, j + v), j + v));
    typedef uint32_t Sixteen __attribute__((vector_size(64), may_alias));
    return __builtin_convertvector(*reinterpret_cast<const Sixteen *>(words),
                                   Line);
  }

private:
  /// Of which the lower eight bits count.
  [[gnu::always_inline]] Words roundedOf(Words sums, int64_t j) const {
    Vec value = __builtin_convertvector(reinterpret_cast<IntVec>(sums), Vec);
    value = value * load(multiplier + j) + load(offset + j);
    // Limits are integers: rounded after them or before, it is the same.
    value = minOf(maxOf(value, low), high);
    value = value == value ? value : Vec{};
    // 1.5 * 2^23 + value has no fraction, and an integer in its lower bits.
    const Vec shifted = value + splat(12582912.0f);
    return reinterpret_cast<Words>(shifted) + static_cast<uint32_t>(zero);
  }

  const int zero;
  const Vec low, high;
  alignas(64) float multiplier[kPackedColumns];
  alignas(64) float offset[kPackedColumns];
};

/// Byte i of line j becomes byte j of line i.
inline void turnLines(Line (&lines)[kLine]) {
  // Each step interleaves lines i and i + 8: place i of four bits becomes that
  // of the bits one further left.
  DLC_UNROLL for (int step = 0; step < 4; ++step) {
    Line next[kLine];
    DLC_UNROLL for (int i = 0; i < kLine / 2; ++i) {
      next[2 * i] =
          __builtin_shufflevector(lines[i], lines[i + 8], 0, 16, 1, 17, 2, 18,
                                  3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      next[2 * i + 1] =
          __builtin_shufflevector(lines[i], lines[i + 8], 8, 24, 9, 25, 10, 26,
                                  11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
    __builtin_memcpy(lines, next, sizeof(next));
  }
}

inline void storeLine(uint8_t *target, Line line, int64_t count) {
  if (count >= kLine)
    *reinterpret_cast<UnalignedLine *>(target) = line;
  else
    __builtin_memcpy(target, &line, count);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Writes results as rows, `at` is where the first one is.
struct WriteRows {
  int64_t stride;

  int64_t placeOf(int64_t row, int64_t column) const {
    return row * stride + column;
  }
  void write(const TileResults &sums, uint32_t *c) const {
    for (int64_t i = 0; i < sums.rows; ++i)
      for (int64_t j = 0; j < sums.count; j += kLanes)
        storeFirst(reinterpret_cast<float *>(c + i * stride + j),
                   reinterpret_cast<Vec>(sums.at(i, j)), sums.count - j);
  }
  void write(const TileResults &sums, const Requantization &requantize,
             uint8_t *c) const {
    for (int64_t i = 0; i < sums.rows; ++i)
      for (int64_t j = 0; j < sums.count; j += kLine)
        storeLine(c + i * stride + j, requantize.bytesOf(sums, i, j),
                  sums.count - j);
  }
};

/// Writes results as columns, each of which follows the one before.
struct WriteColumns {
  int64_t stride;

  int64_t placeOf(int64_t row, int64_t column) const {
    return column * stride + row;
  }
  void write(const TileResults &sums, uint32_t *c) const {
    for (int64_t j = 0; j < sums.count; j += kLanes)
      for (int64_t i = 0; i < sums.rows; i += 4) {
        Vec v[4];
        DLC_UNROLL for (int r = 0; r < 4; ++r) v[r] =
            reinterpret_cast<Vec>(sums.at(i + r, j));
        turnQuads(v);
        // Element r of each four lanes is that of row i + r, of a column.
        const bool isWhole = j + kLanes <= sums.count && i + 4 <= sums.rows;
        DLC_UNROLL for (int e = 0; e < 4; ++e) {
          uint32_t *to = c + (j + e) * stride + i;
          if (isWhole) {
            storeQuads(reinterpret_cast<float *>(to), 4 * stride, v[e]);
            continue;
          }
          const Words words = reinterpret_cast<Words>(v[e]);
          for (int lane = 0; lane < kLanes; ++lane)
            if (j + lane / 4 * 4 + e < sums.count && i + lane % 4 < sums.rows)
              to[lane / 4 * 4 * stride + lane % 4] = words[lane];
        }
      }
  }
  void write(const TileResults &sums, const Requantization &requantize,
             uint8_t *c) const {
    for (int64_t j = 0; j < sums.count; j += kLine)
      for (int64_t i = 0; i < sums.rows; i += kLine) {
        Line lines[kLine];
        DLC_UNROLL for (int r = 0; r < kLine; ++r) lines[r] =
            requantize.bytesOf(sums, i + r, j);
        turnLines(lines);
        for (int64_t l = 0; l < least(kLine, sums.count - j); ++l)
          storeLine(c + (j + l) * stride + i, lines[l], sums.rows - i);
      }
  }
};

/// `Sums` adds up products of rows of bytes and columns of b: add(), as
/// VectorSums has it. sourceOf(batch, row) gives the rows of a from one on.
template <typename Sums, typename SourceOf, typename Writer>
inline void runIntegers(const IntegerPlan &plan,
                        const IntegerArguments &arguments, int64_t begin,
                        int64_t end, const SourceOf &sourceOf,
                        const Writer &writer) {
  IntegerScratch scratch;
  const ZeroPoints zeros(plan, arguments);
  const MatmulPlan &product = plan.product;
  Sums sums;
  int64_t held = -1; // The rows that are copied, all their terms.
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t rest = tile / product.columnBlocks;
    const int64_t batch = rest / product.rowBlocks;
    const int64_t row = rest % product.rowBlocks * product.rowBlock;
    const int64_t rows = least(product.rowBlock, product.m - row);
    const auto source = sourceOf(batch, row);
    const int8_t *b = arguments.b + batchOffset(product, product.bSteps, batch);
    int64_t column = tile % product.columnBlocks * product.columnBlock;
    const int64_t last = least(column + product.columnBlock, product.n);
    for (; column < last; column += kPackedColumns) {
      const int64_t width = least(kPackedColumns, plan.columns - column);
      for (int64_t block = 0; block < plan.termBlocks; ++block) {
        if (plan.termBlocks > 1 || held != rest)
          copyBytes(plan, source, rows, block, zeros.needsSums(), scratch);
        held = rest;
        const int64_t first = block * plan.termBlock;
        ByteArguments part = {};
        part.a = scratch.rows;
        part.aStride = plan.termBlock + kByteRowGap;
        part.bStride = width * kByteGroup;
        part.b = b + column * plan.terms + first * width;
        part.groups = least(plan.termBlock, plan.terms - first) / kByteGroup;
        part.sums = scratch.sums;
        part.accumulate = block > 0;
        sums.add(part, rows, width);
      }
      const int64_t count = least(width, product.n - column);
      const TileResults results = {scratch,
                                   ColumnTerms(plan, zeros, b, column, count),
                                   zeros.needsSums(), rows, count};
      const int64_t place =
          batch * product.m * product.n + writer.placeOf(row, column);
      if (plan.requantizes)
        writer.write(results, Requantization(plan, arguments, column, count),
                     static_cast<uint8_t *>(arguments.c) + place);
      else
        writer.write(results, static_cast<uint32_t *>(arguments.c) + place);
    }
  }
}

template <typename Sums>
void runIntegerMatmul(const IntegerPlan &plan,
                      const IntegerArguments &arguments, int64_t begin,
                      int64_t end) {
  const MatmulPlan &product = plan.product;
  runIntegers<Sums>(
      plan, arguments, begin, end,
      [&](int64_t batch, int64_t row) {
        return MatrixBytes(
            plan, arguments.a + batchOffset(product, product.aSteps, batch),
            row);
      },
      WriteRows{product.n});
}

template <typename Sums>
void runIntegerConv(const IntegerConvPlan &plan,
                    const IntegerArguments &arguments, int64_t begin,
                    int64_t end) {
  const MatmulPlan &product = plan.integers.product;
  const int64_t image = plan.height * plan.width * plan.channels;
  runIntegers<Sums>(
      plan.integers, arguments, begin, end,
      [&](int64_t batch, int64_t row) {
        return WindowBytes(plan, arguments.a + batch * image, row);
      },
      WriteColumns{product.m});
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

/// One row of an image: `from` has channels `plane` apart, `to` has pixels.
inline void arrangeRow(const uint8_t *from, int64_t plane, int64_t channels,
                       int64_t width, uint8_t flip, uint8_t *to) {
  const Line flips = flip - Line{};
  int64_t c = 0;
  for (; c + kLine <= channels; c += kLine) {
    int64_t x = 0;
    for (; x + kLine <= width; x += kLine) {
      Line lines[kLine];
      DLC_UNROLL for (int i = 0; i < kLine; ++i) lines[i] =
          *reinterpret_cast<const UnalignedLine *>(from + (c + i) * plane + x) ^
          flips;
      turnLines(lines);
      DLC_UNROLL for (int i = 0; i < kLine; ++i) *
          reinterpret_cast<UnalignedLine *>(to + (x + i) * channels + c) =
          lines[i];
    }
    for (; x < width; ++x)
      for (int64_t i = c; i < c + kLine; ++i)
        to[x * channels + i] = from[i * plane + x] ^ flip;
  }
  for (int64_t x = 0; x < width; ++x)
    for (int64_t i = c; i < channels; ++i)
      to[x * channels + i] = from[i * plane + x] ^ flip;
}

inline void arrangeImages(const IntegerConvPlan &plan, const uint8_t *x,
                          const void *zero, uint8_t *images, int64_t begin,
                          int64_t end) {
  const Windows &w = plan.windows;
  const uint8_t flip = plan.integers.isSignedA ? 0x80 : 0;
  const uint8_t border = *static_cast<const uint8_t *>(zero) ^ flip;
  const int64_t rowBytes = plan.width * plan.channels;
  const int64_t left = w.padLeft * plan.channels;
  const int64_t inside = least(w.inW, plan.width - w.padLeft);
  for (int64_t row = begin; row < end; ++row) {
    uint8_t *to = images + row * rowBytes;
    const int64_t batch = row / plan.height;
    const int64_t y = row % plan.height - w.padTop;
    if (y < 0 || y >= w.inH || inside <= 0) {
      __builtin_memset(to, border, rowBytes);
      continue;
    }
    __builtin_memset(to, border, left);
    arrangeRow(x + (batch * plan.channels * w.inH + y) * w.inW, w.inH * w.inW,
               plan.channels, inside, flip, to + left);
    const int64_t right = left + inside * plan.channels;
    __builtin_memset(to + right, border, rowBytes - right);
  }
}

constexpr IntegerKernels thisIntegerKernels = {
    runIntegerMatmul<VectorSums>, runIntegerConv<VectorSums>, arrangeImages};

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_INTEGERTILES_H
