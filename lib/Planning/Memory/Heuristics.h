// SPDX-License-Identifier: Apache-2.0
//
// Single passes over the items: orders, first fit and skyline.

#ifndef DLC_LIB_PLANNING_MEMORY_HEURISTICS_H
#define DLC_LIB_PLANNING_MEMORY_HEURISTICS_H

#include "Instance.h"

namespace dlc::planning {

/// Offsets per item.
using Offsets = std::vector<int64_t>;

enum class Order {
  Load,  ///< Largest load met, then area, then lifetime; all descending.
  Width, ///< Lifetime, then size.
  Area,  ///< Bytes times lifetime, then size.
  Size,  ///< Size, then lifetime.
};

std::vector<int> makeOrder(const Instance &instance, Order order);

/// Number of (ordered) pairs of pieces live at the same time. O(n log n).
int64_t countMeetings(const Instance &instance);

/// Gives each item, in the given order, the lowest offset that is free.
/// Meets every placed piece at its true place, so it also fills holes below
/// and within alias groups. O(E log n).
Offsets firstFit(const Instance &instance, const std::vector<int> &order);

/// Always places the item whose least possible offset is lowest; ties go by
/// the order. Beats first fit, because a hole is closed only when nothing
/// unplaced can use it. (Below the pieces of an alias group that do not lie at
/// its bottom, space may be lost.) O(n log n) and a scan of O(n) per item at
/// worst; with pins skylinePinned().
Offsets skyline(const Instance &instance, const std::vector<int> &order);

/// The same around pinned items. O((n + E) log n) for E meetings.
Offsets skylinePinned(const Instance &instance, const std::vector<int> &order);

} // namespace dlc::planning

#endif // DLC_LIB_PLANNING_MEMORY_HEURISTICS_H
