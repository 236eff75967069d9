// SPDX-License-Identifier: Apache-2.0
//
// The checks of a problem that look at one buffer or alias at a time.

#ifndef DLC_LIB_PLANNING_MEMORY_BUFFERCHECKS_H
#define DLC_LIB_PLANNING_MEMORY_BUFFERCHECKS_H

#include "dlc/Planning/Memory/Problem.h"

namespace dlc::planning {

/// The id as messages show it.
std::string quotedId(const Buffer &buffer);

/// Says whether every field is in its range, ids are unique, and the sums of
/// the problem stay below 2^60.
[[nodiscard]] Error checkBuffers(const Problem &problem);

} // namespace dlc::planning

#endif // DLC_LIB_PLANNING_MEMORY_BUFFERCHECKS_H
