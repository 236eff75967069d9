// SPDX-License-Identifier: Apache-2.0
//
// Layers that do something else when training, and the gradients of those that
// are losses, against MXNet 1.9.1 (layers.jsonl, written by make_layers.py);
// gradients of other operators (gradients.jsonl, written by make_gradients.py).

#include "../RunFunction.h"

#include "dlc/Symbol/Json.h"
#include "dlc/Symbol/Lowering.h"
#include "dlc/dialects/Graph/GraphDialect.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/JSON.h"
#include <gtest/gtest.h>

#include <fstream>

using namespace dlc;
namespace json = llvm::json;

namespace {

struct Layers : testing::Test {
  Layers() : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<graph::GraphDialect, mlir::func::FuncDialect>();
  }
  mlir::OwningOpRef<mlir::ModuleOp> lower(const std::string &text,
                                          const symbol::KnownShapes &shapes,
                                          bool isTraining = true) {
    rt::Result<symbol::Symbol> symbol = symbol::fromJson(text);
    EXPECT_TRUE(symbol.isOk()) << symbol.status().message();
    symbol::LoweringOptions options;
    options.isTraining = isTraining;
    options.shapes = shapes;
    return symbol::lowerToGraph(context, *symbol, options);
  }
  void run(const json::Object &object);
  /// The number of cases in a file, all of which were run.
  size_t runAll(const std::string &file);

  mlir::MLIRContext context;
};

Numbers elementsOf(const json::Value &value) {
  Numbers numbers;
  for (const json::Value &each : *(*value.getAsArray())[1].getAsArray())
    numbers.push_back(*each.getAsNumber());
  return numbers;
}

std::vector<int64_t> shapeOf(const json::Value &value) {
  std::vector<int64_t> shape;
  for (const json::Value &each : *(*value.getAsArray())[0].getAsArray())
    shape.push_back(*each.getAsInteger());
  return shape;
}

void Layers::run(const json::Object &object) {
  symbol::KnownShapes shapes;
  std::map<std::string, Numbers> values;
  for (const char *group : {"inputs", "states"})
    for (const auto &[name, value] : *object.getObject(group)) {
      shapes[name.str()] = shapeOf(value);
      values[name.str()] = elementsOf(value);
    }
  std::string text;
  llvm::raw_string_ostream(text) << *object.get("symbol");
  mlir::OwningOpRef<mlir::ModuleOp> module = lower(text, shapes);
  ASSERT_TRUE(module);
  auto main = module->lookupSymbol<mlir::func::FuncOp>("main");
  auto output = main.getResultAttrOfType<mlir::StringAttr>(0, "graph.name");
  graph::GradientPassOptions options;
  options.heads = {"#0"};
  for (const auto &[name, value] : *object.getObject("gradients"))
    options.wrt.push_back(name.str());
  mlir::PassManager manager(&context);
  manager.addNestedPass<mlir::func::FuncOp>(graph::createInferTypesPass());
  manager.addNestedPass<mlir::func::FuncOp>(graph::createGradientPass(options));
  manager.addNestedPass<mlir::func::FuncOp>(
      graph::createVerifyPass({graph::VerifiedPhase::Graph}));
  ASSERT_TRUE(succeeded(manager.run(*module)));

  values["grad of " + output.str()] = elementsOf(*object.get("head"));
  std::map<std::string, Numbers> results = runFunction(main, values);
  expectNear(results[output.str()], elementsOf(*object.get("output")), 1e-5);
  for (const auto &[name, value] : *object.getObject("gradients")) {
    SCOPED_TRACE(name.str());
    expectNear(results["grad of " + name.str()], elementsOf(value), 2e-5);
  }
  for (const auto &[name, value] : *object.getObject("newStates")) {
    SCOPED_TRACE(name.str());
    bool isUpdated = results.count("new " + name.str());
    expectNear(isUpdated ? results["new " + name.str()] : values[name.str()],
               elementsOf(value), 1e-5);
  }
}

size_t Layers::runAll(const std::string &name) {
  std::ifstream file(DLC_TRAINING_INPUTS "/" + name);
  std::string line;
  size_t count = 0;
  for (; std::getline(file, line); ++count) {
    llvm::Expected<json::Value> value = json::parse(line);
    EXPECT_TRUE(bool(value));
    if (!value)
      break;
    SCOPED_TRACE(line.substr(0, 600));
    run(*value->getAsObject());
  }
  return count;
}

} // namespace

TEST_F(Layers, AgreeWithMXNet) { EXPECT_EQ(runAll("layers.jsonl"), 37u); }

