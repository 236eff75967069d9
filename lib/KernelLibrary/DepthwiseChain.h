// SPDX-License-Identifier: Apache-2.0
//
// Groups of a depthwise convolution and its neighbours.

#ifndef DLC_KERNELLIBRARY_DEPTHWISECHAIN_H
#define DLC_KERNELLIBRARY_DEPTHWISECHAIN_H

#include "dlc/KernelLibrary/Match.h"
#include "dlc/dialects/Graph/GraphOps.h"

namespace dlc::library {

/// matchGroup() for groups of two or three convolutions, one of them depthwise,
/// each with what follows it.
std::optional<Match>
matchDepthwiseChain(llvm::ArrayRef<mlir::Operation *> group, std::string *why);

/// findGroup() for those that begin with `first`: the operations of the chain
/// that takes the least time, if it takes less than its convolutions do one by
/// one (timesOf). Weights are constants.
llvm::SmallVector<mlir::Operation *>
findDepthwiseChain(graph::ConvOp first,
                   llvm::function_ref<bool(mlir::Operation *)> isFree);

} // namespace dlc::library

#endif // DLC_KERNELLIBRARY_DEPTHWISECHAIN_H
