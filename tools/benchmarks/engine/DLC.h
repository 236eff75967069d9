// SPDX-License-Identifier: Apache-2.0
//
// The engines of this runtime, for measurements that need more than a Peer.

#ifndef DLC_TOOLS_BENCHMARKS_ENGINE_DLC_H
#define DLC_TOOLS_BENCHMARKS_ENGINE_DLC_H

#include "dlc/runtime/Engine/Engine.h"

#include <memory>
#include <string>
#include <vector>

namespace dlc::bench {

struct NamedEngine {
  std::string name;
  std::unique_ptr<rt::Engine> engine;
};

/// One engine of each kind. Failures end the program.
std::vector<NamedEngine> makeEngines(unsigned workers, rt::CallerHelp help);

/// Ends the program with the message of a failure.
void check(const rt::Status &status);

} // namespace dlc::bench

#endif // DLC_TOOLS_BENCHMARKS_ENGINE_DLC_H
