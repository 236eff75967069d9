// SPDX-License-Identifier: Apache-2.0
//
// When two forms of a program count as giving the same numbers.

#ifndef DLC_NUMERICS_COMPARISON_H
#define DLC_NUMERICS_COMPARISON_H

#include "dlc/Numerics/Interpreter.h"

#include <optional>
#include <string>

namespace dlc::numerics {

/// How far an element may be from the expected one, in units of the largest
/// finite element that is expected, or of 1 where all are smaller: 1e-11 for
/// f64, 2e-5 for f32, 5e-3 for f16, 4e-2 for bf16, which is some tens of
/// roundings, and 0 for all that is no float.
double toleranceOf(rt::DataType type);

/// How many times that a value of a function may be off: more than once where
/// it is made of floats of a type that has a larger tolerance or, with
/// `allowsSteps`, of what was rounded to integers, which may be some steps of 8
/// bits off.
double toleranceFactorOf(mlir::Value value, bool allowsSteps = false);

/// A number of a tensor of any type; integers beyond 2^53 are rounded.
double numberAt(const Tensor &tensor, int64_t index);

/// Null where `found` is what is expected: its type and shape, elements that
/// are near, NaN where NaN is expected and the same infinities. Else the first
/// difference: "expected 1.5 at [0, 3], got 2; 0.002 is allowed".
std::optional<std::string> findDifference(const Tensor &expected,
                                          const Tensor &found,
                                          double toleranceFactor = 1);

} // namespace dlc::numerics

#endif // DLC_NUMERICS_COMPARISON_H
