// SPDX-License-Identifier: Apache-2.0
//
// Writes compiled programs.

#ifndef DLC_RUNTIME_ARTIFACT_WRITER_H
#define DLC_RUNTIME_ARTIFACT_WRITER_H

#include "dlc/runtime/Base/Memory.h"
#include "dlc/runtime/Base/Status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace dlc::abi {
struct ProgramT;
} // namespace dlc::abi

namespace dlc::rt {

/// Bytes of the constants section: a pattern, repeated. A constant of one value
/// all over takes no memory that way while it is written.
struct ArtifactConstant {
  uint64_t offset; ///< From the start of the section.
  std::span<const std::byte> bytes;
  uint64_t repeats = 1; ///< At least 1.
};

/// All that goes into one .dlc file; everything is borrowed.
struct ArtifactContents {
  /// The plan. The writer fills in `version`, `constants_checksum` and, for
  /// each variant of `objects`, `offset`, `size` and `checksum`.
  abi::ProgramT &program;
  /// The ELF shared object of each variant of `program.objects`, in order.
  std::span<const std::span<const std::byte>> objects;
  /// Ascending and disjoint; gaps are filled with zeros.
  std::span<const ArtifactConstant> constants;
  /// Size of the constants section; at least the end of the last constant.
  uint64_t constantBytes = 0;
};

/// Writes a file at `path`: to a temporary name in the same folder, then
/// renamed, so that `path` holds a whole file or what it held before. The
/// bytes depend on the contents alone. The plan is checked by validatePlan()
/// first. Errors: InvalidArgument (a bad plan), Unavailable (the file system).
Status writeArtifact(const ArtifactContents &contents, const std::string &path);

/// The same bytes in memory, ready for Artifact::fromMemory().
Result<AlignedBuffer> writeArtifact(const ArtifactContents &contents);

} // namespace dlc::rt

#endif // DLC_RUNTIME_ARTIFACT_WRITER_H
