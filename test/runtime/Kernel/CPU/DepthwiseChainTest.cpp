// SPDX-License-Identifier: Apache-2.0
//
// cpu.depthwise_chain against its convolutions one by one, which it equals to
// the bit, and against convolutions in double.

#include "ConvTesting.h"
#include "RoundedTesting.h"

#include <atomic>
#include <optional>
#include <thread>

using namespace dlc::rt;
using namespace dlc::rt::cpu;
using namespace dlc::rt::cpu::testing;

namespace {

/// What of a convolution in a chain is its own.
struct StageCase {
  int64_t outChannels;
  Shape kernel;
  Shape strides = {}, pads = {}, dilations = {};
  std::string activation = {};
};

struct ChainCase {
  int64_t batch, channels;
  Shape in;
  std::optional<StageCase> front;
  StageCase depthwise; ///< It has the channels that it reads.
  std::optional<StageCase> last;
  bool blockedX = true, blockedY = true;
  bool bias = true, residual = false;
};

/// A chain as calls of cpu.conv, in order, and as one.
struct ChainCalls {
  explicit ChainCalls(const ChainCase &c);
  /// The result of one call after the other.
  std::vector<float> runApart(Isa isa);
  /// The same of plain tensors in double, in the layout of the result.
  std::vector<double> expected();
  void pack(int64_t form = 1);
  /// Bfloat16 holds x and a residual.
  void roundEnds();
  /// Floats are rounded to bfloat16, packed in that form: of blocks alone in
  /// the first.
  void round(int64_t form);

  std::vector<ConvCase> cases;
  std::vector<Call> plain, stages;
  Call chain;
  std::vector<GuardedBuffer> unpacked; ///< Operands of the chain at first.
  bool blockedY;
};

} // namespace

ChainCalls::ChainCalls(const ChainCase &c) : blockedY(c.blockedY) {
  static constexpr const char *prefixes[] = {"front_", "", "last_"};
  const std::optional<StageCase> all[] = {c.front, c.depthwise, c.last};
  const size_t end = c.last ? 2 : 1;
  chain.inputs.resize(8);
  for (int i = 0; i < 8; ++i)
    chain.values.emplace_back(0);
  int64_t channels = c.channels;
  Shape in = c.in;
  for (size_t i = 0; i < 3; ++i) {
    if (!all[i])
      continue;
    const StageCase &stage = *all[i];
    const int64_t out = i == 1 ? channels : stage.outChannels;
    cases.push_back({c.batch, channels, in, out, stage.kernel, stage.strides,
                     stage.pads, stage.dilations, i == 1 ? channels : 1, c.bias,
                     i == end && c.residual, stage.activation});
    channels = out;
    in = outputDims(cases.back());
    plain.push_back(makeCall(cases.back()));
    Call own = plain.back();
    const bool isFirst = stages.empty();
    if (!isFirst || c.blockedX)
      blockInput(own, 0);
    if (i != end || c.blockedY) {
      own.output = blockedType(own.output);
      own.attributes.set("channel_block", int64_t{16});
      if (own.inputs.size() > 3)
        blockInput(own, 3);
    }
    auto take = [&](size_t from, size_t to) {
      chain.inputs[to] = own.inputs[from];
      chain.values[to] = own.values[from];
    };
    if (isFirst)
      take(0, 0);
    take(1, 1 + 2 * i);
    if (c.bias)
      take(2, 2 + 2 * i);
    if (own.inputs.size() > 3)
      take(3, 7);
    for (const Attribute &attribute : plain.back().attributes)
      if (attribute.name != "group" &&
          (i != 2 || attribute.name == "activation" ||
           attribute.name == "alpha" || attribute.name == "beta"))
        chain.attributes.set(prefixes[i] + attribute.name, attribute.value);
    chain.output = own.output;
    own.attributes.set("packed_w", int64_t{1});
    packW(own);
    stages.push_back(std::move(own));
  }
  if (c.blockedY)
    chain.attributes.set("channel_block", int64_t{16});
  unpacked = chain.values;
}

