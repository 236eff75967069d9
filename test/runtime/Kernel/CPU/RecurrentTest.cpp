// SPDX-License-Identifier: Apache-2.0
//
// cpu.recurrent against the Reference kernels of the layers.

#include "KernelTesting.h"

#include "dlc/runtime/Kernel/Library.h"
#include "dlc/runtime/Kernel/Reference/Evaluate.h"

#include <bit>
#include <span>

using namespace dlc::rt;
using namespace dlc::rt::cpu;
using namespace dlc::rt::cpu::testing;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr size_t kBias = 3, kLengths = 4, kInitialH = 5, kInitialC = 6;

struct LayerCase {
  std::string cell;
  int64_t steps, batch, input, hidden;
  std::string direction = "forward";
  bool batchFirst = false, bias = true, lengths = false, initial = false,
       peepholes = false, isPacked = true;
  int64_t packing = 2; ///< Where it is.
  std::string activations = "";
  std::vector<double> alphas = {}, betas = {};
  double clip = 0;
  bool linearBeforeReset = false, inputForget = false;

  int64_t directions() const { return direction == "bidirectional" ? 2 : 1; }
  int64_t gates() const { return cell == "rnn" ? 1 : cell == "gru" ? 3 : 4; }
  size_t results() const { return cell == "lstm" ? 3 : 2; }
  std::string text() const {
    std::string text = cell + " " + direction + " " + activations;
    for (int64_t size : {steps, batch, input, hidden, packing})
      text += " " + std::to_string(size);
    for (bool flag : {batchFirst, bias, lengths, initial, peepholes, isPacked,
                      linearBeforeReset, inputForget})
      text += flag ? " 1" : " 0";
    return text;
  }
};

/// A layer with its operands' values, unpacked.
struct Layer {
  explicit Layer(const LayerCase &c);
  /// Values in [-scale, scale).
  void add(TensorType type, double scale);
  TensorView view(size_t input) const;
  /// Makes each row of R multiples of a number by bytes, of the last one by 0.
  void quantize();
  std::vector<std::vector<float>> reference() const;
  std::vector<std::vector<float>> run(Isa isa);
  KernelCall call() const { return {inputs, outputs, attributes}; }
  void pack();

  LayerCase c;
  Random random;
  std::vector<TensorType> inputs, outputs;
  mutable std::vector<GuardedBuffer> values;
  Attributes attributes;  ///< Of the entry.
  Attributes ofOperation; ///< Of the Graph operation.
};

Layer::Layer(const LayerCase &c)
    : c(c), random(c.steps * 1000 + c.batch * 100 + c.input * 10 + c.hidden) {
  const int64_t d = c.directions(), rows = c.gates() * c.hidden;
  auto states = [&] {
    return f32(c.batchFirst ? Shape{c.batch, d, c.hidden}
                            : Shape{d, c.batch, c.hidden});
  };
  auto scaleOf = [](int64_t terms) { return 1.5 / std::sqrt(double(terms)); };
  add(f32(c.batchFirst ? Shape{c.batch, c.steps, c.input}
                       : Shape{c.steps, c.batch, c.input}),
      1);
  add(f32({d, rows, c.input}), scaleOf(c.input));
  add(f32({d, rows, c.hidden}), scaleOf(c.hidden));
  add(c.bias ? f32({d, 2 * rows}) : TensorType(), 0.5);
  add(c.lengths ? TensorType{DLC_I32, {c.batch}} : TensorType(), 1);
  if (c.lengths)
    for (int64_t i = 0; i < c.batch; ++i) {
      auto length = static_cast<int32_t>(random.below(c.steps + 1));
      std::memcpy(values[kLengths].data() + i, &length, sizeof(length));
    }
  add(c.initial ? states() : TensorType(), 1);
  if (c.cell == "lstm") {
    add(c.initial ? states() : TensorType(), 1);
    add(c.peepholes ? f32({d, 3 * c.hidden}) : TensorType(), 1);
  }
  while (inputs.back().type == DLC_INVALID_TYPE) {
    inputs.pop_back();
    values.pop_back();
  }
  outputs = {f32(c.batchFirst ? Shape{c.batch, c.steps, d, c.hidden}
                              : Shape{c.steps, d, c.batch, c.hidden})};
  while (outputs.size() < c.results())
    outputs.push_back(states());
  ofOperation.set("direction", c.direction);
  ofOperation.set("layout", int64_t{c.batchFirst});
  ofOperation.set("hidden_size", c.hidden);
  ofOperation.set("activations", c.activations);
  ofOperation.set("activation_alpha", c.alphas);
  ofOperation.set("activation_beta", c.betas);
  ofOperation.set("clip", c.clip);
  if (c.cell == "gru")
    ofOperation.set("linear_before_reset", int64_t{c.linearBeforeReset});
  if (c.cell == "lstm")
    ofOperation.set("input_forget", int64_t{c.inputForget});
  attributes = ofOperation;
  attributes.set("cell", c.cell);
}

