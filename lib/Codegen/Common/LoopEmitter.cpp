// SPDX-License-Identifier: Apache-2.0

#include "LoopEmitter.h"

#include "LoopEmitterImpl.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace dlc::codegen;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// A loop; none when it runs at most once for sure.
LoopEmitter::Values LoopEmitter::buildFor(Value low, Value high, int64_t step,
                                          ValueRange carried,
                                          LoopBody emitBody) {
  std::optional<int64_t> first = constantOf(low), last = constantOf(high);
  if (first && last && *first >= *last)
    return Values(carried);
  if (first && last && *first + step >= *last)
    return emitBody(low, carried);
  auto orZero = [&](Value v) { return v ? v : buildI64(builder, loc, 0); };
  auto loop = scf::ForOp::create(builder, loc, orZero(low), orZero(high),
                                 buildI64(builder, loc, step), carried);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = loop.getBody();
  builder.setInsertionPointToStart(block);
  Values results = emitBody(loop.getInductionVar(), loop.getRegionIterArgs());
  builder.setInsertionPointToEnd(block);
  if (!carried.empty())
    scf::YieldOp::create(builder, loc, results);
  else if (block->empty() || !block->back().hasTrait<OpTrait::IsTerminator>())
    scf::YieldOp::create(builder, loc);
  return Values(loop.getResults());
}

Cursor LoopEmitter::advance(const Cursor &cursor, unsigned dim, Value index) {
  Cursor next = cursor;
  next.indices[dim] = addI64(builder, loc, cursor.indices[dim], index);
  for (auto [offset, operand] : llvm::zip_equal(next.offsets, plan.operands))
    offset = addI64(builder, loc, offset,
                    mulI64(builder, loc, index, operand.strides[dim]));
  return next;
}

Value LoopEmitter::rangeOf(unsigned dim) {
  OpFoldResult range = plan.ranges[dim];
  if (auto value = dyn_cast<Value>(range))
    return value;
  return buildI64(builder, loc, *getConstantIntValue(range));
}

/// The largest multiple of `step` within `range`.
Value LoopEmitter::wholePart(Value range, int64_t step) {
  if (std::optional<int64_t> count = constantOf(range))
    return buildI64(builder, loc, *count / step * step);
  Value mask = buildI64(builder, loc, ~(step - 1));
  return arith::AndIOp::create(builder, loc, range, mask);
}

/// Lanes below `count`.
Value LoopEmitter::buildMask(Value count, int64_t width) {
  auto type = VectorType::get({width}, builder.getI1Type());
  if (std::optional<int64_t> lanes = constantOf(count)) {
    SmallVector<bool> bits(width);
    for (int64_t lane = 0; lane < width; ++lane)
      bits[lane] = lane < *lanes;
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(type, bits));
  }
  SmallVector<int64_t> lanes = llvm::to_vector(llvm::seq<int64_t>(width));
  Value iota =
      arith::ConstantOp::create(builder, loc, builder.getI64VectorAttr(lanes));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, iota,
                               body.broadcast(loc, count, width));
}

Cursor LoopEmitter::start() {
  Cursor cursor;
  cursor.indices.resize(plan.ranges.size());
  for (const LoopOperand &operand : plan.operands) {
    Value constant =
        operand.constant ? buildI64(builder, loc, operand.constant) : Value();
    Value start = operand.view ? operand.view->offset : Value();
    cursor.offsets.push_back(addI64(builder, loc, start, constant));
  }
  return cursor;
}

LogicalResult LoopEmitter::emit() {
  emitParallel(0, start());
  return failure(failed);
}

void LoopEmitter::emitParallel(unsigned depth, const Cursor &cursor) {
  bool vectorHere = plan.vectorDim && !plan.vectorIsReduced;
  if (depth == plan.parallel.size())
    return emitScalarReduction(cursor);
  unsigned dim = plan.parallel[depth];
  if (vectorHere && depth + 1 == plan.parallel.size())
    return emitVectors(cursor, dim);
  if (plan.tileDim == dim)
    return emitTiles(cursor);
  buildFor({}, rangeOf(dim), 1, {}, [&](Value index, ValueRange) -> Values {
    emitParallel(depth + 1, advance(cursor, dim, index));
    return {};
  });
}

