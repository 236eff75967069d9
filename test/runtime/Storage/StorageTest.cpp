// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Storage/Storage.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>

#include <unistd.h>

using namespace dlc::rt;

TEST(Storage, EachDeviceHasAManager) {
  Storage storage;
  StorageManager *cpu = *storage.manager(Context::cpu());
  EXPECT_EQ(cpu->context(), Context::cpu());
  EXPECT_EQ(*storage.manager(Context::cpu()), cpu);
  for (Context context : {Context::cpu(1), Context::cpu(1000), Context::null(),
                          Context::cpuShared(), Context::null(20)}) {
    Result<Allocation> block = storage.allocate(context, 5000);
    ASSERT_TRUE(block.isOk()) << block.status().message();
    EXPECT_EQ(block->context(), context);
    std::memset(block->data(), 1, 5000);
    StorageManager *manager = *storage.manager(context);
    EXPECT_NE(manager, cpu);
    EXPECT_EQ(manager->statistics().liveBytes, 5000u);
  }
  std::string visited;
  storage.forEach([&](StorageManager &manager) {
    visited += toString(manager.context()) + " ";
  });
  EXPECT_EQ(visited, "null:0 null:20 cpu:0 cpu:1 cpu:1000 cpu_shared:0 ");
}

TEST(Storage, RefusesWhatIsNoDevice) {
  Storage storage;
  for (Context context :
       {Context::cpu(-1), Context{DeviceKind(99), 0}, Context::null(-5)})
    EXPECT_EQ(storage.allocate(context, 1).status().code(),
              StatusCode::InvalidArgument);
  Status noMemory = std::move(storage.allocate(Context::cuda(), 1).status());
  EXPECT_EQ(noMemory.code(), StatusCode::Unsupported);
  EXPECT_EQ(noMemory.message(),
            "expected a device that has memory in this process, got cuda:0, "
            "which nobody has given any");
  EXPECT_EQ(storage.sharedManager(Context::cpu()).status().code(),
            StatusCode::InvalidArgument);
  EXPECT_TRUE(storage.sharedManager(Context::cpuShared()).isOk());
}

TEST(Storage, ADeviceBringsItsManager) {
  Storage storage;
  auto make = [](Context context) {
    return createPooledManager(context, createHostSource());
  };
  EXPECT_FALSE(storage.setManager(Context::cuda(1), nullptr).isOk());
  EXPECT_FALSE(
      storage.setManager(Context::cuda(1), make(Context::cuda(2))).isOk());
  EXPECT_FALSE(
      storage.setManager(Context::cpuShared(), make(Context::cpuShared()))
          .isOk());
  EXPECT_TRUE(
      storage.setManager(Context::cuda(1), make(Context::cuda(1))).isOk());
  EXPECT_FALSE(
      storage.setManager(Context::cuda(1), make(Context::cuda(1))).isOk());
  EXPECT_TRUE(storage.allocate(Context::cuda(1), 10).isOk());
  EXPECT_FALSE(storage.allocate(Context::cuda(0), 10).isOk());
}

TEST(Storage, BlocksOutliveIt) {
  Allocation block;
  {
    Storage storage;
    block = std::move(*storage.allocate(Context::cpu(), 1000));
  }
  std::memset(block.data(), 1, 1000);
}

TEST(Storage, NaiveBlocksComeAndGo) {
  Storage storage({.kind = StorageKind::Naive});
  Result<Allocation> block = storage.allocate(Context::cpu(), 1000);
  ASSERT_TRUE(block.isOk());
  StorageManager &manager = **storage.manager(Context::cpu());
  EXPECT_EQ(manager.statistics().reservedBytes, 1000u);
  block->reset();
  EXPECT_EQ(manager.statistics().reservedBytes, 0u);
}

TEST(Storage, ThreadsFindTheSameManagers) {
  Storage storage;
  StorageManager *found[4][40];
  std::vector<std::thread> threads;
  for (auto &mine : found)
    threads.emplace_back([&] {
      for (int16_t i = 0; i != 40; ++i) {
        mine[i] = *storage.manager(Context::null(i));
        EXPECT_TRUE(storage.allocate(Context::null(i), 100).isOk());
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (auto &mine : found)
    EXPECT_TRUE(std::equal(std::begin(mine), std::end(mine), found[0]));
}

// The sanitizers make mlock() do nothing.
#if !defined(DLC_TEST_SANITIZED)

/// Bytes of this process that are locked in memory.
static size_t lockedBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmLck:"))
      return std::stoul(line.substr(6)) * 1024;
  return 0;
}

TEST(Pinned, LocksItsMemoryOrSaysWhyNot) {
  Storage storage({.pool = {.caches = 1}});
  size_t before = lockedBytes();
  Result<Allocation> block = storage.allocate(Context::cpuPinned(), 100'000);
  if (!block.isOk()) { // Where a process may lock nothing.
    EXPECT_EQ(block.status().code(), StatusCode::Unavailable);
    GTEST_SKIP() << block.status().message();
  }
  std::memset(block->data(), 1, 100'000);
  EXPECT_GE(lockedBytes(), before + 100'000);
  block->reset();
  storage.trim();
  EXPECT_EQ(lockedBytes(), before);
}

TEST(Pinned, TheLimitIsAStatus) {
  // A privileged process may lock beyond its limit; one that is not may not.
  pid_t child = fork();
  if (child == 0) {
    rlimit limit{65536, 65536};
    setrlimit(RLIMIT_MEMLOCK, &limit);
    if (geteuid() == 0 && setresuid(65534, 65534, 65534))
      _exit(0);
    Storage storage;
    Result<Allocation> block = storage.allocate(Context::cpuPinned(), 1 << 20);
    bool isRefused =
        !block.isOk() && block.status().code() == StatusCode::Unavailable &&
        block.status().message().find("may lock 65536") != std::string::npos;
    // And what was tried is usable no more than before.
    _exit(isRefused && !storage.allocate(Context::cpuPinned(), 1 << 20).isOk()
              ? 0
              : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#endif // DLC_TEST_SANITIZED
