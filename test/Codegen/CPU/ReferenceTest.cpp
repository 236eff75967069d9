// SPDX-License-Identifier: Apache-2.0
//
// Kernels in value semantics, generated, against the Reference definitions of
// their operations: every kernel of Kernels.mlir on every target that runs
// here.

#include "Interpreter.h"
#include "KernelRunner.h"

#include "dlc/Codegen/CPU/Passes.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Kernel/KernelDialect.h"
#include "dlc/passes/Conversion/KernelToLinalg.h"
#include "dlc/passes/Conversion/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::test;

namespace {

void addDialects(MLIRContext &context) {
  DialectRegistry registry;
  registry.insert<graph::GraphDialect, kernel::KernelDialect>();
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

std::vector<std::string> runnableTargets() {
  std::vector<std::string> names;
  codegen::TargetOptions host = codegen::TargetOptions::host();
  for (const char *name : {"x86-64", "x86-64-v3", "x86-64-v4"}) {
    codegen::TargetOptions target = *codegen::TargetOptions::get(name);
    if (llvm::all_of(target.features,
                     [&](const std::string &f) { return host.has(f); }))
      names.push_back(name);
  }
  return names;
}

} // namespace

class ReferenceTest : public testing::TestWithParam<std::string> {};

TEST_P(ReferenceTest, KernelsAgreeWithTheirDefinitions) {
  std::unique_ptr<MLIRContext> context = createContext();
  addDialects(*context);
  OwningOpRef<ModuleOp> original =
      parseSourceFile<ModuleOp>(DLC_KERNELS_FILE, context.get());
  ASSERT_TRUE(original);
  OwningOpRef<ModuleOp> module = original->clone();
  for (auto kernel : module->getOps<kernel::FuncOp>()) {
    std::string reason;
    EXPECT_TRUE(succeeded(conversion::convertKernel(kernel, reason)))
        << kernel.getName().str() << ": " << reason;
  }
  ASSERT_TRUE(succeeded(verify(*module)));
  auto target = *codegen::TargetOptions::get(GetParam());
  FailureOr<codegen::ObjectCode> object =
      codegen::compileKernels(*module, target, 2);
  ASSERT_TRUE(succeeded(object));
  std::string error;
  LoadedKernels kernels = LoadedKernels::load(object->bytes, error);
  ASSERT_TRUE(kernels) << error;

  for (auto kernel : original->getOps<kernel::FuncOp>()) {
    bool special = kernel.getName().ends_with("_special");
    std::vector<Tensor> inputs;
    for (BlockArgument argument : kernel.getArguments())
      inputs.push_back(makeArgument(argument, special));
    std::vector<Tensor> expected = interpret(kernel.getBody().front(), inputs);
    std::vector<Tensor> actual = expected;
    std::vector<void *> arguments;
    for (Tensor &tensor : inputs)
      arguments.push_back(tensor.bytes.data());
    for (Tensor &tensor : actual) {
      std::fill(tensor.bytes.begin(), tensor.bytes.end(), 0x55);
      arguments.push_back(tensor.bytes.data());
    }
    auto converted = module->lookupSymbol<kernel::FuncOp>(kernel.getName());
    int64_t tiles = 1;
    for (int64_t extent : converted.getGrid().value_or(ArrayRef<int64_t>()))
      tiles *= extent;
    // Tiles are independent: the later half first.
    DlcKernelFunction function = kernels.lookup(kernel.getName().str().c_str());
    ASSERT_TRUE(function);
    function(arguments.data(), tiles / 2, tiles);
    function(arguments.data(), 0, tiles / 2);
    for (size_t i = 0; i < expected.size(); ++i)
      compare(kernel.getName().str(), actual[i], expected[i]);
  }
}

/// A pass manager verifies what a pass leaves.
TEST_P(ReferenceTest, LoopsAreValid) {
  std::unique_ptr<MLIRContext> context = createContext();
  addDialects(*context);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(DLC_KERNELS_FILE, context.get());
  ASSERT_TRUE(module);
  PassManager manager(context.get());
  manager.addPass(conversion::createConvertKernelToLinalgPass());
  manager.addPass(codegen::createEmitLoopsPass({GetParam()}));
  EXPECT_TRUE(succeeded(manager.run(*module)));
}

TEST(CanGenerateTest, AcceptsWhatCompilesAndRefusesTheRest) {
  std::unique_ptr<MLIRContext> context = createContext();
  addDialects(*context);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(DLC_KERNELS_FILE, context.get());
  ASSERT_TRUE(module);
  for (auto kernel : module->getOps<kernel::FuncOp>()) {
    SmallVector<Operation *> group;
    for (Operation &op : kernel.getBody().front().without_terminator())
      if (!isa<graph::ConstantOp>(op))
        group.push_back(&op);
    std::string why;
    EXPECT_TRUE(conversion::canGenerate(group, &why))
        << kernel.getName().str() << ": " << why;
  }
  OwningOpRef<ModuleOp> refused = parseSourceString<ModuleOp>(R"(
    func.func @f(%x: tensor<4x9xf32>, %i: tensor<2xi64>, %d: tensor<?xf32>) {
      %0 = graph.gather %x, %i : (tensor<4x9xf32>, tensor<2xi64>) -> tensor<2x9xf32>
      %1 = graph.softmax %d : tensor<?xf32>
      return
    })",
                                                              context.get());
  ASSERT_TRUE(refused);
  refused->walk([](Operation *op) {
    if (op->getName().getDialectNamespace() != "graph")
      return;
    std::string why;
    EXPECT_FALSE(conversion::canGenerate(op, &why));
    EXPECT_FALSE(why.empty());
  });
}

