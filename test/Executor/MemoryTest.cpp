// SPDX-License-Identifier: Apache-2.0
//
// What executors plan and share, on the networks of MXNet's test_memory_opt,
// which only binds them, and as its test_hybrid_static_memory asks.

#include "ExecutorTesting.h"

#include <cstdlib>
#include <random>

using namespace dlc;
using namespace dlc::test;

namespace {

constexpr int64_t n = 64;
constexpr uint64_t unit = n * n * sizeof(float); ///< Of an n x n tensor.

Symbol fullyConnected(const Symbol &data, const std::string &name) {
  return Symbol::apply("FullyConnected", {data},
                       {{"num_hidden", std::to_string(n)}}, name);
}

Symbol tanhOf(const Symbol &data, const std::string &name) {
  return Symbol::apply("Activation", {data}, {{"act_type", "tanh"}}, name);
}

/// The figure after `what` in a line of `text` that begins with `form`.
uint64_t planned(const Executor &executor, const std::string &form,
                 const std::string &what) {
  std::string text = executor.describePrograms();
  size_t line = text.find(form + ":");
  size_t at = line == std::string::npos ? line : text.find(what + " ", line);
  EXPECT_NE(at, std::string::npos) << text;
  if (at == std::string::npos)
    return 0;
  return std::strtoull(text.c_str() + at + what.size() + 1, nullptr, 10);
}

/// Bytes that a network may need.
struct Bounds {
  uint64_t arena;     ///< Of a run forward and of one back.
  uint64_t saved;     ///< Between the two.
  uint64_t stepArena; ///< Of both as one program.
};

/// Executors of one network for training: one run forward and back in two
/// programs, one in a step.
struct Training {
  Training(const Symbol &symbol,
           const std::map<std::string, std::vector<int64_t>> &shapes)
      : runtime(makeRuntime()) {
    rt::KnownVariables known;
    known.shapes = shapes;
    auto network = makeNetwork(symbol);
    EXPECT_TRUE(network.isOk()) << network.status().message();
    apart = take(Executor::simpleBind(*network, runtime, known));
    step = take(Executor::simpleBind(*network, runtime, known));
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0, 0.1f);
    for (size_t i = 0; i != apart->arguments().size(); ++i) {
      Floats values(apart->arguments()[i].size());
      for (float &value : values)
        value = normal(random);
      write(apart->arguments()[i], values);
      write(step->arguments()[i], values);
    }
  }

  /// Runs both and compares their gradients to the bit.
  void run() {
    EXPECT_OK(apart->forward(true));
    EXPECT_OK(apart->backward());
    EXPECT_OK(step->forwardBackward());
    for (size_t i = 0; i != apart->gradients().size(); ++i)
      EXPECT_EQ(read(apart->gradients()[i]), read(step->gradients()[i])) << i;
  }

  void expectAtMost(const Bounds &bounds) {
    EXPECT_LE(planned(*apart, "forward", "planned"), bounds.arena);
    EXPECT_LE(planned(*apart, "backward", "planned"), bounds.arena);
    EXPECT_LE(planned(*apart, "forward", "saved"), bounds.saved);
    EXPECT_LE(planned(*step, "step", "planned"), bounds.stepArena);
  }

  std::shared_ptr<ArrayRuntime> runtime;
  std::unique_ptr<Executor> apart, step;
};

} // namespace

// x -> + -> tanh, y -> +: what tanh needs of the way forward is its result.
TEST(MemoryTest, KeepsTheResultOfARecurrentCell) {
  Symbol sum = fullyConnected(Symbol::variable("x"), "fx") +
               fullyConnected(Symbol::variable("y"), "fy");
  Training training(tanhOf(sum, "z"), {{"x", {n, 1}}, {"y", {n, 1}}});
  training.run();
  training.expectAtMost({.arena = unit, .saved = unit, .stepArena = unit});
}

// x -> + -> tanh for each of five others: the sums are nobody's.
TEST(MemoryTest, KeepsNoSumsOfAttention) {
  std::vector<Symbol> z;
  std::map<std::string, std::vector<int64_t>> shapes = {{"x", {n, n}}};
  Symbol x = Symbol::variable("x");
  for (int i = 0; i != 5; ++i) {
    std::string number = std::to_string(i);
    Symbol sum =
        Symbol::apply("broadcast_add", {x, Symbol::variable("y" + number)}, {},
                      "add" + number);
    z.push_back(tanhOf(sum, "z" + number));
    shapes["y" + number] = {1, n};
  }
  Training training(Symbol::group(z), shapes);
  training.run();
  training.expectAtMost({.arena = 0, .saved = 5 * unit, .stepArena = 0});
}

// x -> tanh -> tanh -> FC.
TEST(MemoryTest, KeepsTheResultsOfTwoActivations) {
  Symbol y = tanhOf(Symbol::variable("x"), "y");
  Symbol z = fullyConnected(tanhOf(y, "z"), "fc");
  Training training(z, {{"x", {n, n}}});
  training.run();
  // The two results and a gradient.
  training.expectAtMost(
      {.arena = unit, .saved = 2 * unit, .stepArena = 3 * unit});
}

