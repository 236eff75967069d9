// SPDX-License-Identifier: Apache-2.0
//
// Makes a random graph that fails smaller, as long as it does.

#ifndef DLC_TEST_NUMERICS_SHRINK_H
#define DLC_TEST_NUMERICS_SHRINK_H

#include "Generator.h"

#include <functional>
#include <string>

namespace dlc::test {

/// What is wrong with a graph; empty where nothing is.
using Check = std::function<std::string(mlir::ModuleOp)>;

/// Drops results, and puts arguments that carry their values in the place of
/// operations, one at a time, while `check` fails. Returns the last failure,
/// which is empty where `graph` passes: then it stays as it was.
std::string shrink(RandomGraph &graph, const Check &check);

} // namespace dlc::test

#endif // DLC_TEST_NUMERICS_SHRINK_H
