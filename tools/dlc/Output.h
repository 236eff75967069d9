// SPDX-License-Identifier: Apache-2.0
//
// Where a command's results go: files that spare its inputs and each other, or
// standard output, which may be full like a disk.

#ifndef DLC_TOOLS_DLC_OUTPUT_H
#define DLC_TOOLS_DLC_OUTPUT_H

#include <string>
#include <string_view>
#include <vector>

namespace dlc::tool {

/// A path and what it is for, as in "the model" or "--trace". An empty path is
/// none.
struct UsedFile {
  std::string what;
  std::string path;
};

/// Throws a Failure, before any work is done, when an output cannot take the
/// place of what is there, is a file that the command reads, is another output,
/// or is standard output or the file that it was sent to.
void checkOutputs(const std::vector<UsedFile> &inputs,
                  const std::vector<UsedFile> &outputs);

/// "-" and the names of this process's standard output.
bool isStandardOutput(const std::string &path);

/// Writes to a file, whole or not at all, or to standard output; throws a
/// Failure otherwise.
void writeOutput(const std::string &path, std::string_view bytes);

/// Called first: gives closed standard streams a place, so that no file of the
/// program is taken for one of them, and makes sizes beyond the process's limit
/// an error of the write.
void prepareStreams();

/// Called last: throws a Failure when a part of what was printed is lost.
void finishStandardOutput();

} // namespace dlc::tool

#endif // DLC_TOOLS_DLC_OUTPUT_H
