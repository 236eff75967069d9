// SPDX-License-Identifier: Apache-2.0
//
// Steps of training: which arguments take part and how much, what the first
// output is compared with, and what is refused.

#include "../RunFunction.h"

#include "dlc/Training/Step.h"
#include "dlc/dialects/Graph/GraphDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace dlc;
using training::Step;
using training::StepOptions;

namespace {

struct Steps : testing::Test {
  Steps() : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<graph::GraphDialect, mlir::func::FuncDialect>();
  }
  mlir::func::FuncOp parse(const std::string &text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return *module->getOps<mlir::func::FuncOp>().begin();
  }
  /// What is said of a step that cannot be built.
  std::string problemOf(const std::string &text, const StepOptions &options) {
    std::string problem;
    mlir::func::FuncOp function = parse(text);
    mlir::ScopedDiagnosticHandler handler(&context,
                                          [&](mlir::Diagnostic &diagnostic) {
                                            problem += diagnostic.str() + "\n";
                                            return mlir::success();
                                          });
    EXPECT_TRUE(failed(training::buildStep(function, options)));
    return problem;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// y = x + a + b, by elements, whose gradients are y - label.
const char regression[] = R"(
  func.func @main(%x: tensor<2xf32> {graph.name = "x"},
                  %a: tensor<2xf32> {graph.name = "a"A},
                  %b: tensor<2xf32> {graph.name = "b_bias"},
                  %label: tensor<2xf32> {graph.name = "label"})
      -> (tensor<2xf32> {graph.name = "y"}) {
    %0 = graph.add %x, %a : tensor<2xf32>
    %1 = graph.add %0, %b : tensor<2xf32>
    %2 = graph.sub %1, %label : tensor<2xf32>
    %y = graph.replace_gradient %1, %1, %2 : tensor<2xf32>
    return %y : tensor<2xf32>
  })";

std::string regressionWith(const std::string &attribute) {
  std::string text = regression;
  return text.replace(text.find("\"A}") + 1, 1, attribute);
}

/// The network alone: y = x + a.
const char network[] = R"(
  func.func @main(%x: tensor<2x3xf32> {graph.name = "x"},
                  %a: tensor<2x3xf32> {graph.name = "a"})
      -> (tensor<2x3xf32> {graph.name = "y"}) {
    %y = graph.add %x, %a : tensor<2x3xf32>
    return %y : tensor<2x3xf32>
  })";

/// x = 1, a = 2, b = 3, label = 0, so the gradients are 6.
std::map<std::string, Numbers> values() {
  return {{"x", {1, 1}},
          {"a", {2, 2}},
          {"b_bias", {3, 3}},
          {"label", {0, 0}},
          {"learning rate", {0.5}},
          {"update count", {0}}};
}

} // namespace

TEST_F(Steps, WeighRatesAndDecaysByParameter) {
  mlir::func::FuncOp function =
      parse(regressionWith(", graph.rate_factor = 0.25 : f64"));
  StepOptions options;
  options.data = {"x", "label"};
  options.optimizer.weightDecay = 0.1;
  llvm::FailureOr<Step> step = training::buildStep(function, options);
  ASSERT_TRUE(succeeded(step));
  std::map<std::string, Numbers> results = runFunction(function, values());
  // What is added does not decay.
  double a = 2 - 0.25 * 0.5 * (6 + 0.1 * 2), b = 3 - 0.5 * 6;
  expectNear(results["new a"], {a, a}, 1e-6);
  expectNear(results["new b_bias"], {b, b}, 1e-6);
}

TEST_F(Steps, PreferFactorsThatAreGiven) {
  mlir::func::FuncOp function =
      parse(regressionWith(", graph.rate_factor = 0.25 : f64, "
                           "graph.decay_factor = 0.0 : f64"));
  StepOptions options;
  options.data = {"x", "label"};
  options.optimizer.weightDecay = 0.1;
  options.factors["a"].rate = 0.5;
  options.factors["b_bias"].decay = 2;
  llvm::FailureOr<Step> step = training::buildStep(function, options);
  ASSERT_TRUE(succeeded(step));
  std::map<std::string, Numbers> results = runFunction(function, values());
  double a = 2 - 0.5 * 0.5 * 6, b = 3 - 0.5 * (6 + 2 * 0.1 * 3);
  expectNear(results["new a"], {a, a}, 1e-6);
  expectNear(results["new b_bias"], {b, b}, 1e-6);
}

