// SPDX-License-Identifier: Apache-2.0

#include "SingleBlocks.h"
#include "dlc/runtime/Base/Memory.h"

#include <new>

using namespace dlc::rt;

namespace {

class NaiveManager final : public SingleBlocks<StorageManager> {
public:
  NaiveManager(Context context, std::unique_ptr<MemorySource> source,
               size_t byteCap)
      : SingleBlocks(context, byteCap), source(std::move(source)) {}

private:
  size_t rounded(size_t bytes) const {
    return alignUp(std::max<size_t>(bytes, 1), source->granule());
  }
  Result<std::byte *> takeFromSource(size_t bytes);
  Result<Allocation> take(size_t bytes, StreamId stream) override;
  void giveBack(void *start, size_t bytes, void *record) override;

  const std::unique_ptr<MemorySource> source; ///< For who holds the mutex.
};

} // namespace

Result<std::byte *> NaiveManager::takeFromSource(size_t bytes) {
  if (bytes > SIZE_MAX / 4) // Roundings must not overflow.
    return makeError(StatusCode::OutOfMemory, "the size is too large");
  DLC_RETURN_IF_ERROR(checkCap(rounded(bytes)));
  Result<std::byte *> start = source->reserve(rounded(bytes));
  if (!start.isOk())
    return start;
  Status status = source->commit(*start, rounded(bytes));
  if (status.isOk())
    return start;
  source->unreserve(*start, rounded(bytes));
  return status;
}

Result<Allocation> NaiveManager::take(size_t bytes, StreamId) {
  std::lock_guard lock(mutex);
  Result<std::byte *> start = takeFromSource(bytes);
  if (!start.isOk()) {
    ++counts.failures;
    return std::move(start.status());
  }
  countBlock(bytes, rounded(bytes), /*systemCalls=*/1);
  return makeBlock(*start, bytes, nullptr);
}

void NaiveManager::giveBack(void *start, size_t bytes, void *) {
  std::unique_lock lock(mutex);
  source->unreserve(static_cast<std::byte *>(start), rounded(bytes));
  countRelease(std::move(lock), bytes, rounded(bytes), /*systemCalls=*/1);
}

StorageManagerPtr dlc::rt::createNaiveManager(
    Context context, std::unique_ptr<MemorySource> source, size_t byteCap) {
  return StorageManagerPtr(source ? new (std::nothrow) NaiveManager(
                                        context, std::move(source), byteCap)
                                  : nullptr);
}
