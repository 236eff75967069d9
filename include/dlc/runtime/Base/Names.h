// SPDX-License-Identifier: Apache-2.0
//
// Names that tell things apart.

#ifndef DLC_RUNTIME_BASE_NAMES_H
#define DLC_RUNTIME_BASE_NAMES_H

#include "dlc/runtime/Base/Status.h"

#include <string>
#include <string_view>
#include <vector>

namespace dlc::rt {

/// Checks that no two names are equal, in O(n log n). `what` is the plural of
/// what they name: "two inputs are named 'x'". Fails with `code`.
Status checkDistinct(std::vector<std::string_view> names, std::string_view what,
                     StatusCode code);

/// Finds what somebody may have meant who wrote a name that there is not: the
/// known name with the fewest letters added, left out, changed or swapped with
/// the next (Damerau 1964), of which a third of the letters may be; whether
/// they are capitals makes no difference. The first of those that are equally
/// near.
class NearName {
public:
  explicit NearName(std::string_view given);
  void offer(std::string_view known);             ///< Lives as long as this.
  std::string_view best() const { return found; } ///< Empty for none.
  /// For the end of a message: ": did you mean 'exp'?", or nothing.
  std::string question() const;

private:
  std::string given;
  std::string_view found;
  size_t most; ///< A name that is further away is not found.
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_BASE_NAMES_H
