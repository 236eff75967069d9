// SPDX-License-Identifier: Apache-2.0
//
// The skyline pass where most lives meet.

#ifndef DLC_LIB_PLANNING_MEMORY_SKYLINEDENSE_H
#define DLC_LIB_PLANNING_MEMORY_SKYLINEDENSE_H

#include "Heuristics.h"

namespace dlc::planning {

/// As skyline(), by one branch-free pass over all unplaced pieces for each
/// piece placed: where nearly all lives meet (training, small hard problems)
/// it is some 30 times as fast as the heap.
Offsets skylineDense(const Instance &instance, const std::vector<int> &order);

} // namespace dlc::planning

#endif // DLC_LIB_PLANNING_MEMORY_SKYLINEDENSE_H
