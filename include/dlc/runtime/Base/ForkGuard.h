// SPDX-License-Identifier: Apache-2.0
//
// Knows whether this process is a fork() of the one that made the guard.

#ifndef DLC_RUNTIME_BASE_FORKGUARD_H
#define DLC_RUNTIME_BASE_FORKGUARD_H

#include <atomic>
#include <cstdint>
#include <new>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

namespace dlc::rt {

/// A page that the kernel empties in the child of a fork(): asking costs one
/// load, where getpid() is a system call, and nothing is registered for the
/// whole process, as pthread_atfork() would. Functions may be called from any
/// thread.
class ForkGuard {
public:
  ForkGuard() : process(getpid()) {
    void *memory = mmap(nullptr, sizeof(Word), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return;
    if (madvise(memory, sizeof(Word), MADV_WIPEONFORK) != 0) {
      munmap(memory, sizeof(Word)); // Before Linux 4.14.
      return;
    }
    page = new (memory) Word(ours);
  }
  ForkGuard(const ForkGuard &) = delete;
  ForkGuard &operator=(const ForkGuard &) = delete;
  ~ForkGuard() {
    if (page)
      munmap(page, sizeof(Word));
  }

  bool isChild() const {
    // Acquire: what the function of adopt() did comes before.
    return page ? page->load(std::memory_order_acquire) != ours
                : process.load(std::memory_order_acquire) != getpid();
  }

  /// In the child: calls `renew` on the first thread that comes, while others
  /// wait; then the guard is the child's own.
  template <typename Function> void adopt(Function &&renew) {
    while (isChild()) {
      if (claim()) {
        renew();
        process.store(getpid(), std::memory_order_release);
        if (page)
          page->store(ours, std::memory_order_release);
        return;
      }
      sched_yield();
    }
  }

private:
  using Word = std::atomic<uint32_t>;
  static constexpr uint32_t wiped = 0, ours = 1, adopting = 2;
  static constexpr pid_t nobody = -1;

  /// True for one thread of those that find isChild().
  bool claim() {
    if (uint32_t expected = wiped; page)
      return page->compare_exchange_strong(expected, adopting);
    pid_t parent = process.load(std::memory_order_relaxed);
    return parent != nobody && parent != getpid() &&
           process.compare_exchange_strong(parent, nobody);
  }

  Word *page = nullptr; ///< Null where the kernel cannot do it.
  std::atomic<pid_t> process;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_BASE_FORKGUARD_H
