// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Storage/DeviceSource.h"

#include "dlc/runtime/Base/Memory.h"
#include "dlc/runtime/Base/System.h"

#include <map>
#include <new>

using namespace dlc::rt;

namespace {

/// Knows what is committed: unreserve() takes back that too, and a device must
/// be told of both.
class DeviceSource final : public MemorySource {
public:
  explicit DeviceSource(std::shared_ptr<Device> device)
      : device(std::move(device)) {}

  bool isOfHost() const override { return false; }
  size_t granule() const override { return device->granule(); }
  size_t regionBytes() const override {
    size_t usual = size_t(16) << 30;
    return usual - usual % granule();
  }
  size_t mostBytes() const override {
    Result<DeviceMemory> memory = device->memory();
    return memory.isOk() ? memory->total : SIZE_MAX;
  }

  Result<std::byte *> reserve(size_t bytes) override {
    return device->reserve(bytes);
  }
  Status commit(std::byte *start, size_t bytes) override;
  bool decommit(std::byte *start, size_t bytes) override;
  void unreserve(std::byte *start, size_t bytes) override;

private:
  void forget(std::byte *start, size_t bytes);

  const std::shared_ptr<Device> device;
  std::map<std::byte *, size_t> committed; ///< Pieces that do not overlap.
};

class LockedSource final : public MemorySource {
public:
  explicit LockedSource(std::shared_ptr<Device> device)
      : device(std::move(device)) {}

  size_t granule() const override { return DLC_ALIGNMENT; }
  size_t regionBytes() const override { return DLC_ALIGNMENT; }
  size_t mostBytes() const override { return memoryLimit(); }

  Result<std::byte *> reserve(size_t bytes) override {
    if (bytes > mostBytes())
      return makeError(StatusCode::OutOfMemory,
                       "the process may have no %zu "
                       "bytes",
                       bytes);
    return device->allocateLocked(bytes);
  }
  Status commit(std::byte *, size_t) override { return Status::ok(); }
  bool decommit(std::byte *, size_t) override { return false; }
  void unreserve(std::byte *start, size_t) override {
    device->releaseLocked(start);
  }

private:
  const std::shared_ptr<Device> device;
};

} // namespace

Status DeviceSource::commit(std::byte *start, size_t bytes) {
  DLC_RETURN_IF_ERROR(device->commit(start, bytes));
  committed[start] = bytes;
  return Status::ok();
}

/// Takes [start, start + bytes), all of it committed, out of the pieces.
void DeviceSource::forget(std::byte *start, size_t bytes) {
  std::byte *end = start + bytes;
  auto piece = committed.upper_bound(start);
  if (piece != committed.begin())
    --piece;
  while (piece != committed.end() && piece->first < end) {
    auto [first, size] = *piece;
    std::byte *last = first + size;
    if (last <= start) {
      ++piece;
      continue;
    }
    piece = committed.erase(piece);
    if (first < start)
      committed[first] = start - first;
    if (last > end)
      committed[end] = last - end;
  }
}

bool DeviceSource::decommit(std::byte *start, size_t bytes) {
  if (!device->decommit(start, bytes))
    return false;
  forget(start, bytes);
  return true;
}

void DeviceSource::unreserve(std::byte *start, size_t bytes) {
  auto piece = committed.lower_bound(start);
  while (piece != committed.end() && piece->first < start + bytes) {
    device->decommit(piece->first, piece->second);
    piece = committed.erase(piece);
  }
  device->unreserve(start, bytes);
}

std::unique_ptr<MemorySource>
dlc::rt::createDeviceSource(std::shared_ptr<Device> device) {
  return std::unique_ptr<MemorySource>(new (std::nothrow)
                                           DeviceSource(std::move(device)));
}
std::unique_ptr<MemorySource>
dlc::rt::createLockedSource(std::shared_ptr<Device> device) {
  return std::unique_ptr<MemorySource>(new (std::nothrow)
                                           LockedSource(std::move(device)));
}
