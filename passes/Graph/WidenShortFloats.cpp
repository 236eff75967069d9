// SPDX-License-Identifier: Apache-2.0
//
// graph-widen-short-floats: what has no fast kernel of f16 or bf16 computes
// f32.

#include "dlc/KernelLibrary/Match.h"
#include "dlc/dialects/Base/Devices.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Shapes.h"
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
#include "mlir/IR/Remarks.h"
#include "mlir/IR/Verifier.h"

namespace dlc::graph {
#define GEN_PASS_DEF_WIDENSHORTFLOATSPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

namespace {

struct WidenShortFloats
    : graph::impl::WidenShortFloatsPassBase<WidenShortFloats> {
  using WidenShortFloatsPassBase::WidenShortFloatsPassBase;
  void runOnOperation() override;
  bool hasKernel(Operation *op) const;
  bool widen(Operation &op) const;

  DeviceAttr there; ///< Null for the host.
};

} // namespace

static CastOp castTo(OpBuilder &builder, Value value, TensorType type) {
  return CastOp::create(builder, value.getLoc(), type, value,
                        TypeAttr::get(type.getElementType()),
                        builder.getBoolAttr(true));
}

/// The same tensor of f32; null for what is none of short floats.
static TensorType widened(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  if (!tensor ||
      (!tensor.getElementType().isF16() && !tensor.getElementType().isBF16()))
    return {};
  return cast<TensorType>(tensor.clone(Float32Type::get(type.getContext())));
}

static bool isShort(Type type) { return static_cast<bool>(widened(type)); }

bool WidenShortFloats::hasKernel(Operation *op) const {
  // The host's library may be asked when the shapes are there, for f32.
  if (!hasStaticTypes(op))
    return llvm::none_of(op->getOperandTypes(), isShort) &&
           rt::lookupEntryOfOperation(op->getName().stripDialect());
  if (auto composite = dyn_cast<DecomposeOpInterface>(op);
      composite && composite.hasFasterParts())
    return true; // They have.
  if (!there)
    return library::matchGroup({op}).has_value() ||
           conversion::canGenerate({op});
  Attribute before = op->getDiscardableAttr(kDeviceAttr);
  op->setDiscardableAttr(kDeviceAttr, there);
  const bool can = conversion::canGenerate({op});
  if (before)
    op->setDiscardableAttr(kDeviceAttr, before);
  else
    op->removeDiscardableAttr(kDeviceAttr);
  return can;
}

/// Replaces `op` by one of f32 if that has a kernel.
bool WidenShortFloats::widen(Operation &op) const {
  OpBuilder builder(&op);
  Operation *wide = builder.clone(op);
  SmallVector<CastOp> casts;
  for (OpOperand &operand : wide->getOpOperands())
    if (TensorType type = widened(operand.get().getType())) {
      builder.setInsertionPoint(wide);
      casts.push_back(castTo(builder, operand.get(), type));
      copyPlacement(&op, casts.back());
      operand.set(casts.back());
    }
  for (OpResult result : wide->getResults())
    if (TensorType type = widened(result.getType()))
      result.setType(type);
  ScopedDiagnosticHandler quiet(op.getContext(),
                                [](Diagnostic &) { return success(); });
  if (failed(verify(wide, /*verifyRecursively=*/false)) || !hasKernel(wide)) {
    wide->erase();
    for (CastOp cast : casts)
      cast.erase();
    return false;
  }
  builder.setInsertionPoint(&op);
  for (auto [result, from] :
       llvm::zip_equal(op.getResults(), wide->getResults())) {
    if (!isShort(result.getType())) {
      result.replaceAllUsesWith(from);
      continue;
    }
    CastOp rounded = castTo(builder, from, cast<TensorType>(result.getType()));
    copyPlacement(&op, rounded);
    result.replaceAllUsesWith(rounded.getY());
  }
  op.erase();
  return true;
}

void WidenShortFloats::runOnOperation() {
  func::FuncOp function = getOperation();
  if (!device.empty() && !(there = parseDevice(&getContext(), device))) {
    function.emitError("expected a device like cuda:0, got '") << device << "'";
    return signalPassFailure();
  }
  if (!function.getBody().hasOneBlock())
    return;
  int64_t count = 0;
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    // Who asks for a device may have it where there are several kinds.
    const bool asks =
        op.getDiscardableAttr(kDeviceAttr) || op.getDiscardableAttr(kGroupAttr);
    if (isa<ConstantOp, CastOp>(op) || op.getNumRegions() || (there && asks) ||
        op.hasTrait<OpTrait::IsTerminator>() ||
        llvm::none_of(op.getOperandTypes(), isShort))
      continue;
    if (!hasKernel(&op) && widen(op))
      ++count;
  }
  if (count > 0)
    remark::passed(function.getLoc(),
                   remark::RemarkOpts::name("WidenShortFloats")
                       .category("graph-widen-short-floats"))
        << remark::add("{0} operations on short floats compute f32", count);
}
