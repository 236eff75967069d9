// SPDX-License-Identifier: Apache-2.0
//
// Whole files: mapped for reading; written beside their target and renamed.

#ifndef DLC_RUNTIME_BASE_FILE_H
#define DLC_RUNTIME_BASE_FILE_H

#include "dlc/runtime/Base/Status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace dlc::rt {

/// A file in memory, read-only; pages come at the first touch. The file must
/// not be truncated while it is mapped: touching a page that is gone ends the
/// process.
class MappedFile {
public:
  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept { std::swap(view, other.view); }
  MappedFile &operator=(MappedFile &&other) noexcept {
    std::swap(view, other.view);
    return *this;
  }
  ~MappedFile();

  /// Maps a regular file. Errors name the path: NotFound, Unavailable,
  /// InvalidArgument (not a regular file).
  static Result<MappedFile> open(const std::string &path);

  /// Page aligned; empty for an empty file.
  std::span<const std::byte> bytes() const { return view; }

private:
  std::span<const std::byte> view;
};

/// A file that appears at its path as a whole or not at all.
class OutputFile {
public:
  OutputFile(OutputFile &&other) noexcept;
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile(); ///< Without commit(): nothing is left behind.

  /// Creates a file of a temporary name in the folder of `path`, with the
  /// mode that the user's mask leaves. Errors name the path: Unavailable.
  static Result<OutputFile> create(const std::string &path);

  Status write(std::span<const std::byte> bytes);
  /// Writes zeros up to `target` bytes from the start.
  Status padTo(uint64_t target);
  /// Bytes written so far.
  uint64_t size() const { return position; }

  /// Closes the file and gives it its name, replacing what was there.
  Status commit();

private:
  OutputFile() = default;
  Status failure(const char *what) const;

  std::string path, temporary;
  int descriptor = -1;
  uint64_t position = 0;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_BASE_FILE_H
