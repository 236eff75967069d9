// SPDX-License-Identifier: Apache-2.0
//
// graph-hoist-quantization: what is moved is quantised before it is, and what
// is gathered of a table is dequantized after.

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cmath>

namespace dlc::graph {
#define GEN_PASS_DEF_HOISTQUANTIZATIONPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

namespace {

/// One scale and one zero point, both known.
struct Quantization {
  ElementsAttr scale, zeroPoint;

  bool operator==(const Quantization &) const = default;
  /// Whether integers of 8 bits are the same after they were floats.
  bool isReversible() const;
  /// Whether larger floats are no smaller integers; of those that are
  /// reversible.
  bool isIncreasing() const;
};

struct HoistQuantization
    : graph::impl::HoistQuantizationPassBase<HoistQuantization> {
  using HoistQuantizationPassBase::HoistQuantizationPassBase;
  void runOnOperation() override;
};

} // namespace

/// Of a QuantizeLinearOp or a DequantizeLinearOp.
template <typename Op>
static std::optional<Quantization> quantizationOf(Op op) {
  Quantization own = {getConstantElements(op.getScale()),
                      getConstantElements(op.getZeroPoint())};
  auto isOne = [](ElementsAttr elements) {
    return elements && elements.getNumElements() == 1;
  };
  return op.getBlockSize() == 0 && isOne(own.scale) && isOne(own.zeroPoint)
             ? std::optional(own)
             : std::nullopt;
}

/// Whether `op` limits and rounds as its types say, and no other way.
static bool isUsual(QuantizeLinearOp op) {
  return !op.getPrecision() && op.getSaturate();
}

/// A difference of two integers of 8 bits, times the scale and over it again,
/// is off by far less than a half, unless the product is no number.
bool Quantization::isReversible() const {
  constexpr int mostDifference = 255, bits = 8;
  auto number = dyn_cast<DenseElementsAttr>(scale);
  auto type = dyn_cast<IntegerType>(zeroPoint.getElementType());
  if (!number || !number.getElementType().isF32() || !type ||
      type.getWidth() != bits)
    return false;
  const float value = number.getValues<float>()[0];
  return value != 0 && std::isfinite(value * mostDifference);
}

bool Quantization::isIncreasing() const {
  return cast<DenseElementsAttr>(scale).getValues<float>()[0] > 0;
}

//===----------------------------------------------------------------------===//
// Back to what was there
//===----------------------------------------------------------------------===//

/// What `x` was dequantized from, if quantising it as `own` says into `element`
/// makes that again.
static Value integersOf(Value x, const Quantization &own, Type element) {
  auto from = x.getDefiningOp<DequantizeLinearOp>();
  return from && getElementTypeOrSelf(from.getX().getType()) == element &&
                 quantizationOf(from) == own && own.isReversible()
             ? from.getX()
             : Value();
}

static Value integersOf(QuantizeLinearOp op) {
  auto own = quantizationOf(op);
  Value integers = isUsual(op) && own
                       ? integersOf(op.getX(), *own,
                                    getElementTypeOrSelf(op.getY().getType()))
                       : Value();
  return integers && integers.getType() == op.getY().getType() ? integers
                                                               : Value();
}

//===----------------------------------------------------------------------===//
// In front of what moves
//===----------------------------------------------------------------------===//

/// The operands whose elements are those of the results of `op`.
static SmallVector<OpOperand *> movedOperands(Operation *op) {
  SmallVector<OpOperand *> moved;
  auto fusion = dyn_cast_or_null<FusionOpInterface>(op);
  if (!fusion || fusion.getFusionKind() != FusionKind::Movement)
    return moved;
  if (fusion.selectsElements())
    moved.push_back(&op->getOpOperand(0));
  else if (isa<ConcatOp>(op))
    for (OpOperand &operand : op->getOpOperands())
      moved.push_back(&operand);
  return moved;
}

/// The operand of which results are the largest elements, or the smallest:
/// integers of the same order say which, but not of NaN.
static OpOperand *orderedOperand(Operation *op) {
  return isa_and_nonnull<MaxPoolOp, ReduceMaxOp, ReduceMinOp>(op)
             ? &op->getOpOperand(0)
             : nullptr;
}

static std::optional<int64_t> countOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? std::optional(type.getNumElements())
                                       : std::nullopt;
}

/// Whether no more elements are quantised in front of `op` than behind it,
/// where `read` are its results that are. Of what are integers there are none.
static bool isNoMore(ArrayRef<OpOperand *> moved, ArrayRef<Value> read,
                     const Quantization &own, Type element) {
  int64_t before = 0, after = 0;
  for (OpOperand *operand : moved) {
    if (integersOf(operand->get(), own, element))
      continue;
    auto count = countOf(operand->get());
    if (!count)
      return false;
    before += *count;
  }
  for (Value result : read) {
    auto count = countOf(result);
    if (!count)
      return false;
    after += *count;
  }
  return before <= after;
}

