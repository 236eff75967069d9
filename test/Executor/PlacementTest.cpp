// SPDX-License-Identifier: Apache-2.0
//
// Networks on several devices: what they compute is, to the bit, what one
// device computes, and arrays are where their groups are.

#include "ExecutorTesting.h"

#include "dlc/Symbol/Scope.h"

#include <algorithm>
#include <cstring>
#include <random>

using namespace dlc;
using namespace dlc::test;
using rt::Context;
using symbol::Attributes;
using symbol::AttributeScope;

namespace {

using Groups = std::map<std::string, Context>;
using Shapes = std::map<std::string, std::vector<int64_t>>;

/// A network whose operations are in groups g0 to g3.
struct Net {
  Symbol symbol;
  Shapes shapes;
};

std::string groupName(size_t number) { return "g" + std::to_string(number); }

/// The four groups on so many devices.
Groups spread(int16_t devices) {
  Groups groups;
  for (int16_t i = 0; i < 4; ++i)
    groups[groupName(i)] = Context::cpu(i % devices);
  return groups;
}

Symbol apply(const char *op, const std::vector<Symbol> &arguments,
             const Attributes &attributes = {}) {
  return Symbol::apply(op, arguments, attributes);
}

Symbol convolution(const Symbol &x, const char *filters,
                   const char *stride = "(1, 1)") {
  return apply("Convolution", {x},
               {{"num_filter", filters},
                {"kernel", "(3, 3)"},
                {"stride", stride},
                {"pad", "(1, 1)"}});
}

Symbol activate(const Symbol &x) {
  return apply("Activation", {x}, {{"act_type", "relu"}});
}

/// Residual blocks with batch normalisation, cut in the middle of what one
/// kernel would compute: sums behind convolutions are elsewhere.
Net makeConvolutions() {
  Symbol x = Symbol::variable("x");
  for (size_t block = 0; block < 3; ++block) {
    Symbol y;
    {
      AttributeScope scope({{"ctx_group", groupName(block)}});
      Symbol normal =
          apply("BatchNorm", {convolution(x, "6")}, {{"fix_gamma", "False"}});
      y = convolution(activate(normal), "6");
    }
    AttributeScope scope({{"ctx_group", groupName(block + 1)}});
    x = block ? activate(x + y) : activate(y);
  }
  Symbol pooled =
      apply("Pooling", {x},
            {{"pool_type", "avg"}, {"kernel", "(2, 2)"}, {"stride", "(2, 2)"}});
  Symbol fc = apply("FullyConnected", {pooled}, {{"num_hidden", "5"}});
  return {apply("SoftmaxOutput", {fc, Symbol::variable("label")}),
          {{"x", {2, 6, 8, 8}}, {"label", {2}}}};
}

/// One matrix of weights that all groups read: its gradient is a sum of terms
/// from each of them.
Net makeSharedWeights() {
  Symbol x = Symbol::variable("x"), w = Symbol::variable("w");
  Symbol total;
  for (size_t i = 0; i < 4; ++i) {
    AttributeScope scope({{"ctx_group", groupName(i)}});
    x = apply("tanh", {apply("FullyConnected", {x, w},
                             {{"num_hidden", "12"}, {"no_bias", "True"}})});
    total = i ? total + x * x : x * x;
  }
  return {apply("mean", {total}), {{"x", {3, 12}}, {"w", {12, 12}}}};
}

/// Two layers of three steps; each layer is a group.
Net makeRecurrent() {
  std::vector<Symbol> values;
  for (int step = 0; step < 3; ++step)
    values.push_back(Symbol::variable("x" + std::to_string(step)));
  Shapes shapes;
  for (int step = 0; step < 3; ++step)
    shapes["x" + std::to_string(step)] = {2, 8};
  for (size_t layer = 0; layer < 2; ++layer) {
    AttributeScope scope({{"ctx_group", groupName(layer)}});
    std::string name = "layer" + std::to_string(layer);
    Symbol in = Symbol::variable(name + "_in"),
           back = Symbol::variable(name + "_back");
    shapes[name + "_in"] = shapes[name + "_back"] = {8, 8};
    Attributes dense = {{"num_hidden", "8"}, {"no_bias", "True"}};
    Symbol state;
    for (Symbol &value : values) {
      Symbol sum = apply("FullyConnected", {value, in}, dense);
      if (state.size())
        sum = sum + apply("FullyConnected", {state, back}, dense);
      value = state = apply("sigmoid", {sum}) * apply("tanh", {sum});
    }
  }
  return {Symbol::group(values), std::move(shapes)};
}

/// Operations on matrices of one shape, each in any group or none.
Net makeRandom(uint32_t seed) {
  std::mt19937 random(seed);
  auto pick = [&](size_t count) { return random() % count; };
  Net net;
  std::vector<Symbol> values;
  for (int i = 0; i < 3; ++i) {
    std::string name = "v" + std::to_string(i);
    values.push_back(Symbol::variable(name));
    net.shapes[name] = {6, 6};
  }
  static constexpr const char *kUnary[] = {"tanh", "exp", "sigmoid", "softmax",
                                           "relu"};
  for (int i = 0; i < 16; ++i) {
    size_t group = pick(6);
    Attributes attributes;
    if (group < 4)
      attributes["ctx_group"] = groupName(group);
    AttributeScope scope(attributes);
    Symbol a = values[values.size() - 1 - pick(3)],
           b = values[pick(values.size())];
    switch (pick(5)) {
    case 0:
      values.push_back(apply(kUnary[pick(5)], {a}));
      break;
    case 1:
      values.push_back(a + b);
      break;
    case 2:
      values.push_back(a * b);
      break;
    case 3:
      values.push_back(apply(
          "broadcast_sub",
          {a, apply("mean", {b}, {{"axis", "1"}, {"keepdims", "True"}})}));
      break;
    case 4:
      values.push_back(apply("tanh", {apply("dot", {a, b})}));
      break;
    }
  }
  net.symbol =
      Symbol::group({values[values.size() - 1], values[values.size() - 4]});
  std::vector<std::string> used = net.symbol.listArguments();
  std::erase_if(net.shapes, [&](const auto &variable) {
    return std::ranges::count(used, variable.first) == 0;
  });
  return net;
}

/// Everything that two steps of `net` leave behind: outputs, gradients, states.
std::vector<Floats> runSteps(const Net &net, const Groups &groups,
                             bool inParts) {
  NetworkOptions options;
  options.groups = groups;
  auto executor = take(
      simpleBind(net.symbol, makeRuntime(), {.shapes = net.shapes, .types = {}},
                 GradientRequest::Write, {}, Context::cpu(), {}, options));
  if (!executor)
    return {};
  std::mt19937 random(7);
  for (const NDArray &array : executor->arguments()) {
    Floats values(array.size());
    for (float &value : values)
      value = static_cast<float>(random() % 2001) / 1000.f - 1.f;
    write(array, values);
  }
  std::vector<Floats> found;
  auto add = [&](std::span<const NDArray> arrays) {
    for (const NDArray &array : arrays)
      if (!array.isNull())
        found.push_back(read(array));
  };
  for (int step = 0; step < 2; ++step) {
    if (inParts) {
      EXPECT_OK(executor->forward(true));
      EXPECT_OK(executor->backward());
    } else {
      EXPECT_OK(executor->forwardBackward());
    }
    add(executor->outputs());
    add(executor->gradients());
    add(executor->auxiliaryStates());
  }
  EXPECT_OK(executor->forward());
  add(executor->outputs());
  return found;
}

void expectSameBits(const std::vector<Floats> &found,
                    const std::vector<Floats> &expected,
                    const std::string &what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  ASSERT_FALSE(found.empty()) << what;
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].size(), expected[i].size()) << what;
    EXPECT_EQ(std::memcmp(found[i].data(), expected[i].data(),
                          found[i].size() * sizeof(float)),
              0)
        << what << ", array " << i;
  }
}

