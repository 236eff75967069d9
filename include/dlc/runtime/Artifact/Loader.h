// SPDX-License-Identifier: Apache-2.0
//
// Reads a compiled program: maps the file, checks every field before anything
// is used, and hands out views. Nothing of the file is executed here.

#ifndef DLC_RUNTIME_ARTIFACT_LOADER_H
#define DLC_RUNTIME_ARTIFACT_LOADER_H

#include "dlc/abi/Version.h"
#include "dlc/runtime/Base/File.h"
#include "dlc/runtime/Base/Memory.h"
#include "dlc/runtime/Base/Status.h"

#include <cstddef>
#include <span>
#include <string>

namespace dlc::abi {
struct Program;
} // namespace dlc::abi

namespace dlc::rt {

/// A loaded .dlc file. Immutable; may be shared by threads. Whoever holds one
/// may rely on all that validatePlan() checks.
class Artifact {
public:
  /// Maps the regular file at `path`. The pages of constants are read at their
  /// first use, so the file must not be truncated or rewritten in place while
  /// the artifact lives; replacing it by rename is fine.
  /// Errors: NotFound, Unavailable, DataLoss (corrupt), Unsupported (newer).
  static Result<Artifact> open(const std::string &path);

  /// Borrows the bytes of a file; they are DLC_ALIGNMENT-aligned and outlive
  /// the artifact. Errors: as above, InvalidArgument when misaligned.
  static Result<Artifact> fromMemory(std::span<const std::byte> bytes);

  const DlcArtifactHeader &header() const { return fixedHeader; }

  /// The verified plan: a copy in memory, so that later changes of the file
  /// cannot get past the checks. Include "dlc/abi/Artifact_generated.h".
  const abi::Program &program() const { return *plan; }

  /// The constants section, DLC_ALIGNMENT-aligned, in place.
  std::span<const std::byte> constants() const;

  /// The bytes of ObjectVariant `index`, in place; verifyObject() compares
  /// their checksum. Errors: DataLoss.
  std::span<const std::byte> object(size_t index) const;
  Status verifyObject(size_t index) const;

  /// Reads the whole file and compares the checksums of objects and constants,
  /// for whom a wrong answer costs more than the time. Errors: DataLoss.
  Status verify() const;

private:
  Artifact() = default;
  Status check();

  MappedFile mapping; // Empty when the bytes are borrowed.
  std::span<const std::byte> file;
  DlcArtifactHeader fixedHeader = {};
  AlignedBuffer planCopy;
  const abi::Program *plan = nullptr;
};

/// The checksum that the header of an artifact must carry; `header.checksum`
/// itself does not matter.
uint64_t artifactChecksum(const DlcArtifactHeader &header,
                          std::span<const std::byte> plan);

} // namespace dlc::rt

#endif // DLC_RUNTIME_ARTIFACT_LOADER_H
