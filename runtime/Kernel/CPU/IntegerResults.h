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
      // 0 times what is finite.
      isFinite &= (multiplier[j] + offset[j]) * 0.0f == 0.0f;
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
    if (__builtin_expect(!isFinite, false))
      value = value == value ? value : Vec{};
    // 1.5 * 2^23 + value has no fraction, and an integer in its lower bits.
    const Vec shifted = value + splat(12582912.0f);
    return reinterpret_cast<Words>(shifted) + static_cast<uint32_t>(zero);
  }

  const int zero;
  const Vec low, high;
  bool isFinite = true; ///< So that no result is NaN.
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
