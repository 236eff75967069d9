// SPDX-License-Identifier: Apache-2.0
//
// plan-schedule-launches: Planning/Schedule over the launches of a program.

#include "dlc/Planning/Schedule/Schedule.h"
#include "dlc/passes/Plan/Passes.h"

#include "mlir/IR/Remarks.h"

namespace dlc::plan {
#define GEN_PASS_DEF_SCHEDULELAUNCHESPASS
#include "dlc/passes/Plan/Passes.h.inc"
} // namespace dlc::plan

using namespace mlir;
using namespace dlc::plan;
namespace schedule = dlc::planning::schedule;

/// The launches of `program` and what they touch, as plain data.
static schedule::Problem collect(ProgramOp program,
                                 SmallVectorImpl<LaunchOp> &launches) {
  schedule::Problem problem;
  DenseMap<Value, uint32_t> ids;
  auto idOf = [&](Value value) {
    Value base = getBase(value).first;
    auto [entry, isNew] = ids.try_emplace(base, problem.bufferBytes.size());
    if (isNew) {
      bool isBuffer = base.getDefiningOp<BufferOp>() != nullptr;
      problem.bufferBytes.push_back(
          isBuffer ? getByteSize(base.getType()).value_or(0) : 0);
    }
    return entry->second;
  };
  SmallVector<InputOp> inputs(program.getBody().getOps<InputOp>());
  for (LaunchOp launch : program.getBody().getOps<LaunchOp>()) {
    launches.push_back(launch);
    schedule::Task &task = problem.tasks.emplace_back();
    for (Value value : launch.getReads())
      task.reads.push_back(idOf(value));
    for (Value value : launch.getWrites()) {
      task.writes.push_back(idOf(value));
      auto output = getBase(value).first.getDefiningOp<OutputOp>();
      if (output && output.getUpdates())
        task.overwrites.push_back(idOf(inputs[*output.getUpdates()]));
    }
  }
  return problem;
}

namespace {
struct ScheduleLaunches
    : public dlc::plan::impl::ScheduleLaunchesPassBase<ScheduleLaunches> {
  void runOnOperation() override {
    ProgramOp program = getOperation();
    SmallVector<LaunchOp> launches;
    schedule::Problem problem = collect(program, launches);
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
