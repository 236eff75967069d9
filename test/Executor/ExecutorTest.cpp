// SPDX-License-Identifier: Apache-2.0
//
// Executors of symbols: what they compute, what they refuse.

#include "ExecutorTesting.h"

#include <map>
#include <set>

using namespace dlc;
using namespace dlc::test;

namespace {

/// y = exp(a * b), whose gradient needs y and both operands.
Symbol makeProduct() {
  Symbol a = Symbol::variable("a"), b = Symbol::variable("b");
  return Symbol::apply("exp", {a * b}, {}, "y");
}

const Floats kA = {0, 1}, kB = {2, 0.5f};
const float kE = std::exp(0.5f);

struct Bound {
  explicit Bound(GradientRequest request = GradientRequest::Write)
      : runtime(makeRuntime()), a(makeArray(runtime, {2}, kA)),
        b(makeArray(runtime, {2}, kB)), gradA(makeArray(runtime, {2}, {7, 8})),
        gradB(makeArray(runtime, {2}, {70, 80})) {
    Bindings bindings{{a, b}, {gradA, gradB}, {request, request}, {}};
    executor = take(bind(makeProduct(), std::move(bindings)));
  }

  std::shared_ptr<ArrayRuntime> runtime;
  NDArray a, b, gradA, gradB;
  std::unique_ptr<Executor> executor;
};

void expectNear(const Floats &found, const Floats &expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-5 * std::max(1.f, expected[i])) << i;
}

} // namespace

//===-- Forward and backward ----------------------------------------------===//

TEST(ExecutorTest, RunsTheFirstExampleOfTheDocumentation) {
  Symbol a = Symbol::variable("A"), b = Symbol::variable("B");
  Symbol c = b * a, d = c + 1.0;
  auto runtime = makeRuntime();
  auto executor = take(simpleBind(
      d, runtime, {.shapes = {{"A", {3}}, {"B", {3}}}, .types = {}}));
  ASSERT_TRUE(executor);
  write(*executor->argument("A"), {1, 2, 3});
  write(*executor->argument("B"), {4, 5, 6});
  EXPECT_OK(executor->forward(true));
  EXPECT_EQ(read(executor->outputs()[0]), (Floats{5, 11, 19}));
  EXPECT_OK(executor->backward());
  EXPECT_EQ(read(*executor->gradient("A")), (Floats{4, 5, 6}));
  EXPECT_EQ(read(*executor->gradient("B")), (Floats{1, 2, 3}));
}

TEST(ExecutorTest, InfersWithoutGradients) {
  Bound bound(GradientRequest::Null);
  ASSERT_TRUE(bound.executor);
  EXPECT_OK(bound.executor->forward());
  expectNear(read(bound.executor->outputs()[0]), {1, kE});
  // Later values count for later runs.
  write(bound.a, {1, 0});
  EXPECT_OK(bound.executor->forward());
  expectNear(read(*bound.executor->output("y_output")), {std::exp(2.f), 1});
}

TEST(ExecutorTest, RunsBackwardFromWhatForwardSaved) {
  Bound bound;
  ASSERT_TRUE(bound.executor);
  EXPECT_OK(bound.executor->forward(true));
  expectNear(read(bound.executor->outputs()[0]), {1, kE});
  EXPECT_OK(bound.executor->backward());
  expectNear(read(bound.gradA), {2, 0.5f * kE});
  expectNear(read(bound.gradB), {0, kE});
  NDArray head = makeArray(bound.runtime, {2}, {10, 100});
  EXPECT_OK(bound.executor->backward({&head, 1}));
  expectNear(read(bound.gradA), {20, 50 * kE});
  // The gradients' arrays are read and written in the order of the calls.
  EXPECT_OK(bound.gradA.fill(0));
  expectNear(read(bound.gradA), {0, 0});
}