std::vector<float> ChainCalls::runApart(Isa isa) {
  std::vector<float> values;
  for (Call &stage : stages) {
    if (!values.empty())
      std::copy(values.begin(), values.end(), stage.values[0].data());
    values = runCall(stage, prepareConv, isa);
    // In front of a depthwise one, which has operands of floats.
    if (&stage != &stages.back() && stage.attributes.getInt("bf16_parts", 0))
      std::transform(values.begin(), values.end(), values.begin(), rounded);
  }
  return values;
}

std::vector<double> ChainCalls::expected() {
  std::vector<double> values;
  for (size_t i = 0; i < plain.size(); ++i) {
    if (!values.empty())
      std::copy(values.begin(), values.end(), plain[i].values[0].data());
    values = reference(cases[i], plain[i]);
  }
  if (!blockedY)
    return values;
  std::vector<float> own(values.begin(), values.end());
  own = blocked(own.data(), plain.back().output);
  return {own.begin(), own.end()};
}

static const LibraryEntry &entryOfChains() {
  return *lookupLibraryEntry("cpu.depthwise_chain");
}

static void addWorkspace(Call &call) {
  call.workspace = {};
  const size_t bytes = entryOfChains().workspaceBytes(call.view());
  if (bytes > 0) // None where there is nothing to compute.
    call.workspace = TensorType{DLC_I8, {static_cast<int64_t>(bytes)}};
}

void ChainCalls::round(int64_t form) {
  chain.attributes.set("bf16_parts", int64_t{1});
  pack(form);
  for (size_t i = 0; i < stages.size(); ++i) {
    Call &stage = stages[i];
    const bool isBlocked = stage.inputs[0].rank() == 5;
    if (cases[i].group != 1 || (!isBlocked && form == 1))
      continue;
    stage.values[1] = plain[i].values[1];
    stage.attributes.set("bf16_parts", int64_t{1});
    stage.attributes.set("packed_w", form);
    packW(stage);
  }
}

void ChainCalls::pack(int64_t form) {
  const LibraryEntry &entry = entryOfChains();
  chain.attributes.set("packed_w", form);
  chain.values = unpacked;
  const KernelCall call = chain.view();
  std::vector<GuardedBuffer> packed = chain.values;
  for (size_t operand : {1, 3, 5}) {
    const size_t bytes = entry.packedBytes(call, operand);
    if (bytes == 0)
      continue;
    packed[operand] = GuardedBuffer(bytes / sizeof(float));
    entry.pack(call, operand, chain.values[operand].data(),
               packed[operand].data());
    ASSERT_TRUE(packed[operand].guardsIntact());
  }
  chain.values = std::move(packed);
}

void ChainCalls::roundEnds() {
  auto roundBoth = [&](size_t operand, Call &own, Call &ownPlain, size_t from) {
    if (from >= own.inputs.size())
      return;
    roundOperand(own, from);
    roundOperand(ownPlain, from);
    GuardedBuffer &values = unpacked[operand];
    std::transform(values.data(), values.data() + values.size(), values.data(),
                   rounded);
  };
  roundBoth(0, stages.front(), plain.front(), 0);
  roundBoth(7, stages.back(), plain.back(), 3);
}

namespace {

/// A prepared chain with memory of its own.
struct Launch {
  Launch(Call &call, Isa isa)
      : workspace(call.workspaceBytes() / sizeof(float)),
        output(*elementCount(call.output.shape)) {
    Status status = prepareDepthwiseChain(call.view(), isa, kernel);
    EXPECT_TRUE(status.isOk()) << status.message();
    for (size_t i = 0; i < call.inputs.size(); ++i)
      arguments.push_back(call.inputs[i].type == DLC_INVALID_TYPE
                              ? nullptr
                              : call.values[i].data());
    arguments.push_back(output.data());
    arguments.push_back(workspace.data());
  }
  std::vector<float> values() {
    EXPECT_TRUE(workspace.guardsIntact() && output.guardsIntact());
    return {output.data(), output.data() + output.size()};
  }

