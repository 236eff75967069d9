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

/// Bytes of a and b by turns: of each sixteen of them the first eight, or the
/// others.
#if DLC_VECTOR_BYTES == 64
[[gnu::always_inline]] inline Bytes interleaveLow(Bytes a, Bytes b) {
  return (Bytes)_mm512_unpacklo_epi8((__m512i)a, (__m512i)b);
}
[[gnu::always_inline]] inline Bytes interleaveHigh(Bytes a, Bytes b) {
  return (Bytes)_mm512_unpackhi_epi8((__m512i)a, (__m512i)b);
}
#elif DLC_VECTOR_BYTES == 32
[[gnu::always_inline]] inline Bytes interleaveLow(Bytes a, Bytes b) {
  return (Bytes)_mm256_unpacklo_epi8((__m256i)a, (__m256i)b);
}
[[gnu::always_inline]] inline Bytes interleaveHigh(Bytes a, Bytes b) {
  return (Bytes)_mm256_unpackhi_epi8((__m256i)a, (__m256i)b);
}
#else
[[gnu::always_inline]] inline Bytes interleaveLow(Bytes a, Bytes b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21,
                                 6, 22, 7, 23);
}
[[gnu::always_inline]] inline Bytes interleaveHigh(Bytes a, Bytes b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13,
                                 29, 14, 30, 15, 31);
}
#endif

/// Two taps a word, as halves of it.
struct TapPairs {
  static constexpr int kTaps = 2;

