// SPDX-License-Identifier: Apache-2.0
//
// graph-offload-operations: what a device has kernels for runs there.

#include "Placement.h"

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
  DeviceAttr askedFor(Operation &op) const;
};
} // namespace

/// What follows others, or does nothing of its own.
static bool asksNothing(Operation &op) {
  auto view = dyn_cast<InPlaceOpInterface>(&op);
  return isa<ConstantOp, NoneOp, CopyOp>(op) || (view && view.isView()) ||
         op.hasTrait<OpTrait::IsTerminator>();
}

/// Puts what `op` is made of in its place, on `there`, if all of that has a
/// form there; else `why` says what has none, where it is made of others.
static bool replaceByParts(Operation &op, DeviceAttr there, std::string &why) {
  // As long sequences have steps; more take seconds to compile.
  constexpr ptrdiff_t mostParts = 1 << 14;
  auto composite = dyn_cast<DecomposeOpInterface>(op);
  if (!composite)
    return false;
  OpBuilder builder(&op);
  Operation *before = op.getPrevNode();
  FailureOr<SmallVector<Value>> values = composite.decompose(builder);
  if (failed(values))
    return false;
  Operation *first = before ? before->getNextNode() : &op.getBlock()->front();
  auto parts = llvm::make_range(first->getIterator(), op.getIterator());
  Attribute group = op.getDiscardableAttr(kGroupAttr);
  auto canPlace = [&](Operation &part) {
    if (asksNothing(part))
      return true;
    part.setDiscardableAttr(kDeviceAttr, there);
    if (group)
      part.setDiscardableAttr(kGroupAttr, group);
    std::string reason;
    if (conversion::canGenerate({&part}, &reason))
      return true;
    why = "its " + part.getName().stripDialect().str() + ": " + reason;
    return false;
  };
  const bool hasFew = std::distance(parts.begin(), parts.end()) <= mostParts;
  if (first != &op && hasFew && llvm::all_of(parts, canPlace)) {
    op.replaceAllUsesWith(*values);
    op.erase();
    return true;
  }
  if (!hasFew)
    why =
        "it is made of more than " + std::to_string(mostParts) + " operations";
  while (op.getPrevNode() != before)
    op.getPrevNode()->erase();
  return false;
}

/// The device that `op` asks for, by itself or by its group; null for none.
DeviceAttr OffloadOperations::askedFor(Operation &op) const {
  if (auto own = op.getDiscardableAttr(kDeviceAttr))
    return cast<DeviceAttr>(own);
  auto group = cast<StringAttr>(op.getDiscardableAttr(kGroupAttr));
  for (StringRef text : groups)
    if (auto [name, device] = readGroup(op.getContext(), text);
        name == group.getValue())
      return device;
  return {};
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
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (asksNothing(op))
      continue;
    // Checks, which the host does as it always does: what they check is small.
    if (isa<ResolveIndicesOp>(op)) {
      op.setDiscardableAttr(kDeviceAttr, host);
      continue;
    }
    // Where that runs is said; how, if there is no form of the whole, is not.
    if (op.getDiscardableAttr(kDeviceAttr) ||
        op.getDiscardableAttr(kGroupAttr)) {
      DeviceAttr asked = askedFor(op);
      if (!asked || hasHostMemory(asked))
        continue;
      op.setDiscardableAttr(kDeviceAttr, asked);
      std::string ignored; // Who asks is refused, later.
      if (!conversion::canGenerate({&op}))
        (void)replaceByParts(op, asked, ignored);
      continue;
    }
    op.setDiscardableAttr(kDeviceAttr, there);
    std::string why;
    if (conversion::canGenerate({&op}, &why))
      continue;
    op.setDiscardableAttr(kDeviceAttr, host);
    if (replaceByParts(op, there, why))
      continue;
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
