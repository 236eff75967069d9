// SPDX-License-Identifier: Apache-2.0

#include "Stage.h"

#include "dlc/dialects/Graph/GraphOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::conversion;

ArrayRef<int64_t> dlc::conversion::shapeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

Value dlc::conversion::castSign(OpBuilder &builder, Location loc, Value value,
                                Type type) {
  if (value.getType() == type)
    return value;
  return UnrealizedConversionCastOp::create(builder, loc, type, value)
      .getResult(0);
}

static Type getSignless(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer ? IntegerType::get(type.getContext(), integer.getWidth())
                 : type;
}

//===----------------------------------------------------------------------===//
// Domains
//===----------------------------------------------------------------------===//

std::vector<Domain> dlc::conversion::cut(const Domain &domain,
                                         const LoopSplit &split) {
  std::vector<Domain> parts;
  for (const graph::LoopPart &loops : graph::cut(domain.loops, split)) {
    Domain part = domain;
    part.loops = loops.loops;
    for (Position *position : {&part.at, &part.folded})
      for (Index &index : *position)
        index = loops.at(index);
    if (split.isFactor)
      part.reduced.insert(part.reduced.begin() + split.loop + 1,
                          domain.reduced[split.loop]);
    parts.push_back(std::move(part));
  }
  return parts;
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

StageBuilder::StageBuilder(MLIRContext *context, Location loc,
                           const Domain &domain, Policy policy,
                           bool isForThreads)
    : ElementReader(OpBuilder(context), loc, domain.loops), policy(policy) {
  this->isForThreads = isForThreads;
  stage.domain = domain;
  stage.body = std::make_unique<Block>();
  builder.setInsertionPointToEnd(stage.body.get());
}

/// Arguments for inputs come first, in the order of `inputs`.
Value StageBuilder::readMemory(Value tensor, const Position &at) {
  Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
  BlockArgument argument =
      stage.body->insertArgument(stage.inputs.size(), type, loc);
  stage.inputs.push_back({tensor, at, argument});
  return castSign(builder, loc, argument, getSignless(type));
}

void StageBuilder::store(Value tensor, const Position &at, Value element) {
  Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
  stage.body->addArgument(type, loc);
  stage.outputs.push_back(
      {tensor, at, castSign(builder, loc, element, type), {}});
}

void StageBuilder::accumulate(
    Value tensor, const Position &at, Value term,
    llvm::function_ref<Value(OpBuilder &, Value, Value)> combine) {
  Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
  BlockArgument old = stage.body->addArgument(type, loc);
  Value signless = castSign(builder, loc, old, getSignless(type));
  Value value = castSign(builder, loc, combine(builder, signless, term), type);
  stage.outputs.push_back({tensor, at, value, old});
}

static size_t hashOf(const Position &at) {
  size_t hash = 0;
  for (const Index &index : at)
    hash = llvm::hash_combine(
        hash, llvm::hash_combine_range(index.coefficients), index.constant);
  return hash;
}

Value StageBuilder::element(Value tensor, const Position &at, bool compute) {
  const std::pair<Value, size_t> key(tensor, hashOf(at));
  if (auto cached = cache.find(key); cached != cache.end())
    for (const auto &[position, element] : cached->second)
      if (position == at)
        return element;
  Treatment treatment = compute ? Treatment::Compute : policy(tensor, at);
  Value value = treatment == Treatment::Read || isa<BlockArgument>(tensor)
                    ? readMemory(tensor, at)
                    : this->compute(tensor, at);
  if (!value)
    return {};
  if (treatment == Treatment::ComputeAndStore)
    store(tensor, at, value);
  cache[key].emplace_back(at, value);
  return value;
}

Value StageBuilder::compute(Value tensor, const Position &at) {
  Operation *op = tensor.getDefiningOp();
  if (isa<graph::ConstantOp>(op))
    return constant(op);
  if (isa<graph::ElementwiseOpInterface>(op))
    return elementwise(op, at);
  if (auto positioned = dyn_cast<graph::PositionedOpInterface>(op))
    return positioned.buildElementAt(
        *this, cast<OpResult>(tensor).getResultNumber(), at);
  return fail("no generated form of " + op->getName().getStringRef());
}

Value StageBuilder::constant(Operation *op) {
  auto elements = dyn_cast<DenseElementsAttr>(
      Attribute(cast<graph::ConstantOp>(op).getValue()));
  if (!elements || !elements.isSplat())
    return fail("a constant of different elements");
  Type type = getSignless(elements.getElementType());
  TypedAttr value;
  if (auto real = dyn_cast<FloatType>(type))
    value = FloatAttr::get(real, elements.getSplatValue<APFloat>());
  else
    value = IntegerAttr::get(type, elements.getSplatValue<APInt>());
  return arith::ConstantOp::create(builder, loc, value);
}

/// x / sum(e^...), the end of a softmax: the sum is at least 1, and its
/// reciprocal is taken once for the whole row.
static bool isSoftmaxQuotient(Operation *op) {
  auto div = dyn_cast<graph::DivOp>(op);
  auto sum = div ? div.getB().getDefiningOp<graph::ReduceSumOp>() : nullptr;
  return sum && sum.getX() == div.getA() &&
         div.getA().getDefiningOp<graph::ExpOp>() &&
         getElementTypeOrSelf(div.getType()).isF32();
}

/// e^(x - max x): of a number that is not positive.
static bool isSoftmaxPower(Operation *op) {
  auto exp = dyn_cast<graph::ExpOp>(op);
  auto sub = exp ? exp.getX().getDefiningOp<graph::SubOp>() : nullptr;
  auto max = sub ? sub.getB().getDefiningOp<graph::ReduceMaxOp>() : nullptr;
  return max && max.getX() == sub.getA() &&
         getElementTypeOrSelf(exp.getType()).isF32();
}

Value StageBuilder::elementwise(Operation *op, const Position &at) {
  SmallVector<Value> scalars;
  for (Value operand : op->getOperands()) {
    Value scalar =
        element(operand, graph::broadcastPosition(at, shapeOf(operand), loops));
    if (!scalar)
      return {};
    scalars.push_back(scalar);
  }
  if (isSoftmaxQuotient(op)) {
    Value one =
        arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(1.0f));
    Value inverse = arith::DivFOp::create(builder, loc, one, scalars[1]);
    return arith::MulFOp::create(builder, loc, scalars[0], inverse);
  }
  if (isSoftmaxPower(op))
    return math::ExpOp::create(builder, loc, scalars[0],
                               arith::FastMathFlags::afn);
  return cast<graph::ElementwiseOpInterface>(op).buildElement(builder, loc,
                                                              scalars);
}

