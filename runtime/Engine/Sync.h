// SPDX-License-Identifier: Apache-2.0
//
// The lock and the fences of the threaded engines.

#ifndef DLC_RUNTIME_ENGINE_SYNC_H
#define DLC_RUNTIME_ENGINE_SYNC_H

#include "dlc/runtime/Base/Wait.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace dlc::rt {

/// A lock that is held for well below a microsecond.
class SpinLock {
public:
  bool try_lock() {
    // The load keeps the line shared while another holds the lock. Acquire:
    // what earlier holders wrote.
    return !isHeld.load(std::memory_order_relaxed) &&
           !isHeld.exchange(true, std::memory_order_acquire);
  }
  void lock() {
    // Soon rarer: who holds it often goes on, with all that it guards in its
    // caches.
    unsigned pause = 1, waited = 0;
    for (; !try_lock(); pause = pause < 4 ? 2 * pause : 4) {
      if (waited < 64)
        for (unsigned i = 0; i != pause; ++i)
          relax();
      else // The holder may have lost its processor.
        sched_yield();
      waited += pause;
    }
  }
  void unlock() { isHeld.store(false, std::memory_order_release); }

private:
  std::atomic<bool> isHeld = false;
};

/// Dekker's pattern for one side that is on every path and one that is rare.
/// Each side writes, fences, and reads what the other writes; at least one sees
/// the other's write. The frequent side then costs nothing but the compiler's
/// order: the rare one makes every processor that runs this process's threads
/// execute a full barrier. Without the system call both use full fences.
class AsymmetricFence {
public:
  AsymmetricFence() {
    hasBarrier = syscall(SYS_membarrier,
                         MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  }
  void frequent() const {
    if (hasBarrier)
      std::atomic_signal_fence(std::memory_order_seq_cst);
    else
      std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  void rare() const {
    if (hasBarrier)
      syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    else
      std::atomic_thread_fence(std::memory_order_seq_cst);
  }

private:
  bool hasBarrier = false;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_ENGINE_SYNC_H
