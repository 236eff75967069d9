// SPDX-License-Identifier: Apache-2.0
//
// Losses of networks that have none.

#ifndef DLC_LIB_TRAINING_LOSS_H
#define DLC_LIB_TRAINING_LOSS_H

#include "dlc/Frontend/GraphBuilder.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace dlc::training {

struct BuiltLoss {
  mlir::Value value;   ///< Null after a failure.
  int64_t classes = 0; ///< As in Step.
  bool areLogits = false;
};

/// Builds the loss of `output`, a scalar of f32: the mean over the labels,
/// which `addLabel` gives an argument of this type for. The builder has
/// reported failures.
BuiltLoss buildLoss(frontend::GraphBuilder &b, llvm::StringRef name,
                    mlir::Value output,
                    llvm::function_ref<mlir::Value(mlir::Type)> addLabel);

} // namespace dlc::training

#endif // DLC_LIB_TRAINING_LOSS_H
