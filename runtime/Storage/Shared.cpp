// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Storage/Shared.h"

#include "SingleBlocks.h"
#include "dlc/runtime/Base/Memory.h"
#include "dlc/runtime/Base/System.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace dlc::rt;

namespace {

/// The first page of a memory file; the block follows it.
struct Header {
  static constexpr uint64_t expectedMagic = 0x31304d48'53434c44; // DLCSHM01
  static constexpr size_t bytes = 4096;

  uint64_t magic;
  uint64_t blockBytes;
  std::atomic<uint32_t> references; ///< Lock free: works across processes.
};
static_assert(std::atomic<uint32_t>::is_always_lock_free);

/// A block of this process.
struct Mapping {
  Header *header;
  size_t mappedBytes;
  int descriptor;
  uint64_t inode;
};

/// What opening a memory file needs, closed and unmapped unless kept.
struct Opened {
  int descriptor = -1;
  void *memory = MAP_FAILED;
  size_t mappedBytes = 0;
  ~Opened() {
    if (memory != MAP_FAILED)
      munmap(memory, mappedBytes);
    if (descriptor >= 0)
      close(descriptor);
  }
};

class Manager final : public SingleBlocks<SharedManager> {
public:
  Manager(Context context, size_t byteCap) : SingleBlocks(context, byteCap) {}

  Result<SharedHandle> share(const Allocation &block) override;
  Result<int> duplicateDescriptor(const Allocation &block) override;
  Result<Allocation> open(const SharedHandle &handle) override;
  Result<Allocation> openDescriptor(int descriptor) override;
  uint32_t references(const Allocation &block) const override;

private:
  Status map(Opened &file, size_t bytes);
  Result<Allocation> adopt(Opened &file);
  Result<Allocation> addBlock(Opened &file, size_t bytes);
  Result<Allocation> make(size_t bytes);
  Result<Allocation> find(const SharedHandle &handle);
  Result<Allocation> counted(Result<Allocation> block);
  Result<Allocation> opened(Result<Allocation> block);
  Status checkProcess() const;
  Result<const Mapping *> ownMapping(const Allocation &block) const;

  Result<Allocation> take(size_t bytes, StreamId stream) override;
  void giveBack(void *start, size_t bytes, void *record) override;
  void dropInherited(void *start, size_t bytes, void *record) override;
};

} // namespace

static Status systemError(StatusCode code, const char *what) {
  return makeError(code, "cannot %s: %s", what, std::strerror(errno));
}

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

std::string dlc::rt::toString(const SharedHandle &handle) {
  return "shared:" + std::to_string(handle.process) + ":" +
         std::to_string(handle.descriptor) + ":" + std::to_string(handle.inode);
}

Result<SharedHandle> SharedHandle::parse(std::string_view text) {
  SharedHandle handle;
  const char *at = text.data(), *end = at + text.size();
  auto read = [&](std::string_view before, auto &value) {
    if (!std::string_view(at, end).starts_with(before))
      return false;
    auto [rest, error] = std::from_chars(at + before.size(), end, value);
    at = rest;
    return error == std::errc();
  };
  if (read("shared:", handle.process) && read(":", handle.descriptor) &&
      read(":", handle.inode) && at == end && handle.process > 0 &&
      handle.descriptor >= 0)
    return handle;
  return makeError(StatusCode::InvalidArgument,
                   "expected shared:PROCESS:DESCRIPTOR:INODE, got '%.*s'",
                   int(text.size()), text.data());
}

//===----------------------------------------------------------------------===//
// Making and opening
//===----------------------------------------------------------------------===//

/// Counts a failure, if it is one.
Result<Allocation> Manager::counted(Result<Allocation> block) {
  if (!block.isOk()) {
    std::lock_guard lock(mutex);
    ++counts.failures;
  }
  return block;
}

/// The same for what came from another process.
Result<Allocation> Manager::opened(Result<Allocation> block) {
  if (block.isOk())
    return block;
  return std::move(counted(std::move(block)).status())
      .withContext("shared memory on " + toString(context()));
}

