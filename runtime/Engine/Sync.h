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
/// execute a full barrier. Without the system call both use full fences, also
/// from where a sandbox that was entered later takes it away.
class AsymmetricFence {
public:
  AsymmetricFence() {
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0,
                0) == 0)
      state.store(Asymmetric, std::memory_order_relaxed);
  }
  void frequent() const {
    if (isAsymmetric()) [[likely]]
      std::atomic_signal_fence(std::memory_order_seq_cst);
    else
      std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  void rare() const {
    if (state.load(std::memory_order_relaxed) != Symmetric) {
      if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0)
        return;
      endAsymmetry();
    }
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  /// Whether the rare side pays for both.
  bool isAsymmetric() const {
    return state.load(std::memory_order_relaxed) == Asymmetric;
  }

private:
  enum State : uint8_t {
    Symmetric,
    Asymmetric,
    Changing, ///< Some frequent sides may not know yet that they have to fence.
  };

  /// Who has not seen the change wrote before it. No processor keeps a write to
  /// itself for anything like a millisecond, and one that gives its thread up
  /// keeps none.
  void endAsymmetry() const {
    state.store(Changing, std::memory_order_relaxed);
    constexpr uint64_t patience = 1'000'000;
    for (uint64_t begin = nowNanoseconds();
         nowNanoseconds() - begin < patience;)
      sched_yield();
    state.store(Symmetric, std::memory_order_relaxed);
  }

  mutable std::atomic<State> state = Symmetric;
};

/// A lock of what one thread takes all the time and others seldom. To its owner
/// it costs two plain stores: a read-modify-write would wait until all that the
/// thread has written has left it. The others pay for both.
class BiasedLock {
public:
  void lockAsOwner(const AsymmetricFence &fence) {
    for (;;) {
      isOwned.store(true, std::memory_order_relaxed);
      fence.frequent();
      // Acquire: what others did with the lock held.
      if (!isWanted.load(std::memory_order_acquire)) [[likely]]
        return;
      unlockAsOwner();
      while (isWanted.load(std::memory_order_relaxed))
        sched_yield();
    }
  }
  void unlockAsOwner() { isOwned.store(false, std::memory_order_release); }

  /// After a rare fence: an owner that is not in there, and what it did when it
  /// was is seen, sees what the caller did before the fence when it comes.
  bool isEntered() const { return isOwned.load(std::memory_order_acquire); }

  void lock(const AsymmetricFence &fence) {
    others.lock();
    isWanted.store(true, std::memory_order_relaxed);
    fence.rare();
    // Acquire: what the owner did. It holds the lock as briefly as a SpinLock.
    for (unsigned turn = 0; isOwned.load(std::memory_order_acquire); ++turn)
      if (turn < 64)
        relax();
      else
        sched_yield();
  }
  void unlock() {
    isWanted.store(false, std::memory_order_release);
    others.unlock();
  }

private:
  std::atomic<bool> isOwned = false, isWanted = false;
  SpinLock others;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_ENGINE_SYNC_H
