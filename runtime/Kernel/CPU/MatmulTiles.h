// SPDX-License-Identifier: Apache-2.0
//
// The tiles of cpu.matmul. See Vector.h for who may include it.
//
// A tile walks its columns in panels of b that stay in L1 while the rows of a
// stream past them; a is read in place. b is read in place when packed, or
// when there are too few rows to pay for packing; else panels are packed into
// the stack. Few rows are a matter of memory bandwidth: they take wider
// kernels, so that enough loads are in flight.

#ifndef DLC_RUNTIME_KERNEL_CPU_MATMULTILES_H
#define DLC_RUNTIME_KERNEL_CPU_MATMULTILES_H

#include "BatchOffset.h"
#include "FewColumnTiles.h"
#include "MicroKernel.h"
#include "Transpose.h"

namespace dlc::rt::cpu {
namespace {

/// Rows of b that a panel on the stack may have, at 64 columns.
constexpr int64_t kMaxPackedColumns = 64;

struct MatmulTile {
  const MatmulPlan &plan;
  const float *a, *b;
  const float *bias, *residual; ///< Null when absent.
  float *c;
  int64_t rowBegin, rowEnd, columnBegin, columnEnd;
  float *scratch;

  void run() const;

private:
  void runFewRows() const;
  bool hasFewColumns() const;
  bool paysToDot() const;
  void dotFewColumns() const;
  void runNarrow() const;
  void writeSum(int64_t row, int64_t column, float sum) const;
  void activateAll() const;
  void runBlock(int64_t column, int64_t vectors, int64_t kBegin,
                int64_t kEnd) const;
  bool needsPacking(int64_t valid, int64_t width) const;
  void packColumns(int64_t column, int64_t valid, int64_t width, int64_t kBegin,
                   int64_t kEnd) const;
  int64_t vectorsAt(int64_t column) const;
  const float *nextOf(int64_t column, int64_t kBegin, int64_t kEnd) const;
  int64_t packedColumns() const {
    return (plan.n + kPanelWidth - 1) / kPanelWidth * kPanelWidth;
  }
  /// Of those that are packed together with `column`.
  int64_t packedEnd(int64_t column) const {
    return least(column - column % plan.packedWidth + plan.packedWidth,
                 packedColumns());
  }
};

/// The widest kernel for the rows of this tile that fits the columns left.
/// Kernels of a whole number of panels start at a panel.
inline int64_t MatmulTile::vectorsAt(int64_t column) const {
  int64_t rows = rowEnd - rowBegin;
  int64_t vectors = rows <= 3 ? kVectorsOf[rows] : kMatmulVectors;
  vectors = least(vectors, kMaxPackedColumns / kLanes);
  if (plan.packedB) { // Nothing lies behind the last panel.
    const int64_t end =
        plan.packedWidth == kPanelWidth ? packedColumns() : packedEnd(column);
    vectors = least(vectors, (end - column) / kLanes);
  }
  while (vectors > 1 && (vectors / 2) * kLanes >= columnEnd - column)
    vectors /= 2;
  return vectors;
}

inline bool MatmulTile::needsPacking(int64_t valid, int64_t width) const {
  if (plan.packedB)
    return false;
  constexpr int64_t fewRows = 12;
  return plan.transposedB || valid < width || rowEnd - rowBegin > fewRows;
}

/// Packs columns of b into rows of `width`, for terms [kBegin, kEnd).
inline void MatmulTile::packColumns(int64_t column, int64_t valid,
                                    int64_t width, int64_t kBegin,
                                    int64_t kEnd) const {
  const int64_t terms = kEnd - kBegin;
  if (valid % kLanes != 0) // Whole vectors are read back.
    for (int64_t l = 0; l < terms; ++l)
      store(scratch + l * width + valid / kLanes * kLanes, Vec{});
  if (plan.transposedB)
    return packTransposed(b + column * plan.ldb + kBegin, plan.ldb, terms,
                          valid, scratch, width);
  const float *source = b + kBegin * plan.ldb + column;
  for (int64_t l = 0; l < terms; ++l, source += plan.ldb)
    for (int64_t j = 0; j < valid; j += kLanes)
      store(scratch + l * width + j, loadFirst(source + j, valid - j));
}

/// What is read of a packed b after the columns in front of `column`, which are
/// packed together, and terms [kBegin, kEnd) of them, in this tile or the next
/// one; null where that is other rows' or unlike this. Few rows read b as fast
/// as it comes.
inline const float *MatmulTile::nextOf(int64_t column, int64_t kBegin,
                                       int64_t kEnd) const {
  if (rowEnd - rowBegin < 2 * kMaxRows || plan.packedWidth == kPanelWidth)
    return nullptr;
  if (column < columnEnd)
    kEnd = kBegin;
  else if (kEnd < plan.k)
    column = columnBegin;
  else
    kEnd = 0;
  if (column + plan.packedWidth > plan.n)
    return nullptr;
  return b + column * plan.k + kEnd * plan.packedWidth;
}

inline void MatmulTile::runBlock(int64_t column, int64_t vectors,
                                 int64_t kBegin, int64_t kEnd) const {
  const int64_t width = vectors * kLanes;
  const int64_t valid = least(width, columnEnd - column);
  TileArguments t = {};
  t.k = kEnd - kBegin;
  t.cStride = plan.n;
  bool panels = false;
  const float *next = nullptr;
  if (plan.packedB) {
    const int64_t inside = column % plan.packedWidth;
    t.bStride = packedEnd(column) - (column - inside);
    t.bPanel = plan.k * t.bStride;
    t.b = b + (column - inside) * plan.k + kBegin * t.bStride + inside;
    panels = plan.packedWidth == kPanelWidth;
    next = nextOf(column - inside + plan.packedWidth, kBegin, kEnd);
    next = next ? next + t.k * inside : nullptr;
  } else if (needsPacking(valid, width)) {
    packColumns(column, valid, width, kBegin, kEnd);
    t.bStride = width;
    t.b = scratch;
  } else {
    t.b = b + kBegin * plan.ldb + column;
    t.bStride = plan.ldb;
  }
  const bool last = kEnd == plan.k;
  t.accumulate = kBegin > 0;
  t.columnBias = bias && !t.accumulate ? bias + column : nullptr;
  t.clamp = last && isClamp(plan.epilogue);
  t.low = clampLow(plan.epilogue);
  t.high = clampHigh(plan.epilogue);
  t.aStride = plan.lda;

  // Rows are dealt out evenly, so that no call is left with too few of them
  // to hide the latency of the multiply-adds.
  const int64_t rows = rowEnd - rowBegin;
  const int64_t calls = (rows + kMaxRows - 1) / kMaxRows;
  Ahead ahead(next, t.k * width, t.k, calls);
  int64_t row = rowBegin;
  for (int64_t call = 0; call < calls; ++call) {
    const int64_t count = rows / calls + (call < rows % calls);
    t.aAhead = count; // The next rows.
    t.a = plan.transposedA ? a + kBegin * plan.lda + row
                           : a + row * plan.lda + kBegin;
    t.c = c + row * plan.n + column;
    t.residual =
        residual && !t.accumulate ? residual + row * plan.n + column : nullptr;
    MicroKernel kernel =
        plan.transposedA
            ? (panels ? microKernelOf<AForm::Columns, true>(count, vectors)
                      : microKernelOf<AForm::Columns, false>(count, vectors))
            : (panels ? microKernelOf<AForm::Rows, true>(count, vectors)
                      : microKernelOf<AForm::Rows, false>(count, vectors));
    ahead.into(t);
    runTile(kernel, t, count, valid, vectors);
    if (last)
      activateRest(t.c, plan.n, count, valid, plan.epilogue);
    row += count;
  }
}

inline void MatmulTile::activateAll() const {
  const int64_t rows = rowEnd - rowBegin, columns = columnEnd - columnBegin;
  float *block = c + rowBegin * plan.n + columnBegin;
  if (plan.epilogue.activation == Activation::Relu)
    activateBlock<Activation::Relu>(block, plan.n, rows, columns,
                                    plan.epilogue);
  else if (plan.epilogue.activation == Activation::Clamp)
    activateBlock<Activation::Clamp>(block, plan.n, rows, columns,
                                     plan.epilogue);
  else
    activateRest(block, plan.n, rows, columns, plan.epilogue);
}

/// Writes what has no activation yet.
inline void MatmulTile::writeSum(int64_t row, int64_t column, float sum) const {
  if (bias)
    sum += bias[column];
  const int64_t at = row * plan.n + column;
  c[at] = residual ? sum + residual[at] : sum;
}

/// For few rows and a transposed b, which is then read once, along its rows.
inline void MatmulTile::runFewRows() const {
  dotProducts({b + columnBegin * plan.ldb, plan.ldb, columnEnd - columnBegin},
              {a + rowBegin * plan.lda, plan.lda, rowEnd - rowBegin}, plan.k,
              [&](int64_t j, int64_t i, float sum) {
                writeSum(rowBegin + i, columnBegin + j, sum);
              });
  activateAll();
}

/// Where b has fewer columns than a vector has lanes, all of which are in the
/// tile, and the others would be multiplied for nothing. The rows of the tile
/// do not matter: threads may be handed several tiles as one, and results are
/// the same for any number of them.
inline bool MatmulTile::hasFewColumns() const {
  constexpr int64_t fewestRows = 4;
  return plan.n < kLanes && !plan.transposedA && plan.k > 0 &&
         plan.m >= fewestRows;
}

/// Dot products take a load for each vector of terms and row, and some to add
/// up lanes for each result; rows of results one for each term and row.
inline bool MatmulTile::paysToDot() const {
  constexpr int64_t toAdd = 8 * kLanes;
  return plan.n * (plan.k + toAdd) < kLanes * plan.k &&
         plan.n * plan.k <= kScratchBytes / int64_t{sizeof(float)};
}

inline void MatmulTile::dotFewColumns() const {
  const int64_t step = plan.packedB ? packedEnd(0) : plan.ldb;
  DotRows columns = {b, plan.ldb, plan.n};
  if (plan.packedB || !plan.transposedB) {
    columns = {scratch, plan.k, plan.n};
    if (step == 1) // They are one already.
      columns.first = b;
    else
      for (int64_t j = 0; j < plan.n; ++j)
        for (int64_t l = 0; l < plan.k; ++l)
          scratch[j * plan.k + l] = b[l * step + j];
  }
  dotProducts(
      {a + rowBegin * plan.lda, plan.lda, rowEnd - rowBegin}, columns, plan.k,
      [&](int64_t i, int64_t j, float sum) { writeSum(rowBegin + i, j, sum); });
  activateAll();
}

inline void MatmulTile::runNarrow() const {
  const bool isTurned = plan.transposedB && !plan.packedB;
  if (isTurned)
    packTransposed(b, plan.ldb, plan.k, plan.n, scratch, kLanes);
  const int64_t at = rowBegin * plan.n;
  const bool clamps = isClamp(plan.epilogue);
  NarrowProduct{a + rowBegin * plan.lda,
                plan.lda,
                isTurned ? scratch : b,
                isTurned       ? kLanes
                : plan.packedB ? packedEnd(0)
                               : plan.ldb,
                plan.k,
                plan.n,
                bias,
                residual ? residual + at : nullptr,
                c + at,
                splat(clamps ? clampLow(plan.epilogue) : -__builtin_inff()),
                splat(clamps ? clampHigh(plan.epilogue) : __builtin_inff())}
      .run(rowEnd - rowBegin);
  activateRest(c + at, plan.n, rowEnd - rowBegin, plan.n, plan.epilogue);
}

inline void MatmulTile::run() const {
  if (plan.transposedB && !plan.packedB && !plan.transposedA &&
      rowEnd - rowBegin < kMaxRows)
    return runFewRows();
  if (hasFewColumns() && paysToDot())
    return dotFewColumns();
  if (hasFewColumns() && plan.k == plan.kBlock)
    return runNarrow();
  int64_t kBegin = 0;
  do {
    const int64_t kEnd = least(kBegin + plan.kBlock, plan.k);
    for (int64_t column = columnBegin; column < columnEnd;) {
      const int64_t vectors = vectorsAt(column);
      runBlock(column, vectors, kBegin, kEnd);
      column += vectors * kLanes;
    }
    kBegin = kEnd;
  } while (kBegin < plan.k);
}

void runMatmul(const MatmulPlan &plan, void *const *arguments, int64_t begin,
               int64_t end) {
  alignas(64) float scratch[kScratchBytes / sizeof(float)];
  const auto *a = static_cast<const float *>(arguments[0]);
  const auto *b = static_cast<const float *>(arguments[1]);
  const auto *bias = static_cast<const float *>(arguments[2]);
  const auto *residual = static_cast<const float *>(arguments[3]);
  auto *c = static_cast<float *>(arguments[4]);
  for (int64_t tile = begin, count; tile < end; tile += count) {
    const int64_t batch = tile / (plan.columnBlocks * plan.rowBlocks);
    const int64_t inside = tile % (plan.columnBlocks * plan.rowBlocks);
    int64_t rowIndex = inside / plan.columnBlocks;
    int64_t columnIndex = inside % plan.columnBlocks;
    count = 1;
    if (plan.isColumnSlowest) { // Tiles of the same panels are one.
      rowIndex = inside % plan.rowBlocks;
      columnIndex = inside / plan.rowBlocks;
      count = least(end - tile, plan.rowBlocks - rowIndex);
    }
    const int64_t cOffset = batch * plan.m * plan.n;
    const int64_t row = rowIndex * plan.rowBlock;
    const int64_t column = columnIndex * plan.columnBlock;
    MatmulTile{plan,
               a + batchOffset(plan, plan.aSteps, batch),
               b + batchOffset(plan, plan.bSteps, batch),
               bias,
               residual ? residual + cOffset : nullptr,
               c + cOffset,
               row,
               least(row + count * plan.rowBlock, plan.m),
               column,
               least(column + plan.columnBlock, plan.n),
               scratch}
        .run();
  }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_MATMULTILES_H
