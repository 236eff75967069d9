// SPDX-License-Identifier: Apache-2.0
//
// Losses of networks that have none.

#ifndef DLC_LIB_TRAINING_LOSS_H
#define DLC_LIB_TRAINING_LOSS_H

#include "dlc/Frontend/GraphBuilder.h"
#include "dlc/Training/Options.h"
#include "dlc/dialects/Graph/GraphOps.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace dlc::training {

/// A softmax that gives a value, but for views of it.
struct FoundSoftmax {
  graph::SoftmaxOp op; ///< Null where none gives it.
  int64_t axis = 0;    ///< Of `op`, at least 0.
  ClassPlaces places;  ///< Of the value.
  /// The dimensions of the value that are the axis; several where a view takes
  /// it apart.
  size_t begin = 0, end = 0;
};

/// Views that mix classes with their places leave none.
FoundSoftmax findSoftmax(mlir::Value value);

struct BuiltLoss {
  mlir::Value value;   ///< Null after a failure.
  int64_t classes = 0; ///< As in Step.
  bool areLogits = false;
  ClassPlaces places = {};
};

/// Builds the loss of `output`, a scalar of f32: the mean over the labels,
/// which `addLabel` gives an argument of this type for. The builder has
/// reported failures.
BuiltLoss buildLoss(frontend::GraphBuilder &b, llvm::StringRef name,
                    mlir::Value output,
                    llvm::function_ref<mlir::Value(mlir::Type)> addLabel);

} // namespace dlc::training

#endif // DLC_LIB_TRAINING_LOSS_H
