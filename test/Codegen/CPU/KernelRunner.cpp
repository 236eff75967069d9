// SPDX-License-Identifier: Apache-2.0

#include "KernelRunner.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

using namespace mlir;
using namespace dlc::test;

LoadedKernels::LoadedKernels(LoadedKernels &&other)
    : handle(std::exchange(other.handle, nullptr)) {}

LoadedKernels &LoadedKernels::operator=(LoadedKernels &&other) {
  std::swap(handle, other.handle);
  return *this;
}

LoadedKernels::~LoadedKernels() {
  if (handle)
    dlclose(handle);
}

LoadedKernels LoadedKernels::load(const std::string &bytes,
                                  std::string &error) {
  LoadedKernels kernels;
  int file = memfd_create("kernels", MFD_CLOEXEC);
  if (file < 0 || write(file, bytes.data(), bytes.size()) !=
                      static_cast<ssize_t>(bytes.size())) {
    error = "cannot write a memory file";
  } else {
    std::string path = "/proc/self/fd/" + std::to_string(file);
    kernels.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!kernels.handle)
      error = dlerror();
  }
  if (file >= 0)
    close(file);
  return kernels;
}

DlcKernelFunction LoadedKernels::lookup(const char *name) const {
  return reinterpret_cast<DlcKernelFunction>(dlsym(handle, name));
}

std::unique_ptr<MLIRContext> dlc::test::createContext() {
  DialectRegistry registry;
  dlc::codegen::registerCodegenDialects(registry);
  registry.insert<affine::AffineDialect, linalg::LinalgDialect,
                  memref::MemRefDialect>();
  auto context = std::make_unique<MLIRContext>(registry);
  context->loadAllAvailableDialects();
  return context;
}

LoadedKernels
dlc::test::compileText(MLIRContext &context, llvm::StringRef text,
                       const dlc::codegen::TargetOptions &target) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module) {
    ADD_FAILURE() << "the text does not parse";
    return {};
  }
  FailureOr<dlc::codegen::ObjectCode> object =
      dlc::codegen::compileKernels(*module, target, 2);
  if (failed(object)) {
    ADD_FAILURE() << "the kernels do not compile";
    return {};
  }
  std::string error;
  LoadedKernels kernels = LoadedKernels::load(object->bytes, error);
  EXPECT_TRUE(kernels) << error;
  return kernels;
}
