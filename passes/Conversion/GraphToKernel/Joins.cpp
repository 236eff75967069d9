// SPDX-License-Identifier: Apache-2.0

#include "Joins.h"

#include "dlc/Planning/Schedule/Joins.h"
#include "dlc/abi/Tensor.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Views.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dlc;
namespace schedule = dlc::planning::schedule;

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

static bool isView(Operation &op) {
  auto view = dyn_cast<graph::InPlaceOpInterface>(op);
  return view && view.isView();
}

namespace {

/// The operations of a function as the tasks that they will be.
class JoinCollector {
public:
  explicit JoinCollector(func::FuncOp function);
  llvm::DenseSet<Operation *> choose();

private:
  void addTask(Operation &op);
  void addJoin(Operation &op);
  /// Whether a launch makes `part`, by itself and for nobody outside.
  bool canBePart(Value part, Operation *join) const;

  schedule::Problem problem;
  DenseMap<Value, uint32_t> numbers; ///< Buffers of what operations make.
  llvm::DenseSet<Value> returned;
  std::vector<schedule::Join> joins;
  SmallVector<Operation *> operations; ///< Of each join.
};

} // namespace

JoinCollector::JoinCollector(func::FuncOp function) {
  Block &body = function.getBody().front();
  for (Value value : body.getTerminator()->getOperands())
    returned.insert(graph::skipViews(value));
  for (Operation &op : body)
    if (!isa<graph::ConstantOp, graph::NoneOp>(op) && !isView(op))
      addTask(op);
}

void JoinCollector::addTask(Operation &op) {
  schedule::Task &task = problem.tasks.emplace_back();
  for (Value operand : op.getOperands())
    if (auto number = numbers.find(graph::skipViews(operand));
        number != numbers.end())
      task.reads.push_back(number->second);
  for (Value result : op.getResults()) {
    uint32_t number = problem.bufferBytes.size();
    numbers[result] = number;
    task.writes.push_back(number);
    problem.bufferBytes.push_back(bytesOf(result).value_or(0));
  }
  addJoin(op);
}

bool JoinCollector::canBePart(Value part, Operation *join) const {
  Value value = graph::skipViews(part);
  Operation *maker = value.getDefiningOp();
  std::optional<int64_t> bytes = bytesOf(value);
  return maker && numbers.contains(value) && !returned.contains(value) &&
         !isa<graph::CopyOp>(maker) &&
         graph::getDevice(maker) == graph::getDevice(join) && bytes &&
         *bytes > 0 && bytes == bytesOf(part);
}

void JoinCollector::addJoin(Operation &op) {
  auto join = dyn_cast<graph::InPlaceOpInterface>(op);
  if (!join || !join.joinsOperands() || returned.contains(op.getResult(0)) ||
      !bytesOf(op.getResult(0)))
    return;
  schedule::Join entry{uint32_t(problem.tasks.size() - 1), {}};
  int64_t offset = 0;
  for (Value operand : op.getOperands()) {
    // Kernels find their memory aligned.
    if (!canBePart(operand, &op) || offset % DLC_ALIGNMENT != 0)
      return;
    entry.parts.push_back(numbers.lookup(graph::skipViews(operand)));
    offset += *bytesOf(operand);
  }
  joins.push_back(std::move(entry));
  operations.push_back(&op);
}

llvm::DenseSet<Operation *> JoinCollector::choose() {
  llvm::DenseSet<Operation *> chosen;
  for (auto [op, isChosen] :
       llvm::zip_equal(operations, schedule::chooseJoins(problem, joins)))
    if (isChosen)
      chosen.insert(op);
  return chosen;
}

llvm::DenseSet<Operation *> dlc::conversion::findJoins(func::FuncOp function) {
  return JoinCollector(function).choose();
}