void expectSameOnDevices(const Net &net, const std::string &what) {
  for (bool inParts : {false, true}) {
    SCOPED_TRACE(what + (inParts ? " in parts" : ""));
    std::vector<Floats> one = runSteps(net, {}, inParts);
    for (int16_t devices : {1, 2, 4})
      expectSameBits(runSteps(net, spread(devices), inParts), one,
                     what + " on " + std::to_string(devices) +
                         (inParts ? " in parts" : ""));
  }
}

} // namespace

TEST(PlacementTest, ConvolutionsAreTheSameOnAnyDevices) {
  expectSameOnDevices(makeConvolutions(), "convolutions");
}

TEST(PlacementTest, SharedWeightsAreTheSameOnAnyDevices) {
  expectSameOnDevices(makeSharedWeights(), "shared weights");
}

TEST(PlacementTest, RecurrentNetworksAreTheSameOnAnyDevices) {
  expectSameOnDevices(makeRecurrent(), "recurrent");
}

TEST(PlacementTest, RandomNetworksAreTheSameOnAnyDevices) {
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    Net net = makeRandom(seed);
    std::string what = "seed " + std::to_string(seed);
    expectSameBits(runSteps(net, spread(4), false), runSteps(net, {}, false),
                   what);
    expectSameBits(runSteps(net, spread(2), true), runSteps(net, {}, true),
                   what + " in parts");
  }
}

