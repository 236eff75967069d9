// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Artifact/Writer.h"

#include "dlc/abi/Artifact_generated.h"
#include "dlc/abi/Version.h"
#include "dlc/runtime/Artifact/Loader.h"
#include "dlc/runtime/Artifact/Validate.h"
#include "dlc/runtime/Base/Hash.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace dlc;
using namespace dlc::rt;

namespace {

/// Where the bytes go: one after the other, from offset 0.
class Sink {
public:
  virtual ~Sink() = default;
  virtual Status append(std::span<const std::byte> bytes) = 0;

  /// Writes zeros up to offset `target`.
  Status padTo(uint64_t target);
  Status write(std::span<const std::byte> bytes) {
    position += bytes.size();
    return append(bytes);
  }

private:
  uint64_t position = 0;
};

class MemorySink : public Sink {
public:
  explicit MemorySink(AlignedBuffer &buffer) : at(buffer.data()) {}
  Status append(std::span<const std::byte> bytes) override {
    if (!bytes.empty())
      std::memcpy(at, bytes.data(), bytes.size());
    at += bytes.size();
    return Status::ok();
  }

private:
  std::byte *at;
};

class FileSink : public Sink {
public:
  explicit FileSink(int descriptor) : descriptor(descriptor) {}
  Status append(std::span<const std::byte> bytes) override;

private:
  int descriptor;
};

/// The packed plan and the places of all sections.
struct Image {
  flatbuffers::FlatBufferBuilder builder;
  DlcArtifactHeader header = {};

  std::span<const std::byte> plan() const {
    return std::as_bytes(
        std::span(builder.GetBufferPointer(), builder.GetSize()));
  }
};

} // namespace

Status Sink::padTo(uint64_t target) {
  static constexpr std::byte zeros[DLC_ARTIFACT_PAGE] = {};
  while (position < target) {
    size_t count = std::min<uint64_t>(target - position, sizeof(zeros));
    DLC_RETURN_IF_ERROR(write(std::span(zeros).first(count)));
  }
  return Status::ok();
}

