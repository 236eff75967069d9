// SPDX-License-Identifier: Apache-2.0
//
// The attributes of operators that slide a window: convolutions and pools.

#ifndef DLC_LIB_FRONTEND_ONNX_OPERATORS_WINDOW_H
#define DLC_LIB_FRONTEND_ONNX_OPERATORS_WINDOW_H

#include "Simple.h"

namespace dlc::onnx {

struct Window {
  Ints kernel, strides, pads, dilations;
  llvm::StringRef autoPad = "NOTSET";

  /// strides, pads, dilations, auto_pad.
  llvm::SmallVector<NamedValue> attributes() const;
};

/// Reads and checks the window of a node over `x`, with `kernel` dimensions;
/// the automatic padding stays as it is.
Window readWindow(NodeContext &n, mlir::Value x, Ints kernel,
                  bool hasDilations = true);

/// Makes an automatic padding explicit where the dimensions are known.
void resolveAutoPad(NodeContext &n, mlir::Value x, Window &window);

/// All are positive and so small that products of two do not overflow.
bool areExtents(llvm::ArrayRef<int64_t> values);

/// The padding that makes the result ceil(extent / stride) long.
void padSame(Window &window, llvm::ArrayRef<int64_t> extents);

/// The means of the windows of `x`, of the shape of input 0, that the node has
/// the attributes of.
mlir::Value averagePool(NodeContext &n, mlir::Value x);

} // namespace dlc::onnx

#endif // DLC_LIB_FRONTEND_ONNX_OPERATORS_WINDOW_H
