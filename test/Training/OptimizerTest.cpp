// SPDX-License-Identifier: Apache-2.0
//
// Optimizers against what MXNet 1.9.1's did to the same weight with the same
// gradients (optimizers.jsonl, written by make_optimizers.py).

#include "../RunFunction.h"

#include "dlc/Training/Optimizer.h"
#include "dlc/dialects/Graph/GraphDialect.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/JSON.h"
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <set>

using namespace dlc::training;
using dlc::frontend::GraphBuilder;
namespace json = llvm::json;

namespace {

OptimizerOptions readOptions(const json::Object &object) {
  OptimizerOptions options;
  options.name = object.getString("name")->str();
  options.weightDecay = object.getNumber("weightDecay").value_or(0);
  options.rescale = object.getNumber("rescale").value_or(1);
  auto read = [&](const char *name, std::optional<double> &value) {
    if (std::optional<double> number = object.getNumber(name))
      value = *number;
  };
  read("clip", options.clip);
  read("momentum", options.momentum);
  read("beta1", options.beta1);
  read("beta2", options.beta2);
  read("epsilon", options.epsilon);
  read("gamma1", options.gamma1);
  read("l1", options.l1);
  read("beta", options.beta);
  read("lowerBound", options.lowerBound);
  read("upperBound", options.upperBound);
  read("decoupledDecay", options.decoupledDecay);
  options.isCentered = object.getBoolean("isCentered").value_or(false);
  return options;
}

Numbers numbersOf(const json::Value &value) {
  Numbers numbers;
  for (const json::Value &each : *value.getAsArray())
    numbers.push_back(*each.getAsNumber());
  return numbers;
}

/// A function of weight, gradient, rate, count and the states.
class UpdateFunction {
public:
  UpdateFunction(mlir::MLIRContext &context, const Optimizer &optimizer)
      : b(mlir::OpBuilder(&context)) {
    mlir::OpBuilder &ops = b.opBuilder();
    type = mlir::RankedTensorType::get({2, 3}, ops.getF32Type());
    main = mlir::func::FuncOp::create(ops.getUnknownLoc(), "main",
                                      ops.getFunctionType({}, {}));
    main.addEntryBlock();
    ops.setInsertionPointToEnd(&main.getBody().front());
    mlir::Value weight = add("weight", type), gradient = add("gradient", type);
    mlir::Value rate =
        add("rate", mlir::RankedTensorType::get({}, ops.getF32Type()));
    mlir::Value count = add("count", mlir::RankedTensorType::get({}, b.i64()));
    llvm::SmallVector<mlir::Value> states;
    for (llvm::StringRef state : optimizer.states())
      states.push_back(add(state, type));
    OptimizerResults results =
        optimizer.update(b, {weight, gradient, states, rate, count});
    llvm::SmallVector<mlir::Value> all{results.weight};
    all.append(results.states);
    mlir::func::ReturnOp::create(ops, ops.getUnknownLoc(), all);
    for (size_t i = 0; i < all.size(); ++i)
      (void)main.insertResult(
          i, type,
          ops.getDictionaryAttr(ops.getNamedAttr(
              "graph.name",
              ops.getStringAttr(i ? optimizer.states()[i - 1] : "weight"))));
  }
  ~UpdateFunction() { main.erase(); }

