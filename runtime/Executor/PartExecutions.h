// SPDX-License-Identifier: Apache-2.0
//
// The executions of programs that another one runs: one for each.

#ifndef DLC_RUNTIME_EXECUTOR_PARTEXECUTIONS_H
#define DLC_RUNTIME_EXECUTOR_PARTEXECUTIONS_H

#include "ProgramState.h"

#include "dlc/runtime/Executor/Execution.h"

#include <memory>
#include <vector>

namespace dlc::rt {

class PartExecutions {
public:
  /// Their transient values are in the same memory. Errors: those of
  /// Execution::create().
  Status create(const Program::State &program, const ExecutionOptions &options);

  size_t size() const { return executions.size(); }
  Execution &operator[](size_t index) const { return *executions[index]; }

  /// Told of launches by their numbers in the whole program.
  void setObserver(LaunchObserver *observer);
  QueueTime takeQueueTime();
  /// Of the first: the others use the same memory.
  const std::vector<std::string> &remarks() const;

private:
  struct Renumbering final : LaunchObserver {
    void onLaunch(size_t launch, unsigned thread, uint64_t begin,
                  uint64_t end) override {
      observer->onLaunch(first + launch, thread, begin, end);
    }
    void onCall(size_t launch, const CallInfo &call) override {
      CallInfo own = call;
      if (own.sum)
        own.sum = first + *own.sum;
      observer->onCall(first + launch, own);
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

  std::vector<std::unique_ptr<Execution>> executions;
  std::vector<Renumbering> observers;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_EXECUTOR_PARTEXECUTIONS_H
