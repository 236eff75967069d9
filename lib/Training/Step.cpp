// SPDX-License-Identifier: Apache-2.0

#include "dlc/Training/Step.h"

#include "Loss.h"

#include "dlc/Gradient/Gradient.h"
#include "dlc/Training/Optimizer.h"
#include "dlc/dialects/Graph/Gradients.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::training;
using frontend::GraphBuilder;
using graph::GraphDialect;

namespace {
/// One function on its way to a step.
class StepBuilder {
public:
  StepBuilder(func::FuncOp function, const StepOptions &options,
              const Optimizer &optimizer)
      : function(function), options(options), optimizer(optimizer),
        b(OpBuilder(function.getContext())) {
    b.setLocation(function.getLoc());
  }
  FailureOr<Step> build();

private:
  StringRef nameOf(unsigned argument);
  Operation *terminator() { return function.getBody().front().getTerminator(); }
  Value addArgument(std::string name, Type type);
  void addResult(StringRef name, Value value, StringRef updates = "");
  LogicalResult findParameters();
  LogicalResult addLoss();
  LogicalResult differentiate();
  LogicalResult addUpdates();
  void updateParameter(unsigned argument, Value gradient, Value rate,
                       Value count);

  func::FuncOp function;
  const StepOptions &options;
  const Optimizer &optimizer;
  GraphBuilder b;
  Step step;
  SmallVector<unsigned> parameters, heads; ///< Arguments and results.
  SmallVector<Value> gradients;            ///< Of each parameter.
};
} // namespace

StringRef StepBuilder::nameOf(unsigned argument) {
  auto name =
      function.getArgAttrOfType<StringAttr>(argument, GraphDialect::kNameAttr);
  return name ? name.getValue() : StringRef();
}

/// A name that no other argument has.
Value StepBuilder::addArgument(std::string name, Type type) {
  llvm::StringSet<> taken;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    taken.insert(nameOf(i));
  while (taken.contains(name))
    name += "'";
  unsigned number = function.getNumArguments();
  Builder &builder = b.opBuilder();
  auto attributes = builder.getDictionaryAttr(builder.getNamedAttr(
      GraphDialect::kNameAttr, builder.getStringAttr(name)));
  (void)function.insertArgument(number, type, attributes, function.getLoc());
  return function.getArgument(number);
}

void StepBuilder::addResult(StringRef name, Value value, StringRef updates) {
  Builder &builder = b.opBuilder();
  SmallVector<NamedAttribute> attributes{builder.getNamedAttr(
      GraphDialect::kNameAttr, builder.getStringAttr(name))};
  if (!updates.empty())
    attributes.push_back(builder.getNamedAttr(GraphDialect::kUpdatesAttr,
                                              builder.getStringAttr(updates)));
  unsigned number = function.getNumResults();
  (void)function.insertResult(number, value.getType(),
                              builder.getDictionaryAttr(attributes));
  terminator()->insertOperands(number, value);
}

//===----------------------------------------------------------------------===//
// Collect
//===----------------------------------------------------------------------===//

LogicalResult StepBuilder::findParameters() {
  llvm::StringSet<> updated, known;
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto name = function.getResultAttrOfType<StringAttr>(
            i, GraphDialect::kUpdatesAttr))
      updated.insert(name.getValue());
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    std::string name = nameOf(i).str();
    known.insert(name);
    auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[i]);
    if (!type || !type.hasStaticShape())
      return function.emitError("expected a static shape of input '")
             << name << "', got " << function.getArgumentTypes()[i];
    if (options.data.count(name) || options.frozen.count(name) ||
        updated.contains(name) || !graph::isContinuous(type))
      continue;
    parameters.push_back(i);
    step.parameters.push_back(name);
  }
  for (const std::string &name : options.frozen)
    if (!known.contains(name))
      return function.emitError("expected the name of an input to freeze, got "
                                "'")
             << name << "'";
  if (parameters.empty())
    return function.emitError("expected parameters to train, got inputs of "
                              "data only");
  return success();
}

//===----------------------------------------------------------------------===//
// Build
//===----------------------------------------------------------------------===//

