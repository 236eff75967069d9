// SPDX-License-Identifier: Apache-2.0
//
// What an optimizer does to one parameter, as Graph operations. Names, formulas
// and defaults are those of MXNet 1.9.1 (python/mxnet/optimizer, and its
// operators in src/operator/optimizer_op-inl.h), but for AdamW, which is that
// of Loshchilov and Hutter ("Decoupled Weight Decay Regularization", 2019) with
// MXNet's place of epsilon.

#ifndef DLC_TRAINING_OPTIMIZER_H
#define DLC_TRAINING_OPTIMIZER_H

#include "dlc/Frontend/GraphBuilder.h"
#include "dlc/Training/Options.h"

namespace dlc::training {

/// What update() works on; all values of the weight's type, f32 scalars where
/// said. `learningRate` is a scalar that runs may change; `count` is the number
/// of this update, an i64 scalar that begins with 1.
struct OptimizerInputs {
  mlir::Value weight, gradient;
  llvm::ArrayRef<mlir::Value> states;
  mlir::Value learningRate, count;
  /// Factors of the learning rate and of the weight decay for this parameter.
  double rateFactor = 1, decayFactor = 1;
};

struct OptimizerResults {
  mlir::Value weight;
  llvm::SmallVector<mlir::Value> states;
};

class Optimizer {
public:
  /// Null, with what was expected and found in `problem`, for unknown names,
  /// options that the optimizer does not have, and numbers out of range.
  static std::optional<Optimizer> create(const OptimizerOptions &options,
                                         std::string &problem);

  /// The names of what it keeps for each parameter, of the parameter's shape
  /// and zero at first ("momentum").
  llvm::ArrayRef<llvm::StringRef> states() const;

  /// Builds one update. A failure sticks in the builder.
  OptimizerResults update(frontend::GraphBuilder &b,
                          const OptimizerInputs &inputs) const;

  double defaultLearningRate() const;
  /// Whether learning rates change what it does.
  bool hasLearningRate() const;
  /// Whether a learning rate of 0 makes no number.
  bool dividesByRate() const;

  /// Those that it was created with, and its own where none was given.
  const OptimizerOptions &completeOptions() const { return options; }

  /// "sgd, nag, adam, ..." for messages.
  static std::string names();

  /// One row of the table of optimizers.
  struct Rule;

private:
  Optimizer(const Rule *rule, OptimizerOptions options)
      : rule(rule), options(std::move(options)) {}
  const Rule *rule;
  OptimizerOptions options;
};

} // namespace dlc::training

#endif // DLC_TRAINING_OPTIMIZER_H