  std::unique_ptr<PreparedKernel> kernel;
  GuardedBuffer workspace, output;
  std::vector<void *> arguments;
};

} // namespace

/// In order, by pieces: each one goes on with the rows of the one before.
/// Twice: what the first run left in the workspace means nothing to the second.
static std::vector<float> runInPieces(Call &call, Isa isa, int64_t most) {
  Launch launch(call, isa);
  for (int i = 0; i < 2; ++i) {
    Random random(call.output.shape[1] + most);
    for (const PreparedKernel *step = launch.kernel.get(); step;
         step = step->next())
      for (int64_t begin = 0, end; begin < step->tiles(); begin = end) {
        end = std::min(step->tiles(), begin + 1 + random.below(most));
        step->run(launch.arguments.data(), begin, end);
      }
  }
  return launch.values();
}

static std::vector<float> runInThreads(Call &call, Isa isa, int threadCount) {
  Launch launch(call, isa);
  for (const PreparedKernel *step = launch.kernel.get(); step;
       step = step->next()) {
    std::atomic<int64_t> next = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < threadCount; ++i)
      threads.emplace_back([&] {
        for (int64_t tile; (tile = next.fetch_add(1)) < step->tiles();)
          step->run(launch.arguments.data(), tile, tile + 1);
      });
    for (std::thread &thread : threads)
      thread.join();
  }
  return launch.values();
}

static void check(const ChainCase &c) {
  ChainCalls calls(c);
  addWorkspace(calls.chain);
  const std::vector<double> expected = calls.expected();
  auto checkOnce = [&](double bound) {
    for (Isa isa : runnableIsas(calls.chain)) {
      SCOPED_TRACE(std::string(nameOf(isa)));
      std::vector<float> values =
          runCall(calls.chain, prepareDepthwiseChain, isa);
      ASSERT_EQ(values.size(), expected.size());
      EXPECT_LE(errorOf(values, expected), bound);
      EXPECT_EQ(values, calls.runApart(isa));
      EXPECT_EQ(values, runInPieces(calls.chain, isa, 1));
      EXPECT_EQ(values, runInPieces(calls.chain, isa, 3));
    }
  };
  std::string text;
  for (const ConvCase &stage : calls.cases)
    text += textOf(stage, false) + ", ";
  SCOPED_TRACE(text);
  constexpr double exact = 8e-6, rounded = 2e-2; // Of up to three in a row.
  checkOnce(exact);
  calls.pack();
  addWorkspace(calls.chain);
  SCOPED_TRACE("packed");
  checkOnce(exact);
  const int64_t outChannels = calls.cases.back().outChannels;
  if ((c.blockedX && c.channels % 16 != 0) ||
      (c.blockedY && outChannels % 16 != 0))
    return; // Blocks that are rounded are whole.
  for (int64_t form : {1, 2}) {
    calls.round(form);
    SCOPED_TRACE("rounded, in form " + std::to_string(form));
    checkOnce(rounded);
  }
}

static StageCase depthwise(int64_t kernel, int64_t stride, int64_t pad,
                           int64_t dilation = 1) {
  return {0,
          {kernel, kernel},
          {stride, stride},
          {pad, pad, pad, pad},
          {dilation, dilation},
          "relu"};
}

static StageCase pointwise(int64_t channels, std::string activation = {}) {
  return {channels, {1, 1}, {}, {}, {}, std::move(activation)};
}

TEST(DepthwiseChainTest, InvertedResidual) {
  for (bool residual : {false, true}) {
    check({1,
           16,
           {9, 11},
           pointwise(48, "clamp"),
           depthwise(3, 1, 1),
           pointwise(16),
           true,
           true,
           true,
           residual});
    check({2,
           32,
           {28, 14},
           pointwise(192, "relu"),
           depthwise(3, 1, 1),
           pointwise(32),
           true,
           true,
           false,
           residual});
  }
  check({1,
         16,
         {56, 30},
         pointwise(96, "relu"),
         depthwise(3, 2, 1),
         pointwise(32)});
}

