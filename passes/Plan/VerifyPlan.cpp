// SPDX-License-Identifier: Apache-2.0
//
// plan-verify: the contract of the plan phase.

#include "dlc/passes/Plan/Passes.h"

#include "llvm/ADT/DenseSet.h"

namespace dlc::plan {
#define GEN_PASS_DEF_VERIFYPLANPASS
#include "dlc/passes/Plan/Passes.h.inc"
} // namespace dlc::plan

using namespace mlir;
using namespace dlc::plan;

/// Checks the reads and writes of one launch; `written` grows.
static LogicalResult verifyLaunch(LaunchOp launch, DenseSet<Value> &written) {
  for (Value value : launch.getReads()) {
    Value base = getBase(value).first;
    if (base.getDefiningOp<NoneOp>() || base.getDefiningOp<InputOp>() ||
        base.getDefiningOp<ConstantOp>() || written.contains(base))
      continue;
    InFlightDiagnostic diagnostic =
        launch.emitOpError("expected memory that is written before it is read");
    diagnostic.attachNote(base.getLoc()) << "the memory is here";
    return diagnostic;
  }
  for (Value value : launch.getWrites()) {
    Value base = getBase(value).first;
    if (base.getDefiningOp<InputOp>() || base.getDefiningOp<ConstantOp>())
      return launch.emitOpError("expected writable memory, got an input or a "
                                "constant");
    if (!written.insert(base).second && base.getDefiningOp<OutputOp>())
      return launch.emitOpError("expected each output to be written once");
  }
  return success();
}

namespace {
struct VerifyPlan : public dlc::plan::impl::VerifyPlanPassBase<VerifyPlan> {
  void runOnOperation() override {
    DenseSet<Value> written;
    for (Operation &op : getOperation().getBody().front()) {
      auto launch = dyn_cast<LaunchOp>(op);
      bool ok = launch ? succeeded(verifyLaunch(launch, written)) : true;
      if (isa<BufferOp>(op)) {
        op.emitOpError("expected a packed buffer");
        ok = false;
      }
      if (!ok)
        return signalPassFailure();
    }
    for (OutputOp output : getOperation().getBody().getOps<OutputOp>()) {
      if (written.contains(output.getResult()))
        continue;
      output.emitOpError("expected a launch that writes it");
      return signalPassFailure();
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
