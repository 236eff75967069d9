// SPDX-License-Identifier: Apache-2.0
//
// Time, compressed to what matters for packing. MiniMalloc's "sections" are
// the spans between events; here only the maximal sets of pieces live together
// are kept, which is fewer and gives the same conflicts.

#ifndef DLC_LIB_PLANNING_MEMORY_SECTIONS_H
#define DLC_LIB_PLANNING_MEMORY_SECTIONS_H

#include "Instance.h"

namespace dlc::planning {

struct Sections {
  int count = 0;
  std::vector<int> first, last; ///< Per piece: live in [first, last).
};

/// O(n log n).
Sections makeSections(const Instance &instance);

/// Per section: its pieces.
std::vector<std::vector<int>> membersOf(const Sections &sections);

} // namespace dlc::planning

#endif // DLC_LIB_PLANNING_MEMORY_SECTIONS_H