TEST_F(Steps, LeaveOutWhatStays) {
  mlir::func::FuncOp function =
      parse(regressionWith(", graph.rate_factor = 0.0 : f64"));
  StepOptions options;
  options.data = {"x", "label"};
  options.optimizer.momentum = 0.9;
  llvm::FailureOr<Step> step = training::buildStep(function, options);
  ASSERT_TRUE(succeeded(step));
  EXPECT_EQ(step->frozen, std::vector<std::string>{"a"});
  EXPECT_EQ(step->parameters, std::vector<std::string>{"b_bias"});
  EXPECT_EQ(step->states, std::vector<std::string>{"b_bias momentum"});
}

TEST_F(Steps, TellLabelsFromLosses) {
  StepOptions options;
  options.data = {"x", "label"};
  llvm::FailureOr<Step> step =
      training::buildStep(parse(regressionWith("")), options);
  ASSERT_TRUE(succeeded(step));
  EXPECT_EQ(step->labels, "label");
  EXPECT_FALSE(step->isLoss);
  // The output has seen the label: it is the loss itself.
  step = training::buildStep(parse(R"(
    func.func @main(%a: tensor<2xf32> {graph.name = "a"},
                    %label: tensor<2xf32> {graph.name = "label"})
        -> (tensor<2xf32> {graph.name = "y"}) {
      %0 = graph.sub %a, %label : tensor<2xf32>
      %1 = graph.mul %0, %0 : tensor<2xf32>
      %2 = graph.constant dense<1.0> : tensor<2xf32>
      %y = graph.replace_gradient %1, %1, %2 : tensor<2xf32>
      return %y : tensor<2xf32>
    })"),
                             options);
  ASSERT_TRUE(succeeded(step));
  EXPECT_EQ(step->labels, "");
  EXPECT_TRUE(step->isLoss);
  options.data = {"x"};
  options.loss = "softmax-cross-entropy";
  step = training::buildStep(parse(network), options);
  ASSERT_TRUE(succeeded(step));
  EXPECT_EQ(step->labels, "label");
  EXPECT_EQ(step->classes, 3);
  EXPECT_FALSE(step->areProbabilities);
}

/// The axis of the softmax, behind views too, and where they mix its classes
/// with their places none: then the loss has a softmax of its own.
TEST_F(Steps, FindTheClassesOfASoftmax) {
  auto placesOf = [&](const std::string &body, const std::string &type) {
    StepOptions options;
    options.data = {"x"};
    options.loss = "softmax-cross-entropy";
    llvm::FailureOr<Step> step = training::buildStep(
        parse("func.func @main(%x: tensor<2x3x4xf32> {graph.name = \"x\"}, "
              "%a: tensor<2x3x4xf32> {graph.name = \"a\"}) -> (tensor<" +
              type +
              "> {graph.name = \"y\"}) {\n"
              "%0 = graph.add %x, %a : tensor<2x3x4xf32>\n"
              "%s = graph.softmax %0 {axis = -1 : i64} : tensor<2x3x4xf32>\n" +
              body + "return %y : tensor<" + type + ">\n}"),
        options);
    EXPECT_TRUE(succeeded(step));
    return std::tuple(step->places.count, step->places.inner,
                      step->areProbabilities, step->areLogits);
  };
  auto reshaped = [](const std::string &shape, const std::string &type) {
    std::string rank = std::to_string(1 + llvm::count(shape, ','));
    return "%i = graph.constant dense<[" + shape + "]> : tensor<" + rank +
           "xi64>\n%y = graph.reshape %s, %i : (tensor<2x3x4xf32>, tensor<" +
           rank + "xi64>) -> tensor<" + type + ">\n";
  };
  EXPECT_EQ(placesOf("%y = graph.relu %s : tensor<2x3x4xf32>\n", "2x3x4xf32"),
            std::tuple(3, 4, false, true));
  EXPECT_EQ(placesOf(reshaped("6, 4, 1", "6x4x1xf32"), "6x4x1xf32"),
            std::tuple(4, 1, true, false));
  EXPECT_EQ(placesOf(reshaped("6, 2, 2", "6x2x2xf32"), "6x2x2xf32"),
            std::tuple(4, 1, true, false));
  EXPECT_EQ(placesOf(reshaped("2, 12", "2x12xf32"), "2x12xf32"),
            std::tuple(12, 1, false, true));
}