void Layer::add(TensorType type, double scale) {
  bool present = type.type != DLC_INVALID_TYPE;
  values.emplace_back(present ? *elementCount(type.shape) : 0);
  values.back().fill(random);
  for (int64_t i = 0; i < values.back().size(); ++i)
    values.back().data()[i] *= static_cast<float>(scale);
  inputs.push_back(std::move(type));
}

void Layer::quantize() {
  const int64_t rows = c.directions() * c.gates() * c.hidden;
  const float most = 1.5f / (128 * std::sqrt(float(c.hidden)));
  float *row = values[2].data();
  for (int64_t i = 0; i < rows; ++i, row += c.hidden) {
    const float step = i == rows - 1 ? 0 : most / float(1 + i % 7);
    for (int64_t j = 0; j < c.hidden; ++j)
      row[j] = step * static_cast<float>(random.below(256) - 128);
  }
}

TensorView Layer::view(size_t input) const {
  if (inputs[input].type == DLC_INVALID_TYPE)
    return {};
  return {inputs[input].type, inputs[input].shape, values[input].data()};
}

std::vector<std::vector<float>> Layer::reference() const {
  std::vector<TensorView> views;
  for (size_t i = 0; i < inputs.size(); ++i)
    views.push_back(view(i));
  std::vector<ref::OwnedTensor> results;
  Status status = ref::evaluate(*ref::lookup(c.cell), views, ofOperation,
                                c.results(), results);
  EXPECT_TRUE(status.isOk()) << status.message();
  std::vector<std::vector<float>> floats;
  for (const ref::OwnedTensor &result : results) {
    const auto *data = static_cast<const float *>(result.data());
    floats.emplace_back(data, data + *elementCount(result.shape()));
  }
  return floats;
}

/// Replaces weights by packed ones.
void Layer::pack() {
  const LibraryEntry *entry = lookupLibraryEntry("cpu.recurrent");
  attributes.set("packed_w", c.packing);
  std::vector<GuardedBuffer> packed;
  for (size_t operand : {1, 2}) {
    const size_t bytes = entry->packedBytes(call(), operand);
    packed.emplace_back(bytes / sizeof(float));
    entry->pack(call(), operand, values[operand].data(), packed.back().data());
    EXPECT_TRUE(packed.back().guardsIntact());
  }
  for (size_t operand : {1, 2}) {
    attributes.set(packedShapeName(operand), inputs[operand].shape);
    values[operand] = std::move(packed[operand - 1]);
    inputs[operand] = f32({values[operand].size()});
  }
}

