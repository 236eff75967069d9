// SPDX-License-Identifier: Apache-2.0
//
// What a step of training is asked to be, and what it became. Plain C++.

#ifndef DLC_TRAINING_OPTIONS_H
#define DLC_TRAINING_OPTIONS_H

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace dlc::training {

/// Numbers that are not given are the optimizer's own defaults; those that it
/// has no use for are errors (Optimizer::create).
struct OptimizerOptions {
  std::string name = "sgd";
  std::optional<double> momentum = {};
  std::optional<double> beta1 = {}, beta2 = {};
  std::optional<double> epsilon = {};
  std::optional<double> rho = {};                 ///< AdaDelta.
  std::optional<double> gamma1 = {}, gamma2 = {}; ///< RMSProp.
  std::optional<double> l1 = {};                  ///< Ftrl's lambda1.
  std::optional<double> beta = {};                ///< Ftrl.
  std::optional<double> lowerBound = {},
                        upperBound = {};     ///< LAMB's, of a weight's norm.
  std::optional<double> decoupledDecay = {}; ///< Signum's wd_lh.
  bool isCentered = false;                   ///< RMSProp.
  double weightDecay = 0;
  /// Gradients are multiplied with it, then limited to [-clip, clip].
  double rescale = 1;
  std::optional<double> clip = {};
};

/// Factors of the learning rate and of the weight decay for one parameter,
/// finite and at least 0. Where none is given, those of the network hold
/// (`graph.rate_factor`, `graph.decay_factor`), else 1, but no decay for what
/// is added: parameters whose names end in "bias" or "beta". Networks of MXNet
/// come with attributes that follow its own rule. At a rate of 0 a parameter
/// stays as it is, as do those that are `graph.fixed`, which have no factors.
struct Factors {
  std::optional<double> rate = {}, decay = {};
};

struct StepOptions {
  /// What is made small: a name of lossNames(), or empty for a network that
  /// ends in layers that are losses themselves.
  std::string loss;
  /// The argument to add for the labels of `loss`; no other one has its name.
  std::string label = "label";
  /// Arguments that are no parameters: data and labels.
  std::set<std::string> data;
  /// Parameters that stay as they are.
  std::set<std::string> frozen;
  OptimizerOptions optimizer;
  std::map<std::string, Factors> factors; ///< By parameter.
};

/// Elements are [outer, count, inner], and one of each `count` is the class of
/// its place; a count of 0: there are no classes.
struct ClassPlaces {
  int64_t count = 0, inner = 1;
};

/// What buildStep() made, by the names of arguments.
struct Step {
  std::vector<std::string> parameters; ///< Trained, in their order.
  /// Parameters that stay as they are, in their order.
  std::vector<std::string> frozen;
  /// What the network says of first values (`graph.initializer`), by parameter.
  std::map<std::string, std::string> initializers;
  /// What is no parameter, though it is computed with: single numbers of the
  /// model's file (`graph.numbers`).
  std::vector<std::string> numbers;
  /// What the optimizer keeps, zero at first.
  std::vector<std::string> states;
  std::string learningRate; ///< An f32 scalar.
  std::string count;        ///< i64: the updates so far, 0 at first.
  std::string loss;         ///< The result that is the added loss, or empty.

  // What the first output says of how well the network does.

  std::string labels;            ///< The data that it should be like, or empty.
  bool isLoss = false;           ///< It is a loss itself.
  bool areProbabilities = false; ///< A softmax gives it.
  /// The network's own loss is of that softmax, so that labels of its shape are
  /// distributions.
  bool endsInSoftmax = false;
  bool areLogits = false; ///< The added loss makes probabilities of it.
  /// What a softmax, of the network or of the added loss, is over.
  ClassPlaces places;
  /// Labels of the added loss are below it, and at least 0; or 0: any.
  int64_t classes = 0;
};

} // namespace dlc::training

#endif // DLC_TRAINING_OPTIONS_H
