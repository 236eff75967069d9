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

/// `to / from` when that is a whole number and the scale; else 0.
int64_t wholeFactor(const ResizedAxis &along);

/// More variants of a loop than this are not written out.
inline constexpr int64_t kMostPhases = 4;

/// After how many elements along an axis weights repeat; more than kMostPhases
/// where they are not written out.
int64_t phasesOf(ResizeOp op, const ResizedAxis &along);

/// The operand's coordinate for result element `at`, with one half added where
/// elements have centres: scale, then offset.
struct Coordinates {
  bool hasCentres = false;
  double factor = 1, divisor = 1; ///< Of the place in the result.
  double offset = 0;

  double at(double place) const {
    return (place + (hasCentres ? 0.5 : 0)) * factor / divisor + offset;
  }
};

/// Nullopt for the ways that are not written out.
std::optional<Coordinates> coordinatesOf(ResizeOp op, const ResizedAxis &along);

/// Each element of the result is the one that it lies over: the operand's
/// elements are repeated.
bool isRepetition(ResizeOp op, llvm::ArrayRef<ResizedAxis> resized);

} // namespace dlc::graph

#endif // DLC_DIALECTS_GRAPH_RESIZING_H
