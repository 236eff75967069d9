// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Base/Names.h"

#include <algorithm>
#include <utility>

using namespace dlc::rt;

Status dlc::rt::checkDistinct(std::vector<std::string_view> names,
                              std::string_view what, StatusCode code) {
  std::ranges::sort(names);
  auto twice = std::ranges::adjacent_find(names);
  if (twice == names.end())
    return Status::ok();
  return Status(code, "two " + std::string(what) + " are named '" +
                          std::string(*twice) + "'");
}

/// ASCII only: names of others are compared as they are.
static char toLower(char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; }

NearName::NearName(std::string_view name)
    : given(name), most((name.size() + 2) / 3) {
  std::ranges::transform(given, given.begin(), toLower);
}

/// How many letters are to be added, left out, changed or swapped with the next
/// to make `b` of `a`; `b` may have capitals.
static size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> beforeLast, last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j != last.size(); ++j)
    last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      bool isSame = a[i - 1] == toLower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + !isSame});
      if (i > 1 && j > 1 && a[i - 1] == toLower(b[j - 2]) &&
          a[i - 2] == toLower(b[j - 1]))
        row[j] = std::min(row[j], beforeLast[j - 2] + 1);
    }
    beforeLast = std::exchange(last, row);
  }
  return last.back();
}

void NearName::offer(std::string_view known) {
  size_t gap = known.size() > given.size() ? known.size() - given.size()
                                           : given.size() - known.size();
  // Long names would take long, and nobody means them.
  if (gap > most || known.size() > 64)
    return;
  size_t far = distance(given, known);
  if (far > most || (far == most && !found.empty()))
    return;
  found = known;
  most = far;
}

std::string NearName::question() const {
  return found.empty() ? "" : ": did you mean '" + std::string(found) + "'?";
}
