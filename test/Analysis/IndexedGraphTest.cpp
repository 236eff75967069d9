// SPDX-License-Identifier: Apache-2.0

#include "dlc/Analysis/IndexedGraph.h"
#include "dlc/dialects/Graph/GraphOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace dlc;
using dlc::analysis::IndexedGraph;

namespace {
class IndexedGraphTest : public testing::Test {
protected:
  IndexedGraph index(StringRef text) {
    context.loadDialect<func::FuncDialect, graph::GraphDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
    func::FuncOp function = *module->getOps<func::FuncOp>().begin();
    return IndexedGraph(function.getBody().front());
  }
  static std::vector<uint32_t> list(auto range) {
    return {range.begin(), range.end()};
  }
  using Ids = std::vector<uint32_t>;

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_F(IndexedGraphTest, NumbersAndEdges) {
  IndexedGraph graph = index(R"(
    func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>)
        -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
      %a = graph.mul %x, %x : tensor<4xf32>
      %b = graph.add %a, %y : tensor<4xf32>
      return %b, %a, %b : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    })");
  ASSERT_EQ(graph.nodeCount(), 2u);
  ASSERT_EQ(graph.entryCount(), 4u);
  EXPECT_EQ(graph.argumentCount(), 2u);
  EXPECT_EQ(list(graph.operands(0)), (Ids{0, 0}));
  EXPECT_EQ(list(graph.operands(1)), (Ids{2, 1}));
  EXPECT_EQ(list(graph.results(1)), Ids{3});
  EXPECT_EQ(list(graph.outputs()), (Ids{3, 2, 3}));
  EXPECT_EQ(graph.maker(1), std::nullopt);
  EXPECT_EQ(graph.maker(2), 0u);
  EXPECT_EQ(graph.maker(3), 1u);
  EXPECT_EQ(graph.entryId(graph.node(1)->getResult(0)), 3u);
  ASSERT_EQ(graph.readers(0).size(), 2u);
  EXPECT_EQ(graph.readers(0)[1].operand, 1u);
  EXPECT_EQ(graph.readers(2)[0].node, 1u);
  EXPECT_TRUE(graph.readers(3).empty());
  EXPECT_EQ(graph.referenceCount(0), 2u);
  EXPECT_EQ(graph.referenceCount(2), 2u);
  EXPECT_EQ(graph.referenceCount(3), 2u);
}

TEST_F(IndexedGraphTest, ResultsOfOneNodeAreConsecutive) {
  IndexedGraph graph = index(R"(
    func.func @f(%x: tensor<4x8xf32>, %n: tensor<1xi64>) -> tensor<4x2xi64> {
      %none = graph.none : none
      %v, %i = graph.top_k %x, %n : (tensor<4x8xf32>, tensor<1xi64>) -> (tensor<4x2xf32>, tensor<4x2xi64>)
      return %i : tensor<4x2xi64>
    })");
  ASSERT_EQ(graph.nodeCount(), 2u);
  EXPECT_EQ(list(graph.results(1)), (Ids{3, 4}));
  EXPECT_EQ(graph.maker(3), 1u);
  EXPECT_EQ(graph.maker(4), 1u);
  EXPECT_EQ(graph.referenceCount(3), 0u);
}

/// What the body of a group reads from around it are its operands.
TEST_F(IndexedGraphTest, RegionsReadTheirBlock) {
  IndexedGraph graph = index(R"(
    func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
      %g = graph.fusion -> tensor<4xf32> {
        %a = graph.mul %y, %y : tensor<4xf32>
        %b = graph.add %a, %x : tensor<4xf32>
        graph.yield %b : tensor<4xf32>
      }
      return %g : tensor<4xf32>
    })");
  ASSERT_EQ(graph.nodeCount(), 1u);
  EXPECT_EQ(list(graph.operands(0)), (Ids{1, 1, 0}));
  EXPECT_EQ(graph.referenceCount(1), 2u);
}
