// SPDX-License-Identifier: Apache-2.0
//
// Storage in the child of a fork() that happens while another thread holds a
// lock of it.

#include "../InChild.h"
#include "TestSource.h"
#include "dlc/runtime/Storage/Storage.h"

#include <atomic>
#include <cstring>
#include <thread>

using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

/// Host memory whose commit() takes as long as the test wants.
class SlowSource final : public MemorySource {
public:
  explicit SlowSource(std::atomic<int> &phase) : phase(phase) {}

  size_t granule() const override { return host->granule(); }
  size_t regionBytes() const override { return host->regionBytes(); }
  Result<std::byte *> reserve(size_t bytes) override {
    return host->reserve(bytes);
  }
  Status commit(std::byte *start, size_t bytes) override {
    if (phase == 1) {
      phase = 2;
      phase.notify_all();
      phase.wait(2);
    }
    return host->commit(start, bytes);
  }
  bool decommit(std::byte *start, size_t bytes) override {
    return host->decommit(start, bytes);
  }
  void unreserve(std::byte *start, size_t bytes) override {
    host->unreserve(start, bytes);
  }

private:
  std::atomic<int> &phase;
  const std::unique_ptr<MemorySource> host = createHostSource();
};

StorageManagerPtr makePooled(std::atomic<int> &phase) {
  return createPooledManager(Context::cuda(),
                             std::make_unique<SlowSource>(phase));
}
StorageManagerPtr makeNaive(std::atomic<int> &phase) {
  return createNaiveManager(Context::cuda(),
                            std::make_unique<SlowSource>(phase));
}

class Fork : public testing::TestWithParam<decltype(&makePooled)> {
protected:
  /// Forks while a thread is inside of allocate() of `manager`.
  template <typename Function>
  int inChildOfAnAllocation(StorageManager &manager, Function child) {
    phase = 1;
    std::thread other(
        [&] { EXPECT_TRUE(manager.allocate(10'000'000).isOk()); });
    phase.wait(1);
    int result = inChild(child);
    phase = 3;
    phase.notify_all();
    other.join();
    return result;
  }

  std::atomic<int> phase = 0;
};

} // namespace

INSTANTIATE_TEST_SUITE_P(, Fork, testing::Values(makePooled, makeNaive),
                         [](const auto &info) {
                           return info.index ? "Naive" : "Pooled";
                         });

TEST_P(Fork, AManagerRefusesInTheChild) {
  StorageManagerPtr manager = GetParam()(phase);
  Allocation block = std::move(*manager->allocate(1000));
  std::strcpy(static_cast<char *>(block.data()), "parent");
  EXPECT_EQ(inChildOfAnAllocation(
                *manager,
                [&] {
                  if (manager->allocate(10).status().code() !=
                      StatusCode::Unavailable)
                    return 1;
                  if (std::strcmp(static_cast<char *>(block.data()), "parent"))
                    return 2;
                  manager->trim();
                  manager->synchronized(1);
                  manager->resetPeaks();
                  if (manager->statistics().liveBytes)
                    return 3;
                  block.reset();
                  manager.reset();
                  return 0;
                }),
            0);
  EXPECT_STREQ(static_cast<char *>(block.data()), "parent");
  block.reset();
  EXPECT_EQ(manager->statistics().liveBytes, 0u);
}

TEST_P(Fork, AStorageIsFreshInTheChild) {
  Storage storage({.pool = {.byteCap = 50'000'000}});
  ASSERT_TRUE(storage.setManager(Context::cuda(), GetParam()(phase)).isOk());
  Result<Allocation> block = storage.allocate(Context::cpu(), 1000);
  ASSERT_TRUE(block.isOk());
  StorageManager *cuda = *storage.manager(Context::cuda());
  EXPECT_EQ(inChildOfAnAllocation(
                *cuda,
                [&] {
                  block->reset();
                  Result<Allocation> mine =
                      storage.allocate(Context::cpu(), 1000);
                  if (!mine.isOk())
                    return 1;
                  std::memset(mine->data(), 1, 1000);
                  StorageManager &manager = **storage.manager(Context::cpu());
                  if (manager.statistics().liveBytes != 1000)
                    return 2;
                  // With the options of the parent's, and without its device.
                  if (storage.allocate(Context::cpu(), 60'000'000).isOk())
                    return 3;
                  if (storage.allocate(Context::cuda(), 10).status().code() !=
                      StatusCode::Unsupported)
                    return 4;
                  mine->reset();
                  storage.trim();
                  return manager.statistics().reservedBytes ? 5 : 0;
                }),
            0);
  EXPECT_EQ((*storage.manager(Context::cpu()))->statistics().liveBytes, 1000u);
}

TEST(StorageFork, ThreadsMayBeAnywhereInside) {
  Storage storage({.pool = {.caches = 2}});
  std::atomic<bool> isOver = false;
  std::thread busy([&] {
    for (int i = 0; !isOver; ++i) {
      auto device = Context::null(int16_t(i % 40));
      EXPECT_TRUE(storage.allocate(device, 100 + i % 200'000).isOk());
      if (i % 16 == 0)
        storage.trim();
    }
  });
  for (int i = 0; i != 50; ++i)
    EXPECT_EQ(inChild([&] {
                storage.trim();
                return storage.allocate(Context::null(3), 5000).isOk() ? 0 : 1;
              }),
              0);
  isOver = true;
  busy.join();
}
