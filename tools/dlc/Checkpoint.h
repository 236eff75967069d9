// SPDX-License-Identifier: Apache-2.0
//
// Files of a training's state: PREFIX-NNNN.params, as MXNet writes it, and
// beside it .states. Every function throws a Failure.

#ifndef DLC_TOOLS_DLC_CHECKPOINT_H
#define DLC_TOOLS_DLC_CHECKPOINT_H

#include "Command.h"

namespace dlc::tool {

/// An array of a file: its name there ("arg:fc_weight") and the values, which
/// are borrowed.
struct NamedArray {
  std::string name;
  HostTensor *tensor;
};

/// What follows "arg:" or "aux:" in the name of an array of a network.
std::string parameterOf(const NamedArray &array);

/// `prefix-NNNN` and the suffix.
std::string checkpointPath(const std::string &prefix, int64_t epoch,
                           const char *suffix);

/// Whether checkpoints can be written: the prefix's folder is there.
void checkCheckpointFolder(const std::string &prefix);

/// The newest epoch that `prefix` has a file of parameters of; -1: there is
/// none.
int64_t newestCheckpoint(const std::string &prefix);

void writeArrays(const std::string &path,
                 const std::vector<NamedArray> &arrays);

/// Reads these arrays, no more and no fewer, of their types and shapes; those
/// of `optional` may be missing.
void readArrays(const std::string &path, const std::vector<NamedArray> &arrays,
                const std::vector<NamedArray> &optional = {});

/// Reads what else the file has, by the names without "arg:" or "aux:".
NamedTensors readOthers(const std::string &path,
                        const std::vector<NamedArray> &arrays);

/// Reads those of the arrays that the file has, at least one; also by what
/// follows "arg:" or "aux:" in their names. Warns of others. Returns what
/// follows that in the names of those that the file does not have.
std::vector<std::string> readSomeArrays(const std::string &path,
                                        const std::vector<NamedArray> &arrays);

} // namespace dlc::tool

#endif // DLC_TOOLS_DLC_CHECKPOINT_H
