// SPDX-License-Identifier: Apache-2.0
//
// Slices with constant bounds, axis by axis.

#ifndef DLC_DIALECTS_GRAPH_SLICES_H
#define DLC_DIALECTS_GRAPH_SLICES_H

#include "dlc/dialects/Graph/GraphOps.h"

namespace dlc::graph {

/// A slice along one axis: elements `begin`, `begin + step`, ...
struct AxisSlice {
  int64_t axis, begin, step;
};

/// The slice of `op`, of static shape and with some elements, as ONNX limits
/// it; nullopt when its bounds are not constant.
std::optional<llvm::SmallVector<AxisSlice>> slicesOf(SliceOp op);

} // namespace dlc::graph

#endif // DLC_DIALECTS_GRAPH_SLICES_H
