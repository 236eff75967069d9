// SPDX-License-Identifier: Apache-2.0
//
// Watching a program run.

#ifndef DLC_RUNTIME_EXECUTOR_OBSERVER_H
#define DLC_RUNTIME_EXECUTOR_OBSERVER_H

#include "dlc/runtime/Engine/Profiler.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace dlc::rt {

class Program;

/// What computes a launch whose shapes were found while running.
struct CallInfo {
  std::string_view entry;        ///< "cpu.conv"; empty: generated code.
  std::string_view algorithm;    ///< Empty: the first one of the entry.
  int64_t channelBlock = 0;      ///< Of the result; 0: channels are plain.
  uint64_t flops = 0, bytes = 0; ///< By the entry's model.
  /// The launch of a sum behind it that is computed, too, and does nothing
  /// then.
  std::optional<size_t> sum;
};

/// Told of what an execution does, on the thread that does it; several at once
/// for a program of several streams. Numbers of threads are below
/// WorkerPool::maxThreads and tell apart those of one run; in the next one a
/// thread, the caller of run() too, may have another. Times are nanoseconds of
/// the monotonic clock.
class LaunchObserver {
public:
  virtual ~LaunchObserver() = default;
  virtual void onLaunch(size_t launch, unsigned thread, uint64_t begin,
                        uint64_t end) = 0;
  /// In front of onLaunch(); not of launches that are computed as their
  /// operations are defined.
  virtual void onCall(size_t launch, const CallInfo &call) {}
  /// The thread had nothing to do until another one was done: at the end of a
  /// launch that workers share, or between the launches of several streams.
  virtual void onWait(unsigned thread, uint64_t begin, uint64_t end) {}
  /// From now on the execution uses `bytes` of a device for values that live
  /// within a run.
  virtual void onMemory(Context device, uint64_t bytes) {}
};

/// Hands what it is told of one execution to a profiler.
class TraceRecorder : public LaunchObserver {
public:
  /// Both are borrowed; the program is not looked at later.
  TraceRecorder(const Program &program, Profiler &profiler);

  void onLaunch(size_t launch, unsigned thread, uint64_t begin,
                uint64_t end) override;
  void onCall(size_t launch, const CallInfo &call) override;
  void onWait(unsigned thread, uint64_t begin, uint64_t end) override;
  void onMemory(Context device, uint64_t bytes) override;

private:
  uint32_t rowOf(unsigned thread);

  Profiler &profiler;
  uint32_t waitName;
  /// All but the times: as the program says, and as the calls of a run did.
  /// Each is of one thread at a time.
  std::vector<ProfileEvent> declared, launches;
  /// Of each thread that waited: the text; 0 for others.
  std::unique_ptr<std::atomic<uint32_t>[]> threadRows;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_EXECUTOR_OBSERVER_H
