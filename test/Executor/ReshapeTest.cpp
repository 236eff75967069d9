// SPDX-License-Identifier: Apache-2.0
//
// Executors of one network in several shapes, and memory that they share.

#include "ExecutorTesting.h"

using namespace dlc;
using namespace dlc::test;

namespace {

/// Counts what is compiled, and accepts no batch of three.
class CountingNetwork final : public rt::Network {
public:
  explicit CountingNetwork(std::shared_ptr<const rt::Network> network)
      : inner(std::move(network)) {}

  const std::vector<std::string> &arguments() const override {
    return inner->arguments();
  }
  const std::vector<std::string> &auxiliaryStates() const override {
    return inner->auxiliaryStates();
  }
  const std::vector<std::string> &outputs() const override {
    return inner->outputs();
  }
  Result<rt::NetworkTypes>
  infer(const rt::KnownVariables &known) const override {
    return inner->infer(known);
  }
  Status check(const rt::ProgramRequest &request) const override {
    if (request.arguments.front().shape.front() == 3)
      return Status(StatusCode::Unsupported, "a batch of three");
    return inner->check(request);
  }
  Result<rt::NetworkProgram>
  compile(const rt::ProgramRequest &request) const override {
    ++count;
    return inner->compile(request);
  }
  std::string describe() const override { return inner->describe(); }

  mutable int count = 0;

private:
  std::shared_ptr<const rt::Network> inner;
};

struct Batches {
  Batches() : runtime(makeRuntime()) {
    Symbol fc = Symbol::apply("FullyConnected", {Symbol::variable("data")},
                              {{"num_hidden", "1"}, {"no_bias", "True"}}, "fc");
    auto made = makeNetwork(fc);
    EXPECT_TRUE(made.isOk()) << made.status().message();
    network = std::make_shared<CountingNetwork>(std::move(*made));
    four = take(Executor::simpleBind(
        network, runtime, {.shapes = {{"data", {4, 2}}}, .types = {}}));
    write(*four->argument("fc_weight"), {1, 10});
    write(*four->argument("data"), {1, 2, 3, 4, 5, 6, 7, 8});
  }

  std::shared_ptr<ArrayRuntime> runtime;
  std::shared_ptr<CountingNetwork> network;
  std::unique_ptr<Executor> four;
};

} // namespace

TEST(ReshapeTest, SharesParametersMemoryAndPrograms) {
  Batches batches;
  ASSERT_TRUE(batches.four);
  EXPECT_OK(batches.four->forward());
  EXPECT_EQ(read(batches.four->outputs()[0]), (Floats{21, 43, 65, 87}));
  EXPECT_EQ(batches.network->count, 1);

  auto two = take(batches.four->reshape({{"data", {2, 2}}}));
  ASSERT_TRUE(two);
  EXPECT_TRUE(two->argument("fc_weight")
                  ->sharesMemoryWith(*batches.four->argument("fc_weight")));
  EXPECT_TRUE(
      two->argument("data")->sharesMemoryWith(*batches.four->argument("data")));
  EXPECT_OK(two->forward());
  EXPECT_EQ(read(two->outputs()[0]), (Floats{21, 43}));
  EXPECT_EQ(batches.network->count, 2);

  // Back to the former shape, still in the first array's memory.
  auto back = take(two->reshape({{"data", {4, 2}}}));
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->argument("data")->sharesMemoryWith(
      *batches.four->argument("data")));
  EXPECT_OK(back->forward());
  EXPECT_EQ(read(back->outputs()[0]), (Floats{21, 43, 65, 87}));
  EXPECT_EQ(batches.network->count, 2) << "planned again only for new shapes";
}

TEST(ReshapeTest, TrainsInEachShape) {
  Batches batches;
  ASSERT_TRUE(batches.four);
  auto two = take(batches.four->reshape({{"data", {2, 2}}}));
  ASSERT_TRUE(two);
  EXPECT_OK(batches.four->forwardBackward());
  EXPECT_EQ(read(*batches.four->gradient("fc_weight")), (Floats{16, 20}));
  EXPECT_OK(two->forward(true));
  EXPECT_OK(two->backward());
  // One array of gradients serves both.
  EXPECT_EQ(read(*batches.four->gradient("fc_weight")), (Floats{4, 6}));
}

