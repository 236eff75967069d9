// SPDX-License-Identifier: Apache-2.0
//
// Whole files: mapped for reading; written without a name, which comes last.

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

/// The file that an output to `path` makes or replaces: symbolic links are
/// followed, the last of which may lead to nothing yet. Errors name the path:
/// InvalidArgument (there is something that is not a regular file), NotFound,
/// Unavailable (it must not be written, or links go round in a circle).
Result<std::string> findOutputTarget(const std::string &path);

/// A file that appears at its path as a whole or not at all. Until commit() its
/// data has no name, so that nothing stays behind even when the process is
/// killed. File systems that lack nameless files (network file systems do) hold
/// it under a name ".dlc-*.tmp" beside the target.
class OutputFile {
public:
  OutputFile(OutputFile &&other) noexcept;
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile(); ///< Without commit(): nothing is left behind.

  /// Opens a file in the folder of `findOutputTarget(path)`, with the mode of
  /// the file that it will replace, or else what the user's mask leaves.
  /// Errors: those of findOutputTarget, Unavailable.
  static Result<OutputFile> create(const std::string &path);

  /// That the file system has room for so many more bytes, so that what cannot
  /// end well does not fill it first. Errors: Unavailable.
  Status checkRoom(uint64_t bytes) const;
  /// A size beyond the process's limit is an error where SIGXFSZ is ignored,
  /// and otherwise ends the process.
  Status write(std::span<const std::byte> bytes);
  /// Writes zeros up to `target` bytes from the start.
  Status padTo(uint64_t target);
  /// Bytes written so far.
  uint64_t size() const { return position; }

  /// Gives the file its name, replacing a file that is there, and closes it.
  Status commit();

private:
  explicit OutputFile(std::string path) : path(std::move(path)) {}
  Status failure(const char *what) const;
  std::string temporaryName(int attempt) const;
  bool openNamed();
  bool linkBeside();

  std::string path;      ///< As the user wrote it, for messages.
  std::string target;    ///< Where it leads.
  std::string temporary; ///< A name beside the target; empty for none.
  int descriptor = -1;
  uint64_t position = 0;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_BASE_FILE_H
