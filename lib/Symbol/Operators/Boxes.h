// SPDX-License-Identifier: Apache-2.0
//
// What operators on boxes share. A box is the four numbers of the last
// dimension.

#ifndef DLC_LIB_SYMBOL_OPERATORS_BOXES_H
#define DLC_LIB_SYMBOL_OPERATORS_BOXES_H

#include "Rules.h"

#include <array>

namespace dlc::symbol {

/// x1, y1, x2, y2, tensors that broadcast.
using Corners = std::array<mlir::Value, 4>;

/// Number `i` of each box, in the last dimension.
mlir::Value column(LoweringContext &n, mlir::Value boxes, int64_t i);

/// Fails the node unless the last dimension of `boxes` has four numbers; `what`
/// is the operand's name.
bool areBoxes(LoweringContext &n, mlir::Value boxes, const char *what);

/// Common areas over all of their areas; 0 where there is none.
mlir::Value overlapsOf(LoweringContext &n, const Corners &a, const Corners &b);

/// A scalar of `like`'s element type that has the value of a parameter of
/// MXNet, which are of 32 bits.
mlir::Value floatLike(LoweringContext &n, mlir::Value like, double value);

} // namespace dlc::symbol

#endif // DLC_LIB_SYMBOL_OPERATORS_BOXES_H
