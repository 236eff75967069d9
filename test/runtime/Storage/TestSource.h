// SPDX-License-Identifier: Apache-2.0
//
// A memory source that checks how it is used and fails when told to.

#ifndef DLC_TEST_RUNTIME_STORAGE_TESTSOURCE_H
#define DLC_TEST_RUNTIME_STORAGE_TESTSOURCE_H

#include "dlc/runtime/Storage/Source.h"

#include <gtest/gtest.h>
#include <map>

namespace dlc::rt::test {

/// What a test sees of, and does to, a TestSource that a manager owns.
struct SourceState {
  size_t granule = 4096;
  size_t regionBytes = size_t(1) << 30;
  size_t mostBytes = SIZE_MAX;
  /// Calls that may fail and have not yet; at 0 each fails.
  size_t callsUntilFailure = SIZE_MAX;
  bool failsOnce = false; ///< Only the first of them.
  bool hasFailed = false;
  size_t calls = 0;
  size_t committedBytes = 0, reservedBytes = 0;
};

class TestSource final : public MemorySource {
public:
  explicit TestSource(SourceState &state)
      : state(state), host(createHostSource()) {}
  ~TestSource() override {
    EXPECT_TRUE(regions.empty()) << "addresses leaked";
    EXPECT_EQ(state.reservedBytes, 0u);
  }

  size_t granule() const override { return state.granule; }
  size_t regionBytes() const override { return state.regionBytes; }
  size_t mostBytes() const override { return state.mostBytes; }

  Result<std::byte *> reserve(size_t bytes) override {
    EXPECT_EQ(bytes % state.granule, 0u);
    if (fails())
      return Status(StatusCode::OutOfMemory, "no addresses, says the test");
    Result<std::byte *> start = host->reserve(bytes);
    if (start.isOk()) {
      regions[*start].bytes = bytes;
      state.reservedBytes += bytes;
    }
    return start;
  }

  Status commit(std::byte *start, size_t bytes) override {
    if (bytes > state.mostBytes)
      return Status(StatusCode::OutOfMemory, "never so much, says the test");
    EXPECT_TRUE(setCommitted(start, bytes, true));
    if (fails()) {
      setCommitted(start, bytes, false);
      return Status(StatusCode::OutOfMemory, "no memory, says the test");
    }
    state.committedBytes += bytes;
    return host->commit(start, bytes);
  }

  bool decommit(std::byte *start, size_t bytes) override {
    if (fails())
      return false;
    EXPECT_TRUE(setCommitted(start, bytes, false));
    state.committedBytes -= bytes;
    return host->decommit(start, bytes);
  }

  void unreserve(std::byte *start, size_t bytes) override {
    auto region = regions.find(start);
    ASSERT_NE(region, regions.end());
    ASSERT_EQ(region->second.bytes, bytes);
    for (auto [piece, size] : region->second.committed)
      state.committedBytes -= size;
    state.reservedBytes -= bytes;
    regions.erase(region);
    host->unreserve(start, bytes);
  }

private:
  struct Region {
    size_t bytes = 0;
    std::map<std::byte *, size_t> committed; ///< Pieces of one granule.
  };

  bool fails() {
    ++state.calls;
    if (state.callsUntilFailure) {
      --state.callsUntilFailure;
      return false;
    }
    bool result = !state.failsOnce || !state.hasFailed;
    state.hasFailed = true;
    return result;
  }

  /// False when some of the piece already is as wanted, or is not reserved.
  bool setCommitted(std::byte *start, size_t bytes, bool wanted) {
    auto region = regions.upper_bound(start);
    if (region == regions.begin() || bytes % state.granule || !bytes)
      return false;
    --region;
    if (start + bytes > region->first + region->second.bytes ||
        size_t(start - region->first) % state.granule)
      return false;
    auto &committed = region->second.committed;
    for (size_t at = 0; at != bytes; at += state.granule) {
      bool changes = wanted
                         ? committed.emplace(start + at, state.granule).second
                         : committed.erase(start + at) == 1;
      if (!changes)
        return false;
    }
    return true;
  }

  SourceState &state;
  std::unique_ptr<MemorySource> host;
  std::map<std::byte *, Region> regions;
};

} // namespace dlc::rt::test

#endif // DLC_TEST_RUNTIME_STORAGE_TESTSOURCE_H
