// SPDX-License-Identifier: Apache-2.0
//
// graph-gradient: reverse-mode differentiation of a function.

#include "dlc/dialects/Graph/Gradients.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Ports.h"
#include "dlc/passes/Graph/Passes.h"

#include "dlc/Gradient/Gradient.h"

#include "mlir/IR/Remarks.h"

namespace dlc::graph {
#define GEN_PASS_DEF_GRADIENTPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

namespace {

/// What is differentiated by what. Numbers are those of the function's results
/// and arguments.
struct Task {
  SmallVector<unsigned> heads, sources;
  SmallVector<bool> isAdded; ///< One per source: there is a former gradient.
};

} // namespace

//===----------------------------------------------------------------------===//
// Collect: what is asked for
//===----------------------------------------------------------------------===//

/// The numbers of the arguments or results that are called for: those of
/// floats where nothing is.
static FailureOr<SmallVector<unsigned>>
find(func::FuncOp function, ArrayRef<std::string> names, bool isResult) {
  TypeRange types(isResult ? function.getResultTypes()
                           : function.getArgumentTypes());
  SmallVector<unsigned> found;
  std::string known, others;
  llvm::StringMap<unsigned> numbers;
  for (auto [i, type] : llvm::enumerate(types)) {
    if (!isContinuous(type)) {
      llvm::raw_string_ostream(others)
          << (others.empty() ? "" : ", ")
          << nameOf(givenName(function, i, isResult), i) << " of "
          << getElementTypeOrSelf(type);
      continue;
    }
    // What a run keeps for the next one is no head unless it is called so.
    if (isResult && names.empty() &&
        function.getResultAttr(i, GraphDialect::kUpdatesAttr))
      continue;
    std::string name = nameOf(givenName(function, i, isResult), i);
    known += (known.empty() ? "" : ", ") + name;
    numbers.try_emplace(name, i);
    numbers.try_emplace("#" + std::to_string(i), i);
    if (names.empty())
      found.push_back(i);
  }
  if (known.empty())
    return function.emitError("expected ")
           << (isResult ? "a result" : "an argument") << " of floats, found "
           << (others.empty() ? "none" : others);
  for (const std::string &name : names) {
    auto number = numbers.find(name);
    if (number == numbers.end())
      return function.emitError("expected ")
             << (isResult ? "a result" : "an argument") << " of floats ("
             << known << "), got '" << name << "'";
    if (llvm::is_contained(found, number->second))
      return function.emitError("expected each ")
             << (isResult ? "result" : "argument") << " once, got '" << name
             << "' twice";
    found.push_back(number->second);
  }
  return found;
}

static std::string gradientName(func::FuncOp function, unsigned number,
                                bool isResult) {
  return "grad of " + nameOf(givenName(function, number, isResult), number);
}

/// What differentiate() is asked for: the gradients of the heads are new
/// arguments.
static GradientTask addHeads(func::FuncOp function, const Task &task) {
  GradientTask gradient;
  Operation *end = function.getBody().front().getTerminator();
  SmallVector<std::string> names;
  for (unsigned head : task.heads) {
    gradient.heads.push_back(end->getOperand(head));
    names.push_back(gradientName(function, head, /*isResult=*/true));
  }
  llvm::append_range(
      gradient.headGradients,
      addArguments(function, ValueRange(gradient.heads).getTypes(), names));
  for (unsigned source : task.sources)
    gradient.sources.push_back(function.getArgument(source));
  return gradient;
}

/// The former gradients of the sources that have some, which are new arguments.
static SmallVector<BlockArgument> addFormer(func::FuncOp function,
                                            const Task &task) {
  SmallVector<Type> types;
  SmallVector<std::string> names;
  for (auto [source, isAdded] : llvm::zip_equal(task.sources, task.isAdded))
    if (isAdded) {
      types.push_back(function.getArgumentTypes()[source]);
      names.push_back("sum of " +
                      gradientName(function, source, /*isResult=*/false));
    }
  return addArguments(function, types, names);
}

/// The gradient of a source: what was summed, or zeros.
static FailureOr<Value> finishSource(OpBuilder &builder, func::FuncOp function,
                                     unsigned source, Value sum) {
  Value argument = function.getArgument(source);
  if (sum)
    return sum;
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (!type || !type.hasStaticShape())
    return function.emitError("expected a static shape of argument '")
           << nameOf(givenName(function, source, false), source)
           << "', whose gradient is zero, got " << argument.getType();
  return ConstantOp::create(builder, function.getLoc(), makeSplat(type, 0))
      .getY();
}

static LogicalResult differentiate(func::FuncOp function, const Task &task) {
  Block &block = function.getBody().front();
  OpBuilder builder(block.getTerminator());
  auto gradients = graph::differentiate(builder, addHeads(function, task));
  if (failed(gradients))
    return failure();
  SmallVector<BlockArgument> former = addFormer(function, task);
  const auto *nextFormer = former.begin();
  unsigned zeros = 0;
  SmallVector<Value> values;
  SmallVector<std::string> names;
  SmallVector<StringAttr> updates;
  for (auto [source, isAdded, sum] :
       llvm::zip_equal(task.sources, task.isAdded, gradients->ofSources)) {
    zeros += !sum;
    names.push_back(gradientName(function, source, /*isResult=*/false));
    updates.emplace_back();
    if (!isAdded) {
      auto whole = finishSource(builder, function, source, sum);
      if (failed(whole))
        return failure();
      values.push_back(*whole);
      continue;
    }
    BlockArgument before = *nextFormer++;
    values.push_back(before);
    if (!sum)
      continue;
    values.back() = AddOp::create(builder, function.getLoc(), sum, before);
    // It may be written where the former one is.
    updates.back() =
        givenName(function, before.getArgNumber(), /*isResult=*/false);
  }
  addResults(function, values, names, updates);
  (void)eraseDead(block); // What was decomposed.
  remark::passed(function.getLoc(), remark::RemarkOpts::name("Gradient")
                                        .category("graph-gradient")
                                        .function(function.getName()))
      << remark::add("differentiated")
      << remark::metric("Operations", gradients->visited)
      << remark::metric("Zeros", zeros);
  return success();
}

namespace {
struct Gradient : graph::impl::GradientPassBase<Gradient> {
  using GradientPassBase::GradientPassBase;

  /// What the options ask for.
  FailureOr<Task> readTask(func::FuncOp function) {
    auto heads = find(function, llvm::to_vector(this->heads), true);
    if (failed(heads))
      return failure();
    auto sources = find(function, llvm::to_vector(this->wrt), false);
    if (failed(sources))
      return failure();
    Task task{*heads, *sources, SmallVector<bool>(sources->size(), false)};
    if (this->add.empty())
      return task;
    auto added = find(function, llvm::to_vector(this->add), false);
    if (failed(added))
      return failure();
    for (unsigned argument : *added) {
      const auto *at = llvm::find(task.sources, argument);
      if (at == task.sources.end())
        return function.emitError("expected an argument of 'wrt' to add to, "
                                  "got '")
               << nameOf(givenName(function, argument, false), argument) << "'";
      task.isAdded[at - task.sources.begin()] = true;
    }
    return task;
  }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    if (!function.getBody().hasOneBlock()) {
      function.emitError("expected one block to differentiate");
      return signalPassFailure();
    }
    FailureOr<Task> task = readTask(function);
    if (failed(task) || failed(differentiate(function, *task)))
      signalPassFailure();
  }
};
} // namespace
