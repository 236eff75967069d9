// SPDX-License-Identifier: Apache-2.0

#include "KernelRunner.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <span>
#include <utility>

using namespace mlir;
using namespace dlc::test;

LoadedKernels LoadedKernels::load(const std::string &bytes,
                                  std::string &error) {
  LoadedKernels kernels;
  auto object = dlc::rt::CodeObject::load(std::as_bytes(std::span(bytes)));
  if (object.isOk())
    kernels.object = std::move(*object);
  else
    error = object.status().message();
  return kernels;
}

DlcKernelFunction LoadedKernels::lookup(const char *name) const {
  auto function = object->find(name);
  return function.isOk() ? *function : nullptr;
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
