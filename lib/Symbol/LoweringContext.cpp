// SPDX-License-Identifier: Apache-2.0

#include "LoweringContext.h"

#include "Names.h"
#include "NetworkTypes.h"

#include "dlc/Frontend/Faults.h"
#include "dlc/Symbol/IndexedGraph.h"

#include "mlir/IR/Location.h"

using namespace dlc::symbol;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;
using mlir::Value;

std::string dlc::symbol::toText(ArrayRef<int64_t> dims) {
  return toText(std::vector<int64_t>(dims));
}

Value LoweringContext::named(std::string_view name) const {
  std::vector<std::string> names = node.inputNames();
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == name)
      return operands[i];
  return {};
}

bool LoweringContext::hasNumpyShapes() const {
  auto said = node.attributes.find(kNumpyShapeKey);
  return said != node.attributes.end() && said->second == "1";
}

void LoweringContext::expectDefault(std::string_view name) {
  for (const Parameter &parameter : node.op->parameters) {
    if (parameter.name != name)
      continue;
    rt::Result<ParameterValue> usual =
        parseValue(parameter, *parameter.fallback);
    if (usual.isOk() && *usual != p.get(name))
      unsupported("parameter '" + Twine(std::string(name)) + "' of " +
                  toText(p.get(name)) + ", expected " +
                  std::string(*parameter.fallback));
  }
}

int64_t LoweringContext::rank(Value value) {
  std::optional<int64_t> rank = GraphBuilder::rankOf(value);
  if (!rank && !b.failed())
    fail("expected a known number of dimensions");
  return rank.value_or(0);
}

Ints LoweringContext::shape(Value value, const char *what) {
  std::optional<Ints> shape = GraphBuilder::shapeIfStatic(value);
  if (!shape && !b.failed())
    unknown(Twine(what) + " of a shape");
  return shape.value_or(Ints());
}

int64_t LoweringContext::axisOf(std::string_view parameter, int64_t rank) {
  return axis(p.getInt(parameter), rank,
              "parameter '" + std::string(parameter) + "': ");
}

int64_t LoweringContext::axis(int64_t axis, int64_t rank, const Twine &what) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  if (!b.failed())
    fail(what + "expected an axis from " + Twine(-rank) + " to " +
         Twine(rank - 1) + ", got " + Twine(axis));
  return 0;
}

Ints LoweringContext::axes(ArrayRef<int64_t> axes, int64_t rank) {
  Ints result;
  for (int64_t each : axes)
    result.push_back(axis(each, rank));
  Ints sorted = result;
  llvm::sort(sorted);
  auto *twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end() && !b.failed())
    fail("expected distinct axes, got " + Twine(*twice) + " twice");
  return result;
}

Value LoweringContext::perChannel(Value x, Value like, int64_t axis) {
  Ints ones;
  for (int64_t i = axis + 1, rank = this->rank(like); i < rank; ++i)
    ones.push_back(static_cast<int64_t>(ones.size()) + 1);
  return b.unsqueeze(x, ones);
}

Value LoweringContext::drawRandom(StringRef mnemonic, Value operand) {
  if (!network.random)
    network.random = network.addRandom();
  return b.op(mnemonic, {network.random, operand},
              {{"stream", network.randomStreams++}});
}

Value LoweringContext::randomUniform(ArrayRef<int64_t> shape) {
  return drawRandom("random_uniform", b.ints(shape));
}

Value LoweringContext::randomOf(StringRef mnemonic, Value parameter) {
  return drawRandom(mnemonic, parameter);
}

/// "net-symbol.json: node 'loop' (_foreach): node 'fc' (FullyConnected)".
static mlir::Location locateIn(mlir::Location outer, const Node &node) {
  auto name = llvm::dyn_cast<mlir::NameLoc>(outer);
  std::string text = name ? name.getName().str() + ": " : "";
  return mlir::NameLoc::get(
      mlir::StringAttr::get(outer.getContext(), text + node.describe()));
}

SmallVector<Value> LoweringContext::lowerBody(size_t index,
                                              ArrayRef<Value> given) {
  if (b.failed())
    return {};
  ++network.bodyNodes; // A body may have none.
  IndexedGraph graph(node.bodies[index]);
  if (network.isTraining && !graph.mutableNodes().empty()) {
    unsupported("training with auxiliary states in subgraphs");
    return {};
  }
  SmallVector<Value> values(graph.entryCount());
  for (auto [id, value] : llvm::zip_equal(graph.inputNodes(), given))
    values[graph.entryId(id, 0)] = value;
  mlir::Location outer = b.location();
  for (IndexedGraph::NodeId id = 0; id < graph.nodeCount(); ++id) {
    const Node &each = graph.node(id);
    if (each.isVariable())
      continue;
    if (++network.bodyNodes > NetworkTypes::kMaxBodyNodes) {
      unsupported("loops of more than " + Twine(NetworkTypes::kMaxBodyNodes) +
                  " nodes when they are written down step by step");
      return {};
    }
    frontend::NodeScope faults(*b.context(), each.shownName(),
                               each.shownOperator());
    b.setLocation(locateIn(outer, each));
    SmallVector<Value> operands;
    for (const IndexedGraph::Use &use : graph.inputs(id)) {
      operands.push_back(values[graph.entryId(use)]);
      if (!operands.back())
        unsupported("a read of the hidden output " +
                    graph.node(use.node).outputName(use.index));
    }
    SmallVector<Value> results;
    if (!b.failed())
      results = lowerNode(b, each, operands, network).results;
    b.setLocation(outer);
    if (b.failed())
      return {};
    for (uint32_t i = 0; i < results.size(); ++i)
      values[graph.entryId(id, i)] = results[i];
  }
  SmallVector<Value> outputs;
  for (const IndexedGraph::Use &use : graph.outputs()) {
    outputs.push_back(values[graph.entryId(use)]);
    if (!outputs.back() && !b.failed())
      unsupported("the hidden output " +
                  graph.node(use.node).outputName(use.index));
  }
  return b.failed() ? SmallVector<Value>() : outputs;
}

LoweredNode dlc::symbol::lowerNode(GraphBuilder &b, const Node &node,
                                   ArrayRef<Value> operands,
                                   NetworkState &network) {
  LoweringContext context(b, node, operands, network);
  node.op->lower(context);
  if (b.failed())
    return {};
  SmallVector<Value> results(context.outputs());
  for (size_t i = 0; i < node.visibleOutputCount(); ++i)
    if (!results[i]) {
      b.fail("internal: no value of output " + Twine(i));
      return {};
    }
  return {results, SmallVector<Value>(context.updates())};
}
