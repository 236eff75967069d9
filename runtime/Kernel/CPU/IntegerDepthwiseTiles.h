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

//===----------------------------------------------------------------------===//
// Taps
//===----------------------------------------------------------------------===//

// Taps of a column of a window are words, some of them for each channel, made
// once for all windows that the column is in: an image's turned blocks of
// channels.

/// Bytes of a and b by turns: of each sixteen of them the first eight, and the
/// others.
struct Interleaved {
  [[gnu::always_inline]] Interleaved(Bytes a, Bytes b)
#if DLC_VECTOR_BYTES == 64
      : low((Bytes)_mm512_unpacklo_epi8((__m512i)a, (__m512i)b)),
        high((Bytes)_mm512_unpackhi_epi8((__m512i)a, (__m512i)b)){}
#elif DLC_VECTOR_BYTES == 32
      : low((Bytes)_mm256_unpacklo_epi8((__m256i)a, (__m256i)b)),
        high((Bytes)_mm256_unpackhi_epi8((__m256i)a, (__m256i)b)){}
#else
      : low(__builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5,
                                    21, 6, 22, 7, 23)),
        high(__builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28,
                                     13, 29, 14, 30, 15, 31)) {
  }
#endif

        Bytes low,
        high;
};

/// Two taps a word, as halves of it.
struct TapPairs {
  static constexpr int kTaps = 2;

  [[gnu::always_inline]] static void arrange(const Bytes (&taps)[kTaps],
                                             Words (&words)[kBlockVectors]) {
    const Interleaved pairs(taps[0], taps[1]);
    const Interleaved low(pairs.low, Bytes{}), high(pairs.high, Bytes{});
    words[0] = reinterpret_cast<Words>(low.low);
    words[1] = reinterpret_cast<Words>(low.high);
    words[2] = reinterpret_cast<Words>(high.low);
    words[3] = reinterpret_cast<Words>(high.high);
  }
  /// Of weights, i8 that lack `zero` and 128 for `count` of the taps.
  static void arrangeWeights(Bytes (&taps)[kTaps], int64_t count,
                             const uint32_t *zero,
                             Words (&words)[kBlockVectors]) {
    DLC_UNROLL for (int t = 0; t < kTaps; ++t) taps[t] ^= 0x80;
    arrange(taps, words);
    const uint32_t mask = count < kTaps ? 0xffff : 0xffffffff;
    DLC_UNROLL for (int v = 0; v < kBlockVectors; ++v) {
      const Words lacking = (loadWords(zero + v * kLanes) + 128) & 0xffff;
      const auto halves =
          reinterpret_cast<SignedHalves>(words[v]) -
          reinterpret_cast<SignedHalves>(lacking | lacking << 16);
      words[v] = reinterpret_cast<Words>(halves) & mask;
    }
  }
  [[gnu::always_inline]] static Words add(Words sum, Words taps,
                                          Words weights) {
    return sum + multiplyHalves(taps, weights);
  }
};

#ifdef DLC_MULTIPLIES_BYTES

/// Four taps a word, for weights without zero points.
struct TapQuads {
  static constexpr int kTaps = 4;

  [[gnu::always_inline]] static void arrange(const Bytes (&taps)[kTaps],
                                             Words (&words)[kBlockVectors]) {
    const Interleaved a(taps[0], taps[1]), b(taps[2], taps[3]);
    interleaveHalves(a.low, b.low, words[0], words[1]);
    interleaveHalves(a.high, b.high, words[2], words[3]);
  }
  static void arrangeWeights(Bytes (&taps)[kTaps], int64_t, const uint32_t *,
                             Words (&words)[kBlockVectors]) {
    arrange(taps, words);
  }
  [[gnu::always_inline]] static Words add(Words sum, Words taps,
                                          Words weights) {
    return (Words)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)taps,
                                      (__m512i)weights);
  }

private:
  [[gnu::always_inline]] static void interleaveHalves(Bytes a, Bytes b,
                                                      Words &low, Words &high) {
    low = (Words)_mm512_unpacklo_epi16((__m512i)a, (__m512i)b);
    high = (Words)_mm512_unpackhi_epi16((__m512i)a, (__m512i)b);
  }
};

#endif