TEST(ExecutorTest, RunsAStepAsOneProgram) {
  Bound bound;
  ASSERT_TRUE(bound.executor);
  EXPECT_OK(bound.executor->forwardBackward());
  expectNear(read(bound.executor->outputs()[0]), {1, kE});
  expectNear(read(bound.gradA), {2, 0.5f * kE});
  EXPECT_FAILS(bound.executor->backward(), InvalidArgument,
               "expected a forward run for training before backward");
}

TEST(ExecutorTest, AddsGradients) {
  Bound bound(GradientRequest::Add);
  ASSERT_TRUE(bound.executor);
  EXPECT_OK(bound.executor->forward(true));
  EXPECT_OK(bound.executor->backward());
  EXPECT_OK(bound.executor->backward());
  expectNear(read(bound.gradA), {7 + 2 * 2, 8 + kE});
  EXPECT_OK(bound.executor->forwardBackward());
  expectNear(read(bound.gradB), {70, 80 + 3 * kE});
}

/// Of a batch normalisation, of a weight with two readers and of an argument
/// whose gradient has four terms: what is added is what would be written.
TEST(ExecutorTest, AddsGradientsOfAnyNumberOfTerms) {
  Symbol x = Symbol::variable("x"), w = Symbol::variable("w");
  auto product = [&](const Symbol &data) {
    return Symbol::apply("FullyConnected", {data, w},
                         {{"num_hidden", "3"}, {"no_bias", "True"}});
  };
  Symbol normal =
      Symbol::apply("BatchNorm", {product(x)}, {{"fix_gamma", "False"}}, "n");
  Symbol y = product(normal) * x + x * x + normal;
  std::map<std::string, Floats> written;
  for (auto request : {GradientRequest::Write, GradientRequest::Add}) {
    auto runtime = makeRuntime();
    auto executor = take(simpleBind(
        y, runtime, {.shapes = {{"x", {4, 3}}}, .types = {}}, request));
    ASSERT_TRUE(executor);
    for (const std::string &name : executor->network().arguments()) {
      NDArray argument = *executor->argument(name);
      Floats values(argument.size());
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = std::sin(float(name.size() + 3 * i));
      write(argument, values);
      EXPECT_OK(executor->gradient(name)->fill(5));
    }
    EXPECT_OK(executor->forward(true));
    EXPECT_OK(executor->backward());
    for (const std::string &name : executor->network().arguments()) {
      Floats found = read(*executor->gradient(name));
      if (request == GradientRequest::Write)
        written[name] = found;
      for (size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i],
                    written[name][i] +
                        (request == GradientRequest::Add ? 5.f : 0.f),
                    1e-5 * std::max(1.f, std::abs(found[i])))
            << name << " " << i;
    }
  }
}

TEST(ExecutorTest, LeavesGradientsAloneThatAreNotRequested) {
  auto runtime = makeRuntime();
  NDArray grad = makeArray(runtime, {2}, {7, 8});
  Bindings bindings{{makeArray(runtime, {2}, kA), makeArray(runtime, {2}, kB)},
                    {grad, {}},
                    {},
                    {}};
  auto executor = take(bind(makeProduct(), std::move(bindings)));
  ASSERT_TRUE(executor);
  EXPECT_OK(executor->forward(true));
  EXPECT_OK(executor->backward());
  expectNear(read(grad), {2, 0.5f * kE});
  EXPECT_FAILS(executor->gradient("b").status(), NotFound,
               "expected an argument whose gradient was requested, got 'b'");
}

