// SPDX-License-Identifier: Apache-2.0

#include "RandomGraphs.h"

#include "ProgramRunner.h"

#include "dlc/InitAll.h"
#include "dlc/Numerics/Comparison.h"
#include "dlc/Numerics/Inputs.h"
#include "dlc/dialects/Graph/GraphDialect.h"

#include "mlir/Transforms/Passes.h"

#include <cstdlib>

using namespace mlir;
using namespace dlc;
using namespace dlc::test;
using numerics::Tensor;

static DialectRegistry registry() {
  DialectRegistry registry;
  registerAllDialects(registry);
  return registry;
}

Workplace::Workplace() : context(registry(), MLIRContext::Threading::DISABLED) {
  context.loadDialect<graph::GraphDialect, func::FuncDialect>();
  context.printOpOnDiagnostic(false);
  context.getDiagEngine().registerHandler(
      [this](Diagnostic &diagnostic) { messages += diagnostic.str() + "\n"; });
}

void RandomGraphs::SetUpTestSuite() {
  registerAllPasses();
  registerCanonicalizerPass();
  registerCSEPass();
}

std::vector<uint64_t> dlc::test::seeds(uint64_t count) {
  if (const char *one = std::getenv("DLC_TEST_SEED"))
    return {std::strtoull(one, nullptr, 10)};
  if (const char *all = std::getenv("DLC_TEST_GRAPHS"))
    count = std::strtoull(all, nullptr, 10);
  std::vector<uint64_t> seeds;
  for (uint64_t i = 0; i < count; ++i)
    seeds.push_back(i);
  return seeds;
}

std::string dlc::test::textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os); // With the bytes of resources, unlike <<.
  return text;
}

std::vector<Tensor> dlc::test::inputsOf(func::FuncOp function) {
  std::vector<Tensor> inputs;
  rt::Status status = numerics::makeInputs(function, /*seed=*/0,
                                           numerics::Integers::Small, inputs);
  EXPECT_TRUE(status.isOk()) << status.message();
  return inputs;
}

std::vector<Tensor> dlc::test::resultsOf(func::FuncOp function,
                                         const std::vector<Tensor> &inputs) {
  std::vector<Tensor> results;
  rt::Status status =
      numerics::interpret(function.getBody().front(), inputs, results);
  EXPECT_TRUE(status.isOk()) << status.message();
  return results;
}

std::string dlc::test::compareProgram(ModuleOp module, double slack) {
  func::FuncOp main = mainOf(module);
  Operation *end = main.getBody().front().getTerminator();
  std::vector<Tensor> inputs = inputsOf(main), outputs;
  std::vector<Tensor> expected = resultsOf(main, inputs);
  std::string failure = runProgram(module, inputs, outputs);
  for (size_t i = 0; failure.empty() && i < expected.size(); ++i)
    if (auto difference = numerics::findDifference(
            expected[i], outputs[i],
            slack * numerics::toleranceFactorOf(end->getOperand(i))))
      failure = "output " + std::to_string(i) + ": " + *difference;
  return failure;
}

void dlc::test::expectGood(RandomGraph &graph, uint64_t seed,
                           const std::string &what, const Check &check) {
  std::string failure = shrink(graph, check);
  if (!failure.empty())
    ADD_FAILURE() << "seed " << seed << ", " << what << ": " << failure << "\n"
                  << textOf(*graph);
}
