// SPDX-License-Identifier: Apache-2.0
//
// The engine for debugging: each push runs its operation before it returns, so
// that a debugger shows who pushed what runs.

#ifndef DLC_RUNTIME_ENGINE_NAIVE_H
#define DLC_RUNTIME_ENGINE_NAIVE_H

#include "dlc/runtime/Engine/Engine.h"

namespace dlc::rt {

Result<std::unique_ptr<Engine>> createNaiveEngine(const EngineOptions &options);

} // namespace dlc::rt

#endif // DLC_RUNTIME_ENGINE_NAIVE_H
