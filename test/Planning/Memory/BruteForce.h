// SPDX-License-Identifier: Apache-2.0
//
// Decides tiny packing problems by trying all offsets.

#ifndef DLC_TEST_PLANNING_MEMORY_BRUTEFORCE_H
#define DLC_TEST_PLANNING_MEMORY_BRUTEFORCE_H

#include "dlc/Planning/Memory/Problem.h"

namespace dlc::planning::testing {

/// Whether some packing has all ends at or below `height`. Exponential.
bool hasPackingWithin(const Problem &problem, int64_t height);

/// The least such height. Exponential.
int64_t optimalHeight(const Problem &problem);

} // namespace dlc::planning::testing

#endif // DLC_TEST_PLANNING_MEMORY_BRUTEFORCE_H
