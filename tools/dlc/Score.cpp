// SPDX-License-Identifier: Apache-2.0

#include "Score.h"

#include "Elements.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

using namespace dlc;
using namespace dlc::tool;

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

void Score::add(const Score &other) {
  loss += other.loss;
  losses += other.losses;
  squares += other.squares;
  elements += other.elements;
  right += other.right;
  classified += other.classified;
}

std::optional<double> Score::objective() const {
  if (losses > 0)
    return loss / losses;
  if (elements > 0)
    return squares / elements;
  return std::nullopt;
}

std::string Score::describe(const std::string &of) const {
  std::string text;
  auto say = [&](const char *what, double sum, double count, const char *unit) {
    char number[64];
    std::snprintf(number, sizeof number, "%.*f%s", *unit ? 2 : 4, sum / count,
                  unit);
    if (count > 0)
      text += (text.empty() ? "" : ", ") + of + what + " " + number;
  };
  say("loss", loss, losses, "");
  say("mean squared error", squares, elements, "");
  say("accuracy", 100 * right, classified, " %");
  return text;
}

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

static int64_t productOf(std::span<const int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t(1),
                         std::multiplies<>());
}

static double squareOf(double value, double label) {
  return (value - label) * (value - label);
}

static double distanceOf(double value, double label) {
  return std::abs(value - label);
}

/// -ln of what the label says is likely.
static double surpriseOf(double probability, double label) {
  auto logarithm = [](double p) { return std::log(std::max(p, 1e-37)); };
  return -(label * logarithm(probability) +
           (1 - label) * logarithm(1 - probability));
}

/// The same of sigmoid(value).
static double surpriseOfLogit(double value, double label) {
  return std::max(value, 0.0) - value * label +
         std::log1p(std::exp(-std::abs(value)));
}

Judge::Judge(const training::Step &step, const std::string &loss, int64_t batch,
             const rt::TensorType &output, const rt::TensorType *labels) {
  std::span<const int64_t> shape = output.shape;
  hasRows = !shape.empty() && shape[0] == batch;
  row = productOf(hasRows ? shape.subspan(1) : shape);
  areProbabilities = step.areProbabilities;
  areLogits = step.areLogits;
  if (!rt::isFloat(output.type))
    return;
  if (!labels) {
    kind = step.isLoss ? Kind::Loss : Kind::None;
    return;
  }
  std::span<const int64_t> rows = labels->shape;
  if (!hasRows || rows.empty() || rows[0] != batch)
    return;
  int64_t each = productOf(rows.subspan(1));
  // A class for each place.
  if (step.places.count > 1 && each * step.places.count == row) {
    kind = Kind::Classes;
    classes = step.places.count;
    inner = step.places.inner;
    return;
  }
  if (each == 1 && row > 1) {
    kind = Kind::Classes;
    classes = row;
    areProbabilities = areLogits = false;
    return;
  }
  if (each != row)
    return;
  bool isDistribution = step.endsInSoftmax && shape.size() == 2;
  kind = isDistribution ? Kind::Distributions : Kind::Elements;
  measure = loss == "mean-absolute-error"    ? distanceOf
            : loss != "binary-cross-entropy" ? squareOf
            : areLogits                      ? surpriseOfLogit
                                             : surpriseOf;
}

bool Judge::hasObjective() const {
  return kind == Kind::Loss || kind == Kind::Elements ||
         kind == Kind::Distributions ||
         (kind == Kind::Classes && (areProbabilities || areLogits));
}

//===----------------------------------------------------------------------===//
// Judgements
//===----------------------------------------------------------------------===//

/// Label `i` as a double, which holds every class.
static double labelAt(const HostTensor &labels, int64_t i) {
  return numberAt(labels.view(), i).value_or(NAN);
}

/// As MXNet's metric Loss: the mean over all elements.
void Judge::judgeLoss(std::span<const double> values, Score &score) const {
  double sum = std::accumulate(values.begin(), values.end(), 0.0);
  score.loss += sum / static_cast<double>(std::max<size_t>(values.size(), 1));
  ++score.losses;
}

/// Adds -ln of the label's probability where there is one. Labels that are
/// no class, as those to be ignored, are not judged.
void Judge::judgeClasses(const double *values, const HostTensor &labels,
                         int64_t example, Score &score) const {
  int64_t places = row / classes;
  for (int64_t place = 0; place != places; ++place) {
    double number = labelAt(labels, example * places + place);
    if (!(number >= 0 && number < static_cast<double>(classes)))
      continue;
    auto label = static_cast<int64_t>(number);
    const double *first =
        values + place / inner * classes * inner + place % inner;
    int64_t best = 0;
    for (int64_t i = 1; i != classes; ++i)
      if (first[i * inner] > first[best * inner])
        best = i;
    score.right += best == label;
    ++score.classified;
    if (!areProbabilities && !areLogits)
      continue;
    ++score.losses;
    if (areProbabilities) {
      // std::max keeps a NaN that is first.
      score.loss -= std::log(std::max(first[label * inner], 1e-37));
      continue;
    }
    double sum = 0, most = first[best * inner];
    for (int64_t i = 0; i != classes; ++i)
      sum += std::exp(first[i * inner] - most);
    score.loss += most + std::log(sum) - first[label * inner];
  }
}

/// As for classes, each of which counts as much as its label says.
void Judge::judgeDistribution(const double *values, const HostTensor &labels,
                              int64_t example, Score &score) const {
  int64_t best = 0, likeliest = 0;
  for (int64_t i = 0; i != row; ++i) {
    double label = labelAt(labels, example * row + i);
    if (label != 0)
      score.loss -= label * std::log(std::max(values[i], 1e-37));
    if (values[i] > values[best])
      best = i;
    if (label > labelAt(labels, example * row + likeliest))
      likeliest = i;
  }
  score.right += best == likeliest;
  ++score.losses;
  ++score.classified;
}

void Judge::judgeElements(const double *values, const HostTensor &labels,
                          int64_t example, Score &score) const {
  bool areSquares = measure == squareOf;
  double &sum = areSquares ? score.squares : score.loss;
  for (int64_t i = 0; i != row; ++i)
    sum += measure(values[i], labelAt(labels, example * row + i));
  (areSquares ? score.elements : score.losses) += static_cast<double>(row);
}

void Judge::judge(const rt::TensorView &output, const HostTensor *labels,
                  std::span<const int64_t> examples, Score &score) const {
  if (kind == Kind::None)
    return;
  std::vector<double> values(row);
  auto read = [&](size_t number) {
    for (int64_t i = 0; i != row; ++i)
      values[i] = numberAt(output, number * row + i).value_or(NAN);
  };
  if (kind == Kind::Loss && !hasRows) {
    read(0);
    return judgeLoss(values, score);
  }
  for (size_t i = 0; i != examples.size(); ++i) {
    read(i);
    if (kind == Kind::Loss)
      judgeLoss(values, score);
    else if (kind == Kind::Classes)
      judgeClasses(values.data(), *labels, examples[i], score);
    else if (kind == Kind::Distributions)
      judgeDistribution(values.data(), *labels, examples[i], score);
    else
      judgeElements(values.data(), *labels, examples[i], score);
  }
}
