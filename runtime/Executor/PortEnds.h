// SPDX-License-Identifier: Apache-2.0
//
// After which launches a run is over with its inputs and outputs.

#ifndef DLC_RUNTIME_EXECUTOR_PORTENDS_H
#define DLC_RUNTIME_EXECUTOR_PORTENDS_H

#include "ProgramState.h"
#include "dlc/runtime/Executor/Execution.h"

#include <atomic>
#include <memory>
#include <vector>

namespace dlc::rt {

/// A launch ends a port when it is the last of its stream that uses it; the
/// port is done when each stream that uses it has ended it. Inputs are numbered
/// first, outputs after them.
class PortEnds {
public:
  void find(const Program::State &program);
  bool isKnown() const { return !firstEnd.empty(); }

  /// Before a run. Relaxed: whatever starts its threads releases it.
  void reset() {
    for (size_t port = 0; port != streams.size(); ++port)
      left[port].store(streams[port], std::memory_order_relaxed);
  }

  /// After `launch`, by the thread that ran it.
  void tell(size_t launch, PortListener &listener) {
    for (uint32_t i = firstEnd[launch]; i != firstEnd[launch + 1]; ++i) {
      uint32_t port = ends[i];
      // Acquire and release: who ends it sees what the other streams wrote.
      if (left[port].fetch_sub(1, std::memory_order_acq_rel) != 1)
        continue;
      if (port < inputCount)
        listener.onInputDone(port);
      else
        listener.onOutputDone(port - inputCount);
    }
  }

private:
  size_t inputCount = 0;
  /// Compressed rows: those of launch i are ends[firstEnd[i]] up to
  /// firstEnd[i + 1].
  std::vector<uint32_t> firstEnd, ends;
  std::vector<uint32_t> streams; ///< Of each port: how many use it.
  std::unique_ptr<std::atomic<uint32_t>[]> left; ///< Of them, in this run.
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_EXECUTOR_PORTENDS_H
