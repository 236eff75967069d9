// SPDX-License-Identifier: Apache-2.0
//
// Which of several layers with the same parameters is which: a pure function of
// names and of the flow of data.
//
// A file has layers in the order in which blocks registered them, under paths
// of attributes ("body.0"). A symbol has them in the order in which data flows,
// under scopes of names that count layers as they were made ("net0_conv2").
// Four things tell the one from the other:
//
//   certain  names that agree ("query", "net0_query"), and blocks that others
//            contain ("body.0" is no layer that lies in no block);
//   certain  the flow of data, for the children of one container, which have
//            numbers for names and run in their order;
//   likely   the numbers of names, where layers were made and registered in one
//            order, which the flow of data must not contradict;
//   not      the flow of data alone, and nothing.

#ifndef DLC_LIB_FRONTEND_MXNET_LAYERORDER_H
#define DLC_LIB_FRONTEND_MXNET_LAYERORDER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dlc::mxnet {

/// Layers of one form, as many on both sides.
struct AlikeLayers {
  /// Paths of attributes, in the order of the file.
  std::vector<llvm::StringRef> paths;
  /// Scopes of names, in the order in which a walk along the flow of data meets
  /// them.
  std::vector<llvm::StringRef> scopes;
  /// Bit i of row j: what scope i computes reaches scope j.
  std::vector<llvm::BitVector> reached;
};

struct LayerOrder {
  /// The scope, as a number, of each path.
  std::vector<size_t> scopeOf;
  /// How many follow the one before by the numbers of names alone.
  size_t guesses = 0;
  /// Two numbers of paths whose scopes could as well be each other's, and why,
  /// as the end of a sentence; none where the order is told.
  std::optional<std::pair<size_t, size_t>> unclear;
  std::string reason;
};

/// Takes O(n^2) for n layers.
LayerOrder orderAlikeLayers(const AlikeLayers &layers);

} // namespace dlc::mxnet

#endif // DLC_LIB_FRONTEND_MXNET_LAYERORDER_H