  GraphBuilder b;
  mlir::RankedTensorType type;
  mlir::func::FuncOp main;

private:
  mlir::Value add(llvm::StringRef name, mlir::Type argument) {
    mlir::OpBuilder &ops = b.opBuilder();
    unsigned number = main.getNumArguments();
    (void)main.insertArgument(number, argument,
                              ops.getDictionaryAttr(ops.getNamedAttr(
                                  "graph.name", ops.getStringAttr(name))),
                              ops.getUnknownLoc());
    return main.getArgument(number);
  }
};

void run(const json::Object &object) {
  OptimizerOptions options = readOptions(*object.getObject("options"));
  std::string problem;
  std::optional<Optimizer> optimizer = Optimizer::create(options, problem);
  ASSERT_TRUE(optimizer) << problem;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<dlc::graph::GraphDialect, mlir::func::FuncDialect>();
  UpdateFunction function(context, *optimizer);
  ASSERT_FALSE(function.b.failed());

  std::map<std::string, Numbers> values;
  values["weight"] = numbersOf(*object.get("weight"));
  values["rate"] = {*object.getNumber("rate")};
  for (llvm::StringRef state : optimizer->states())
    values[state.str()] = Numbers(6, 0);
  const json::Array &gradients = *object.getArray("gradients");
  const json::Array &results = *object.getArray("results");
  for (size_t i = 0; i < gradients.size(); ++i) {
    SCOPED_TRACE("update " + std::to_string(i + 1));
    values["gradient"] = numbersOf(gradients[i]);
    values["count"] = {double(i + 1)};
    for (const auto &[name, value] : runFunction(function.main, values))
      values[name] = value;
    expectNear(values["weight"], numbersOf(results[i]), 1e-5);
  }
}

} // namespace

TEST(Optimizer, AgreesWithMXNet) {
  std::ifstream file(DLC_TRAINING_INPUTS "/optimizers.jsonl");
  std::string line;
  std::set<std::string> seen;
  size_t count = 0;
  for (; std::getline(file, line); ++count) {
    llvm::Expected<json::Value> value = json::parse(line);
    ASSERT_TRUE(bool(value));
    const json::Object &object = *value->getAsObject();
    std::string text;
    llvm::raw_string_ostream(text) << *object.get("options");
    SCOPED_TRACE(text);
    seen.insert(object.getObject("options")->getString("name")->str());
    run(object);
  }
  EXPECT_EQ(count, 36u);
  // Each optimizer that there is.
  std::string names;
  for (const std::string &name :
       {"sgd", "nag", "adam", "adamw", "rmsprop", "adagrad", "adadelta", "ftrl",
        "lamb", "signum"}) {
    EXPECT_TRUE(seen.count(name)) << name;
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  EXPECT_EQ(Optimizer::names(), names);
}

/// The reason why options are refused.
static std::string problemOf(const OptimizerOptions &options) {
  std::string problem;
  EXPECT_FALSE(Optimizer::create(options, problem));
  return problem;
}

TEST(Optimizer, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(problemOf({.name = "sdg"}),
            "expected optimizer " + Optimizer::names() + ", got 'sdg'");
  EXPECT_EQ(problemOf({.name = "adam", .momentum = 0.9}),
            "expected an option of optimizer 'adam', got momentum");
  EXPECT_EQ(problemOf({.name = "sgd", .momentum = 1.5}),
            "expected momentum from 0 to 1, got 1.5");
  // 1 - 1^t divides.
  EXPECT_EQ(problemOf({.name = "adam", .beta1 = 1}),
            "expected beta1 from 0 to below 1, got 1");
  EXPECT_EQ(problemOf({.name = "lamb", .beta2 = 1}),
            "expected beta2 from 0 to below 1, got 1");
  // What would change nothing.
  EXPECT_EQ(problemOf({.name = "rmsprop", .gamma2 = 0.5}),
            "expected a centered rmsprop for gamma2, got one that is not");
  EXPECT_EQ(problemOf({.name = "signum", .momentum = 0, .decoupledDecay = 0.1}),
            "expected a momentum above 0 for a decoupled decay, got 0");
  EXPECT_EQ(problemOf({.name = "sgd", .rescale = NAN}),
            "expected a finite factor of gradients, got nan");
  EXPECT_EQ(problemOf({.name = "sgd", .isCentered = true}),
            "expected optimizer rmsprop to be centered, got 'sgd'");
  EXPECT_EQ(problemOf({.name = "sgd", .clip = 0}),
            "expected a limit of gradients above 0, got 0");
}
