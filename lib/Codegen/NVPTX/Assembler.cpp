// SPDX-License-Identifier: Apache-2.0
//
// PTX to machine code by NVIDIA's assembler, where there is one.

#include "dlc/Codegen/NVPTX/Codegen.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace mlir;
using namespace dlc::codegen;

std::string dlc::codegen::findPtxas() {
  // Set, even to nothing, it is all there is.
  if (const char *named = std::getenv("DLC_PTXAS"))
    return named;
  if (llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName("ptxas"))
    return *found;
  const char *home = std::getenv("CUDA_HOME");
  std::string folder = std::string(home ? home : "/usr/local/cuda") + "/bin";
  llvm::ErrorOr<std::string> found =
      llvm::sys::findProgramByName("ptxas", {StringRef(folder)});
  return found ? *found : std::string();
}

static std::string readFile(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

FailureOr<std::string> dlc::codegen::assemble(Location loc, StringRef ptx,
                                              const GPUTarget &target,
                                              StringRef ptxas,
                                              std::string *report) {
  llvm::SmallString<128> folder;
  if (std::error_code error =
          llvm::sys::fs::createUniqueDirectory("dlc-ptxas", folder))
    return emitError(loc, "cannot create a folder for ptxas: ")
           << error.message();
  llvm::scope_exit cleanUp(
      [&] { (void)llvm::sys::fs::remove_directories(folder); });
  auto inside = [&](StringRef name) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    return path;
  };
  auto input = inside("kernels.ptx"), output = inside("kernels.cubin"),
       messages = inside("messages");
  std::error_code error;
  {
    llvm::raw_fd_ostream file(input, error);
    if (!error)
      file << ptx;
  }
  if (error)
    return emitError(loc, "cannot write for ptxas: ") << error.message();
  std::string architecture = "--gpu-name=" + target.name;
  StringRef arguments[] = {ptxas, architecture, "--verbose",
                           "-o",  output,       input};
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(messages),
                                          StringRef(messages)};
  std::string failure;
  int status = llvm::sys::ExecuteAndWait(
      ptxas, arguments, std::nullopt, redirects,
      /*SecondsToWait=*/0, /*MemoryLimit=*/0, &failure);
  std::string said = readFile(messages);
  if (report)
    *report = said;
  if (status != 0)
    return emitError(loc, "ptxas failed: ")
           << (failure.empty() ? said : failure);
  return readFile(output);
}
