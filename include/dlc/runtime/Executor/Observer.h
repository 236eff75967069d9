// SPDX-License-Identifier: Apache-2.0
//
// Watching a program run, and traces for chrome://tracing and Perfetto.

#ifndef DLC_RUNTIME_EXECUTOR_OBSERVER_H
#define DLC_RUNTIME_EXECUTOR_OBSERVER_H

#include "dlc/runtime/Base/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dlc::rt {

class Program;

/// Told of each launch, on the thread that runs the program.
class LaunchObserver {
public:
  virtual ~LaunchObserver() = default;
  /// Launch `launch` took from `begin` to `end`, in nanoseconds of the
  /// monotonic clock.
  virtual void onLaunch(size_t launch, uint64_t begin, uint64_t end) = 0;
};

/// Collects launches and writes them as Chrome trace events.
class TraceRecorder : public LaunchObserver {
public:
  /// `program` is borrowed until the last toJSON(). Keeps at most `capacity`
  /// events, allocated here; later ones are counted, not kept.
  explicit TraceRecorder(const Program &program, size_t capacity = 1 << 16);

  void onLaunch(size_t launch, uint64_t begin, uint64_t end) override;

  /// A JSON object with "traceEvents": one complete event ("ph": "X") a
  /// launch, times in microseconds from the first event, with the kernel and
  /// its modelled flops and bytes as arguments.
  std::string toJSON() const;
  /// Errors: Unavailable.
  Status write(const std::string &path) const;

  size_t dropped() const { return droppedEvents; }

private:
  struct Event {
    size_t launch;
    uint64_t begin, end;
  };
  const Program &program;
  size_t capacity;
  size_t droppedEvents = 0;
  std::vector<Event> events;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_EXECUTOR_OBSERVER_H