/// Variables of groups are there, with their gradients, and so are outputs.
TEST(PlacementTest, ArraysAreOnTheDevicesOfTheirGroups) {
  Symbol x = Symbol::variable("x"), h, y;
  {
    AttributeScope scope({{"ctx_group", "one"}});
    h = Symbol::apply("FullyConnected", {x}, {{"num_hidden", "3"}}, "a");
  }
  {
    AttributeScope scope({{"ctx_group", "two"}});
    y = Symbol::apply("FullyConnected", {h}, {{"num_hidden", "2"}}, "b");
  }
  NetworkOptions options;
  options.groups = {{"one", Context::cpu(1)}, {"two", Context::null(2)}};
  auto executor = take(simpleBind(Symbol::group({y, h * 2.0}), makeRuntime(),
                                  {.shapes = {{"x", {4, 5}}}, .types = {}},
                                  GradientRequest::Write, {}, Context::cpu(3),
                                  {}, options));
  ASSERT_TRUE(executor);
  auto contextOf = [&](const char *name) {
    EXPECT_EQ(executor->argument(name)->context(),
              executor->gradient(name)->context());
    return executor->argument(name)->context();
  };
  EXPECT_EQ(contextOf("x"), Context::cpu(3));
  EXPECT_EQ(contextOf("a_weight"), Context::cpu(1));
  EXPECT_EQ(contextOf("a_bias"), Context::cpu(1));
  EXPECT_EQ(contextOf("b_weight"), Context::null(2));
  EXPECT_EQ(executor->outputs()[0].context(), Context::null(2));
  EXPECT_EQ(executor->outputs()[1].context(), Context::cpu(3));
  EXPECT_OK(executor->forward(true));
  EXPECT_OK(executor->backward());
  EXPECT_EQ(read(*executor->gradient("b_bias")), (Floats{4, 4}));
}

TEST(PlacementTest, BindsArraysOnSeveralDevices) {
  auto runtime = makeRuntime();
  auto make = [&](Context context, const Floats &values) {
    NDArray array = *NDArray::create(runtime, DLC_F32, {2}, context);
    write(array, values);
    return array;
  };
  Symbol a = Symbol::variable("a", {{"ctx_group", "one"}});
  Symbol b = Symbol::variable("b", {{"ctx_group", "two"}});
  Bindings bindings{
      {make(Context::cpu(1), {1, 2}), make(Context::cpu(2), {3, 4})},
      {},
      {},
      {}};
  NetworkOptions options;
  options.groups = {{"one", Context::cpu(1)}, {"two", Context::cpu(2)}};
  auto executor = take(bind(a * b, bindings, {}, options));
  ASSERT_TRUE(executor);
  EXPECT_OK(executor->forward());
  EXPECT_EQ(read(executor->outputs()[0]), (Floats{3, 8}));
  // Without devices of groups all are on one.
  EXPECT_FAILS(bind(a * b, bindings).status(), InvalidArgument,
               "'b': expected an array on cpu:1, got one on cpu:2");
}

TEST(PlacementTest, RefusesGroupsWithoutADevice) {
  Symbol a = Symbol::variable("a");
  Symbol y = Symbol::apply("exp", {a}, {{"ctx_group", "other"}}, "y");
  auto runtime = makeRuntime();
  auto bindWith = [&](const Groups &groups) {
    NetworkOptions options;
    options.groups = groups;
    auto bound =
        simpleBind(y, runtime, {.shapes = {{"a", {2}}}, .types = {}},
                   GradientRequest::Write, {}, Context::cpu(), {}, options);
    return std::move(bound.status());
  };
  EXPECT_FAILS(bindWith({{"one", Context::cpu(1)}}), InvalidArgument,
               "expected a device of group 'other', got those of one");
  EXPECT_FAILS(bindWith({{"other", Context::cuda(0)}}), Unsupported,
               "expected a device that has memory in this process, got cuda:0");
}
