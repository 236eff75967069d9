// SPDX-License-Identifier: Apache-2.0

#include "LoweringContext.h"

#include "Names.h"

using namespace dlc::symbol;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;
using mlir::Value;

Value LoweringContext::named(std::string_view name) const {
  std::vector<std::string> names = node.op->inputNames(p);
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == name)
      return operands[i];
  return {};
}

bool LoweringContext::hasNumpyShapes() const {
  return node.attributes.contains(kNumpyShapeKey);
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
    unsupported(Twine(what) + " of a shape that is not known");
  return shape.value_or(Ints());
}

int64_t LoweringContext::axis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  if (!b.failed())
    fail("expected an axis from " + Twine(-rank) + " to " + Twine(rank - 1) +
         ", got " + Twine(axis));
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
