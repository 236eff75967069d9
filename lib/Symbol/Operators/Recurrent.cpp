// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers, whose weights are one vector: for each layer and direction
// those of the data and those of the state, then in the same order the biases
// of both.

#include "Rules.h"

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

static int64_t gatesOf(const std::string &mode) {
  return mode == "lstm" ? 4 : mode == "gru" ? 3 : 1;
}

static int64_t directionsOf(const Parameters &p) {
  return p.getBool("bidirectional") ? 2 : 1;
}

/// Elements of the vector of weights; unknown where it overflows.
static int64_t weightCount(const Parameters &p, int64_t input) {
  int64_t size = p.getInt("state_size"), directions = directionsOf(p);
  if (input == rt::kUnknownDim)
    return rt::kUnknownDim;
  int64_t all = 0;
  for (int64_t layer = 0; layer < p.getInt("num_layers"); ++layer) {
    int64_t row = layer ? size * directions : input, part = 0;
    if (__builtin_add_overflow(row, size + 2, &part) ||
        __builtin_mul_overflow(
            part, size * gatesOf(p.getText("mode")) * directions, &part) ||
        __builtin_add_overflow(all, part, &all))
      return rt::kUnknownDim;
  }
  return all;
}

static void relateRnn(ShapeRelation &r) {
  const Parameters &p = r.parameters;
  int64_t batch = r.inputDim(0, 1);
  std::vector<int64_t> state = {p.getInt("num_layers") * directionsOf(p), batch,
                                p.getInt("state_size")};
  r.setInput(0, std::vector<int64_t>(3, rt::kUnknownDim));
  r.setInput(1, std::vector{weightCount(p, r.inputDim(0, 2))});
  r.setInput(2, state);
  bool isLstm = p.getText("mode") == "lstm";
  if (isLstm)
    r.setInput(3, state);
  r.setInput(isLstm ? 4 : 3, std::vector{batch});
}

namespace {
/// Cuts the vector of weights into matrices and biases.
class Weights {
public:
  Weights(LoweringContext &n, Value all) : n(n), all(all) {}

  /// The next `rows` x `columns` elements, or `rows` without columns.
  Value take(int64_t rows, int64_t columns) {
    int64_t count = columns ? rows * columns : rows;
    Value part = n.b.slice(all, 0, at, at + count);
    at += count;
    return columns ? n.b.reshape(part, {rows, columns}) : part;
  }

private:
  LoweringContext &n;
  Value all;
  int64_t at = 0;
};

struct Layer {
  llvm::SmallVector<Value> w, r, b;
};
} // namespace

/// The gates in ONNX's order: MXNet's are i, f, c, o and r, z, o.
static Value reordered(LoweringContext &n, Value x, int64_t size) {
  const std::string &mode = n.p.getText("mode");
  if (gatesOf(mode) == 1)
    return x;
  llvm::SmallVector<int64_t> order =
      mode == "lstm" ? llvm::SmallVector<int64_t>{0, 3, 1, 2}
                     : llvm::SmallVector<int64_t>{1, 0, 2};
  llvm::SmallVector<Value> parts;
  for (int64_t gate : order)
    parts.push_back(n.b.slice(x, 0, gate * size, (gate + 1) * size));
  return n.b.concat(parts, 0);
}

static std::vector<Layer> readWeights(LoweringContext &n, int64_t input) {
  int64_t size = n.p.getInt("state_size"), directions = directionsOf(n.p);
  int64_t rows = size * gatesOf(n.p.getText("mode"));
  std::vector<Layer> layers(n.p.getInt("num_layers"));
  Weights weights(n, n.in(1));
  for (size_t i = 0; i < layers.size(); ++i)
    for (int64_t direction = 0; direction < directions; ++direction) {
      layers[i].w.push_back(reordered(
          n, weights.take(rows, i ? size * directions : input), size));
      layers[i].r.push_back(reordered(n, weights.take(rows, size), size));
    }
  for (Layer &layer : layers)
    for (int64_t direction = 0; direction < directions; ++direction) {
      Value ofData = reordered(n, weights.take(rows, 0), size);
      Value ofState = reordered(n, weights.take(rows, 0), size);
      layer.b.push_back(n.b.concat({ofData, ofState}, 0));
    }
  return layers;
}

/// One matrix or vector for each direction.
static Value stacked(LoweringContext &n, llvm::ArrayRef<Value> parts) {
  llvm::SmallVector<Value> rows;
  for (Value part : parts)
    rows.push_back(n.b.unsqueeze(part, {0}));
  return rows.size() == 1 ? rows[0] : n.b.concat(rows, 0);
}

static llvm::SmallVector<Value> runLayer(LoweringContext &n, Value x,
                                         const Layer &layer, Value lengths,
                                         Value state, Value cell) {
  const std::string &mode = n.p.getText("mode");
  bool isLstm = mode == "lstm", isTwo = layer.w.size() == 2;
  llvm::SmallVector<Value> operands = {x,
                                       stacked(n, layer.w),
                                       stacked(n, layer.r),
                                       stacked(n, layer.b),
                                       lengths,
                                       state};
  if (isLstm)
    operands.append({cell, n.b.none()});
  llvm::SmallVector<NamedValue> attributes = {
      {"hidden_size", n.p.getInt("state_size")},
      {"direction", isTwo ? "bidirectional" : "forward"}};
  if (mode == "gru")
    attributes.push_back({"linear_before_reset", true});
  if (mode == "rnn_relu")
    attributes.push_back({"activations", isTwo ? "Relu,Relu" : "Relu"});
  llvm::StringRef name = isLstm ? "lstm" : mode == "gru" ? "gru" : "rnn";
  return n.b.ops(name, operands, attributes);
}

