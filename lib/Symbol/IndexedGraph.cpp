// SPDX-License-Identifier: Apache-2.0

#include "dlc/Symbol/IndexedGraph.h"

#include <algorithm>

using namespace dlc::symbol;

IndexedGraph::IndexedGraph(const Symbol &symbol) : nodes(symbol.nodes()) {
  for (const std::shared_ptr<Node> &node : nodes) {
    ids.emplace(node.get(), static_cast<NodeId>(ids.size()));
    entryRows.push_back(entryRows.back() +
                        static_cast<uint32_t>(node->outputCount()));
  }
  for (const Entry &entry : symbol.outputs())
    heads.push_back({idOf(*entry.node), entry.index, entry.version});
  addEdges();
  addReaders();
  addVariables();
}

void IndexedGraph::addEdges() {
  for (const std::shared_ptr<Node> &node : nodes) {
    for (const Entry &input : node->inputs)
      inputEdges.push_back({idOf(*input.node), input.index, input.version});
    for (const std::shared_ptr<Node> &dependency : node->controlDependencies)
      controlEdges.push_back(idOf(*dependency));
    inputRows.push_back(static_cast<uint32_t>(inputEdges.size()));
    controlRows.push_back(static_cast<uint32_t>(controlEdges.size()));
  }
}

/// The transpose of the input edges, by counting.
void IndexedGraph::addReaders() {
  references.assign(entryCount(), 0);
  for (const Use &use : inputEdges)
    ++references[entryId(use)];
  readerRows.assign(1, 0);
  for (uint32_t count : references)
    readerRows.push_back(readerRows.back() + count);
  readerEdges.resize(inputEdges.size());
  std::vector<uint32_t> next(readerRows.begin(), readerRows.end() - 1);
  for (NodeId node = 0; node < nodeCount(); ++node)
    for (uint32_t i = 0; i < inputs(node).size(); ++i)
      readerEdges[next[entryId(inputs(node)[i])]++] = {node, i};
  for (const Use &use : heads)
    ++references[entryId(use)];
}

void IndexedGraph::addVariables() {
  isWritten.assign(nodeCount(), false);
  for (const std::shared_ptr<Node> &node : nodes) {
    std::vector<InputRole> roles = node->inputRoles();
    for (size_t i = 0; i < node->inputs.size(); ++i)
      if (roles[i] == InputRole::Auxiliary)
        isWritten[idOf(*node->inputs[i].node)] = true;
  }
  for (NodeId node = 0; node < nodeCount(); ++node)
    if (nodes[node]->isVariable()) {
      variables.push_back(node);
      (isWritten[node] ? written : arguments).push_back(node);
    }
}

IndexedGraph::NodeId IndexedGraph::nodeOf(EntryId entry) const {
  return static_cast<NodeId>(std::ranges::upper_bound(entryRows, entry) -
                             entryRows.begin() - 1);
}
