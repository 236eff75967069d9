// SPDX-License-Identifier: Apache-2.0
//
// Makes IR smaller as long as a test script finds it interesting: mlir-reduce
// with the dialects and passes of DLC.

#include "Reductions.h"

#include "dlc/InitAll.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  dlc::registerAllDialects(registry);
  dlc::registerGraphReductions(registry);
  mlir::registerAllPasses();
  dlc::registerAllPasses();
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