/// What is in blocks of 16 channels in larger ones; `type` is plain.
static std::vector<double> inBlocks(const std::vector<float> &values,
                                    const TensorType &type, int64_t width) {
  const int64_t pixels = type.shape[2] * type.shape[3];
  std::vector<double> result(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t pixel = i / 16 % pixels;
    const int64_t channel = i / 16 / pixels * 16 + i % 16; // Of all images.
    result[(channel / width * pixels + pixel) * width + channel % width] =
        values[i];
  }
  return result;
}

/// Tensors of bfloat16 give what floats of the same values do, rounded, but for
/// the order of sums.
static void checkShort(const ChainCase &c) {
  ChainCalls calls(c);
  calls.roundEnds();
  calls.round(2);
  for (Shorts shorts : kShorts) {
    shorts.residual &= c.residual;
    SCOPED_TRACE(textOf(shorts));
    Call call = calls.chain;
    auto set = [&](size_t operand, Call &own, size_t from) {
      setShort(call, operand,
               blocked(own.values[from].data(), own.inputs[from], 32),
               blockedType(own.inputs[from], 32));
    };
    if (shorts.x)
      set(0, calls.plain.front(), 0);
    if (shorts.residual)
      set(7, calls.plain.back(), 3);
    if (shorts.y) {
      call.output = blockedType(calls.plain.back().output, 32);
      call.output.type = DLC_BF16;
    }
    addWorkspace(call);
    for (Isa isa : runnableIsas(call)) {
      SCOPED_TRACE(std::string(nameOf(isa)));
      std::vector<double> expected = inBlocks(
          calls.runApart(isa), calls.plain.back().output, shorts.y ? 32 : 16);
      const std::vector<float> values =
          runCall(call, prepareDepthwiseChain, isa);
      if (shorts.y)
        expectNearest(values, expected);
      else
        EXPECT_LE(errorOf(values, expected), 4e-6);
    }
  }
}

TEST(DepthwiseChainTest, ShortEnds) {
  for (bool residual : {false, true})
    for (const char *activation : {"relu", "silu"})
      checkShort({2,
                  32,
                  {15, 14},
                  pointwise(48, "relu"),
                  depthwise(3, 1, 1),
                  pointwise(32, activation),
                  true,
                  true,
                  true,
                  residual});
  checkShort({1,
              64,
              {21, 13},
              StageCase{96, {3, 3}, {1, 1}, {1, 1, 1, 1}, {}, "relu"},
              depthwise(3, 2, 1),
              pointwise(160)});
}

/// Rows in front that are longer than what is rounded at once, and parts of
/// them that are not even.
TEST(DepthwiseChainTest, LongPlainRows) {
  for (int64_t width : {128, 129, 257, 300})
    check({1,
           3,
           {9, width},
           StageCase{32, {3, 3}, {1, 1}, {1, 1, 1, 1}, {}, "relu"},
           depthwise(3, 1, 1),
           pointwise(16),
           false,
           true});
}

/// Channels in front and behind that are no blocks.
TEST(DepthwiseChainTest, PlainEnds) {
  check({1,
         3,
         {33, 31},
         StageCase{32, {3, 3}, {2, 2}, {1, 1, 1, 1}, {}, "relu"},
         depthwise(3, 1, 1),
         pointwise(24),
         false,
         false});
  check({2,
         24,
         {14, 15},
         pointwise(144, "relu"),
         depthwise(3, 1, 1),
         pointwise(24),
         false,
         false,
         true,
         true});
  check({1,
         5,
         {7, 7},
         pointwise(16, "relu"),
         depthwise(3, 2, 1),
         pointwise(16, "silu"),
         false,
         true});
  check({1,
         16,
         {7, 7},
         pointwise(16, "relu"),
         depthwise(3, 2, 1),
         pointwise(7, "gelu"),
         true,
         false});
}

