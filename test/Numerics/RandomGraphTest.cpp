// SPDX-License-Identifier: Apache-2.0
//
// Random graphs through every pass over Graph operations, alone and in their
// order, and as programs: all give the numbers that the definitions of the
// operations give.

#include "RandomGraphs.h"

#include "dlc/Numerics/VerifyNumerics.h"
#include "dlc/dialects/Graph/GraphDialect.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>

using namespace mlir;
using namespace dlc;
using namespace dlc::test;

namespace {

/// "graph-fuse-operators" and all others of Passes.td, and what the operation
/// is that each works on.
std::vector<std::pair<std::string, std::string>> readGraphPasses() {
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

const std::vector<std::pair<std::string, std::string>> &graphPasses() {
  static const auto passes = readGraphPasses();
  return passes;
}

/// Pipelines of one pass, but for what it needs in front of it: as many, in the
/// same order, for every function.
std::vector<std::string> pipelines(func::FuncOp function) {
  std::vector<std::string> pipelines = {
      "canonicalize",
      "cse",
      "func.func(graph-gradient,graph-recompute)",
      "func.func(graph-recompute{budget=1})",
      "func.func(graph-alter-layout{channel-block=16})",
      "func.func(graph-place-devices{groups=head=cpu:1},graph-insert-copies)"};
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
    // One part is the whole.
    std::string pass = name == "graph-split-batch" ? name + "{parts=2}" : name;
    pipelines.push_back(anchor.empty() ? pass : anchor + "(" + pass + ")");
  }
  return pipelines;
}

/// Not every function has a gradient: whether these are reasons for that, and
/// no rule's or pass's fault.
bool isRefusal(StringRef messages) {
  static constexpr StringRef reasons[] = {
      "has no gradient: ", "of floats, found ",
      "expected a static shape of argument"};
  return llvm::any_of(
      reasons, [&](StringRef reason) { return messages.contains(reason); });
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
  if (place.messages.empty())
    return "it fails without a message";
  bool mayRefuse = StringRef(pipeline).contains("graph-gradient");
  return mayRefuse && isRefusal(place.messages) ? "" : place.messages;
}

} // namespace

TEST_F(RandomGraphs, SurviveEveryPass) {
  ASSERT_GE(graphPasses().size(), 8u);
  for (uint64_t seed : seeds(1000)) {
    Workplace place;
    RandomGraph graph = Generator(place.context, seed, false).generate();
    if (std::getenv("DLC_TEST_SEED"))
      std::fputs(textOf(*graph).c_str(), stdout);
    ASSERT_TRUE(succeeded(verify(*graph))) << "seed " << seed;
    std::vector<std::string> all = pipelines(mainOf(*graph));
    for (size_t i = 0; i < all.size(); ++i)
      expectGood(graph, seed, all[i], [&](ModuleOp module) {
        return runPasses(place, module, pipelines(mainOf(module))[i]);
      });
  }
}

TEST_F(RandomGraphs, AreProgramsThatAgreeWithTheirDefinitions) {
  for (uint64_t seed : seeds(250)) {
    Workplace place;
    RandomGraph graph = Generator(place.context, seed, false).generate();
    expectGood(graph, seed, "as a program",
               [](ModuleOp module) { return compareProgram(module); });
  }
}

/// Operations that no graph begins with: they are made of others.
static const std::set<std::string> made = {
    "graph.conv_weight_gradient", "graph.copy", "graph.max_pool_gradient"};

TEST_F(RandomGraphs, HaveEveryOperation) {
  std::set<std::string> seen = made;
  Workplace place;
  for (uint64_t seed = 0; seed < 1000; ++seed)
    Generator(place.context, seed, false).generate()->walk([&](Operation *op) {
      seen.insert(op->getName().getStringRef().str());
    });
  for (RegisteredOperationName name : place.context.getRegisteredOperations())
    if (name.hasTrait<graph::ReferenceInference>())
      EXPECT_TRUE(seen.count(name.getStringRef().str()))
          << name.getStringRef().str() << " is in none of 1,000 graphs";
}
