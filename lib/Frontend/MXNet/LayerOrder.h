// SPDX-License-Identifier: Apache-2.0
//
// Which of several layers with the same parameters is which: a pure function of
// names and of the flow of data.
//
// A file has layers in the order in which blocks registered them, under paths
// of attributes ("body.0"). A symbol has them in the order in which data flows,
// under scopes of names that count layers as they were made ("net0_conv2").
// These orders are most often one, but nothing makes them so. What is told:
//
//   by words  attributes and names agree ("query", "net0_query"), or a block
//   that
//             contains others would be a layer that contains none;
//   by flow   for children of one container, which registers them as they are
//             added and runs them so ("body.0", "body.1"), where numbers of
//             names do not contradict it;
//   guessed   by numbers of names, or where these tell nothing by the flow of
//             data, for all others: blocks may register layers in another order
//             than these were made and run in;
//   not       anything else.

#ifndef DLC_LIB_FRONTEND_MXNET_LAYERORDER_H
#define DLC_LIB_FRONTEND_MXNET_LAYERORDER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
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
  /// The scopes of paths, as numbers, that the caller knows.
  std::vector<std::optional<size_t>> known;
};

/// A path, as a number, that could as well have the scope of another one.
struct Doubt {
  /// The worst last.
  enum class Reason { OnlyNumbers, OnlyFlow, NumbersAgainstFlow, Nothing };
  size_t path;
  Reason reason;
};

struct LayerOrder {
  std::vector<size_t> scopeOf; ///< By path, as numbers.
  std::vector<Doubt> doubts;   ///< Empty where all is told.
};

/// Takes O(n^2) for n layers, O(n^3) where few have words that tell something.
LayerOrder orderAlikeLayers(const AlikeLayers &layers);

} // namespace dlc::mxnet

#endif // DLC_LIB_FRONTEND_MXNET_LAYERORDER_H
