// SPDX-License-Identifier: Apache-2.0
//
// Passes that change numbers are caught, and others are left alone.

#include "dlc/Numerics/VerifyNumerics.h"

#include "dlc/dialects/Graph/GraphOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

namespace {

using Change = std::function<void(func::FuncOp)>;

/// A pass that does what a test says.
struct Changing : PassWrapper<Changing, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Changing)
  explicit Changing(Change change) : change(std::move(change)) {}
  StringRef getArgument() const override { return "test-change"; }
  void runOnOperation() override { change(getOperation()); }
  Change change;
};

struct VerifyNumerics : testing::Test {
  VerifyNumerics() {
    context.loadDialect<GraphDialect, func::FuncDialect>();
    context.printOpOnDiagnostic(false);
    handler = context.getDiagEngine().registerHandler(
        [this](Diagnostic &diagnostic) { errors.push_back(diagnostic.str()); });
  }

  /// Runs `changes` on functions of a module, each as a pass.
  LogicalResult run(std::vector<Change> changes, StringRef text = kText) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    PassManager manager(&context);
    manager.addInstrumentation(numerics::createNumericsVerifier());
    for (Change &change : changes)
      manager.nest<func::FuncOp>().addPass(
          std::make_unique<Changing>(std::move(change)));
    return manager.run(*module);
  }

  static constexpr StringRef kText = R"(
    func.func @f(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32> {graph.name = "logits"}) {
      %a = graph.exp %x : tensor<2x3xf32>
      %b = graph.add %a, %x : tensor<2x3xf32>
      return %a, %b : tensor<2x3xf32>, tensor<2x3xf32>
    }
    func.func @g(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
      return %x : tensor<2x3xf32>
    })";

  MLIRContext context{MLIRContext::Threading::DISABLED};
  DiagnosticEngine::HandlerID handler;
  std::vector<std::string> errors;
};

/// Puts another operation of the same operands in the place of each sum.
template <typename Other> void replaceSums(func::FuncOp function) {
  function.walk([](AddOp op) {
    OpBuilder builder(op);
    Value other =
        Other::create(builder, op.getLoc(), op.getType(), op.getA(), op.getB());
    op.getY().replaceAllUsesWith(other);
    op.erase();
  });
}

void swapOperands(func::FuncOp function) {
  function.walk([](AddOp op) {
    Value a = op.getA(), b = op.getB();
    op->setOperands({b, a});
  });
}

} // namespace

TEST_F(VerifyNumerics, LeavesGoodPassesAlone) {
  EXPECT_TRUE(succeeded(run({swapOperands, [](func::FuncOp) {}})));
  EXPECT_TRUE(errors.empty()) << errors.front();
}

TEST_F(VerifyNumerics, NamesPassFunctionResultAndElement) {
  EXPECT_TRUE(failed(run({swapOperands, replaceSums<SubOp>})));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].find("pass 'test-change' changed result #1 'logits' of "
                           "function @f: expected "),
            0u)
      << errors[0];
  EXPECT_NE(errors[0].find(" at [0, 0], got "), std::string::npos) << errors[0];
}

/// A later pass that is right does not hide an earlier one that is not, nor
/// does one pass's work count for the next.
TEST_F(VerifyNumerics, StopsAtTheFirstWrongPass) {
  EXPECT_TRUE(failed(run({replaceSums<MulOp>, swapOperands})));
  EXPECT_EQ(errors.size(), 1u);
}

TEST_F(VerifyNumerics, CatchesWhatCannotBeRunAnyMore) {
  EXPECT_TRUE(failed(run({[](func::FuncOp function) {
    if (function.getName() != "f")
      return;
    Operation *end = function.getBody().front().getTerminator();
    OpBuilder builder(end);
    auto type = RankedTensorType::get({1}, builder.getI64Type());
    auto row = RankedTensorType::get({1, 3}, builder.getF32Type());
    Value five = ConstantOp::create(
        builder, end->getLoc(),
        cast<ElementsAttr>(DenseElementsAttr::get(type, int64_t{5})));
    GatherOp::create(builder, end->getLoc(), row, end->getOperand(0), five);
  }})));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("left function @f that cannot be run"),
            std::string::npos)
      << errors[0];
}

/// New arguments and results stand behind the old ones, which are compared.
TEST_F(VerifyNumerics, ComparesTheOldResultsWhereNewOnesAreAdded) {
  auto addResult = [](func::FuncOp function) {
    Block &body = function.getBody().front();
    Type type = body.getArgument(0).getType();
    Value added = body.addArgument(type, function.getLoc());
    body.getTerminator()->insertOperands(function.getNumResults(), added);
    SmallVector<Type> results(function.getResultTypes());
    results.push_back(type);
    function.setFunctionType(FunctionType::get(
        function.getContext(), body.getArgumentTypes(), results));
    function.setArgAttrsAttr({});
    function.setResAttrsAttr({});
  };
  EXPECT_TRUE(succeeded(run({addResult})));
  EXPECT_TRUE(errors.empty()) << errors.front();
  EXPECT_TRUE(failed(run({[&](func::FuncOp function) {
    addResult(function);
    replaceSums<SubOp>(function);
  }})));
}

TEST_F(VerifyNumerics, ComparesNothingWhereTheSignatureChanges) {
  auto dropResult = [](func::FuncOp function) {
    if (function.getNumResults() < 2)
      return;
    replaceSums<SubOp>(function);
    function.getBody().front().getTerminator()->eraseOperand(0);
    function.eraseResult(0).succeeded();
  };
  EXPECT_TRUE(succeeded(run({dropResult})));
}
