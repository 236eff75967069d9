// SPDX-License-Identifier: Apache-2.0

#include "dlc/Training/Step.h"

#include "Loss.h"
#include "dlc/Training/Text.h"

#include "dlc/Gradient/Gradient.h"
#include "dlc/Training/Optimizer.h"
#include "dlc/dialects/Graph/Gradients.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Ports.h"
#include "dlc/dialects/Graph/Training.h"
#include "dlc/runtime/Base/Names.h"

#include "llvm/ADT/DenseSet.h"

#include <cmath>
#include <set>
#include <tuple>

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
  std::pair<double, double> factorsOf(unsigned argument);
  LogicalResult findParameters();
  void findNumbers();
  std::string reasonFor(const std::string &name) const;
  LogicalResult checkParameters();
  LogicalResult findLabels();
  bool hasOwnLoss();
  LogicalResult addLoss();
  LogicalResult useOwnLoss();
  LogicalResult differentiate();
  LogicalResult addUpdates();
  SmallVector<BlockArgument> addInputs();
  void updateParameter(unsigned argument, OptimizerInputs inputs);

  func::FuncOp function;
  const StepOptions &options;
  const Optimizer &optimizer;
  GraphBuilder b;
  Step step;
  SmallVector<unsigned> parameters, heads; ///< Arguments and results.
  SmallVector<Value> gradients;            ///< Of each parameter.
  SmallVector<graph::Update> updates;
  std::set<std::string> fixed; ///< Names of `graph.fixed` arguments.
};
} // namespace

StringRef StepBuilder::nameOf(unsigned argument) {
  StringAttr name = graph::givenName(function, argument, /*isResult=*/false);
  return name ? name.getValue() : StringRef();
}

//===----------------------------------------------------------------------===//
// Collect
//===----------------------------------------------------------------------===//

/// Of the learning rate and of the weight decay.
std::pair<double, double> StepBuilder::factorsOf(unsigned argument) {
  StringRef name = nameOf(argument);
  Factors factors;
  if (auto found = options.factors.find(name.str());
      found != options.factors.end())
    factors = found->second;
  auto decide = [&](std::optional<double> asked, StringRef attribute,
                    double otherwise) {
    auto own = function.getArgAttrOfType<FloatAttr>(argument, attribute);
    return asked ? *asked : own ? own.getValueAsDouble() : otherwise;
  };
  bool isAdded = name.ends_with("bias") || name.ends_with("beta");
  return {decide(factors.rate, graph::kRateFactorAttr, 1),
          decide(factors.decay, graph::kDecayFactorAttr, isAdded ? 0 : 1)};
}

LogicalResult StepBuilder::findParameters() {
  DenseSet<Value> updated;
  for (BlockArgument argument : graph::findUpdates(function))
    if (argument)
      updated.insert(argument);
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    std::string name = nameOf(i).str();
    auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[i]);
    if (!type || !type.hasStaticShape())
      return function.emitError("expected a static shape of input '")
             << name << "', got " << function.getArgumentTypes()[i];
    if (options.data.count(name))
      continue;
    if (auto text =
            function.getArgAttrOfType<StringAttr>(i, graph::kInitializerAttr))
      step.initializers[name] = text.str();
    if (updated.contains(function.getArgument(i)))
      continue;
    bool isParameter = graph::isContinuous(type);
    if (function.getArgAttr(i, graph::kFixedAttr))
      fixed.insert(name);
    if (options.frozen.count(name) || fixed.count(name) ||
        (isParameter && factorsOf(i).first == 0)) {
      step.frozen.push_back(name);
    } else if (isParameter) {
      parameters.push_back(i);
      step.parameters.push_back(name);
    }
  }
  return checkParameters();
}

/// Takes the attribute from the function: no later phase knows it.
void StepBuilder::findNumbers() {
  if (auto names = llvm::dyn_cast_or_null<ArrayAttr>(
          function->removeAttr(graph::kNumbersAttr)))
    for (StringAttr name : names.getAsRange<StringAttr>())
      step.numbers.push_back(name.str());
}

