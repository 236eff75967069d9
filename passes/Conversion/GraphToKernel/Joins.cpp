// SPDX-License-Identifier: Apache-2.0

#include "Joins.h"

#include "dlc/Planning/Memory/Joins.h"
#include "dlc/abi/Tensor.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Placement.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace dlc;
namespace planning = dlc::planning;

/// The value whose bytes `value` is.
static Value viewed(Value value) {
  while (auto view = value.getDefiningOp<graph::InPlaceOpInterface>()) {
    if (!view.isView())
      break;
    value = view->getOperand(0);
  }
  return value;
}

/// Nullopt where it is not known or beyond all memory.
static std::optional<int64_t> bytesOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || !type.getElementType().isIntOrFloat())
    return std::nullopt;
  int64_t bytes = (type.getElementTypeBitWidth() + 7) / 8;
  for (int64_t dim : type.getShape())
    if (llvm::MulOverflow(bytes, dim, bytes))
      return std::nullopt;
  return bytes;
}

namespace {

/// The values of a function that take memory, and their lives in operations.
class JoinCollector {
public:
  explicit JoinCollector(func::FuncOp function);
  llvm::DenseSet<Operation *> choose();

private:
  void addLives(func::FuncOp function);
  void addJoin(Operation &op);
  /// Whether a launch makes `part`, by itself and for nobody outside.
  bool canBePart(Value part, Operation *join) const;

  planning::JoinProblem problem;
  DenseMap<Value, size_t> numbers;
  llvm::DenseSet<Value> returned;
  SmallVector<Operation *> joins; ///< Of each of the problem.
};

} // namespace

JoinCollector::JoinCollector(func::FuncOp function) {
  Block &body = function.getBody().front();
  for (Value value : body.getTerminator()->getOperands())
    returned.insert(viewed(value));
  addLives(function);
  for (Operation &op : body)
    addJoin(op);
}

void JoinCollector::addLives(func::FuncOp function) {
  int64_t step = 0;
  for (Operation &op : function.getBody().front()) {
    for (Value operand : op.getOperands())
      if (auto number = numbers.find(viewed(operand)); number != numbers.end())
        problem.values[number->second].last = step;
    auto view = dyn_cast<graph::InPlaceOpInterface>(op);
    if (!isa<graph::ConstantOp, graph::NoneOp>(op) && !(view && view.isView()))
      for (Value result : op.getResults()) {
        numbers[result] = problem.values.size();
        problem.values.push_back({step, step, bytesOf(result).value_or(0)});
      }
    ++step;
  }
}

bool JoinCollector::canBePart(Value part, Operation *join) const {
  Value value = viewed(part);
  Operation *maker = value.getDefiningOp();
  return maker && numbers.contains(value) && !returned.contains(value) &&
         !isa<graph::CopyOp>(maker) &&
         graph::getDevice(maker) == graph::getDevice(join) &&
         bytesOf(value) == bytesOf(part);
}

void JoinCollector::addJoin(Operation &op) {
  auto join = dyn_cast<graph::InPlaceOpInterface>(op);
  if (!join || !join.joinsOperands() || returned.contains(op.getResult(0)) ||
      !bytesOf(op.getResult(0)))
    return;
  planning::Join entry{numbers.lookup(op.getResult(0)), {}};
  int64_t offset = 0;
  for (Value operand : op.getOperands()) {
    // Kernels find their memory aligned.
    if (!canBePart(operand, &op) || offset % DLC_ALIGNMENT != 0)
      return;
    entry.parts.push_back(numbers.lookup(viewed(operand)));
    offset += *bytesOf(operand);
  }
  problem.joins.push_back(std::move(entry));
  joins.push_back(&op);
}

llvm::DenseSet<Operation *> JoinCollector::choose() {
  llvm::DenseSet<Operation *> chosen;
  for (auto [op, isChosen] :
       llvm::zip_equal(joins, planning::chooseJoins(problem)))
    if (isChosen)
      chosen.insert(op);
  return chosen;
}

llvm::DenseSet<Operation *> dlc::conversion::findJoins(func::FuncOp function) {
  return JoinCollector(function).choose();
}