/// One of the neighbours alone.
TEST(DepthwiseChainTest, EndsWithinABlock) {
  for (int64_t channels : {12, 24, 40})
    for (bool bias : {false, true}) {
      check({2,
             channels,
             {14, 15},
             pointwise(144, "relu"),
             depthwise(3, 1, 1),
             pointwise(channels),
             true,
             true,
             bias});
      check({2,
             channels,
             {13, 9},
             pointwise(48, "relu"),
             depthwise(3, 2, 1),
             pointwise(72),
             true,
             true,
             bias});
    }
  // Not those between the stages.
  ChainCalls calls(
      {1, 24, {9, 9}, std::nullopt, depthwise(3, 1, 1), pointwise(16)});
  std::unique_ptr<PreparedKernel> kernel;
  EXPECT_NE(prepareDepthwiseChain(calls.chain.view(), bestIsa(), kernel)
                .message()
                .find("blocks of 16 channels between stages"),
            std::string::npos);
}

TEST(DepthwiseChainTest, TwoOfThem) {
  for (bool residual : {false, true}) {
    check({2,
           32,
           {13, 12},
           pointwise(64, "silu"),
           depthwise(5, 1, 2),
           {},
           true,
           true,
           true,
           residual});
    check({2,
           32,
           {13, 12},
           {},
           depthwise(5, 2, 2),
           pointwise(80, "hard_swish"),
           true,
           true,
           true,
           residual});
    check({1,
           48,
           {20, 9},
           {},
           depthwise(7, 1, 3),
           pointwise(20),
           true,
           false,
           true,
           residual});
  }
}

/// Rows that strips share, from none to all of an image.
TEST(DepthwiseChainTest, WindowsOfRows) {
  for (int64_t height : {1, 2, 3, 8, 31, 40})
    for (int64_t stride : {1, 2, 3, 5})
      for (int64_t dilation : {1, 3})
        check({1,
               16,
               {height, 9},
               pointwise(16),
               depthwise(3, stride, 3, dilation),
               pointwise(16)});
  check({1, 16, {40, 5}, pointwise(16), depthwise(7, 2, 9), pointwise(16)});
  check({1,
         16,
         {30, 5},
         pointwise(16),
         {0, {1, 2}, {4, 1}, {0, 0, 0, 1}, {}, {}},
         pointwise(16)});
  check({1,
         16,
         {30, 5},
         pointwise(16),
         {0, {4, 1}, {1, 2}, {7, 0, 2, 0}, {}, "sigmoid"},
         pointwise(16)});
}

/// Windows that lie outside of the image as a whole, and images with no rows
/// of results.
TEST(DepthwiseChainTest, BeyondTheImage) {
  check({1,
         16,
         {2, 3},
         pointwise(16, "relu"),
         depthwise(3, 1, 6),
         pointwise(16)});
  check({1,
         16,
         {2, 3},
         pointwise(16, "relu"),
         depthwise(5, 1, 0),
         pointwise(16)});
  check({0,
         16,
         {2, 3},
         pointwise(16, "relu"),
         depthwise(3, 1, 1),
         pointwise(16)});
}

/// More rows and images than fit into one strip, one tile.
TEST(DepthwiseChainTest, ManyStrips) {
  check({1,
         16,
         {64, 112},
         pointwise(96, "relu"),
         depthwise(3, 2, 1),
         pointwise(16)});
  check({33,
         16,
         {5, 6},
         pointwise(32, "relu"),
         depthwise(3, 1, 1),
         pointwise(16)});
  check({1,
         16,
         {12, 1024},
         pointwise(128, "relu"),
         depthwise(3, 1, 1),
         pointwise(16)});
}

TEST(DepthwiseChainTest, Activations) {
  for (const char *kind : {"relu", "leaky_relu", "sigmoid", "tanh", "gelu",
                           "gelu_tanh", "silu", "hard_swish", "hard_sigmoid"}) {
    StageCase middle = depthwise(3, 1, 1);
    middle.activation = kind;
    check({1, 16, {6, 7}, pointwise(16, kind), middle, pointwise(16, kind)});
  }
}

