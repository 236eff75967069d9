// SPDX-License-Identifier: Apache-2.0
//
// cpu.integer_matmul and cpu.integer_conv of one group over sums that something
// else adds up.
// See Vector.h for who may include it.

#ifndef DLC_RUNTIME_KERNEL_CPU_INTEGERTILES_H
#define DLC_RUNTIME_KERNEL_CPU_INTEGERTILES_H

#include "BatchOffset.h"
#include "IntegerDepthwiseTiles.h"
#include "IntegerKernel.h"

namespace dlc::rt::cpu {
namespace {

/// Rows of a are a multiple of that many in the copy, those of a tile.
constexpr int64_t kByteTileRows = 16;
/// From row to row of the copy, beside its terms: rows shall not all fall into
/// the same sets of a cache.
constexpr int64_t kByteRowGap = 64;
static_assert(kByteRowGap >= kBlock);

struct IntegerScratch {
  alignas(64) uint32_t sums[kMostByteRows * kPackedColumns];
  alignas(64) uint8_t rows[kByteRowsBytes];
  uint32_t rowSums[kMostByteRows];
};

/// Bytes [0, count) of what is read as u8.
[[gnu::always_inline]] inline void
copyFlipped(const uint8_t *from, int64_t count, uint8_t flip, uint8_t *to) {
  int64_t l = 0;
  for (; l + kBlock <= count; l += kBlock)
    *reinterpret_cast<UnalignedBytes *>(to + l) =
        *reinterpret_cast<const UnalignedBytes *>(from + l) ^ flip;
  for (; l + kLine <= count; l += kLine)
    *reinterpret_cast<UnalignedLine *>(to + l) =
        *reinterpret_cast<const UnalignedLine *>(from + l) ^ flip;
  for (; l < count; ++l)
    to[l] = from[l] ^ flip;
}

/// Rows of a matrix, one after the other.
class MatrixBytes {
public:
  MatrixBytes(const uint8_t *a, int64_t stride, bool isSigned)
      : at(a), stride(stride), flip(isSigned ? 0x80 : 0) {}

  /// Terms [begin, begin + count) of the row, as u8.
  void copy(int64_t begin, int64_t count, uint8_t *to) const {
    copyFlipped(at + begin, count, flip, to);
  }
  void advance() { at += stride; }
  /// Where the rows are, if they are there as they are to be; else null.
  const uint8_t *rows() const { return flip == 0 ? at : nullptr; }

private:
  const uint8_t *at;
  const int64_t stride;
  const uint8_t flip;
};

/// Pixels of an image, what is in their windows.
class WindowBytes {
public:
  WindowBytes(const IntegerConvPlan &plan, const uint8_t *image,
              const void *zero, int64_t pixel)
      : plan(plan), image(image), end(image + imageBytesOf(plan)),
        y(pixel / plan.windows.outW), x(pixel % plan.windows.outW),
        flip(plan.integers.isSignedA ? 0x80 : 0),
        border(*static_cast<const uint8_t *>(zero) ^ flip) {}

  static constexpr const uint8_t *rows() { return nullptr; }

