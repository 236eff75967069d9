// SPDX-License-Identifier: Apache-2.0
//
// A symbol's network in arrays: nodes, outputs and edges have dense numbers, so
// that an analysis keeps what it knows in vectors. A snapshot: it keeps the
// nodes alive and does not see later changes.

#ifndef DLC_SYMBOL_INDEXEDGRAPH_H
#define DLC_SYMBOL_INDEXEDGRAPH_H

#include "dlc/Symbol/Symbol.h"

#include <unordered_map>

namespace dlc::symbol {

class IndexedGraph {
public:
  using NodeId = uint32_t;
  using EntryId = uint32_t;

  /// A use of an output: which, and the version of a variable.
  struct Use {
    NodeId node;
    uint32_t index;
    uint32_t version;
  };
  /// Input `input` of `node` reads it.
  struct Reader {
    NodeId node;
    uint32_t input;
  };

  /// `symbol` is not failed.
  explicit IndexedGraph(const Symbol &symbol);

  // Nodes, in post-order: operands have smaller numbers.

  size_t nodeCount() const { return nodes.size(); }
  const Node &node(NodeId id) const { return *nodes[id]; }
  /// The number of a node of the network.
  NodeId idOf(const Node &node) const { return ids.at(&node); }

  // Outputs: entry i of node n is number entryId(n, i). Hidden ones count.

  size_t entryCount() const { return entryRows.back(); }
  EntryId entryId(NodeId node, uint32_t index) const {
    return entryRows[node] + index;
  }
  EntryId entryId(const Use &use) const { return entryId(use.node, use.index); }
  size_t outputCount(NodeId node) const {
    return entryRows[node + 1] - entryRows[node];
  }
  NodeId nodeOf(EntryId entry) const;

  // Edges, as compressed rows.

  std::span<const Use> inputs(NodeId node) const {
    return row(inputEdges, inputRows, node);
  }
  std::span<const NodeId> controlDependencies(NodeId node) const {
    return row(controlEdges, controlRows, node);
  }
  std::span<const Reader> readers(EntryId entry) const {
    return row(readerEdges, readerRows, entry);
  }
  /// How many inputs and outputs of the network read an entry.
  uint32_t referenceCount(EntryId entry) const { return references[entry]; }

  // The network's own inputs and outputs.

  /// All variables, in order.
  std::span<const NodeId> inputNodes() const { return variables; }
  /// Variables that no operator writes; those that one writes.
  std::span<const NodeId> argumentNodes() const { return arguments; }
  std::span<const NodeId> mutableNodes() const { return written; }
  bool isMutable(NodeId node) const { return isWritten[node]; }
  std::span<const Use> outputs() const { return heads; }

private:
  template <typename T>
  static std::span<const T> row(const std::vector<T> &edges,
                                const std::vector<uint32_t> &rows, size_t i) {
    return std::span(edges).subspan(rows[i], rows[i + 1] - rows[i]);
  }
  void addEdges();
  void addReaders();
  void addVariables();

  std::vector<std::shared_ptr<Node>> nodes;
  std::unordered_map<const Node *, NodeId> ids;
  std::vector<uint32_t> entryRows{0}, inputRows{0}, controlRows{0}, readerRows;
  std::vector<Use> inputEdges, heads;
  std::vector<NodeId> controlEdges, variables, arguments, written;
  std::vector<Reader> readerEdges;
  std::vector<uint32_t> references;
  std::vector<bool> isWritten;
};

} // namespace dlc::symbol

#endif // DLC_SYMBOL_INDEXEDGRAPH_H
