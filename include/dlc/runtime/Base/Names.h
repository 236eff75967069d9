// SPDX-License-Identifier: Apache-2.0
//
// Names that tell things apart.

#ifndef DLC_RUNTIME_BASE_NAMES_H
#define DLC_RUNTIME_BASE_NAMES_H

#include "dlc/runtime/Base/Status.h"

#include <string_view>
#include <vector>

namespace dlc::rt {

/// Checks that no two names are equal, in O(n log n). `what` is the plural of
/// what they name: "two inputs are named 'x'". Fails with `code`.
Status checkDistinct(std::vector<std::string_view> names, std::string_view what,
                     StatusCode code);

} // namespace dlc::rt

#endif // DLC_RUNTIME_BASE_NAMES_H
