// SPDX-License-Identifier: Apache-2.0

#include "dlc/Symbol/FixedGammas.h"

#include <algorithm>

using namespace dlc::symbol;

/// Input `input` of `node` is a gamma, and fixed.
static bool isFixed(const Node &node, uint32_t input) {
  bool mayFix =
      std::ranges::any_of(node.op->parameters, [](const Parameter &each) {
        return each.name == "fix_gamma";
      });
  return mayFix && node.parameters.getBool("fix_gamma") &&
         node.inputNames()[input] == "gamma";
}

std::vector<FixedGamma>
dlc::symbol::findFixedGammas(const IndexedGraph &graph) {
  std::vector<FixedGamma> gammas;
  for (IndexedGraph::NodeId variable : graph.argumentNodes()) {
    IndexedGraph::EntryId entry = graph.entryId(variable, 0);
    FixedGamma gamma{variable, {}};
    for (IndexedGraph::Reader reader : graph.readers(entry))
      if (isFixed(graph.node(reader.node), reader.input))
        gamma.readers.push_back(reader.node);
    // Nor is it an output.
    if (!gamma.readers.empty() &&
        gamma.readers.size() == graph.referenceCount(entry))
      gammas.push_back(std::move(gamma));
  }
  return gammas;
}
