// SPDX-License-Identifier: Apache-2.0
//
// graph-multiply-integers: products of what was quantised, before its scale.

#include "dlc/dialects/Base/Devices.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Inference.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Shapes.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

namespace dlc::graph {
#define GEN_PASS_DEF_MULTIPLYINTEGERSPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

namespace {

/// A matrix, or several: (x - zeroPoint) * scale. Where x was turned round
/// since, it is to be again.
struct Factor {
  DequantizeLinearOp of;
  TransposeOp turned; ///< Null where it was not.
};

struct MultiplyIntegers
    : graph::impl::MultiplyIntegersPassBase<MultiplyIntegers> {
  using MultiplyIntegersPassBase::MultiplyIntegersPassBase;
  void runOnOperation() override;
};

} // namespace

static bool isOneElement(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 1;
}

/// True if `transpose` swaps the last two dimensions and keeps the others.
static bool turnsMatrices(TransposeOp transpose, int64_t rank) {
  auto swapped = llvm::to_vector(llvm::seq<int64_t>(rank));
  if (rank < 2)
    return false;
  std::swap(swapped[rank - 2], swapped[rank - 1]);
  return transpose.getPerm() == ArrayRef(swapped);
}

/// What `value` is where it is bytes times a scale, one for all, or one for
/// each column if there may be several.
static std::optional<Factor> match(Value value, bool mayHaveColumns) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.getElementType().isF32())
    return std::nullopt;
  const int64_t rank = type.getRank();
  Factor factor;
  factor.turned = value.getDefiningOp<TransposeOp>();
  if (factor.turned) {
    if (!turnsMatrices(factor.turned, rank))
      return std::nullopt;
    value = factor.turned.getX();
  }
  factor.of = value.getDefiningOp<DequantizeLinearOp>();
  if (!factor.of || factor.of.getBlockSize() != 0)
    return std::nullopt;
  auto bytes = dyn_cast<RankedTensorType>(factor.of.getX().getType());
  if (!bytes || bytes.getElementType().getIntOrFloatBitWidth() != 8)
    return std::nullopt;
  if (isOneElement(factor.of.getScale()))
    return factor;
  const int64_t axis =
      wrapAxis(static_cast<int64_t>(factor.of.getAxis()), rank);
  if (mayHaveColumns && axis == rank - (factor.turned ? 2 : 1))
    return factor;
  return std::nullopt;
}

/// Puts the product of bytes in the place of one of floats.
static LogicalResult rewrite(MatmulOp matmul) {
  auto a = match(matmul.getA(), /*mayHaveColumns=*/false);
  auto b = a ? match(matmul.getB(), /*mayHaveColumns=*/true) : std::nullopt;
  if (!b)
    return failure();
  // So many sums of products of 8 bits, each less than 2^16, are of 31.
  constexpr int64_t mostTerms = 1 << 15;
  const int64_t terms = typeOf(matmul.getA()).getShape().back();
  if (ShapedType::isDynamic(terms) || terms > mostTerms)
    return failure();

  OpBuilder builder(matmul);
  Location loc = matmul.getLoc();
  Operation *before = matmul->getPrevNode();
  auto make = [&](StringRef name, ValueRange operands,
                  ArrayRef<NamedAttribute> attributes = {}) {
    Operation *op = createInferred(builder, loc, name, operands, attributes);
    return op ? op->getResult(0) : Value();
  };
  auto bytesOf = [&](Factor factor) {
    Value x = factor.of.getX();
    return factor.turned ? make("graph.transpose", {x},
                                {builder.getNamedAttr(
                                    "perm", factor.turned.getPermAttr())})
                         : x;
  };
  Value left = bytesOf(*a), right = bytesOf(*b);
  Value sums =
      left && right
          ? make("graph.integer_matmul",
                 {left, right, a->of.getZeroPoint(), b->of.getZeroPoint()})
          : Value();
  Value scale = make("graph.mul", {a->of.getScale(), b->of.getScale()});
  if (!sums || !scale)
    return failure();
  Value floats =
      make("graph.cast", {sums},
           {builder.getNamedAttr("to", TypeAttr::get(builder.getF32Type()))});
  Value y = floats ? make("graph.mul", {floats, scale}) : Value();
  if (!y || y.getType() != matmul.getY().getType())
    return failure();
  copyPlacement(matmul, before, builder);
  matmul.getY().replaceAllUsesWith(y);
  matmul.erase();
  return success();
}

void MultiplyIntegers::runOnOperation() {
  int64_t count = 0;
  getOperation().walk([&](MatmulOp matmul) {
    if (hasHostMemory(getDevice(matmul.getOperation())) && succeeded(rewrite(matmul)))
      ++count;
  });
  if (count > 0)
    remark::passed(getOperation().getLoc(),
                   remark::RemarkOpts::name("MultiplyIntegers")
                       .category("graph-multiply-integers"))
        << remark::metric("Products", count);
}