/// The vector dimension is parallel: blocks of `unroll` vectors, then single
/// vectors, then the remainder; `onlyRest`: the remainder of whole vectors.
void LoopEmitter::emitVectors(const Cursor &cursor, unsigned dim,
                              bool onlyRest) {
  Value range = rangeOf(dim), done;
  auto blocks = [&](Value end, int64_t width, int64_t copies) {
    buildFor(done, end, width * copies, {},
             [&](Value index, ValueRange) -> Values {
               emitBlock(advance(cursor, dim, index), width, copies, {});
               return {};
             });
    done = end;
  };
  if (onlyRest) {
    done = wholePart(range, plan.width);
  } else if (plan.width > 1) {
    if (plan.unroll > 1)
      blocks(wholePart(range, plan.width * plan.unroll), plan.width,
             plan.unroll);
    blocks(wholePart(range, plan.width), plan.width, 1);
  }
  std::optional<int64_t> rest = constantOf(range);
  if (rest && done)
    *rest -= *constantOf(done);
  if (rest && *rest == 0)
    return;
  if (!plan.canMask && plan.canOverlap && rest && plan.width > 1 &&
      *constantOf(range) > plan.width) {
    Value last = buildI64(builder, loc, *constantOf(range) - plan.width);
    return emitBlock(advance(cursor, dim, last), plan.width, 1, {});
  }
  if (!plan.canMask)
    return blocks(range, 1, 1);
  Value count = arith::SubIOp::create(builder, loc, range,
                                      done ? done : buildI64(builder, loc, 0));
  if (rest)
    count = buildI64(builder, loc, *rest);
  emitBlock(advance(cursor, dim, done), plan.width, 1,
            buildMask(count, plan.width));
}

/// One block along the vector dimension with all its reduced dimensions.
void LoopEmitter::emitBlock(const Cursor &cursor, int64_t width, int64_t copies,
                            Value mask) {
  Values accumulators;
  SmallVector<Cursor> cursors;
  for (int64_t copy = 0; copy < copies; ++copy) {
    cursors.push_back(
        advance(cursor, *plan.vectorDim,
                copy ? buildI64(builder, loc, copy * width) : Value()));
    llvm::append_range(accumulators,
                       readAccumulators(cursors.back(), width, mask));
  }
  accumulators = emitReduced(0, cursor, width, copies, mask, accumulators);
  size_t each = plan.accumulators.size();
  for (int64_t copy = 0; copy < copies; ++copy)
    writeAccumulators(cursors[copy],
                      ValueRange(accumulators).slice(copy * each, each), width,
                      mask);
}

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

/// What does not change along dimension `inner` is computed once, in front
/// of its loop: LLVM could not, since stores may alias the loads.
ValueMap LoopEmitter::prepareUniform(const Cursor &cursor,
                                     std::optional<unsigned> inner) {
  ValueMap values;
  for (auto [index, operand] : llvm::enumerate(plan.operands)) {
    if (operand.scalar)
      values[operand.argument] = outer.lookup(operand.scalar);
    else if (inner && operand.isRead && !operand.isOutput &&
             operand.strides[*inner] == 0)
      values[operand.argument] =
          body.load(loc, *operand.view, cursor.offsets[index], 0, 1, {});
  }
  for (Operation &inside : op.getBlock()->without_terminator()) {
    auto isUniform = [&](Value operand) {
      return values.contains(operand) || outer.contains(operand);
    };
    if (isa<linalg::IndexOp>(inside) || isa<memref::LoadOp>(inside) ||
        !llvm::all_of(inside.getOperands(), isUniform))
      continue;
    if (body.emit(inside, 1, values).failed())
      failed = true;
  }
  return values;
}

/// One operation of the body.
bool LoopEmitter::emitInside(Operation &inside, const Cursor &cursor,
                             int64_t width, ValueMap &values) {
  auto indexOp = dyn_cast<linalg::IndexOp>(inside);
  if (!indexOp)
    return body.emit(inside, width, values).succeeded();
  Value index = cursor.indices[indexOp.getDim()];
  index = index ? index : buildI64(builder, loc, 0);
  if (width > 1 && plan.vectorDim == indexOp.getDim()) {
    SmallVector<int64_t> lanes = llvm::to_vector(llvm::seq<int64_t>(width));
    Value iota = arith::ConstantOp::create(builder, loc,
                                           builder.getI64VectorAttr(lanes));
    Value first = index;
    index = arith::AddIOp::create(builder, loc,
                                  body.broadcast(loc, first, width), iota);
    body.addRamp(index, first);
  }
  values[indexOp] = index;
  return true;
}

/// Stores what the body gives, and gives the accumulators' values.
LoopEmitter::Values LoopEmitter::yieldBody(const Cursor &cursor, int64_t width,
                                           Value mask, const ValueMap &values,
                                           ValueRange accumulators) {
  Operation *yield = op.getBlock()->getTerminator();
  Values results;
  for (auto [accumulator, old] :
       llvm::zip_equal(plan.accumulators, accumulators)) {
    Value value = body.lookup(yield->getOperand(accumulator.result), values);
    value = body.broadcast(loc, value, width);
    if (mask && plan.vectorIsReduced)
      value = arith::SelectOp::create(builder, loc, mask, value, old);
    results.push_back(value);
  }
  unsigned firstOutput = plan.operands.size() - op.getNumDpsInits();
  for (unsigned i = firstOutput; i < plan.operands.size(); ++i) {
    const LoopOperand &operand = plan.operands[i];
    if (llvm::any_of(plan.accumulators,
                     [&](const Accumulator &a) { return a.operand == i; }))
      continue;
    Value value = body.lookup(yield->getOperand(i - firstOutput), values);
    body.store(loc, value, *operand.view, cursor.offsets[i],
               vectorStride(operand), width, mask);
  }
  return results;
}

/// The body for each of `cursors`, `accumulators` one after the other. Each
/// operation for all of them, then the next one: a processor looks ahead some
/// hundred instructions, and what waits for each other fills that.
LoopEmitter::Values LoopEmitter::emitBodies(ArrayRef<Cursor> cursors,
                                            int64_t width, Value mask,
                                            const ValueMap &prepared,
                                            ValueRange accumulators) {
  const size_t each = plan.accumulators.size();
  SmallVector<ValueMap> values(cursors.size(), prepared);
  for (auto [copy, own] : llvm::enumerate(values)) {
    for (auto [accumulator, value] : llvm::zip_equal(
             plan.accumulators, accumulators.slice(copy * each, each)))
      own[plan.operands[accumulator.operand].argument] = value;
    for (auto [index, operand] : llvm::enumerate(plan.operands))
      if (operand.isRead && !own.contains(operand.argument))
        own[operand.argument] =
            body.load(loc, *operand.view, cursors[copy].offsets[index],
                      vectorStride(operand), width, mask);
  }
  for (Operation &inside : op.getBlock()->without_terminator())
    for (auto [cursor, own] : llvm::zip_equal(cursors, values)) {
      if (inside.getNumResults() && own.contains(inside.getResult(0)))
        continue;
      if (emitInside(inside, cursor, width, own))
        continue;
      failed = true;
      return Values(accumulators);
    }
  Values results;
  for (auto [copy, cursor] : llvm::enumerate(cursors))
    llvm::append_range(results,
                       yieldBody(cursor, width, mask, values[copy],
                                 accumulators.slice(copy * each, each)));
  return results;
}

LogicalResult dlc::codegen::emitStructuredOp(
    OpBuilder &builder, linalg::LinalgOp op, const TargetOptions &target,
    const ViewMap &views, const ValueMap &outer, ArrayRef<Value> initial) {
  FailureOr<LoopPlan> plan = planLoops(op, target, views);
  if (mlir::failed(plan))
    return failure();
  return LoopEmitter(builder, op, *plan, target, views, outer, initial).emit();
}
