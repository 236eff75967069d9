// SPDX-License-Identifier: Apache-2.0

#include "Parallel.h"

#include "llvm/Support/CrashRecoveryContext.h"

#include <algorithm>
#include <atomic>
#include <pthread.h>
#include <vector>

using namespace dlc::codegen;
using llvm::CrashRecoveryContext;

namespace {

/// The calls of one parallelFor(), which all of its threads take from.
struct Work {
  size_t count;
  llvm::function_ref<void(size_t)> call;
  CrashRecoveryContext *guard;
  std::atomic<size_t> next = 0;
  std::atomic<int> crash = 0; ///< What a thread that crashed ended with.

  void run();
  void runAll();
};

} // namespace

void Work::runAll() {
  for (size_t i = next++; i < count && !crash; i = next++)
    call(i);
}

/// The handlers of signals are the process's, the context is the thread's.
void Work::run() {
  if (!guard)
    return runAll();
  CrashRecoveryContext mine;
  if (!mine.RunSafely([this] { runAll(); }))
    crash = mine.RetCode ? mine.RetCode : -1;
}

static void *runInThread(void *work) {
  static_cast<Work *>(work)->run();
  return nullptr;
}

void dlc::codegen::parallelFor(size_t count, unsigned threads,
                               llvm::function_ref<void(size_t)> work) {
  Work shared{count, work, CrashRecoveryContext::GetCurrent()};
  { // What is outside of this block is not destroyed when a crash leaves.
    std::vector<pthread_t> helpers;
    for (size_t i = 1; i < std::min<size_t>(threads, count); ++i) {
      pthread_t helper;
      if (pthread_create(&helper, nullptr, runInThread, &shared))
        break;
      helpers.push_back(helper);
    }
    // Guarded as well: this frame has to stay until the others are done.
    shared.run();
    for (pthread_t helper : helpers)
      pthread_join(helper, nullptr);
  }
  if (shared.crash)
    shared.guard->HandleExit(shared.crash);
}