/// A network that computes its own loss may call an input as labels are called.
TEST_F(Steps, NeedNoNameForLabelsThatTheyDoNotHave) {
  std::string text = network;
  text.replace(text.find("\"a\""), 3, "\"label\"");
  StepOptions options;
  options.data = {"x"};
  options.loss = "output";
  llvm::FailureOr<Step> step = training::buildStep(parse(text), options);
  ASSERT_TRUE(succeeded(step));
  EXPECT_EQ(step->parameters, std::vector<std::string>{"label"});
  EXPECT_EQ(step->labels, "");
  EXPECT_TRUE(step->isLoss);
}

/// An option that changes nothing is an error.
TEST_F(Steps, RefuseFactorsOfWhatIsNoParameter) {
  StepOptions options;
  options.data = {"x", "label"};
  options.frozen = {"x"};
  EXPECT_EQ(problemOf(regressionWith(""), options),
            "expected a parameter to freeze, got 'x'; there are a, b_bias\n");
  options.frozen = {"a"};
  options.factors["a"].rate = 2;
  EXPECT_EQ(problemOf(regressionWith(""), options),
            "expected a parameter that is trained to give factors, got 'a', "
            "which is frozen\n");
  options.frozen = {};
  options.factors["label"].decay = 2;
  EXPECT_EQ(problemOf(regressionWith(""), options),
            "expected a parameter to give factors, got 'label'; there are a, "
            "b_bias\n");
}

TEST_F(Steps, RefuseWhatMakesNoStep) {
  StepOptions options;
  options.data = {"x", "label"};
  options.loss = "mean-squared-error";
  EXPECT_EQ(problemOf(regressionWith(""), options),
            "expected a network without a loss to add 'mean-squared-error' to, "
            "got one that ends in a loss\n");
  options.label = "a";
  EXPECT_EQ(problemOf(network, options),
            "expected a name for the labels of the loss that no input has, got "
            "'a'\n");
  options = {};
  options.data = {"x"};
  EXPECT_NE(problemOf(regressionWith(""), options)
                .find("expected labels among the data, got none for input "
                      "'label'"),
            std::string::npos);
  options.data = {"x", "label"};
  options.factors["c"].rate = 2;
  EXPECT_EQ(problemOf(regressionWith(""), options),
            "expected a parameter to give factors, got 'c'; there are a, "
            "b_bias\n");
  options.factors = {{"a", {.decay = -1}}};
  EXPECT_EQ(problemOf(regressionWith(""), options),
            "expected a finite factor of at least 0 for 'a', got "
            "-1\n");
  const char overExamples[] = R"(
  func.func @main(%x: tensor<2x3xf32> {graph.name = "x"},
                  %a: tensor<2x3xf32> {graph.name = "a"})
      -> (tensor<2x3xf32> {graph.name = "y"}) {
    %0 = graph.add %x, %a : tensor<2x3xf32>
    %y = graph.softmax %0 {axis = 0 : i64} : tensor<2x3xf32>
    return %y : tensor<2x3xf32>
  })";
  options = {};
  options.loss = "softmax-cross-entropy";
  options.data = {"x"};
  EXPECT_EQ(problemOf(overExamples, options),
            "expected a softmax over the classes of each example, got one over "
            "the first dimension, which is that of the examples\n");
}
