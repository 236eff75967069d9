// SPDX-License-Identifier: Apache-2.0
//
// Loops over reduced dimensions, and the accumulators that they carry.

#include "LoopEmitterImpl.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace dlc::codegen;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

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
  ValueMap prepared = prepareUniform(cursor, plan.vectorDim);
  SmallVector<Cursor> cursors = {cursor};
  for (int64_t copy = 1; copy < copies; ++copy)
    cursors.push_back(
        advance(cursor, *plan.vectorDim, buildI64(builder, loc, copy * width)));
  return emitBodies(cursors, width, mask, prepared, carried);
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
    SmallVector<Cursor> cursors;
    for (int64_t copy = 0; copy < copies; ++copy) {
      Value at =
          addI64(builder, loc, index,
                 copy ? buildI64(builder, loc, copy * plan.width) : Value());
      cursors.push_back(advance(cursor, dim, at));
    }
    return emitBodies(cursors, plan.width, mask, prepared, values);
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
        return emitBodies(advance(cursor, dim, index), 1, {}, prepared, inner);
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