/// The block of bytes at `from`, of which `count` are there for certain; from
/// `end` on nothing is.
[[gnu::always_inline]] inline Bytes
loadBlock(const uint8_t *from, int64_t count, const uint8_t *end) {
  if (__builtin_expect(count >= kBlock || end - from >= kBlock, true))
    return *reinterpret_cast<const UnalignedBytes *>(from);
  Bytes bytes = {};
  __builtin_memcpy(&bytes, from, count);
  return bytes;
}

constexpr int64_t kBlockWords = kBlockVectors * kLanes;
/// So many stay in a first cache; one window may have more.
constexpr int64_t kWantedTapGroups = 128;
static_assert(kMostByteTaps >= kWantedTapGroups);

//===----------------------------------------------------------------------===//
// Rows of windows
//===----------------------------------------------------------------------===//

/// Which columns of an image are made ready for the windows of some pixels of a
/// row: all from the first to the last, or those of one window alone, where
/// others lie between.
template <typename Taps> struct DepthwiseShape {
  explicit DepthwiseShape(const Windows &w)
      : w(w), groups((w.kernelH + Taps::kTaps - 1) / Taps::kTaps),
        window((w.kernelW - 1) * w.dilationW + 1),
        isSparse(window * groups > kMostByteTaps) {}

  int64_t mostPixels() const {
    const int64_t columns = kWantedTapGroups / groups;
    return isSparse || columns <= window ? 1
                                         : (columns - window) / w.strideW + 1;
  }
  int64_t columnsOf(int64_t pixels) const {
    return isSparse ? w.kernelW : (pixels - 1) * w.strideW + window;
  }
  /// Between columns of the image that are made ready, and among these from
  /// tap to tap and from window to window.
  int64_t columnStep() const { return isSparse ? w.dilationW : 1; }
  int64_t tapStep() const { return isSparse ? 1 : w.dilationW; }
  int64_t pixelStep() const { return w.strideW; }

  const Windows &w;
  const int64_t groups; ///< Words of a column, for each channel.
  const int64_t window; ///< Columns from its first tap to its last.
  const bool isSparse;
};

