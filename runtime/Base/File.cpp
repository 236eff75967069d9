// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Base/File.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
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

static const char *kindOf(mode_t mode) {
  return S_ISDIR(mode)    ? "a folder"
         : S_ISFIFO(mode) ? "a pipe"
         : S_ISSOCK(mode) ? "a socket"
                          : "a device";
}

/// Maps the whole of an open file; closing it stays with the caller.
static Status mapWhole(int descriptor, const std::string &path,
                       std::span<const std::byte> &view) {
  struct stat facts;
  if (fstat(descriptor, &facts))
    return systemError("examine", path);
  if (!S_ISREG(facts.st_mode))
    return makeError(StatusCode::InvalidArgument,
                     "%s: expected a regular file, found %s", path.c_str(),
                     kindOf(facts.st_mode));
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

/// The part of a path up to and with its last slash.
static std::string folderOf(const std::string &path) {
  return path.substr(0, path.rfind('/') + 1);
}

/// The name of the regular file, of these facts, that is at `path`.
static Result<std::string> findExisting(const std::string &path,
                                        const struct stat &facts) {
  if (!S_ISREG(facts.st_mode))
    return makeError(StatusCode::InvalidArgument,
                     "%s: expected a regular file to replace, found %s",
                     path.c_str(), kindOf(facts.st_mode));
  // Renaming would get round the protection of the file.
  if (faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS))
    return systemError("write", path);
  std::unique_ptr<char, decltype(&std::free)> name(
      realpath(path.c_str(), nullptr), &std::free);
  if (!name)
    return systemError("examine", path);
  // A link in /proc may lead to a file that has lost its name.
  struct stat found;
  if (stat(name.get(), &found) || found.st_dev != facts.st_dev ||
      found.st_ino != facts.st_ino)
    return makeError(StatusCode::InvalidArgument,
                     "%s: expected a file with a name, found one without",
                     path.c_str());
  return std::string(name.get());
}

Result<std::string> dlc::rt::findOutputTarget(const std::string &path) {
  struct stat facts;
  if (stat(path.c_str(), &facts) == 0)
    return findExisting(path, facts);
  if (errno != ENOENT)
    return systemError("create", path);
  std::string target = path;
  char text[PATH_MAX];
  for (int links = 0; links != 40; ++links) { // The system follows as many.
    ssize_t size = readlink(target.c_str(), text, sizeof(text));
    if (size < 0)
      return target;
    std::string next(text, size);
    target = next.starts_with('/') ? next : folderOf(target) + next;
  }
  errno = ELOOP;
  return systemError("create", path);
}

OutputFile::OutputFile(OutputFile &&other) noexcept
    : path(std::move(other.path)), target(std::move(other.target)),
      temporary(std::move(other.temporary)),
      descriptor(std::exchange(other.descriptor, -1)),
      position(other.position) {}

OutputFile::~OutputFile() {
  if (descriptor < 0)
    return;
  ::close(descriptor);
  if (!temporary.empty())
    ::unlink(temporary.c_str());
}

Status OutputFile::failure(const char *what) const {
  return makeError(StatusCode::Unavailable, "%s: cannot %s the file: %s",
                   path.c_str(), what, std::strerror(errno));
}

/// Short, so that any name that a file may have can be an output's.
std::string OutputFile::temporaryName(int attempt) const {
  return folderOf(target) + ".dlc-" + std::to_string(getpid()) + "-" +
         std::to_string(attempt) + ".tmp";
}

static constexpr int maxAttempts = 1000;

bool OutputFile::openNamed() {
  for (int attempt = 0; attempt != maxAttempts; ++attempt) {
    std::string name = temporaryName(attempt);
    descriptor =
        ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0)
      temporary = std::move(name);
    if (descriptor >= 0 || errno != EEXIST)
      break;
  }
  return descriptor >= 0;
}

/// How a link to an open file is made: /proc names it.
static std::string nameOf(int descriptor) {
  return "/proc/self/fd/" + std::to_string(descriptor);
}

Result<OutputFile> OutputFile::create(const std::string &path) {
  OutputFile file(path);
  Result<std::string> target = findOutputTarget(path);
  if (!target.isOk())
    return std::move(target.status());
  file.target = std::move(*target);
  std::string folder = folderOf(file.target);
  // Whatever speaks against a nameless file, a named one shows the reason.
  file.descriptor = ::open(folder.empty() ? "." : folder.c_str(),
                           O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  if (file.descriptor >= 0 && ::access(nameOf(file.descriptor).c_str(), F_OK))
    ::close(std::exchange(file.descriptor, -1));
  if (file.descriptor < 0 && !file.openNamed())
    return file.failure("create");
  struct stat old, made;
  bool isOther = stat(file.target.c_str(), &old) == 0 &&
                 fstat(file.descriptor, &made) == 0 &&
                 ((old.st_mode ^ made.st_mode) & 0777);
  if (isOther && fchmod(file.descriptor, old.st_mode & 0777))
    return file.failure("create");
  return file;
}

Status OutputFile::checkRoom(uint64_t bytes) const {
  struct statvfs facts;
  if (fstatvfs(descriptor, &facts))
    return Status::ok(); // Then the writes find out.
  uint64_t room;
  if (__builtin_mul_overflow(uint64_t(facts.f_bavail), facts.f_frsize, &room) ||
      bytes <= room)
    return Status::ok();
  return makeError(StatusCode::Unavailable,
                   "%s: expected room for %llu bytes, got %llu", path.c_str(),
                   static_cast<unsigned long long>(bytes),
                   static_cast<unsigned long long>(room));
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

/// Links the nameless file to a name beside the target.
bool OutputFile::linkBeside() {
  std::string source = nameOf(descriptor);
  for (int attempt = 0; attempt != maxAttempts; ++attempt) {
    std::string name = temporaryName(attempt);
    if (::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, name.c_str(),
                 AT_SYMLINK_FOLLOW) == 0) {
      temporary = std::move(name);
      return true;
    }
    if (errno != EEXIST)
      return false;
  }
  return false;
}

Status OutputFile::commit() {
  // A full disk may show only when a file is closed. The file itself stays
  // open: without a name it would be gone.
  int copy = ::dup(descriptor);
  if (copy < 0 || ::close(copy))
    return failure("close");
  bool isLinked = temporary.empty() &&
                  ::linkat(AT_FDCWD, nameOf(descriptor).c_str(), AT_FDCWD,
                           target.c_str(), AT_SYMLINK_FOLLOW) == 0;
  if (!isLinked) {
    // A link cannot replace a file, a new name can.
    if (temporary.empty() && (errno != EEXIST || !linkBeside()))
      return failure("create");
    if (std::rename(temporary.c_str(), target.c_str()))
      return failure("rename");
    temporary.clear();
  }
  ::close(std::exchange(descriptor, -1));
  return Status::ok();
}