/// Elementwise groups of one result have a form for any shape.
TEST(CanGenerateTest, AcceptsElementwiseOperationsOfAnyShape) {
  std::unique_ptr<MLIRContext> context = createContext();
  addDialects(*context);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    func.func @f(%x: tensor<?x9xf32>, %w: tensor<9xf32>, %m: tensor<?x1xi1>) -> tensor<?x9xf16> {
      %0 = graph.mul %x, %w : (tensor<?x9xf32>, tensor<9xf32>) -> tensor<?x9xf32>
      %1 = graph.select %m, %0, %x : (tensor<?x1xi1>, tensor<?x9xf32>, tensor<?x9xf32>) -> tensor<?x9xf32>
      %2 = graph.cast %1 {saturate = true, to = f16} : (tensor<?x9xf32>) -> tensor<?x9xf16>
      return %2 : tensor<?x9xf16>
    })",
                                                             context.get());
  ASSERT_TRUE(module);
  SmallVector<Operation *> group;
  module->walk([&](Operation *op) {
    if (op->getName().getDialectNamespace() == "graph")
      group.push_back(op);
  });
  std::string why;
  EXPECT_TRUE(conversion::canGenerate(group, &why)) << why;
  for (Operation *op : group)
    EXPECT_TRUE(conversion::canGenerate(op, &why)) << why;
  // Without its last operation there are two results.
  EXPECT_FALSE(conversion::canGenerate({group[0], group[2]}, &why));
}

TEST(ObjectTest, BytesDoNotDependOnThreads) {
  std::unique_ptr<MLIRContext> context = createContext();
  addDialects(*context);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(DLC_KERNELS_FILE, context.get());
  ASSERT_TRUE(module);
  for (auto kernel : module->getOps<kernel::FuncOp>()) {
    std::string reason;
    ASSERT_TRUE(succeeded(conversion::convertKernel(kernel, reason)));
  }
  // A dozen kernels show it as well as all of them.
  SmallVector<kernel::FuncOp> all(module->getOps<kernel::FuncOp>());
  for (size_t i = 0; i < all.size(); ++i)
    if (i % 24)
      all[i].erase();
  auto target = *codegen::TargetOptions::get("x86-64-v3");
  auto one = codegen::compileKernels(*module, target, 1);
  auto two = codegen::compileKernels(*module, target, 2);
  ASSERT_TRUE(succeeded(one) && succeeded(two));
  EXPECT_EQ(one->bytes, two->bytes);
}

INSTANTIATE_TEST_SUITE_P(Targets, ReferenceTest,
                         testing::ValuesIn(runnableTargets()),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });
