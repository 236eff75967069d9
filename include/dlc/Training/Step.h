// SPDX-License-Identifier: Apache-2.0
//
// The step of training as one function of Graph operations: forward, loss,
// gradients and the optimizer's updates. What a step leaves to the next, the
// parameters too, comes in as arguments and goes out as results with
// `graph.updates`, so that the compiled program changes it in place.

#ifndef DLC_TRAINING_STEP_H
#define DLC_TRAINING_STEP_H

#include "dlc/Training/Options.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace dlc::training {

/// "softmax-cross-entropy, ..." for messages.
std::string lossNames();

/// Whether the loss of this name compares with labels; nullopt for names that
/// lossNames() lacks.
std::optional<bool> lossHasLabels(llvm::StringRef name);
/// Whether the labels of that loss are from 0 to 1.
bool lossHasFractions(llvm::StringRef name);

/// Makes a step out of `function`, whose types are known and static: what the
/// front ends give for training. Arguments of floats that are neither data nor
/// updated already are parameters. A loss is added to networks that end in none
/// only, and the labels of one that they end in are data. Results stay, the
/// loss follows them where it was added, then what is updated. A failure is one
/// diagnostic, and leaves the function in parts.
llvm::FailureOr<Step> buildStep(mlir::func::FuncOp function,
                                const StepOptions &options);

} // namespace dlc::training

#endif // DLC_TRAINING_STEP_H
