// SPDX-License-Identifier: Apache-2.0

#include "dlc/Symbol/MissingOperators.h"

#include "dlc/Frontend/Faults.h"
#include "dlc/Symbol/Operator.h"

#include <algorithm>

using namespace dlc;
using namespace dlc::symbol;

std::span<const MissingOperators> symbol::missingOperators() {
  static const std::vector<MissingOperators> groups = {
      {"code of a Python program that no file holds",
       "",
       {"Custom", "_Native", "_NDArray"}},
  };
  return groups;
}

static const MissingOperators *findGroup(std::string_view name) {
  for (const MissingOperators &group : missingOperators())
    if (std::ranges::find(group.names, name) != group.names.end())
      return &group;
  return nullptr;
}

std::string_view symbol::reasonOfMissing(std::string_view name) {
  const MissingOperators *group = findGroup(name);
  return group ? group->reason : std::string_view();
}

std::string symbol::alternativeTo(std::string_view name) {
  if (const MissingOperators *group = findGroup(name))
    return std::string(group->alternative);
  std::vector<std::string_view> names;
  for (const Operator *op : allOperators()) {
    names.push_back(op->name);
    names.insert(names.end(), op->aliases.begin(), op->aliases.end());
  }
  // The same function in another namespace.
  std::string_view plain = name;
  for (std::string_view prefix :
       {"_contrib_", "_npi_", "_npx_", "_np_", "_sg_mkldnn_", "_sparse_", "_"})
    if (plain.starts_with(prefix)) {
      plain.remove_prefix(prefix.size());
      break;
    }
  std::string_view nearest = frontend::nearestName(name, names);
  if (nearest.empty())
    nearest = frontend::nearestName(plain, names);
  return nearest.empty() ? "" : "operator " + std::string(nearest);
}
