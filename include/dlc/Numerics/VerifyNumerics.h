// SPDX-License-Identifier: Apache-2.0
//
// Checks that passes leave the numbers that functions of Graph operations
// compute as they are.

#ifndef DLC_NUMERICS_VERIFYNUMERICS_H
#define DLC_NUMERICS_VERIFYNUMERICS_H

#include "mlir/Pass/PassInstrumentation.h"

#include <cstdint>
#include <memory>

namespace dlc::numerics {

/// An instrumentation that runs every function before and after every pass, on
/// inputs made from `seed` (makeInputs), and fails the pass where results
/// differ (findDifference), with an error that names pass, function, result,
/// index, expected and found. Operations run as their Reference kernels, which
/// is slow: this is for tests and for finding a wrong pass.
///
/// What a function had before a pass keeps its place: new arguments and results
/// stand behind the others, and are not compared. A pass that changes what a
/// function computes says so by its signature: where arguments or results are
/// fewer, or of other types, nothing is compared. Nor is it where a function
/// cannot be run before the pass, or stops being Graph operations (behind
/// convert-graph-to-kernel); a remark says why. A function that could be run
/// before and cannot any more is an error.
///
/// Networks in 8 bits round what passes compute in other ways: with
/// `allowsSteps` their results may be some steps off.
std::unique_ptr<mlir::PassInstrumentation>
createNumericsVerifier(uint64_t seed = 0, bool allowsSteps = false);

} // namespace dlc::numerics

#endif // DLC_NUMERICS_VERIFYNUMERICS_H
