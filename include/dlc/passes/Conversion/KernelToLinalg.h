// SPDX-License-Identifier: Apache-2.0
//
// Which groups of Graph operations have a generated form, and that form.

#ifndef DLC_PASSES_CONVERSION_KERNELTOLINALG_H
#define DLC_PASSES_CONVERSION_KERNELTOLINALG_H

#include "dlc/dialects/Kernel/KernelDialect.h"

#include <string>

namespace dlc::conversion {

/// True if `group`, operations of one block in order, can become one kernel of
/// generated code, for the device that it is on, and is not kept from threads
/// by that: a kernel of one tile, of operations that have several. Operations
/// with users outside the group are results; `graph.constant`s outside it may
/// count as inside, see isPartOfKernel(). On refusal `why`, when given, gets
/// the reason. Changes nothing; costs the plan of a copy.
bool canGenerate(llvm::ArrayRef<mlir::Operation *> group,
                 std::string *why = nullptr);

/// True if `group` can be one kernel of any shape: elementwise operations of a
/// host, not all of known shapes, of which the last one reads the others, each
/// of its shape. Part of what canGenerate() answers.
bool canBeOfAnyShape(llvm::ArrayRef<mlir::Operation *> group,
                     std::string *why = nullptr);

/// The type of `tensor` in a kernel of any shape: unranked.
mlir::Type withAnyShape(mlir::Type tensor);

/// The operations around `anchor`, in order, that are generated as a whole for
/// its device, and not one by one: only such that are free. Empty where there
/// are none; where they are an attention all the same, `why`, when given, gets
/// the reason.
llvm::SmallVector<mlir::Operation *>
findGeneratedGroup(mlir::Operation *anchor,
                   llvm::function_ref<bool(mlir::Operation *)> isFree,
                   std::string *why = nullptr);

/// True if `operand` is a constant that a kernel of `group` holds instead of
/// taking it as an argument, because its form depends on it: a single element,
/// a parameter of all members that use it, or one that is left out.
bool isPartOfKernel(mlir::Value operand,
                    llvm::ArrayRef<mlir::Operation *> group);

/// Turns `kernel` from value semantics into destination style, as the pass
/// convert-kernel-to-linalg does. On failure `reason` says why; the kernel's
/// operations may have been decomposed then.
llvm::LogicalResult convertKernel(kernel::FuncOp kernel, std::string &reason);

} // namespace dlc::conversion

#endif // DLC_PASSES_CONVERSION_KERNELTOLINALG_H
