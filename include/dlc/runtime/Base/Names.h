// SPDX-License-Identifier: Apache-2.0
//
// Names that tell things apart.

#ifndef DLC_RUNTIME_BASE_NAMES_H
#define DLC_RUNTIME_BASE_NAMES_H

#include "dlc/runtime/Base/Status.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlc::rt {

/// A name, or another text that somebody else wrote, for a message: what is no
/// UTF-8, or moves a cursor, as "\xNN", and what comes after 100 bytes as
/// "...".
std::string toPrintable(std::string_view text);

/// The first names and how many there are besides, for a message: "a, b and 3
/// more".
std::string listSome(std::span<const std::string> names, size_t most = 8);

/// The names, of which those that are `taken` or came before get a number,
/// "y_1": the least that makes them none of all these.
std::vector<std::string> makeDistinct(std::vector<std::string> names,
                                      std::span<const std::string> taken = {});

/// Checks that no two names are equal, in O(n log n). `what` is the plural of
/// what they name: "two inputs are named 'x'". Fails with `code`.
Status checkDistinct(std::vector<std::string_view> names, std::string_view what,
                     StatusCode code);

/// Finds what somebody may have meant who wrote a name that there is not: the
/// known name with the fewest letters added, left out, changed or swapped with
/// the next (Damerau 1964), of which a third of the letters may be, rounded:
/// with two of four, any short name is near any other. One that has the given
/// as a word ("sum": "reduce_sum") is nearer than a name with a wrong letter.
/// Whether letters are capitals makes no difference. The first of those that
/// are equally near.
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
  size_t most; ///< A name that is further away is not found: half letters.
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_BASE_NAMES_H
