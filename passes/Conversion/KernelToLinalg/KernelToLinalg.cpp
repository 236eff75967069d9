// SPDX-License-Identifier: Apache-2.0
//
// Which kernels have a generated form, and the pass that gives it to them.

#include "dlc/passes/Conversion/KernelToLinalg.h"

#include "Emitter.h"

#include "dlc/dialects/Base/Devices.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Ports.h"
#include "dlc/dialects/Graph/Shapes.h"
#include "dlc/passes/Conversion/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace dlc::conversion {
#define GEN_PASS_DEF_CONVERTKERNELTOLINALGPASS
#include "dlc/passes/Conversion/Passes.h.inc"
} // namespace dlc::conversion

using namespace mlir;
using namespace dlc;
using namespace dlc::conversion;

//===----------------------------------------------------------------------===//
// Decomposition
//===----------------------------------------------------------------------===//

/// Expresses composite operations by simpler ones until none is left.
static void decompose(Block &body) {
  for (Operation *op = &body.front(); op;) {
    Operation *next = op->getNextNode();
    auto composite = dyn_cast<graph::DecomposeOpInterface>(op);
    if (composite && !isa<graph::ElementwiseOpInterface>(op) &&
        !composite.hasFasterParts()) {
      OpBuilder builder(op);
      Operation *before = op->getPrevNode();
      FailureOr<SmallVector<Value>> values = composite.decompose(builder);
      if (succeeded(values)) {
        op->replaceAllUsesWith(*values);
        op->erase();
        // What was built may be composite itself.
        next = before ? before->getNextNode() : &body.front();
      }
    }
    op = next;
  }
  (void)graph::eraseDead(body);
}

LogicalResult dlc::conversion::convertKernel(kernel::FuncOp kernel,
                                             std::string &reason) {
  decompose(kernel.getBody().front());
  FailureOr<KernelPlan> plan = planKernel(kernel, reason);
  if (failed(plan))
    return failure();
  emitPlan(kernel, *plan);
  return success();
}

//===----------------------------------------------------------------------===//
// The predicate and the pass
//===----------------------------------------------------------------------===//

bool dlc::conversion::isPartOfKernel(Value operand,
                                     ArrayRef<Operation *> group) {
  if (operand.getDefiningOp<graph::NoneOp>())
    return true;
  auto constant = operand.getDefiningOp<graph::ConstantOp>();
  auto elements =
      constant ? dyn_cast<DenseElementsAttr>(Attribute(constant.getValue()))
               : DenseElementsAttr();
  if (!elements)
    return false;
  if (elements.getNumElements() == 1)
    return true;
  if (!elements.getElementType().isSignlessInteger(64))
    return false;
  // Members are few; the whole function may use the constant.
  return llvm::all_of(group, [&](Operation *op) {
    auto user = dyn_cast<graph::FusionOpInterface>(op);
    return llvm::all_of(op->getOpOperands(), [&](OpOperand &use) {
      return use.get() != operand ||
             (user && user.isParameter(use.getOperandNumber()));
    });
  });
}

/// A function that `kernel` needs and that a GPU has neither instructions nor a
/// polynomial for that is exact enough: those of f64, but a few, and some of
/// f32.
static std::string missingOnGPU(Operation &kernel) {
  std::string missing;
  kernel.walk([&](Operation *op) {
    if (!isa_and_nonnull<math::MathDialect>(op->getDialect()) ||
        isa<math::AbsFOp, math::CeilOp, math::FloorOp, math::RoundEvenOp,
            math::TruncOp, math::SqrtOp, math::FmaOp, math::CopySignOp>(op))
      return;
    bool isWide = op->getResult(0).getType().isF64();
    if (isWide || isa<math::TanOp, math::AsinOp, math::AcosOp, math::AsinhOp,
                      math::AcoshOp, math::AtanhOp>(op))
      missing = op->getName().stripDialect().str() + " of " +
                (isWide ? "f64" : "f32");
  });
  return missing;
}

bool dlc::conversion::canGenerate(ArrayRef<Operation *> group,
                                  std::string *why) {
  auto refuse = [&](llvm::Twine reason) {
    if (why)
      *why = reason.str();
    return false;
  };
  if (group.empty())
    return refuse("no operations");
  for (Operation *op : group) {
    if (!isa<graph::FusionOpInterface>(op) || op->getNumRegions())
      return refuse("not a plain operation");
    if (!graph::hasStaticTypes(op))
      return refuse("shapes that are not static");
  }
  // Converts a copy: what passes here passes later.
  OpBuilder builder(group[0]->getContext());
  OperationState state(group[0]->getLoc(), kernel::FuncOp::getOperationName());
  Block block;
  builder.setInsertionPointToEnd(&block);
  IRMapping mapping;
  SmallVector<Type> inputs, results;
  SmallVector<Value> returned;
  llvm::SmallDenseSet<Operation *> members(group.begin(), group.end());
  for (Operation *op : group) {
    for (Value operand : op->getOperands()) {
      if (mapping.contains(operand))
        continue;
      if (isPartOfKernel(operand, group)) {
        builder.clone(*operand.getDefiningOp(), mapping);
        continue;
      }
      inputs.push_back(operand.getType());
      mapping.map(operand, block.addArgument(operand.getType(), op->getLoc()));
    }
    builder.clone(*op, mapping);
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !members.contains(user);
          })) {
        results.push_back(result.getType());
        returned.push_back(mapping.lookup(result));
      }
  }
  if (returned.empty())
    for (Value result : group.back()->getResults()) {
      results.push_back(result.getType());
      returned.push_back(mapping.lookup(result));
    }
  builder.setInsertionPointToEnd(&block);
  kernel::ReturnOp::create(builder, group[0]->getLoc(), returned);
  state.addAttribute("sym_name", builder.getStringAttr("candidate"));
  state.addAttribute("function_type",
                     TypeAttr::get(builder.getFunctionType(inputs, results)));
  auto *body = new Block();
  body->getOperations().splice(body->end(), block.getOperations());
  for (BlockArgument argument : block.getArguments())
    argument.replaceAllUsesWith(
        body->addArgument(argument.getType(), argument.getLoc()));
  state.addRegion()->push_back(body);
  OwningOpRef<Operation *> copy = Operation::create(state);
  std::string reason;
  if (failed(convertKernel(cast<kernel::FuncOp>(*copy), reason)))
    return refuse(reason);
  if (!hasHostMemory(graph::getDevice(group[0])))
    if (std::string missing = missingOnGPU(**copy); !missing.empty())
      return refuse("a GPU has no " + missing);
  return true;
}

namespace {

struct ConvertKernelToLinalgPass
    : public dlc::conversion::impl::ConvertKernelToLinalgPassBase<
          ConvertKernelToLinalgPass> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<kernel::FuncOp>()) {
      if (kernel.isDestinationStyle())
        continue;
      std::string reason;
      if (failed(convertKernel(kernel, reason))) {
        kernel.emitError("expected a kernel with a generated form, got ")
            << reason;
        return signalPassFailure();
      }
    }
  }
};

} // namespace