/// Threads that begin wherever others have not: the same bits.
TEST(DepthwiseChainTest, Threads) {
  ChainCalls calls({2,
                    16,
                    {40, 12},
                    pointwise(64, "relu"),
                    depthwise(3, 1, 1),
                    pointwise(16)});
  addWorkspace(calls.chain);
  std::vector<float> expected = calls.runApart(bestIsa());
  for (int threads = 1; threads <= 4; ++threads)
    for (int i = 0; i < 10; ++i)
      EXPECT_EQ(runInThreads(calls.chain, bestIsa(), threads), expected);
}

/// Whatever tiles it begins with: most of a workspace is never touched.
TEST(DepthwiseChainTest, OneThreadHasOneSlot) {
  ChainCalls calls({1,
                    16,
                    {64, 64},
                    pointwise(64, "relu"),
                    depthwise(3, 1, 1),
                    pointwise(16)});
  calls.pack();
  addWorkspace(calls.chain);
  Launch launch(calls.chain, bestIsa());
  const size_t size = launch.workspace.size();
  std::fill_n(launch.workspace.data(), size, 7.0f);
  for (const PreparedKernel *step = launch.kernel.get(); step;
       step = step->next())
    for (int64_t tile = step->tiles(); tile--;)
      step->run(launch.arguments.data(), tile, tile + 1);
  EXPECT_EQ(launch.values(), calls.runApart(bestIsa()));
  const float *end = launch.workspace.data() + size;
  EXPECT_EQ(std::count(end - size / 2, end, 7.0f), int64_t(size / 2));
}

/// What is not finite stays where it is.
TEST(DepthwiseChainTest, NotFinite) {
  ChainCalls calls(
      {1, 16, {12, 9}, pointwise(16), depthwise(3, 1, 1), pointwise(16)});
  addWorkspace(calls.chain);
  float *x = calls.chain.values[0].data();
  x[5] = std::nanf("");
  x[600] = std::numeric_limits<float>::infinity();
  std::copy(x, x + calls.chain.values[0].size(),
            calls.stages[0].values[0].data());
  for (Isa isa : runnableIsas()) {
    std::vector<float> values =
        runCall(calls.chain, prepareDepthwiseChain, isa);
    std::vector<float> apart = calls.runApart(isa);
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_TRUE(values[i] == apart[i] ||
                  (std::isnan(values[i]) && std::isnan(apart[i])));
  }
}

//===----------------------------------------------------------------------===//
// Calls that are refused
//===----------------------------------------------------------------------===//

static Call goodCall() {
  ChainCalls calls({1,
                    16,
                    {8, 8},
                    pointwise(32),
                    depthwise(3, 1, 1),
                    pointwise(16),
                    true,
                    true,
                    true,
                    true});
  return calls.chain;
}

static void expectRefused(Call call, const std::string &expected) {
  std::string why;
  EXPECT_FALSE(entryOfChains().isSupported(call.view(), why));
  EXPECT_NE(why.find(expected), std::string::npos) << why;
  EXPECT_EQ(entryOfChains().packedBytes(call.view(), 1), 0u);
  EXPECT_EQ(entryOfChains().workspaceBytes(call.view()), 0u);
  std::unique_ptr<PreparedKernel> kernel;
  EXPECT_FALSE(prepareDepthwiseChain(call.view(), bestIsa(), kernel).isOk());
  EXPECT_FALSE(kernel);
}

