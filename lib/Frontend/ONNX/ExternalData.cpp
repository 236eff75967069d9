// SPDX-License-Identifier: Apache-2.0

#include "dlc/Frontend/ONNX/ExternalData.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace dlc::onnx;
using dlc::rt::makeError;
using dlc::rt::Result;
using dlc::rt::Status;
using dlc::rt::StatusCode;
using dlc::rt::TensorType;

/// Without a name for a file that the caller names.
static Status systemError(const std::string &name, int error) {
  StatusCode code =
      error == ENOENT ? StatusCode::NotFound : StatusCode::Unavailable;
  std::string what = name.empty() ? "the file" : "'" + name + "'";
  return makeError(code, "cannot open %s: %s", what.c_str(),
                   std::strerror(error));
}

//===-- MappedFile --------------------------------------------------------===//

Result<std::shared_ptr<MappedFile>>
MappedFile::adopt(int descriptor, const std::string &nameForMessages) {
  struct stat facts;
  if (fstat(descriptor, &facts) != 0) {
    int error = errno;
    close(descriptor);
    return systemError(nameForMessages, error);
  }
  if (!S_ISREG(facts.st_mode)) {
    close(descriptor);
    std::string where =
        nameForMessages.empty() ? "" : " at '" + nameForMessages + "'";
    return makeError(StatusCode::InvalidArgument, "expected a regular file%s",
                     where.c_str());
  }
  size_t size = static_cast<size_t>(facts.st_size);
  void *data = nullptr;
  if (size != 0)
    data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  int error = errno;
  close(descriptor);
  if (data == MAP_FAILED)
    return systemError(nameForMessages, error);
  return std::shared_ptr<MappedFile>(new MappedFile(
      static_cast<const char *>(data), size, {facts.st_dev, facts.st_ino}));
}

Result<std::shared_ptr<MappedFile>> MappedFile::open(const std::string &path) {
  // O_NONBLOCK: a FIFO must be refused, not waited for.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return systemError("", errno);
  return adopt(descriptor, "");
}

MappedFile::~MappedFile() {
  if (size != 0)
    munmap(const_cast<char *>(data), size);
}

//===-- Keys of external_data ---------------------------------------------===//

namespace {
struct Reference {
  std::string location;
  int64_t offset = 0;
  std::optional<int64_t> length;
};
} // namespace

static bool parseDecimal(std::string_view text, int64_t &value) {
  const char *end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value);
  return !text.empty() && error == std::errc() && stop == end && value >= 0;
}

/// Checks what the file system cannot: openat2 alone would accept "a/../b".
static Status checkLocation(const std::string &location) {
  auto refuse = [&](const char *reason) {
    return makeError(StatusCode::InvalidArgument,
                     "external data location '%s' %s", location.c_str(),
                     reason);
  };
  if (location.empty())
    return refuse("is empty");
  if (location.find('\0') != std::string::npos)
    return refuse("contains a null byte");
  if (location.front() == '/')
    return refuse("is absolute, expected one inside the model's folder");
  for (size_t begin = 0; begin <= location.size();) {
    size_t end = std::min(location.find('/', begin), location.size());
    if (location.compare(begin, end - begin, "..") == 0)
      return refuse("contains '..', expected one inside the model's folder");
    begin = end + 1;
  }
  return Status::ok();
}

/// `checksum` and `basepath` are allowed and not used, as in the other readers
/// of the format: the first is advisory, the second belongs to the writer.
static Result<Reference> parseReference(const Tensor &tensor) {
  Reference reference;
  bool hasLocation = false;
  for (const KeyValue &entry : tensor.external) {
    std::string value(entry.value);
    if (entry.key == "location") {
      reference.location = value;
      hasLocation = true;
    } else if (entry.key == "offset") {
      if (!parseDecimal(entry.value, reference.offset))
        return makeError(StatusCode::InvalidArgument,
                         "expected a decimal offset, got '%s'", value.c_str());
    } else if (entry.key == "length") {
      reference.length.emplace();
      if (!parseDecimal(entry.value, *reference.length))
        return makeError(StatusCode::InvalidArgument,
                         "expected a decimal length, got '%s'", value.c_str());
    } else if (entry.key != "checksum" && entry.key != "basepath") {
      return makeError(StatusCode::InvalidArgument,
                       "unexpected key '%s' of external data",
                       std::string(entry.key).c_str());
    }
  }
  if (!hasLocation)
    return makeError(StatusCode::InvalidArgument,
                     "expected a location of external data");
  if (Status status = checkLocation(reference.location); !status.isOk())
    return status;
  return reference;
}

