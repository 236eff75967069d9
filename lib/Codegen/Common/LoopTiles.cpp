// SPDX-License-Identifier: Apache-2.0
//
// Loops in square blocks: operands that lie across the vectors are transposed
// in registers.

#include "LoopEmitterImpl.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace dlc::codegen;

/// The last two parallel dimensions in square blocks. What does not fill one is
/// in a last one that repeats elements, or goes row by row where none may be
/// computed twice.
void LoopEmitter::emitTiles(const Cursor &cursor) {
  unsigned outer = *plan.tileDim, inner = *plan.vectorDim;
  const int64_t rows = *constantOf(rangeOf(outer));
  const int64_t columns = *constantOf(rangeOf(inner));
  const int64_t wholeRows = rows / plan.width * plan.width;
  const int64_t wholeColumns = columns / plan.width * plan.width;
  auto index = [&](int64_t value) { return buildI64(builder, loc, value); };
  auto emitRowOfTiles = [&](const Cursor &block) {
    buildFor({}, index(wholeColumns), plan.width, {},
             [&](Value column, ValueRange) -> Values {
               emitTile(advance(block, inner, column));
               return {};
             });
    if (wholeColumns == columns)
      return;
    if (plan.canOverlap)
      return emitTile(advance(block, inner, index(columns - plan.width)));
    buildFor({}, index(plan.width), 1, {},
             [&](Value row, ValueRange) -> Values {
               emitVectors(advance(block, outer, row), inner,
                           /*onlyRest=*/true);
               return {};
             });
  };
  buildFor({}, index(wholeRows), plan.width, {},
           [&](Value row, ValueRange) -> Values {
             emitRowOfTiles(advance(cursor, outer, row));
             return {};
           });
  if (wholeRows == rows)
    return;
  if (plan.canOverlap)
    return emitRowOfTiles(advance(cursor, outer, index(rows - plan.width)));
  buildFor(index(wholeRows), index(rows), 1, {},
           [&](Value row, ValueRange) -> Values {
             emitVectors(advance(cursor, outer, row), inner);
             return {};
           });
}

/// A square block: operands that lie across are loaded along the tile
/// dimension and transposed.
void LoopEmitter::emitTile(const Cursor &cursor) {
  unsigned outer = *plan.tileDim, inner = *plan.vectorDim;
  llvm::DenseMap<Value, Values> transposed;
  for (auto [index, operand] : llvm::enumerate(plan.operands)) {
    int64_t across = operand.strides[inner];
    if (!operand.isRead || operand.isOutput || operand.strides[outer] != 1 ||
        across == 0 || across == 1)
      continue;
    Values rows;
    for (int64_t row = 0; row < plan.width; ++row) {
      Value offset =
          addI64(builder, loc, cursor.offsets[index],
                 row ? buildI64(builder, loc, row * across) : Value());
      rows.push_back(body.load(loc, *operand.view, offset, 1, plan.width, {}));
    }
    transposed[operand.argument] = transpose(std::move(rows));
  }
  for (int64_t row = 0; row < plan.width; ++row) {
    Cursor here =
        advance(cursor, outer, row ? buildI64(builder, loc, row) : Value());
    ValueMap prepared = prepareUniform(here, {});
    for (auto &[argument, rows] : transposed)
      prepared[argument] = rows[row];
    emitBodies(here, plan.width, {}, prepared, {});
  }
}

/// Exchanges off-diagonal halves, then quarters, and so on.
LoopEmitter::Values LoopEmitter::transpose(Values rows) {
  int64_t width = plan.width;
  for (int64_t half = width / 2; half >= 1; half /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < width; ++lane) {
      low.push_back(lane & half ? width + lane - half : lane);
      high.push_back(lane & half ? width + lane : lane + half);
    }
    for (int64_t row = 0; row < width; ++row) {
      if (row & half)
        continue;
      Value a = rows[row], b = rows[row + half];
      rows[row] = vector::ShuffleOp::create(builder, loc, a, b, low);
      rows[row + half] = vector::ShuffleOp::create(builder, loc, a, b, high);
    }
  }
  return rows;
}
