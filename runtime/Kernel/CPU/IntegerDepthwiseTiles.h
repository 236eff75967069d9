// SPDX-License-Identifier: Apache-2.0
//
// cpu.integer_conv of each channel by itself.
// See Vector.h for who may include it.

#ifndef DLC_RUNTIME_KERNEL_CPU_INTEGERDEPTHWISETILES_H
#define DLC_RUNTIME_KERNEL_CPU_INTEGERDEPTHWISETILES_H

#include "GridRuns.h"
#include "IntegerResults.h"

namespace dlc::rt::cpu {
namespace {

inline int64_t imageBytesOf(const IntegerConvPlan &plan) {
  return plan.windows.inH * plan.windows.inW * plan.channels;
}

constexpr int kLineVectors = kLine / kLanes;
/// Lines of channels whose sums are in registers together.
constexpr int kLinesAtOnce = kLanes == 4 ? 2 : 4;

/// Bytes of two taps by turns, for the channels of a vector.
typedef uint8_t TapBytes __attribute__((vector_size(DLC_VECTOR_BYTES / 2)));
typedef uint16_t TapHalves __attribute__((vector_size(DLC_VECTOR_BYTES)));

/// Vector v of the channels of a line, of which `low` and `high` have the bytes
/// of two taps by turns.
template <int v>
[[gnu::always_inline]] inline Words tapsOf(Line low, Line high) {
#if DLC_VECTOR_BYTES == 64
  const TapBytes bytes = __builtin_shufflevector(
      low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
      18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
#elif DLC_VECTOR_BYTES == 32
  const TapBytes bytes = v == 0 ? low : high;
#else
  constexpr int at = v % 2 * 8;
  const Line line = v < 2 ? low : high;
  const TapBytes bytes = __builtin_shufflevector(
      line, line, at, at + 1, at + 2, at + 3, at + 4, at + 5, at + 6, at + 7);
#endif
  return reinterpret_cast<Words>(__builtin_convertvector(bytes, TapHalves));
}

/// function<v>() for each vector of a line.
template <int v = 0, typename Function>
[[gnu::always_inline]] inline void forVectors(const Function &function) {
  if constexpr (v < kLineVectors) {
    function.template operator()<v>();
    forVectors<v + 1>(function);
  }
}

/// Where the taps of some pixels are, of the first channel of a tile.
class TapPointers {
public:
  TapPointers(const IntegerConvPlan &plan, const void *aZero);

  /// How many pixels there is room for.
  int64_t mostPixels() const {
    return least(kMostPointers / (taps + 1), kMostByteRows);
  }
  /// Of pixels [row, row + rows) of `image`.
  void find(const uint8_t *image, int64_t row, int64_t rows);
  /// Of one of them, and one tap more, which is never outside either.
  const uint8_t *const *of(int64_t pixel) const {
    return at + pixel * (taps + 1);
  }

private:
  static constexpr int64_t kMostPointers = 2048;
  static_assert(kMostPointers > kMostByteTaps);

  void findOne(const uint8_t *image, int64_t y, int64_t x, const uint8_t **to);

  const IntegerConvPlan &plan;
  const int64_t taps;
  alignas(64) uint8_t border[kMostDepthwiseColumns + kLine];
  uint64_t offsets[kMostByteTaps];
  const uint8_t *at[kMostPointers];
};

inline TapPointers::TapPointers(const IntegerConvPlan &plan, const void *aZero)
    : plan(plan), taps(plan.integers.product.k) {
  __builtin_memset(border, *static_cast<const uint8_t *>(aZero),
                   sizeof(border));
  const Windows &w = plan.windows;
  // Of windows that no image holds they mean nothing, and wrap around.
  const auto pixel = static_cast<uint64_t>(plan.channels);
  const uint64_t down = pixel * w.inW * w.dilationH,
                 right = pixel * w.dilationW;
  for (int64_t tap = 0; tap < taps; ++tap)
    offsets[tap] = tap / w.kernelW * down + tap % w.kernelW * right;
}

inline void TapPointers::findOne(const uint8_t *image, int64_t y, int64_t x,
                                 const uint8_t **to) {
  const Windows &w = plan.windows;
  y = y * w.strideH - w.padTop;
  x = x * w.strideW - w.padLeft;
  const int64_t lastY = y + (w.kernelH - 1) * w.dilationH,
                lastX = x + (w.kernelW - 1) * w.dilationW;
  to[taps] = border;
  if (y >= 0 && x >= 0 && lastY < w.inH && lastX < w.inW) {
    const uint8_t *corner = image + (y * w.inW + x) * plan.channels;
    for (int64_t tap = 0; tap < taps; ++tap)
      to[tap] = corner + offsets[tap];
    return;
  }
  for (int64_t tapY = y; tapY <= lastY; tapY += w.dilationH)
    for (int64_t tapX = x; tapX <= lastX; tapX += w.dilationW)
      *to++ = tapY >= 0 && tapY < w.inH && tapX >= 0 && tapX < w.inW
                  ? image + (tapY * w.inW + tapX) * plan.channels
                  : border;
}

inline void TapPointers::find(const uint8_t *image, int64_t row, int64_t rows) {
  int64_t y = row / plan.windows.outW, x = row % plan.windows.outW;
  for (int64_t i = 0; i < rows; ++i) {
    findOne(image, y, x, at + i * (taps + 1));
    if (++x == plan.windows.outW) {
      x = 0;
      ++y;
    }
  }
}

/// The weights of up to 64 channels, less zero points: of two taps for each
/// channel, as halves of words.
class TapWeights {
public:
  void take(const int8_t *b, int64_t taps, int64_t width,
            const ColumnTerms &terms);
  const uint32_t *of(int64_t channel) const { return words + channel; }

private:
  alignas(64) uint32_t words[(kMostByteTaps + 1) / 2 * kPackedColumns];
};

inline void TapWeights::take(const int8_t *b, int64_t taps, int64_t width,
                             const ColumnTerms &terms) {
  for (int64_t tap = 0; tap < taps; tap += 2) {
    uint32_t *to = words + tap / 2 * kPackedColumns;
    const int8_t *even = b + tap * width;
    const bool isLast = tap + 1 == taps;
    const int8_t *odd = isLast ? even : even + width;
    const uint32_t mask = isLast ? 0 : 0xffff0000;
    for (int64_t j = 0; j < width; ++j) {
      const uint32_t low = static_cast<uint32_t>(even[j]) - terms.zero[j];
      const uint32_t high = static_cast<uint32_t>(odd[j]) - terms.zero[j];
      to[j] = (low & 0xffff) | (high << 16 & mask);
    }
  }
}

/// The sums of `count` channels of a pixel, or of `lines` whole lines of them:
/// channels from `channel` on of those that taps begin with. Nothing is read
/// from `end` on, where images end.
template <bool isSigned, int lines>
inline void addTaps(const uint8_t *const *at, int64_t taps, const uint8_t *end,
                    const uint32_t *weights, int64_t channel, int64_t count,
                    uint32_t *sums) {
  const bool isWhole = lines > 1 || count >= kLine;
  const auto lineOf = [&](const uint8_t *from, int line)
      __attribute__((always_inline)) {
    from += channel + line * kLine;
    // Borders lie elsewhere, with enough behind them.
    const uint64_t rest =
        reinterpret_cast<uintptr_t>(end) - reinterpret_cast<uintptr_t>(from);
    Line bytes = {};
    if (isWhole || __builtin_expect(rest >= kLine, true))
      bytes = *reinterpret_cast<const UnalignedLine *>(from);
    else
      __builtin_memcpy(&bytes, from, count);
    return isSigned ? bytes ^ 0x80 : bytes;
  };
  Words own[lines][kLineVectors] = {};
  for (int64_t tap = 0; tap < taps; tap += 2, weights += kPackedColumns)
    DLC_UNROLL for (int line = 0; line < lines; ++line) {
      const Line a = lineOf(at[tap], line), b = lineOf(at[tap + 1], line);
      const Line low = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19,
                                               4, 20, 5, 21, 6, 22, 7, 23);
      const Line high = __builtin_shufflevector(
          a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
      forVectors([&]<int v>() __attribute__((always_inline)) {
        own[line][v] +=
            multiplyHalves(tapsOf<v>(low, high),
                           loadWords(weights + line * kLine + v * kLanes));
      });
    }
  DLC_UNROLL for (int line = 0; line < lines; ++line)
      DLC_UNROLL for (int v = 0; v < kLineVectors; ++v)
          storeWords(sums + line * kLine + v * kLanes, own[line][v]);
}

/// The sums of `rows` pixels and `count` channels from `channel` on.
template <bool isSigned>
inline void addDepthwise(const TapPointers &pointers, int64_t taps,
                         const uint8_t *end, const TapWeights &weights,
                         int64_t channel, int64_t rows, int64_t count,
                         uint32_t *sums) {
  int64_t j = 0;
  while (j < count) {
    const int64_t rest = count - j;
    const auto add = [&]<int lines>() __attribute__((always_inline)) {
      for (int64_t i = 0; i < rows; ++i)
        addTaps<isSigned, lines>(pointers.of(i), taps, end, weights.of(j),
                                 channel + j, rest,
                                 sums + i * kPackedColumns + j);
      j += lines * kLine;
    };
    if (rest >= kLinesAtOnce * kLine)
      add.template operator()<kLinesAtOnce>();
    else if (rest >= 2 * kLine)
      add.template operator()<2>();
    else
      add.template operator()<1>();
  }
}

template <typename Writer>
inline void runDepthwise(const IntegerConvPlan &plan,
                         const IntegerArguments &arguments, int64_t begin,
                         int64_t end, const Writer &writer) {
  alignas(64) uint32_t sums[kMostByteRows * kPackedColumns];
  const IntegerPlan &integers = plan.integers;
  const MatmulPlan &product = integers.product;
  const ZeroPoints zeros(integers, arguments);
  TapPointers pointers(plan, arguments.aZero);
  TapWeights weights;
  const auto add =
      integers.isSignedA ? addDepthwise<true> : addDepthwise<false>;
  int64_t tile = begin;
  while (tile < end) {
    const MatmulRun run(product, tile, end, kMostDepthwiseColumns);
    tile += run.count;
    const uint8_t *image = arguments.a + run.batch * imageBytesOf(plan);
    const int64_t lastRow = run.row + run.rows;
    const int64_t last = run.column + run.columns;
    for (int64_t row = run.row; row < lastRow; row += pointers.mostPixels()) {
      const int64_t rows = least(lastRow - row, pointers.mostPixels());
      pointers.find(image + run.column, row, rows);
      for (int64_t column = run.column; column < last;
           column += kPackedColumns) {
        const int64_t width = least(kPackedColumns, integers.columns - column);
        const int64_t count = least(width, product.n - column);
        const ColumnTerms terms(integers, zeros, arguments.b, column, count);
        weights.take(arguments.b + column * integers.terms, product.k, width,
                     terms);
        add(pointers, product.k, image + imageBytesOf(plan), weights,
            column - run.column, rows, count, sums);
        writeResults(integers, arguments, {sums, nullptr, terms, rows, count},
                     run.batch, row, column, writer);
      }
    }
  }
}

inline void runIntegerDepthwise(const IntegerConvPlan &plan,
                                const IntegerArguments &arguments,
                                int64_t begin, int64_t end) {
  if (plan.isPlainY)
    runDepthwise(plan, arguments, begin, end,
                 WriteColumns{plan.integers.product.m});
  else
    runDepthwise(plan, arguments, begin, end,
                 WriteRows{plan.integers.product.n});
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_INTEGERDEPTHWISETILES_H
