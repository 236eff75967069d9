// SPDX-License-Identifier: Apache-2.0
//
// A pass as a plug-in: reports how many operations of a function are
// elementwise, as their interface tells.

#include "dlc/dialects/Graph/GraphDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

namespace {

struct CountOperationsPass
    : PassWrapper<CountOperationsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CountOperationsPass)

  StringRef getArgument() const override { return "example-count-operations"; }
  StringRef getDescription() const override {
    return "Report the number of elementwise operations of each function";
  }

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      int64_t count = 0;
      function.walk([&](dlc::graph::FusionOpInterface op) {
        count += op.getFusionKind() == dlc::graph::FusionKind::Elementwise;
      });
      function.emitRemark() << count << " elementwise operations";
    }
  }
};

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "CountOperations", "0.1",
          [] { PassRegistration<CountOperationsPass>(); }};
}