/// The sums of the windows of a run of pixels, put(pixel, sums) for each:
/// turned words of a block of channels.
template <typename Taps, typename Put>
[[gnu::always_inline]] inline void
addWindows(const DepthwiseShape<Taps> &shape, int64_t pixels,
           const uint32_t *columns, const uint32_t *weights, const Put &put) {
  const int64_t columnWords = shape.groups * kBlockWords;
  const int64_t tapStep = shape.tapStep() * columnWords;
  const int64_t pixelStep = shape.pixelStep() * columnWords;
  const auto add =
      [](Words(&sums)[kBlockVectors], const uint32_t *taps,
         const Words(&weights)[kBlockVectors]) __attribute__((always_inline)) {
    DLC_UNROLL for (int v = 0; v < kBlockVectors; ++v) sums[v] =
        Taps::add(sums[v], loadWords(taps + v * kLanes), weights[v]);
  };
  const auto weightsOf = [&](int64_t word, Words(&to)[kBlockVectors])
      __attribute__((always_inline)) {
    DLC_UNROLL for (int v = 0; v < kBlockVectors; ++v) to[v] =
        loadWords(weights + word * kBlockWords + v * kLanes);
  };
  // Weights of the usual windows stay in registers, where there are enough.
  constexpr int kHeld = 3;
  if (kLanes == 16 && shape.groups == 1 && shape.w.kernelW == kHeld) {
    Words held[kHeld][kBlockVectors];
    DLC_UNROLL for (int x = 0; x < kHeld; ++x) weightsOf(x, held[x]);
    for (int64_t i = 0; i < pixels; ++i, columns += pixelStep) {
      Words sums[kBlockVectors] = {};
      DLC_UNROLL for (int x = 0; x < kHeld; ++x)
          add(sums, columns + x * tapStep, held[x]);
      put(i, sums);
    }
    return;
  }
  // Two pixels use weights that are loaded once.
  const auto addPixels = [&]<int count>(int64_t first)
      __attribute__((always_inline)) {
    Words sums[count][kBlockVectors] = {};
    for (int64_t x = 0; x < shape.w.kernelW; ++x)
      for (int64_t g = 0; g < shape.groups; ++g) {
        Words own[kBlockVectors];
        weightsOf(x * shape.groups + g, own);
        const uint32_t *taps =
            columns + first * pixelStep + x * tapStep + g * kBlockWords;
        DLC_UNROLL for (int i = 0; i < count; ++i)
            add(sums[i], taps + i * pixelStep, own);
      }
    DLC_UNROLL for (int i = 0; i < count; ++i) put(first + i, sums[i]);
  };
  int64_t i = 0;
  for (; i + 2 <= pixels; i += 2)
    addPixels.template operator()<2>(i);
  if (i < pixels)
    addPixels.template operator()<1>(i);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

struct DepthwiseScratch {
  alignas(64) uint32_t columns[kMostByteTaps * kBlockWords];
  alignas(64) uint32_t weights[kMostByteTaps * kBlockWords];
  alignas(64) uint32_t sums[kMostByteRows * kPackedColumns];
};

/// A block of channels of a run of tiles.
template <typename Taps> class DepthwiseBlock {
public:
  DepthwiseBlock(const IntegerConvPlan &plan, const IntegerArguments &arguments,
                 const ColumnTerms &terms, int64_t column, int64_t count,
                 DepthwiseScratch &scratch)
      : plan(plan), arguments(arguments), terms(terms), shape(plan.windows),
        column(column), count(count), scratch(scratch) {
    takeWeights();
  }

  /// Pixels [row, row + rows) of image `batch`.
  template <typename Writer>
  void run(int64_t batch, int64_t row, int64_t rows, const Writer &writer) {
    const IntegerPlan &integers = plan.integers;
    const int64_t outW = plan.windows.outW, last = row + rows;
    alignas(64) uint32_t more[kBlock];
    turnBlock(terms.more, more);
    const auto ofPixels = [&](const auto &put) {
      for (int64_t next; row < last; row = next) {
        const int64_t x = row % outW;
        const int64_t pixels =
            least(least(outW - x, last - row), shape.mostPixels());
        next = row + pixels;
        arrange(arguments.a + batch * imageBytesOf(plan), row / outW, x,
                pixels);
        put(pixels);
      }
    };
    if constexpr (Writer::kIsInOrder)
      if (integers.requantizes) {
        const Requantization requantize(integers, arguments, column, count);
        alignas(64) float multiplier[kBlock], offset[kBlock];
        turnBlock(requantize.multiplier, multiplier);
        turnBlock(requantize.offset, offset);
        const BlockRounding round = requantize.of(multiplier, offset);
        const int64_t stride = integers.product.n;
        auto *c = static_cast<uint8_t *>(arguments.c) +
                  batch * integers.product.m * stride + column;
        return ofPixels([&](int64_t pixels) {
          addWindows(
              shape, pixels, scratch.columns, scratch.weights,
              [&](int64_t i, Words(&sums)[kBlockVectors])
                  __attribute__((always_inline)) {
                    DLC_UNROLL for (int v = 0; v < kBlockVectors; ++v)
                        sums[v] += loadWords(more + v * kLanes);
                    storeBytes(c + (row + i) * stride, round(sums), count);
                  });
        });
      }
    ofPixels([&](int64_t pixels) {
      addWindows(
          shape, pixels, scratch.columns, scratch.weights,
          [&](int64_t i,
              Words(&sums)[kBlockVectors]) __attribute__((always_inline)) {
            float *to =
                reinterpret_cast<float *>(scratch.sums) + i * kPackedColumns;
            DLC_UNROLL for (int v = 0; v < kBlockVectors; ++v)
                storeQuads(to + 4 * v, kLine, reinterpret_cast<Vec>(sums[v]));
          });
      writeResults(integers, arguments,
                   {scratch.sums, nullptr, terms, pixels, count}, batch, row,
                   column, writer);
    });
  }

private:
  void takeWeights();
  void arrange(const uint8_t *image, int64_t y, int64_t x, int64_t pixels);

  const IntegerConvPlan &plan;
  const IntegerArguments &arguments;
  const ColumnTerms &terms;
  const DepthwiseShape<Taps> shape;
  const int64_t column, count;
  DepthwiseScratch &scratch;
};

template <typename Taps> void DepthwiseBlock<Taps>::takeWeights() {
  const IntegerPlan &integers = plan.integers;
  const int64_t part = column / kPackedColumns * kPackedColumns;
  const int64_t width = least(kPackedColumns, integers.columns - part);
  // Behind the last part there are sums: there is no end.
  const int8_t *b = arguments.b + part * integers.terms + (column - part);
  alignas(64) uint32_t zero[kBlock];
  turnBlock(terms.zero, zero);
  uint32_t *to = scratch.weights;
  for (int64_t x = 0; x < plan.windows.kernelW; ++x)
    for (int64_t g = 0; g < shape.groups; ++g, to += kBlockWords) {
      const int64_t first = g * Taps::kTaps;
      const int64_t taps =
          least<int64_t>(plan.windows.kernelH - first, Taps::kTaps);
      Bytes bytes[Taps::kTaps] = {};
      for (int64_t t = 0; t < taps; ++t)
        bytes[t] = *reinterpret_cast<const UnalignedBytes *>(
            b + ((first + t) * plan.windows.kernelW + x) * width);
      Words words[kBlockVectors];
      Taps::arrangeWeights(bytes, taps, zero, words);
      DLC_UNROLL for (int v = 0; v < kBlockVectors; ++v)
          storeWords(to + v * kLanes, words[v]);
    }
}

/// Makes the columns of the windows of `pixels` pixels ready, from y, x on.
template <typename Taps>
void DepthwiseBlock<Taps>::arrange(const uint8_t *image, int64_t y, int64_t x,
                                   int64_t pixels) {
  const Windows &w = plan.windows;
  const uint8_t *end = image + imageBytesOf(plan);
  const uint8_t flip = plan.integers.isSignedA ? 0x80 : 0;
  const Bytes border = *static_cast<const uint8_t *>(arguments.aZero) + Bytes{};
  const int64_t columns = shape.columnsOf(pixels);
  const int64_t top = y * w.strideH - w.padTop;
  const int64_t left = x * w.strideW - w.padLeft;
  for (int64_t g = 0; g < shape.groups; ++g) {
    const uint8_t *rows[Taps::kTaps];
    for (int t = 0; t < Taps::kTaps; ++t) {
      const int64_t tap = g * Taps::kTaps + t, inY = top + tap * w.dilationH;
      const bool isThere = tap < w.kernelH && inY >= 0 && inY < w.inH;
      rows[t] =
          isThere ? image + inY * w.inW * plan.channels + column : nullptr;
    }
    uint32_t *to = scratch.columns + g * kBlockWords;
    for (int64_t c = 0; c < columns; ++c, to += shape.groups * kBlockWords) {
      const int64_t inX = left + c * shape.columnStep();
      const bool isThere = inX >= 0 && inX < w.inW;
      Bytes taps[Taps::kTaps];
      DLC_UNROLL for (int t = 0; t < Taps::kTaps; ++t) taps[t] =
          (rows[t] && isThere
               ? loadBlock(rows[t] + inX * plan.channels, count, end)
               : border) ^
          flip;
      Words words[kBlockVectors];
      Taps::arrange(taps, words);
      DLC_UNROLL for (int v = 0; v < kBlockVectors; ++v)
          storeWords(to + v * kLanes, words[v]);
    }
  }
}

template <typename Writer>
inline void runDepthwise(const IntegerConvPlan &plan,
                         const IntegerArguments &arguments, int64_t begin,
                         int64_t end, const Writer &writer) {
  DepthwiseScratch scratch;
  const IntegerPlan &integers = plan.integers;
  const MatmulPlan &product = integers.product;
  const ZeroPoints zeros(integers, arguments);
  int64_t tile = begin;
  while (tile < end) {
    const MatmulRun run(product, tile, end, INT64_MAX);
    tile += run.count;
    const int64_t last = run.column + run.columns;
    for (int64_t column = run.column; column < last; column += kBlock) {
      const int64_t count = least(kBlock, product.n - column);
      const ColumnTerms terms(integers, zeros, arguments.b, column, count);
      const auto runTaps = [&]<typename Taps>() {
        DepthwiseBlock<Taps>(plan, arguments, terms, column, count, scratch)
            .run(run.batch, run.row, run.rows, writer);
      };
#ifdef DLC_MULTIPLIES_BYTES
      if (!zeros.needsSums()) {
        runTaps.template operator()<TapQuads>();
        continue;
      }
#endif
      runTaps.template operator()<TapPairs>();
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
