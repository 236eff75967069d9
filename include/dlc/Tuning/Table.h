// SPDX-License-Identifier: Apache-2.0
//
// Measured times of library calls, and the text that keeps them: builds and
// machines may share it.
//
//   dlc-tuning 1
//   machine AuthenticAMD-25-1 sse2 avx avx2 fma, dlc 0.1.0-41be07ac
//   980511 cpu.conv f32[1,64,56,56] f32[64,64,3,3] -> f32[1,64,56,56] ...
//   checksum 9c1185a5c5e9fc54

#ifndef DLC_TUNING_TABLE_H
#define DLC_TUNING_TABLE_H

#include "dlc/runtime/Base/Status.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace dlc::tuning {

/// Nanoseconds by call (keyOf() of Tuner.h).
using Times = std::map<std::string, uint64_t, std::less<>>;

/// Times by machine (thisMachine()). Neither machines nor calls have a line
/// break in them.
using Table = std::map<std::string, Times, std::less<>>;

/// What a time depends on beside the call: the model of this processor, its
/// features, and this version of the kernels.
std::string thisMachine();

/// The text of `table`.
std::string print(const Table &table);

/// The table that print() made `text` of. Errors: InvalidArgument (no such
/// text, one of another version of its form, a line that is none), DataLoss (a
/// checksum of something else).
rt::Result<Table> parse(std::string_view text);

/// Adds the times of `from` to `to`, in place of those that are there.
void merge(Table &to, const Table &from);

/// parse() of a file. Errors: also those of reading it; each names the path.
rt::Result<Table> readTable(const std::string &path);

/// Writes the file, whole or not at all.
rt::Status writeTable(const std::string &path, const Table &table);

/// Adds times to a file, or makes one; others that do so wait meanwhile.
/// Errors: also InvalidArgument (a file that is no table of this form, which
/// stays), but a damaged one is replaced.
rt::Status updateTable(const std::string &path, const Table &from);

} // namespace dlc::tuning

#endif // DLC_TUNING_TABLE_H
