// SPDX-License-Identifier: Apache-2.0
//
// Every kernel of test/Codegen/CPU/Kernels.mlir and of Contractions.mlir,
// generated for a GPU: carried out by the driver that interprets PTX, against
// the Reference definitions; and assembled by ptxas, where there is one.

#include "Interpreter.h"
#include "KernelRunner.h"

#include "dlc/Codegen/NVPTX/Codegen.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Kernel/KernelDialect.h"
#include "dlc/passes/Conversion/KernelToLinalg.h"
#include "dlc/runtime/Device/Device.h"
#include "dlc/runtime/Storage/DeviceSource.h"
#include "dlc/runtime/Storage/Manager.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest-spi.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <regex>

using namespace mlir;
using namespace dlc;
using namespace dlc::test;

namespace {

/// Kernels in both forms; those that a GPU cannot have are left out.
struct Kernels {
  Kernels() : context(createContext()) {
    DialectRegistry registry;
    registry.insert<BaseDialect, graph::GraphDialect, kernel::KernelDialect>();
    context->appendDialectRegistry(registry);
    context->loadAllAvailableDialects();
    original = parse(DLC_KERNELS_FILE);
    OwningOpRef<ModuleOp> contractions = parse(DLC_CONTRACTIONS_FILE);
    original->getBody()->getOperations().splice(
        original->getBody()->end(), contractions->getBody()->getOperations());
    for (auto kernel :
         llvm::make_early_inc_range(original->getOps<kernel::FuncOp>()))
      if (!canGenerate(kernel))
        kernel.erase();
    module = original->clone();
    for (auto kernel : module->getOps<kernel::FuncOp>()) {
      kernel->setDiscardableAttr(kernel::kRunsOnAttr,
                                 StringAttr::get(context.get(), "cuda"));
      std::string reason;
      EXPECT_TRUE(succeeded(conversion::convertKernel(kernel, reason)))
          << kernel.getName().str() << ": " << reason;
    }
  }

  OwningOpRef<ModuleOp> parse(StringRef file) {
    auto parsed = parseSourceFile<ModuleOp>(file, context.get());
    EXPECT_TRUE(parsed) << file.str();
    return parsed ? std::move(parsed)
                  : ModuleOp::create(UnknownLoc::get(context.get()));
  }

  /// As the compiler asks, of operations on a device.
  bool canGenerate(kernel::FuncOp kernel) {
    SmallVector<Operation *> group;
    for (Operation &op : kernel.getBody().front().without_terminator())
      if (!isa<graph::ConstantOp>(op))
        group.push_back(&op);
    auto set = [&](Attribute device) {
      for (Operation *op : group)
        if (device)
          op->setDiscardableAttr(graph::kDeviceAttr, device);
        else
          op->removeDiscardableAttr(graph::kDeviceAttr);
    };
    set(DeviceAttr::get(context.get(), DeviceKind::CUDA, 0));
    std::string why;
    bool answer = conversion::canGenerate(group, &why);
    set({});
    if (!answer) {
      EXPECT_TRUE(StringRef(why).starts_with("a GPU has no ")) << why;
      refused.push_back(kernel.getName().str());
    }
    return answer;
  }

  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> original, module;
  std::vector<std::string> refused;
};

bool isContraction(kernel::FuncOp kernel) {
  return llvm::any_of(kernel.getBody().front(), [](Operation &op) {
    auto sum = dyn_cast<graph::ReductionOpInterface>(op);
    return sum && sum.getFactorDims();
  });
}

codegen::GPUCode compile(ModuleOp module, StringRef name, bool assembles) {
  setenv("DLC_PTXAS", "", 1);
  if (assembles)
    unsetenv("DLC_PTXAS");
  FailureOr<codegen::GPUCode> code =
      codegen::compileGPUKernels(module, *codegen::GPUTarget::get(name));
  EXPECT_TRUE(succeeded(code)) << name.str();
  return succeeded(code) ? std::move(*code) : codegen::GPUCode();
}

template <typename T> T take(rt::Result<T> result) {
  EXPECT_TRUE(result.isOk()) << result.status().message();
  return std::move(*result);
}

/// Runs kernels on cuda:0.
class GPU {
public:
  explicit GPU(const codegen::GPUCode &code)
      : code(code), device(take(rt::openDevice(rt::Context::cuda()))),
        memory(rt::createPooledManager(rt::Context::cuda(),
                                       rt::createDeviceSource(device))),
        queue(take(device->createQueue())),
        loaded(take(device->load(std::as_bytes(std::span(code.ptx))))) {}