TEST(ExecutorTest, TakesGradientsOfEachOutput) {
  Symbol a = Symbol::variable("a");
  Symbol group = Symbol::group({Symbol::apply("sin", {a}, {}, "s"), a * 3.0});
  auto runtime = makeRuntime();
  auto executor =
      take(simpleBind(group, runtime, {.shapes = {{"a", {1}}}, .types = {}}));
  ASSERT_TRUE(executor);
  EXPECT_OK(executor->argument("a")->fill(0));
  NDArray heads[] = {makeArray(runtime, {1}, {2}),
                     makeArray(runtime, {1}, {5})};
  EXPECT_OK(executor->forwardBackward(heads));
  expectNear(read(*executor->gradient("a")), {2 + 15});
  EXPECT_FAILS(executor->forwardBackward({heads, 1}), InvalidArgument,
               "expected a gradient for each of the 2 outputs");
  NDArray wrong[] = {heads[0], makeArray(runtime, {2}, {5, 5})};
  EXPECT_FAILS(executor->forwardBackward(wrong), InvalidArgument,
               "expected a gradient of 1xf32, got 2xf32");
  EXPECT_OK(executor->forward(true));
  EXPECT_FAILS(executor->backward({heads, 1}), InvalidArgument,
               "expected a gradient for each of the 2 outputs");
}

TEST(ExecutorTest, TakesOneArrayForTwoArguments) {
  auto runtime = makeRuntime();
  NDArray both = makeArray(runtime, {2}, {1, 3}),
          gradA = makeArray(runtime, {2}, {0, 0});
  Symbol a = Symbol::variable("a"), b = Symbol::variable("b");
  auto executor = take(bind(a * b, {{both, both}, {gradA, {}}, {}, {}}));
  ASSERT_TRUE(executor);
  EXPECT_OK(executor->forwardBackward());
  EXPECT_EQ(read(executor->outputs()[0]), (Floats{1, 9}));
  EXPECT_EQ(read(gradA), (Floats{1, 3}));
}

/// A gradient may replace the argument itself: a step of a fixed point.
TEST(ExecutorTest, WritesAGradientOverItsArgument) {
  auto runtime = makeRuntime();
  NDArray a = makeArray(runtime, {2}, {1, 3});
  Symbol symbol = Symbol::variable("a");
  auto executor = take(bind(symbol * symbol, {{a}, {a}, {}, {}}));
  ASSERT_TRUE(executor);
  EXPECT_OK(executor->forwardBackward());
  EXPECT_EQ(read(executor->outputs()[0]), (Floats{1, 9}));
  EXPECT_EQ(read(a), (Floats{2, 6}));
}

TEST(ExecutorTest, RunsAfterItsEnd) {
  Bound bound;
  ASSERT_TRUE(bound.executor);
  NDArray output = bound.executor->outputs()[0];
  EXPECT_OK(bound.executor->forwardBackward());
  bound.executor.reset();
  expectNear(read(output), {1, kE});
  expectNear(read(bound.gradB), {0, kE});
}

//===-- Refusals ----------------------------------------------------------===//

TEST(ExecutorTest, NamesWhatIsWrongWithBoundArrays) {
  auto runtime = makeRuntime();
  NDArray two = makeArray(runtime, {2}, kA),
          three = makeArray(runtime, {3}, {1, 2, 3});
  NDArray ints = *NDArray::create(runtime, DLC_I32, {2});
  auto failure = [&](Bindings bindings) {
    return std::move(bind(makeProduct(), std::move(bindings)).status());
  };
  EXPECT_FAILS(failure({{two}, {}, {}, {}}), InvalidArgument,
               "expected 2 arguments (a, b), got 1");
  EXPECT_FAILS(failure({{two, {}}, {}, {}, {}}), InvalidArgument,
               "'b': expected an array, got null");
  EXPECT_FAILS(failure({{two, three}, {}, {}, {}}), InvalidArgument,
               "(elemwise_mul): input 'lhs' (variable 'a'): expected (3,), got "
               "(2,)");
  EXPECT_FAILS(failure({{two, ints}, {}, {}, {}}), InvalidArgument, "int32");
  EXPECT_FAILS(failure({{two, two}, {two}, {}, {}}), InvalidArgument,
               "expected 2 gradients (a, b), got 1");
  EXPECT_FAILS(failure({{two, two}, {three, {}}, {}, {}}), InvalidArgument,
               "argument 'a': expected a gradient of 2xf32, got 3xf32");
  EXPECT_FAILS(failure({{two, two}, {two, two}, {}, {}}), InvalidArgument,
               "gradient of argument 'a': expected memory of its own, got that "
               "of gradient of argument 'b'");
  EXPECT_FAILS(
      failure(
          {{two, two}, {}, {GradientRequest::Add, GradientRequest::Null}, {}}),
      InvalidArgument, "argument 'a': expected an array for its gradient");
  EXPECT_FAILS(failure({{two, two}, {}, {}, {two}}), InvalidArgument,
               "expected 0 auxiliary states (none), got 1");
  auto other = makeRuntime();
  EXPECT_FAILS(failure({{two, makeArray(other, {2}, kB)}, {}, {}, {}}),
               InvalidArgument, "'b'");
  EXPECT_EQ(read(two), kA) << "the caller's arrays stay as they were";
}

