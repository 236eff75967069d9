// SPDX-License-Identifier: Apache-2.0
//
// graph-infer-types: walks in program order, carrying what is known of values
// beside the types, and back from results to operands, until neither says more.

#include "Knowledge.h"

#include "dlc/dialects/Graph/OperandTypes.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Ports.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/IR/Remarks.h"

namespace dlc::graph {
#define GEN_PASS_DEF_INFERTYPESPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc::graph;

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
  knowledge.learn(op);
  return success();
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

/// Types that operations demand of their operands, from the last operation to
/// the first, down to the function's arguments, but for those that others say
/// the types of: results of what is no computation, arguments of private
/// functions, which their callers give, and those that a result updates. What
/// nobody reads need not run and demands nothing. True when a type changed.
static bool inferBackward(func::FuncOp function, int64_t &refined) {
  if (!function.getBody().hasOneBlock())
    return false;
  SmallVector<BlockArgument> updated = findUpdates(function);
  auto mayRefineOperand = [&](Value value) {
    if (!mayRefine(value))
      return false;
    if (Operation *maker = value.getDefiningOp())
      return isComputed(maker);
    return !function.isPrivate() &&
           !llvm::is_contained(updated, cast<BlockArgument>(value));
  };
  DenseSet<Operation *> needed;
  auto isNeeded = [&](Operation *user) {
    return !isComputed(user) || needed.contains(user);
  };
  int64_t before = refined;
  for (Operation &op : llvm::reverse(function.getBody().front())) {
    if (!isComputed(&op) || llvm::none_of(op.getUsers(), isNeeded))
      continue;
    needed.insert(&op);
    refined += refineOperands(&op, mayRefineOperand);
  }
  return refined != before;
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

static void refineSignature(func::FuncOp function) {
  auto results = llvm::to_vector(function.getBody().getOps<func::ReturnOp>());
  if (results.size() != 1)
    return;
  TypeRange arguments = function.getBody().front().getArgumentTypes();
  TypeRange types = results.front().getOperandTypes();
  function.setType(FunctionType::get(function.getContext(), arguments, types));
  nameOpenDims(function);
}

/// Counts results whose shape is not known.
static int64_t countDynamic(func::FuncOp function) {
  int64_t dynamic = 0;
  function.walk([&](Operation *op) {
    if (isComputed(op))
      dynamic += llvm::count_if(op->getResultTypes(), [](Type type) {
        auto tensor = dyn_cast<RankedTensorType>(type);
        return !tensor || !tensor.hasStaticShape();
      });
  });
  return dynamic;
}

namespace {
struct InferTypes : dlc::graph::impl::InferTypesPassBase<InferTypes> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    int64_t refined = 0;
    do {
      Knowledge knowledge;
      WalkResult result =
          function.walk<WalkOrder::PreOrder>([&](Operation *op) {
            return !isComputed(op) ||
                           succeeded(inferOperation(op, knowledge, refined))
                       ? WalkResult::advance()
                       : WalkResult::interrupt();
          });
      if (result.wasInterrupted())
        return signalPassFailure();
      // Types become more precise only, so this ends.
    } while (inferBackward(function, refined));
    refineSignature(function);
    remark::analysis(function.getLoc(), remark::RemarkOpts::name("InferTypes")
                                            .category("graph-infer-types")
                                            .function(function.getName()))
        << remark::metric("Refined", refined)
        << remark::metric("Dynamic", countDynamic(function));
  }
};
} // namespace
