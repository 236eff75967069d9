// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Base/File.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace dlc::rt;

static Status systemError(const char *what, const std::string &path) {
  StatusCode code =
      errno == ENOENT ? StatusCode::NotFound : StatusCode::Unavailable;
  return makeError(code, "%s: cannot %s the file: %s", path.c_str(), what,
                   std::strerror(errno));
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

MappedFile::~MappedFile() {
  if (!view.empty())
    munmap(const_cast<std::byte *>(view.data()), view.size());
}

/// Maps the whole of an open file; closing it stays with the caller.
static Status mapWhole(int descriptor, const std::string &path,
                       std::span<const std::byte> &view) {
  struct stat facts;
  if (fstat(descriptor, &facts))
    return systemError("examine", path);
  if (!S_ISREG(facts.st_mode))
    return makeError(StatusCode::InvalidArgument, "%s: expected a regular file",
                     path.c_str());
  size_t size = static_cast<size_t>(facts.st_size);
  if (size == 0)
    return Status::ok();
  void *start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (start == MAP_FAILED)
    return systemError("map", path);
  view = {static_cast<const std::byte *>(start), size};
  return Status::ok();
}

Result<MappedFile> MappedFile::open(const std::string &path) {
  // Non-blocking: opening a pipe must not wait for a writer.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return systemError("open", path);
  MappedFile file;
  Status status = mapWhole(descriptor, path, file.view);
  ::close(descriptor);
  if (!status.isOk())
    return status;
  return file;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

OutputFile::OutputFile(OutputFile &&other) noexcept
    : path(std::move(other.path)), temporary(std::move(other.temporary)),
      descriptor(std::exchange(other.descriptor, -1)),
      position(other.position) {}

OutputFile::~OutputFile() {
  if (descriptor < 0)
    return;
  ::close(descriptor);
  ::unlink(temporary.c_str());
}

Status OutputFile::failure(const char *what) const {
  return makeError(StatusCode::Unavailable, "%s: cannot %s the file: %s",
                   path.c_str(), what, std::strerror(errno));
}

Result<OutputFile> OutputFile::create(const std::string &path) {
  OutputFile file;
  file.path = path;
  for (int attempt = 0; attempt != 1000; ++attempt) {
    file.temporary = path + "." + std::to_string(getpid()) + "-" +
                     std::to_string(attempt) + ".tmp";
    file.descriptor = ::open(file.temporary.c_str(),
                             O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file.descriptor >= 0 || errno != EEXIST)
      break;
  }
  if (file.descriptor < 0)
    return file.failure("create");
  return file;
}

Status OutputFile::write(std::span<const std::byte> bytes) {
  // Linux moves at most 2 GiB in one call and reports how much it took.
  while (!bytes.empty()) {
    ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return failure("write");
    bytes = bytes.subspan(count);
    position += count;
  }
  return Status::ok();
}

Status OutputFile::padTo(uint64_t target) {
  static constexpr std::byte zeros[4096] = {};
  while (position < target) {
    size_t count = std::min<uint64_t>(target - position, sizeof(zeros));
    DLC_RETURN_IF_ERROR(write(std::span(zeros).first(count)));
  }
  return Status::ok();
}

Status OutputFile::commit() {
  // A full disk may show only now.
  bool isClosed = ::close(std::exchange(descriptor, -1)) == 0;
  if (isClosed && std::rename(temporary.c_str(), path.c_str()) == 0)
    return Status::ok();
  Status status = failure(isClosed ? "rename" : "close");
  ::unlink(temporary.c_str());
  return status;
}