  [[gnu::always_inline]] static void arrange(const Bytes (&taps)[kTaps],
                                             Words (&words)[kBlockVectors]) {
    const Bytes low = interleaveLow(taps[0], taps[1]),
                high = interleaveHigh(taps[0], taps[1]);
    words[0] = reinterpret_cast<Words>(interleaveLow(low, Bytes{}));
    words[1] = reinterpret_cast<Words>(interleaveHigh(low, Bytes{}));
    words[2] = reinterpret_cast<Words>(interleaveLow(high, Bytes{}));
    words[3] = reinterpret_cast<Words>(interleaveHigh(high, Bytes{}));
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
    interleaveHalves(interleaveLow(taps[0], taps[1]),
                     interleaveLow(taps[2], taps[3]), words[0], words[1]);
    interleaveHalves(interleaveHigh(taps[0], taps[1]),
                     interleaveHigh(taps[2], taps[3]), words[2], words[3]);
  }
  static void arrangeWeights(Bytes (&taps)[kTaps], int64_t, const uint32_t *,
                             Words (&words)[kBlockVectors]) {
    arrange(taps, words);
  }
  [[gnu::always_inline]] static Words add(Words sum, Words taps,
                                          Words weights) {
    return addFourProducts(sum, taps, weights);
  }

private:
  [[gnu::always_inline]] static void interleaveHalves(Bytes a, Bytes b,
                                                      Words &low, Words &high) {
#if DLC_VECTOR_BYTES == 64
    low = (Words)_mm512_unpacklo_epi16((__m512i)a, (__m512i)b);
    high = (Words)_mm512_unpackhi_epi16((__m512i)a, (__m512i)b);
#else
    low = (Words)_mm256_unpacklo_epi16((__m256i)a, (__m256i)b);
    high = (Words)_mm256_unpackhi_epi16((__m256i)a, (__m256i)b);
#endif
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

/// How windows are words. Taps below each other are one, for each column of a
/// window; of windows of one row, those beside each other.
///
/// Columns of an image are made ready for the windows of some pixels of a row:
/// all from the first to the last, or those of one window alone, where others
/// lie between.
template <typename Taps> struct DepthwiseShape {
  explicit DepthwiseShape(const Windows &w)
      : w(w), isFlat(w.kernelH == 1),
        groups((w.kernelH + Taps::kTaps - 1) / Taps::kTaps),
        columns(isFlat ? (w.kernelW + Taps::kTaps - 1) / Taps::kTaps
                       : w.kernelW),
        distance(isFlat ? w.dilationW * Taps::kTaps : w.dilationW),
        window((columns - 1) * distance + 1),
        isSparse(window * groups > kMostByteTaps) {}

  int64_t mostPixels() const {
    const int64_t wanted = kWantedTapGroups / groups;
    return isSparse || wanted <= window ? 1 : (wanted - window) / w.strideW + 1;
  }
  int64_t columnsOf(int64_t pixels) const {
    return isSparse ? columns : (pixels - 1) * w.strideW + window;
  }
  /// Between columns of the image that are made ready, and among these from
  /// word to word and from window to window.
  int64_t columnStep() const { return isSparse ? distance : 1; }
  int64_t wordStep() const { return isSparse ? 1 : distance; }
  int64_t pixelStep() const { return w.strideW; }
  /// Tap t of word x, g of a window, and how many are behind it and in it.
  int64_t tapOf(int64_t x, int64_t g, int64_t t) const {
    return isFlat ? x * Taps::kTaps + t : (g * Taps::kTaps + t) * w.kernelW + x;
  }
  int64_t tapsFrom(int64_t x, int64_t g) const {
    return isFlat ? w.kernelW - x * Taps::kTaps : w.kernelH - g * Taps::kTaps;
  }

  const Windows &w;
  const bool isFlat;      ///< Windows are of one row.
  const int64_t groups;   ///< Words of a column, for each channel.
  const int64_t columns;  ///< Of a window,
  const int64_t distance; ///< and in the image from each to the next,
  const int64_t window;   ///< and from the first to the last.
  const bool isSparse;
};

/// The sums of the windows of a run of pixels, put(pixel, sums) for each:
/// turned words of a block of channels.
template <typename Taps, typename Put>
[[gnu::always_inline]] inline void
addWindows(const DepthwiseShape<Taps> &shape, int64_t pixels,
           const uint32_t *columns, const uint32_t *weights, const Put &put) {
  const int64_t columnWords = shape.groups * kBlockWords;
  const int64_t wordStep = shape.wordStep() * columnWords;
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
  if (kLanes == 16 && shape.groups == 1 && shape.columns == kHeld) {
    Words held[kHeld][kBlockVectors];
    DLC_UNROLL for (int x = 0; x < kHeld; ++x) weightsOf(x, held[x]);
    for (int64_t i = 0; i < pixels; ++i, columns += pixelStep) {
      Words sums[kBlockVectors] = {};
      DLC_UNROLL for (int x = 0; x < kHeld; ++x)
          add(sums, columns + x * wordStep, held[x]);
      put(i, sums);
    }
    return;
  }
  // Two pixels use weights that are loaded once.
  const auto addPixels = [&]<int count>(int64_t first)
      __attribute__((always_inline)) {
    Words sums[count][kBlockVectors] = {};
    for (int64_t x = 0; x < shape.columns; ++x)
      for (int64_t g = 0; g < shape.groups; ++g) {
        Words own[kBlockVectors];
        weightsOf(x * shape.groups + g, own);
        const uint32_t *taps =
            columns + first * pixelStep + x * wordStep + g * kBlockWords;
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
  for (int64_t x = 0; x < shape.columns; ++x)
    for (int64_t g = 0; g < shape.groups; ++g, to += kBlockWords) {
      const int64_t taps = least<int64_t>(shape.tapsFrom(x, g), Taps::kTaps);
      Bytes bytes[Taps::kTaps] = {};
      for (int64_t t = 0; t < taps; ++t)
        bytes[t] = *reinterpret_cast<const UnalignedBytes *>(
            b + shape.tapOf(x, g, t) * width);
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
  const auto ofGroup = [&]<bool isFlat>(int64_t g) {
    // Of each tap its row, null outside, and how far it is to the right.
    const uint8_t *rows[Taps::kTaps];
    int64_t right[Taps::kTaps];
    for (int t = 0; t < Taps::kTaps; ++t) {
      const int64_t tapY = isFlat ? 0 : g * Taps::kTaps + t;
      const int64_t inY = top + tapY * w.dilationH;
      const bool isThere = tapY < w.kernelH && inY >= 0 && inY < w.inH;
      rows[t] =
          isThere ? image + inY * w.inW * plan.channels + column : nullptr;
      right[t] = isFlat ? t * w.dilationW : 0;
    }
    uint32_t *to = scratch.columns + g * kBlockWords;
    for (int64_t c = 0; c < columns; ++c, to += shape.groups * kBlockWords) {
      const int64_t first = left + c * shape.columnStep();
      Bytes taps[Taps::kTaps];
      DLC_UNROLL for (int t = 0; t < Taps::kTaps; ++t) {
        const int64_t inX = isFlat ? first + right[t] : first;
        const bool isThere = rows[t] && inX >= 0 && inX < w.inW;
        taps[t] =
            (isThere ? loadBlock(rows[t] + inX * plan.channels, count, end)
                     : border) ^
            flip;
      }
      Words words[kBlockVectors];
      Taps::arrange(taps, words);
      DLC_UNROLL for (int v = 0; v < kBlockVectors; ++v)
          storeWords(to + v * kLanes, words[v]);
    }
  };
  for (int64_t g = 0; g < shape.groups; ++g)
    if (shape.isFlat)
      ofGroup.template operator()<true>(g);
    else
      ofGroup.template operator()<false>(g);
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
