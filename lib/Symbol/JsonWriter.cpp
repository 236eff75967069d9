// SPDX-License-Identifier: Apache-2.0

#include "Names.h"

#include "dlc/Symbol/IndexedGraph.h"
#include "dlc/Symbol/Json.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace dlc;
using namespace dlc::symbol;
using llvm::json::OStream;

/// The version of the format that is written, as MXNet counts: 1.9.1.
static constexpr int kWrittenVersion = 10901;

static void writeUse(OStream &json, const IndexedGraph::Use &use) {
  json.array([&] {
    json.value(use.node);
    json.value(use.index);
    json.value(use.version);
  });
}

static void writeNodes(OStream &json, const IndexedGraph &graph);

static void writeNode(OStream &json, const IndexedGraph &graph,
                      IndexedGraph::NodeId id) {
  const Node &node = graph.node(id);
  json.attribute("op", node.op ? llvm::StringRef(node.op->name) : "null");
  json.attribute("name", node.name);
  if (!node.attributes.empty())
    json.attributeObject("attrs", [&] {
      for (const auto &[key, value] : node.attributes)
        if (key != kNumpyShapeKey)
          json.attribute(key, value);
    });
  json.attributeArray("inputs", [&] {
    for (const IndexedGraph::Use &use : graph.inputs(id))
      writeUse(json, use);
  });
  if (!graph.controlDependencies(id).empty())
    json.attributeArray("control_deps", [&] {
      for (IndexedGraph::NodeId dependency : graph.controlDependencies(id))
        json.value(dependency);
    });
  if (!node.bodies.empty())
    json.attributeArray("subgraphs", [&] {
      for (const Symbol &body : node.bodies)
        json.object([&] { writeNodes(json, IndexedGraph(body)); });
    });
}

/// A network without what a file says of it as a whole.
static void writeNodes(OStream &json, const IndexedGraph &graph) {
  json.attributeArray("nodes", [&] {
    for (IndexedGraph::NodeId id = 0; id < graph.nodeCount(); ++id)
      json.object([&] { writeNode(json, graph, id); });
  });
  json.attributeArray("arg_nodes", [&] {
    for (IndexedGraph::NodeId id : graph.inputNodes())
      json.value(id);
  });
  json.attributeArray("node_row_ptr", [&] {
    for (IndexedGraph::NodeId id = 0; id < graph.nodeCount(); ++id)
      json.value(graph.entryId(id, 0));
    json.value(static_cast<int64_t>(graph.entryCount()));
  });
  json.attributeArray("heads", [&] {
    for (const IndexedGraph::Use &use : graph.outputs())
      writeUse(json, use);
  });
}

static void writeGraph(OStream &json, const IndexedGraph &graph) {
  writeNodes(json, graph);
  json.attributeObject("attrs", [&] {
    json.attributeArray("mxnet_version", [&] {
      json.value("int");
      json.value(kWrittenVersion);
    });
    // NumPy's operators give scalars, unless a file said otherwise.
    bool hasNumpyShapes = false;
    for (IndexedGraph::NodeId id = 0; id < graph.nodeCount(); ++id) {
      const Node &node = graph.node(id);
      auto said = node.attributes.find(kNumpyShapeKey);
      hasNumpyShapes |= said != node.attributes.end() ? said->second == "1"
                                                      : isNumpyOperator(node);
    }
    if (hasNumpyShapes)
      json.attributeArray("is_np_shape", [&] {
        json.value("int");
        json.value(1);
      });
  });
}

rt::Result<std::string> symbol::toJson(const Symbol &symbol) {
  if (!symbol.isOk())
    return symbol.status();
  if (symbol.size() == 0)
    return rt::Status(rt::StatusCode::InvalidArgument,
                      "expected a symbol with outputs, got none");
  IndexedGraph graph(symbol);
  for (IndexedGraph::NodeId id = 0; id < graph.nodeCount(); ++id)
    DLC_RETURN_IF_ERROR(graph.node(id).checkApplied());
  std::string text;
  llvm::raw_string_ostream stream(text);
  OStream json(stream, /*IndentSize=*/2);
  json.object([&] { writeGraph(json, graph); });
  return text + "\n";
}