namespace {
/// conv -> batch norm -> relu, `depth` times, as residual networks have them.
Symbol convolutions(int depth) {
  Symbol x = Symbol::variable("x");
  for (int i = 0; i != depth; ++i) {
    std::string number = std::to_string(i);
    x = Symbol::apply("Convolution", {x},
                      {{"kernel", "(3, 3)"},
                       {"pad", "(1, 1)"},
                       {"num_filter", "16"},
                       {"no_bias", "True"}},
                      "conv" + number);
    x = Symbol::apply("BatchNorm", {x}, {{"fix_gamma", "False"}},
                      "bn" + number);
    x = Symbol::apply("Activation", {x}, {{"act_type", "relu"}},
                      "relu" + number);
  }
  return x;
}
} // namespace

// Normalised values and those of relu are computed again from what the
// convolutions give, but for the last layers: little else is saved, in place of
// about two values for each layer.
TEST(MemoryTest, SavesLittleMoreThanConvolutionsGive) {
  constexpr int depth = 8;
  constexpr uint64_t value = 8 * 16 * 16 * 16 * sizeof(float);
  constexpr uint64_t sums = 8 * 16 * 4 * sizeof(float); // The loss in parts.
  Training training(convolutions(depth), {{"x", {8, 16, 16, 16}}});
  training.run();
  training.expectAtMost({.arena = 5 * value,
                         .saved = (depth + 3) * value,
                         .stepArena = (depth + 5) * value + sums});
}

namespace {

/// y = x w^T + b with tanh around, for executors that share all but x.
struct Shared {
  Shared() : runtime(makeRuntime()) {
    Symbol net = tanhOf(
        fullyConnected(tanhOf(Symbol::variable("x"), "in"), "fc"), "out");
    auto made = makeNetwork(net);
    EXPECT_TRUE(made.isOk()) << made.status().message();
    network = *made;
    first = take(Executor::simpleBind(network, runtime,
                                      {.shapes = {{"x", {2, 3}}}, .types = {}},
                                      GradientRequest::Add));
    std::mt19937 random(7);
    std::normal_distribution<float> normal(0, 0.5f);
    for (const NDArray &argument : first->arguments()) {
      Floats values(argument.size());
      for (float &value : values)
        value = normal(random);
      write(argument, values);
    }
  }

  /// Another executor, which shares its memory if told so.
  std::unique_ptr<Executor> another(bool shares) {
    Bindings bindings;
    bindings.arguments.assign(first->arguments().begin(),
                              first->arguments().end());
    bindings.gradients.assign(first->gradients().begin(),
                              first->gradients().end());
    bindings.requests.assign(bindings.arguments.size(), GradientRequest::Add);
    rt::ExecutorOptions options;
    options.shared = shares ? first.get() : nullptr;
    return take(Executor::bind(network, std::move(bindings), options));
  }

  std::vector<Floats> gradients() {
    std::vector<Floats> values;
    for (const NDArray &gradient : first->gradients()) {
      values.push_back(read(gradient));
      EXPECT_OK(gradient.fill(0));
    }
    return values;
  }

  std::shared_ptr<ArrayRuntime> runtime;
  std::shared_ptr<const rt::Network> network;
  std::unique_ptr<Executor> first;
};

} // namespace

// MXNet's test_hybrid_static_memory: net(x) + net(x), where the second run
// forward comes before the first one's gradients are computed.
TEST(MemoryTest, RunsOfOneArenaKeepWhatTheySave) {
  Shared shared;
  ASSERT_TRUE(shared.first);
  for (int i = 0; i != 2; ++i) {
    EXPECT_OK(shared.first->forward(true));
    EXPECT_OK(shared.first->backward());
  }
  std::vector<Floats> expected = shared.gradients();
  for (bool shares : {false, true}) {
    auto second = shared.another(shares);
    ASSERT_TRUE(second);
    EXPECT_OK(shared.first->forward(true));
    EXPECT_OK(second->forward(true));
    EXPECT_EQ(read(shared.first->outputs()[0]), read(second->outputs()[0]));
    EXPECT_OK(shared.first->backward());
    EXPECT_OK(second->backward());
    EXPECT_EQ(shared.gradients(), expected) << shares;
  }
}

// Its test_hybrid_static_memory_recording: a run without gradients between the
// two ways.
TEST(MemoryTest, RunsWithoutGradientsLeaveWhatOthersSaved) {
  Shared shared;
  ASSERT_TRUE(shared.first);
  EXPECT_OK(shared.first->forward(true));
  Floats output = read(shared.first->outputs()[0]);
  EXPECT_OK(shared.first->backward());
  std::vector<Floats> expected = shared.gradients();
  auto second = shared.another(/*shares=*/true);
  ASSERT_TRUE(second);
  EXPECT_OK(shared.first->forward(true));
  EXPECT_OK(second->forward(false));
  EXPECT_EQ(read(second->outputs()[0]), output);
  EXPECT_OK(shared.first->backward());
  EXPECT_EQ(shared.gradients(), expected);
  // And in one executor.
  EXPECT_OK(shared.first->forward(false));
  EXPECT_EQ(read(shared.first->outputs()[0]), output);
}

