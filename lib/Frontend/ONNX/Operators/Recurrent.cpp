// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers.

#include "Quantization.h"
#include "Simple.h"

#include "llvm/ADT/StringExtras.h"

using namespace dlc::onnx;
using mlir::Value;

namespace {
/// Attributes with the storage they refer to.
struct LayerAttributes {
  std::string activations;
  llvm::SmallVector<float> alpha, beta;
  llvm::SmallVector<NamedValue> list;
};
} // namespace

/// The attributes that the three layers share. `defaults` are the activations
/// of one direction, `hidden` the units that the weights are for.
static void readLayer(NodeContext &n, llvm::ArrayRef<llvm::StringRef> defaults,
                      int64_t hidden, LayerAttributes &attributes) {
  if (n.opset < 7)
    n.ignore({"output_sequence"});
  llvm::StringRef direction = n.getString("direction", "forward");
  // The schema of version 1 of GRU had this default.
  if (direction == "foward")
    direction = "forward";
  if (!llvm::is_contained({"forward", "reverse", "bidirectional"}, direction))
    return n.fail("expected attribute 'direction' to be one of forward, "
                  "reverse, bidirectional, got '" +
                  direction + "'");
  size_t directions = direction == "bidirectional" ? 2 : 1;
  llvm::SmallVector<llvm::StringRef> names = n.getStrings("activations");
  if (names.empty())
    for (size_t i = 0; i < directions; ++i)
      names.append(defaults.begin(), defaults.end());
  // RNN's schema gives two names as the default of every direction.
  names.truncate(std::min(names.size(), directions * defaults.size()));
  if (names.size() != directions * defaults.size())
    return n.fail("expected " + llvm::Twine(directions * defaults.size()) +
                  " activations, got " + llvm::Twine(names.size()));
  attributes.activations = llvm::join(names, ",");
  attributes.alpha = n.getFloats("activation_alpha");
  attributes.beta = n.getFloats("activation_beta");
  int64_t declared = n.getInt("hidden_size", hidden);
  if (mlir::ShapedType::isDynamic(declared))
    return n.fail("expected attribute 'hidden_size'");
  if (!mlir::ShapedType::isDynamic(hidden) && hidden != declared)
    return n.fail("expected attribute 'hidden_size' to be " +
                  llvm::Twine(hidden) + ", as the weights are, got " +
                  llvm::Twine(declared));
  attributes.list = {
      {"direction", direction},
      {"hidden_size", declared},
      {"activations", llvm::StringRef(attributes.activations)},
      {"activation_alpha", llvm::ArrayRef<float>(attributes.alpha)},
      {"activation_beta", llvm::ArrayRef<float>(attributes.beta)},
      {"clip", n.getFloat("clip", 0.0f)}};
  if (n.opset >= 14)
    attributes.list.push_back({"layout", n.getInt("layout", 0)});
}

static int64_t unitsOf(NodeContext &n) {
  return GraphBuilder::dimOf(n.in(2), 2);
}

static llvm::SmallVector<Value> operandsOf(NodeContext &n, size_t count) {
  llvm::SmallVector<Value> operands;
  for (size_t i = 0; i < count; ++i)
    operands.push_back(n.b.orNone(n.in(i)));
  return operands;
}

static void importRNN(NodeContext &n) {
  LayerAttributes attributes;
  readLayer(n, {"Tanh"}, unitsOf(n), attributes);
  n.setAll(n.b.ops("rnn", operandsOf(n, 6), attributes.list));
}

static void importGRU(NodeContext &n) {
  LayerAttributes attributes;
  readLayer(n, {"Sigmoid", "Tanh"}, unitsOf(n), attributes);
  bool before = n.opset >= 3 && n.getBool("linear_before_reset", false);
  attributes.list.push_back({"linear_before_reset", before});
  n.setAll(n.b.ops("gru", operandsOf(n, 6), attributes.list));
}

static void buildLSTM(NodeContext &n, int64_t hidden,
                      llvm::ArrayRef<Value> operands) {
  LayerAttributes attributes;
  readLayer(n, {"Sigmoid", "Tanh", "Tanh"}, hidden, attributes);
  attributes.list.push_back({"input_forget", n.getBool("input_forget", false)});
  n.setAll(n.b.ops("lstm", operands, attributes.list));
}

static void importLSTM(NodeContext &n) {
  buildLSTM(n, unitsOf(n), operandsOf(n, 8));
}

/// Weights of directions, [directions][terms][units of gates], as floats and
/// turned round; a scale and a zero point for each direction or unit are behind
/// operand `place`.
static Value weightsOf(NodeContext &n, Value weights, size_t place) {
  auto alongUnits = [&](Value parameter) {
    const bool isOfUnits = GraphBuilder::rankOf(parameter) == 2;
    return n.b.unsqueeze(parameter, isOfUnits ? Ints{1} : Ints{1, 2});
  };
  Value x = n.b.cast(weights, n.b.f32());
  if (n.has(place + 1))
    x = n.b.sub(x, alongUnits(n.b.cast(n.in(place + 1), n.b.f32())));
  return n.b.transpose(n.b.mul(x, alongUnits(n.in(place))), {0, 2, 1});
}

void dlc::onnx::importDynamicQuantizeLSTM(NodeContext &n) {
  for (size_t place : {1, 2, 8, 10})
    if (!n.has(place))
      return n.fail("expected input " + llvm::Twine(unsigned(place)));
  const int64_t hidden = GraphBuilder::dimOf(n.in(2), 1);
  llvm::SmallVector<Value> operands = operandsOf(n, 8);
  operands[1] = weightsOf(n, n.in(1), 8);
  operands[2] = weightsOf(n, n.in(2), 10);
  buildLSTM(n, hidden, operands);
}

static constexpr Operator rows[] = {
    {"GRU", 1, 3, 6, 2, importGRU},
    {"LSTM", 1, 3, 8, 3, importLSTM},
    {"RNN", 1, 3, 6, 2, importRNN},
};

llvm::ArrayRef<Operator> dlc::onnx::recurrentOperators() { return rows; }
