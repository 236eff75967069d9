// SPDX-License-Identifier: Apache-2.0
//
// graph-infer-types: one walk in program order, carrying what is known of
// values beside the types.

#include "dlc/dialects/Graph/Plain.h"
#include "dlc/passes/Graph/Evaluate.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/IR/Remarks.h"

#include <map>

namespace dlc::graph {
#define GEN_PASS_DEF_INFERTYPESPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc::graph;

/// Shapes are short; anything longer is data.
static constexpr int64_t kMaxElements = 4096;

namespace {

/// What is known of values, beyond constants in the IR.
class Knowledge {
public:
  /// The value when all of it is known, else null.
  ElementsAttr elementsOf(Value value) const {
    if (ElementsAttr constant = getConstantElements(value))
      return constant;
    return elements.lookup(value);
  }

  /// The integers of a value as far as they are known, else null.
  const PartialInts *intsOf(Value value) {
    auto known = ints.find(value);
    if (known != ints.end())
      return &known->second;
    auto values = getInts(elementsOf(value), kMaxElements);
    if (!values)
      return nullptr;
    return &ints.try_emplace(value, values->begin(), values->end())
                .first->second;
  }

  void setElements(Value value, ElementsAttr known) { elements[value] = known; }

  /// Remembers `known`, also as elements when nothing is missing.
  void setInts(Value value, PartialInts known) {
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

private:
  DenseMap<Value, ElementsAttr> elements;
  // Not a DenseMap: entries are referred to while others are added.
  struct ByValue {
    bool operator()(Value a, Value b) const {
      return a.getAsOpaquePointer() < b.getAsOpaquePointer();
    }
  };
  std::map<Value, PartialInts, ByValue> ints;
};

} // namespace

/// A type may change only where every user is content with any tensor.
static bool mayRefine(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    return isComputed(user) || isa<func::ReturnOp>(user);
  });
}

/// Merges what the shape rule and the declared type know, for each result.
static LogicalResult inferResults(Operation *op, Knowledge &knowledge,
                                  SmallVectorImpl<Type> &types) {
  SmallVector<ElementsAttr> values;
  for (Value operand : op->getOperands())
    values.push_back(knowledge.elementsOf(operand));
  if (failed(inferTypes(op->getName().getStringRef(), op->getContext(),
                        op->getLoc(), op->getOperandTypes(), values,
                        op->getAttrDictionary(), op->getNumResults(), types)))
    return failure();
  if (types.size() != op->getNumResults())
    return op->emitOpError() << "expected " << types.size() << " results, got "
                             << op->getNumResults();
  for (auto [type, result] : llvm::zip_equal(types, op->getResults())) {
    if (!isCompatible(type, result.getType()))
      return op->emitOpError()
             << "expected result #" << result.getResultNumber() << " of type "
             << type << ", got " << result.getType();
    type = mergeTypes(type, result.getType());
  }
  return success();
}

/// What is known in part of the operands' values may tell more dimensions.
static LogicalResult inferPartially(Operation *op,
                                    ArrayRef<const PartialInts *> operands,
                                    SmallVectorImpl<Type> &types) {
  auto partial = dyn_cast<PartialShapeOpInterface>(op);
  if (!partial)
    return success();
  auto shape = partial.inferPartially(operands);
  if (!shape)
    return success();
  auto type = RankedTensorType::get(
      *shape, cast<TensorType>(types.front()).getElementType());
  if (!isCompatible(type, types.front()))
    return op->emitOpError() << "expected result #0 of type " << type
                             << ", got " << types.front();
  types.front() = mergeTypes(types.front(), type);
  return success();
}

/// Computes short results of known operands.
static void evaluate(Operation *op, Knowledge &knowledge) {
  SmallVector<ElementsAttr> operands;
  for (Value operand : op->getOperands()) {
    ElementsAttr known = knowledge.elementsOf(operand);
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
    knowledge.setElements(result, value);
}

static LogicalResult inferOperation(Operation *op, Knowledge &knowledge,
                                    int64_t &refined) {
  SmallVector<const PartialInts *> operands;
  for (Value operand : op->getOperands())
    operands.push_back(knowledge.intsOf(operand));
  SmallVector<Type> types;
  if (failed(inferResults(op, knowledge, types)) ||
      failed(inferPartially(op, operands, types)))
    return failure();
  for (auto [type, result] : llvm::zip_equal(types, op->getResults())) {
    if (type == result.getType() || !mayRefine(result))
      continue;
    result.setType(type);
    ++refined;
  }
  evaluate(op, knowledge);
  auto shapeValue = dyn_cast<ShapeValueOpInterface>(op);
  if (!shapeValue || knowledge.elementsOf(op->getResult(0)))
    return success();
  if (auto known = shapeValue.evaluatePartially(operands))
    knowledge.setInts(op->getResult(0), std::move(*known));
  return success();
}

/// Removes the names of dimensions that turned out static.
static void dropNames(func::FuncOp function, unsigned result, Type type) {
  auto dims =
      function.getResultAttrOfType<ArrayAttr>(result, GraphDialect::kDimsAttr);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!dims || !tensor || static_cast<int64_t>(dims.size()) != tensor.getRank())
    return;
  SmallVector<Attribute> names(dims.begin(), dims.end());
  for (int64_t i = 0; i < tensor.getRank(); ++i)
    if (!tensor.isDynamicDim(i))
      names[i] = StringAttr::get(function.getContext(), "");
  function.setResultAttr(result, GraphDialect::kDimsAttr,
                         ArrayAttr::get(function.getContext(), names));
}

static void refineSignature(func::FuncOp function) {
  auto results = llvm::to_vector(function.getBody().getOps<func::ReturnOp>());
  if (results.size() != 1)
    return;
  TypeRange types = results.front().getOperandTypes();
  for (auto [i, type] : llvm::enumerate(types))
    dropNames(function, i, type);
  function.setType(FunctionType::get(function.getContext(),
                                     function.getArgumentTypes(), types));
}

namespace {
struct InferTypes : dlc::graph::impl::InferTypesPassBase<InferTypes> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    Knowledge knowledge;
    int64_t refined = 0, dynamic = 0;
    WalkResult result = function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isComputed(op))
        return WalkResult::advance();
      if (failed(inferOperation(op, knowledge, refined)))
        return WalkResult::interrupt();
      dynamic += llvm::count_if(op->getResultTypes(), [](Type type) {
        auto tensor = dyn_cast<RankedTensorType>(type);
        return !tensor || !tensor.hasStaticShape();
      });
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    refineSignature(function);
    remark::analysis(function.getLoc(), remark::RemarkOpts::name("InferTypes")
                                            .category("graph-infer-types")
                                            .function(function.getName()))
        << remark::metric("Refined", refined)
        << remark::metric("Dynamic", dynamic);
  }
};
} // namespace
