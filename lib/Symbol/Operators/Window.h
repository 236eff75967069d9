// SPDX-License-Identifier: Apache-2.0
//
// The parameters of operators that slide a window over spatial dimensions, and
// the layouts that their data may have.

#ifndef DLC_LIB_SYMBOL_OPERATORS_WINDOW_H
#define DLC_LIB_SYMBOL_OPERATORS_WINDOW_H

#include "Rules.h"

namespace dlc::symbol {

/// Declares kernel, stride, dilate, pad of a convolution.
std::vector<Parameter> convolutionWindow();

/// The choices of `layout`.
Parameter layoutParameter();

/// The channels are the last dimension.
bool isChannelsLast(const Parameters &parameters);

struct Window {
  Ints kernel, strides, pads, dilations;

  /// strides, pads, dilations; views of this object.
  llvm::SmallVector<NamedValue> attributes() const;
};

/// Fails the node unless the extents of `x` that are known are that small.
bool checkExtents(LoweringContext &n, mlir::Value x);

/// Reads the window of a node over `x`, which has channels first; fails the
/// node when a list has another length than `x` has spatial dimensions. `pads`
/// are begins and ends alike.
bool readWindow(LoweringContext &n, mlir::Value x, Window &window);

/// From the operator's layout to channels first, for data and, when they follow
/// the same rule, weights; fails the node for less than 3 dimensions. And back.
mlir::Value toChannelsFirst(LoweringContext &n, mlir::Value x);
mlir::Value fromChannelsFirst(LoweringContext &n, mlir::Value x);

/// Shapes with channels first of shapes in the operator's layout, and back.
Shape toChannelsFirst(const Parameters &parameters, Shape shape);
Shape fromChannelsFirst(const Parameters &parameters, Shape shape);

} // namespace dlc::symbol

#endif // DLC_LIB_SYMBOL_OPERATORS_WINDOW_H
