// SPDX-License-Identifier: Apache-2.0

#include "Reductions.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Shapes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Reducer/ReductionPatternInterface.h"
#include "mlir/Reducer/Tester.h"

using namespace mlir;
using namespace dlc;

/// Zeros of the same types instead of `op`.
static void putZeros(Operation *op, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  SmallVector<Value> zeros;
  for (Type type : op->getResultTypes())
    zeros.push_back(graph::ConstantOp::create(
        rewriter, op->getLoc(),
        graph::makeSplat(cast<RankedTensorType>(type), 0)));
  rewriter.replaceOp(op, zeros);
}

namespace {

/// Puts zeros where the failure stays. That is asked for each operation: the
/// pass itself expects that patterns may be applied anywhere.
struct PutZeros : RewritePattern {
  PutZeros(MLIRContext *context, Tester &tester)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context),
        tester(tester) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!graph::isComputed(op) ||
        !llvm::all_of(op->getResultTypes(), graph::isStatic))
      return failure();
    IRMapping mapping;
    OwningOpRef<ModuleOp> copy =
        cast<ModuleOp>(op->getParentOfType<ModuleOp>()->clone(mapping));
    IRRewriter copyRewriter(op->getContext());
    putZeros(mapping.lookup(op), copyRewriter);
    if (tester.isInteresting(*copy).first != Tester::Interestingness::True)
      return failure();
    putZeros(op, rewriter);
    return success();
  }

private:
  Tester &tester;
};

struct GraphReductions : DialectReductionPatternInterface {
  explicit GraphReductions(Dialect *dialect)
      : DialectReductionPatternInterface(dialect) {}

  void populateReductionPatterns(RewritePatternSet &) const override {}
  void populateReductionPatternsWithTester(RewritePatternSet &patterns,
                                           Tester &tester) const override {
    patterns.add<PutZeros>(patterns.getContext(), tester);
  }
};

} // namespace

void dlc::registerGraphReductions(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, graph::GraphDialect *dialect) {
    dialect->addInterfaces<GraphReductions>();
  });
}
