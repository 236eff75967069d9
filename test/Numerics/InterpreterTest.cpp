// SPDX-License-Identifier: Apache-2.0
//
// Functions run by their definitions, and the inputs that are made for them.

#include "dlc/Numerics/Interpreter.h"

#include "dlc/Numerics/Comparison.h"
#include "dlc/Numerics/Inputs.h"
#include "dlc/dialects/Graph/GraphDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace dlc;
using namespace dlc::numerics;

namespace {

struct InterpreterTest : testing::Test {
  InterpreterTest() {
    context.loadDialect<graph::GraphDialect, func::FuncDialect>();
  }

  func::FuncOp parse(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    return module ? *module->getOps<func::FuncOp>().begin() : func::FuncOp();
  }

  /// All results of the function, one after the other.
  std::vector<double> run(func::FuncOp function,
                          Integers integers = Integers::Small) {
    std::vector<Tensor> inputs, results;
    rt::Status status = makeInputs(function, 1, integers, inputs);
    if (status.isOk())
      status = interpret(function.getBody().front(), inputs, results);
    EXPECT_TRUE(status.isOk()) << status.message();
    std::vector<double> numbers;
    for (const Tensor &result : results)
      for (int64_t i = 0; i < result.size(); ++i)
        numbers.push_back(numberAt(result, i));
    return numbers;
  }

  std::string failureOf(func::FuncOp function) {
    std::vector<Tensor> inputs, results;
    rt::Status status = makeInputs(function, 1, Integers::Small, inputs);
    if (status.isOk())
      status = interpret(function.getBody().front(), inputs, results);
    EXPECT_TRUE(results.empty());
    return status.message();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

} // namespace

TEST_F(InterpreterTest, RunsConstantsAndFusions) {
  func::FuncOp function = parse(R"(
    func.func @f() -> (tensor<2xf32>, tensor<2xf32>) {
      %a = graph.constant dense<[1.0, -2.0]> : tensor<2xf32>
      %y:2 = graph.fusion -> tensor<2xf32>, tensor<2xf32> {
        %0 = graph.add %a, %a : tensor<2xf32>
        %1 = graph.relu %0 : tensor<2xf32>
        graph.yield %1, %0 : tensor<2xf32>, tensor<2xf32>
      }
      %z = graph.mul %y#0, %y#1 : tensor<2xf32>
      return %z, %y#1 : tensor<2xf32>, tensor<2xf32>
    })");
  ASSERT_TRUE(function);
  EXPECT_EQ(run(function), (std::vector<double>{4, 0, 2, -4}));
}

TEST_F(InterpreterTest, TakesAbsentOperandsAndTensorsOfNothing) {
  func::FuncOp function = parse(R"(
    func.func @f() -> (tensor<1x1x2x2xf32>, tensor<2xf32>) {
      %none = graph.none : none
      %i = graph.constant dense<2> : tensor<4xi64>
      %one = graph.constant dense<1> : tensor<4xi64>
      %s = graph.constant dense<[1, 1, 2, 2]> : tensor<4xi64>
      %x = graph.constant dense<3.0> : tensor<1x1x1x1xf32>
      %y = graph.resize %x, %none, %none, %s : (tensor<1x1x1x1xf32>, none, none, tensor<4xi64>) -> tensor<1x1x2x2xf32>
      %a = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
      %e = graph.constant dense<> : tensor<0xi64>
      %z = graph.reduce_sum %a, %e : (tensor<2xf32>, tensor<0xi64>) -> tensor<2xf32>
      return %y, %z : tensor<1x1x2x2xf32>, tensor<2xf32>
    })");
  ASSERT_TRUE(function);
  EXPECT_EQ(run(function), (std::vector<double>{3, 3, 3, 3, 1, 2}));
}

TEST_F(InterpreterTest, ChoosesInputsThatCanBeRead) {
  func::FuncOp function = parse(R"(
    func.func @f(%i: tensor<64xi64>, %x: tensor<?x2xf32>,
        %w: tensor<2xf32> {graph.initial = dense<[7.0, 8.0]> : tensor<2xf32>})
        -> (tensor<64x1xf32>, tensor<2xf32>) {
      %c = graph.constant dense<[[5.0], [6.0]]> : tensor<2x1xf32>
      %y = graph.gather %c, %i : (tensor<2x1xf32>, tensor<64xi64>) -> tensor<64x1xf32>
      return %y, %w : tensor<64x1xf32>, tensor<2xf32>
    })");
  ASSERT_TRUE(function);
  std::vector<double> numbers = run(function);
  ASSERT_EQ(numbers.size(), 66u);
  EXPECT_EQ(std::count(numbers.begin(), numbers.end(), 5.0) +
                std::count(numbers.begin(), numbers.end(), 6.0),
            64);
  EXPECT_GT(std::count(numbers.begin(), numbers.end(), 5.0), 9);
  EXPECT_EQ(numbers[64], 7);
  EXPECT_EQ(numbers[65], 8);
  EXPECT_EQ(run(function), numbers) << "not the same again";
  for (double number : run(function, Integers::Zero))
    EXPECT_NE(number, 6);
}

TEST_F(InterpreterTest, SaysWhatItCannotRun) {
  EXPECT_EQ(failureOf(parse("func.func @f(%x: tensor<*xf32>) { return }")),
            "expected a tensor of a known rank as argument #0");
  EXPECT_EQ(failureOf(parse("func.func private @g() -> tensor<1xf32>\n"
                            "func.func @f() {\n"
                            "  %x = call @g() : () -> tensor<1xf32>\n"
                            "  return\n}")
                          ? *std::next(module->getOps<func::FuncOp>().begin())
                          : func::FuncOp()),
            "func.call: no Graph operation");
  // The name once.
  EXPECT_EQ(failureOf(parse(R"(
    func.func @f(%x: tensor<1xf32>) -> tensor<2xf32> {
      %i = graph.constant dense<[0, 5]> : tensor<2xi64>
      %y = graph.gather %x, %i : (tensor<1xf32>, tensor<2xi64>) -> tensor<2xf32>
      return %y : tensor<2xf32>
    })")),
            "gather: expected an index in [-1, 1), got 5 at position 1");
}
