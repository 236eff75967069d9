// SPDX-License-Identifier: Apache-2.0
//
// What cpu.integer_matmul and cpu.integer_conv make of a tile's sums: zero
// points, rounding, and where results are written.
// See Vector.h for who may include it.

#ifndef DLC_RUNTIME_KERNEL_CPU_INTEGERRESULTS_H
#define DLC_RUNTIME_KERNEL_CPU_INTEGERRESULTS_H

#include "IntegerKernel.h"

namespace dlc::rt::cpu {
namespace {

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
    uint32_t sums[kPackedColumns] = {};
    __builtin_memcpy(sums, b + plan.terms * plan.columns + first * 4,
                     columns * sizeof(uint32_t));
    if (plan.hasZeroOfColumns)
      for (int64_t j = 0; j < kPackedColumns; ++j)
        zero[j] = j < columns ? zeros.ofColumn(first + j) : 0;
    else
      fill(zero, zeros.ofColumn(0));
    const auto terms = static_cast<uint32_t>(plan.product.k);
    const uint32_t ofA = zeros.ofA();
    for (int64_t j = 0; j < kPackedColumns; ++j)
      more[j] = ofA * (terms * zero[j] - sums[j]);
  }

  static void fill(uint32_t (&all)[kPackedColumns], uint32_t value) {
    for (uint32_t &each : all)
      each = value;
  }

  alignas(64) uint32_t more[kPackedColumns];
  alignas(64) uint32_t zero[kPackedColumns];
};

/// The sums of a tile of the grid, up to 64 columns of them.
struct TileResults {
  const uint32_t *sums;    ///< kPackedColumns from row to row.
  const uint32_t *rowSums; ///< Null where zero points of b are 0.
  const ColumnTerms columns;
  const int64_t rows, count;