//===-- Budgets -----------------------------------------------------------===//

namespace {

/// Ten layers, each of which keeps its result for the way back.
std::unique_ptr<Executor>
bindLayers(const std::shared_ptr<ArrayRuntime> &runtime,
           const rt::ExecutorOptions &options) {
  Symbol x = Symbol::variable("x");
  for (int i = 0; i != 10; ++i)
    x = tanhOf(fullyConnected(x, "fc" + std::to_string(i)),
               "t" + std::to_string(i));
  auto network = makeNetwork(x);
  EXPECT_TRUE(network.isOk()) << network.status().message();
  auto executor = take(Executor::simpleBind(
      *network, runtime, {.shapes = {{"x", {n, n}}}, .types = {}},
      GradientRequest::Write, {}, rt::Context::cpu(), options));
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 0.1f);
  for (const NDArray &argument : executor->arguments()) {
    Floats values(argument.size());
    for (float &value : values)
      value = normal(random);
    write(argument, values);
  }
  return executor;
}

} // namespace

TEST(MemoryTest, KeepsWithinABudget) {
  auto runtime = makeRuntime();
  auto free = bindLayers(runtime, {});
  EXPECT_OK(free->forwardBackward());
  uint64_t whole = planned(*free, "step", "planned");
  EXPECT_GE(whole, 9 * unit);
  rt::ExecutorOptions options;
  options.memoryBudget = static_cast<int64_t>(7 * unit);
  auto within = bindLayers(runtime, options);
  EXPECT_OK(within->forwardBackward());
  EXPECT_LE(planned(*within, "step", "planned"), 7 * unit);
  auto expectSame = [&] {
    for (size_t i = 0; i != free->gradients().size(); ++i) {
      Floats one = read(free->gradients()[i]),
             two = read(within->gradients()[i]);
      for (size_t k = 0; k != one.size(); ++k)
        ASSERT_NEAR(one[k], two[k], 1e-4 * std::max(1.f, std::abs(one[k])))
            << i;
    }
  };
  expectSame();
  // For other shapes, too, of which more is kept.
  rt::ReshapeOptions grows = {.allowsOthers = true, .allowsGrowth = true};
  within = take(within->reshape({{"x", {9 * n / 8, n}}}, grows));
  free = take(free->reshape({{"x", {9 * n / 8, n}}}, grows));
  for (auto *executor : {free.get(), within.get()}) {
    write(executor->arguments()[0], Floats(9 * n / 8 * n, 0.5f));
    EXPECT_OK(executor->forwardBackward());
  }
  EXPECT_GT(planned(*free, "step", "planned"), 7 * unit);
  EXPECT_LE(planned(*within, "step", "planned"), 7 * unit);
  expectSame();
}

// Each of the two programs keeps within it together with what is between them.
TEST(MemoryTest, KeepsToABudgetInTwoPrograms) {
  auto runtime = makeRuntime();
  auto free = bindLayers(runtime, {});
  EXPECT_OK(free->forward(true));
  EXPECT_OK(free->backward());
  auto needed = [](const Executor &executor, const std::string &form) {
    return planned(executor, form, "planned") +
           planned(executor, "forward", "saved");
  };
  constexpr uint64_t budget = 10 * unit;
  EXPECT_GT(needed(*free, "backward"), budget);
  rt::ExecutorOptions options;
  options.memoryBudget = static_cast<int64_t>(budget);
  auto within = bindLayers(runtime, options);
  EXPECT_OK(within->forward(true));
  EXPECT_OK(within->backward());
  EXPECT_LE(needed(*within, "forward"), budget);
  EXPECT_LE(needed(*within, "backward"), budget);
  for (size_t i = 0; i != free->gradients().size(); ++i) {
    Floats one = read(free->gradients()[i]), two = read(within->gradients()[i]);
    for (size_t k = 0; k != one.size(); ++k)
      ASSERT_NEAR(one[k], two[k], 1e-5) << i;
  }
}

TEST(MemoryTest, RefusesABudgetThatNothingFits) {
  rt::ExecutorOptions options;
  options.memoryBudget = 100;
  auto executor = bindLayers(makeRuntime(), options);
  EXPECT_FAILS(executor->forward(true), InvalidArgument,
               "expected a memory budget of at least ");
  rt::Status status = executor->forwardBackward();
  EXPECT_EQ(status.code(), rt::StatusCode::InvalidArgument);
  EXPECT_NE(status.message().find("expected a memory budget of at least "),
            std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find(" bytes, got 100"), std::string::npos);
  options.memoryBudget = -1;
  auto network = makeNetwork(tanhOf(Symbol::variable("x"), "t"));
  EXPECT_EQ(Executor::simpleBind(
                *network, makeRuntime(), {.shapes = {{"x", {2}}}, .types = {}},
                GradientRequest::Write, {}, rt::Context::cpu(), options)
                .status()
                .message(),
            "expected a memory budget of at least 0 bytes, got -1");
}
