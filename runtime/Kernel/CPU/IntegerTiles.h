// SPDX-License-Identifier: Apache-2.0
//
// cpu.integer_matmul over sums that something else adds up.
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

/// Rows of a, terms [begin, end) of each, as u8, zero padded.
class ByteRows {
public:
  ByteRows(const IntegerPlan &plan, IntegerScratch &scratch)
      : plan(plan), scratch(scratch), stride(plan.termBlock + kByteRowGap) {}

  /// Copies them, and sums them up where b has zero points.
  void copy(const uint8_t *a, int64_t rows, int64_t block, bool needsSums);

  const IntegerPlan &plan;
  IntegerScratch &scratch;
  const int64_t stride;
};

inline void ByteRows::copy(const uint8_t *a, int64_t rows, int64_t block,
                           bool needsSums) {
  const int64_t begin = block * plan.termBlock;
  const int64_t count = least(plan.termBlock, plan.product.k - begin);
  const uint8_t flip = plan.isSignedA ? 0x80 : 0;
  for (int64_t i = 0; i < rows; ++i) {
    const uint8_t *from = a + i * plan.product.lda + begin;
    uint8_t *to = scratch.rows + i * stride;
    for (int64_t l = 0; l < count; ++l)
      to[l] = from[l] ^ flip;
    for (int64_t l = count; l < plan.termBlock; ++l)
      to[l] = 0;
    if (!needsSums)
      continue;
    uint32_t sum = 0;
    for (int64_t l = 0; l < count; ++l)
      sum += to[l];
    scratch.rowSums[i] = block == 0 ? sum : scratch.rowSums[i] + sum;
  }
  const int64_t empty =
      (rows + kByteTileRows - 1) / kByteTileRows * kByteTileRows - rows;
  __builtin_memset(scratch.rows + rows * stride, 0, empty * stride);
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

/// Writes sums of `columns` columns from `first` on, without what zero points
/// add to them.
inline void writeIntegers(const IntegerPlan &plan, const ZeroPoints &zeros,
                          const int8_t *b, const IntegerScratch &scratch,
                          int64_t rows, int64_t first, int64_t columns,
                          int32_t *c) {
  uint32_t more[kPackedColumns], zero[kPackedColumns];
  const int8_t *columnSums = b + plan.terms * plan.columns;
  for (int64_t j = 0; j < columns; ++j) {
    uint32_t sum;
    __builtin_memcpy(&sum, columnSums + (first + j) * 4, sizeof(sum));
    zero[j] = zeros.ofColumn(first + j);
    more[j] =
        zeros.ofA() * (static_cast<uint32_t>(plan.product.k) * zero[j] - sum);
  }
  for (int64_t i = 0; i < rows; ++i) {
    const uint32_t *sums = scratch.sums + i * kPackedColumns;
    uint32_t rowSum = zeros.needsSums() ? scratch.rowSums[i] : 0;
    auto *to = reinterpret_cast<uint32_t *>(c + i * plan.product.n);
    for (int64_t j = 0; j < columns; ++j)
      to[j] = sums[j] + more[j] - zero[j] * rowSum;
  }
}

/// `Sums` adds up products of rows of bytes and columns of b: add(), as
/// VectorSums has it.
template <typename Sums>
inline void runIntegers(const IntegerPlan &plan,
                        const IntegerArguments &arguments, int64_t begin,
                        int64_t end) {
  IntegerScratch scratch;
  ByteRows copied(plan, scratch);
  const ZeroPoints zeros(plan, arguments);
  const MatmulPlan &product = plan.product;
  Sums sums;
  int64_t held = -1; // The rows that are copied, all their terms.
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t rest = tile / product.columnBlocks;
    const int64_t batch = rest / product.rowBlocks;
    const int64_t row = rest % product.rowBlocks * product.rowBlock;
    const int64_t rows = least(product.rowBlock, product.m - row);
    const uint8_t *a = arguments.a +
                       batchOffset(product, product.aSteps, batch) +
                       row * product.lda;
    const int8_t *b = arguments.b + batchOffset(product, product.bSteps, batch);
    int64_t column = tile % product.columnBlocks * product.columnBlock;
    const int64_t last = least(column + product.columnBlock, product.n);
    for (; column < last; column += kPackedColumns) {
      const int64_t width = least(kPackedColumns, plan.columns - column);
      for (int64_t block = 0; block < plan.termBlocks; ++block) {
        if (plan.termBlocks > 1 || held != rest)
          copied.copy(a, rows, block, zeros.needsSums());
        held = rest;
        const int64_t first = block * plan.termBlock;
        ByteArguments part = {};
        part.a = scratch.rows;
        part.aStride = copied.stride;
        part.bStride = width * kByteGroup;
        part.b = b + column * plan.terms + first * width;
        part.groups = least(plan.termBlock, plan.terms - first) / kByteGroup;
        part.sums = scratch.sums;
        part.accumulate = block > 0;
        sums.add(part, rows, width);
      }
      writeIntegers(plan, zeros, b, scratch, rows, column,
                    least(width, product.n - column),
                    arguments.c + (batch * product.m + row) * product.n +
                        column);
    }
  }
}

constexpr IntegerKernels thisIntegerKernels = {runIntegers<VectorSums>};

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_INTEGERTILES_H
