// SPDX-License-Identifier: Apache-2.0
//
// Shapes and movement: folds and canonical forms.

#include "Chain.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Shapes.h"
#include "dlc/dialects/Graph/Views.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace dlc::graph;

#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphMovement.cpp.inc"

void GraphDialect::addMovementOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/dialects/Graph/GraphMovement.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Folds: an operation that does nothing gives its operand
//===----------------------------------------------------------------------===//

/// `x` when it has the static type of `y`, else null: enough for operations
/// that cannot change elements without changing the shape.
static OpFoldResult sameStatic(Value x, Value y) {
  return x.getType() == y.getType() && isStatic(x.getType()) ? x
                                                             : OpFoldResult();
}

/// A constant of the result's type where all of these numbers are known.
static OpFoldResult toConstant(Type type,
                               const std::optional<PartialInts> &known) {
  SmallVector<int64_t> values;
  if (!known || !isStatic(type))
    return {};
  for (std::optional<int64_t> each : *known) {
    if (!each)
      return {};
    values.push_back(*each);
  }
  return DenseElementsAttr::get(cast<RankedTensorType>(type),
                                ArrayRef<int64_t>(values));
}

OpFoldResult ShapeOp::fold(FoldAdaptor) {
  return toConstant(getY().getType(), evaluatePartially({}));
}
OpFoldResult SizeOp::fold(FoldAdaptor) {
  return toConstant(getY().getType(), evaluatePartially({}));
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) { return sameStatic(getX(), getY()); }
OpFoldResult FlattenOp::fold(FoldAdaptor) { return sameStatic(getX(), getY()); }
OpFoldResult ExpandOp::fold(FoldAdaptor) { return sameStatic(getX(), getY()); }
OpFoldResult TileOp::fold(FoldAdaptor) { return sameStatic(getX(), getY()); }

OpFoldResult SqueezeOp::fold(FoldAdaptor) { return sameStatic(getX(), getY()); }
OpFoldResult UnsqueezeOp::fold(FoldAdaptor) {
  return sameStatic(getX(), getY());
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  for (auto [i, axis] : llvm::enumerate(getPerm()))
    if (axis != static_cast<int64_t>(i))
      return {};
  return getX().getType() == getY().getType() ? getX() : OpFoldResult();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  bool isOnly = getInputs().size() == 1 &&
                getInputs().front().getType() == getY().getType();
  return isOnly ? getInputs().front() : OpFoldResult();
}

/// Elements of several operands move.
SmallVector<std::pair<unsigned, unsigned>> ConcatOp::getInPlacePairs() {
  return {};
}

bool ConcatOp::joinsOperands() {
  if (!isStatic(getY().getType()) ||
      !llvm::all_of(getInputs().getTypes(),
                    [](Type input) { return isStatic(input); }))
    return false;
  auto type = cast<RankedTensorType>(getY().getType());
  int64_t axis = getAxis() < 0 ? getAxis() + type.getRank() : getAxis();
  return llvm::all_of(type.getShape().take_front(axis),
                      [](int64_t dim) { return dim == 1; });
}

LogicalResult SplitOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &parts) {
  if (getNumResults() != 1 || !sameStatic(getX(), getResult(0)))
    return failure();
  parts.push_back(getX());
  return success();
}

/// All elements, unless they come in another order.
OpFoldResult SliceOp::fold(FoldAdaptor) {
  auto steps = getConstantInts(getSteps());
  if (!steps || llvm::any_of(*steps, [](int64_t step) { return step < 0; }))
    return {};
  return sameStatic(getX(), getY());
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  auto pads = getConstantInts(getPads());
  if (!pads || llvm::any_of(*pads, [](int64_t pad) { return pad != 0; }))
    return {};
  return getX().getType() == getY().getType() ? getX() : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// Canonical forms
//===----------------------------------------------------------------------===//

Value dlc::graph::skipViews(Value value) {
  while (auto view = value.getDefiningOp<InPlaceOpInterface>()) {
    if (!view.isView())
      break;
    value = view->getOperand(0);
  }
  return value;
}

namespace {

/// A view of a view is one reshape of what the first began with, when the
/// result's shape is known; none at all when that has its type.
template <typename Op> struct MergeViews : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Value base = skipViews(op.getX());
    if (base == op.getX() || !isStatic(op.getY().getType()))
      return failure();
    auto type = cast<RankedTensorType>(op.getY().getType());
    if (base.getType() == type) {
      rewriter.replaceOp(op, base);
      return success();
    }
    // A dimension of 0 means itself only with allowzero.
    bool allowzero = llvm::is_contained(type.getShape(), 0);
    Value shape =
        ConstantOp::create(rewriter, op.getLoc(),
                           makeInts(rewriter.getContext(), type.getShape()));
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, type, base, shape, allowzero);
    return success();
  }
};

/// transpose(transpose(x)) is one transpose.
struct MergeTransposes : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<TransposeOp>();
    if (!inner)
      return failure();
    rewriter.replaceOpWithNewOp<TransposeOp>(
        op, op.getY().getType(), inner.getX(),
        applyPermutation(inner.getPerm(), op.getPerm()));
    return success();
  }
};

/// A transpose that only moves dimensions of extent 1 is a reshape.
struct TransposeToReshape : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto from = dyn_cast<RankedTensorType>(op.getX().getType());
    auto to = dyn_cast<RankedTensorType>(op.getY().getType());
    if (!from || !to || !from.hasStaticShape() || !to.hasStaticShape() ||
        from.getNumElements() == 0)
      return failure();
    int64_t last = -1;
    for (int64_t axis : op.getPerm()) {
      if (from.getDimSize(axis) == 1)
        continue;
      if (axis < last)
        return failure();
      last = axis;
    }
    Value shape = ConstantOp::create(
        rewriter, op.getLoc(), makeInts(rewriter.getContext(), to.getShape()));
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, to, op.getX(), shape, false);
    return success();
  }
};

/// Operands of a concatenation that are concatenations along the same axis, or
/// empty, disappear.
struct FlattenConcat : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  static bool isEmptyAlong(Value value, int64_t axis) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getDimSize(wrapAxis(axis, type.getRank())) == 0;
  }

  LogicalResult matchAndRewrite(ConcatOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> inputs;
    auto axis = static_cast<int64_t>(op.getAxis());
    size_t all = op.getInputs().size();
    for (Value input : op.getInputs()) {
      auto inner = input.getDefiningOp<ConcatOp>();
      const bool isOne = inner && static_cast<int64_t>(inner.getAxis()) == axis;
      all += isOne ? inner.getInputs().size() - 1 : 0;
      if (isOne && all <= kMostJoined)
        llvm::append_range(inputs, inner.getInputs());
      else if (!isEmptyAlong(input, axis))
        inputs.push_back(input);
    }
    if (inputs.empty() || llvm::equal(inputs, op.getInputs()))
      return failure();
    rewriter.replaceOpWithNewOp<ConcatOp>(op, op.getY().getType(), inputs,
                                          axis);
    return success();
  }
};

} // namespace

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<MergeViews<ReshapeOp>>(context);
}

void SqueezeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<MergeViews<SqueezeOp>>(context);
}

void UnsqueezeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<MergeViews<UnsqueezeOp>>(context);
}

void FlattenOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<MergeViews<FlattenOp>>(context);
}

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<MergeTransposes, TransposeToReshape>(context);
}

void ConcatOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<FlattenConcat>(context);
}
