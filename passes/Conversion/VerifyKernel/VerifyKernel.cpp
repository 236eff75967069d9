// SPDX-License-Identifier: Apache-2.0
//
// kernel-verify: what the kernel phase promises to plans and code generation.

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Parts.h"
#include "dlc/dialects/Kernel/KernelDialect.h"
#include "dlc/passes/Conversion/Passes.h"
#include "dlc/runtime/Kernel/Library.h"
#include "dlc/runtime/Kernel/Reference/Reference.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"

namespace dlc::conversion {
#define GEN_PASS_DEF_VERIFYKERNELPASS
#include "dlc/passes/Conversion/Passes.h.inc"
} // namespace dlc::conversion

using namespace mlir;
using namespace dlc;

/// A constant, an absent operand, or the bytes of other values.
static bool movesNothing(Operation &op) {
  if (isa<graph::ConstantOp, graph::NoneOp>(op))
    return true;
  auto view = dyn_cast<graph::InPlaceOpInterface>(op);
  auto type = op.getNumResults() == 1
                  ? dyn_cast<RankedTensorType>(op.getResult(0).getType())
                  : RankedTensorType();
  return view && (view.isView() || view.joinsOperands()) && type &&
         type.hasStaticShape();
}

static LogicalResult verifyFunction(func::FuncOp function,
                                    llvm::DenseSet<StringRef> &called) {
  if (graph::isMadeOfParts(function))
    return success(); // A declaration.
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("expected a body of one block, got ")
           << function.getBody().getBlocks().size();
  LogicalResult result = success();
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (auto call = dyn_cast<kernel::CallOp>(op))
      called.insert(call.getCallee());
    else if (!movesNothing(op))
      result = op.emitOpError(
          "expected a kernel call, a constant, a view or a join");
  }
  return result;
}

static LogicalResult verifyLibrary(kernel::LibraryOp library) {
  StringRef entry = library.getEntry(), operation = entry;
  bool isKnown = operation.consume_front("reference.")
                     ? rt::ref::lookup(std::string_view(operation)) != nullptr
                     : entry == "copy" || rt::lookupLibraryEntry(entry);
  if (!isKnown)
    return library.emitOpError("expected an entry of a kernel library, got ")
           << library.getEntryAttr();
  return success();
}

static LogicalResult verifyGenerated(kernel::FuncOp kernel) {
  if (!kernel.isDestinationStyle())
    return kernel.emitOpError("expected a kernel in destination style, got one "
                              "of values");
  return success();
}

namespace {
struct VerifyKernel
    : public conversion::impl::VerifyKernelPassBase<VerifyKernel> {
  void runOnOperation() override {
    LogicalResult result = success();
    llvm::DenseSet<StringRef> called;
    auto verify = [&](Operation &op) {
      return TypeSwitch<Operation *, LogicalResult>(&op)
          .Case([&](func::FuncOp f) { return verifyFunction(f, called); })
          .Case([](kernel::FuncOp kernel) { return verifyGenerated(kernel); })
          .Case([](kernel::LibraryOp kernel) { return verifyLibrary(kernel); })
          .Default([](Operation *other) {
            return other->emitOpError("expected a kernel or a function");
          });
    };
    for (Operation &op : *getOperation().getBody())
      if (failed(verify(op)))
        result = failure();
    for (auto kernel : getOperation().getOps<LaunchableOpInterface>())
      if (!called.contains(SymbolTable::getSymbolName(kernel).getValue()))
        result = kernel.emitOpError("expected a call of the kernel, got none");
    if (failed(result))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