//===----------------------------------------------------------------------===//
// Values from outside of the body
//===----------------------------------------------------------------------===//

Value StageBuilder::capture(Type type, Value tensor, unsigned gridLoop) {
  for (const StageCapture &known : stage.captures)
    if (known.tensor == tensor && known.gridLoop == gridLoop)
      return known.placeholder;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(stage.body.get());
  Value placeholder =
      UnrealizedConversionCastOp::create(builder, loc, type, ValueRange())
          .getResult(0);
  stage.captures.push_back({placeholder, tensor, gridLoop});
  return placeholder;
}

Value StageBuilder::load(Value tensor, ValueRange coordinates) {
  if (!isa<BlockArgument>(tensor))
    return fail("a place given by data in a value that is computed here");
  auto type = cast<RankedTensorType>(tensor.getType());
  auto memory = MemRefType::get(type.getShape(), type.getElementType());
  Value element = memref::LoadOp::create(
      builder, loc, capture(memory, tensor, 0), coordinates);
  return castSign(builder, loc, element, getSignless(type.getElementType()));
}

Value StageBuilder::materialize(const Index &index) {
  Value sum;
  auto add = [&](Value term) {
    sum = sum ? arith::AddIOp::create(builder, loc, sum, term) : term;
  };
  for (auto [loop, coefficient] : llvm::enumerate(index.coefficients)) {
    if (coefficient == 0)
      continue;
    Value value = loop < loops.grid
                      ? capture(builder.getIndexType(), {}, loop)
                      : linalg::IndexOp::create(builder, loc, loop - loops.grid)
                            .getResult();
    if (coefficient != 1)
      value = arith::MulIOp::create(
          builder, loc, value,
          arith::ConstantIndexOp::create(builder, loc, coefficient));
    add(value);
  }
  if (!sum || index.constant)
    add(arith::ConstantIndexOp::create(builder, loc, index.constant));
  return sum;
}
