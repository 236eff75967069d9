// SPDX-License-Identifier: Apache-2.0

#include "dlc/Gradient/Gradient.h"

#include "dlc/Planning/Gradient/Activity.h"
#include "dlc/dialects/Graph/Gradients.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Placement.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;
namespace activity = dlc::planning::gradient;

namespace {
/// The operations of a block as an activity problem.
struct Numbered {
  activity::Problem problem;
  SmallVector<Operation *> operations;
  DenseMap<Value, uint32_t> numbers;
};

/// Gradients while they are summed up.
using Sums = DenseMap<Value, Value>;
} // namespace

//===----------------------------------------------------------------------===//
// Decide: which operations are visited
//===----------------------------------------------------------------------===//

static Numbered number(OpBuilder &builder, const GradientTask &task) {
  Numbered numbered;
  auto numberOf = [&](Value value) {
    auto [at, isNew] =
        numbered.numbers.try_emplace(value, numbered.numbers.size());
    if (isNew)
      numbered.problem.isContinuous.push_back(isContinuous(value.getType()));
    return at->second;
  };
  for (Operation &op : llvm::make_range(builder.getBlock()->begin(),
                                        builder.getInsertionPoint())) {
    activity::Operation plain;
    for (Value operand : op.getOperands())
      plain.operands.push_back(numberOf(operand));
    // Then what its regions read.
    SetVector<Value> captured;
    getUsedValuesDefinedAbove(op.getRegions(), captured);
    for (Value value : captured)
      plain.operands.push_back(numberOf(value));
    for (Value result : op.getResults())
      plain.results.push_back(numberOf(result));
    numbered.problem.operations.push_back(std::move(plain));
    numbered.operations.push_back(&op);
  }
  for (Value head : task.heads)
    numbered.problem.heads.push_back(numberOf(head));
  for (Value source : task.sources)
    numbered.problem.sources.push_back(numberOf(source));
  return numbered;
}

/// Makes simpler operations do what those on the way do that know no gradient
/// of their own. True when there were some.
static bool decomposeOnWay(const Numbered &numbered,
                           const activity::Solution &solution,
                           GradientTask &task) {
  bool changed = false;
  for (const activity::Step &step : solution.steps) {
    Operation *op = numbered.operations[step.operation];
    auto composite = dyn_cast<DecomposeOpInterface>(op);
    if (!composite || isa<GradientOpInterface>(op))
      continue;
    OpBuilder builder(op);
    Operation *before = op->getPrevNode();
    auto values = composite.decompose(builder);
    if (failed(values))
      continue; // Reported where it is differentiated.
    copyPlacement(op, before, builder);
    op->replaceAllUsesWith(*values);
    for (auto [result, value] : llvm::zip_equal(op->getResults(), *values)) {
      llvm::replace(task.heads, Value(result), Value(value));
      llvm::replace(task.sources, Value(result), Value(value));
    }
    changed = true;
  }
  return changed;
}

//===----------------------------------------------------------------------===//
// Rewrite: the way back
//===----------------------------------------------------------------------===//

/// A sum is made as soon as there are two terms, so that none waits in memory
/// for the others.
static void addTerm(OpBuilder &builder, Location loc, Sums &sums, Value of,
                    Value term) {
  Value &sum = sums[of];
  sum = sum ? AddOp::create(builder, loc, sum, term).getY() : term;
}

/// Nothing passes back through a tensor without elements.
static bool isEmpty(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 0;
}

static LogicalResult visit(OpBuilder &builder, Operation *op,
                           const activity::Step &step, Sums &sums) {
  SmallVector<Value> ofResults;
  for (Value result : op->getResults())
    ofResults.push_back(isEmpty(result) ? Value() : sums.lookup(result));
  // Stopped, or not connected with a head after all.
  if (llvm::none_of(ofResults, [](Value value) { return !!value; }))
    return success();
  // `op` itself, at least, is before it.
  Operation *before = &*std::prev(builder.getInsertionPoint());
  SmallVector<bool> wanted(step.wanted.begin(), step.wanted.end());
  for (OpOperand &operand : op->getOpOperands())
    if (isEmpty(operand.get()))
      wanted[operand.getOperandNumber()] = false;
  ArrayRef<bool> operands = ArrayRef(wanted).take_front(op->getNumOperands());
  if (!llvm::is_contained(wanted, true))
    return success();
  if (llvm::is_contained(ArrayRef(wanted).drop_front(operands.size()), true))
    return op->emitOpError("has no gradient: its regions read values from "
                           "outside");
  auto ofOperands = buildGradients(builder, op, ofResults, operands);
  if (failed(ofOperands))
    return failure();
  for (auto [operand, gradient] :
       llvm::zip_equal(op->getOperands(), *ofOperands))
    if (gradient)
      addTerm(builder, op->getLoc(), sums, operand, gradient);
  copyPlacement(op, before, builder);
  return success();
}

/// True when a head depends on a source through an operation that rounds to
/// integers, which it reports.
static bool isCutByRounding(const Numbered &numbered,
                            const GradientTask &task) {
  DenseSet<Value> varied(task.sources.begin(), task.sources.end());
  DenseMap<Value, Operation *> rounded; // By the first on the way.
  for (Operation *op : numbered.operations) {
    auto rule = dyn_cast<GradientOpInterface>(op);
    bool isVaried = false;
    Operation *by = nullptr;
    for (OpOperand &operand : op->getOpOperands()) {
      if (rule && !rule.passesGradientTo(operand.getOperandNumber()))
        continue;
      isVaried |= varied.contains(operand.get());
      by = by ? by : rounded.lookup(operand.get());
    }
    if (!by && isVaried && op->hasTrait<RoundsToIntegers>())
      by = op;
    for (Value result : op->getResults()) {
      if (by)
        rounded[result] = by;
      if (isVaried && isContinuous(result.getType()))
        varied.insert(result);
    }
  }
  for (Value head : task.heads)
    if (Operation *by = rounded.lookup(head)) {
      by->emitOpError("has no gradient: what is rounded to integers has none");
      return true;
    }
  return false;
}

FailureOr<GradientResult> dlc::graph::differentiate(OpBuilder &builder,
                                                    const GradientTask &given) {
  GradientTask task = given;
  Numbered numbered = number(builder, task);
  activity::Solution solution = activity::solve(numbered.problem);
  while (decomposeOnWay(numbered, solution, task)) {
    numbered = number(builder, task);
    solution = activity::solve(numbered.problem);
  }
  if (isCutByRounding(numbered, task))
    return failure();
  Sums sums;
  for (auto [head, gradient] : llvm::zip_equal(task.heads, task.headGradients))
    addTerm(builder, head.getLoc(), sums, head, gradient);
  for (const activity::Step &step : solution.steps)
    if (failed(visit(builder, numbered.operations[step.operation], step, sums)))
      return failure();
  GradientResult result;
  for (Value source : task.sources)
    result.ofSources.push_back(sums.lookup(source));
  result.visited = solution.steps.size();
  Operation *parent = builder.getInsertionBlock()->getParentOp();
  if (isa_and_nonnull<FunctionOpInterface>(parent))
    parent->setAttr(kGradientAttr, builder.getUnitAttr());
  return result;
}
