// SPDX-License-Identifier: Apache-2.0
//
// What computes the launches of a program.

#include "State.h"

#include "dlc/KernelLibrary/Match.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Kernel/KernelDialect.h"
#include "dlc/dialects/Plan/PlanDialect.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dlc;

LaunchCounts Compilation::launches() const {
  LaunchCounts counts;
  if (!state->module)
    return counts;
  SymbolTable symbols(*state->module);
  auto isOfShapes = [](StringRef operation, mlir::FunctionType function) {
    if (function.getInputs().empty())
      return false;
    auto isOpen = [](Type type) {
      auto tensor = dyn_cast<TensorType>(type);
      return tensor && !tensor.hasStaticShape();
    };
    // A result may be known, as the means of one image of any size.
    auto first = dyn_cast<TensorType>(function.getInput(0));
    return first &&
           (llvm::any_of(function.getInputs(), isOpen) ||
            llvm::any_of(function.getResults(), isOpen)) &&
           llvm::any_of(function.getResults(), [&](Type type) {
             auto tensor = dyn_cast<TensorType>(type);
             return tensor && rt::lookupEntryOfOperation(
                                  operation.str(),
                                  graph::toDataType(first.getElementType()),
                                  graph::toDataType(tensor.getElementType()));
           });
  };
  // A few numbers, of shapes or of positions, take no time anywhere.
  auto isSmall = [](Type type) {
    constexpr int64_t kFewElements = 1 << 12, kFewPositions = 1 << 16;
    auto tensor = dyn_cast<TensorType>(type);
    return tensor && tensor.hasStaticShape() &&
           tensor.getNumElements() < (tensor.getElementType().isInteger(64)
                                          ? kFewPositions
                                          : kFewElements);
  };
  plan::ProgramOp any = findProgramForAny(*state->module);
  state->module->walk([&](plan::LaunchOp launch) {
    if (any && any->isAncestor(launch))
      return;
    ++counts.all;
    auto library = symbols.lookup<kernel::LibraryOp>(launch.getKernel());
    StringRef entry = library ? library.getEntry() : "";
    if (!entry.consume_front("reference."))
      return;
    // What keeps bytes mostly leaves them where they are, or looks at none.
    static constexpr StringRef kViews[] = {"flatten", "reshape", "shape",
                                           "size",    "squeeze", "unsqueeze"};
    if (llvm::is_contained(kViews, entry))
      return;
    mlir::FunctionType type = library.getFunctionType();
    if (llvm::all_of(type.getInputs(), isSmall) &&
        llvm::all_of(type.getResults(), isSmall))
      return;
    ++(isOfShapes(entry, type) ? counts.byLibraryOfShapes
                               : counts.byReferenceKernel)[entry.str()];
  });
  return counts;
}
