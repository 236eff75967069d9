// SPDX-License-Identifier: Apache-2.0
//
// The operators of MXNet 1.9.1 that are not in the registry, each with the
// reason. A name that is learned leaves the table: a test holds both against
// the list of MXNet's names.

#ifndef DLC_SYMBOL_MISSINGOPERATORS_H
#define DLC_SYMBOL_MISSINGOPERATORS_H

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlc::symbol {

/// Operators that are missing for the same reason.
struct MissingOperators {
  std::string_view reason; ///< A sentence without a period.
  /// What users take instead, or "".
  std::string_view alternative;
  std::vector<std::string_view> names;
};

std::span<const MissingOperators> missingOperators();

/// Why there is no operator of that name, or "" where nobody knows it.
std::string_view reasonOfMissing(std::string_view name);

/// What comes nearest to an operator that does not exist: what the table says,
/// or "operator NAME" of a name like it, or "".
std::string alternativeTo(std::string_view name);

} // namespace dlc::symbol

#endif // DLC_SYMBOL_MISSINGOPERATORS_H