/// What a run updates, nothing else may be in.
TEST(ExecutorTest, RefusesToUpdateMemoryOfOthers) {
  auto runtime = makeRuntime();
  Symbol normal = Symbol::apply("BatchNorm", {Symbol::variable("x")}, {}, "bn");
  NDArray data = makeArray(runtime, {1, 2}, {1, 1}),
          gamma = makeArray(runtime, {2}, {1, 1}),
          beta = makeArray(runtime, {2}, {0, 0}),
          mean = makeArray(runtime, {2}, {0, 0}),
          variance = makeArray(runtime, {2}, {1, 1}),
          gradient = makeArray(runtime, {2}, {0, 0});
  auto failure = [&](Bindings bindings) {
    return std::move(bind(normal, std::move(bindings)).status());
  };
  EXPECT_FAILS(failure({{data, gamma, beta}, {}, {}, {mean, mean}}),
               InvalidArgument,
               "auxiliary state 'bn_moving_mean': expected memory of its own, "
               "got that of auxiliary state 'bn_moving_var'");
  EXPECT_FAILS(failure({{data, gamma, beta}, {}, {}, {mean, gamma}}),
               InvalidArgument,
               "auxiliary state 'bn_moving_var': expected memory of its own, "
               "got that of argument 'bn_gamma'");
  EXPECT_FAILS(
      failure({{data, gamma, beta}, {{}, mean, {}}, {}, {mean, variance}}),
      InvalidArgument,
      "auxiliary state 'bn_moving_mean': expected memory of its own, got that "
      "of gradient of argument 'bn_gamma'");
  // The gradients of outputs are bound when a run is pushed.
  auto executor = take(bind(
      normal, {{data, gamma, beta}, {{}, {}, gradient}, {}, {mean, variance}}));
  ASSERT_TRUE(executor);
  NDArray head[] = {*mean.reshape({1, 2})};
  EXPECT_FAILS(executor->forwardBackward(head), InvalidArgument,
               "expected memory apart from that of 'bn_moving_mean', which the "
               "run updates");
  head[0] = makeArray(runtime, {1, 2}, {1, 2});
  EXPECT_OK(executor->forwardBackward(head));
  EXPECT_EQ(read(gradient), (Floats{1, 2}));
}

