// SPDX-License-Identifier: Apache-2.0
//
// What gradients of all families share.

#include "Formula.h"

using namespace mlir;
using namespace dlc::graph;

Gradients::Gradients(OpBuilder &builder, Operation *op,
                     ArrayRef<Value> ofResults, ArrayRef<bool> wanted)
    : opBuilder(builder), op(op), results(ofResults),
      operands(op->getNumOperands()), wanted(wanted) {}

void Gradients::give(unsigned operand, function_ref<Value()> build) {
  if (wants(operand))
    operands[operand] = build();
}

void Gradients::give(unsigned operand, Value gradient) {
  if (wants(operand))
    operands[operand] = gradient;
}

LogicalResult Gradients::fail(const Twine &reason) {
  return op->emitOpError() << "has no gradient: " << reason;
}

/// `gradient` summed over the dimensions in which a tensor of `shape` was
/// repeated to give its shape; null when it cannot have been.
static Value sumToShape(Formula &f, Value gradient, ArrayRef<int64_t> shape) {
  auto type = Formula::typeOf(gradient);
  int64_t extra = type.getRank() - static_cast<int64_t>(shape.size());
  if (extra < 0)
    return {};
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(extra));
  for (auto [i, extent] : llvm::enumerate(shape)) {
    int64_t found = type.getDimSize(i + extra);
    if (found != extent && extent != 1)
      return {};
    if (found != extent)
      axes.push_back(i + extra);
  }
  return f.reshape(f.sumOver(gradient, axes, /*keepdims=*/true), shape);
}

FailureOr<SmallVector<Value>> Gradients::finish() {
  Formula f(*this);
  for (auto [i, gradient] : llvm::enumerate(operands)) {
    Type type = op->getOperand(i).getType();
    if (!gradient || (gradient.getType() == type && isStatic(type)))
      continue;
    if (!isStatic(type) || !isStatic(gradient.getType()))
      return failDynamic(*this);
    auto tensor = cast<RankedTensorType>(type);
    Value summed = sumToShape(f, gradient, tensor.getShape());
    if (!summed || summed.getType() != type)
      return op->emitOpError("expected a gradient of ")
             << type << " for operand #" << i << ", its rule built "
             << gradient.getType();
    gradient = summed;
  }
  return std::move(operands);
}

bool dlc::graph::isContinuous(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  return tensor && isa<FloatType>(tensor.getElementType());
}

LogicalResult dlc::graph::failDynamic(Gradients &gradients) {
  return gradients.fail(
      "expected static shapes, which follow from those of all inputs");
}

Value dlc::graph::buildSelectionGradient(Formula &f, Operation *op,
                                         unsigned result, Value gradient) {
  auto type = Formula::typeOf(op->getOperand(0));
  int64_t count = type.getNumElements();
  SmallVector<Value> operands(op->getOperands());
  operands[0] = f.reshape(f.iota(count), type.getShape());
  // What is put in aside (the value of a pad) has no number that would count.
  for (Value &operand : llvm::drop_begin(operands))
    if (isContinuous(operand.getType()))
      operand = f.full(Formula::typeOf(operand).getShape(),
                       f.builder.getI64Type(), 0);
  Operation *places =
      createInferred(f.builder, f.loc, op->getName().getStringRef(), operands,
                     op->getAttrs(), op->getNumResults());
  int64_t taken = Formula::typeOf(gradient).getNumElements();
  Value zeros = f.full({count}, type.getElementType(), 0);
  Value sum = ScatterElementsOp::create(
      f.builder, f.loc, zeros, f.reshape(places->getResult(result), {taken}),
      f.reshape(gradient, {taken}), /*axis=*/0, "add");
  return f.reshape(sum, type.getShape());
}

FailureOr<SmallVector<Value>>
dlc::graph::buildGradients(OpBuilder &builder, Operation *op,
                           ArrayRef<Value> ofResults, ArrayRef<bool> wanted) {
  Gradients gradients(builder, op, ofResults, wanted);
  auto rule = dyn_cast<GradientOpInterface>(op);
  if (!rule && isa<DecomposeOpInterface>(op))
    return gradients.fail("its types are not known well enough for that of "
                          "what it is made of");
  if (!rule)
    return gradients.fail("none is defined for this operation");
  if (failed(rule.buildGradients(gradients)))
    return failure();
  return gradients.finish();
}
