// SPDX-License-Identifier: Apache-2.0
//
// Knows whether this process is a fork() of the one that made the guard.

#ifndef DLC_RUNTIME_ENGINE_FORKGUARD_H
#define DLC_RUNTIME_ENGINE_FORKGUARD_H

#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

namespace dlc::rt {

/// A page that the kernel empties in the child of a fork(): asking costs one
/// load, where getpid() is a system call, and nothing is registered for the
/// whole process, as pthread_atfork() would.
class ForkGuard {
public:
  ForkGuard() : process(getpid()) {
    void *memory = mmap(nullptr, sizeof(uint32_t), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return;
    if (madvise(memory, sizeof(uint32_t), MADV_WIPEONFORK) != 0) {
      munmap(memory, sizeof(uint32_t)); // Before Linux 4.14.
      return;
    }
    mark = static_cast<uint32_t *>(memory);
    *mark = 1;
  }
  ForkGuard(const ForkGuard &) = delete;
  ForkGuard &operator=(const ForkGuard &) = delete;
  ~ForkGuard() {
    if (mark)
      munmap(mark, sizeof(uint32_t));
  }

  bool isChild() const { return mark ? *mark == 0 : getpid() != process; }

private:
  uint32_t *mark = nullptr;
  pid_t process;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_ENGINE_FORKGUARD_H