/// Where MXNet 1.9.1 writes ones to a gamma that it fixes, by what has a
/// gradient and whether it trains: so its CPU kernels did, plain and of a
/// library.
TEST(ExecutorTest, FillsFixedGammasWithOnes) {
  Symbol x = Symbol::variable("x"), g = Symbol::variable("g"),
         before = Symbol::variable("before"), after = Symbol::variable("after");
  auto normal = [&](const char *isFixed) {
    return Symbol::apply("BatchNorm", {x * before, g}, {{"fix_gamma", isFixed}},
                         "n");
  };
  auto runtime = makeRuntime();
  auto gammaAfter = [&](const Symbol &symbol, const std::string &wrt,
                        bool isTraining) {
    auto executor = take(simpleBind(
        symbol, runtime,
        {.shapes = {{"x", {2, 3}}, {"before", {2, 3}}, {"after", {2, 3}}},
         .types = {}},
        GradientRequest::Null, {{wrt, GradientRequest::Write}}));
    NDArray gamma = *executor->argument("g");
    write(gamma, {2, 3, 4});
    EXPECT_OK(executor->forward(isTraining));
    Floats first = read(gamma);
    write(gamma, {5, 6, 7});
    EXPECT_OK(executor->forwardBackward());
    EXPECT_EQ(read(gamma) == Floats({1, 1, 1}), first == Floats({1, 1, 1}))
        << "in each run";
    return first;
  };
  const Floats ones = {1, 1, 1}, own = {2, 3, 4};
  Symbol network = normal("True") * after;
  for (bool isTraining : {false, true}) {
    for (const char *wrt : {"x", "before", "g", "n_beta"})
      EXPECT_EQ(gammaAfter(network, wrt, isTraining), ones) << wrt;
    EXPECT_EQ(gammaAfter(network, "after", isTraining), own);
    EXPECT_EQ(gammaAfter(normal("False") * after, "x", isTraining), own);
  }
  // Not what others read: that would change what they compute.
  Symbol shared = Symbol::group({network, g * 2.0});
  EXPECT_EQ(gammaAfter(shared, "x", true), own);
}

/// Dropout scales what it keeps, backward with the mask of the run forward, and
/// draws another mask in each run.
TEST(ExecutorTest, DrawsRandomNumbersWhileTraining) {
  Symbol a = Symbol::variable("a");
  Symbol dropout = Symbol::apply("Dropout", {a * 1.0}, {{"p", "0.5"}}, "d");
  auto runtime = makeRuntime();
  auto executor = take(
      simpleBind(dropout, runtime, {.shapes = {{"a", {64}}}, .types = {}}));
  ASSERT_TRUE(executor);
  EXPECT_OK(executor->argument("a")->fill(3));
  EXPECT_OK(executor->forward());
  EXPECT_EQ(read(executor->outputs()[0]), Floats(64, 3));
  Floats last;
  for (int i = 0; i < 2; ++i) {
    EXPECT_OK(executor->forward(true));
    EXPECT_OK(executor->backward());
    Floats output = read(executor->outputs()[0]),
           gradient = read(*executor->gradient("a"));
    for (size_t j = 0; j < output.size(); ++j) {
      EXPECT_TRUE(output[j] == 0 || output[j] == 6) << output[j];
      EXPECT_EQ(gradient[j], output[j] / 3) << j;
    }
    EXPECT_NE(output, last);
    last = output;
  }
}

/// Slopes below 0 are of the interval, the gradient has the same ones, and a
/// run for inference has their mean.
TEST(ExecutorTest, DrawsSlopesWhileTraining) {
  Symbol relu = Symbol::apply(
      "LeakyReLU", {Symbol::variable("a")},
      {{"act_type", "rrelu"}, {"lower_bound", "0.1"}, {"upper_bound", "0.5"}},
      "r");
  auto runtime = makeRuntime();
  auto executor = take(
      simpleBind(relu[0], runtime, {.shapes = {{"a", {64}}}, .types = {}}));
  ASSERT_TRUE(executor);
  EXPECT_OK(executor->argument("a")->fill(-1));
  EXPECT_OK(executor->forward());
  expectNear(read(executor->outputs()[0]), Floats(64, -0.3f));
  EXPECT_OK(executor->forward(true));
  EXPECT_OK(executor->backward());
  Floats output = read(executor->outputs()[0]),
         gradient = read(*executor->gradient("a"));
  for (size_t i = 0; i < output.size(); ++i) {
    EXPECT_LE(output[i], -0.1f);
    EXPECT_GE(output[i], -0.5f);
    EXPECT_EQ(gradient[i], -output[i]);
  }
  EXPECT_GT(std::set<float>(output.begin(), output.end()).size(), 32u);
}

