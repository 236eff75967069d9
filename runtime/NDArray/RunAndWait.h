// SPDX-License-Identifier: Apache-2.0
//
// An operation that its caller waits for.

#ifndef DLC_RUNTIME_NDARRAY_RUNANDWAIT_H
#define DLC_RUNTIME_NDARRAY_RUNANDWAIT_H

#include "dlc/runtime/Engine/Engine.h"

#include <functional>
#include <vector>

namespace dlc::rt {

/// Runs `function` in the order of the engine, once, and returns its error, or
/// the one that poisons a variable. On return it neither runs nor will, so it
/// may refer to what its caller owns. `name` is a literal.
Status runAndWait(Engine &engine, std::function<Status()> function,
                  Context context, const std::vector<Variable> &reads,
                  const std::vector<Variable> &writes, const char *name);

} // namespace dlc::rt

#endif // DLC_RUNTIME_NDARRAY_RUNANDWAIT_H