  /// Of row i, a vector of columns from j on; the last of them mean nothing.
  [[gnu::always_inline]] Words at(int64_t i, int64_t j) const {
    Words sum =
        loadWords(sums + i * kPackedColumns + j) + loadWords(columns.more + j);
    if (rowSums)
      sum -= loadWords(columns.zero + j) * rowSums[i];
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

/// A block: a byte for each of as many columns as a vector has, or four vectors
/// of words. Bytes are in order. Words are in order as well, or turned: then
/// vector q has, in each four lanes l, those of columns 16 l + 4 q to
/// 16 l + 4 q + 3, which is what instructions that unpack bytes leave, and
/// those that pack words take, as both stay within 16 bytes.
typedef uint8_t Bytes __attribute__((vector_size(DLC_VECTOR_BYTES)));
typedef uint8_t UnalignedBytes
    __attribute__((vector_size(DLC_VECTOR_BYTES), aligned(1), may_alias));
constexpr int64_t kBlock = DLC_VECTOR_BYTES;
constexpr int kBlockVectors = 4;
static_assert(kPackedColumns % kBlock == 0);

/// Of the first block, words that are turned.
template <typename T>
inline void turnBlock(const T (&from)[kPackedColumns], T (&to)[kBlock]) {
  constexpr int64_t quad = 4;
  for (int64_t l = 0; l < kBlock / kLine; ++l)
    for (int64_t q = 0; q < kBlockVectors; ++q)
      __builtin_memcpy(to + q * kLanes + quad * l, from + kLine * l + quad * q,
                       quad * sizeof(T));
}

/// The nearest integers, of ties even ones; at least -2^22, which stands for
/// NaN, too. They are less than 2^22.
[[gnu::always_inline]] inline Words nearestOf(Vec value) {
#if DLC_VECTOR_BYTES == 64
  return (Words)_mm512_cvtps_epi32((__m512)value);
#elif DLC_VECTOR_BYTES == 32
  return (Words)_mm256_cvtps_epi32((__m256)value);
#elif defined(__SSE2__)
  return (Words)__builtin_ia32_cvtps2dq(value);
#else
  const Vec least = splat(-4194304.0f);
  value = value > least ? value : least;
  // 1.5 * 2^23 + value has no fraction, and an integer in its lower bits.
  return reinterpret_cast<Words>(value + splat(12582912.0f)) - 0x4b400000u;
#endif
}

/// Turned words plus `zero` in each half of a word, as u8: 0 in place of less,
/// 255 in place of more.
[[gnu::always_inline]] inline Bytes packTurned(const Words (&w)[kBlockVectors],
                                               Words zero) {
#if DLC_VECTOR_BYTES == 64
  const auto halves = [&](Words a, Words b) __attribute__((always_inline)) {
    return _mm512_adds_epi16(_mm512_packs_epi32((__m512i)a, (__m512i)b),
                             (__m512i)zero);
  };
  return (Bytes)_mm512_packus_epi16(halves(w[0], w[1]), halves(w[2], w[3]));
#elif DLC_VECTOR_BYTES == 32
  const auto halves = [&](Words a, Words b) __attribute__((always_inline)) {
    return _mm256_adds_epi16(_mm256_packs_epi32((__m256i)a, (__m256i)b),
                             (__m256i)zero);
  };
  return (Bytes)_mm256_packus_epi16(halves(w[0], w[1]), halves(w[2], w[3]));
#else
  typedef uint32_t Sixteen __attribute__((vector_size(64), may_alias));
  alignas(64) Words limited[kBlockVectors];
  DLC_UNROLL for (int q = 0; q < kBlockVectors; ++q) {
    const auto value = reinterpret_cast<IntVec>(w[q] + (zero & 0xffff));
    const IntVec low = value > 0 ? value : IntVec{};
    limited[q] = reinterpret_cast<Words>(low < 255 ? low : 255 + IntVec{});
  }
  return __builtin_convertvector(*reinterpret_cast<const Sixteen *>(limited),
                                 Bytes);
#endif
}

/// Of packed words that were in order.
[[gnu::always_inline]] inline Bytes inOrder(Bytes packed) {
#if DLC_VECTOR_BYTES == 64
  const __m512i places =
      _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return (Bytes)_mm512_permutexvar_epi32(places, (__m512i)packed);
#elif DLC_VECTOR_BYTES == 32
  const __m256i places = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  return (Bytes)_mm256_permutevar8x32_epi32((__m256i)packed, places);
#else
  return packed;
#endif
}

/// The first `count` bytes of a block.
[[gnu::always_inline]] inline void storeBytes(uint8_t *target, Bytes bytes,
                                              int64_t count) {
  if (__builtin_expect(count >= kBlock, true)) {
    *reinterpret_cast<UnalignedBytes *>(target) = bytes;
    return;
  }
#if DLC_VECTOR_BYTES == 64
  _mm512_mask_storeu_epi8(target, (uint64_t{1} << count) - 1, (__m512i)bytes);
#else
  const auto *from = reinterpret_cast<const uint8_t *>(&bytes);
  for (; count >= kLine; count -= kLine, from += kLine, target += kLine)
    *reinterpret_cast<UnalignedLine *>(target) =
        *reinterpret_cast<const UnalignedLine *>(from);
  __builtin_memcpy(target, from, count);
#endif
}

/// How a block of sums becomes bytes.
class BlockRounding {
public:
  BlockRounding(const float *multiplier, const float *offset, float high,
                uint32_t zero, uint32_t flip, bool isFinite)
      : high(splat(high)), zero(zero * 0x10001u + Words{}),
        flip(flip * 0x01010101u + Words{}), isFinite(isFinite) {
    DLC_UNROLL for (int v = 0; v < kBlockVectors; ++v) {
      this->multiplier[v] = load(multiplier + v * kLanes);
      this->offset[v] = load(offset + v * kLanes);
    }
  }

  /// Of `vectors` vectors; the rest means nothing.
  template <int vectors = kBlockVectors>
  [[gnu::always_inline]] Bytes
  operator()(const Words (&sums)[kBlockVectors]) const {
    Words rounded[kBlockVectors] = {};
    DLC_UNROLL for (int v = 0; v < vectors; ++v) {
      Vec value =
          __builtin_convertvector(reinterpret_cast<IntVec>(sums[v]), Vec);
      // Limits are integers: rounded after them or before, it is the same.
      value = minOf(value * multiplier[v] + offset[v], high);
      if (__builtin_expect(!isFinite, false))
        value = value == value ? value : Vec{};
      rounded[v] = nearestOf(value);
    }
    return reinterpret_cast<Bytes>(
        reinterpret_cast<Words>(packTurned(rounded, zero)) ^ flip);
  }

private:
  Vec multiplier[kBlockVectors], offset[kBlockVectors];
  const Vec high;
  const Words zero, flip;
  const bool isFinite;
};

/// Of up to 64 columns, from `first` on.
class Requantization {
public:
  Requantization(const IntegerPlan &plan, const IntegerArguments &arguments,
                 int64_t first, int64_t count)
      : flip(plan.isSignedC ? 0x80 : 0),
        zero(plan.isSignedC
                 ? *static_cast<const int8_t *>(arguments.cZero) + 128
                 : *static_cast<const uint8_t *>(arguments.cZero)) {
    take(arguments.multiplier, plan.hasMultiplierOfColumns, first, count,
         multiplier);
    take(arguments.offset, plan.hasOffsetOfColumns, first, count, offset);
    Vec zeros = {};
    for (int64_t j = 0; j < kPackedColumns; j += kLanes) // 0 of what is finite.
      zeros += (load(multiplier + j) + load(offset + j)) * 0.0f;
    for (int lane = 0; lane < kLanes; ++lane)
      isFinite &= zeros[lane] == 0.0f;
  }

  /// For columns from j on, whose words are in order.
  BlockRounding at(int64_t j) const { return of(multiplier + j, offset + j); }
  BlockRounding of(const float *ownMultiplier, const float *ownOffset) const {
    // Of u8, which i8 are as well with 128 added.
    return BlockRounding(ownMultiplier, ownOffset,
                         static_cast<float>(255 - static_cast<int>(zero)), zero,
                         flip, isFinite);
  }

  alignas(64) float multiplier[kPackedColumns];
  alignas(64) float offset[kPackedColumns];

private:
  static void take(const float *from, bool isOfColumns, int64_t first,
                   int64_t count, float (&to)[kPackedColumns]) {
    for (float &each : to)
      each = from[isOfColumns ? first : 0];
    if (isOfColumns)
      __builtin_memcpy(to, from + first, count * sizeof(float));
  }

  const uint32_t flip, zero;
  bool isFinite = true; ///< So that no result is NaN.
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

/// function(row, column, bytes) for all blocks of a tile.
template <typename Function>
[[gnu::always_inline]] inline void forBlocks(const TileResults &sums,
                                             const Requantization &requantize,
                                             const Function &function) {
  for (int64_t j = 0; j < sums.count; j += kBlock) {
    const BlockRounding round = requantize.at(j);
    const auto ofVectors = [&]<int vectors>() {
      for (int64_t i = 0; i < sums.rows; ++i) {
        Words own[kBlockVectors] = {};
        DLC_UNROLL for (int v = 0; v < vectors; ++v) own[v] =
            sums.at(i, j + v * kLanes);
        function(i, j, inOrder(round.operator()<vectors>(own)));
      }
    };
    const int64_t rest = sums.count - j;
    if (rest > 2 * kLanes)
      ofVectors.template operator()<4>();
    else if (rest > kLanes)
      ofVectors.template operator()<2>();
    else
      ofVectors.template operator()<1>();
  }
}

/// Writes results as rows, `at` is where the first one is.
struct WriteRows {
  static constexpr bool kIsInOrder = true; ///< Columns follow each other.

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
    forBlocks(
        sums, requantize,
        [&](int64_t i, int64_t j, Bytes bytes) __attribute__((always_inline)) {
          storeBytes(c + i * stride + j, bytes, sums.count - j);
        });
  }
};

/// Writes results as columns, each of which follows the one before.
struct WriteColumns {
  static constexpr bool kIsInOrder = false;

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
    alignas(64) uint8_t rows[kMostByteRows][kPackedColumns];
    forBlocks(
        sums, requantize,
        [&](int64_t i, int64_t j, Bytes bytes) __attribute__((always_inline)) {
          *reinterpret_cast<Bytes *>(rows[i] + j) = bytes;
        });
    for (int64_t j = 0; j < sums.count; j += kLine)
      for (int64_t i = 0; i < sums.rows; i += kLine) {
        Line lines[kLine];
        DLC_UNROLL for (int r = 0; r < kLine; ++r) lines[r] =
            *reinterpret_cast<const Line *>(rows[i + r] + j);
        turnLines(lines);
        for (int64_t l = 0; l < least(kLine, sums.count - j); ++l)
          storeLine(c + (j + l) * stride + i, lines[l], sums.rows - i);
      }
  }
};

/// Those of a tile from `row` and `column` on.
template <typename Writer>
inline void writeResults(const IntegerPlan &plan,
                         const IntegerArguments &arguments,
                         const TileResults &results, int64_t batch, int64_t row,
                         int64_t column, const Writer &writer) {
  const MatmulPlan &product = plan.product;
  const int64_t place =
      batch * product.m * product.n + writer.placeOf(row, column);
  if (plan.requantizes)
    writer.write(results,
                 Requantization(plan, arguments, column, results.count),
                 static_cast<uint8_t *>(arguments.c) + place);
  else
    writer.write(results, static_cast<uint32_t *>(arguments.c) + place);
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_INTEGERRESULTS_H
