// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Base/Names.h"

#include <algorithm>

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