/// What is dropped between layers while training is not.
static bool checkParameters(LoweringContext &n) {
  for (const char *name : {"projection_size", "lstm_state_clip_min",
                           "lstm_state_clip_max", "lstm_state_clip_nan"})
    n.expectDefault(name);
  if (n.isTraining() && n.p.getFloat("p") > 0 && n.p.getInt("num_layers") > 1)
    n.unsupported("dropout between layers while training");
  return !n.b.failed();
}

static void lowerRnn(LoweringContext &n) {
  Value x = n.in(0);
  Ints shape = n.shape(x, "a recurrent layer");
  if (n.b.failed() || !checkParameters(n))
    return;
  if (shape.size() != 3)
    return n.fail("expected data of 3 dimensions, got " + Twine(shape.size()));
  int64_t directions = directionsOf(n.p), size = n.p.getInt("state_size");
  bool isLstm = n.p.getText("mode") == "lstm";
  if (int64_t count = weightCount(n.p, shape[2]);
      GraphBuilder::dimOf(n.in(1), 0) != count)
    return n.fail("expected " + Twine(count) + " elements of 'parameters'");
  Value lengths = n.named("sequence_length");
  lengths =
      lengths ? n.b.cast(lengths, n.b.opBuilder().getI32Type()) : n.b.none();
  std::vector<Layer> layers = readWeights(n, shape[2]);
  llvm::SmallVector<Value> states, cells;
  for (size_t i = 0; i < layers.size() && !n.b.failed(); ++i) {
    auto part = [&](size_t index) {
      auto first = static_cast<int64_t>(i) * directions;
      return n.b.slice(n.in(index), 0, first, first + directions);
    };
    auto results =
        runLayer(n, x, layers[i], lengths, part(2), isLstm ? part(3) : Value());
    // (steps, directions, batch, size)
    x = n.b.reshapeTo(n.b.transpose(results[0], {0, 2, 1, 3}),
                      {shape[0], shape[1], directions * size});
    states.push_back(results[1]);
    if (isLstm)
      cells.push_back(results[2]);
  }
  if (n.b.failed())
    return;
  n.set(0, x);
  if (!n.p.getBool("state_outputs"))
    return;
  n.set(1, n.b.concat(states, 0));
  if (isLstm)
    n.set(2, n.b.concat(cells, 0));
}

static void relateRnnTypes(TypeRelation &r) {
  bool hasLengths = r.parameters.getBool("use_sequence_length");
  size_t floats = r.inputCount() - (hasLengths ? 1 : 0);
  for (size_t i = 1; i < floats; ++i)
    r.equateInputs(0, i);
  for (size_t i = 0; i < r.outputCount(); ++i)
    r.equate(0, i);
}

std::span<const Operator> dlc::symbol::recurrentOperators() {
  static const std::vector<Operator> rows = {
      {.name = "RNN",
       .aliases = {"_npx_rnn"},
       .summary = "Recurrent layers over sequences",
       .details = "Data are (steps, batch, channels). `parameters` has, for "
                  "each layer and direction, the weights of the data and of "
                  "the state, gate by gate (LSTM: in, forget, cell, out; GRU: "
                  "reset, update, new), then in that order the biases of "
                  "both.",
       .parameters =
           {required("state_size", ParameterKind::Int, "Size of the state.")
                .within(1, 1 << 20),
            required("num_layers", ParameterKind::Int, "Number of layers.")
                .within(1, 1 << 10),
            optional("bidirectional", ParameterKind::Bool, "False",
                     "Two directions, side by side."),
            requiredChoice("mode", {"gru", "lstm", "rnn_relu", "rnn_tanh"},
                           "What a step computes."),
            optional("p", ParameterKind::Float, "0",
                     "Part that is dropped between layers while training, "
                     "which is not supported."),
            optional("state_outputs", ParameterKind::Bool, "False",
                     "Give the last states too."),
            optional("projection_size", ParameterKind::Int, "None",
                     "Not supported."),
            optional("lstm_state_clip_min", ParameterKind::Float, "None",
                     "Not supported."),
            optional("lstm_state_clip_max", ParameterKind::Float, "None",
                     "Not supported."),
            optional("lstm_state_clip_nan", ParameterKind::Bool, "False",
                     "Not supported."),
            optional("use_sequence_length", ParameterKind::Bool, "False",
                     "Take lengths of sequences as an input.")},
       .inputs = {{"data"},
                  {"parameters"},
                  {"state"},
                  {"state_cell", when("mode", "lstm")},
                  {"sequence_length", when("use_sequence_length")}},
       .outputs = {{"output"},
                   {"state_output", when("state_outputs"),
                    when("state_outputs")},
                   {"statecell_output", when("mode", "lstm"),
                    when("state_outputs")}},
       .relateShapes = relateRnn,
       .relateTypes = relateRnnTypes,
       .lower = lowerRnn},
  };
  return rows;
}
