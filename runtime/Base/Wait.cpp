// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Base/Wait.h"

#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace dlc;

// The kernel sees the word itself.
static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t) &&
              std::atomic<uint32_t>::is_always_lock_free);

void rt::futexWait(std::atomic<uint32_t> &word, uint32_t expected) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr);
}

void rt::futexWaitFor(std::atomic<uint32_t> &word, uint32_t expected,
                      uint64_t nanoseconds) {
  timespec time = {time_t(nanoseconds / 1'000'000'000),
                   long(nanoseconds % 1'000'000'000)};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, &time);
}

int rt::futexWake(std::atomic<uint32_t> &word, int count) {
  return int(syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count));
}

uint64_t rt::nowNanoseconds() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return uint64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}