/// Runs the call whole, then split at random and out of order; the bits agree.
/// The library's entry accepts it, too.
std::vector<std::vector<float>> Layer::run(Isa isa) {
  const LibraryEntry *entry = lookupLibraryEntry("cpu.recurrent");
  std::vector<TensorType> before = outputs;
  const size_t bytes = entry->workspaceBytes(call());
  if (bytes)
    outputs.push_back({DLC_I8, {static_cast<int64_t>(bytes)}});
  std::unique_ptr<PreparedKernel> kernel;
  Status status = entry->prepare(call(), kernel);
  EXPECT_TRUE(status.isOk()) << status.message();
  // The entry knows shapes before packing; tests of an instruction set say
  // them.
  std::vector<TensorType> logical = inputs;
  Attributes plain;
  for (const Attribute &attribute : attributes)
    if (!attribute.name.starts_with("packed_shape"))
      plain.set(attribute.name, attribute.value);
  for (size_t operand : {1, 2})
    if (attributes.has(packedShapeName(operand))) {
      auto shape = attributes.getInts(packedShapeName(operand));
      logical[operand].shape.assign(shape.begin(), shape.end());
    }
  status = prepareRecurrent({logical, outputs, plain}, isa, kernel);
  EXPECT_TRUE(status.isOk()) << status.message();
  std::vector<std::vector<float>> all[2];
  for (int turn = 0; turn < 2 && status.isOk(); ++turn) {
    std::vector<GuardedBuffer> results;
    for (const TensorType &type : before)
      results.emplace_back(*elementCount(type.shape));
    GuardedBuffer workspace(bytes / sizeof(float));
    std::vector<void *> arguments;
    for (size_t i = 0; i < inputs.size(); ++i)
      arguments.push_back(
          inputs[i].type == DLC_INVALID_TYPE ? nullptr : values[i].data());
    for (GuardedBuffer &result : results)
      arguments.push_back(result.data());
    arguments.push_back(workspace.data());
    EXPECT_TRUE(kernel->check(arguments.data()).isOk());
    for (const PreparedKernel *step = kernel.get(); step; step = step->next()) {
      Random random(step->tiles());
      for (int64_t end = step->tiles(); end > 0;) {
        const int64_t begin = turn == 0 ? 0 : random.below(end);
        step->run(arguments.data(), begin, end);
        end = begin;
      }
    }
    EXPECT_TRUE(workspace.guardsIntact());
    for (GuardedBuffer &value : values)
      EXPECT_TRUE(value.guardsIntact());
    for (GuardedBuffer &result : results) {
      EXPECT_TRUE(result.guardsIntact());
      all[turn].emplace_back(result.data(), result.data() + result.size());
    }
  }
  outputs = before;
  for (size_t i = 0; i < all[1].size(); ++i)
    for (size_t j = 0; j < all[1][i].size(); ++j)
      if (std::bit_cast<uint32_t>(all[0][i][j]) !=
          std::bit_cast<uint32_t>(all[1][i][j])) {
        ADD_FAILURE() << "the result depends on how the grid is split";
        return {};
      }
  return all[0];
}

bool isNear(float found, float expected, float error) {
  if (!std::isfinite(expected))
    return std::isnan(expected) ? std::isnan(found) : found == expected;
  return std::fabs(found - expected) <= error;
}

/// NaN and infinities are where the reference has them, the rest is within 4e-6
/// of the largest value.
void expectReference(Layer &layer) {
  SCOPED_TRACE(layer.c.text());
  const std::vector<std::vector<float>> expected = layer.reference();
  if (layer.c.isPacked)
    layer.pack();
  for (Isa isa : runnableIsas()) {
    SCOPED_TRACE(std::string(nameOf(isa)));
    const std::vector<std::vector<float>> found = layer.run(isa);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t k = 0; k < found.size(); ++k) {
      float largest = 0;
      for (float value : expected[k])
        if (std::isfinite(value))
          largest = std::max(largest, std::fabs(value));
      ASSERT_EQ(found[k].size(), expected[k].size());
      for (size_t i = 0; i < found[k].size(); ++i)
        if (!isNear(found[k][i], expected[k][i], 4e-6f * largest))
          FAIL() << "result " << k << " at " << i << ": expected "
                 << expected[k][i] << ", got " << found[k][i];
    }
  }
}

void expectReference(const LayerCase &c) {
  Layer layer(c);
  expectReference(layer);
}

