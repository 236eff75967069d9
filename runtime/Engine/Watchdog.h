// SPDX-License-Identifier: Apache-2.0
//
// A thread that asks from time to time whether something stalls.

#ifndef DLC_RUNTIME_ENGINE_WATCHDOG_H
#define DLC_RUNTIME_ENGINE_WATCHDOG_H

#include "dlc/runtime/Base/Status.h"

#include <atomic>
#include <functional>
#include <pthread.h>
#include <string>

namespace dlc::rt {

/// start() and end() are for one thread at a time.
class Watchdog {
public:
  ~Watchdog() { end(); }

  using Report = std::function<void(const std::string &)>;

  /// Calls `core.findStalled()` every `milliseconds`, and `report` with the
  /// text that it returns unless that is empty, both on the watchdog's thread;
  /// an empty report writes to stderr. Borrows both until end(). Errors:
  /// Unavailable (no thread).
  template <typename Core>
  Status start(unsigned milliseconds, Core &core, const Report &report) {
    return start(
        milliseconds,
        [](void *core) { return static_cast<Core *>(core)->findStalled(); },
        &core, report);
  }
  /// Waits for the call that it is in. Does nothing when it is not started.
  void end();

private:
  using Look = std::string (*)(void *core);
  Status start(unsigned milliseconds, Look look, void *core,
               const Report &report);
  static void *threadMain(void *watchdog);
  void watch();

  uint64_t period = 0; ///< Nanoseconds.
  Look look = nullptr;
  void *core = nullptr;
  const Report *report = nullptr;
  std::atomic<uint32_t> isEnding = 0;
  pthread_t thread = {};
  bool isStarted = false;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_ENGINE_WATCHDOG_H
