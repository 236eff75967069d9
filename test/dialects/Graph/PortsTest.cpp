// SPDX-License-Identifier: Apache-2.0
//
// Arguments and results that are added to functions, and what updates what.

#include "dlc/dialects/Graph/Ports.h"

#include "dlc/dialects/Graph/GraphDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace dlc::graph;

namespace {

struct Ports : testing::Test {
  Ports() : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<GraphDialect, mlir::func::FuncDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(R"(
      func.func @f(%x: tensor<2xf32> {graph.name = "x"}, %y: tensor<2xf32>)
          -> (tensor<2xf32> {graph.name = "new x"},
              tensor<2xf32> {graph.updates = "x"},
              tensor<2xf32> {graph.updates = "z"}) {
        %0 = graph.neg %x : tensor<2xf32>
        %1 = graph.exp %y : tensor<2xf32>
        %2 = graph.exp %1 : tensor<2xf32>
        return %0, %0, %0 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
      })",
                                                     &context);
    function = *module->getOps<mlir::func::FuncOp>().begin();
  }
  std::string argument(unsigned i) {
    return nameOf(givenName(function, i, /*isResult=*/false), i);
  }
  std::string result(unsigned i) {
    return nameOf(givenName(function, i, /*isResult=*/true), i);
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
};

} // namespace

TEST_F(Ports, FindWhatResultsUpdate) {
  auto updates = findUpdates(function);
  ASSERT_EQ(updates.size(), 3u);
  EXPECT_FALSE(updates[0]);
  EXPECT_EQ(updates[1], function.getArgument(0));
  EXPECT_FALSE(updates[2]) << "no argument is called z";
}

TEST_F(Ports, HaveNamesThatNoOtherHas) {
  mlir::Type type = function.getArgumentTypes()[0];
  mlir::BlockArgument added = addArgument(function, type, "x");
  EXPECT_EQ(added.getArgNumber(), 2u);
  EXPECT_EQ(argument(1), "#1");
  EXPECT_EQ(argument(2), "x 2");
  addRandom(function);
  addRandom(function);
  EXPECT_EQ(argument(3), "random");
  EXPECT_EQ(argument(4), "random 2");
  EXPECT_TRUE(function.getArgAttr(3, GraphDialect::kRandomAttr));
  addResult(function, added, "y");
  EXPECT_EQ(result(3), "y");
  addUpdates(function, {{function.getArgument(0), added}});
  EXPECT_EQ(result(4), "new x 2");
  EXPECT_EQ(findUpdates(function)[4], function.getArgument(0));
  EXPECT_TRUE(succeeded(mlir::verify(*module)));
}

TEST_F(Ports, LeaveNothingThatIsNotRead) {
  EXPECT_EQ(eraseDead(function.getBody().front()), 2u);
  EXPECT_EQ(function.getBody().front().getOperations().size(), 2u);
  EXPECT_EQ(eraseDead(function.getBody().front()), 0u);
}