/// Draws what a layer may have or not.
void drawOptions(LayerCase &c, Random &random) {
  for (bool *option : {&c.batchFirst, &c.bias, &c.lengths, &c.initial,
                       &c.peepholes, &c.linearBeforeReset, &c.inputForget})
    *option = random.below(2) == 1;
}

constexpr const char *kCells[] = {"rnn", "gru", "lstm"};
constexpr const char *kDirections[] = {"forward", "reverse", "bidirectional"};

TEST(RecurrentTest, SizesAndOptions) {
  constexpr int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 65};
  Random random(7);
  for (const char *cell : kCells)
    for (int64_t hidden : sizes)
      for (int turn = 0; turn < 8; ++turn) {
        LayerCase c{cell,
                    1 + random.below(6),
                    1 + random.below(9),
                    sizes[random.below(14)],
                    hidden,
                    kDirections[random.below(3)]};
        drawOptions(c, random);
        c.isPacked = random.below(2) == 1;
        c.clip = random.below(2) == 1 ? 0.5 : 0;
        expectReference(c);
      }
}

TEST(RecurrentTest, LongSequences) {
  for (const char *cell : kCells)
    expectReference({cell, 64, 1, 48, 96, "bidirectional"});
  LayerCase linear{"gru", 64, 1, 48, 96};
  linear.linearBeforeReset = true;
  expectReference(linear);
}

// Sequences that come in several parts, and in tiles of the most rows.
TEST(RecurrentTest, SeveralParts) {
  for (bool batchFirst : {false, true}) {
    LayerCase c{"rnn", 150, 900, 1, 4, "bidirectional"};
    c.batchFirst = c.lengths = batchFirst;
    expectReference(c);
  }
}

// More terms than are summed at a time.
TEST(RecurrentTest, WideStates) {
  for (const char *cell : kCells)
    for (int64_t packing : {1, 2}) {
      LayerCase c{cell, 2, 1, 3, 520};
      c.packing = packing;
      expectReference(c);
    }
}

// Units that threads share, of each step; the last block has few of them.
TEST(RecurrentTest, SharedUnits) {
  Random random(11);
  constexpr int64_t few[] = {195, 208, 320}, many[] = {363, 384, 420};
  constexpr int64_t batches[] = {1, 2, 7, 50};
  for (const char *cell : kCells)
    for (int turn = 0; turn < 8; ++turn) {
      const bool isWide = std::string(cell) == "rnn";
      LayerCase c{cell,
                  1 + random.below(4),
                  batches[random.below(4)],
                  5,
                  (isWide ? many : few)[random.below(3)],
                  kDirections[random.below(3)]};
      drawOptions(c, random);
      expectReference(c);
    }
}

// R as bytes, also of more rows than are multiplied at a time.
TEST(RecurrentTest, Bytes) {
  constexpr int64_t sizes[] = {1, 5, 16, 33, 65, 195, 260},
                    batches[] = {1, 3, 9};
  Random random(13);
  for (const char *cell : kCells)
    for (int64_t hidden : sizes)
      for (int64_t batch : batches) {
        LayerCase c{cell,   1 + random.below(5),         batch, 6,
                    hidden, kDirections[random.below(3)]};
        drawOptions(c, random);
        c.packing = 3;
        Layer layer(c);
        layer.quantize();
        expectReference(layer);
      }
}

// States so large that sums of products with bytes would be infinite, and one
// that is.
TEST(RecurrentTest, LargeStatesAndBytes) {
  for (float state : {1e37f, -3e38f, kInfinity, std::nanf("")}) {
    LayerCase c{"rnn", 3, 5, 4, 65};
    c.packing = 3;
    c.initial = true;
    c.activations = "Affine";
    c.alphas = {0.01};
    c.betas = {0};
    Layer layer(c);
    layer.quantize();
    layer.values[kInitialH].data()[70] = state;
    expectReference(layer);
  }
}

