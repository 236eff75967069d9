// SPDX-License-Identifier: Apache-2.0
//
// Reductions: what they fold, and how simpler operations express others.

#include "Chain.h"
#include "ElementBuilder.h"

#include "dlc/dialects/Graph/Position.h"
#include "dlc/dialects/Graph/Shapes.h"

using namespace mlir;
using namespace dlc::graph;

#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphReduction.cpp.inc"

void GraphDialect::addReductionOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/dialects/Graph/GraphReduction.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

/// The reduced dimensions of a reduction; nullopt when they are not known.
static std::optional<SmallVector<bool>> reducedDims(Operation *op) {
  const int64_t rank = shapeOf(op->getOperand(0)).size();
  SmallVector<bool> reduced(rank, op->getNumOperands() == 1);
  if (op->getNumOperands() == 1)
    return reduced;
  auto axes = getConstantInts(op->getOperand(1));
  if (!axes)
    return std::nullopt;
  for (int64_t axis : *axes)
    reduced[wrapAxis(axis, rank)] = true;
  return reduced;
}

std::optional<SmallVector<int64_t>>
dlc::graph::detail::getReducedExtents(Operation *op) {
  std::optional<SmallVector<bool>> reduced = reducedDims(op);
  if (!reduced)
    return std::nullopt;
  SmallVector<int64_t> extents;
  for (auto [isReduced, extent] :
       llvm::zip_equal(*reduced, shapeOf(op->getOperand(0))))
    if (isReduced)
      extents.push_back(extent);
  return extents;
}

Value dlc::graph::detail::buildReducedAt(Operation *op, ElementReader &reader,
                                         ArrayRef<Index> position,
                                         ArrayRef<Index> folded) {
  const SmallVector<bool> reduced = *reducedDims(op);
  const bool keepdims = position.size() == reduced.size();
  SmallVector<Index> source;
  for (bool isReduced : reduced) {
    ArrayRef<Index> &from = isReduced ? folded : position;
    source.push_back(from.front());
    from = from.drop_front();
    if (isReduced && keepdims)
      position = position.drop_front();
  }
  return reader.read(op->getOperand(0), source);
}

/// The least element of a type that a maximum can have, or the greatest.
static TypedAttr extremeOf(Type type, bool isLeast) {
  if (auto real = dyn_cast<FloatType>(type))
    return FloatAttr::get(real,
                          APFloat::getInf(real.getFloatSemantics(), isLeast));
  unsigned width = type.getIntOrFloatBitWidth();
  APInt bits = isUnsigned(type) ? (isLeast ? APInt::getZero(width)
                                           : APInt::getAllOnes(width))
               : isLeast        ? APInt::getSignedMinValue(width)
                                : APInt::getSignedMaxValue(width);
  return IntegerAttr::get(ElementBuilder::signless(type), bits);
}

TypedAttr ReduceSumOp::getIdentity() { return numberOf(elementOf(*this), 0); }
Value ReduceSumOp::buildFold(OpBuilder &builder, Location loc, Value a,
                             Value b) {
  return foldAs<arith::AddFOp, arith::AddIOp, arith::AddIOp>(
      elementOf(*this), builder, loc, a, b);
}

TypedAttr ReduceProdOp::getIdentity() { return numberOf(elementOf(*this), 1); }
Value ReduceProdOp::buildFold(OpBuilder &builder, Location loc, Value a,
                              Value b) {
  return foldAs<arith::MulFOp, arith::MulIOp, arith::MulIOp>(
      elementOf(*this), builder, loc, a, b);
}

TypedAttr ReduceMaxOp::getIdentity() {
  return extremeOf(elementOf(*this), /*isLeast=*/true);
}
Value ReduceMaxOp::buildFold(OpBuilder &builder, Location loc, Value a,
                             Value b) {
  return foldAs<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp,
                arith::OrIOp>(elementOf(*this), builder, loc, a, b);
}

TypedAttr ReduceMinOp::getIdentity() {
  return extremeOf(elementOf(*this), /*isLeast=*/false);
}
Value ReduceMinOp::buildFold(OpBuilder &builder, Location loc, Value a,
                             Value b) {
  return foldAs<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp,
                arith::AndIOp>(elementOf(*this), builder, loc, a, b);
}

//===----------------------------------------------------------------------===//
// Folds of parts
//===----------------------------------------------------------------------===//

/// Of a fold of floats along dimensions that others part, some of them found
/// while running, the innermost ones that follow each other: the library folds
/// those, and then the others, of which these have one element.
static SmallVector<int64_t> dimsApart(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  const std::optional<SmallVector<bool>> reduced =
      type ? reducedDims(op) : std::nullopt;
  if (!reduced || !type.getElementType().isF32())
    return {};
  SmallVector<int64_t> inner;
  bool isApart = false;
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    if (type.getDimSize(dim) == 1)
      continue;
    if ((*reduced)[dim] && isApart)
      return inner;
    if ((*reduced)[dim])
      inner.push_back(dim);
    isApart |= !(*reduced)[dim] && !inner.empty();
  }
  return {};
}

/// The dimensions that are reduced in the parts of a reduction, the innermost
/// ones; empty where it has none.
static SmallVector<int64_t> dimsOfParts(Operation *op) {
  // Fewer elements are not worth another kernel, nor shorter parts; of more
  // results, or parts, threads have enough.
  constexpr int64_t fewestElements = 8192, shortestPart = 64;
  constexpr int64_t mostResults = 7, enoughParts = 16;
  if (!hasStaticTypes(op))
    return dimsApart(op);
  const std::optional<SmallVector<bool>> reduced = reducedDims(op);
  ArrayRef<int64_t> extents = shapeOf(op->getOperand(0));
  const int64_t results = ShapedType::getNumElements(shapeOf(op->getResult(0)));
  const int64_t elements = ShapedType::getNumElements(extents);
  if (!reduced || results > mostResults || elements < fewestElements)
    return {};
  SmallVector<int64_t> inner;
  int64_t parts = 1, length = elements / results;
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    if (!(*reduced)[dim])
      continue;
    if (!inner.empty() || parts >= enoughParts ||
        length / extent < shortestPart) {
      inner.push_back(static_cast<int64_t>(dim));
      continue;
    }
    parts *= extent;
    length /= extent;
  }
  return parts > 1 ? inner : SmallVector<int64_t>();
}