/// Those that alone read the results of `op`, all quantising as `own` says;
/// none where something else reads them.
static SmallVector<QuantizeLinearOp> readersOf(Operation *op,
                                               const Quantization &own) {
  SmallVector<QuantizeLinearOp> readers;
  for (Operation *user : op->getUsers()) {
    auto quantize = dyn_cast<QuantizeLinearOp>(user);
    if (!quantize || !isUsual(quantize) || quantizationOf(quantize) != own)
      return {};
    readers.push_back(quantize);
  }
  return readers;
}

/// Puts what quantises the results of `op`, as `model` does, in front of it,
/// and behind what is left to look at.
static void hoist(Operation *op, QuantizeLinearOp model,
                  SmallVectorImpl<QuantizeLinearOp> &left) {
  SmallVector<OpOperand *> moved = movedOperands(op);
  auto own = quantizationOf(model);
  Type element = getElementTypeOrSelf(model.getY().getType());
  OpOperand *ordered = own ? orderedOperand(op) : nullptr;
  if (ordered && integersOf(ordered->get(), *own, element) &&
      own->isIncreasing())
    moved.push_back(ordered);
  if (moved.empty() || !own)
    return;
  SmallVector<QuantizeLinearOp> readers = readersOf(op, *own);
  SmallVector<Value> read;
  for (Value result : op->getResults())
    if (!result.use_empty())
      read.push_back(result);
  if (readers.empty() || !isNoMore(moved, read, *own, element))
    return;
  OpBuilder builder(op);
  Operation *before = op->getPrevNode();
  // What `model` is given may be defined behind `op`.
  Value scale = ConstantOp::create(builder, op->getLoc(), own->scale);
  Value zero = ConstantOp::create(builder, op->getLoc(), own->zeroPoint);
  SmallVector<Value> operands(op->getOperands());
  for (OpOperand *operand : moved) {
    auto type = cast<RankedTensorType>(operand->get().getType());
    auto quantize = cast<QuantizeLinearOp>(builder.clone(*model));
    quantize->setOperands({operand->get(), scale, zero});
    quantize.getY().setType(type.clone(element));
    operands[operand->getOperandNumber()] = quantize.getY();
    left.push_back(quantize);
  }
  Operation *built = builder.clone(*op);
  built->setOperands(operands);
  for (Value result : built->getResults())
    result.setType(cast<TensorType>(result.getType()).clone(element));
  copyPlacement(op, before, builder);
  // What nobody needs any more reads nothing until it is erased.
  for (QuantizeLinearOp reader : readers) {
    const auto number = cast<OpResult>(reader.getX()).getResultNumber();
    reader.getY().replaceAllUsesWith(built->getResult(number));
    reader->dropAllReferences();
  }
  op->erase();
}

//===----------------------------------------------------------------------===//
// Behind what chooses
//===----------------------------------------------------------------------===//

/// Dequantizes what is gathered of a constant table rather than the table.
static void sink(GatherOp op) {
  auto table = op.getX().getDefiningOp<DequantizeLinearOp>();
  if (!table || !quantizationOf(table) || !getConstantElements(table.getX()))
    return;
  auto type = cast<TensorType>(op.getY().getType());
  OpBuilder builder(op);
  Operation *before = op->getPrevNode();
  auto gather = cast<GatherOp>(builder.clone(*op));
  gather->setOperand(0, table.getX());
  gather.getY().setType(
      type.clone(getElementTypeOrSelf(table.getX().getType())));
  auto dequantize = cast<DequantizeLinearOp>(builder.clone(*table));
  dequantize.getXMutable().assign(gather.getY());
  dequantize.getY().setType(type);
  copyPlacement(op, before, builder);
  op.getY().replaceAllUsesWith(dequantize.getY());
  op->erase();
}

void HoistQuantization::runOnOperation() {
  getOperation().walk([](GatherOp op) { sink(op); });
  SmallVector<QuantizeLinearOp> left;
  getOperation().walk([&](QuantizeLinearOp op) { left.push_back(op); });
  while (!left.empty()) {
    QuantizeLinearOp op = left.pop_back_val();
    if (op->use_empty())
      continue;
    if (Value integers = integersOf(op)) {
      op.getY().replaceAllUsesWith(integers);
      op->dropAllReferences();
    } else if (Operation *maker = op.getX().getDefiningOp()) {
      hoist(maker, op, left);
    }
  }
  for (Block &body : getOperation())
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
      if (isOpTriviallyDead(&op))
        op.erase();
}