// A small state is not lost beside the large one of another sequence.
TEST(RecurrentTest, StatesOfSequencesAndBytes) {
  LayerCase c{"rnn", 1, 6, 4, 65};
  c.packing = 3;
  c.initial = c.batchFirst = true;
  c.bias = false;
  c.activations = "Affine";
  c.alphas = {1};
  c.betas = {0};
  Layer layer(c);
  layer.quantize();
  float *x = layer.values[0].data(), *h = layer.values[kInitialH].data();
  std::fill_n(x, layer.values[0].size(), 0.0f);
  for (int64_t i = 0; i < 65; ++i) {
    h[2 * 65 + i] *= 1e37f;
    h[4 * 65 + i] *= 1e-30f;
  }
  const std::vector<float> expected = layer.reference()[0];
  layer.pack();
  for (Isa isa : runnableIsas()) {
    const std::vector<float> found = layer.run(isa)[0];
    for (int64_t sequence = 0; sequence < 6; ++sequence) {
      const auto row = std::span(expected).subspan(sequence * 65, 65);
      const float largest = std::fabs(*std::ranges::max_element(
          row, {}, [](float value) { return std::fabs(value); }));
      for (int64_t i = 0; i < 65; ++i)
        EXPECT_NEAR(found[sequence * 65 + i], row[i], 4e-6f * largest)
            << sequence << " " << i;
    }
  }
}

TEST(RecurrentTest, PacksMultiplesAsBytes) {
  const LibraryEntry *entry = lookupLibraryEntry("cpu.recurrent");
  auto packingOf = [&](Layer &layer, bool isConstant = true) {
    const void *values[] = {nullptr, layer.values[1].data(),
                            isConstant ? layer.values[2].data() : nullptr};
    return entry->packingOf(layer.call(), values);
  };
  Layer wide({"lstm", 2, 1, 4, 256}), narrow({"lstm", 2, 1, 4, 128});
  EXPECT_EQ(packingOf(wide), 2) << "of any floats";
  wide.quantize();
  narrow.quantize();
  EXPECT_EQ(packingOf(wide), 3);
  EXPECT_EQ(packingOf(wide, false), 2);
  EXPECT_EQ(packingOf(narrow), 2) << "caches hold it";
  // 128 steps up are one too many, 128 down are not.
  float *row = wide.values[2].data() + 100 * 256;
  for (int64_t j = 0; j < 256; ++j)
    row[j] = 0.5f * static_cast<float>(j % 127 + 1);
  EXPECT_EQ(packingOf(wide), 3);
  row[255] = -64;
  EXPECT_EQ(packingOf(wide), 3);
  row[255] = 64;
  EXPECT_EQ(packingOf(wide), 2);
  for (float other : {0.1f, std::nextafter(0.5f, 1.0f) * 1.00001f, kInfinity,
                      std::nanf(""), 1e-30f}) {
    row[255] = other;
    EXPECT_EQ(packingOf(wide), 2) << other;
  }
}

TEST(RecurrentTest, Activations) {
  struct {
    const char *name;
    std::vector<double> alphas, betas;
  } const activations[] = {
      {"Affine", {0.75}, {0.25}},
      {"Elu", {0.75}, {}},
      {"HardSigmoid", {0.3}, {0.4}},
      {"LeakyRelu", {0.125}, {}},
      {"Relu", {}, {}},
      {"ScaledTanh", {1.25}, {0.75}},
      {"Sigmoid", {}, {}},
      {"Softplus", {}, {}},
      {"Softsign", {}, {}},
      {"Tanh", {}, {}},
      {"ThresholdedRelu", {0.25}, {}},
  };
  for (const auto &activation : activations) {
    LayerCase rnn{"rnn", 3, 2, 20, 37};
    rnn.activations = activation.name;
    rnn.alphas = activation.alphas;
    rnn.betas = activation.betas;
    expectReference(rnn);
    LayerCase gru{"gru", 3, 2, 20, 37, "bidirectional"};
    gru.activations = "HardSigmoid,Tanh,Sigmoid," + rnn.activations;
    gru.alphas = activation.alphas;
    gru.betas = activation.betas;
    gru.alphas.insert(gru.alphas.begin(), 0.2);
    gru.betas.insert(gru.betas.begin(), 0.5);
    expectReference(gru);
    LayerCase lstm{"lstm", 3, 2, 20, 37};
    lstm.activations = "Sigmoid,Tanh," + rnn.activations;
    lstm.alphas = activation.alphas;
    lstm.betas = activation.betas;
    expectReference(lstm);
  }
}

