// SPDX-License-Identifier: Apache-2.0
//
// Which dimensions a graph.resize changes, and by how much. Private to the
// dialect.

#ifndef DLC_DIALECTS_GRAPH_RESIZING_H
#define DLC_DIALECTS_GRAPH_RESIZING_H

#include "dlc/dialects/Graph/GraphOps.h"

namespace dlc::graph {

/// One resized dimension: its axis, its number among those that are resized,
/// and by how much.
struct ResizedAxis {
  int64_t axis, number;
  double scale;
  int64_t from, to; ///< Extents.
};

/// Those that `op`, of static types, names; nullopt where scales are not known.
std::optional<llvm::SmallVector<ResizedAxis>> resizedBy(ResizeOp op);

/// Each element of the result is the one that it lies over: the operand's
/// elements are repeated.
bool isRepetition(ResizeOp op, llvm::ArrayRef<ResizedAxis> resized);

} // namespace dlc::graph

#endif // DLC_DIALECTS_GRAPH_RESIZING_H
