// SPDX-License-Identifier: Apache-2.0
//
// graph-verify: what each phase of Graph operations promises to the next.

#include "dlc/dialects/Base/Devices.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Parts.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Ports.h"
#include "dlc/passes/Graph/Passes.h"
#include "dlc/runtime/Kernel/Reference/Reference.h"

#include "llvm/ADT/StringMap.h"

namespace dlc::graph {
#define GEN_PASS_DEF_VERIFYPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

static bool hasReference(Operation *op) {
  return rt::ref::lookup(std::string_view(op->getName().stripDialect()));
}

static LogicalResult verifyDevice(Operation *op) {
  Attribute attribute = op->getDiscardableAttr("device");
  if (!attribute)
    return success();
  if (!isa<DeviceAttr>(attribute))
    return op->emitOpError("expected a #dlc.device, got device ") << attribute;
  return success();
}

/// What an operation reads is on its device; in a group, on that of the group.
static LogicalResult verifyOperands(Operation *op) {
  if (isa<CopyOp>(op) || op->hasTrait<OpTrait::IsTerminator>())
    return success();
  DeviceAttr device = getDevice(op);
  for (OpOperand &operand : op->getOpOperands())
    if (DeviceAttr other = getDevice(operand.get()); other != device)
      return op->emitOpError("expected operand #")
             << operand.getOperandNumber() << " on " << toString(device)
             << ", where the operation is, got " << toString(other);
  return success();
}

static LogicalResult verifyGroup(FusionOp group) {
  Block &body = group.getBody().front();
  auto count = std::distance(body.begin(), body.end()) - 1; // The yield.
  if (count < 2)
    return group.emitOpError("expected two operations or more, got ") << count;
  for (Operation &op : body.without_terminator()) {
    if (!isComputed(&op) || !hasReference(&op))
      return op.emitOpError("expected operations with a Reference kernel in a "
                            "group");
    if (getDevice(&op) != getDevice(group) || failed(verifyOperands(&op)))
      return op.emitOpError("expected a group on one device");
    for (Type type : op.getResultTypes())
      if (auto tensor = dyn_cast<ShapedType>(type);
          tensor && !tensor.hasStaticShape() &&
          !isa<ElementwiseOpInterface>(op))
        return op.emitOpError("expected static types, or an elementwise "
                              "operation, in a group, got ")
               << type;
  }
  for (OpResult result : group.getResults())
    if (result.use_empty())
      return group.emitOpError("expected a use of result #")
             << result.getResultNumber() << ", got none";
  return success();
}

static LogicalResult verifyOperation(Operation *op, VerifiedPhase phase) {
  if (isa<func::ReturnOp>(op))
    return success();
  if (!isa_and_nonnull<GraphDialect>(op->getDialect()))
    return op->emitOpError() << "expected operations of the graph dialect";
  if (phase >= VerifiedPhase::Graph && isComputed(op) && !hasReference(op))
    return op->emitOpError() << "has no reference kernel";
  if (failed(verifyDevice(op)) ||
      (phase >= VerifiedPhase::Placed && failed(verifyOperands(op))))
    return failure();
  auto group = dyn_cast<FusionOp>(op);
  return group && phase >= VerifiedPhase::Fused ? verifyGroup(group)
                                                : success();
}

/// Each `graph.name` among arguments, or among results, comes once.
static LogicalResult verifyNames(func::FuncOp function, unsigned count,
                                 StringRef kind,
                                 function_ref<StringAttr(unsigned)> nameOf) {
  LogicalResult result = success();
  llvm::StringMap<unsigned> seen;
  for (unsigned i = 0; i < count; ++i) {
    StringAttr name = nameOf(i);
    if (!name)
      continue;
    auto [entry, isNew] = seen.try_emplace(name.getValue(), i);
    if (!isNew)
      result = function.emitOpError()
               << "expected unique names, got " << name << " for " << kind
               << " #" << entry->second << " and #" << i;
  }
  return result;
}

/// Each `graph.updates` names an argument of the result's type, which no other
/// result updates.
static LogicalResult verifyUpdates(func::FuncOp function) {
  DenseMap<Value, unsigned> updated;
  for (auto [i, argument] : llvm::enumerate(findUpdates(function))) {
    Attribute name = function.getResultAttr(i, GraphDialect::kUpdatesAttr);
    if (!name)
      continue;
    if (!argument)
      return function.emitOpError() << "expected the name of an argument that "
                                       "result #"
                                    << i << " updates, got " << name;
    Type type = argument.getType();
    if (function.getResultTypes()[i] != type)
      return function.emitOpError()
             << "expected result #" << i << " to have the type of argument "
             << name << ", which it updates, " << type << ", got "
             << function.getResultTypes()[i];
    auto [entry, isNew] = updated.try_emplace(argument, i);
    if (!isNew)
      return function.emitOpError()
             << "expected one update of argument " << name << ", got results #"
             << entry->second << " and #" << i;
  }
  return success();
}

static LogicalResult verifyFunction(func::FuncOp function,
                                    VerifiedPhase phase) {
  LogicalResult result = success();
  auto note = [&](LogicalResult part) {
    if (failed(part))
      result = failure();
  };
  if (isMadeOfParts(function))
    return success(); // A declaration.
  if (!function.getBody().hasOneBlock())
    return function.emitOpError() << "expected a body of one block, got "
                                  << function.getBody().getBlocks().size();
  auto nameOf = [&](unsigned i) {
    return function.getArgAttrOfType<StringAttr>(i, GraphDialect::kNameAttr);
  };
  for (BlockArgument argument : function.getArguments()) {
    if (phase < VerifiedPhase::Graph ||
        isa<RankedTensorType>(argument.getType()))
      continue;
    InFlightDiagnostic error = function.emitOpError()
                               << "expected a known rank for argument #"
                               << argument.getArgNumber();
    if (StringAttr name = nameOf(argument.getArgNumber()))
      error << " '" << name.getValue() << "'";
    note(error << ", got " << argument.getType());
  }
  note(verifyNames(function, function.getNumArguments(), "argument", nameOf));
  note(verifyNames(function, function.getNumResults(), "result",
                   [&](unsigned i) {
                     return function.getResultAttrOfType<StringAttr>(
                         i, GraphDialect::kNameAttr);
                   }));
  note(verifyUpdates(function));
  for (Operation &op : function.getBody().front())
    note(verifyOperation(&op, phase));
  return result;
}

namespace {
struct Verify : dlc::graph::impl::VerifyPassBase<Verify> {
  using VerifyPassBase::VerifyPassBase;
  void runOnOperation() override {
    if (failed(verifyFunction(getOperation(), phase)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