  void copy(int64_t begin, int64_t count, uint8_t *to) const {
    const Windows &w = plan.windows;
    const int64_t runBytes = plan.run * plan.channels;
    const int64_t rowBytes = w.kernelW * plan.channels;
    const int64_t left = x * w.strideW - w.padLeft;
    int64_t tapY = y * w.strideH - w.padTop, tapX = left, skip = begin;
    if (begin == 0 && count == w.kernelH * runBytes &&
        copyInside(tapY, tapX, to))
      return;
    if (begin > 0) {
      tapY += begin / rowBytes * w.dilationH;
      tapX += begin % rowBytes / runBytes * w.dilationW;
      skip = begin % runBytes;
    }
    const int64_t right = left + w.kernelW * w.dilationW;
    while (count > 0) {
      const int64_t last = least(runBytes, skip + count);
      copyRun(tapY, tapX, skip, last, to);
      to += last - skip;
      count -= last - skip;
      skip = 0;
      tapX += plan.run * w.dilationW;
      if (tapX == right) {
        tapX = left;
        tapY += w.dilationH;
      }
    }
  }
  void advance() {
    if (++x == plan.windows.outW) {
      x = 0;
      ++y;
    }
  }

private:
  /// One line or two, as a call would take longer.
  void copyLines(const uint8_t *from, int64_t count, uint8_t *to) const {
    const auto copyLine = [&](int64_t at) __attribute__((always_inline)) {
      *reinterpret_cast<UnalignedLine *>(to + at) =
          *reinterpret_cast<const UnalignedLine *>(from + at) ^ (flip - Line{});
    };
    copyLine(0);
    if (count > kLine)
      copyLine(kLine);
  }
  /// The whole window from pixel tapY, tapX on, where it is inside and its rows
  /// are short: a first layer's. False where nothing is copied. Writes up to
  /// two lines more.
  bool copyInside(int64_t tapY, int64_t tapX, uint8_t *to) const {
    const Windows &w = plan.windows;
    const int64_t runBytes = w.kernelW * plan.channels;
    const int64_t lastY = tapY + (w.kernelH - 1) * w.dilationH;
    if (plan.run != w.kernelW || runBytes > 2 * kLine || tapY < 0 || tapX < 0 ||
        lastY >= w.inH || tapX + w.kernelW > w.inW)
      return false;
    const int64_t down = w.dilationH * w.inW * plan.channels;
    const uint8_t *from = image + (tapY * w.inW + tapX) * plan.channels;
    if (from + (w.kernelH - 1) * down + 2 * kLine > end)
      return false;
    for (int64_t tap = 0; tap < w.kernelH; ++tap)
      copyLines(from + tap * down, 2 * kLine, to + tap * runBytes);
    return true;
  }
  /// Bytes [begin, last) of the run of taps from pixel tapY, tapX on. Writes up
  /// to a line more.
  void copyRun(int64_t tapY, int64_t tapX, int64_t begin, int64_t last,
               uint8_t *to) const {
    const Windows &w = plan.windows;
    const int64_t channels = plan.channels;
    if (tapY < 0 || tapY >= w.inH || tapX >= w.inW || tapX + plan.run <= 0) {
      __builtin_memset(to, border, last - begin);
      return;
    }
    const uint8_t *from = image + (tapY * w.inW + tapX) * channels;
    if (tapX >= 0 && tapX + plan.run <= w.inW) {
      const int64_t some = last - begin <= kLine ? kLine : 2 * kLine;
      if (last - begin <= some && from + begin + some <= end)
        copyLines(from + begin, some, to);
      else
        copyFlipped(from + begin, last - begin, flip, to);
      return;
    }
    const int64_t first =
        least(most(most<int64_t>(-tapX, 0) * channels, begin), last);
    const int64_t behind = most(least((w.inW - tapX) * channels, last), first);
    __builtin_memset(to, border, first - begin);
    copyFlipped(from + first, behind - first, flip, to + (first - begin));
    __builtin_memset(to + (behind - begin), border, last - behind);
  }

