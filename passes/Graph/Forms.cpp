// SPDX-License-Identifier: Apache-2.0

#include "Forms.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dlc::graph;

std::string dlc::graph::describeForReason(Operation *op) {
  std::string text = op->getName().stripDialect().str();
  op->getLoc()->walk([&](Location inner) {
    auto name = dyn_cast<NameLoc>(inner);
    if (!name)
      return WalkResult::advance();
    text += " of " + name.getName().str();
    return WalkResult::interrupt();
  });
  return text;
}

LogicalResult
dlc::graph::inferQuietly(func::FuncOp function,
                         function_ref<LogicalResult(func::FuncOp)> infer) {
  ScopedDiagnosticHandler quiet(function.getContext(), [](Diagnostic &) {
    return success(); // Taken.
  });
  return infer(function);
}

LogicalResult
dlc::graph::inferProbe(ModuleOp module, func::FuncOp function,
                       function_ref<LogicalResult(func::FuncOp)> infer) {
  function.setSymName("probe");
  module.push_back(function);
  LogicalResult result = inferQuietly(function, infer);
  function->remove();
  return result;
}

bool dlc::graph::hasForm(Operation *op) {
  // Sums of short floats are those of what they decompose to.
  if (isa<ReductionOpInterface>(op) && isa<DecomposeOpInterface>(op))
    if (Type element = getElementTypeOrSelf(op->getResult(0).getType());
        element.isF16() || element.isBF16())
      return false;
  return isa<ElementwiseOpInterface, PositionedOpInterface,
             ReductionOpInterface>(op);
}

Value dlc::graph::readElement(ElementReader &reader, OpResult result,
                              ArrayRef<Index> at, ArrayRef<Index> folded) {
  Operation *op = result.getOwner();
  if (auto positioned = dyn_cast<PositionedOpInterface>(op))
    return positioned.buildElementAt(reader, result.getResultNumber(), at);
  if (auto reduction = dyn_cast<ReductionOpInterface>(op))
    return reduction.buildTermAt(reader, at, folded);
  Value last;
  for (Value operand : op->getOperands())
    last =
        reader.read(operand, reader.broadcast(at, typeOf(operand).getShape()));
  return last;
}

Value dlc::graph::placeholderOf(OpBuilder &builder, Location loc,
                                Value tensor) {
  Type type = getElementTypeOrSelf(tensor.getType());
  if (auto integer = dyn_cast<IntegerType>(type))
    type = builder.getIntegerType(integer.getWidth());
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

bool dlc::graph::visitParts(Operation *op,
                            function_ref<bool(Operation *)> visit) {
  auto composite = dyn_cast<DecomposeOpInterface>(op);
  if (!composite)
    return false;
  Operation *before = op->getPrevNode();
  Block *block = op->getBlock();
  OpBuilder builder(op);
  FailureOr<SmallVector<Value>> values = composite.decompose(builder);
  if (failed(values))
    return false;
  // A part that is a result may be decomposed itself, and be gone: what stands
  // for it then is what this reads.
  builder.setInsertionPointAfter(op);
  auto results = UnrealizedConversionCastOp::create(
      builder, op->getLoc(), op->getResultTypes(), *values);
  bool isDone = true;
  for (Operation *part = before ? before->getNextNode() : &block->front();
       isDone && part != op;) {
    Operation *next = part->getNextNode();
    isDone = visit(part);
    part = next;
  }
  if (isDone)
    op->replaceAllUsesWith(results.getOperands());
  results.erase();
  return isDone;
}

void dlc::graph::prepareForm(Operation *op, const Knowledge &knowledge,
                             function_ref<bool(Value)> isExcluded) {
  OpBuilder builder(op);
  auto fusion = dyn_cast<FusionOpInterface>(op);
  for (OpOperand &operand : op->getOpOperands())
    if (fusion && fusion.isParameter(operand.getOperandNumber()) &&
        !getConstantElements(operand.get()) && !isExcluded(operand.get()))
      if (ElementsAttr elements = knowledge.elementsOf(operand.get()))
        operand.set(ConstantOp::create(builder, op->getLoc(), elements));
  if (auto indexed = dyn_cast<IndexedOpInterface>(op))
    if (indexed.getIndexedExtents())
      indexed.markInBounds();
}