TEST(DepthwiseChainTest, Refused) {
  auto refuse = [](auto &&change, const std::string &expected) {
    Call call = goodCall();
    change(call);
    expectRefused(std::move(call), expected);
  };
  refuse([](Call &c) { c.inputs[3] = {}; }, "expected an input");
  refuse([](Call &c) { c.inputs[0] = {}; }, "expected an input");
  refuse([](Call &c) { c.inputs.push_back(c.inputs[0]); }, "expected an input");
  refuse([](Call &c) { c.inputs[1] = {}; }, "expected a bias with weights");
  refuse(
      [](Call &c) {
        c.inputs[1] = c.inputs[2] = c.inputs[5] = c.inputs[6] = {};
      },
      "expected another convolution");
  refuse([](Call &c) { c.inputs[5] = c.inputs[6] = {}; },
         "expected attribute 'last_activation' with weights");
  refuse([](Call &c) { c.inputs[1].shape = {32, 16, 1}; }, "weights in front");
  refuse([](Call &c) { c.inputs[1].shape = {24, 16, 1, 1}; },
         "expected blocks of 16 channels between stages");
  refuse([](Call &c) { c.inputs[3].shape = {16, 2, 3, 3}; },
         "expected blocks of 16 output channels");
  refuse([](Call &c) { c.inputs[3].shape = {64, 1, 3, 3}; }, "");
  refuse([](Call &c) { c.inputs[4].shape = {31}; }, "expected a bias");
  refuse([](Call &c) { c.inputs[5].shape = {16, 32, 2, 2}; }, "");
  refuse([](Call &c) { c.inputs[7].shape[2] = 9; }, "expected a residual");
  refuse([](Call &c) { c.output.shape[3] = 9; }, "");
  refuse([](Call &c) { c.inputs[0].type = DLC_F64; }, "input 0");
  refuse([](Call &c) { c.attributes.set("channel_block", int64_t{8}); },
         "channel_block");
  refuse([](Call &c) { c.attributes.set("packed_w", int64_t{2}); }, "packed_w");
  refuse([](Call &c) { c.attributes.set("bf16_parts", int64_t{3}); },
         "'bf16_parts' to be 0 or 1, got 3");
  refuse([](Call &c) { c.attributes.set("bf16_parts", int64_t{1}); },
         "'packed_w' to be 1 or 2 where 'bf16_parts' is");
  for (const char *name :
       {"group", "front_group", "front_algorithm", "last_strides", "winograd",
        "front_packed_w", "last_channel_block", "depthwise_pads"})
    refuse([&](Call &c) { c.attributes.set(name, int64_t{1}); },
           "unknown attribute '" + std::string(name) + "'");
  const int64_t huge = int64_t{1} << 62;
  for (const char *name : {"pads", "front_pads"})
    for (int64_t pad : {huge, int64_t{-1}, int64_t{1} << 31})
      refuse([&](Call &c) { c.attributes.set(name, Shape{pad, 0, 0, 0}); }, "");
  for (const char *name :
       {"strides", "dilations", "front_strides", "front_dilations"})
    for (int64_t number : {int64_t{0}, int64_t{-1}, huge})
      refuse([&](Call &c) { c.attributes.set(name, Shape{number, 1}); }, "");
}

/// What lies between the stages costs less where caches would not hold it.
TEST(DepthwiseChainTest, Cost) {
  for (int64_t size : {14, 56}) {
    ChainCalls calls({1,
                      64,
                      {size, size},
                      pointwise(384),
                      depthwise(3, 1, 1),
                      pointwise(64)});
    uint64_t apart = 0, flops = 0;
    for (Call &stage : calls.stages) {
      const KernelCost cost =
          lookupLibraryEntry("cpu.conv")->cost(stage.view());
      apart += nanosecondsOf(cost);
      flops += cost.flops;
    }
    const KernelCost cost = entryOfChains().cost(calls.chain.view());
    EXPECT_EQ(cost.flops, flops);
    EXPECT_EQ(nanosecondsOf(cost) < apart, size == 56);
  }
}

TEST(DepthwiseChainTest, NeedsItsWorkspace) {
  Call call = goodCall();
  addWorkspace(call);
  --call.workspace.shape[0];
  std::unique_ptr<PreparedKernel> kernel;
  EXPECT_FALSE(prepareDepthwiseChain(call.view(), bestIsa(), kernel).isOk());
  call.workspace = {};
  EXPECT_FALSE(prepareDepthwiseChain(call.view(), bestIsa(), kernel).isOk());
}
