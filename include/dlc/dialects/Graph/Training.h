// SPDX-License-Identifier: Apache-2.0
//
// Attributes of functions and their arguments that only training reads.

#ifndef DLC_DIALECTS_GRAPH_TRAINING_H
#define DLC_DIALECTS_GRAPH_TRAINING_H

#include "llvm/ADT/StringRef.h"

namespace dlc::graph {

/// F64Attr: factors of the learning rate and of the weight decay for this
/// parameter, finite and at least 0 (MXNet's lr_mult and wd_mult).
inline constexpr llvm::StringLiteral kRateFactorAttr = "graph.rate_factor";
inline constexpr llvm::StringLiteral kDecayFactorAttr = "graph.decay_factor";

/// StringAttr: what the model says of the parameter's first value, as MXNet's
/// `__init__` does; unknown to be right before it is needed.
inline constexpr llvm::StringLiteral kInitializerAttr = "graph.initializer";

/// UnitAttr: the argument always has the value that `graph.initial` says.
inline constexpr llvm::StringLiteral kFixedAttr = "graph.fixed";

/// ArrayAttr of names, of a function: numbers of the model's file that are
/// computed with and stay as they are, though a model may mean to train them.
inline constexpr llvm::StringLiteral kNumbersAttr = "graph.numbers";

} // namespace dlc::graph

#endif // DLC_DIALECTS_GRAPH_TRAINING_H
