// SPDX-License-Identifier: Apache-2.0
//
// Sorting by keys held elsewhere.

#ifndef DLC_LIB_PLANNING_MEMORY_SORTEDINDICES_H
#define DLC_LIB_PLANNING_MEMORY_SORTEDINDICES_H

#include <algorithm>
#include <numeric>
#include <vector>

namespace dlc::planning {

/// The numbers 0 to n - 1, sorted by `isLess`; ties go by number.
template <typename Less> std::vector<int> sortedIndices(size_t n, Less isLess) {
  std::vector<int> indices(n);
  std::iota(indices.begin(), indices.end(), 0);
  std::sort(indices.begin(), indices.end(), [&](int a, int b) {
    if (isLess(a, b))
      return true;
    return !isLess(b, a) && a < b;
  });
  return indices;
}

} // namespace dlc::planning

#endif // DLC_LIB_PLANNING_MEMORY_SORTEDINDICES_H
