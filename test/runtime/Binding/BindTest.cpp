// SPDX-License-Identifier: Apache-2.0
//
// What can be bound, and where what is made for it lies. The network here runs
// nothing.

#include "../InChild.h"
#include "dlc/runtime/Binding/Executor.h"
#include "dlc/runtime/Storage/Storage.h"

#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <thread>

using namespace dlc;
using namespace dlc::rt;

namespace {

/// Arguments a and b and outputs y and z, all as long as a. All but y are in
/// groups with a device each.
class TestNetwork final : public Network {
public:
  const std::vector<std::string> &arguments() const override {
    static const std::vector<std::string> names = {"a", "b"};
    return names;
  }
  const std::vector<std::string> &auxiliaryStates() const override {
    static const std::vector<std::string> none;
    return none;
  }
  const std::vector<std::string> &outputs() const override {
    static const std::vector<std::string> names = {"y", "z"};
    return names;
  }
  Result<NetworkTypes> infer(const KnownVariables &known) const override {
    TensorType type{DLC_F32, known.shapes.at("a")};
    return NetworkTypes{{type, type}, {}, {type, type}};
  }
  Status check(const ProgramRequest &) const override { return Status::ok(); }
  Result<NetworkProgram> compile(const ProgramRequest &) const override {
    if (whileCompiling)
      whileCompiling();
    return makeError(StatusCode::Unsupported, "expected no run");
  }
  bool isPlaced() const override { return true; }
  std::optional<Context> groupContext(PortRole role,
                                      size_t index) const override {
    if (role == PortRole::Output)
      return index ? std::optional(Context::cpu(3)) : std::nullopt;
    return Context::cpu(static_cast<int16_t>(1 + index));
  }
  std::string describe() const override { return "a network\n"; }

  std::function<void()> whileCompiling;
};

class BindTest : public testing::Test {
protected:
  void SetUp() override {
    EngineOptions options;
    options.kind = EngineKind::Naive;
    auto engine = Engine::create(options);
    ASSERT_TRUE(engine.isOk()) << engine.status().message();
    runtime = std::make_shared<ArrayRuntime>(std::move(*engine), storage);
  }
  NDArray make(Context context = Context::cpu()) const {
    auto array = NDArray::create(runtime, DLC_F32, {4}, context);
    EXPECT_TRUE(array.isOk()) << array.status().message();
    return *array;
  }
  Status statusOf(const Bindings &bindings) const {
    return std::move(Executor::bind(network, bindings).status());
  }

  const std::shared_ptr<Storage> storage = std::make_shared<Storage>();
  std::shared_ptr<ArrayRuntime> runtime;
  const std::shared_ptr<TestNetwork> network = std::make_shared<TestNetwork>();
};

} // namespace

TEST_F(BindTest, WhatIsInNoGroupIsWhereItIsAskedFor) {
  auto executor = Executor::simpleBind(
      network, runtime, {.shapes = {{"a", {4}}}, .types = {}},
      GradientRequest::Null, {}, Context::cpu(4));
  ASSERT_TRUE(executor.isOk()) << executor.status().message();
  auto reshaped = (*executor)->reshape({{"a", {2}}}, {.allowsOthers = true});
  ASSERT_TRUE(reshaped.isOk()) << reshaped.status().message();
  for (const Executor *each : {executor->get(), reshaped->get()}) {
    EXPECT_EQ(each->arguments()[0].context(), Context::cpu(1));
    EXPECT_EQ(each->arguments()[1].context(), Context::cpu(2));
    EXPECT_EQ(each->outputs()[0].context(), Context::cpu(4));
    EXPECT_EQ(each->outputs()[1].context(), Context::cpu(3));
  }
  // Nobody asks: with the first argument.
  Bindings bindings;
  bindings.arguments = {make(Context::cpu(1)), make(Context::cpu(2))};
  auto bound = Executor::bind(network, bindings);
  ASSERT_TRUE(bound.isOk()) << bound.status().message();
  EXPECT_EQ((*bound)->outputs()[0].context(), Context::cpu(1));
}

TEST_F(BindTest, AGradientThatIsAddedToIsNoArgument) {
  NDArray a = make(), b = make();
  Bindings bindings{{a, b},
                    {a, NDArray()},
                    {GradientRequest::Write, GradientRequest::Null},
                    {}};
  EXPECT_TRUE(statusOf(bindings).isOk());
  bindings.requests[0] = GradientRequest::Add;
  Status status = statusOf(bindings);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(status.message(), "gradient of argument 'a': expected memory of "
                              "its own, got that of argument 'a'");
  bindings.gradients[0] = make();
  EXPECT_TRUE(statusOf(bindings).isOk());
}

TEST_F(BindTest, ARequestIsOneOfThree) {
  Bindings bindings{{make(), make()},
                    {make(), NDArray()},
                    {GradientRequest(3), GradientRequest::Null},
                    {}};
  Status status = statusOf(bindings);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(status.message(),
            "argument 'a': expected a gradient request of 0 to 2, got 3");
  auto executor =
      Executor::simpleBind(network, runtime, {.shapes = {{"a", {4}}}},
                           GradientRequest(255), {}, Context::cpu(4));
  EXPECT_EQ(executor.status().message(),
            "argument 'a': expected a gradient request of 0 to 2, got 255");
}

TEST_F(BindTest, ElementsAreThoseOfPrograms) {
  for (DataType type : {DLC_TEXT, DLC_U4, DLC_C64, DLC_F8E5M2}) {
    Bindings bindings;
    bindings.arguments = {make(), *NDArray::create(runtime, type, {4})};
    Status status = statusOf(bindings);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_EQ(status.message(), "arguments 'b': expected elements that are "
                                "computed with, got " +
                                    toString(TensorType{type, {4}}));
  }
}

// The child must not wait for a thread that it does not have.
TEST_F(BindTest, AForkWhileAProgramIsCompiledIsSurvived) {
  Bindings bindings;
  bindings.arguments = {make(Context::cpu(1)), make(Context::cpu(2))};
  auto executor = Executor::bind(network, bindings);
  ASSERT_TRUE(executor.isOk()) << executor.status().message();
  std::atomic<int> phase = 0;
  network->whileCompiling = [&] {
    phase = 1;
    phase.notify_all();
    phase.wait(1);
  };
  std::thread other([&] {
    EXPECT_EQ((*executor)->forward(false).message(), "expected no run");
  });
  phase.wait(0);
  EXPECT_EQ(test::inChild([&] {
              Status status = (*executor)->forward(false);
              return status.code() == StatusCode::Unavailable ? 0 : 1;
            }),
            0);
  phase = 2;
  phase.notify_all();
  other.join();
}

TEST_F(BindTest, ArraysAreOnTheHost) {
  ASSERT_TRUE(
      storage
          ->setManager(Context::cuda(),
                       createNaiveManager(Context::cuda(), createHostSource()))
          .isOk());
  for (size_t i : {0, 1}) {
    Bindings bindings;
    bindings.arguments = {make(), make()};
    bindings.arguments[i] = make(Context::cuda());
    Status status = statusOf(bindings);
    EXPECT_EQ(status.code(), StatusCode::Unsupported);
    EXPECT_EQ(status.message(), "arguments '" + network->arguments()[i] +
                                    "': expected memory of the host, got "
                                    "cuda:0");
  }
}
