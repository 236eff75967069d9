// SPDX-License-Identifier: Apache-2.0
//
// What an import for training adds: parameters as inputs, and what a run leaves
// to the next one.

#ifndef DLC_LIB_FRONTEND_ONNX_TRAINING_H
#define DLC_LIB_FRONTEND_ONNX_TRAINING_H

#include "dlc/Frontend/GraphBuilder.h"
#include "dlc/Frontend/ONNX/Model.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

#include <functional>

namespace dlc::onnx {

/// Shared by the nodes of a model that is imported for training.
struct TrainingState {
  /// Of each argument that the model updates: its new value.
  llvm::MapVector<mlir::Value, mlir::Value> updates;
  /// The argument with `graph.random`, which `addRandom` makes once.
  mlir::Value random;
  std::function<mlir::Value()> addRandom;
  int64_t randomStreams = 0;
};

/// The initializers that are computed with: all floats that no operator reads
/// as what says how to compute ("Resize" by scales). One element alone is a
/// parameter where it has the place of weights, else a number ("Mul" by 2).
llvm::DenseSet<llvm::StringRef> findParameters(const Graph &graph);

} // namespace dlc::onnx

#endif // DLC_LIB_FRONTEND_ONNX_TRAINING_H
