// SPDX-License-Identifier: Apache-2.0
//
// One sweep over the starts and ends of all pieces.

#include "Sections.h"

#include <algorithm>
#include <tuple>

namespace dlc::planning {

Sections makeSections(const Instance &instance) {
  const int n = instance.pieceCount();
  std::vector<std::tuple<int64_t, bool, int>> events; // time, starts, piece
  for (int p = 0; p < n; ++p) {
    events.emplace_back(instance.pieces[p].lower, true, p);
    events.emplace_back(instance.pieces[p].upper, false, p);
  }
  std::sort(events.begin(), events.end());
  Sections sections;
  sections.first.assign(n, 0);
  sections.last.assign(n, 0);
  // A set of live pieces is maximal just before an end that follows a start:
  // a start after an end opens the next section.
  bool lastWasEnd = true;
  for (auto [time, starts, p] : events) {
    if (starts && lastWasEnd)
      ++sections.count;
    lastWasEnd = !starts;
    (starts ? sections.first[p] : sections.last[p]) =
        starts ? sections.count - 1 : sections.count;
  }
  return sections;
}

std::vector<std::vector<int>> membersOf(const Sections &sections) {
  std::vector<std::vector<int>> members(sections.count);
  for (size_t p = 0; p < sections.first.size(); ++p)
    for (int s = sections.first[p]; s < sections.last[p]; ++s)
      members[s].push_back(static_cast<int>(p));
  return members;
}

} // namespace dlc::planning
