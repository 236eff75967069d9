// SPDX-License-Identifier: Apache-2.0
//
// The executions of a batch of any size: one for each of its programs, which
// run over the examples one after the other.

#ifndef DLC_RUNTIME_EXECUTOR_BATCHEXECUTION_H
#define DLC_RUNTIME_EXECUTOR_BATCHEXECUTION_H

#include "BatchRuns.h"
#include "ProgramState.h"

#include "dlc/runtime/Executor/Execution.h"

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

  /// The number of examples in inputs of these shapes. Errors: InvalidArgument
  /// (they do not agree).
  Result<int64_t>
  countExamples(std::span<const std::vector<int64_t>> inputs) const;
  /// The shape of output `index` for so many examples.
  std::vector<int64_t> shapeOfOutput(size_t index, int64_t count) const;
  /// Computes `count` examples, with memory for each input and each output.
  Status run(int64_t count, std::span<void *const> inputs,
             std::span<void *const> outputs);

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
  std::vector<PortRows> findRows(std::span<const Port> whole,
                                 std::span<const Port> one);
  Status runForShared(std::span<void *const> inputs,
                      std::span<void *const> outputs);
  Status runPadded(const BatchRun &run, std::span<void *const> inputs,
                   std::span<void *const> outputs);
  Status runAt(uint32_t program, std::span<void *const> inputs,
               std::span<void *const> outputs);

  const Program::State &program;
  std::vector<BatchProgram> programs;
  std::vector<std::unique_ptr<Execution>> executions;
  std::vector<Renumbering> observers;
  std::vector<PortRows> inputRows, outputRows;
  /// For what is computed of a batch that is smaller than its program: pages
  /// that are not touched before.
  PageBuffer pad;
  uint64_t padBytes = 0;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_EXECUTOR_BATCHEXECUTION_H
