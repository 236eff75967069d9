// SPDX-License-Identifier: Apache-2.0

#include "LoopEmitter.h"

#include "LoopPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace dlc::codegen;

namespace {

/// Where the loops stand: per operand an offset in elements, per dimension
/// the index (null: 0).
struct Cursor {
  SmallVector<Value> offsets;
  SmallVector<Value> indices;
};

class LoopEmitter {
public:
  LoopEmitter(OpBuilder &builder, linalg::LinalgOp op, const LoopPlan &plan,
              const TargetOptions &target, const ViewMap &views,
              const ValueMap &outer, ArrayRef<Value> initial)
      : builder(builder), loc(op->getLoc()), op(op), plan(plan), outer(outer),
        initial(initial), body(builder, target, views, outer) {}

  LogicalResult emit();

private:
  using Values = SmallVector<Value>;
  /// Emits part of a loop's body; takes and gives the carried values.
  using LoopBody = llvm::function_ref<Values(Value index, ValueRange carried)>;

  Values buildFor(Value low, Value high, int64_t step, ValueRange carried,
                  LoopBody emitBody);
  Cursor advance(const Cursor &cursor, unsigned dim, Value index);
  int64_t vectorStride(const LoopOperand &operand) const {
    return plan.vectorDim ? operand.strides[*plan.vectorDim] : 0;
  }

  void emitParallel(unsigned depth, const Cursor &cursor);
  void emitVectors(const Cursor &cursor, unsigned dim, bool onlyRest = false);
  void emitTiles(const Cursor &cursor);
  void emitTile(const Cursor &cursor);
  Values transpose(Values rows);
  void emitBlock(const Cursor &cursor, int64_t width, int64_t copies,
                 Value mask);
  void emitScalarReduction(const Cursor &cursor);
  Values emitReduced(unsigned depth, const Cursor &cursor, int64_t width,
                     int64_t copies, Value mask, ValueRange carried);
  Values emitReducedVectors(const Cursor &cursor, ValueRange carried);
  Values emitBody(const Cursor &cursor, int64_t width, Value mask,
                  const ValueMap &prepared, ValueRange accumulators);
  ValueMap prepareUniform(const Cursor &cursor, std::optional<unsigned> inner);

  Values readAccumulators(const Cursor &cursor, int64_t width, Value mask);
  void writeAccumulators(const Cursor &cursor, ValueRange values, int64_t width,
                         Value mask);
  Values identities(int64_t width);
  Value combine(const Accumulator &accumulator, Value a, Value b);
  Values combineCopies(ValueRange values, int64_t copies);
  Value combineLanes(const Accumulator &accumulator, Value vector);
  Value buildMask(Value count, int64_t width);
  /// First index and mask or count of the remainder of a vector loop.
  Value rangeOf(unsigned dim);
  Value wholePart(Value range, int64_t step);