/// Why an argument that is no parameter is none, where that is known.
std::string StepBuilder::reasonFor(const std::string &name) const {
  return llvm::is_contained(step.numbers, name)
             ? ", a single number of the model, which stays as it is"
             : "";
}

/// Options are of parameters, and there are some to train.
LogicalResult StepBuilder::checkParameters() {
  auto isParameter = [&](const std::string &name) {
    return llvm::is_contained(step.parameters, name) ||
           llvm::is_contained(step.frozen, name);
  };
  auto known = [&](const std::string &wanted) {
    rt::NearName near(wanted);
    for (const auto &list : {step.parameters, step.frozen})
      for (const std::string &name : list)
        near.offer(name);
    return near.best().empty() ? "; there are " + rt::listSome(step.parameters)
                               : near.question();
  };
  for (const std::string &name : options.frozen)
    if (!isParameter(name))
      return function.emitError("expected a parameter to freeze, got '")
             << name << "'" << reasonFor(name) << known(name);
  for (const auto &[name, factors] : options.factors) {
    if (!isParameter(name))
      return function.emitError("expected a parameter to give factors, got '")
             << name << "'" << reasonFor(name) << known(name);
    if (options.frozen.count(name) || fixed.count(name))
      return function.emitError("expected a parameter that is trained to give "
                                "factors, got '")
             << name << "', which is "
             << (fixed.count(name) ? "fixed" : "frozen");
    for (std::optional<double> factor : {factors.rate, factors.decay})
      if (factor && !(*factor >= 0 && std::isfinite(*factor)))
        return function.emitError("expected a finite factor of at least 0 for "
                                  "'")
               << name << "', got " << toText(*factor);
  }
  if (parameters.empty())
    return function.emitError("expected parameters to train, got none but "
                              "data and inputs that stay as they are");
  return success();
}

/// The arguments that `value` depends on, but through what was seen before.
static std::set<unsigned> collectArguments(Value value,
                                           llvm::DenseSet<Value> &seen) {
  std::set<unsigned> arguments;
  SmallVector<Value> open{value};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      // Those of loops have the values of operands.
      if (isa<func::FuncOp>(argument.getOwner()->getParentOp()))
        arguments.insert(argument.getArgNumber());
      continue;
    }
    next.getDefiningOp()->walk([&](Operation *inner) {
      llvm::append_range(open, inner->getOperands());
    });
  }
  return arguments;
}

