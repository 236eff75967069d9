// SPDX-License-Identifier: Apache-2.0
//
// What an executor tells of itself, and values that it takes over.

#include "dlc/runtime/Binding/Executor.h"

#include "ExecutorState.h"

#include <algorithm>
#include <cinttypes>

using namespace dlc::rt;

const Network &Executor::network() const { return *state->network; }

std::span<const NDArray> Executor::outputs() const { return state->outputs; }

std::span<const NDArray> Executor::arguments() const {
  return state->bindings.arguments;
}

std::span<const NDArray> Executor::gradients() const {
  return state->bindings.gradients;
}

std::span<const NDArray> Executor::auxiliaryStates() const {
  return state->bindings.auxiliaryStates;
}

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

Result<NDArray> Executor::output(const std::string &name) const {
  return find("an output", network().outputs(), outputs(), name);
}

Result<NDArray> Executor::argument(const std::string &name) const {
  return find("an argument", network().arguments(), arguments(), name);
}

Result<NDArray> Executor::gradient(const std::string &name) const {
  Result<NDArray> found =
      find("an argument", network().arguments(), gradients(), name);
  if (found.isOk() && found->isNull())
    return makeError(StatusCode::NotFound,
                     "expected an argument whose gradient was requested, got "
                     "'%s'",
                     name.c_str());
  return found;
}

Result<NDArray> Executor::auxiliaryState(const std::string &name) const {
  return find("an auxiliary state", network().auxiliaryStates(),
              auxiliaryStates(), name);
}

Status Executor::copyParameters(const std::map<std::string, NDArray> &arguments,
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

void Executor::setMonitor(Monitor monitor, bool tellsVariables) {
  state->monitor = std::move(monitor);
  state->tellsVariables = tellsVariables;
}

static uint64_t bytesOf(std::span<const NDArray> arrays) {
  uint64_t bytes = 0;
  for (const NDArray &array : arrays)
    bytes += array.bytes();
  return bytes;
}

std::string Executor::describe() const {
  std::string text = state->network->describe();
  uint64_t arena = 0, saved = 0, constants = 0;
  for (const auto &[form, program] : state->prepared) {
    const ProgramStatistics &known = program.loaded->program->statistics();
    uint64_t kept = bytesOf(program.saved);
    char line[192];
    std::snprintf(line, sizeof line,
                  "%s: %zu launches, planned %" PRIu64 " bytes, lower bound "
                  "%" PRIu64 ", saved %" PRIu64 ", constants %" PRIu64 "\n",
                  nameOf(form), known.launches, known.arenaBytes,
                  known.lowerBoundBytes, kept, known.constantBytes);
    text += line;
    arena = std::max(arena, known.arenaBytes); // They share it.
    saved += kept;
    constants += known.constantBytes;
  }
  char total[160];
  std::snprintf(total, sizeof total,
                "total %" PRIu64 " bytes: arena %" PRIu64 ", saved %" PRIu64
                ", constants %" PRIu64 ", outputs %" PRIu64 "\n",
                arena + saved + constants + bytesOf(outputs()), arena, saved,
                constants, bytesOf(outputs()));
  return text + total;
}
