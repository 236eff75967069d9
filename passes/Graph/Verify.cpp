// SPDX-License-Identifier: Apache-2.0
//
// graph-verify: what the phases after Graph rely on.

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

static LogicalResult verifyOperation(Operation *op) {
  if (isa<func::ReturnOp>(op))
    return success();
  if (!isa_and_nonnull<GraphDialect>(op->getDialect()))
    return op->emitOpError() << "expected operations of the graph dialect";
  LogicalResult result = success();
  if (isComputed(op) &&
      !rt::ref::lookup(std::string_view(op->getName().stripDialect())))
    result = op->emitOpError() << "has no reference kernel";
  return result;
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

static LogicalResult verifyFunction(func::FuncOp function) {
  LogicalResult result = success();
  auto note = [&](LogicalResult part) {
    if (failed(part))
      result = failure();
  };
  if (!function.getBody().hasOneBlock())
    return function.emitOpError() << "expected a body of one block, got "
                                  << function.getBody().getBlocks().size();
  for (BlockArgument argument : function.getArguments())
    if (!isa<RankedTensorType>(argument.getType()))
      note(function.emitOpError()
           << "expected a known rank for argument #" << argument.getArgNumber()
           << ", got " << argument.getType());
  note(verifyNames(function, function.getNumArguments(), "argument",
                   [&](unsigned i) {
                     return function.getArgAttrOfType<StringAttr>(
                         i, GraphDialect::kNameAttr);
                   }));
  note(verifyNames(function, function.getNumResults(), "result",
                   [&](unsigned i) {
                     return function.getResultAttrOfType<StringAttr>(
                         i, GraphDialect::kNameAttr);
                   }));
  for (Operation &op : function.getBody().front())
    note(verifyOperation(&op));
  return result;
}

namespace {
struct Verify : dlc::graph::impl::VerifyPassBase<Verify> {
  void runOnOperation() override {
    if (failed(verifyFunction(getOperation())))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