  const IntegerConvPlan &plan;
  const uint8_t *image, *end;
  int64_t y, x;
  const uint8_t flip, border;
};

/// Copies terms of one block of `rows` rows, zero padded, and sums them up
/// where b has zero points.
template <typename Source>
inline void copyBytes(const IntegerPlan &plan, Source source, int64_t rows,
                      int64_t block, bool needsSums, IntegerScratch &scratch) {
  const int64_t begin = block * plan.termBlock;
  const int64_t count = least(plan.termBlock, plan.product.k - begin);
  const int64_t stride = plan.termBlock + kByteRowGap;
  for (int64_t i = 0; i < rows; ++i, source.advance()) {
    uint8_t *to = scratch.rows + i * stride;
    source.copy(begin, count, to);
    for (int64_t l = count; l < plan.termBlock; l += kBlock)
      *reinterpret_cast<UnalignedBytes *>(to + l) = Bytes{}; // Into the gap.
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

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// `Sums` adds up products of rows and columns, as VectorSums does.
/// sourceOf(batch, row) gives the rows of a from one on.
template <typename Sums, typename SourceOf, typename Writer>
inline void runIntegers(const IntegerPlan &plan,
                        const IntegerArguments &arguments, int64_t begin,
                        int64_t end, const SourceOf &sourceOf,
                        const Writer &writer) {
  IntegerScratch scratch;
  const ZeroPoints zeros(plan, arguments);
  const MatmulPlan &product = plan.product;
  Sums sums;
  const bool readsRows =
      !zeros.needsSums() && product.k % Sums::kTermsOfRows == 0;
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
        const int64_t first = block * plan.termBlock;
        ByteArguments part = {};
        if (const uint8_t *there = readsRows ? source.rows() : nullptr;
            there && rows % Sums::kRows == 0) {
          part.a = there + first;
          part.aStride = product.lda;
        } else {
          if (plan.termBlocks > 1 || held != rest)
            copyBytes(plan, source, rows, block, zeros.needsSums(), scratch);
          held = rest;
          part.a = scratch.rows;
          part.aStride = plan.termBlock + kByteRowGap;
        }
        part.bStride = width * kByteGroup;
        part.b = b + column * plan.terms + first * width;
        const int64_t terms = least(plan.termBlock, product.k - first);
        part.groups = (terms + Sums::kTerms - 1) / Sums::kTerms * Sums::kTerms /
                      kByteGroup;
        part.sums = scratch.sums;
        part.accumulate = block > 0;
        sums.add(part, rows, width);
      }
      const int64_t count = least(width, product.n - column);
      writeResults(plan, arguments,
                   {scratch.sums, zeros.needsSums() ? scratch.rowSums : nullptr,
                    ColumnTerms(plan, zeros, b, column, count), rows, count},
                   batch, row, column, writer);
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
        return MatrixBytes(arguments.a +
                               batchOffset(product, product.aSteps, batch) +
                               row * product.lda,
                           product.lda, plan.isSignedA);
      },
      WriteRows{product.n});
}

/// Whether windows are pixels of the image.
inline bool isPointwise(const Windows &w) {
  return w.kernelH == 1 && w.kernelW == 1 && w.strideH == 1 && w.strideW == 1 &&
         w.inH == w.outH && w.inW == w.outW && w.padTop == 0 && w.padLeft == 0;
}

template <typename Sums, typename Writer>
inline void runIntegerConvTo(const Writer &writer, const IntegerConvPlan &plan,
                             const IntegerArguments &arguments, int64_t begin,
                             int64_t end) {
  const auto imageOf = [&](int64_t batch) {
    return arguments.a + batch * imageBytesOf(plan);
  };
  if (isPointwise(plan.windows)) {
    const auto sourceOf = [&](int64_t batch, int64_t row) {
      return MatrixBytes(imageOf(batch) + row * plan.channels, plan.channels,
                         plan.integers.isSignedA);
    };
    runIntegers<Sums>(plan.integers, arguments, begin, end, sourceOf, writer);
    return;
  }
  const auto sourceOf = [&](int64_t batch, int64_t row) {
    return WindowBytes(plan, imageOf(batch), arguments.aZero, row);
  };
  runIntegers<Sums>(plan.integers, arguments, begin, end, sourceOf, writer);
}

template <typename Sums>
void runIntegerConv(const IntegerConvPlan &plan,
                    const IntegerArguments &arguments, int64_t begin,
                    int64_t end) {
  const MatmulPlan &product = plan.integers.product;
  if (plan.isPlainY)
    runIntegerConvTo<Sums>(WriteColumns{product.m}, plan, arguments, begin,
                           end);
  else
    runIntegerConvTo<Sums>(WriteRows{product.n}, plan, arguments, begin, end);
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

/// One row of an image: `from` has channels `plane` apart, `to` has pixels.
inline void arrangeRow(const uint8_t *from, int64_t plane, int64_t channels,
                       int64_t width, uint8_t *to) {
  int64_t c = 0;
  for (; c + kLine <= channels; c += kLine) {
    int64_t x = 0;
    for (; x + kLine <= width; x += kLine) {
      Line lines[kLine];
      DLC_UNROLL for (int i = 0; i < kLine; ++i) lines[i] =
          *reinterpret_cast<const UnalignedLine *>(from + (c + i) * plane + x);
      turnLines(lines);
      DLC_UNROLL for (int i = 0; i < kLine; ++i) *
          reinterpret_cast<UnalignedLine *>(to + (x + i) * channels + c) =
          lines[i];
    }
    for (; x < width; ++x)
      for (int64_t i = c; i < c + kLine; ++i)
        to[x * channels + i] = from[i * plane + x];
  }
  for (int64_t i = c; i < channels; ++i)
    for (int64_t x = 0; x < width; ++x)
      to[x * channels + i] = from[i * plane + x];
}

inline void arrangeImages(const IntegerConvPlan &plan, const uint8_t *x,
                          uint8_t *images, int64_t begin, int64_t end) {
  const Windows &w = plan.windows;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t batch = row / w.inH, y = row % w.inH;
    arrangeRow(x + (batch * plan.channels * w.inH + y) * w.inW, w.inH * w.inW,
               plan.channels, w.inW, images + row * w.inW * plan.channels);
  }
}

constexpr IntegerKernels thisIntegerKernels = {
    runIntegerMatmul<VectorSums>, runIntegerConv<VectorSums>,
    runIntegerDepthwise, arrangeImages};

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_INTEGERTILES_H
