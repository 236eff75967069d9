// SPDX-License-Identifier: Apache-2.0
//
// Groups that cpu.attention computes.

#ifndef DLC_LIB_KERNELLIBRARY_ATTENTION_H
#define DLC_LIB_KERNELLIBRARY_ATTENTION_H

#include "dlc/KernelLibrary/Attention.h"
#include "dlc/KernelLibrary/Match.h"

namespace dlc::library {

/// matchGroup() for groups of two products with a softmax in between.
std::optional<Match> matchAttention(llvm::ArrayRef<mlir::Operation *> group,
                                    std::string *why);

/// findGroup() for those that begin with the product `scores`.
llvm::SmallVector<mlir::Operation *>
findAttention(graph::MatmulOp scores,
              llvm::function_ref<bool(mlir::Operation *)> isFree);

} // namespace dlc::library

#endif // DLC_LIB_KERNELLIBRARY_ATTENTION_H
