// SPDX-License-Identifier: Apache-2.0

#include "dlc/dialects/Graph/Masks.h"

#include "ElementBuilder.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Shapes.h"

using namespace mlir;
using namespace dlc::graph;

#include "dlc/dialects/Graph/Masks.cpp.inc"

namespace {

template <typename Rule, typename Op>
using Model = MaskOpInterface::ExternalModel<Rule, Op>;

/// What the fold begins with, along the dimensions that are reduced.
template <typename Op> struct Reduce : Model<Reduce<Op>, Op> {
  TypedAttr getNeutral(Operation *op, unsigned operand, unsigned dim) const {
    auto reduce = cast<Op>(op);
    if (operand != 0)
      return {};
    if (!reduce.getAxes())
      return reduce.getIdentity();
    auto axes = getConstantInts(reduce.getAxes());
    const int64_t rank = typeOf(reduce.getX()).getRank();
    const bool isReduced = axes && llvm::any_of(*axes, [&](int64_t axis) {
                             return wrapAxis(axis, rank) == dim;
                           });
    return isReduced ? reduce.getIdentity() : TypedAttr();
  }
};

/// 0 in both factors, since what is in one may be no finite number.
struct Matmul : Model<Matmul, MatmulOp> {
  TypedAttr getNeutral(Operation *op, unsigned operand, unsigned dim) const {
    auto matmul = cast<MatmulOp>(op);
    const int64_t rank = typeOf(op->getOperand(operand)).getRank();
    return dim == rank - (operand == 0 ? 1 : 2)
               ? numberOf(matmul.getY().getType().getElementType(), 0)
               : TypedAttr();
  }
};

/// 0, which images have around them, too: along dimensions in which windows
/// move one by one, so that there are as many of them for each size as places,
/// but for a number. What is multiplied by it has to be finite.
struct Conv : Model<Conv, ConvOp> {
  TypedAttr getNeutral(Operation *op, unsigned operand, unsigned dim) const {
    auto conv = cast<ConvOp>(op);
    ElementsAttr weights = getConstantElements(conv.getW());
    if (operand != 0 || dim < 2 || !weights || !areFiniteFloats(weights))
      return {};
    ArrayRef<int64_t> strides = conv.getStrides();
    if (!strides.empty() && strides[dim - 2] != 1)
      return {};
    return numberOf(typeOf(conv.getX()).getElementType(), 0);
  }
};

template <typename Op> struct Softmax : Model<Softmax<Op>, Op> {
  TypedAttr getNeutral(Operation *op, unsigned, unsigned dim) const {
    auto softmax = cast<Op>(op);
    auto type = typeOf(softmax.getX());
    auto element = cast<FloatType>(type.getElementType());
    if (wrapAxis(softmax.getAxis(), type.getRank()) != dim)
      return {};
    return FloatAttr::get(element, APFloat::getInf(element.getFloatSemantics(),
                                                   /*Negative=*/true));
  }
  TypedAttr getNeutralResult(Operation *op) const {
    if (!std::is_same_v<Op, SoftmaxOp>)
      return {};
    return numberOf(typeOf(op->getResult(0)).getElementType(), 0);
  }
};

template <typename Op> struct Scan : Model<Scan<Op>, Op> {
  bool readsBackwards(Operation *op) const {
    return !cast<Op>(op).getReverse();
  }
};

} // namespace

void dlc::graph::attachMasks(MLIRContext *context) {
  ReduceSumOp::attachInterface<Reduce<ReduceSumOp>>(*context);
  ReduceProdOp::attachInterface<Reduce<ReduceProdOp>>(*context);
  ReduceMaxOp::attachInterface<Reduce<ReduceMaxOp>>(*context);
  ReduceMinOp::attachInterface<Reduce<ReduceMinOp>>(*context);
  ConvOp::attachInterface<Conv>(*context);
  MatmulOp::attachInterface<Matmul>(*context);
  CumsumOp::attachInterface<Scan<CumsumOp>>(*context);
  CumprodOp::attachInterface<Scan<CumprodOp>>(*context);
  SoftmaxOp::attachInterface<Softmax<SoftmaxOp>>(*context);
  LogSoftmaxOp::attachInterface<Softmax<LogSoftmaxOp>>(*context);
}
