// SPDX-License-Identifier: Apache-2.0
//
// graph-split-gradient: a differentiated function as two that run one after the
// other, with what the second needs of the first handed on.

#include "dlc/dialects/Base/Devices.h"
#include "dlc/dialects/Graph/GraphDialect.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Ports.h"
#include "dlc/dialects/Graph/Shapes.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace dlc::graph {
#define GEN_PASS_DEF_SPLITGRADIENTPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

namespace {
/// Which operations belong to the way back. All sets hold operations of the
/// function's one block.
class Division {
public:
  Division(func::FuncOp function, unsigned arguments, unsigned results)
      : block(function.getBody().front()), arguments(arguments),
        results(results), updated(findUpdated(function, results)) {
    findWayBack();
    findNeeded();
    moveLate();
  }

  /// The number of a result of the forward part that gradients which come in
  /// are needed for, if there is one: such parts have no order.
  std::optional<unsigned> resultOfWayBack() const;

  /// What the way back reads of the rest, in the order of the block.
  SmallVector<Value> saved() const;

private:
  void findWayBack();
  void findNeeded();
  DenseSet<Operation *> findRepeated() const;
  void moveLate();
  bool isOutside(Value value) const;
  bool isReadBack(Value value) const;
  bool isWorthMoving(Operation *op) const;

  static DenseSet<Value> findUpdated(func::FuncOp function, unsigned results);

  Block &block;
  unsigned arguments, results;
  /// Arguments that the forward part overwrites when it ends.
  DenseSet<Value> updated;
  /// Operations of the way back; those that the forward results need.
  DenseSet<Operation *> back, needed;
};
} // namespace

/// An operation that both parts can have: it reads nothing.
static bool isConstant(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>();
}

/// What follows, in operations, from gradients that come in.
void Division::findWayBack() {
  for (Operation &op : block.without_terminator())
    for (Value operand : op.getOperands()) {
      auto argument = dyn_cast<BlockArgument>(operand);
      Operation *producer = operand.getDefiningOp();
      if (argument ? argument.getArgNumber() >= arguments
                   : back.contains(producer))
        back.insert(&op);
    }
}

void Division::findNeeded() {
  for (Value result : block.getTerminator()->getOperands().take_front(results))
    if (Operation *producer = result.getDefiningOp())
      needed.insert(producer);
  for (Operation &op : llvm::reverse(block.without_terminator()))
    if (needed.contains(&op))
      for (Value operand : op.getOperands())
        if (Operation *producer = operand.getDefiningOp())
          needed.insert(producer);
}

DenseSet<Value> Division::findUpdated(func::FuncOp function, unsigned results) {
  DenseSet<Value> updated;
  SmallVector<BlockArgument> updates = findUpdates(function);
  for (BlockArgument argument : ArrayRef(updates).take_front(results))
    if (argument)
      updated.insert(argument);
  return updated;
}

/// Both parts have the value without its being saved.
bool Division::isOutside(Value value) const {
  Operation *producer = value.getDefiningOp();
  return producer ? isConstant(producer) : !updated.contains(value);
}

bool Division::isReadBack(Value value) const {
  return llvm::any_of(value.getUses(), [&](OpOperand &use) {
    return use.getOwner() == block.getTerminator()
               ? use.getOperandNumber() >= results
               : back.contains(use.getOwner());
  });
}

/// Moving `op` to the way back saves no more bytes than leaving it.
bool Division::isWorthMoving(Operation *op) const {
  int64_t without = 0, with = 0;
  for (Value result : op->getResults())
    if (isReadBack(result))
      without += bytesOf(result.getType());
  DenseSet<Value> counted;
  for (Value operand : op->getOperands())
    if (!isOutside(operand) && !back.contains(operand.getDefiningOp()) &&
        !isReadBack(operand) && counted.insert(operand).second)
      with += bytesOf(operand.getType());
  return with <= without;
}

/// What is computed again so that it need not be kept, and what follows from
/// it.
DenseSet<Operation *> Division::findRepeated() const {
  DenseSet<Operation *> repeated;
  for (Operation &op : block.without_terminator()) {
    bool follows = llvm::any_of(op.getOperands(), [&](Value operand) {
      return repeated.contains(operand.getDefiningOp());
    });
    if (follows || op.hasAttr(kRepeatedAttr))
      repeated.insert(&op);
  }
  return repeated;
}

/// What only the way back reads is computed there where that saves memory.
/// Users come before producers, so that chains move as a whole.
void Division::moveLate() {
  DenseSet<Operation *> repeated = findRepeated();
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    bool isFree = !back.contains(&op) && !needed.contains(&op) &&
                  !isConstant(&op) &&
                  llvm::all_of(op.getUsers(), [&](Operation *user) {
                    return user == block.getTerminator() || back.contains(user);
                  });
    if (isFree && (repeated.contains(&op) || isWorthMoving(&op)))
      back.insert(&op);
  }
}

