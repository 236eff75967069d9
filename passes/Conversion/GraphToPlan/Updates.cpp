// SPDX-License-Identifier: Apache-2.0

#include "Updates.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Views.h"

#include "llvm/ADT/BitVector.h"

#include <queue>

using namespace mlir;
using namespace dlc;
using namespace dlc::conversion;

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Calls `visit` with each call whose result `value` is, or is joined of.
static void forEachMaker(Value value,
                         llvm::function_ref<void(kernel::CallOp)> visit) {
  Value base = graph::skipViews(value);
  if (auto call = base.getDefiningOp<kernel::CallOp>())
    return visit(call);
  auto join = base.getDefiningOp<graph::InPlaceOpInterface>();
  if (join && join.joinsOperands())
    for (Value operand : join->getOperands())
      forEachMaker(operand, visit);
}

UpdateOrder::UpdateOrder(func::FuncOp function, const SymbolTable &symbols)
    : symbols(symbols) {
  for (auto call : function.getBody().getOps<kernel::CallOp>()) {
    unsigned number = numbers.size();
    numbers[call] = number;
    next.emplace_back();
    for (Value operand : call.getInputs()) {
      Value base = graph::skipViews(operand);
      readers[base].push_back(number);
      forEachMaker(base, [&](kernel::CallOp maker) {
        next[numbers.lookup(maker)].push_back(number);
      });
    }
  }
}

bool UpdateOrder::reaches(unsigned from, ArrayRef<unsigned> targets) const {
  llvm::BitVector seen(next.size());
  SmallVector<unsigned> work{from};
  seen.set(from);
  while (!work.empty())
    for (unsigned follower : next[work.pop_back_val()]) {
      if (llvm::is_contained(targets, follower))
        return true;
      if (!seen.test(follower)) {
        seen.set(follower);
        work.push_back(follower);
      }
    }
  return false;
}

/// The kernel promises safety for one input; the same memory read through
/// another could be overwritten too early.
bool UpdateOrder::readsInPlace(kernel::CallOp call, unsigned result,
                               BlockArgument argument) const {
  ArrayRef<int64_t> pairs =
      kernel::getInPlacePairs(symbols.lookup(call.getCallee()));
  unsigned reads = 0;
  for (auto [i, operand] : llvm::enumerate(call.getInputs())) {
    if (graph::skipViews(operand) != argument)
      continue;
    bool isPaired = false;
    for (size_t k = 0; k + 1 < pairs.size(); k += 2)
      isPaired |= pairs[k] == static_cast<int64_t>(i) &&
                  pairs[k + 1] == static_cast<int64_t>(result);
    if (!isPaired || ++reads > 1)
      return false;
  }
  return true;
}

bool UpdateOrder::tryWriteOver(OpResult value, BlockArgument argument) {
  auto call = cast<kernel::CallOp>(value.getOwner());
  if (!readsInPlace(call, value.getResultNumber(), argument))
    return false;
  unsigned writer = numbers.lookup(call);
  SmallVector<unsigned> others = llvm::to_vector(llvm::make_filter_range(
      readers.lookup(argument), [&](unsigned i) { return i != writer; }));
  if (!others.empty() && reaches(writer, others))
    return false;
  for (unsigned reader : others)
    next[reader].push_back(writer);
  return true;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

namespace {
/// What must run before what, by the position of launches.
struct LaunchGraph {
  explicit LaunchGraph(plan::ProgramOp program);
  void addEdge(unsigned from, unsigned to) {
    if (from == to)
      return;
    next[from].push_back(to);
    ++waiting[to];
  }

  SmallVector<plan::LaunchOp> launches;
  SmallVector<SmallVector<unsigned>> next;
  SmallVector<unsigned> waiting;
};
} // namespace

LaunchGraph::LaunchGraph(plan::ProgramOp program)
    : launches(program.getBody().getOps<plan::LaunchOp>()),
      next(launches.size()), waiting(launches.size()) {
  struct Write {
    plan::MemoryRange range;
    unsigned launch;
  };
  DenseMap<Value, SmallVector<Write>> writers;
  DenseMap<Value, SmallVector<unsigned>> readers;
  for (auto [i, launch] : llvm::enumerate(launches)) {
    for (Value value : launch.getReads()) {
      plan::MemoryRange range = plan::getRange(value);
      readers[range.base].push_back(i);
      for (const Write &write : writers.lookup(range.base))
        if (write.range.overlaps(range))
          addEdge(write.launch, i);
    }
    for (Value value : launch.getWrites()) {
      plan::MemoryRange range = plan::getRange(value);
      writers[range.base].push_back({range, unsigned(i)});
    }
  }
  SmallVector<plan::InputOp> inputs(program.getBody().getOps<plan::InputOp>());
  for (plan::OutputOp output : program.getBody().getOps<plan::OutputOp>())
    if (output.getUpdates())
      for (unsigned reader : readers.lookup(inputs[*output.getUpdates()]))
        for (const Write &write : writers.lookup(output))
          addEdge(reader, write.launch);
}

LogicalResult dlc::conversion::orderUpdates(plan::ProgramOp program) {
  LaunchGraph graph(program);
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> ready;
  for (auto [i, count] : llvm::enumerate(graph.waiting))
    if (count == 0)
      ready.push(i);
  Block *block = &program.getBody().front();
  size_t placed = 0;
  for (; !ready.empty(); ++placed) {
    unsigned launch = ready.top();
    ready.pop();
    // Memory stays in front; launches follow in their new order.
    graph.launches[launch]->moveBefore(block, block->end());
    for (unsigned follower : graph.next[launch])
      if (--graph.waiting[follower] == 0)
        ready.push(follower);
  }
  if (placed != graph.launches.size())
    return program.emitOpError("internal: no order reads what is updated "
                               "before it is written");
  return success();
}
