// SPDX-License-Identifier: Apache-2.0

#include "Shrink.h"

#include "dlc/Numerics/Inputs.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::test;
using numerics::Tensor;

/// Operations and arguments that lead to no result.
static void eraseDead(func::FuncOp function) {
  Block &body = function.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  for (unsigned i = function.getNumArguments(); i-- > 0;)
    if (function.getArgument(i).use_empty())
      (void)function.eraseArgument(i);
}

static llvm::StringSet<> argumentNames(func::FuncOp function) {
  llvm::StringSet<> names;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto name = function.getArgAttrOfType<StringAttr>(
            i, graph::GraphDialect::kNameAttr))
      names.insert(name.getValue());
  return names;
}

/// Updates of arguments that are gone.
static void eraseStaleUpdates(func::FuncOp function) {
  llvm::StringSet<> names = argumentNames(function);
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto name = function.getResultAttrOfType<StringAttr>(
            i, graph::GraphDialect::kUpdatesAttr);
        name && !names.contains(name.getValue()))
      function.removeResultAttr(
          i, StringAttr::get(function.getContext(),
                             graph::GraphDialect::kUpdatesAttr));
}

static void dropResult(func::FuncOp function, unsigned number) {
  function.getBody().front().getTerminator()->eraseOperand(number);
  (void)function.eraseResult(number);
}

/// Makes `value`, which is `tensor`, an argument; false where it cannot be one.
static bool makeArgument(func::FuncOp function, Value value,
                         const Tensor &tensor) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape())
    return false;
  MLIRContext *context = function.getContext();
  unsigned number = function.getNumArguments();
  llvm::StringSet<> names = argumentNames(function);
  std::string name = "cut";
  while (names.contains(name))
    name += "_";
  Builder builder(context);
  auto initial = graph::makeElements(
      type, ArrayRef<char>(tensor.as<char>(), tensor.bytes()));
  auto attributes = builder.getDictionaryAttr(
      {builder.getNamedAttr(graph::GraphDialect::kNameAttr,
                            builder.getStringAttr(name)),
       builder.getNamedAttr(graph::GraphDialect::kInitialAttr, initial)});
  if (failed(
          function.insertArgument(number, type, attributes, function.getLoc())))
    return false;
  value.replaceAllUsesWith(function.getArgument(number));
  return true;
}

/// Puts arguments in the place of operation `number`; false where that is none
/// to replace.
static bool cut(func::FuncOp function, unsigned number) {
  Block &body = function.getBody().front();
  std::vector<Tensor> inputs;
  if (!numerics::makeInputs(function, 0, numerics::Integers::Small, inputs)
           .isOk())
    return false;
  numerics::Interpreter interpreter;
  for (auto [argument, tensor] : llvm::zip_equal(body.getArguments(), inputs))
    interpreter.set(argument, tensor);
  unsigned at = 0;
  for (Operation &op : body.without_terminator()) {
    if (!interpreter.compute(&op).isOk())
      return false;
    if (at++ < number)
      continue;
    if (!graph::isComputed(&op))
      return false;
    for (Value result : op.getResults())
      if (!result.use_empty() &&
          !makeArgument(function, result, *interpreter.get(result)))
        return false;
    return true;
  }
  return false;
}

std::string dlc::test::shrink(RandomGraph &graph, const Check &check) {
  std::string failure = check(*graph);
  if (failure.empty())
    return failure;
  auto attempt = [&](function_ref<bool(func::FuncOp)> change) {
    RandomGraph smaller(graph.get().clone());
    if (!change(mainOf(*smaller)))
      return;
    eraseDead(mainOf(*smaller));
    eraseStaleUpdates(mainOf(*smaller));
    if (std::string found = check(*smaller); !found.empty()) {
      failure = std::move(found);
      graph = std::move(smaller);
    }
  };
  for (unsigned i = mainOf(*graph).getNumResults(); i-- > 0;)
    if (mainOf(*graph).getNumResults() > 1)
      attempt([&](func::FuncOp smaller) {
        dropResult(smaller, i);
        return true;
      });
  auto count = [&] {
    return mainOf(*graph).getBody().front().getOperations().size();
  };
  for (unsigned i = 0; i + 1 < count(); ++i)
    attempt([&](func::FuncOp smaller) { return cut(smaller, i); });
  return failure;
}
