// SPDX-License-Identifier: Apache-2.0
//
// The executions of a batch of any size: one for each of its programs, which
// run over the examples one after the other.

#ifndef DLC_RUNTIME_EXECUTOR_BATCHEXECUTION_H
#define DLC_RUNTIME_EXECUTOR_BATCHEXECUTION_H

#include "BatchRuns.h"
#include "ProgramState.h"

#include "dlc/runtime/Executor/Execution.h"

#include <array>
#include <memory>
#include <span>
#include <vector>

namespace dlc::rt {

class BatchExecution {
public:
  /// Their transient values are in the same memory. Errors: those of
  /// Execution::create().
  static Result<std::unique_ptr<BatchExecution>>
  create(const Program::State &program, const ExecutionOptions &options);

  /// The number of examples, by the shapes of all values. Errors:
  /// InvalidArgument (inputs do not agree).
  Result<int64_t>
  countExamples(std::span<const std::vector<int64_t>> shapes) const;
  /// The shape of output `index` for so many examples, until the next call.
  /// Errors: OutOfMemory.
  Result<std::span<const int64_t>> shapeOfOutput(size_t index, int64_t count);
  /// Computes `count` examples; `addresses` of all values has those of inputs
  /// and outputs.
  Status run(int64_t count, std::span<void *const> addresses);

  void setObserver(LaunchObserver *observer);
  QueueTime takeQueueTime();
  const std::vector<std::string> &remarks() const;

private:
  /// An input or an output, as one example has it.
  struct PortRows {
    std::vector<int64_t> shape; ///< Of one example, or of all.
    bool isShared;              ///< The same for all examples.
    uint64_t bytes;             ///< Of `shape`.
    uint64_t padded;            ///< Where a batch with more rows is, in `pad`.
  };
  /// Numbers launches as the whole program does.
  struct Renumbering final : LaunchObserver {
    void onLaunch(size_t launch, unsigned thread, uint64_t begin,
                  uint64_t end) override {
      observer->onLaunch(first + launch, thread, begin, end);
    }
    void onWait(unsigned thread, uint64_t begin, uint64_t end) override {
      observer->onWait(thread, begin, end);
    }
    void onMemory(Context device, uint64_t bytes) override {
      observer->onMemory(device, bytes);
    }
    LaunchObserver *observer = nullptr;
    size_t first = 0;
  };

  explicit BatchExecution(const Program::State &program);
  Status allocate();
  bool findRows(std::span<const Port> whole, std::span<const Port> one,
                std::vector<PortRows> &rows, uint64_t &end);
  Status runOnce(const BatchRun &run, std::span<void *const> addresses);
  Status runPadded(const BatchRun &run);
  Status runAt(uint32_t program);

  const Program::State &program;
  std::vector<BatchProgram> programs;
  std::vector<std::unique_ptr<Execution>> executions;
  std::vector<Renumbering> observers;
  std::vector<PortRows> inputRows, outputRows;
  /// For what is computed of a batch that is smaller than its program: pages
  /// that are not touched before.
  PageBuffer pad;
  std::vector<void *> inputs, outputs; ///< Of the run under way.
  std::array<int64_t, DLC_MAX_RANK> shape;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_EXECUTOR_BATCHEXECUTION_H
