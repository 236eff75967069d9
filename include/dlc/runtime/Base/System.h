// SPDX-License-Identifier: Apache-2.0
//
// What the machine has.

#ifndef DLC_RUNTIME_BASE_SYSTEM_H
#define DLC_RUNTIME_BASE_SYSTEM_H

#include <cstdint>

namespace dlc::rt {

/// Bytes that one process can ever hold: memory and swap of the machine, less
/// where the process is limited (RLIMIT_AS). A system that promises memory
/// freely ends a process that uses more, so more must not be asked for.
/// Thread-safe.
uint64_t memoryLimit();

} // namespace dlc::rt

#endif // DLC_RUNTIME_BASE_SYSTEM_H