/// Maps `bytes` of the file, which has them.
Status Manager::map(Opened &file, size_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                      file.descriptor, 0);
  if (memory == MAP_FAILED)
    return systemError(StatusCode::OutOfMemory, "map a memory file");
  file.memory = memory;
  file.mappedBytes = bytes;
  return Status::ok();
}

/// Makes a block of `bytes` of a mapped file whose header is valid.
Result<Allocation> Manager::addBlock(Opened &file, size_t bytes) {
  auto *header = static_cast<Header *>(file.memory);
  struct stat facts;
  if (fstat(file.descriptor, &facts))
    return systemError(StatusCode::Unavailable, "look at a memory file");
  std::unique_ptr<Mapping> mapping(new (std::nothrow) Mapping{});
  if (!mapping)
    return makeError(StatusCode::OutOfMemory, "no memory for a block");
  {
    std::lock_guard lock(mutex);
    DLC_RETURN_IF_ERROR(checkCap(file.mappedBytes));
    countBlock(bytes, file.mappedBytes, /*systemCalls=*/2);
  }
  // Relaxed: the count is a figure; who sent the handle ordered the contents.
  header->references.fetch_add(1, std::memory_order_relaxed);
  *mapping = {header, std::exchange(file.mappedBytes, 0),
              std::exchange(file.descriptor, -1), facts.st_ino};
  file.memory = MAP_FAILED;
  return makeBlock(reinterpret_cast<std::byte *>(header) + Header::bytes, bytes,
                   mapping.release());
}

Result<Allocation> Manager::make(size_t bytes) {
  // The system counts none of the pages of a memory file before their use.
  if (bytes > std::min<uint64_t>(INT64_MAX - 2 * Header::bytes, memoryLimit()))
    return makeError(StatusCode::OutOfMemory, "the size is too large");
  size_t size = Header::bytes + alignUp(bytes, Header::bytes);
  Opened file;
  file.descriptor = memfd_create("dlc-shared", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file.descriptor < 0)
    return systemError(StatusCode::Unavailable, "make a memory file");
  // Pages come at the first touch, as those of other memory.
  if (ftruncate(file.descriptor, off_t(size)))
    return systemError(StatusCode::OutOfMemory, "size a memory file");
  if (fcntl(file.descriptor, F_ADD_SEALS,
            F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
    return systemError(StatusCode::Unavailable, "seal a memory file");
  DLC_RETURN_IF_ERROR(map(file, size));
  auto *header = new (file.memory) Header;
  header->magic = Header::expectedMagic;
  header->blockBytes = bytes;
  header->references = 0;
  return addBlock(file, bytes);
}

Result<Allocation> Manager::take(size_t bytes, StreamId) {
  return counted(make(bytes));
}

/// Maps a file that someone else sent, after a look at what it is.
Result<Allocation> Manager::adopt(Opened &file) {
  struct stat facts;
  int seals = fcntl(file.descriptor, F_GET_SEALS);
  bool isLocked = seals >= 0 && seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE);
  if (seals < 0 || !(seals & F_SEAL_SHRINK) || isLocked)
    return makeError(StatusCode::InvalidArgument,
                     "expected a sealed memory file of DLC, got %s",
                     seals < 0  ? "what is no memory file"
                     : isLocked ? "one that must not be written"
                                : "one that is not sealed");
  if (fstat(file.descriptor, &facts))
    return systemError(StatusCode::Unavailable, "look at a memory file");
  if (facts.st_size < off_t(Header::bytes))
    return makeError(StatusCode::InvalidArgument,
                     "expected a sealed memory file of DLC, got one of %lld "
                     "bytes",
                     static_cast<long long>(facts.st_size));
  DLC_RETURN_IF_ERROR(map(file, size_t(facts.st_size)));
  auto *header = static_cast<Header *>(file.memory);
  // Read once: its process may change it behind this check.
  uint64_t bytes = std::atomic_ref(header->blockBytes).load();
  if (header->magic != Header::expectedMagic)
    return makeError(StatusCode::InvalidArgument,
                     "expected a sealed memory file of DLC, got another one");
  if (size_t most = file.mappedBytes - Header::bytes; bytes > most)
    return makeError(StatusCode::InvalidArgument,
                     "expected a block of at most %zu bytes in a memory file, "
                     "got %llu",
                     most, static_cast<unsigned long long>(bytes));
  return addBlock(file, bytes);
}

Result<Allocation> Manager::find(const SharedHandle &handle) {
  std::string path = "/proc/" + std::to_string(handle.process) + "/fd/" +
                     std::to_string(handle.descriptor);
  Opened file;
  // Not to hang or act on whatever the number names by now.
  file.descriptor =
      ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file.descriptor < 0)
    return systemError(errno == ENOENT ? StatusCode::NotFound
                                       : StatusCode::Unavailable,
                       ("open " + toString(handle)).c_str());
  struct stat facts;
  if (fstat(file.descriptor, &facts) || facts.st_ino != handle.inode)
    return makeError(StatusCode::NotFound, "%s is gone",
                     toString(handle).c_str());
  return adopt(file);
}

