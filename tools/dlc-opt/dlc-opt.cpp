// SPDX-License-Identifier: Apache-2.0
//
// Runs passes over IR in text: every pass and dialect of DLC and of upstream,
// and plug-ins of both.

#include "dlc/InitAll.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  dlc::registerAllDialects(registry);
  mlir::registerAllPasses();
  dlc::registerAllPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "DLC optimizer driver\n", registry));
}
