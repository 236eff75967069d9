// SPDX-License-Identifier: Apache-2.0

#include "Bodies.h"

#include "NetworkTypes.h"

#include "dlc/Symbol/IndexedGraph.h"

#include <algorithm>

using namespace dlc;
using namespace dlc::symbol;
using rt::Result;
using rt::Status;
using rt::StatusCode;

static Status bad(const std::string &message) {
  return Status(StatusCode::InvalidArgument, message);
}

static std::string subgraphName(size_t body) {
  return "subgraph " + std::to_string(body);
}

Result<BodyPorts> symbol::portsOfBody(const Node &node, size_t index) {
  BodyPorts ports;
  const Symbol &body = node.bodies[index];
  size_t variables = body.listInputs().size();
  if (node.op->inputsBehindBody) {
    for (size_t i = 0; i < variables; ++i)
      ports.inputs.push_back({i});
    ports.results.emplace_back(0);
  } else {
    DLC_RETURN_IF_ERROR(node.op->connectBody(node.parameters, index, ports));
  }
  if (ports.inputs.size() != variables)
    return bad("expected a place for each of the " + std::to_string(variables) +
               " variables of " + subgraphName(index) + ", got " +
               std::to_string(ports.inputs.size()));
  for (const BodyPorts::Input &input : ports.inputs)
    if (input.operand >= node.inputs.size())
      return bad("expected places of operands below " +
                 std::to_string(node.inputs.size()) + " for " +
                 subgraphName(index) + ", got " +
                 std::to_string(input.operand));
  if (ports.results.size() != body.size())
    return bad("expected " + std::to_string(ports.results.size()) +
               " outputs of " + subgraphName(index) + ", got " +
               std::to_string(body.size()));
  for (std::optional<size_t> result : ports.results)
    if (result && *result >= node.outputCount())
      return bad("expected at least " + std::to_string(*result + 1) +
                 " outputs in parameter 'num_outputs', got " +
                 std::to_string(node.outputCount()));
  return ports;
}

std::vector<std::string> Node::inputNames() const {
  if (!op->inputsBehindBody || bodies.empty())
    return op->inputNames(parameters);
  std::vector<std::string> names = bodies.front().listInputs();
  std::vector<std::string> others =
      op->inputsBehindBody(parameters, bodies.front());
  names.insert(names.end(), others.begin(), others.end());
  return names;
}

std::vector<InputRole> Node::inputRoles() const {
  std::vector<InputRole> roles;
  for (size_t i = 0; i < inputs.size(); ++i)
    roles.push_back(op->roleOf(parameters, i));
  // States of loops and branches are arguments, as in MXNet.
  if (!op || !op->inputsBehindBody || bodies.empty())
    return roles;
  IndexedGraph graph(bodies.front());
  std::span<const IndexedGraph::NodeId> variables = graph.inputNodes();
  for (size_t i = 0; i < std::min(variables.size(), roles.size()); ++i)
    if (std::ranges::count(graph.mutableNodes(), variables[i]))
      roles[i] = InputRole::Auxiliary;
  return roles;
}

/// What is wrong inside of a body is said of the node that has it.
static Status inBody(Status status, size_t body) {
  return std::move(status).withContext(subgraphName(body));
}

void symbol::relateBodyTypes(const Node &node, TypeRelation &relation) {
  for (size_t i = 0; i < node.bodies.size() && !relation.failed(); ++i) {
    Result<BodyPorts> ports = portsOfBody(node, i);
    if (!ports.isOk())
      return relation.fail(ports.status().message());
    IndexedGraph graph(node.bodies[i]);
    NetworkTypes network(graph);
    KnownTypes known;
    std::span<const IndexedGraph::NodeId> variables = graph.inputNodes();
    for (size_t k = 0; k < variables.size(); ++k)
      if (rt::DataType type = relation.input(ports->inputs[k].operand);
          type != DLC_INVALID_TYPE)
        known[graph.node(variables[k]).name] = type;
    if (Status status = network.inferTypes(known); !status.isOk())
      return relation.fail(inBody(std::move(status), i).message());
    for (size_t k = 0; k < variables.size(); ++k)
      relation.setInput(ports->inputs[k].operand,
                        network.type(graph.entryId(variables[k], 0)));
    for (size_t k = 0; k < ports->results.size(); ++k)
      if (ports->results[k])
        relation.setOutput(*ports->results[k],
                           network.type(graph.entryId(graph.outputs()[k])));
  }
}

/// Without the first dimension; unknown where that is the only thing known.
static Shape rowOf(const Shape &shape) {
  if (!shape || shape->empty())
    return std::nullopt;
  return std::vector<int64_t>(shape->begin() + 1, shape->end());
}

static Shape withRows(const Shape &row) {
  if (!row)
    return std::nullopt;
  std::vector<int64_t> shape = {rt::kUnknownDim};
  shape.insert(shape.end(), row->begin(), row->end());
  return shape;
}

int64_t symbol::relateBodyShapes(const Node &node, ShapeRelation &relation,
                                 mlir::MLIRContext &context, int64_t before) {
  int64_t nodes = 0;
  for (size_t i = 0; i < node.bodies.size() && !relation.failed(); ++i) {
    Result<BodyPorts> ports = portsOfBody(node, i);
    if (!ports.isOk()) {
      relation.fail(ports.status().message());
      break;
    }
    IndexedGraph graph(node.bodies[i]);
    NetworkTypes network(graph);
    network.addBodyNodes(before + nodes);
    KnownShapes known;
    std::span<const IndexedGraph::NodeId> variables = graph.inputNodes();
    for (size_t k = 0; k < variables.size(); ++k) {
      auto [operand, isRow] = ports->inputs[k];
      Shape shape = relation.input(operand);
      if (isRow && shape && shape->empty())
        relation.fail("expected operand " + std::to_string(operand) +
                      " to have rows, got a scalar");
      if (Shape each = isRow ? rowOf(shape) : shape)
        known[graph.node(variables[k]).name] = *each;
    }
    Status status = network.inferTypes({});
    if (status.isOk())
      status = network.inferShapes(known, context);
    nodes = network.bodyNodes() - before;
    if (!status.isOk()) {
      relation.fail(inBody(std::move(status), i).message());
      break;
    }
    for (size_t k = 0; k < variables.size(); ++k) {
      Shape found = network.shape(graph.entryId(variables[k], 0));
      auto [operand, isRow] = ports->inputs[k];
      relation.setInput(operand, isRow ? withRows(found) : found);
    }
  }
  return nodes;
}