// Results near zero keep their digits.
TEST(RecurrentTest, SmallValues) {
  for (const char *activation : {"Elu", "Tanh", "Softsign", "ScaledTanh"}) {
    LayerCase c{"rnn", 2, 1, 5, 17};
    c.bias = false;
    c.activations = activation;
    Layer layer(c);
    for (int64_t i = 0; i < layer.values[0].size(); ++i)
      layer.values[0].data()[i] *= 1e-6f;
    expectReference(layer);
  }
}

// States are the initial ones, also where threads would share units.
TEST(RecurrentTest, NoSteps) {
  for (const char *cell : kCells)
    for (int64_t hidden : {5, 400})
      for (bool isPacked : {false, true}) {
        LayerCase c{cell, 0, 3, 4, hidden, "bidirectional"};
        c.initial = true;
        c.isPacked = isPacked;
        expectReference(c);
      }
  for (int64_t hidden : {5, 400})
    expectReference({"lstm", 3, 0, 4, hidden});
}

TEST(RecurrentTest, NotFinite) {
  const float specials[] = {kInfinity, -kInfinity, std::nanf("")};
  for (const char *cell : kCells)
    for (const char *activation : {"", "Relu", "HardSigmoid", "Softplus"})
      for (size_t input :
           {size_t{0}, size_t{1}, size_t{2}, kBias, kInitialH, kInitialC})
        for (float special : specials) {
          LayerCase c{cell, 3, 2, 4, 9};
          c.initial = true;
          c.lengths = true;
          const size_t functions = c.cell == "gru" ? 2 : c.gates() == 1 ? 1 : 3;
          for (size_t i = 0; *activation && i < functions; ++i)
            c.activations += std::string(i ? "," : "") + activation;
          Layer layer(c);
          if (input >= layer.values.size())
            continue;
          layer.values[input].data()[layer.values[input].size() / 2] = special;
          expectReference(layer);
        }
}

TEST(RecurrentTest, ChecksLengths) {
  LayerCase c{"gru", 4, 3, 2, 2};
  c.lengths = true;
  Layer layer(c);
  layer.outputs.push_back(
      {DLC_I8,
       {static_cast<int64_t>(lookupLibraryEntry("cpu.recurrent")
                                 ->workspaceBytes(layer.call()))}});
  std::unique_ptr<PreparedKernel> kernel;
  ASSERT_TRUE(prepareRecurrent(layer.call(), Isa::Baseline, kernel).isOk());
  for (int32_t length : {-1, 0, 4, 5}) {
    int32_t lengths[] = {4, 0, length};
    void *arguments[9] = {nullptr, nullptr, nullptr, nullptr, lengths};
    Status status = kernel->check(arguments);
    EXPECT_EQ(status.isOk(), length >= 0 && length <= 4);
    if (!status.isOk())
      EXPECT_EQ(status.message(), "expected sequence lengths in [0, 4], got " +
                                      std::to_string(length));
  }
}

std::string whyNot(const Layer &layer) {
  std::unique_ptr<PreparedKernel> kernel;
  const LibraryEntry *entry = lookupLibraryEntry("cpu.recurrent");
  std::string why;
  bool isSupported = entry->isSupported(layer.call(), why);
  EXPECT_FALSE(entry->prepare(layer.call(), kernel).isOk());
  EXPECT_EQ(isSupported, why.empty());
  return why;
}