Status FileSink::append(std::span<const std::byte> bytes) {
  // Linux moves at most 2 GiB in one call and reports how much it took.
  while (!bytes.empty()) {
    ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return makeError(StatusCode::Unavailable, "cannot write: %s",
                       std::strerror(errno));
    bytes = bytes.subspan(count);
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

static Status checkContents(const ArtifactContents &contents) {
  if (contents.objects.size() != contents.program.objects.size())
    return makeError(StatusCode::InvalidArgument,
                     "expected %zu objects, got %zu",
                     contents.program.objects.size(), contents.objects.size());
  uint64_t end = 0;
  for (const ArtifactConstant &constant : contents.constants) {
    if (constant.offset < end)
      return makeError(StatusCode::InvalidArgument,
                       "expected a constant at or after %" PRIu64
                       ", got %" PRIu64,
                       end, constant.offset);
    if (__builtin_add_overflow(constant.offset, constant.bytes.size(), &end) ||
        end > contents.constantBytes)
      return makeError(StatusCode::InvalidArgument,
                       "a constant of %zu bytes at %" PRIu64
                       " leaves the section of %" PRIu64 " bytes",
                       constant.bytes.size(), constant.offset,
                       contents.constantBytes);
  }
  return Status::ok();
}

static void pack(abi::ProgramT &program,
                 flatbuffers::FlatBufferBuilder &builder) {
  builder.Clear();
  abi::FinishProgramBuffer(builder, abi::Program::Pack(builder, &program));
}

/// Gives every object its place behind a plan of `planSize` bytes; returns the
/// end of the last one.
static uint64_t placeObjects(const ArtifactContents &contents,
                             uint64_t planSize) {
  uint64_t end = sizeof(DlcArtifactHeader) + planSize;
  for (size_t i = 0; i != contents.objects.size(); ++i) {
    abi::ObjectVariantT &variant = *contents.program.objects[i];
    variant.offset = alignUp(end, DLC_ARTIFACT_PAGE);
    variant.size = contents.objects[i].size();
    variant.checksum = xxHash64(contents.objects[i]);
    end = variant.offset + variant.size;
  }
  return end;
}

static Status layOut(const ArtifactContents &contents, Image &image) {
  DLC_RETURN_IF_ERROR(checkContents(contents));
  abi::ProgramT &program = contents.program;
  program.version = DLC_ARTIFACT_VERSION;
  // The places of the objects depend on the size of the plan, which depends on
  // them only by fields left out for being 0: pack once with none left out.
  for (auto &variant : program.objects)
    variant->offset = variant->size = variant->checksum = ~uint64_t(0);
  pack(program, image.builder);
  uint64_t end = placeObjects(contents, image.builder.GetSize());
  pack(program, image.builder);

  DlcArtifactHeader &header = image.header;
  std::memcpy(header.magic, DLC_ARTIFACT_MAGIC, sizeof(header.magic));
  header.version = DLC_ARTIFACT_VERSION;
  header.header_size = sizeof(header);
  header.plan_offset = sizeof(header);
  header.plan_size = image.builder.GetSize();
  header.constants_offset = alignUp(end, DLC_ARTIFACT_PAGE);
  header.constants_size = contents.constantBytes;
  header.file_size = header.constants_offset + header.constants_size;
  header.checksum = artifactChecksum(header, image.plan());
  const abi::Program *plan = abi::GetProgram(image.builder.GetBufferPointer());
  Status status = validatePlan(*plan, header);
  if (!status.isOk())
    return Status(StatusCode::InvalidArgument, status.message());
  return Status::ok();
}

static Status emit(const ArtifactContents &contents, const Image &image,
                   Sink &sink) {
  const DlcArtifactHeader &header = image.header;
  DLC_RETURN_IF_ERROR(sink.write(std::as_bytes(std::span(&header, 1))));
  DLC_RETURN_IF_ERROR(sink.write(image.plan()));
  for (size_t i = 0; i != contents.objects.size(); ++i) {
    DLC_RETURN_IF_ERROR(sink.padTo(contents.program.objects[i]->offset));
    DLC_RETURN_IF_ERROR(sink.write(contents.objects[i]));
  }
  for (const ArtifactConstant &constant : contents.constants) {
    DLC_RETURN_IF_ERROR(sink.padTo(header.constants_offset + constant.offset));
    DLC_RETURN_IF_ERROR(sink.write(constant.bytes));
  }
  return sink.padTo(header.file_size);
}

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

static Status fileError(const char *what, const std::string &path) {
  return makeError(StatusCode::Unavailable, "%s: cannot %s: %s", path.c_str(),
                   what, std::strerror(errno));
}

/// Creates a file beside `path` under a name that nobody has; sets `name`.
static int createBeside(const std::string &path, std::string &name) {
  for (int attempt = 0; attempt != 1000; ++attempt) {
    name = path + "." + std::to_string(getpid()) + "-" +
           std::to_string(attempt) + ".tmp";
    int descriptor =
        ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST)
      return descriptor;
  }
  return -1;
}

Status dlc::rt::writeArtifact(const ArtifactContents &contents,
                              const std::string &path) {
  Image image;
  DLC_RETURN_IF_ERROR(layOut(contents, image));
  std::string temporary;
  int descriptor = createBeside(path, temporary);
  if (descriptor < 0)
    return fileError("create a temporary file", path);
  FileSink sink(descriptor);
  Status status = emit(contents, image, sink);
  if (::close(descriptor) && status.isOk())
    status = fileError("close the file", path);
  if (status.isOk() && std::rename(temporary.c_str(), path.c_str()))
    status = fileError("rename the file", path);
  if (!status.isOk())
    ::unlink(temporary.c_str());
  return status;
}

Result<AlignedBuffer> dlc::rt::writeArtifact(const ArtifactContents &contents) {
  Image image;
  DLC_RETURN_IF_ERROR(layOut(contents, image));
  Result<AlignedBuffer> buffer =
      AlignedBuffer::allocate(image.header.file_size);
  if (!buffer.isOk())
    return buffer;
  MemorySink sink(*buffer);
  DLC_RETURN_IF_ERROR(emit(contents, image, sink));
  return buffer;
}
