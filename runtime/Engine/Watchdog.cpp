// SPDX-License-Identifier: Apache-2.0

#include "Watchdog.h"

#include "dlc/runtime/Base/Wait.h"

#include <cstdio>
#include <cstring>
#include <utility>

using namespace dlc::rt;

Status Watchdog::start(unsigned milliseconds, Look newLook, void *newCore,
                       const Report &newReport) {
  end();
  period = uint64_t(milliseconds) * 1'000'000;
  look = newLook;
  core = newCore;
  report = &newReport;
  isEnding.store(0, std::memory_order_relaxed);
  if (int error = pthread_create(&thread, nullptr, threadMain, this))
    return makeError(StatusCode::Unavailable, "cannot start the watchdog: %s",
                     std::strerror(error));
  pthread_setname_np(thread, "dlc-watchdog");
  isStarted = true;
  return Status::ok();
}

void Watchdog::end() {
  if (!std::exchange(isStarted, false))
    return;
  isEnding.store(1, std::memory_order_release);
  futexWake(isEnding, 1);
  pthread_join(thread, nullptr);
}

void *Watchdog::threadMain(void *watchdog) {
  static_cast<Watchdog *>(watchdog)->watch();
  return nullptr;
}

void Watchdog::watch() {
  uint64_t tick = nowNanoseconds() + period;
  while (!isEnding.load(std::memory_order_acquire)) {
    uint64_t now = nowNanoseconds();
    if (now < tick) {
      futexWaitFor(isEnding, 0, tick - now);
      continue;
    }
    tick = now + period;
    std::string text = look(core);
    if (text.empty())
      continue;
    if (*report)
      (*report)(text);
    else // At once, so that it stays together.
      std::fwrite(("dlc: " + text).c_str(), 1, text.size() + 5, stderr);
  }
}