TEST_F(Layers, GradientsAgreeWithMXNet) {
  EXPECT_EQ(runAll("gradients.jsonl"), 241u);
}

static const char dropout[] = R"({"nodes": [
  {"op": "null", "name": "data", "inputs": []},
  {"op": "Dropout", "name": "drop", "attrs": {"p": "0.25" EXTRA},
   "inputs": [[0, 0, 0]]}],
  "arg_nodes": [0], "heads": [[1, 0, 0]]})";

static std::string dropoutWith(const std::string &extra) {
  std::string text = dropout;
  return text.replace(text.find("EXTRA"), 5, extra);
}

/// The numbers of Philox decide: a part of about 1/4 is 0, others grow, and
/// another run has other ones.
TEST_F(Layers, DropoutDropsOtherElementsInEachRun) {
  auto module = lower(dropoutWith(""), {{"data", {50, 40}}});
  ASSERT_TRUE(module);
  auto main = module->lookupSymbol<mlir::func::FuncOp>("main");
  ASSERT_TRUE(main.getArgAttr(1, "graph.random"));
  std::map<std::string, Numbers> values{{"data", Numbers(2000, 3)},
                                        {"random", {7, 0}}};
  std::map<std::string, Numbers> first = runFunction(main, values);
  EXPECT_EQ(first["new random"], (Numbers{7, 1}));
  size_t dropped = 0;
  for (double each : first["drop_output"]) {
    dropped += each == 0;
    EXPECT_TRUE(each == 0 || std::abs(each - 4) < 1e-6) << each;
  }
  EXPECT_NEAR(double(dropped), 500, 70); // 3.6 deviations.
  EXPECT_EQ(runFunction(main, values), first);
  values["random"] = first["new random"];
  EXPECT_NE(runFunction(main, values)["drop_output"], first["drop_output"]);
}

TEST_F(Layers, DropoutSharesItsFateAlongAxes) {
  auto module =
      lower(dropoutWith(R"x(, "axes": "(1,)")x"), {{"data", {20, 5}}});
  ASSERT_TRUE(module);
  auto main = module->lookupSymbol<mlir::func::FuncOp>("main");
  Numbers y = runFunction(
      main, {{"data", Numbers(100, 1)}, {"random", {1, 0}}})["drop_output"];
  for (size_t row = 0; row < 20; ++row)
    for (size_t i = 1; i < 5; ++i)
      EXPECT_EQ(y[row * 5 + i], y[row * 5]);
}

/// Outside of training it does nothing, unless it always acts.
TEST_F(Layers, DropoutHasModes) {
  auto asleep = lower(dropoutWith(""), {{"data", {4}}}, false);
  auto main = asleep->lookupSymbol<mlir::func::FuncOp>("main");
  EXPECT_EQ(main.getNumArguments(), 1u);
  auto awake =
      lower(dropoutWith(R"(, "mode": "always")"), {{"data", {4}}}, false);
  main = awake->lookupSymbol<mlir::func::FuncOp>("main");
  EXPECT_EQ(main.getNumArguments(), 2u);
  EXPECT_EQ(main.getNumResults(), 2u);
}

/// MXNet 1.9.1 multiplies with the output instead of its gradient, against what
/// it says of the parameter; that is not followed.
TEST_F(Layers, SoftmaxOutputMultipliesWithTheGradient) {
  auto module = lower(R"({"nodes": [
      {"op": "null", "name": "data", "inputs": []},
      {"op": "null", "name": "label", "inputs": []},
      {"op": "SoftmaxOutput", "name": "op", "attrs": {"out_grad": "True"},
       "inputs": [[0, 0, 0], [1, 0, 0]]}],
      "arg_nodes": [0, 1], "heads": [[2, 0, 0]]})",
                      {{"data", {1, 2}}});
  ASSERT_TRUE(module);
  graph::GradientPassOptions options;
  options.heads = {"#0"};
  options.wrt = {"data"};
  mlir::PassManager manager(&context);
  manager.addNestedPass<mlir::func::FuncOp>(graph::createInferTypesPass());
  manager.addNestedPass<mlir::func::FuncOp>(graph::createGradientPass(options));
  ASSERT_TRUE(succeeded(manager.run(*module)));
  auto main = module->lookupSymbol<mlir::func::FuncOp>("main");
  std::map<std::string, Numbers> results = runFunction(
      main, {{"data", {1, 1}}, {"label", {1}}, {"grad of op_output", {3, 5}}});
  expectNear(results["grad of data"], {1.5, -2.5}, 1e-6);
}
