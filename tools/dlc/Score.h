// SPDX-License-Identifier: Apache-2.0
//
// How well a network does: its first output, compared with labels or taken as
// a loss.

#ifndef DLC_TOOLS_DLC_SCORE_H
#define DLC_TOOLS_DLC_SCORE_H

#include "Command.h"

#include "dlc/Training/Options.h"

#include <span>

namespace dlc::tool {

/// Sums over examples; a count of 0 says that there is nothing to tell.
struct Score {
  double loss = 0, losses = 0;      ///< The sum of so many losses.
  double squares = 0, elements = 0; ///< Of what labels and output differ by.
  double right = 0, classified = 0; ///< Labels that are classes.

  void add(const Score &other);
  /// The loss, else the mean squared error: what training makes small.
  std::optional<double> objective() const;
  /// "loss 0.1234, accuracy 97.12 %", each behind `of` ("test ").
  std::string describe(const std::string &of) const;
};

class Judge {
public:
  Judge() = default;
  /// For outputs and labels of these types in each batch; `labels` is null
  /// where the step has none. `loss` is the name of the one that was added.
  Judge(const training::Step &step, const std::string &loss, int64_t batch,
        const rt::TensorType &output, const rt::TensorType *labels);

  /// Whether there is anything to tell.
  bool canJudge() const { return kind != Kind::None; }
  /// Whether what it tells has an objective.
  bool hasObjective() const;
  /// Whether labels are classes, so that it tells how many are right.
  bool isByClass() const { return kind == Kind::Classes; }
  /// How many classes there are; where isByClass().
  int64_t classCount() const { return classes; }
  /// Whether each example is judged for itself.
  bool isByExample() const { return kind != Kind::Loss || hasRows; }

  /// Adds what the first rows of `output` say, those of `examples`, which are
  /// places in `labels`.
  void judge(const rt::TensorView &output, const HostTensor *labels,
             std::span<const int64_t> examples, Score &score) const;

private:
  enum class Kind { None, Loss, Classes, Distributions, Elements };
  /// The loss of one element of the output and its label.
  using Measure = double (*)(double value, double label);

  void judgeLoss(std::span<const double> values, Score &score) const;
  void judgeClasses(const double *row, const HostTensor &labels,
                    int64_t example, Score &score) const;
  void judgeDistribution(const double *row, const HostTensor &labels,
                         int64_t example, Score &score) const;
  void judgeElements(const double *row, const HostTensor &labels,
                     int64_t example, Score &score) const;

  Kind kind = Kind::None;
  bool hasRows = false;          ///< The output has a row for each example.
  bool areProbabilities = false; ///< Of classes.
  bool areLogits = false;        ///< Their softmax is probabilities.
  Measure measure = nullptr;     ///< Of elements.
  /// A row is [outer, classes, inner].
  int64_t row = 1, classes = 1, inner = 1;
};

} // namespace dlc::tool

#endif // DLC_TOOLS_DLC_SCORE_H
