// SPDX-License-Identifier: Apache-2.0
//
// What computing costs, by a model: a pure function of the code. Decides what
// is computed twice, how far loops are unrolled, and who computes a launch.

#ifndef DLC_ANALYSIS_COST_H
#define DLC_ANALYSIS_COST_H

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <optional>

namespace dlc::analysis {

/// Of a scalar operation, in the time of an addition of f32 when it runs in
/// vectors. Constants cost nothing, nor do memory accesses, whose bytes are
/// counted elsewhere; a function costs what its polynomial takes, or the call
/// of libm where it has none. An operation on structures costs its body once.
int64_t costOf(mlir::Operation &op);

/// Of all operations of `block`, each once.
int64_t costOf(mlir::Block &block);

/// A constant exponent for which a power of f32 is a product, a quotient or a
/// root: -1, 0.5, 1, 2, 3 or 4.
std::optional<double> plainExponentOf(mlir::math::PowFOp pow);

/// Floating point operations of one launch of a kernel in destination style:
/// of all tiles of its grid, where `costOf` is the cost of an element. Loops
/// whose extent is not constant count their largest.
uint64_t countFlops(mlir::FunctionOpInterface kernel);

} // namespace dlc::analysis

#endif // DLC_ANALYSIS_COST_H