Result<Allocation> Manager::open(const SharedHandle &handle) {
  DLC_RETURN_IF_ERROR(checkProcess());
  return opened(find(handle));
}

Result<Allocation> Manager::openDescriptor(int descriptor) {
  DLC_RETURN_IF_ERROR(checkProcess());
  Opened file;
  file.descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  return opened(
      file.descriptor < 0
          ? systemError(
                StatusCode::InvalidArgument,
                ("duplicate descriptor " + std::to_string(descriptor)).c_str())
          : adopt(file));
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Status Manager::checkProcess() const {
  if (!isInherited())
    return Status::ok();
  return makeError(StatusCode::Unavailable,
                   "expected a manager of this process, got one of its parent");
}

Result<const Mapping *> Manager::ownMapping(const Allocation &block) const {
  const auto *mapping = static_cast<const Mapping *>(recordOf(block));
  if (ownerOf(block) != this)
    return makeError(StatusCode::InvalidArgument,
                     "expected a block of this manager");
  if (isInherited())
    return makeError(StatusCode::InvalidArgument,
                     "expected a block of this process, got one of its parent");
  return mapping;
}

Result<SharedHandle> Manager::share(const Allocation &block) {
  Result<const Mapping *> mapping = ownMapping(block);
  if (!mapping.isOk())
    return std::move(mapping.status());
  return SharedHandle{getpid(), (*mapping)->descriptor, (*mapping)->inode};
}

Result<int> Manager::duplicateDescriptor(const Allocation &block) {
  Result<const Mapping *> mapping = ownMapping(block);
  if (!mapping.isOk())
    return std::move(mapping.status());
  int copy = fcntl((*mapping)->descriptor, F_DUPFD_CLOEXEC, 0);
  if (copy < 0)
    return systemError(StatusCode::Unavailable, "duplicate a descriptor");
  return copy;
}

uint32_t Manager::references(const Allocation &block) const {
  if (ownerOf(block) != this)
    return 0;
  return static_cast<const Mapping *>(recordOf(block))
      ->header->references.load(std::memory_order_relaxed);
}

void Manager::giveBack(void *, size_t bytes, void *record) {
  auto *mapping = static_cast<Mapping *>(record);
  mapping->header->references.fetch_sub(1, std::memory_order_relaxed);
  munmap(mapping->header, mapping->mappedBytes);
  close(mapping->descriptor);
  size_t mapped = mapping->mappedBytes;
  delete mapping;
  countRelease(std::unique_lock(mutex), bytes, mapped, /*systemCalls=*/2);
}

/// What came by fork() was never counted, but it keeps the memory alive.
void Manager::dropInherited(void *, size_t, void *record) {
  auto *mapping = static_cast<Mapping *>(record);
  munmap(mapping->header, mapping->mappedBytes);
  close(mapping->descriptor);
  delete mapping;
}

std::unique_ptr<SharedManager, AbandonManager>
dlc::rt::createSharedManager(Context context, size_t byteCap) {
  return std::unique_ptr<SharedManager, AbandonManager>(
      new (std::nothrow) Manager(context, byteCap));
}
