// SPDX-License-Identifier: Apache-2.0

#include "dlc/InitAll.h"
#include "dlc/Codegen/CPU/Codegen.h"
#include "dlc/Codegen/CPU/Passes.h"
#include "dlc/Codegen/NVPTX/Passes.h"
#include "dlc/Pipeline/Pipeline.h"
#include "dlc/dialects/Base/BaseDialect.h"
#include "dlc/dialects/Graph/GraphDialect.h"
#include "dlc/dialects/Kernel/KernelDialect.h"
#include "dlc/dialects/Plan/PlanDialect.h"
#include "dlc/passes/Conversion/Passes.h"
#include "dlc/passes/Graph/Passes.h"
#include "dlc/passes/Plan/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

void dlc::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<BaseDialect, graph::GraphDialect, kernel::KernelDialect,
                  plan::PlanDialect, mlir::func::FuncDialect>();
  // Of generated kernels, so that the text of every phase can be read.
  registry.insert<mlir::affine::AffineDialect, mlir::linalg::LinalgDialect,
                  mlir::memref::MemRefDialect>();
  codegen::registerCodegenDialects(registry);
}

void dlc::registerAllPasses() {
  graph::registerGraphPasses();
  conversion::registerConversionPasses();
  plan::registerPlanPasses();
  codegen::registerCodegenCPUPasses();
  codegen::gpu::registerCodegenNVPTXPasses();
  pipeline::registerPipelines();
}
