// SPDX-License-Identifier: Apache-2.0
//
// What an executor tells of itself.

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
  return state->network->describe() + describePrograms();
}

std::string Executor::describePrograms() const {
  std::string text;
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