TEST(ExecutorTest, LossesOfAlignmentsTellNoNumberFromNone) {
  auto loss = [](Floats data, Floats labels) {
    std::vector<int64_t> shape = {int64_t(data.size()) / 3, 1, 3},
                         label = {1, int64_t(labels.size())};
    auto executor = take(simpleBind(
        Symbol::apply("CTCLoss", {Symbol::variable("a"), Symbol::variable("b")},
                      {}, "c"),
        makeRuntime(), {.shapes = {{"a", shape}, {"b", label}}, .types = {}}));
    write(*executor->argument("a"), data);
    write(*executor->argument("b"), labels);
    EXPECT_OK(executor->forward());
    return read(executor->outputs()[0])[0];
  };
  constexpr float inf = INFINITY;
  EXPECT_TRUE(std::isnan(loss({0, 0, 0, NAN, 0, 0, 0, 0, 0}, {1, 2})));
  Floats unlikely = {0, 0, 0, 0, -1e4f, 0, -1e4f, -1e4f, 0, 0, 0, 0};
  Floats impossible = {0, 0, 0, 0, -inf, 0, -inf, -inf, 0, 0, 0, 0};
  EXPECT_GT(loss(unlikely, {1, 2}), 1);
  EXPECT_EQ(loss(impossible, {1, 2}), loss(unlikely, {1, 2}));
  EXPECT_EQ(loss(impossible, {1, 1}), 0) << "of no alignment";
  EXPECT_EQ(loss(Floats(12), {7, 0}), loss(Floats(12), {2, 0}));
}

TEST(ExecutorTest, RefusesNetworksThatItCannotRun) {
  auto runtime = makeRuntime();
  Symbol a = Symbol::variable("a"), other = Symbol::variable("a");
  EXPECT_FAILS(makeNetwork(a + other).status(), InvalidArgument,
               "expected distinct names of variables, got 'a' twice");
  Symbol often =
      Symbol::apply("exp", {a}, {{"force_mirroring", "perhaps"}}, "often");
  EXPECT_FAILS(simpleBind(often, runtime, {.shapes = {{"a", {1}}}, .types = {}})
                   .status(),
               InvalidArgument,
               "node 'often' (exp): attribute '__force_mirroring__': expected "
               "True, False, 1 or 0, got 'perhaps'");
  Symbol beyond = Symbol::apply(
      "slice_axis", {a}, {{"axis", "0"}, {"begin", "5"}, {"end", "9"}}, "s");
  EXPECT_FAILS(
      simpleBind(beyond, runtime, {.shapes = {{"a", {2}}}, .types = {}})
          .status(),
      InvalidArgument,
      "node 's' (slice_axis): parameters 'begin' and 'end': expected 0 <= "
      "begin "
      "< end <= 2, the extent of axis 0, got 5 and 9");
  EXPECT_FAILS(makeNetwork(Symbol()).status(), InvalidArgument, "empty group");
  EXPECT_FAILS(simpleBind(a, runtime, {}).status(), InvalidArgument,
               "expected enough to tell the shapes");
  EXPECT_FAILS(
      simpleBind(a, runtime, {.shapes = {{"b", {1}}}, .types = {}}).status(),
      InvalidArgument, "'b'");
  EXPECT_FAILS(simpleBind(a, runtime, {.shapes = {{"a", {1}}}, .types = {}},
                          GradientRequest::Write, {{"b", GradientRequest::Add}})
                   .status(),
               InvalidArgument, "got 'b'");
}

//===-- Parameters, monitors, text ----------------------------------------===//

TEST(ExecutorTest, CopiesParametersAllOrNone) {
  Bound bound;
  ASSERT_TRUE(bound.executor);
  NDArray value = makeArray(bound.runtime, {2}, {5, 6}),
          three = makeArray(bound.runtime, {3}, {1, 2, 3});
  EXPECT_FAILS(bound.executor->copyParameters({{"a", value}, {"b", three}}),
               InvalidArgument, "'b': expected a value of 2xf32, got 3xf32");
  EXPECT_FAILS(bound.executor->copyParameters({{"a", value}, {"c", value}}),
               NotFound, "expected an argument (a, b), got 'c'");
  EXPECT_EQ(read(bound.a), kA);
  EXPECT_OK(bound.executor->copyParameters({{"a", value}, {"c", value}}, {},
                                           /*allowsUnknown=*/true));
  EXPECT_EQ(read(bound.a), (Floats{5, 6}));
  EXPECT_EQ(read(bound.b), kB);
}

