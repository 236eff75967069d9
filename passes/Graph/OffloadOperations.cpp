// SPDX-License-Identifier: Apache-2.0
//
// graph-offload-operations: what a device has kernels for runs there.

#include "dlc/dialects/Base/Devices.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Kernel/KernelDialect.h"
#include "dlc/passes/Conversion/KernelToLinalg.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

namespace dlc::graph {
#define GEN_PASS_DEF_OFFLOADOPERATIONSPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

namespace {
/// Operations that stay for one reason.
struct Staying {
  Location first;
  int64_t count = 0;
};

struct OffloadOperations
    : graph::impl::OffloadOperationsPassBase<OffloadOperations> {
  using OffloadOperationsPassBase::OffloadOperationsPassBase;
  void runOnOperation() override;
};
} // namespace

/// Where it runs is for others to say.
static bool asksNothing(Operation &op) {
  auto view = dyn_cast<InPlaceOpInterface>(&op);
  return isa<ConstantOp, NoneOp, CopyOp>(op) || (view && view.isView()) ||
         op.hasTrait<OpTrait::IsTerminator>() ||
         op.getDiscardableAttr(kDeviceAttr) ||
         op.getDiscardableAttr(kGroupAttr);
}

/// Puts what `op` is made of in its place, if all of that has a form on
/// `there`. The first of its parts, or null.
static Operation *replaceByParts(Operation &op, DeviceAttr there) {
  auto composite = dyn_cast<DecomposeOpInterface>(op);
  if (!composite)
    return nullptr;
  OpBuilder builder(&op);
  Operation *before = op.getPrevNode();
  FailureOr<SmallVector<Value>> values = composite.decompose(builder);
  if (failed(values))
    return nullptr;
  Operation *first = before ? before->getNextNode() : &op.getBlock()->front();
  auto parts = llvm::make_range(first->getIterator(), op.getIterator());
  auto hasForm = [&](Operation &part) {
    if (asksNothing(part))
      return true;
    part.setDiscardableAttr(kDeviceAttr, there);
    bool answer = conversion::canGenerate({&part});
    part.removeDiscardableAttr(kDeviceAttr);
    return answer;
  };
  if (first != &op && llvm::all_of(parts, hasForm)) {
    op.replaceAllUsesWith(*values);
    op.erase();
    return first;
  }
  while (op.getPrevNode() != before)
    op.getPrevNode()->erase();
  return nullptr;
}

void OffloadOperations::runOnOperation() {
  func::FuncOp function = getOperation();
  DeviceAttr there = parseDevice(&getContext(), device);
  if (!there) {
    function.emitError("expected a device like cuda:0, got '") << device << "'";
    return signalPassFailure();
  }
  if (!function.getBody().hasOneBlock())
    return;
  DeviceAttr host = getDefaultDevice(&getContext());
  for (BlockArgument argument : function.getArguments())
    if (unsigned i = argument.getArgNumber();
        !function.getArgAttr(i, kArgumentDeviceAttr))
      function.setArgAttr(i, kArgumentDeviceAttr, host);
  llvm::MapVector<std::pair<StringAttr, StringAttr>, Staying> staying;
  Block &block = function.getBody().front();
  for (Operation *at = &block.front(), *next; at; at = next) {
    Operation &op = *at;
    next = op.getNextNode();
    if (asksNothing(op))
      continue;
    // Checks, which the host does as it always does: what they check is small.
    if (isa<ResolveIndicesOp>(op)) {
      op.setDiscardableAttr(kDeviceAttr, host);
      continue;
    }
    op.setDiscardableAttr(kDeviceAttr, there);
    std::string why;
    if (conversion::canGenerate({&op}, &why))
      continue;
    op.setDiscardableAttr(kDeviceAttr, host);
    if (Operation *first = replaceByParts(op, there)) {
      next = first;
      continue;
    }
    std::pair reason(op.getName().getIdentifier(),
                     StringAttr::get(&getContext(), why));
    ++staying.try_emplace(reason, Staying{op.getLoc()}).first->second.count;
  }
  for (auto &[reason, stay] : staying) {
    InFlightDiagnostic warning = emitWarning(stay.first);
    warning << reason.first.getValue().rsplit('.').second << " runs on "
            << toString(host) << " and not on " << toString(there) << ": "
            << reason.second.getValue();
    if (stay.count == 2)
      warning << ", as does 1 other";
    else if (stay.count > 2)
      warning << ", as do " << stay.count - 1 << " others";
  }
}
