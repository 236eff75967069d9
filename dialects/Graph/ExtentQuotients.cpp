// SPDX-License-Identifier: Apache-2.0

#include "ExtentQuotients.h"

#include "dlc/dialects/Graph/GraphOps.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace dlc::graph;

namespace {
/// An extent of an argument.
struct ArgumentExtent {
  BlockArgument argument;
  int64_t dim;
};
} // namespace

/// What extent `size`, of one element, is, if it is one.
static std::optional<ArgumentExtent> findExtent(Value size) {
  auto isOne = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.hasStaticShape() && type.getNumElements() == 1;
  };
  while (isOne(size)) {
    Operation *op = size.getDefiningOp();
    if (auto shape = dyn_cast_or_null<ShapeOp>(op)) {
      auto argument = dyn_cast<BlockArgument>(shape.getX());
      auto type = dyn_cast<RankedTensorType>(shape.getX().getType());
      if (!argument || !type)
        return std::nullopt;
      const int64_t start = shape.getStart();
      return ArgumentExtent{argument,
                            start < 0 ? start + type.getRank() : start};
    }
    if (!isa_and_nonnull<SqueezeOp, UnsqueezeOp, ReshapeOp>(op))
      return std::nullopt;
    size = op->getOperand(0);
  }
  return std::nullopt;
}

/// Whether they are of one name, so that no run has others.
static bool areEqualExtents(Value a, Value b) {
  if (a == b)
    return true;
  auto nameOf = [](Value size) -> Attribute {
    auto extent = findExtent(size);
    auto function = extent ? dyn_cast_or_null<FunctionOpInterface>(
                                 extent->argument.getOwner()->getParentOp())
                           : FunctionOpInterface();
    auto names =
        function ? function.getArgAttrOfType<ArrayAttr>(
                       extent->argument.getArgNumber(), GraphDialect::kDimsAttr)
                 : ArrayAttr();
    return names && extent->dim >= 0 && extent->dim < std::ssize(names)
               ? names[extent->dim]
               : Attribute();
  };
  auto name = dyn_cast_or_null<StringAttr>(nameOf(a));
  return name && !name.empty() && name == nameOf(b);
}

Value dlc::graph::findExtentFactor(Operation *quotient) {
  auto op = cast<DivOp>(quotient);
  auto product = op.getA().getDefiningOp<MulOp>();
  if (!product || !findExtent(op.getB()))
    return {};
  for (unsigned i : {0u, 1u}) {
    Value factor = product->getOperand(i), other = product->getOperand(1 - i);
    if (factor.getType() == op.getType() && findExtent(factor) &&
        areEqualExtents(other, op.getB()))
      return factor;
  }
  return {};
}
