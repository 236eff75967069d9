// SPDX-License-Identifier: Apache-2.0
//
// Inference as a fixpoint: every entry of a network has a fact (a shape, a
// type), nodes relate the facts of their operands and results, and a node is
// looked at again when one of its facts became more precise.

#ifndef DLC_LIB_SYMBOL_PROPAGATION_H
#define DLC_LIB_SYMBOL_PROPAGATION_H

#include "dlc/Symbol/IndexedGraph.h"
#include "dlc/Symbol/Relation.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <deque>
#include <unordered_set>

namespace dlc::symbol {

template <typename Fact, typename NodeRelation> class Propagation {
public:
  using NodeId = IndexedGraph::NodeId;
  /// Says what a node knows of its operands and results.
  using Rule = llvm::function_ref<void(NodeId, NodeRelation &)>;

  explicit Propagation(const IndexedGraph &graph)
      : graph(graph), facts(graph.entryCount()) {}

  const Fact &fact(IndexedGraph::EntryId entry) const { return facts[entry]; }

  /// What is known of a variable from outside; an error names it.
  rt::Status start(NodeId variable, const Fact &fact) {
    Fact &known = facts[graph.entryId(variable, 0)];
    Fact old = known;
    if (unify(known, fact))
      return rt::Status::ok();
    return rt::Status(rt::StatusCode::InvalidArgument,
                      graph.node(variable).describe() + ": expected " +
                          toText(old) + ", got " + toText(fact));
  }

  /// Told of a node that contradicts itself, which is then left alone.
  using Report = llvm::function_ref<void(NodeId, const rt::Status &)>;

  /// Applies `rule` until nothing new comes of it; gives the first failure,
  /// and `report`, if any, all.
  rt::Status run(Rule rule, Report report = nullptr) {
    rt::Status first;
    isQueued.assign(graph.nodeCount(), true);
    for (NodeId node = 0; node < graph.nodeCount(); ++node)
      queue.push_back(node);
    while (!queue.empty()) {
      NodeId node = queue.front();
      queue.pop_front();
      isQueued[node] = false;
      if (graph.node(node).isVariable() || hasFailed.contains(node))
        continue;
      rt::Status status = visit(node, rule);
      if (status.isOk())
        continue;
      hasFailed.insert(node);
      if (!report)
        return status;
      report(node, status);
      if (first.isOk())
        first = std::move(status);
    }
    return first;
  }

private:
  rt::Status visit(NodeId node, Rule rule) {
    std::vector<Fact> inputs, outputs;
    for (const IndexedGraph::Use &use : graph.inputs(node))
      inputs.push_back(facts[graph.entryId(use)]);
    for (uint32_t i = 0; i < graph.outputCount(node); ++i)
      outputs.push_back(facts[graph.entryId(node, i)]);
    NodeRelation relation(graph.node(node).parameters, std::move(inputs),
                          std::move(outputs));
    rule(node, relation);
    if (relation.failed())
      return failure(node, relation);
    // One entry may be several operands, which must then agree.
    for (size_t i = 0; i < relation.inputCount(); ++i) {
      IndexedGraph::EntryId entry = graph.entryId(graph.inputs(node)[i]);
      Fact known = facts[entry];
      relation.setInput(i, known);
      if (relation.failed())
        return failure(node, relation);
      learn(entry, relation.input(i));
    }
    for (uint32_t i = 0; i < relation.outputCount(); ++i)
      learn(graph.entryId(node, i), relation.output(i));
    return rt::Status::ok();
  }

  void learn(IndexedGraph::EntryId entry, const Fact &fact) {
    if (facts[entry] == fact)
      return;
    facts[entry] = fact;
    enqueue(graph.nodeOf(entry));
    for (const IndexedGraph::Reader &reader : graph.readers(entry))
      enqueue(reader.node);
  }

  void enqueue(NodeId node) {
    if (!isQueued[node])
      queue.push_back(node);
    isQueued[node] = true;
  }

  /// "node 'fc' (FullyConnected): input 'weight' (variable 'fc_weight'):
  /// expected (10, 20), got (10, 30)".
  rt::Status failure(NodeId id, const NodeRelation &relation) const {
    const Node &node = graph.node(id);
    std::string message = node.describe() + ": ";
    if (std::optional<size_t> i = relation.failedInput())
      message += "input '" + node.inputNames()[*i] + "' (" +
                 graph.node(graph.inputs(id)[*i].node).describe() + "): ";
    if (std::optional<size_t> i = relation.failedOutput())
      message += "output '" + node.op->outputName(node.parameters, *i) + "': ";
    constexpr std::string_view prefix = "unsupported: ";
    std::string reason = relation.failure();
    if (!reason.starts_with(prefix))
      return rt::Status(rt::StatusCode::InvalidArgument, message + reason);
    // It stands first in all messages that say so.
    return rt::Status(rt::StatusCode::Unsupported,
                      std::string(prefix) + message +
                          reason.substr(prefix.size()));
  }

  const IndexedGraph &graph;
  std::vector<Fact> facts; ///< By entry.
  std::deque<NodeId> queue;
  std::vector<bool> isQueued; ///< By node.
  std::unordered_set<NodeId> hasFailed;
};

using ShapePropagation = Propagation<Shape, ShapeRelation>;
using TypePropagation = Propagation<rt::DataType, TypeRelation>;

} // namespace dlc::symbol

#endif // DLC_LIB_SYMBOL_PROPAGATION_H
