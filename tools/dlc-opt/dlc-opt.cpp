// SPDX-License-Identifier: Apache-2.0
//
// Runs passes over IR in text: every pass and dialect of DLC and of upstream,
// and plug-ins of both.

#include "dlc/InitAll.h"
#include "dlc/Numerics/VerifyNumerics.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

static llvm::cl::opt<std::string> inputName(llvm::cl::Positional,
                                            llvm::cl::desc("<input file>"),
                                            llvm::cl::init("-"));
static llvm::cl::opt<std::string>
    outputName("o", llvm::cl::desc("Where to write the IR"),
               llvm::cl::value_desc("filename"), llvm::cl::init("-"));
static llvm::cl::opt<bool> verifyNumerics(
    "verify-numerics",
    llvm::cl::desc("Run each function of Graph operations before and after "
                   "each pass, and compare"));

/// What MLIR's main function does, with an instrumentation.
static LogicalResult runVerified(int argc, char **argv, StringRef input,
                                 StringRef output, DialectRegistry &registry) {
  llvm::InitLLVM initialised(argc, argv);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  config.setPassPipelineSetupFn([given = config](PassManager &manager) {
    manager.addInstrumentation(dlc::numerics::createNumericsVerifier());
    return given.setupPassPipeline(manager);
  });
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(input, &error);
  std::unique_ptr<llvm::ToolOutputFile> result =
      file ? openOutputFile(output, &error) : nullptr;
  if (!result) {
    llvm::errs() << error << '\n';
    return failure();
  }
  if (failed(MlirOptMain(result->os(), std::move(file), registry, config)))
    return failure();
  result->keep();
  return success();
}

/// The input is mapped while it is read: writing it ends the program.
static bool isSameFile(StringRef input, StringRef output) {
  if (input == "-" || output == "-" ||
      !llvm::sys::fs::equivalent(input, output))
    return false;
  llvm::errs() << "dlc-opt: error: expected another file for the output, got '"
               << output << "', which is the input\n";
  return true;
}

int main(int argc, char **argv) {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  dlc::registerAllDialects(registry);
  registerAllPasses();
  dlc::registerAllPasses();
  // Not MLIR's parser, which ends the program as for bad input.
  constexpr int badUsage = 2;
  std::string header = registerCLIOptions("DLC optimizer driver\n", registry);
  if (!llvm::cl::ParseCommandLineOptions(argc, argv, header, &llvm::errs()))
    return badUsage;
  if (isSameFile(inputName, outputName))
    return EXIT_FAILURE;
  return asMainReturnCode(
      verifyNumerics
          ? runVerified(argc, argv, inputName, outputName, registry)
          : MlirOptMain(argc, argv, inputName, outputName, registry));
}