/// Without a loss to add, layers that replace the gradients of what they give
/// are the heads.
LogicalResult StepBuilder::addLoss() {
  unsigned count = function.getNumResults();
  if (!options.loss.empty()) {
    if (count == 0)
      return function.emitError("expected an output to make a loss of");
    auto addLabel = [&](Type type) { return addArgument(options.label, type); };
    Value loss =
        buildLoss(b, options.loss, terminator()->getOperand(0), addLabel);
    if (!loss)
      return failure();
    step.loss = "loss";
    heads.push_back(count);
    addResult(step.loss, loss);
    return success();
  }
  bool hasLoss = false;
  function.walk([&](graph::ReplaceGradientOp) { hasLoss = true; });
  if (!hasLoss)
    return function.emitError("expected a network that ends in a loss, or a "
                              "loss to add (")
           << lossNames() << ")";
  for (unsigned i = 0; i < count; ++i)
    if (graph::isContinuous(function.getResultTypes()[i]) &&
        !function.getResultAttr(i, GraphDialect::kUpdatesAttr))
      heads.push_back(i);
  return success();
}

/// The gradients of the heads are ones.
LogicalResult StepBuilder::differentiate() {
  graph::GradientTask task;
  auto splat = [&](Value like, double value) -> Value {
    auto type = cast<RankedTensorType>(like.getType());
    return graph::ConstantOp::create(b.opBuilder(), function.getLoc(),
                                     graph::makeSplat(type, value));
  };
  for (unsigned head : heads) {
    task.heads.push_back(terminator()->getOperand(head));
    task.headGradients.push_back(splat(task.heads.back(), 1));
  }
  for (unsigned parameter : parameters)
    task.sources.push_back(function.getArgument(parameter));
  FailureOr<graph::GradientResult> result =
      graph::differentiate(b.opBuilder(), task);
  if (failed(result))
    return failure();
  for (auto [source, gradient] :
       llvm::zip_equal(task.sources, result->ofSources))
    gradients.push_back(gradient ? gradient : splat(source, 0));
  return success();
}

void StepBuilder::updateParameter(unsigned argument, Value gradient, Value rate,
                                  Value count) {
  std::string name = nameOf(argument).str();
  Value weight = function.getArgument(argument);
  SmallVector<Value> states;
  SmallVector<std::string> stateNames;
  for (StringRef state : optimizer.states()) {
    states.push_back(addArgument(name + " " + state.str(), weight.getType()));
    stateNames.push_back(nameOf(function.getNumArguments() - 1).str());
    step.states.push_back(stateNames.back());
  }
  OptimizerInputs inputs{weight, gradient, states, rate, count};
  if (auto found = options.factors.find(name); found != options.factors.end()) {
    inputs.rateFactor = found->second.rate;
    inputs.decayFactor = found->second.decay;
  }
  OptimizerResults updated = optimizer.update(b, inputs);
  if (b.failed())
    return;
  addResult("new " + name, updated.weight, name);
  for (auto [state, value] : llvm::zip_equal(stateNames, updated.states))
    addResult("new " + state, value, state);
}

LogicalResult StepBuilder::addUpdates() {
  b.opBuilder().setInsertionPoint(terminator());
  Value rate = addArgument("learning rate", RankedTensorType::get({}, b.f32()));
  step.learningRate = nameOf(function.getNumArguments() - 1).str();
  Value count = addArgument("update count", RankedTensorType::get({}, b.i64()));
  step.count = nameOf(function.getNumArguments() - 1).str();
  Value next = b.add(count, b.intScalar(1));
  for (auto [argument, gradient] : llvm::zip_equal(parameters, gradients))
    updateParameter(argument, gradient, rate, next);
  if (b.failed())
    return failure();
  addResult("new " + step.count, next, step.count);
  return success();
}

FailureOr<Step> StepBuilder::build() {
  b.opBuilder().setInsertionPoint(terminator());
  if (failed(findParameters()) || failed(addLoss()) ||
      failed(differentiate()) || failed(addUpdates()))
    return failure();
  return std::move(step);
}

FailureOr<Step> dlc::training::buildStep(func::FuncOp function,
                                         const StepOptions &options) {
  std::string problem;
  std::optional<Optimizer> optimizer =
      Optimizer::create(options.optimizer, problem);
  if (!optimizer)
    return function.emitError(problem);
  if (!function.getBody().hasOneBlock())
    return function.emitError("expected a body of one block");
  return StepBuilder(function, options, *optimizer).build();
}
