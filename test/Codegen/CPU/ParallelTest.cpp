// SPDX-License-Identifier: Apache-2.0

#include "Codegen/CPU/Parallel.h"

#include "llvm/Support/CrashRecoveryContext.h"
#include "gtest/gtest.h"

#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

using namespace dlc::codegen;
using llvm::CrashRecoveryContext;

TEST(ParallelTest, CallsEachOnce) {
  for (size_t count : {0, 1, 3, 100})
    for (unsigned threads : {0u, 1u, 2u, 7u}) {
      std::vector<std::atomic<int>> calls(count);
      parallelFor(count, threads, [&](size_t i) { ++calls[i]; });
      for (std::atomic<int> &call : calls)
        EXPECT_EQ(call, 1);
    }
}

TEST(ParallelTest, ThreadsWorkAtOnce) {
  // Each call waits for the other.
  std::atomic<int> arrived = 0;
  parallelFor(2, 2, [&](size_t) {
    ++arrived;
    while (arrived < 2)
      std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

/// Whichever thread it is that crashes, the caller's guard knows, after the
/// others are done.
TEST(ParallelTest, CrashesReachTheGuardOfTheCaller) {
  CrashRecoveryContext::Enable();
  std::thread::id caller = std::this_thread::get_id();
  for (bool isHelper : {true, false})
    for (int signal : {SIGSEGV, SIGABRT, SIGFPE}) {
      std::atomic<int> arrived = 0, finished = 0;
      bool returned = false;
      CrashRecoveryContext guard;
      EXPECT_FALSE(guard.RunSafely([&] {
        parallelFor(2, 2, [&](size_t) {
          ++arrived;
          while (arrived < 2)
            std::this_thread::yield();
          if ((std::this_thread::get_id() != caller) == isHelper)
            std::raise(signal);
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
          ++finished;
        });
        returned = true;
      }));
      EXPECT_EQ(finished, 1);
      EXPECT_FALSE(returned);
      EXPECT_TRUE(CrashRecoveryContext::isCrash(guard.RetCode));
    }
  CrashRecoveryContext::Disable();
}
