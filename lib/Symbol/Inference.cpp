// SPDX-License-Identifier: Apache-2.0

#include "dlc/Symbol/Inference.h"

#include "NetworkTypes.h"

#include "dlc/dialects/Graph/GraphDialect.h"

using namespace dlc;
using namespace dlc::symbol;
using rt::Result;
using rt::Status;
using rt::StatusCode;

static bool isComplete(const Shape &shape) { return isStatic(shape); }
static bool isComplete(rt::DataType type) { return type != DLC_INVALID_TYPE; }

/// What is known of the network's variables and outputs, in their orders.
template <typename Fact, typename FactOf>
static Result<Inferred<Fact>> collect(const IndexedGraph &graph,
                                      Completeness completeness,
                                      const char *what, FactOf &&factOf) {
  Inferred<Fact> result;
  result.isComplete = true;
  std::string unknown;
  auto add = [&](std::vector<Fact> &facts, IndexedGraph::EntryId entry,
                 const std::string &name) {
    facts.push_back(factOf(entry));
    if (isComplete(facts.back()))
      return;
    result.isComplete = false;
    unknown += (unknown.empty() ? "" : ", ") + name;
  };
  for (IndexedGraph::NodeId id : graph.argumentNodes())
    add(result.arguments, graph.entryId(id, 0), graph.node(id).name);
  for (IndexedGraph::NodeId id : graph.mutableNodes())
    add(result.auxiliaryStates, graph.entryId(id, 0), graph.node(id).name);
  for (const IndexedGraph::Use &use : graph.outputs())
    add(result.outputs, graph.entryId(use),
        graph.node(use.node).outputName(use.index));
  if (!result.isComplete && completeness == Completeness::Full)
    return Status(StatusCode::InvalidArgument,
                  std::string("expected enough to tell the ") + what +
                      " of everything, got none of " + unknown);
  return result;
}

Result<Inferred<Shape>> symbol::inferShapes(const Symbol &symbol,
                                            const KnownShapes &known,
                                            Completeness completeness,
                                            const KnownTypes &types) {
  if (!symbol.isOk())
    return symbol.status();
  IndexedGraph graph(symbol);
  NetworkTypes network(graph);
  DLC_RETURN_IF_ERROR(network.inferTypes(types));
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<graph::GraphDialect>();
  DLC_RETURN_IF_ERROR(network.inferShapes(known, context));
  return collect<Shape>(
      graph, completeness, "shapes",
      [&](IndexedGraph::EntryId entry) { return network.shape(entry); });
}

Result<Inferred<rt::DataType>> symbol::inferTypes(const Symbol &symbol,
                                                  const KnownTypes &known,
                                                  Completeness completeness) {
  if (!symbol.isOk())
    return symbol.status();
  IndexedGraph graph(symbol);
  NetworkTypes network(graph);
  DLC_RETURN_IF_ERROR(network.inferTypes(known));
  return collect<rt::DataType>(
      graph, completeness, "element types",
      [&](IndexedGraph::EntryId entry) { return network.type(entry); });
}