  /// `inPlace`: pairs of inputs and outputs that share memory.
  rt::Status run(const std::string &name, std::vector<Tensor> &inputs,
                 std::vector<Tensor> &outputs, size_t offset,
                 ArrayRef<int64_t> inPlace) {
    const codegen::GPUGrid &grid = code.grids.at(name);
    rt::DeviceGrid place{uint32_t(grid.blocks), uint32_t(grid.threads),
                         uint32_t(grid.sharedBytes)};
    void *function = take(loaded->find(name, place));
    std::vector<rt::Allocation> blocks;
    std::vector<void *> addresses, parameters;
    auto bind = [&](Tensor &tensor) -> rt::Status {
      blocks.push_back(take(memory->allocate(tensor.bytes.size() + offset)));
      addresses.push_back(static_cast<char *>(blocks.back().data()) + offset);
      return queue->copy(addresses.back(), tensor.bytes.data(),
                         tensor.bytes.size());
    };
    for (Tensor &tensor : inputs)
      DLC_RETURN_IF_ERROR(bind(tensor));
    std::vector<bool> isTaken(inputs.size());
    for (size_t i = 0; i != outputs.size(); ++i) {
      void *shared = nullptr;
      for (size_t pair = 0; pair < inPlace.size() && !shared; pair += 2)
        if (size_t input = inPlace[pair];
            inPlace[pair + 1] == int64_t(i) && !isTaken[input]) {
          isTaken[input] = true;
          shared = addresses[input];
        }
      if (shared)
        addresses.push_back(shared);
      else
        DLC_RETURN_IF_ERROR(bind(outputs[i]));
    }
    for (void *&address : addresses)
      parameters.push_back(&address);
    DLC_RETURN_IF_ERROR(queue->launch(function, place, parameters.data()));
    for (size_t i = 0; i != outputs.size(); ++i)
      DLC_RETURN_IF_ERROR(queue->copy(outputs[i].bytes.data(),
                                      addresses[inputs.size() + i],
                                      outputs[i].bytes.size()));
    return queue->synchronize();
  }

private:
  const codegen::GPUCode &code;
  std::shared_ptr<rt::Device> device;
  rt::StorageManagerPtr memory;
  std::unique_ptr<rt::DeviceQueue> queue;
  std::unique_ptr<rt::DeviceCode> loaded;
};

} // namespace

/// Leaves 10 bits of floats.
static void roundToTf32(Tensor &tensor) {
  for (size_t at = 0; at + 4 <= tensor.bytes.size(); at += 4) {
    uint32_t bits;
    std::memcpy(&bits, tensor.bytes.data() + at, 4);
    bits &= ~uint32_t(0x1fff);
    std::memcpy(tensor.bytes.data() + at, &bits, 4);
  }
}

/// Whether a function of the text multiplies by groups of warps.
static bool hasGroups(StringRef ptx, StringRef name) {
  StringRef function = ptx.split((".entry " + name + "(").str()).second;
  return function.split(".entry ").first.contains("wgmma.");
}