  OpBuilder &builder;
  Location loc;
  linalg::LinalgOp op;
  const LoopPlan &plan;
  const ValueMap &outer;
  ArrayRef<Value> initial;
  BodyEmitter body;
  bool failed = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

static std::optional<int64_t> constantOf(Value value) {
  if (!value)
    return 0;
  return getConstantIntValue(value);
}

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

LogicalResult LoopEmitter::emit() {
  Cursor cursor;
  cursor.indices.resize(plan.ranges.size());
  for (const LoopOperand &operand : plan.operands) {
    Value constant =
        operand.constant ? buildI64(builder, loc, operand.constant) : Value();
    Value start = operand.view ? operand.view->offset : Value();
    cursor.offsets.push_back(addI64(builder, loc, start, constant));
  }
  emitParallel(0, cursor);
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

/// The last two parallel dimensions in square blocks; what does not fill a
/// block goes row by row.
void LoopEmitter::emitTiles(const Cursor &cursor) {
  unsigned outer = *plan.tileDim, inner = *plan.vectorDim;
  Value rows = rangeOf(outer), columns = rangeOf(inner);
  Value wholeRows = wholePart(rows, plan.width);
  buildFor({}, wholeRows, plan.width, {}, [&](Value row, ValueRange) -> Values {
    Cursor block = advance(cursor, outer, row);
    buildFor({}, wholePart(columns, plan.width), plan.width, {},
             [&](Value column, ValueRange) -> Values {
               emitTile(advance(block, inner, column));
               return {};
             });
    if (*constantOf(columns) % plan.width)
      buildFor({}, buildI64(builder, loc, plan.width), 1, {},
               [&](Value index, ValueRange) -> Values {
                 emitVectors(advance(block, outer, index), inner,
                             /*onlyRest=*/true);
                 return {};
               });
    return {};
  });
  buildFor(wholeRows, rows, 1, {}, [&](Value row, ValueRange) -> Values {
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
    emitBody(here, plan.width, {}, prepared, {});
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

/// No parallel vector dimension: one element of every accumulator.
void LoopEmitter::emitScalarReduction(const Cursor &cursor) {
  if (!plan.vectorIsReduced) {
    Values values = readAccumulators(cursor, 1, {});
    values = emitReduced(0, cursor, 1, 1, {}, values);
    return writeAccumulators(cursor, values, 1, {});
  }
  Values values;
  for (int64_t copy = 0; copy < plan.unroll; ++copy)
    llvm::append_range(values, identities(plan.width));
  values = emitReduced(0, cursor, plan.width, 1, {}, values);
  values = combineCopies(values, plan.unroll);
  Values old = readAccumulators(cursor, 1, {});
  for (auto [accumulator, value, before] :
       llvm::zip_equal(plan.accumulators, values, old))
    value = combine(accumulator, combineLanes(accumulator, value), before);
  writeAccumulators(cursor, values, 1, {});
}

/// The reduced dimensions, accumulators carried; `copies` neighbours along a
/// parallel vector dimension are computed in each iteration.
LoopEmitter::Values LoopEmitter::emitReduced(unsigned depth,
                                             const Cursor &cursor,
                                             int64_t width, int64_t copies,
                                             Value mask, ValueRange carried) {
  if (plan.vectorIsReduced && depth + 1 == plan.reduced.size())
    return emitReducedVectors(cursor, carried);
  if (depth < plan.reduced.size()) {
    unsigned dim = plan.reduced[depth];
    return buildFor({}, rangeOf(dim), 1, carried,
                    [&](Value index, ValueRange values) {
                      return emitReduced(depth + 1, advance(cursor, dim, index),
                                         width, copies, mask, values);
                    });
  }
  Values results;
  size_t each = plan.accumulators.size();
  ValueMap prepared = prepareUniform(cursor, plan.vectorDim);
  for (int64_t copy = 0; copy < copies; ++copy) {
    Cursor here = copy ? advance(cursor, *plan.vectorDim,
                                 buildI64(builder, loc, copy * width))
                       : cursor;
    llvm::append_range(results, emitBody(here, width, mask, prepared,
                                         carried.slice(copy * each, each)));
  }
  return results;
}

/// The vector dimension is the innermost reduced one. `carried` holds
/// `unroll` copies of vector accumulators.
LoopEmitter::Values LoopEmitter::emitReducedVectors(const Cursor &cursor,
                                                    ValueRange carried) {
  unsigned dim = *plan.vectorDim;
  size_t each = plan.accumulators.size();
  ValueMap prepared = prepareUniform(cursor, dim);
  Value range = rangeOf(dim);
  auto bodyAt = [&](Value index, int64_t copies, Value mask,
                    ValueRange values) {
    Values results;
    for (int64_t copy = 0; copy < copies; ++copy) {
      Value at =
          addI64(builder, loc, index,
                 copy ? buildI64(builder, loc, copy * plan.width) : Value());
      llvm::append_range(results,
                         emitBody(advance(cursor, dim, at), plan.width, mask,
                                  prepared, values.slice(copy * each, each)));
    }
    return results;
  };
  Value blocks = wholePart(range, plan.width * plan.unroll);
  Values values = buildFor({}, blocks, plan.width * plan.unroll, carried,
                           [&](Value index, ValueRange inner) {
                             return bodyAt(index, plan.unroll, {}, inner);
                           });
  Value whole = wholePart(range, plan.width);
  auto first = [&] { return ValueRange(values).take_front(each); };
  auto replaceFirst = [&](Values results) {
    llvm::copy(results, values.begin());
  };
  if (plan.unroll > 1)
    replaceFirst(buildFor(blocks, whole, plan.width, first(),
                          [&](Value index, ValueRange inner) {
                            return bodyAt(index, 1, {}, inner);
                          }));
  std::optional<int64_t> total = constantOf(range);
  if (total && *total == *constantOf(whole))
    return values;
  Value count =
      total ? buildI64(builder, loc, *total - *constantOf(whole))
            : arith::SubIOp::create(builder, loc, range, whole).getResult();
  if (plan.canMask) {
    replaceFirst(bodyAt(whole, 1, buildMask(count, plan.width), first()));
    return values;
  }
  // Scalar remainder, folded into one accumulator that then joins as a lane.
  Values scalars = buildFor(
      whole, range, 1, identities(1), [&](Value index, ValueRange inner) {
        return emitBody(advance(cursor, dim, index), 1, {}, prepared, inner);
      });
  Values lanes = identities(plan.width);
  for (auto [accumulator, lane, scalar] :
       llvm::zip_equal(plan.accumulators, lanes, scalars))
    lane = vector::InsertOp::create(builder, loc, scalar, lane, 0);
  for (size_t i = 0; i < each; ++i)
    values[i] = combine(plan.accumulators[i], values[i], lanes[i]);
  return values;
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

LoopEmitter::Values LoopEmitter::emitBody(const Cursor &cursor, int64_t width,
                                          Value mask, const ValueMap &prepared,
                                          ValueRange accumulators) {
  ValueMap values = prepared;
  for (auto [accumulator, value] :
       llvm::zip_equal(plan.accumulators, accumulators))
    values[plan.operands[accumulator.operand].argument] = value;
  for (auto [index, operand] : llvm::enumerate(plan.operands))
    if (operand.isRead && !values.contains(operand.argument))
      values[operand.argument] =
          body.load(loc, *operand.view, cursor.offsets[index],
                    vectorStride(operand), width, mask);
  for (Operation &inside : op.getBlock()->without_terminator()) {
    if (inside.getNumResults() && values.contains(inside.getResult(0)))
      continue;
    if (auto indexOp = dyn_cast<linalg::IndexOp>(inside)) {
      Value index = cursor.indices[indexOp.getDim()];
      index = index ? index : buildI64(builder, loc, 0);
      if (width > 1 && plan.vectorDim == indexOp.getDim()) {
        SmallVector<int64_t> lanes = llvm::to_vector(llvm::seq<int64_t>(width));
        Value iota = arith::ConstantOp::create(builder, loc,
                                               builder.getI64VectorAttr(lanes));
        index = arith::AddIOp::create(builder, loc,
                                      body.broadcast(loc, index, width), iota);
      }
      values[indexOp] = index;
      continue;
    }
    if (body.emit(inside, width, values).failed()) {
      failed = true;
      return Values(accumulators);
    }
  }
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

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

LoopEmitter::Values LoopEmitter::readAccumulators(const Cursor &cursor,
                                                  int64_t width, Value mask) {
  Values values;
  for (const Accumulator &accumulator : plan.accumulators) {
    const LoopOperand &operand = plan.operands[accumulator.operand];
    Value value = initial[accumulator.result];
    if (!value)
      value = body.load(loc, *operand.view, cursor.offsets[accumulator.operand],
                        vectorStride(operand), width, mask);
    values.push_back(body.broadcast(loc, value, width));
  }
  return values;
}

void LoopEmitter::writeAccumulators(const Cursor &cursor, ValueRange values,
                                    int64_t width, Value mask) {
  for (auto [accumulator, value] : llvm::zip_equal(plan.accumulators, values)) {
    const LoopOperand &operand = plan.operands[accumulator.operand];
    body.store(loc, value, *operand.view, cursor.offsets[accumulator.operand],
               width == 1 ? 0 : vectorStride(operand), width, mask);
  }
}

/// The value that changes nothing, as a vector of every accumulator.
LoopEmitter::Values LoopEmitter::identities(int64_t width) {
  Values values;
  for (const Accumulator &accumulator : plan.accumulators) {
    std::optional<TypedAttr> neutral =
        arith::getNeutralElement(accumulator.combiner);
    Type type =
        getComputeType(plan.operands[accumulator.operand].view->element);
    TypedAttr attr;
    if (auto real = dyn_cast<FloatAttr>(*neutral)) {
      // -0 would be exact for sums of -0 only; 0 is cheaper to make.
      double value = real.getValue().isZero() ? 0.0 : real.getValueAsDouble();
      attr = FloatAttr::get(type, value);
      if (real.getValue().isInfinity())
        attr = FloatAttr::get(
            type, APFloat::getInf(cast<FloatType>(type).getFloatSemantics(),
                                  real.getValue().isNegative()));
    } else {
      APInt bits = cast<IntegerAttr>(*neutral).getValue();
      attr = IntegerAttr::get(type,
                              bits.sextOrTrunc(type.getIntOrFloatBitWidth()));
    }
    Value value = arith::ConstantOp::create(builder, loc, attr);
    values.push_back(body.broadcast(loc, value, width));
  }
  return values;
}

Value LoopEmitter::combine(const Accumulator &accumulator, Value a, Value b) {
  ValueMap values;
  values[accumulator.combiner->getOperand(0)] = a;
  values[accumulator.combiner->getOperand(1)] = b;
  auto vector = dyn_cast<VectorType>(a.getType());
  int64_t width = vector ? vector.getNumElements() : 1;
  if (body.emit(*accumulator.combiner, width, values).failed())
    failed = true;
  return values.lookup(accumulator.combiner->getResult(0));
}

/// Halves the number of copies until one is left.
LoopEmitter::Values LoopEmitter::combineCopies(ValueRange values,
                                               int64_t copies) {
  Values left(values);
  size_t each = plan.accumulators.size();
  for (int64_t half = copies / 2; half >= 1; half /= 2)
    for (size_t i = 0; i < half * each; ++i)
      left[i] =
          combine(plan.accumulators[i % each], left[i], left[half * each + i]);
  left.resize(each);
  return left;
}

/// Halves the vector until two elements are left, then takes them out.
Value LoopEmitter::combineLanes(const Accumulator &accumulator, Value value) {
  int64_t width = cast<VectorType>(value.getType()).getNumElements();
  for (; width > 2; width /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < width / 2; ++lane) {
      low.push_back(lane);
      high.push_back(lane + width / 2);
    }
    Value a = vector::ShuffleOp::create(builder, loc, value, value, low);
    Value b = vector::ShuffleOp::create(builder, loc, value, value, high);
    value = combine(accumulator, a, b);
  }
  Value first = vector::ExtractOp::create(builder, loc, value, int64_t(0));
  Value second = vector::ExtractOp::create(builder, loc, value, int64_t(1));
  return combine(accumulator, first, second);
}

LogicalResult dlc::codegen::emitStructuredOp(
    OpBuilder &builder, linalg::LinalgOp op, const TargetOptions &target,
    const ViewMap &views, const ValueMap &outer, ArrayRef<Value> initial) {
  FailureOr<LoopPlan> plan = planLoops(op, target, views);
  if (mlir::failed(plan))
    return failure();
  return LoopEmitter(builder, op, *plan, target, views, outer, initial).emit();
}
