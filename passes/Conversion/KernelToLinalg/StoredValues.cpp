// SPDX-License-Identifier: Apache-2.0
//
// Which values of a kernel are written once, instead of computed where they are
// used.

#include "PlannerImpl.h"

#include "dlc/Analysis/Cost.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::conversion;

/// Values dearer than this are written once instead of computed again. On a GPU
/// memory of a tile is what caches have no more: an exponential is computed
/// twice.
static int64_t recomputeCost(bool isForGPU) { return isForGPU ? 20 : 4; }

/// Results that only view another value are that value in other dimensions.
void Planner::chooseSources(bool seesThroughViews) {
  sources.clear();
  for (Value value : kernel.getBody().front().getTerminator()->getOperands()) {
    while (auto view = value.getDefiningOp<graph::InPlaceOpInterface>()) {
      if (!seesThroughViews || !view.isView())
        break;
      value = view->getOperand(0);
    }
    sources.push_back(value);
  }
}

/// The cost of computing an element, operands apart.
int64_t Planner::costOf(Operation *op) {
  auto [known, isNew] = elementCosts.try_emplace(op);
  if (isNew)
    known->second = computeCost(op);
  return known->second;
}

int64_t Planner::computeCost(Operation *op) {
  auto elementwise = dyn_cast<graph::ElementwiseOpInterface>(op);
  if (!elementwise)
    return 0;
  Block scratch;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&scratch);
  SmallVector<Value> scalars;
  for (Value operand : op->getOperands()) {
    Type type = getElementTypeOrSelf(operand.getType());
    if (auto integer = dyn_cast<IntegerType>(type))
      type = IntegerType::get(op->getContext(), integer.getWidth());
    scalars.push_back(scratch.addArgument(type, op->getLoc()));
  }
  elementwise.buildElement(builder, op->getLoc(), scalars);
  return analysis::costOf(scratch);
}

/// From the results backwards: which stages need each value, and from that,
/// which values are written.
void Planner::chooseStored() {
  const int64_t most = recomputeCost(isForGPU);
  stored.clear();
  needs.clear();
  SmallVector<Value> inReverse;
  for (Value source : sources)
    needs[source].insert(source);
  Block &body = kernel.getBody().front();
  llvm::DenseMap<Value, int64_t> costs;
  for (Operation &op : body) {
    int64_t cost = costOf(&op);
    if (!isReduction(&op))
      for (Value operand : op.getOperands())
        cost += costs.lookup(operand);
    for (Value result : op.getResults())
      costs[result] = isReduction(&op) ? 0 : cost;
  }
  for (Operation &op : llvm::reverse(body)) {
    for (Value result : op.getResults()) {
      auto &stages = needs[result];
      bool isStored = isReduction(&op);
      if (stages.size() > 1 && costs.lookup(result) > most &&
          isa<graph::ElementwiseOpInterface>(op))
        isStored |= !neverStore.contains(result);
      if (isStored && !stages.empty()) {
        // Stages were added from the last one to the first.
        firstReader[result] = stages.back();
        inReverse.push_back(result);
        stages.clear();
        stages.insert(result);
      }
      SmallVector<Value> users(stages.begin(), stages.end());
      for (Value operand : op.getOperands()) {
        // The earliest users go last.
        for (Value user : users) {
          needs[operand].remove(user);
          needs[operand].insert(user);
        }
      }
    }
  }
  for (Value value : llvm::reverse(inReverse))
    stored.insert(value);
}

/// Values that are cheap, now that what they need is written.
bool Planner::dropCheapStored() {
  const int64_t most = recomputeCost(isForGPU);
  llvm::DenseMap<Value, int64_t> costs;
  bool changed = false;
  for (Operation &op : kernel.getBody().front()) {
    int64_t cost = costOf(&op);
    for (Value operand : op.getOperands())
      cost += costs.lookup(operand);
    for (Value result : op.getResults()) {
      bool isStored = stored.contains(result);
      costs[result] = isStored ? 0 : cost;
      if (isStored && !isReduction(&op) && cost <= most)
        changed |= neverStore.insert(result).second;
    }
  }
  return changed;
}
