// SPDX-License-Identifier: Apache-2.0
//
// Random graphs through every pass over Graph operations, alone and in their
// order, and as programs: all give the numbers that the definitions of the
// operations give. The seed of a failure is printed with its graph.
//
// Without more ado this takes the first seeds only. All 1,000 take minutes:
//   DLC_TEST_GRAPHS=1000 build/bin/dlc_random_graph_test
// One of them, also printed as text:
//   DLC_TEST_SEED=17 build/bin/dlc_random_graph_test

#include "Generator.h"
#include "ProgramRunner.h"
#include "Shrink.h"

#include "dlc/InitAll.h"
#include "dlc/Numerics/Comparison.h"
#include "dlc/Numerics/Inputs.h"
#include "dlc/Numerics/VerifyNumerics.h"
#include "dlc/dialects/Graph/GraphDialect.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>

using namespace mlir;
using namespace dlc;
using namespace dlc::test;
using numerics::Tensor;

namespace {

/// A context with all dialects, and what it was told.
struct Workplace {
  Workplace() : context(registry(), MLIRContext::Threading::DISABLED) {
    context.loadDialect<graph::GraphDialect, func::FuncDialect>();
    context.printOpOnDiagnostic(false);
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      messages += diagnostic.str() + "\n";
    });
  }
  static DialectRegistry registry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }

  std::string messages;
  MLIRContext context;
};

std::vector<uint64_t> seeds(uint64_t count) {
  if (const char *one = std::getenv("DLC_TEST_SEED"))
    return {std::strtoull(one, nullptr, 10)};
  if (const char *all = std::getenv("DLC_TEST_GRAPHS"))
    count = std::strtoull(all, nullptr, 10);
  std::vector<uint64_t> seeds;
  for (uint64_t i = 0; i < count; ++i)
    seeds.push_back(i);
  return seeds;
}

std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os); // With the bytes of resources, unlike <<.
  return text;
}

std::vector<Tensor> inputsOf(func::FuncOp function) {
  std::vector<Tensor> inputs;
  rt::Status status = numerics::makeInputs(function, /*seed=*/0,
                                           numerics::Integers::Small, inputs);
  EXPECT_TRUE(status.isOk()) << status.message();
  return inputs;
}

/// What the definitions say.
std::vector<Tensor> resultsOf(func::FuncOp function,
                              const std::vector<Tensor> &inputs) {
  std::vector<Tensor> results;
  rt::Status status =
      numerics::interpret(function.getBody().front(), inputs, results);
  EXPECT_TRUE(status.isOk()) << status.message();
  return results;
}

/// "graph-fuse-operators" and all others of Passes.td, and what the operation
/// is that each works on.
std::vector<std::pair<std::string, std::string>> graphPasses() {
  std::ifstream file(DLC_GRAPH_PASSES);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  static const std::regex pattern(
      "Pass<\"([a-z-]+)\",\\s*\"::mlir::([^\"]+)\">");
  std::vector<std::pair<std::string, std::string>> passes;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end;
       at != end; ++at)
    passes.push_back({(*at)[1], (*at)[2] == "ModuleOp" ? "" : "func.func"});
  return passes;
}

/// Pipelines of one pass, but for what it needs in front of it.
std::vector<std::string> pipelines(func::FuncOp function) {
  std::vector<std::string> pipelines = {"canonicalize", "cse"};
  for (const auto &[name, anchor] : graphPasses()) {
    if (name == "graph-split-gradient") {
      std::string counts =
          " arguments=" + std::to_string(function.getNumArguments()) +
          " results=" + std::to_string(function.getNumResults()) + "})";
      for (const char *part : {"forward", "backward"})
        pipelines.push_back(
            "func.func(graph-gradient,graph-split-gradient{part=" +
            std::string(part) + counts);
      continue;
    }
    pipelines.push_back(anchor.empty() ? name : anchor + "(" + name + ")");
  }
  return pipelines;
}

/// Runs a pipeline on a copy; what is wrong with it.
std::string runPasses(Workplace &place, ModuleOp module,
                      const std::string &pipeline) {
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager manager(&place.context, ModuleOp::getOperationName());
  manager.addInstrumentation(numerics::createNumericsVerifier());
  if (failed(parsePassPipeline(pipeline, manager)))
    return "the pipeline cannot be parsed";
  place.messages.clear();
  if (succeeded(manager.run(*copy)))
    return "";
  // Not every function has a gradient.
  bool mayRefuse = StringRef(pipeline).contains("graph-gradient");
  bool isWrong =
      place.messages.empty() || StringRef(place.messages).contains("pass '");
  return mayRefuse && !isWrong ? "" : place.messages;
}

/// Whether the program gives what the definitions give; what is wrong with it.
std::string compareProgram(ModuleOp module) {
  func::FuncOp main = mainOf(module);
  Operation *end = main.getBody().front().getTerminator();
  std::vector<Tensor> inputs = inputsOf(main), outputs;
  std::vector<Tensor> expected = resultsOf(main, inputs);
  std::string failure = runProgram(module, inputs, outputs);
  for (size_t i = 0; failure.empty() && i < expected.size(); ++i)
    if (auto difference = numerics::findDifference(
            expected[i], outputs[i],
            numerics::toleranceFactorOf(end->getOperand(i))))
      failure = "output " + std::to_string(i) + ": " + *difference;
  return failure;
}

/// Fails the test where a check of a graph does, with the smallest graph of
/// which it does.
void expectGood(RandomGraph &graph, uint64_t seed, const std::string &what,
                const Check &check) {
  std::string failure = shrink(graph, check);
  if (!failure.empty())
    ADD_FAILURE() << "seed " << seed << ", " << what << ": " << failure << "\n"
                  << textOf(*graph);
}

struct RandomGraphs : testing::Test {
  static void SetUpTestSuite() {
    registerAllPasses();
    registerCanonicalizerPass();
    registerCSEPass();
  }
};

} // namespace

TEST_F(RandomGraphs, SurviveEveryPass) {
  ASSERT_GE(graphPasses().size(), 8u);
  for (uint64_t seed : seeds(150)) {
    Workplace place;
    RandomGraph graph = Generator(place.context, seed, false).generate();
    if (std::getenv("DLC_TEST_SEED"))
      std::fputs(textOf(*graph).c_str(), stdout);
    ASSERT_TRUE(succeeded(verify(*graph))) << "seed " << seed;
    for (const std::string &pipeline : pipelines(mainOf(*graph)))
      expectGood(graph, seed, pipeline, [&](ModuleOp module) {
        return runPasses(place, module, pipeline);
      });
  }
}

TEST_F(RandomGraphs, AreProgramsThatAgreeWithTheirDefinitions) {
  for (uint64_t seed : seeds(60)) {
    Workplace place;
    RandomGraph graph = Generator(place.context, seed, false).generate();
    expectGood(graph, seed, "as a program", compareProgram);
  }
}