/// Also at addresses that are aligned as little as values are, and in the
/// memory of inputs. Large kernels, and of sm_90a all, only where groups of
/// warps multiply: the rest is as for sm_90.
static void expectAgreement(StringRef target) {
  Kernels kernels;
  // Functions of f64 and a few of f32.
  EXPECT_LE(kernels.refused.size(), 6u) << llvm::join(kernels.refused, ", ");
  codegen::GPUCode code = compile(*kernels.module, target, false);
  ASSERT_FALSE(code.ptx.empty());
  EXPECT_TRUE(code.cubin.empty());
  GPU gpu(code);
  for (auto kernel : kernels.original->getOps<kernel::FuncOp>()) {
    std::string name = kernel.getName().str();
    if (target == "cuda:sm_90a" ? !hasGroups(code.ptx, name)
                                : StringRef(name).starts_with("groups_"))
      continue;
    std::vector<Tensor> inputs;
    for (BlockArgument argument : kernel.getArguments())
      inputs.push_back(
          makeArgument(argument, StringRef(name).ends_with("_special")));
    // Rounded once more, such floats are what they were.
    if (kernel->hasAttr(kernel::kComputeAttr))
      for (Tensor &tensor : inputs)
        roundToTf32(tensor);
    std::vector<Tensor> expected = interpret(kernel.getBody().front(), inputs);
    auto generated = kernels.module->lookupSymbol<kernel::FuncOp>(name);
    ArrayRef<int64_t> inPlace =
        generated.getInPlace().value_or(ArrayRef<int64_t>());
    struct Way {
      size_t offset;
      ArrayRef<int64_t> inPlace;
    };
    SmallVector<Way> ways = {{0, {}}, {DLC_ALIGNMENT, {}}};
    if (!inPlace.empty())
      ways.push_back({0, inPlace});
    for (auto [offset, pairs] : ways) {
      std::vector<Tensor> actual = expected;
      for (Tensor &tensor : actual)
        std::fill(tensor.bytes.begin(), tensor.bytes.end(), 0x55);
      rt::Status status = gpu.run(name, inputs, actual, offset, pairs);
      ASSERT_TRUE(status.isOk()) << name << ": " << status.message();
      for (size_t i = 0; i < expected.size(); ++i)
        compare(name, actual[i], expected[i], isContraction(kernel));
    }
  }
}

TEST(Kernels, AgreeWithTheirDefinitions) { expectAgreement("cuda:sm_80"); }

/// With clusters of blocks.
TEST(Kernels, AgreeOnHopper) { expectAgreement("cuda:sm_90"); }

/// With products of groups of warps.
TEST(Kernels, AgreeOnHopperAlone) { expectAgreement("cuda:sm_90a"); }

/// An infinite sum does not make any other one right.
TEST(Compare, SeesWhatIsBesideAnInfinity) {
  auto make = [](float a, float b) {
    Tensor tensor{{DLC_F32, {2}}, std::vector<char>(8)};
    std::memcpy(tensor.bytes.data(), &a, 4);
    std::memcpy(tensor.bytes.data() + 4, &b, 4);
    return tensor;
  };
  Tensor expected = make(INFINITY, 1), actual = make(INFINITY, 2);
  EXPECT_NONFATAL_FAILURE(compare("sums", actual, expected, /*areSums=*/true),
                          "sums at 1");
}

/// The text is the same each time.
TEST(Kernels, AreDeterministic) {
  Kernels kernels;
  SmallVector<kernel::FuncOp> all(kernels.module->getOps<kernel::FuncOp>());
  for (size_t i = 0; i < all.size(); ++i)
    if (i % 24)
      all[i].erase();
  EXPECT_EQ(compile(*kernels.module, "cuda:sm_90", false).ptx,
            compile(*kernels.module, "cuda:sm_90", false).ptx);
}

/// Into registers, without spills. Of every sixth kernel and large ones, others
/// for each architecture, since ptxas takes its time; with DLC_TEST_ALL_KERNELS
/// of all, with the counts of registers left beside the test.
TEST(Kernels, Assemble) {
  unsetenv("DLC_PTXAS");
  std::string ptxas = codegen::findPtxas();
  if (ptxas.empty())
    GTEST_SKIP() << "there is no ptxas";
  bool all = std::getenv("DLC_TEST_ALL_KERNELS");
  Kernels kernels;
  size_t first = 0;
  for (const char *name : {"cuda:sm_80", "cuda:sm_90", "cuda:sm_90a"}) {
    OwningOpRef<ModuleOp> part = kernels.module->clone();
    size_t index = first++;
    for (auto kernel :
         llvm::make_early_inc_range(part->getOps<kernel::FuncOp>()))
      if (index++ % 6 && !all && !kernel.getName().starts_with("groups_"))
        kernel.erase();
    codegen::GPUCode code = compile(*part, name, /*assembles=*/true);
    EXPECT_TRUE(StringRef(code.cubin).starts_with("\177ELF"));
    std::string report;
    ASSERT_TRUE(succeeded(codegen::assemble(part->getLoc(), code.ptx,
                                            *codegen::GPUTarget::get(name),
                                            ptxas, &report)));
    if (all)
      std::ofstream(std::string("ptxas-") + (name + 5) + ".txt") << report;
    std::regex spills("[1-9][0-9]* bytes (spill|stack)");
    EXPECT_FALSE(std::regex_search(report, spills)) << report;
  }
}
