// SPDX-License-Identifier: Apache-2.0

#include "Guard.h"

#include "mlir/IR/AsmState.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace dlc;

std::string Reproducer::write(std::string path) {
  int descriptor = -1;
  std::error_code error;
  if (path.empty()) {
    SmallString<128> chosen;
    error = llvm::sys::fs::createTemporaryFile("dlc-reproducer", "mlir",
                                               descriptor, chosen);
    path = chosen.str().str();
  } else {
    error = llvm::sys::fs::openFileForWrite(path, descriptor);
  }
  auto none = [&](const std::error_code &reason) {
    return "no reproducer: cannot write '" + path + "': " + reason.message();
  };
  if (error)
    return none(error);
  llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
  AsmState state(*snapshot, OpPrintingFlags().enableDebugInfo());
  state.attachResourcePrinter(
      "mlir_reproducer", [&](Operation *, AsmResourceBuilder &builder) {
        builder.buildString("pipeline", pipeline);
        builder.buildBool("disable_threading", true);
        builder.buildBool("verify_each", true);
      });
  snapshot->print(os, state);
  os.close();
  if (!os.has_error())
    return "repeat it with dlc-opt --run-reproducer " + path;
  error = os.error();
  os.clear_error();
  return none(error);
}

LogicalResult dlc::runGuarded(bool catchCrashes, bool &crashed,
                              function_ref<LogicalResult()> work) {
  crashed = false;
  if (!catchCrashes)
    return work();
  LogicalResult result = failure();
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext recovery;
  crashed = !recovery.RunSafely([&] { result = work(); });
  return crashed ? failure() : result;
}