TEST(RecurrentTest, RefusesOtherCalls) {
  const LayerCase good{"lstm", 2, 3, 4, 5};
  auto refused = [&](auto &&change) {
    Layer layer(good);
    change(layer);
    return whyNot(layer);
  };
  auto set = [&](const char *name, auto value) {
    return refused([&](Layer &l) { l.attributes.set(name, value); });
  };
  EXPECT_EQ(set("cell", "qrnn"),
            "expected attribute 'cell' to be rnn, gru or lstm, got 'qrnn'");
  EXPECT_EQ(set("packed_w", int64_t{4}),
            "expected attribute 'packed_w' to be 0, 1, 2 or 3, got 4");
  EXPECT_NE(set("size", int64_t{2}).find("got 'size'"), std::string::npos);
  EXPECT_EQ(set("hidden_size", int64_t{6}),
            "operand 2: expected dimension 2 to be 6, got 5");
  EXPECT_EQ(set("direction", "up"),
            "attribute direction: expected forward, reverse or bidirectional, "
            "got up");
  EXPECT_EQ(set("activations", "Sigmoid,Sine,Tanh"),
            "attribute activations: expected the name of an activation, got "
            "\"Sine\"");
  EXPECT_EQ(refused([](Layer &l) { l.inputs.resize(2); }),
            "expected 3 to 8 operands, got 2");
  EXPECT_EQ(refused([](Layer &l) { l.inputs[0].type = DLC_F64; }),
            "expected input 0 to be f32, got 2x3x4xf64");
  EXPECT_EQ(refused([](Layer &l) { l.inputs[0].shape[0] = -1; }),
            "expected input 0 to have a static shape, got ?x3x4xf32");
  EXPECT_EQ(refused([](Layer &l) { l.inputs[2].shape = {1, 20, 6}; }),
            "operand 2: expected dimension 2 to be 5, got 6");
  EXPECT_EQ(refused([](Layer &l) { l.inputs.push_back({DLC_I64, {3}}); }),
            "expected input 4 to be i32, got 3xi64");
  EXPECT_EQ(refused([](Layer &l) { l.outputs.pop_back(); }),
            "expected at least 3 outputs, got 2");
  EXPECT_EQ(refused([](Layer &l) { l.outputs[1].shape = {3, 1, 5}; }),
            "expected output 1 to be 1x3x5xf32, got 3x1x5xf32");
  EXPECT_EQ(refused([](Layer &l) {
              l.inputs[0].shape[2] = l.inputs[1].shape[2] = 0;
            }),
            "expected inputs and states with elements, got 2x3x0xf32 and "
            "1x20x5xf32");
  // Without the workspace, and with one that is too small.
  EXPECT_EQ(refused([](Layer &) {}), "");
  EXPECT_EQ(refused([](Layer &l) { l.outputs.push_back({DLC_I8, {16}}); }), "");
  // Packed weights of another size.
  EXPECT_EQ(refused([](Layer &l) {
              l.pack();
              l.outputs.push_back({DLC_I8, {1 << 20}});
              l.inputs[2].shape[0] -= 16;
            }),
            "");
}

TEST(RecurrentTest, Cost) {
  Layer layer({"lstm", 10, 2, 3, 5, "bidirectional"});
  KernelCost cost = lookupLibraryEntry("cpu.recurrent")->cost(layer.call());
  EXPECT_EQ(cost.flops, 2u * 10 * 2 * 2 * 20 * (3 + 5));
}

// The workspace does not grow with the sequence.
TEST(RecurrentTest, Workspace) {
  auto bytesOf = [](int64_t steps) {
    Layer layer({"gru", 1, 1, 1, 64});
    layer.inputs[0].shape[0] = layer.outputs[0].shape[0] = steps;
    return lookupLibraryEntry("cpu.recurrent")->workspaceBytes(layer.call());
  };
  EXPECT_LT(bytesOf(64), bytesOf(6400));
  EXPECT_EQ(bytesOf(6400), bytesOf(640000));
}

} // namespace
