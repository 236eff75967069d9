// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Binding/BoundNetwork.h"

#include "ExecutorState.h"

#include <algorithm>

using namespace dlc::rt;

BoundNetwork::~BoundNetwork() = default;

static Result<NDArray> find(const char *what,
                            const std::vector<std::string> &names,
                            std::span<const NDArray> arrays,
                            const std::string &name) {
  auto found = std::ranges::find(names, name);
  if (found == names.end())
    return makeError(StatusCode::NotFound, "expected %s (%s), got '%s'", what,
                     joinNames(names).c_str(), name.c_str());
  return arrays[found - names.begin()];
}

Result<NDArray> BoundNetwork::output(const std::string &name) const {
  return find("an output", network().outputs(), outputs(), name);
}

Result<NDArray> BoundNetwork::argument(const std::string &name) const {
  return find("an argument", network().arguments(), arguments(), name);
}

Result<NDArray> BoundNetwork::gradient(const std::string &name) const {
  Result<NDArray> found =
      find("an argument", network().arguments(), gradients(), name);
  if (found.isOk() && found->isNull())
    return makeError(StatusCode::NotFound,
                     "expected an argument whose gradient was requested, got "
                     "'%s'",
                     name.c_str());
  return found;
}

Result<NDArray> BoundNetwork::auxiliaryState(const std::string &name) const {
  return find("an auxiliary state", network().auxiliaryStates(),
              auxiliaryStates(), name);
}

Status
BoundNetwork::copyParameters(const std::map<std::string, NDArray> &arguments,
                             const std::map<std::string, NDArray> &states,
                             bool allowsUnknown) {
  std::vector<std::pair<NDArray, NDArray>> copies;
  auto add = [&](const std::string &name, const NDArray &value,
                 Result<NDArray> target) -> Status {
    if (!target.isOk())
      return allowsUnknown ? Status::ok() : std::move(target.status());
    if (value.isNull() || !sameType(typeOf(value), typeOf(*target)))
      return makeError(
          StatusCode::InvalidArgument, "'%s': expected a value of %s, got %s",
          name.c_str(), toString(typeOf(*target)).c_str(),
          value.isNull() ? "null" : toString(typeOf(value)).c_str());
    DLC_RETURN_IF_ERROR(checkWritable(*target));
    DLC_RETURN_IF_ERROR(checkSameEngine(value, *target));
    copies.emplace_back(value, *target);
    return Status::ok();
  };
  for (const auto &[name, value] : arguments)
    DLC_RETURN_IF_ERROR(add(name, value, argument(name)));
  for (const auto &[name, value] : states)
    DLC_RETURN_IF_ERROR(add(name, value, auxiliaryState(name)));
  for (const auto &[value, target] : copies)
    DLC_RETURN_IF_ERROR(value.copyTo(target));
  return Status::ok();
}
