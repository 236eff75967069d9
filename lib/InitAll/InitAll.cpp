// SPDX-License-Identifier: Apache-2.0

#include "dlc/InitAll.h"
#include "dlc/Codegen/CPU/Codegen.h"
#include "dlc/Codegen/CPU/Passes.h"
#include "dlc/Pipeline/Pipeline.h"
#include "dlc/dialects/Base/BaseDialect.h"
#include "dlc/dialects/Graph/GraphDialect.h"
#include "dlc/dialects/Kernel/KernelDialect.h"
#include "dlc/dialects/Plan/PlanDialect.h"
#include "dlc/passes/Conversion/Passes.h"
#include "dlc/passes/Graph/Passes.h"
#include "dlc/passes/Plan/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

void dlc::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<BaseDialect, graph::GraphDialect, kernel::KernelDialect,
                  plan::PlanDialect, mlir::func::FuncDialect>();
  codegen::registerCodegenDialects(registry);
}

void dlc::registerAllPasses() {
  graph::registerGraphPasses();
  conversion::registerConversionPasses();
  plan::registerPlanPasses();
  codegen::registerCodegenCPUPasses();
  pipeline::registerPipelines();
}