TEST(ReshapeTest, GrowsOnlyWhenAllowed) {
  Batches batches;
  ASSERT_TRUE(batches.four);
  std::map<std::string, std::vector<int64_t>> large = {{"data", {8, 2}}};
  EXPECT_FAILS(batches.four->reshape(large).status(), InvalidArgument,
               "argument 'data': expected at most the memory of 4x2xf32, got "
               "8x2xf32");
  rt::ReshapeOptions grows{.allowsOthers = false, .allowsGrowth = true};
  auto eight = take(batches.four->reshape(large, grows));
  ASSERT_TRUE(eight);
  EXPECT_FALSE(eight->argument("data")->sharesMemoryWith(
      *batches.four->argument("data")));
  EXPECT_OK(eight->forward());
  EXPECT_EQ(read(eight->outputs()[0]), Floats(8, 0));
}

TEST(ReshapeTest, RefusesChangesOfOtherShapes) {
  Batches batches;
  ASSERT_TRUE(batches.four);
  std::map<std::string, std::vector<int64_t>> narrow = {{"data", {4, 1}}};
  EXPECT_FAILS(batches.four->reshape(narrow).status(), InvalidArgument,
               "argument 'fc_weight': expected its shape to stay 1x2xf32 or to "
               "be given, got 1x1xf32");
  EXPECT_FAILS(batches.four->reshape({{"label", {4, 1}}}).status(),
               InvalidArgument, "'label'");
  rt::ReshapeOptions others{.allowsOthers = true, .allowsGrowth = false};
  auto executor = take(batches.four->reshape(narrow, others));
  ASSERT_TRUE(executor);
  EXPECT_OK(executor->forward());
  EXPECT_EQ(read(executor->outputs()[0]), (Floats{1, 2, 3, 4}));
}

/// As bind() does: before a run asks for a program.
TEST(ReshapeTest, RefusesWhatHasNoProgram) {
  Batches batches;
  ASSERT_TRUE(batches.four);
  EXPECT_FAILS(batches.four->reshape({{"data", {3, 2}}}).status(), Unsupported,
               "a batch of three");
}

TEST(ReshapeTest, SharesTheArenaOfAnotherExecutor) {
  auto runtime = makeRuntime();
  Symbol x = Symbol::variable("x");
  Symbol chain = Symbol::apply(
      "softmax",
      {Symbol::apply("FullyConnected", {x}, {{"num_hidden", "3"}}, "fc")}, {},
      "p");
  auto first = take(
      simpleBind(chain, runtime, {.shapes = {{"x", {64, 4}}}, .types = {}}));
  ASSERT_TRUE(first);
  rt::ExecutorOptions options;
  options.shared = first.get();
  auto second =
      take(simpleBind(chain, runtime, {.shapes = {{"x", {8, 4}}}, .types = {}},
                      GradientRequest::Write, {}, rt::Context::cpu(), options));
  ASSERT_TRUE(second);
  for (int i = 0; i < 10; ++i) {
    EXPECT_OK(first->forwardBackward());
    EXPECT_OK(second->forwardBackward());
  }
  EXPECT_NEAR(read(second->outputs()[0])[0], 1 / 3.f, 1e-6);
  EXPECT_NEAR(read(first->outputs()[0])[0], 1 / 3.f, 1e-6);
  first.reset();
  EXPECT_OK(second->forward());
  EXPECT_NEAR(read(second->outputs()[0])[5], 1 / 3.f, 1e-6);
  auto other = makeRuntime();
  options.shared = second.get();
  EXPECT_FAILS(
      simpleBind(chain, other, {.shapes = {{"x", {8, 4}}}, .types = {}},
                 GradientRequest::Write, {}, rt::Context::cpu(), options)
          .status(),
      InvalidArgument, "of the same engine");
}