/// Folds in elements of type `compute`, which is rounded once.
template <typename ReduceOp>
static FailureOr<Value> fold(ReduceOp op, OpBuilder &builder, Type compute) {
  const SmallVector<int64_t> inner = dimsOfParts(op);
  if (inner.empty())
    return failure();
  Chain chain{builder, op.getLoc()};
  Value parts =
      ReduceOp::create(builder, op.getLoc(), chain.cast(op.getX(), compute),
                       chain.ints(inner), /*keepdims=*/true);
  Value y = ReduceOp::create(builder, op.getLoc(), parts, op.getAxes(),
                             op.getKeepdims());
  return chain.cast(y, elementOf(op));
}

FailureOr<Value> ReduceSumOp::foldInParts(OpBuilder &builder) {
  Type element = elementOf(*this);
  return fold(*this, builder,
              isShortFloat(element) ? computeType(element) : element);
}
FailureOr<Value> ReduceMaxOp::foldInParts(OpBuilder &builder) {
  return fold(*this, builder, elementOf(*this));
}
FailureOr<Value> ReduceMinOp::foldInParts(OpBuilder &builder) {
  return fold(*this, builder, elementOf(*this));
}

//===----------------------------------------------------------------------===//
// Decompositions
//===----------------------------------------------------------------------===//

bool ReduceMeanOp::hasFasterParts() { return !dimsOfParts(*this).empty(); }

FailureOr<SmallVector<Value>> ReduceMeanOp::decompose(OpBuilder &builder) {
  auto type = dyn_cast<RankedTensorType>(getX().getType());
  if (!type || !isa<FloatType>(type.getElementType()))
    return failure();
  auto axes = llvm::to_vector(llvm::seq<int64_t>(type.getRank()));
  if (getAxes()) {
    auto values = getConstantInts(getAxes());
    if (!values)
      return failure();
    axes = *values;
    for (int64_t &axis : axes)
      axis = wrapAxis(axis, type.getRank());
  }
  Chain chain{builder, getLoc()};
  auto count = countOf(type, axes);
  const SmallVector<int64_t> apart =
      count ? SmallVector<int64_t>() : dimsApart(*this);
  if (!apart.empty()) { // A mean of as many elements each.
    Value parts = ReduceMeanOp::create(builder, getLoc(), getX(),
                                       chain.ints(apart), /*keepdims=*/true);
    Value y = ReduceMeanOp::create(builder, getLoc(), parts, chain.ints(axes),
                                   getKeepdims());
    return SmallVector<Value>{y};
  }
  if (!count)
    return failure();
  Type element = type.getElementType(), wide = computeType(element);
  Value sum = ReduceSumOp::create(builder, getLoc(), chain.cast(getX(), wide),
                                  chain.ints(axes), getKeepdims());
  Value y = chain.make<MulOp>(
      sum, chain.scalar(wide, 1.0 / static_cast<double>(*count)));
  return SmallVector<Value>{chain.cast(y, element)};
}

/// Where `best`, the largest or smallest element along the axis, stands: the
/// least (or greatest) of the positions of elements that equal it. If it is
/// NaN, those of the elements that are NaN.
template <typename ArgOp>
static FailureOr<SmallVector<Value>>
locate(ArgOp op, OpBuilder &builder, function_ref<Value(Value axes)> makeBest) {
  auto type = dyn_cast<RankedTensorType>(op.getX().getType());
  if (!type)
    return failure();
  int64_t axis = wrapAxis(op.getAxis(), type.getRank());
  if (type.isDynamicDim(axis))
    return failure();
  int64_t extent = type.getDimSize(axis);
  Chain chain{builder, op.getLoc()};
  Value x = op.getX(), axes = chain.ints({axis});
  Value isBest = chain.make<EqualOp>(x, makeBest(axes));
  if (isFloat(type.getElementType()))
    isBest = chain.make<LogicalOrOp>(isBest, chain.make<IsNanOp>(x));
  SmallVector<int64_t> shape(type.getRank() - axis, 1);
  shape[0] = extent;
  Value places = chain.make<ReshapeOp>(chain.iota(extent), chain.ints(shape));
  bool isLast = op.getSelectLastIndex();
  Value candidates =
      chain.make<SelectOp>(isBest, places, chain.integer(isLast ? -1 : extent));
  Value y = isLast ? ReduceMaxOp::create(builder, op.getLoc(), candidates, axes,
                                         op.getKeepdims())
                         .getY()
                   : ReduceMinOp::create(builder, op.getLoc(), candidates, axes,
                                         op.getKeepdims())
                         .getY();
  return SmallVector<Value>{y};
}

FailureOr<SmallVector<Value>> ArgMaxOp::decompose(OpBuilder &builder) {
  return locate(*this, builder, [&](Value axes) -> Value {
    return ReduceMaxOp::create(builder, getLoc(), getX(), axes,
                               /*keepdims=*/true);
  });
}

FailureOr<SmallVector<Value>> ArgMinOp::decompose(OpBuilder &builder) {
  return locate(*this, builder, [&](Value axes) -> Value {
    return ReduceMinOp::create(builder, getLoc(), getX(), axes,
                               /*keepdims=*/true);
  });
}