/// What the gradients of losses read and their results do not is labels: data,
/// or there is nothing to learn.
LogicalResult StepBuilder::findLabels() {
  auto labelsOf = [&](graph::ReplaceGradientOp loss) {
    llvm::DenseSet<Value> seen;
    collectArguments(loss.getValue(), seen);
    return collectArguments(loss.getGradient(), seen);
  };
  WalkResult result = function.walk([&](graph::ReplaceGradientOp loss) {
    for (unsigned label : labelsOf(loss))
      if (!options.data.count(nameOf(label).str())) {
        loss.emitError("expected labels among the data, got none for input '")
            << nameOf(label) << "'";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  auto first =
      terminator()->getOperand(0).getDefiningOp<graph::ReplaceGradientOp>();
  if (!first)
    return success();
  std::set<unsigned> labels = labelsOf(first);
  // A regression has the gradient of what it gives.
  step.endsInSoftmax =
      step.areProbabilities && first.getValue() != first.getOperand(1);
  step.isLoss = labels.empty();
  if (labels.size() == 1)
    step.labels = nameOf(*labels.begin()).str();
  return success();
}

/// A layer that is a loss replaces the gradient of what it gives.
static Value skipReplacedGradients(Value value) {
  while (auto replaced = value.getDefiningOp<graph::ReplaceGradientOp>())
    value = replaced.getValue();
  return value;
}

//===----------------------------------------------------------------------===//
// Build
//===----------------------------------------------------------------------===//

bool StepBuilder::hasOwnLoss() {
  return function
      .walk([](graph::ReplaceGradientOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

LogicalResult StepBuilder::addLoss() {
  unsigned count = function.getNumResults();
  if (count == 0)
    return function.emitError("expected an output to make a loss of");
  FoundSoftmax softmax =
      findSoftmax(skipReplacedGradients(terminator()->getOperand(0)));
  step.areProbabilities = bool(softmax.op);
  step.places = softmax.places;
  if (options.loss.empty())
    return useOwnLoss();
  if (hasOwnLoss())
    return function.emitError("expected a network without a loss to add '")
           << options.loss << "' to, got one that ends in a loss";
  auto addLabel = [&](Type type) {
    BlockArgument argument = graph::addArgument(function, type, options.label);
    step.labels = nameOf(argument.getArgNumber()).str();
    return argument;
  };
  BuiltLoss loss =
      buildLoss(b, options.loss, terminator()->getOperand(0), addLabel);
  if (!loss.value)
    return failure();
  if (!step.labels.empty() && step.labels != options.label)
    return function.emitError("expected a name for the labels of the loss that "
                              "no input has, got '")
           << options.label << "'";
  step.isLoss = step.labels.empty();
  step.classes = loss.classes;
  step.areLogits = loss.areLogits;
  if (loss.places.count)
    step.places = loss.places;
  heads.push_back(count);
  graph::addResult(function, loss.value, "loss");
  step.loss = graph::givenName(function, count, /*isResult=*/true).str();
  return success();
}

/// Layers that replace the gradients of what they give are the heads.
LogicalResult StepBuilder::useOwnLoss() {
  if (!hasOwnLoss())
    return function.emitError("expected a network that ends in a loss, or a "
                              "loss to add (")
           << lossNames() << ")";
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (graph::isContinuous(function.getResultTypes()[i]) &&
        !function.getResultAttr(i, GraphDialect::kUpdatesAttr))
      heads.push_back(i);
  return findLabels();
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

/// The learning rate, how many updates there were, and the states of each
/// parameter.
SmallVector<BlockArgument> StepBuilder::addInputs() {
  SmallVector<Type> types{RankedTensorType::get({}, b.f32()),
                          RankedTensorType::get({}, b.i64())};
  SmallVector<std::string> names{"learning rate", "update count"};
  for (unsigned parameter : parameters)
    for (StringRef state : optimizer.states()) {
      types.push_back(function.getArgument(parameter).getType());
      names.push_back((nameOf(parameter) + " " + state).str());
    }
  SmallVector<BlockArgument> inputs =
      graph::addArguments(function, types, names);
  auto given = [&](BlockArgument input) {
    return nameOf(input.getArgNumber()).str();
  };
  step.learningRate = given(inputs[0]);
  step.count = given(inputs[1]);
  for (BlockArgument state : ArrayRef(inputs).drop_front(2))
    step.states.push_back(given(state));
  return inputs;
}

void StepBuilder::updateParameter(unsigned argument, OptimizerInputs inputs) {
  std::tie(inputs.rateFactor, inputs.decayFactor) = factorsOf(argument);
  OptimizerResults updated = optimizer.update(b, inputs);
  if (b.failed())
    return;
  updates.emplace_back(function.getArgument(argument), updated.weight);
  for (auto [state, value] : llvm::zip_equal(inputs.states, updated.states))
    updates.emplace_back(cast<BlockArgument>(state), value);
}

LogicalResult StepBuilder::addUpdates() {
  b.opBuilder().setInsertionPoint(terminator());
  SmallVector<BlockArgument> inputs = addInputs();
  BlockArgument rate = inputs[0], count = inputs[1];
  SmallVector<Value> states(ArrayRef(inputs).drop_front(2));
  Value next = b.add(count, b.intScalar(1));
  size_t each = optimizer.states().size();
  for (auto [i, argument] : llvm::enumerate(parameters))
    updateParameter(argument,
                    {function.getArgument(argument), gradients[i],
                     ArrayRef(states).slice(i * each, each), rate, next});
  if (b.failed())
    return failure();
  updates.emplace_back(count, next);
  graph::addUpdates(function, updates);
  return success();
}

FailureOr<Step> StepBuilder::build() {
  b.opBuilder().setInsertionPoint(terminator());
  findNumbers();
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
