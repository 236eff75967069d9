// SPDX-License-Identifier: Apache-2.0

#include "Knowledge.h"

#include "dlc/dialects/Graph/Plain.h"
#include "dlc/passes/Graph/Evaluate.h"

using namespace mlir;
using namespace dlc::graph;

/// Shapes are short; anything longer is data.
static constexpr int64_t kMaxElements = 4096;

ElementsAttr Knowledge::elementsOf(Value value) const {
  if (ElementsAttr constant = getConstantElements(value))
    return constant;
  return elements.lookup(value);
}

const PartialInts *Knowledge::intsOf(Value value) {
  auto known = ints.find(value);
  if (known != ints.end())
    return &known->second;
  auto values = getInts(elementsOf(value), kMaxElements);
  if (!values)
    return nullptr;
  return &ints.try_emplace(value, values->begin(), values->end()).first->second;
}

/// Remembers `known`, also as elements when nothing is missing.
void Knowledge::setInts(Value value, PartialInts known) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  bool isComplete = llvm::all_of(
      known, [](std::optional<int64_t> each) { return each.has_value(); });
  if (isComplete && type && type.hasStaticShape() &&
      type.getElementType().isInteger(64) &&
      type.getNumElements() == static_cast<int64_t>(known.size())) {
    SmallVector<int64_t> values;
    for (std::optional<int64_t> each : known)
      values.push_back(*each);
    elements[value] = DenseElementsAttr::get(type, ArrayRef(values));
  }
  ints[value] = std::move(known);
}

/// Computes short results of known operands.
void Knowledge::evaluate(Operation *op) {
  SmallVector<ElementsAttr> operands;
  for (Value operand : op->getOperands()) {
    ElementsAttr known = elementsOf(operand);
    bool isAbsent = isa<NoneType>(operand.getType());
    if (!isAbsent && (!known || known.getNumElements() > kMaxElements))
      return;
    operands.push_back(known);
  }
  for (Type type : op->getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape() ||
        tensor.getNumElements() > kMaxElements)
      return;
  }
  SmallVector<ElementsAttr> results;
  if (!evaluateOperation(op, operands, results).isOk())
    return; // the operation reports it when it runs
  for (auto [result, value] : llvm::zip_equal(op->getResults(), results))
    elements[result] = value;
}

void Knowledge::learn(Operation *op) {
  evaluate(op);
  auto shapeValue = dyn_cast<ShapeValueOpInterface>(op);
  if (!shapeValue || elementsOf(op->getResult(0)))
    return;
  SmallVector<const PartialInts *> operands;
  for (Value operand : op->getOperands())
    operands.push_back(intsOf(operand));
  if (auto known = shapeValue.evaluatePartially(operands))
    setInts(op->getResult(0), std::move(*known));
}

void Knowledge::learn(func::FuncOp function) {
  for (Operation &op : function.getBody().front().without_terminator())
    if (isComputed(&op))
      learn(&op);
}
