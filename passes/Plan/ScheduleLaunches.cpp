// SPDX-License-Identifier: Apache-2.0
//
// plan-schedule-launches: Planning/Schedule over the launches of a program.

#include "dlc/Planning/Schedule/Schedule.h"
#include "dlc/passes/Plan/Passes.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"

namespace dlc::plan {
#define GEN_PASS_DEF_SCHEDULELAUNCHESPASS
#include "dlc/passes/Plan/Passes.h.inc"
} // namespace dlc::plan

using namespace mlir;
using namespace dlc::plan;
namespace schedule = dlc::planning::schedule;

namespace {
/// Collects the launches of a program and what they touch, as plain data. What
/// launches write side by side into one buffer are buffers of their own there,
/// parts of a whole: who reads all of it comes after all of them, who reads a
/// part after one.
class Collector {
public:
  Collector(ProgramOp program, SmallVectorImpl<LaunchOp> &launches);
  schedule::Problem problem;

private:
  void addWritten(Value value);
  void addReads(Value value, std::vector<uint32_t> &reads);

  struct Part {
    MemoryRange range;
    uint32_t id;
  };
  llvm::MapVector<Value, SmallVector<Part>> parts; ///< Of each base.
};
} // namespace

void Collector::addWritten(Value value) {
  MemoryRange range = getRange(value);
  bool isBuffer = range.base.getDefiningOp<BufferOp>() != nullptr;
  SmallVector<Part> &known = parts[range.base];
  if (llvm::any_of(known, [&](const Part &p) { return p.range == range; }))
    return;
  known.push_back({range, uint32_t(problem.bufferBytes.size())});
  problem.bufferBytes.push_back(
      isBuffer ? getByteSize(value.getType()).value_or(0) : 0);
}

void Collector::addReads(Value value, std::vector<uint32_t> &reads) {
  MemoryRange range = getRange(value);
  SmallVector<Part> &known = parts[range.base];
  if (known.empty()) { // From outside: one buffer, however much is read.
    known.push_back({{range.base}, uint32_t(problem.bufferBytes.size())});
    problem.bufferBytes.push_back(0);
  }
  for (const Part &part : known)
    if (part.range.overlaps(range))
      reads.push_back(part.id);
}

Collector::Collector(ProgramOp program, SmallVectorImpl<LaunchOp> &launches) {
  llvm::append_range(launches, program.getBody().getOps<LaunchOp>());
  for (LaunchOp launch : launches)
    for (Value value : launch.getWrites())
      addWritten(value);
  for (const auto &[base, known] : parts)
    if (known.size() > 1 && base.getDefiningOp<BufferOp>()) {
      std::vector<uint32_t> &whole = problem.wholes.emplace_back();
      for (const Part &part : known)
        whole.push_back(part.id);
    }
  SmallVector<InputOp> inputs(program.getBody().getOps<InputOp>());
  for (LaunchOp launch : launches) {
    schedule::Task &task = problem.tasks.emplace_back();
    for (Value value : launch.getReads())
      addReads(value, task.reads);
    for (Value value : launch.getWrites()) {
      MemoryRange range = getRange(value);
      for (const Part &part : parts[range.base])
        if (part.range == range)
          task.writes.push_back(part.id);
      auto output = range.base.getDefiningOp<OutputOp>();
      if (output && output.getUpdates())
        addReads(inputs[*output.getUpdates()], task.overwrites);
    }
  }
}

namespace {
struct ScheduleLaunches
    : public dlc::plan::impl::ScheduleLaunchesPassBase<ScheduleLaunches> {
  void runOnOperation() override {
    ProgramOp program = getOperation();
    SmallVector<LaunchOp> launches;
    schedule::Problem problem = std::move(Collector(program, launches).problem);
    schedule::Solution solution = schedule::solve(problem);
    if (std::optional<std::string> fault =
            schedule::validate(problem, solution)) {
      program.emitOpError("internal: the schedule is wrong: ") << *fault;
      return signalPassFailure();
    }
    // Memory operations stay in front; launches follow in their new order.
    Block *block = &program.getBody().front();
    for (uint32_t task : solution.order)
      launches[task]->moveBefore(block, block->end());
    remark::analysis(program.getLoc(),
                     remark::RemarkOpts::name("ScheduleLaunches")
                         .category("plan-schedule-launches"))
        << remark::add(solution.how)
        << remark::metric("PeakBytes", solution.peakBytes)
        << remark::metric("Launches", launches.size());
  }
};
} // namespace
