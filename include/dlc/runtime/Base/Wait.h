// SPDX-License-Identifier: Apache-2.0
//
// What threads that wait for each other need: a word to sleep on, a pause for
// the processor, and the clock.

#ifndef DLC_RUNTIME_BASE_WAIT_H
#define DLC_RUNTIME_BASE_WAIT_H

#include <atomic>
#include <cstdint>

namespace dlc::rt {

/// Sleeps while `word` holds `expected`; may return without reason. Waiters
/// and wakers are threads of one process.
void futexWait(std::atomic<uint32_t> &word, uint32_t expected);

/// The same for at most `nanoseconds`.
void futexWaitFor(std::atomic<uint32_t> &word, uint32_t expected,
                  uint64_t nanoseconds);

/// Wakes at most `count` threads that sleep on `word`; says how many.
int futexWake(std::atomic<uint32_t> &word, int count);

/// The monotonic clock. Takes up to 70 ns in a virtual machine.
uint64_t nowNanoseconds();

/// Tells the processor that this thread spins: 10 to 50 ns.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// Spins until `isDone` or for `nanoseconds`; says whether it is done. Reads
/// the clock once in sixteen pauses, and not at all when done at once.
template <typename Predicate>
bool spinUntil(uint64_t nanoseconds, Predicate isDone) {
  if (isDone())
    return true;
  uint64_t deadline = nowNanoseconds() + nanoseconds;
  do {
    for (int i = 0; i != 16; ++i) {
      relax();
      if (isDone())
        return true;
    }
  } while (nowNanoseconds() < deadline);
  return false;
}

} // namespace dlc::rt

#endif // DLC_RUNTIME_BASE_WAIT_H