TEST(ExecutorTest, TellsAMonitorOfEveryNode) {
  Symbol a = Symbol::variable("a");
  Symbol s = Symbol::apply("sin", {a}, {}, "s");
  Symbol e = Symbol::apply("exp", {s}, {}, "e");
  auto runtime = makeRuntime();
  auto executor =
      take(simpleBind(e, runtime, {.shapes = {{"a", {1}}}, .types = {}}));
  ASSERT_TRUE(executor);
  std::map<std::string, Floats> seen;
  auto monitor = [&](const std::string &name, const NDArray &array) {
    seen[name] = read(array);
  };
  executor->setMonitor(monitor);
  EXPECT_OK(executor->forward());
  EXPECT_EQ(seen, (std::map<std::string, Floats>{{"s_output", {0}},
                                                 {"e_output", {1}}}));
  seen.clear();
  executor->setMonitor(monitor, /*tellsVariables=*/true);
  EXPECT_OK(executor->forward(true));
  EXPECT_EQ(seen["a"], Floats{0});
  EXPECT_EQ(seen.size(), 3u);
  seen.clear();
  executor->setMonitor({});
  EXPECT_OK(executor->forward());
  EXPECT_TRUE(seen.empty());
}

// Statistics of the batch, and the mask that the run draws.
TEST(ExecutorTest, TellsAMonitorOfWhatTrainingComputes) {
  Symbol a = Symbol::variable("a");
  Symbol n = Symbol::apply("BatchNorm", {a}, {}, "n");
  Symbol d = Symbol::apply("Dropout", {n}, {{"mode", "always"}}, "d");
  auto runtime = makeRuntime();
  auto executor = take(simpleBind(Symbol::group({n, d}), runtime,
                                  {.shapes = {{"a", {64, 2}}}, .types = {}}));
  ASSERT_TRUE(executor);
  Floats values(128);
  for (size_t i = 0; i != values.size(); ++i)
    values[i] = static_cast<float>(i % 7);
  write(*executor->argument("a"), values);
  std::map<std::string, Floats> seen;
  executor->setMonitor([&](const std::string &name, const NDArray &array) {
    seen[name] = read(array);
  });
  NDArray mean = *executor->auxiliaryState("n_moving_mean");
  auto expectTold = [&](int line) {
    expectNear(seen["n_output"], read(executor->outputs()[0]));
    Floats masked = read(executor->outputs()[1]);
    expectNear(seen["d_output"], masked);
    EXPECT_GT(std::ranges::count(masked, 0.0f), 20) << line;
    return masked;
  };
  EXPECT_OK(executor->forward(true));
  Floats first = expectTold(__LINE__), once = read(mean);
  EXPECT_OK(executor->backward());
  EXPECT_OK(executor->forwardBackward());
  EXPECT_NE(expectTold(__LINE__), first);
  EXPECT_OK(executor->forward());
  expectTold(__LINE__);
  // One update in each run of the two, and not in those of the monitor.
  for (size_t i = 0; i != once.size(); ++i)
    EXPECT_NEAR(read(mean)[i], once[i] * 1.9f, 1e-5f);
}