//===-- ModelFolder -------------------------------------------------------===//

static constexpr int kFileFlags =
    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

/// Opens one component after the other without following a link; the location
/// holds no ".." (checkLocation).
static int openComponents(int folder, const std::string &location) {
  int current = folder;
  size_t begin = 0;
  while (true) {
    size_t end = location.find('/', begin);
    bool isLast = end == std::string::npos;
    std::string part = location.substr(begin, isLast ? end : end - begin);
    int flags =
        isLast ? kFileFlags : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int next = part.empty() && !isLast ? fcntl(current, F_DUPFD_CLOEXEC, 0)
                                       : openat(current, part.c_str(), flags);
    int error = errno;
    if (current != folder)
      close(current);
    errno = error;
    if (next < 0 || isLast)
      return next;
    current = next;
    begin = end + 1;
  }
}

static int openResolved(int folder, const std::string &location) {
  struct open_how how = {};
  how.flags = kFileFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(
      syscall(SYS_openat2, folder, location.c_str(), &how, sizeof(how)));
}

Result<int> ModelFolder::openBeneath(const std::string &location) {
  if (folder < 0) {
    std::string name = path.empty() ? "." : path;
    folder = ::open(name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
      return systemError(name, errno);
  }
  int file = -1;
  errno = ENOSYS;
  if (method == OpenMethod::Automatic)
    file = openResolved(folder, location);
  // EPERM: seccomp filters of containers answer so for calls they don't know.
  if (file < 0 && (errno == ENOSYS || errno == EPERM))
    file = openComponents(folder, location);
  if (file < 0 && (errno == ELOOP || errno == EXDEV || errno == ENOTDIR))
    return makeError(StatusCode::InvalidArgument,
                     "external data '%s' is reached through a symbolic link "
                     "or leaves the model's folder (cp -L copies what links "
                     "lead to)",
                     location.c_str());
  if (file < 0)
    return systemError(location, errno);
  return file;
}

Result<std::shared_ptr<MappedFile>>
ModelFolder::map(std::string_view location) {
  if (auto known = files.find(location); known != files.end())
    return known->second;
  std::string name(location);
  Result<int> file = openBeneath(name);
  if (!file.isOk())
    return std::move(file.status());
  struct stat facts;
  if (fstat(*file, &facts) == 0 && S_ISREG(facts.st_mode) &&
      facts.st_nlink != 1) {
    close(*file);
    return makeError(StatusCode::InvalidArgument,
                     "expected one hard link to external data '%s', found %llu",
                     name.c_str(),
                     static_cast<unsigned long long>(facts.st_nlink));
  }
  Result<std::shared_ptr<MappedFile>> mapped = MappedFile::adopt(*file, name);
  if (mapped.isOk() && (*mapped)->identity() == excluded)
    return makeError(StatusCode::InvalidArgument,
                     "expected external data beside the model, got the model "
                     "itself, '%s'",
                     name.c_str());
  if (mapped.isOk())
    files.emplace(std::move(name), *mapped);
  return mapped;
}

Result<TensorContents> ModelFolder::load(const Tensor &tensor) {
  std::string context = "tensor '" + std::string(tensor.name) + "'";
  Result<TensorType> type = typeOf(tensor);
  if (!type.isOk())
    return std::move(type.status());
  Result<Reference> reference = parseReference(tensor);
  if (!reference.isOk())
    return std::move(reference.status()).withContext(context);
  int64_t size = *rt::byteCount(type->type, type->shape);
  if (reference->length && *reference->length != size)
    return makeError(StatusCode::InvalidArgument,
                     "%s: expected a length of %lld bytes, got %lld",
                     context.c_str(), static_cast<long long>(size),
                     static_cast<long long>(*reference->length));
  Result<std::shared_ptr<MappedFile>> file = map(reference->location);
  if (!file.isOk())
    return std::move(file.status()).withContext(context);
  std::string_view bytes = (*file)->bytes();
  auto available = static_cast<int64_t>(bytes.size());
  if (reference->offset > available || size > available - reference->offset)
    return makeError(StatusCode::InvalidArgument,
                     "%s: expected %lld bytes at offset %lld of '%s', which "
                     "has %lld",
                     context.c_str(), static_cast<long long>(size),
                     static_cast<long long>(reference->offset),
                     reference->location.c_str(),
                     static_cast<long long>(available));
  return viewRaw(std::move(*type), bytes.substr(reference->offset, size),
                 *file);
}

ModelFolder::~ModelFolder() {
  if (folder >= 0)
    close(folder);
}
