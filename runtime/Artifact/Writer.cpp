// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Artifact/Writer.h"

#include "dlc/abi/Artifact_generated.h"
#include "dlc/abi/Version.h"
#include "dlc/runtime/Artifact/Loader.h"
#include "dlc/runtime/Artifact/Validate.h"
#include "dlc/runtime/Base/File.h"
#include "dlc/runtime/Base/Hash.h"
#include "dlc/runtime/Base/Tensor.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstring>
#include <vector>

using namespace dlc;
using namespace dlc::rt;

namespace {

/// Memory as a target like OutputFile.
class MemorySink {
public:
  explicit MemorySink(AlignedBuffer &buffer) : buffer(buffer) {}

  Status write(std::span<const std::byte> bytes) {
    if (!bytes.empty())
      std::memcpy(buffer.data() + position, bytes.data(), bytes.size());
    position += bytes.size();
    return Status::ok();
  }

  Status padTo(uint64_t target) {
    std::memset(buffer.data() + position, 0, target - position);
    position = target;
    return Status::ok();
  }

private:
  AlignedBuffer &buffer;
  uint64_t position = 0;
};

/// What is written, hashed.
class HashSink {
public:
  Status write(std::span<const std::byte> bytes) {
    hash.update(bytes);
    position += bytes.size();
    return Status::ok();
  }

  Status padTo(uint64_t target) {
    static constexpr std::array<std::byte, DLC_ARTIFACT_PAGE> zeros = {};
    while (position < target)
      (void)write(std::span(zeros).first(
          std::min<uint64_t>(target - position, zeros.size())));
    return Status::ok();
  }

  uint64_t digest() const { return hash.digest(); }

private:
  XXHash64 hash;
  uint64_t position = 0;
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
    uint64_t size;
    if (__builtin_mul_overflow(constant.bytes.size(), constant.repeats, &size))
      size = UINT64_MAX;
    if (__builtin_add_overflow(constant.offset, size, &end) ||
        end > contents.constantBytes)
      return makeError(StatusCode::InvalidArgument,
                       "a constant of %" PRIu64 " bytes at %" PRIu64
                       " leaves the section of %" PRIu64 " bytes",
                       size, constant.offset, contents.constantBytes);
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

/// Writes a pattern again and again, in blocks that hold it many times.
template <typename Sink>
static Status emitRepeated(const ArtifactConstant &constant, Sink &sink) {
  if (constant.repeats == 1 || constant.bytes.empty())
    return sink.write(constant.bytes);
  std::vector<std::byte> block;
  uint64_t inBlock = std::clamp<uint64_t>((1 << 16) / constant.bytes.size(), 1,
                                          constant.repeats);
  for (uint64_t i = 0; i < inBlock; ++i)
    block.insert(block.end(), constant.bytes.begin(), constant.bytes.end());
  for (uint64_t left = constant.repeats; left != 0;) {
    uint64_t now = std::min(left, inBlock);
    DLC_RETURN_IF_ERROR(
        sink.write(std::span(block).first(now * constant.bytes.size())));
    left -= now;
  }
  return Status::ok();
}

/// Writes the constants section, which starts at `offset` of the sink.
template <typename Sink>
static Status emitConstants(const ArtifactContents &contents, uint64_t offset,
                            Sink &sink) {
  for (const ArtifactConstant &constant : contents.constants) {
    DLC_RETURN_IF_ERROR(sink.padTo(offset + constant.offset));
    DLC_RETURN_IF_ERROR(emitRepeated(constant, sink));
  }
  return sink.padTo(offset + contents.constantBytes);
}

static uint64_t constantsChecksum(const ArtifactContents &contents) {
  HashSink sink;
  (void)emitConstants(contents, 0, sink); // Hashing cannot fail.
  return sink.digest();
}

/// Whether a program that another one runs leaves a padded extent unknown.
static bool takesAny(const abi::ProgramT &whole) {
  for (const auto &part : whole.by_shape)
    for (size_t i = 0; i != whole.inputs.size() && i < part->inputs.size();
         ++i) {
      const std::vector<int32_t> &padded = whole.inputs[i]->padded;
      const uint32_t value = part->inputs[i]->value;
      if (value >= part->values.size())
        continue; // It does not load.
      const std::vector<int64_t> &shape = part->values[value]->shape;
      for (size_t k = 0; k != padded.size() && k < shape.size(); ++k)
        if (padded[k] >= 0 && shape[k] == kUnknownDim)
          return true;
    }
  return false;
}

static Status layOut(const ArtifactContents &contents, Image &image) {
  DLC_RETURN_IF_ERROR(checkContents(contents));
  abi::ProgramT &program = contents.program;
  auto isPadded = [](const auto &port) { return !port->padded.empty(); };
  const bool hasPadding = std::ranges::any_of(program.inputs, isPadded) ||
                          std::ranges::any_of(program.outputs, isPadded);
  const bool hasAnyShape =
      std::ranges::any_of(program.kernels, [](const auto &kernel) {
        return kernel->kind == abi::KernelKind::AnyShape;
      });
  program.version = hasAnyShape                 ? 6
                    : hasPadding                ? takesAny(program) ? 5 : 4
                    : !program.by_shape.empty() ? 3
                    : !program.by_rows.empty()  ? 2
                                                : 1;
  program.constants_checksum = constantsChecksum(contents);
  // The places of the objects depend on the size of the plan, which depends on
  // them only by fields left out for being 0: pack once with none left out.
  for (auto &variant : program.objects)
    variant->offset = variant->size = variant->checksum = ~uint64_t(0);
  pack(program, image.builder);
  uint64_t end = placeObjects(contents, image.builder.GetSize());
  pack(program, image.builder);

  DlcArtifactHeader &header = image.header;
  std::memcpy(header.magic, DLC_ARTIFACT_MAGIC, sizeof(header.magic));
  header.version = program.version;
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

template <typename Sink>
static Status emit(const ArtifactContents &contents, const Image &image,
                   Sink &sink) {
  const DlcArtifactHeader &header = image.header;
  DLC_RETURN_IF_ERROR(sink.write(std::as_bytes(std::span(&header, 1))));
  DLC_RETURN_IF_ERROR(sink.write(image.plan()));
  for (size_t i = 0; i != contents.objects.size(); ++i) {
    DLC_RETURN_IF_ERROR(sink.padTo(contents.program.objects[i]->offset));
    DLC_RETURN_IF_ERROR(sink.write(contents.objects[i]));
  }
  return emitConstants(contents, header.constants_offset, sink);
}

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

Status dlc::rt::writeArtifact(const ArtifactContents &contents,
                              const std::string &path) {
  Image image;
  DLC_RETURN_IF_ERROR(layOut(contents, image));
  Result<OutputFile> file = OutputFile::create(path);
  if (!file.isOk())
    return std::move(file.status());
  DLC_RETURN_IF_ERROR(emit(contents, image, *file));
  return file->commit();
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