TEST(ExecutorTest, RunsNetworksWithoutVariables) {
  auto runtime = makeRuntime();
  Symbol ones = Symbol::apply("_ones", {}, {{"shape", "(2,)"}}, "o");
  Symbol drawn = Symbol::apply("_random_uniform", {}, {{"shape", "(2,)"}}, "r");
  Symbol both = Symbol::group({ones, drawn});
  auto executor = take(simpleBind(both, runtime, {}));
  ASSERT_TRUE(executor);
  EXPECT_OK(executor->forward());
  EXPECT_EQ(read(executor->outputs()[0]), (Floats{1, 1}));
  Floats first = read(executor->outputs()[1]);
  EXPECT_OK(executor->forward(true));
  EXPECT_OK(executor->backward());
  EXPECT_NE(read(executor->outputs()[1]), first);
  EXPECT_OK(executor->forwardBackward());
  auto again = executor->reshape({});
  ASSERT_TRUE(again.isOk()) << again.status().message();
  EXPECT_OK((*again)->forward());
  EXPECT_EQ(read((*again)->outputs()[0]), (Floats{1, 1}));
  EXPECT_FAILS(bind(both, {}).status(), InvalidArgument,
               "got a network without variables");
}

TEST(ExecutorTest, RunsOutputsOfOneName) {
  Symbol a = Symbol::variable("a");
  Symbol e = Symbol::apply("exp", {a}, {}, "y");
  Symbol s = Symbol::apply("sin", {a}, {}, "y");
  auto runtime = makeRuntime();
  auto executor = take(simpleBind(Symbol::group({e, e, s, a}), runtime,
                                  {.shapes = {{"a", {1}}}, .types = {}}));
  ASSERT_TRUE(executor);
  EXPECT_EQ(
      executor->network().outputs(),
      (std::vector<std::string>{"y_output", "y_output", "y_output", "a"}));
  std::vector<std::pair<std::string, Floats>> seen;
  executor->setMonitor([&](const std::string &name, const NDArray &array) {
    seen.emplace_back(name, read(array));
  });
  std::vector<NDArray> heads;
  for (float head : {1.0f, 10.0f, 100.0f, 1000.0f})
    heads.push_back(makeArray(runtime, {1}, {head}));
  EXPECT_OK(executor->forward(true));
  EXPECT_OK(executor->backward(heads));
  Floats values;
  for (const NDArray &output : executor->outputs())
    values.push_back(read(output)[0]);
  EXPECT_EQ(values, (Floats{1, 1, 0, 0}));
  EXPECT_EQ(read(*executor->gradient("a")), Floats{1111});
  EXPECT_OK(executor->forwardBackward(heads));
  EXPECT_EQ(read(*executor->gradient("a")), Floats{1111});
  EXPECT_EQ(read(*executor->output("y_output")), Floats{1});
  ASSERT_EQ(seen.size(), 4u);
  EXPECT_EQ(seen[0], std::pair(std::string("y_output"), Floats{1}));
  EXPECT_EQ(seen[1], std::pair(std::string("y_output"), Floats{0}));
}

TEST(ExecutorTest, DescribesNodesAndPlannedBytes) {
  Bound bound;
  ASSERT_TRUE(bound.executor);
  std::string before = bound.executor->describe();
  EXPECT_NE(before.find("y"), std::string::npos) << before;
  EXPECT_NE(before.find("total 8 bytes"), std::string::npos) << before;
  EXPECT_OK(bound.executor->forward(true));
  std::string after = bound.executor->describe();
  EXPECT_NE(after.find("forward: "), std::string::npos) << after;
  EXPECT_NE(after.find("saved 8"), std::string::npos) << after;
}

//===-- Errors of runs ----------------------------------------------------===//

TEST(ExecutorTest, ReportsAnArrayThatWasNeverWritten) {
  auto runtime = makeRuntime();
  NDArray a = makeArray(runtime, {2}, kA);
  NDArray never = *NDArray::create(runtime, DLC_F32, {2});
  auto executor = take(bind(makeProduct(), {{a, never}, {}, {}, {}}));
  ASSERT_TRUE(executor);
  EXPECT_OK(executor->forward());
  EXPECT_FAILS(executor->outputs()[0].waitToRead(), InvalidArgument, "'b'");
  // And runs again once it was.
  write(never, kB);
  EXPECT_OK(executor->forward());
  expectNear(read(executor->outputs()[0]), {1, kE});
}