std::optional<unsigned> Division::resultOfWayBack() const {
  OperandRange values = block.getTerminator()->getOperands();
  for (auto [i, value] : llvm::enumerate(values.take_front(results))) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument ? argument.getArgNumber() >= arguments
                 : back.contains(value.getDefiningOp()))
      return i;
  }
  return std::nullopt;
}

SmallVector<Value> Division::saved() const {
  SmallVector<Value> values;
  for (BlockArgument argument : block.getArguments())
    if (updated.contains(argument) && isReadBack(argument))
      values.push_back(argument);
  for (Operation &op : block.without_terminator())
    if (!back.contains(&op) && !isConstant(&op))
      for (Value result : op.getResults())
        if (isReadBack(result))
          values.push_back(result);
  return values;
}

/// Drops the results from `begin` to `end`, not included.
static void dropResults(func::FuncOp function, unsigned begin, unsigned end) {
  Operation *terminator = function.getBody().front().getTerminator();
  terminator->eraseOperands(begin, end - begin);
  llvm::BitVector dropped(function.getNumResults());
  dropped.set(begin, end);
  (void)function.eraseResults(dropped);
}

static SmallVector<std::string> savedNames(size_t count) {
  SmallVector<std::string> names;
  for (size_t i = 0; i < count; ++i)
    names.push_back("saved " + std::to_string(i));
  return names;
}

static void keepForward(func::FuncOp function, ArrayRef<Value> saved,
                        unsigned arguments, unsigned results) {
  dropResults(function, results, function.getNumResults());
  addResults(function, saved, savedNames(saved.size()));
  (void)eraseDead(function.getBody().front());
  llvm::BitVector dropped(function.getNumArguments());
  dropped.set(arguments, function.getNumArguments());
  (void)function.eraseArguments(dropped);
}

/// `argument` takes the place of `value`, also on its device, in its group.
static void copyPlacement(func::FuncOp function, Value value,
                          unsigned argument) {
  auto set = [&](StringRef name, Attribute attribute) {
    if (attribute)
      function.setArgAttr(argument, name, attribute);
  };
  if (Operation *op = value.getDefiningOp()) {
    if (hasHostMemory(getDevice(op)))
      set(kArgumentDeviceAttr, op->getDiscardableAttr(kDeviceAttr));
    set(kGroupAttr, op->getDiscardableAttr(kGroupAttr));
    return;
  }
  unsigned from = cast<BlockArgument>(value).getArgNumber();
  for (StringRef name : {kArgumentDeviceAttr, kGroupAttr})
    set(name, function.getArgAttr(from, name));
}

static void keepBackward(func::FuncOp function, ArrayRef<Value> saved,
                         unsigned results) {
  dropResults(function, 0, results);
  SmallVector<BlockArgument> arguments = addArguments(
      function, ValueRange(saved).getTypes(), savedNames(saved.size()));
  for (auto [value, argument] : llvm::zip_equal(saved, arguments)) {
    copyPlacement(function, value, argument.getArgNumber());
    Value(value).replaceAllUsesWith(argument);
  }
  (void)eraseDead(function.getBody().front());
}

namespace {
struct SplitGradient : graph::impl::SplitGradientPassBase<SplitGradient> {
  using SplitGradientPassBase::SplitGradientPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    if (!function.getBody().hasOneBlock()) {
      function.emitError("expected one block to split");
      return signalPassFailure();
    }
    for (Operation &op : function.front().without_terminator())
      if (!isMemoryEffectFree(&op)) {
        op.emitError("expected an operation without side effects in a "
                     "function to split");
        return signalPassFailure();
      }
    if (arguments > function.getNumArguments() ||
        results > function.getNumResults()) {
      function.emitError("expected at least ")
          << arguments.getValue() << " arguments and " << results.getValue()
          << " results, got " << function.getNumArguments() << " and "
          << function.getNumResults();
      return signalPassFailure();
    }
    Division division(function, arguments, results);
    if (std::optional<unsigned> result = division.resultOfWayBack()) {
      function.emitError("expected the first ")
          << results.getValue() << " results to follow from the first "
          << arguments.getValue() << " arguments, got result " << *result
          << ", which needs others";
      return signalPassFailure();
    }
    SmallVector<Value> saved = division.saved();
    int64_t bytes = 0;
    for (Value value : saved)
      bytes += bytesOf(value.getType());
    function->setAttr(kSavedAttr,
                      Builder(&getContext()).getI64IntegerAttr(bytes));
    if (part == GradientPart::Forward)
      keepForward(function, saved, arguments, results);
    else
      keepBackward(function, saved, results);
    remark::passed(function.getLoc(), remark::RemarkOpts::name("SplitGradient")
                                          .category("graph-split-gradient")
                                          .function(function.getName()))
        << remark::add("saved") << remark::metric("Values", saved.size())
        << remark::metric("Bytes", bytes);
  }
};
} // namespace
