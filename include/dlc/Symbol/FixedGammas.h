// SPDX-License-Identifier: Apache-2.0

#ifndef DLC_SYMBOL_FIXEDGAMMAS_H
#define DLC_SYMBOL_FIXEDGAMMAS_H

#include "dlc/Symbol/IndexedGraph.h"

namespace dlc::symbol {

/// A variable that normalisations take as ones, whatever it holds (fix_gamma),
/// and nothing else reads. MXNet writes ones to it where it trains.
struct FixedGamma {
  IndexedGraph::NodeId variable;
  std::vector<IndexedGraph::NodeId> readers;
};

/// In the order of the variables.
std::vector<FixedGamma> findFixedGammas(const IndexedGraph &graph);

} // namespace dlc::symbol

#endif // DLC_SYMBOL_FIXEDGAMMAS_H
