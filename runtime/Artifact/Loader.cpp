// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Artifact/Loader.h"

#include "dlc/abi/Artifact_generated.h"
#include "dlc/runtime/Artifact/Validate.h"
#include "dlc/runtime/Base/Hash.h"

#include <cinttypes>
#include <cstring>

using namespace dlc;
using namespace dlc::rt;

static_assert(sizeof(DlcArtifactHeader) == 64);

//===----------------------------------------------------------------------===//
// Checks of the header
//===----------------------------------------------------------------------===//

uint64_t dlc::rt::artifactChecksum(const DlcArtifactHeader &header,
                                   std::span<const std::byte> plan) {
  DlcArtifactHeader plain = header;
  plain.checksum = 0;
  uint64_t seed = xxHash64(std::as_bytes(std::span(&plain, 1)));
  return xxHash64(plan, seed);
}

static Status checkIdentity(const DlcArtifactHeader &header) {
  if (std::memcmp(header.magic, DLC_ARTIFACT_MAGIC, sizeof(header.magic)))
    return makeError(StatusCode::DataLoss,
                     "not a compiled program: the magic bytes differ");
  if (header.version == 0)
    return makeError(StatusCode::DataLoss, "expected a version, got 0");
  if (header.version > DLC_ARTIFACT_VERSION)
    return makeError(StatusCode::Unsupported,
                     "artifact version %" PRIu32
                     " is newer than %d, the newest that this runtime reads",
                     header.version, DLC_ARTIFACT_VERSION);
  if (header.header_size != sizeof(DlcArtifactHeader))
    return makeError(StatusCode::DataLoss,
                     "expected a header of %zu bytes, got %" PRIu32,
                     sizeof(DlcArtifactHeader), header.header_size);
  return Status::ok();
}

static Status checkSection(const char *name, uint64_t offset, uint64_t size,
                           uint64_t alignment, uint64_t fileSize) {
  if (offset % alignment)
    return makeError(StatusCode::DataLoss,
                     "expected the %s at a multiple of %" PRIu64
                     ", got offset %" PRIu64,
                     name, alignment, offset);
  if (offset < sizeof(DlcArtifactHeader) || offset > fileSize ||
      size > fileSize - offset)
    return makeError(StatusCode::DataLoss,
                     "the %s section of %" PRIu64 " bytes at %" PRIu64
                     " is outside the file of %" PRIu64 " bytes",
                     name, size, offset, fileSize);
  return Status::ok();
}

static Status checkLayout(const DlcArtifactHeader &header, size_t size) {
  if (header.file_size != size)
    return makeError(StatusCode::DataLoss,
                     "expected %" PRIu64 " bytes, got %zu", header.file_size,
                     size);
  DLC_RETURN_IF_ERROR(checkSection("plan", header.plan_offset, header.plan_size,
                                   alignof(uint64_t), size));
  return checkSection("constants", header.constants_offset,
                      header.constants_size, DLC_ARTIFACT_PAGE, size);
}

/// The plan as a verified table, or why it is none. `bytes` are aligned.
static Result<const abi::Program *>
verifyPlan(std::span<const std::byte> bytes) {
  if (bytes.size() < 16 || bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return makeError(StatusCode::DataLoss,
                     "expected a plan below 2 GiB, got %zu bytes",
                     bytes.size());
  const auto *data = reinterpret_cast<const uint8_t *>(bytes.data());
  // The deepest table is an attribute of a kernel. A table takes at least
  // eight bytes with the reference to it, so more tables than that are shared
  // references that would only cost time.
  constexpr flatbuffers::uoffset_t maxDepth = 8;
  auto maxTables = static_cast<flatbuffers::uoffset_t>(bytes.size() / 8 + 1);
  flatbuffers::Verifier verifier(data, bytes.size(), maxDepth, maxTables);
  if (!abi::VerifyProgramBuffer(verifier))
    return makeError(StatusCode::DataLoss,
                     "the plan is not a well-formed table");
  return abi::GetProgram(data);
}

//===----------------------------------------------------------------------===//
// Artifact
//===----------------------------------------------------------------------===//

Result<Artifact> Artifact::open(const std::string &path) {
  Result<MappedFile> mapped = MappedFile::open(path);
  if (!mapped.isOk())
    return std::move(mapped.status());
  Artifact artifact;
  artifact.mapping = std::move(*mapped);
  artifact.file = artifact.mapping.bytes();
  if (Status status = artifact.check(); !status.isOk())
    return std::move(status).withContext(path);
  return artifact;
}

Result<Artifact> Artifact::fromMemory(std::span<const std::byte> bytes) {
  if (!isAligned(bytes.data(), DLC_ALIGNMENT))
    return makeError(StatusCode::InvalidArgument,
                     "expected bytes aligned to %d", DLC_ALIGNMENT);
  Artifact artifact;
  artifact.file = bytes;
  DLC_RETURN_IF_ERROR(artifact.check());
  return artifact;
}

Status Artifact::check() {
  if (file.size() < sizeof(DlcArtifactHeader))
    return makeError(StatusCode::DataLoss,
                     "expected at least %zu bytes, got %zu",
                     sizeof(DlcArtifactHeader), file.size());
  std::memcpy(&fixedHeader, file.data(), sizeof(fixedHeader));
  DLC_RETURN_IF_ERROR(checkIdentity(fixedHeader));
  DLC_RETURN_IF_ERROR(checkLayout(fixedHeader, file.size()));
  std::span<const std::byte> stored =
      file.subspan(fixedHeader.plan_offset, fixedHeader.plan_size);
  Result<AlignedBuffer> copy = AlignedBuffer::allocate(stored.size());
  if (!copy.isOk())
    return std::move(copy.status());
  planCopy = std::move(*copy);
  std::memcpy(planCopy.data(), stored.data(), stored.size());
  if (artifactChecksum(fixedHeader, planCopy.bytes()) != fixedHeader.checksum)
    return makeError(StatusCode::DataLoss,
                     "the checksum of header and plan differs");
  Result<const abi::Program *> verified = verifyPlan(planCopy.bytes());
  if (!verified.isOk())
    return std::move(verified.status());
  plan = *verified;
  return validatePlan(*plan, fixedHeader);
}

std::span<const std::byte> Artifact::constants() const {
  return file.subspan(fixedHeader.constants_offset, fixedHeader.constants_size);
}

std::span<const std::byte> Artifact::object(size_t index) const {
  const abi::ObjectVariant *variant = plan->objects()->Get(index);
  return file.subspan(variant->offset(), variant->size());
}

Status Artifact::verifyObject(size_t index) const {
  if (xxHash64(object(index)) != plan->objects()->Get(index)->checksum())
    return makeError(StatusCode::DataLoss,
                     "the checksum of object %zu differs", index);
  return Status::ok();
}

Status Artifact::verify() const {
  for (size_t i = 0; plan->objects() && i < plan->objects()->size(); ++i)
    DLC_RETURN_IF_ERROR(verifyObject(i));
  uint64_t expected = plan->constants_checksum();
  if (expected && xxHash64(constants()) != expected)
    return makeError(StatusCode::DataLoss,
                     "the checksum of the constants differs");
  return Status::ok();
}
