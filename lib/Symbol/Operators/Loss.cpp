// SPDX-License-Identifier: Apache-2.0
//
// Layers that end a network: what they give forward, and labels that only their
// gradients read.

#include "Rules.h"

using namespace dlc;
using namespace dlc::symbol;
using mlir::Value;

//===-- Softmax with a loss -----------------------------------------------===//

/// A label for each distribution; also whole distributions are accepted.
static void relateSoftmaxOutput(ShapeRelation &r) {
  r.equate(0, 0);
  const Shape &data = r.input(0);
  if (!data || data->size() < 2)
    return;
  std::vector<int64_t> label = *data;
  bool isMulti = r.parameters.getBool("multi_output") &&
                 !r.parameters.getBool("preserve_shape");
  label.erase(isMulti ? label.begin() + 1 : label.end() - 1);
  suggestInput(r, 1, label);
}

static void lowerSoftmaxOutput(LoweringContext &n) {
  Value x = n.in(0);
  int64_t rank = n.rank(x);
  if (rank < 2)
    return n.fail("expected data of at least 2 dimensions, got " +
                  llvm::Twine(rank));
  if (n.p.getBool("preserve_shape"))
    return n.set(0, n.b.op("softmax", {x}, {{"axis", -1}}));
  n.set(0, n.p.getBool("multi_output") ? n.b.op("softmax", {x}, {{"axis", 1}})
                                       : softmaxOfSamples(n, x));
}

/// -sum of log(softmax(data)[label]), of shape (1,).
static void lowerCrossEntropy(LoweringContext &n) {
  Value x = n.in(0);
  if (n.rank(x) != 2)
    return n.fail("expected data of 2 dimensions, got " +
                  llvm::Twine(n.rank(x)));
  Value logarithms = n.b.op("log_softmax", {x}, {{"axis", 1}});
  Value labels = n.b.unsqueeze(n.b.cast(n.in(1), n.b.i64()), {1});
  Value picked = n.b.op("gather_elements", {logarithms, labels}, {{"axis", 1}});
  Value sum = n.b.reduce("reduce_sum", picked, {0}, false);
  n.set(0, n.b.op("neg", {sum}));
}

static void relateCrossEntropy(ShapeRelation &r) {
  r.setInput(1, std::vector{r.inputDim(0, 0)});
  r.setOutput(0, std::vector{int64_t(1)});
}

static void lowerLogistic(LoweringContext &n) {
  n.set(0, n.b.op("sigmoid", {n.in(0)}));
}

//===-- Regression --------------------------------------------------------===//

/// The label has the shape of the data, or is a vector for a column.
static void relateRegression(ShapeRelation &r) {
  r.equate(0, 0);
  const Shape &data = r.input(0);
  if (!data)
    return;
  if (data->size() == 2 && (*data)[1] == 1)
    suggestInput(r, 1, std::vector{(*data)[0]});
  suggestInput(r, 1, data);
}

static void relateSvm(ShapeRelation &r) {
  r.equate(0, 0);
  if (r.input(0))
    suggestInput(r, 1, std::vector{r.inputDim(0, 0)});
}

//===-- Declarations ------------------------------------------------------===//

static Parameter gradScale() {
  return optional("grad_scale", ParameterKind::Float, "1",
                  "Factor of the gradient.");
}

static Parameter normalization() {
  return choice("normalization", {"batch", "null", "valid"}, "null",
                "What the gradient is divided by: the size of the batch, "
                "nothing, or how many labels count.");
}

static std::vector<Input> labelled() {
  return {{"data"}, {"label", {}, InputRole::Label}};
}

static Operator regression(std::string_view name, std::string_view summary,
                           void (*lower)(LoweringContext &)) {
  return {.name = name,
          .summary = summary,
          .parameters = {gradScale()},
          .inputs = labelled(),
          .relateShapes = relateRegression,
          .lower = lower};
}

std::span<const Operator> dlc::symbol::lossOperators() {
  static const std::vector<Operator> rows = {
      regression("LinearRegressionOutput",
                 "The operand; its gradient is that of half the squared error",
                 lowerIdentity),
      regression("LogisticRegressionOutput",
                 "Sigmoid; its gradient is that of the cross entropy",
                 lowerLogistic),
      regression("MAERegressionOutput",
                 "The operand; its gradient is that of the absolute error",
                 lowerIdentity),
      {.name = "MakeLoss",
       .summary = "The operand, which is a loss",
       .parameters = {gradScale(),
                      optional("valid_thresh", ParameterKind::Float, "0",
                               "Elements above it count as valid."),
                      normalization()},
       .relateShapes = sameShapes,
       .lower = lowerIdentity},
      {.name = "SVMOutput",
       .summary = "The operand; its gradient is that of a hinge loss",
       .parameters = {optional("margin", ParameterKind::Float, "1",
                               "Distance that counts as safe."),
                      optional("regularization_coefficient",
                               ParameterKind::Float, "1",
                               "Factor of the gradient."),
                      optional("use_linear", ParameterKind::Bool, "False",
                               "Absolute instead of squared distances.")},
       .inputs = labelled(),
       .relateShapes = relateSvm,
       .lower = lowerIdentity},
      {.name = "SoftmaxOutput",
       .aliases = {"Softmax"},
       .summary = "Softmax; its gradient is that of the cross entropy with the "
                  "label",
       .details = "Over everything behind the first dimension, unless "
                  "`multi_output` (axis 1) or `preserve_shape` (the last "
                  "axis).",
       .parameters =
           {gradScale(),
            optional("ignore_label", ParameterKind::Float, "-1",
                     "Label without a gradient, where `use_ignore`."),
            optional("multi_output", ParameterKind::Bool, "False",
                     "A distribution for each place, along axis 1."),
            optional("use_ignore", ParameterKind::Bool, "False",
                     "Heed `ignore_label`."),
            optional("preserve_shape", ParameterKind::Bool, "False",
                     "A distribution along the last axis."),
            normalization(),
            optional("out_grad", ParameterKind::Bool, "False",
                     "Multiply with the gradient of the result."),
            optional("smooth_alpha", ParameterKind::Float, "0",
                     "Part of each label that is spread over all classes.")},
       .inputs = labelled(),
       .relateShapes = relateSoftmaxOutput,
       .lower = lowerSoftmaxOutput},
      {.name = "softmax_cross_entropy",
       .summary = "Sum of the negative logarithms of the labels' softmax",
       .inputs = {{"data"}, {"label"}},
       .relateShapes = relateCrossEntropy,
       .lower = lowerCrossEntropy},
  };
  return rows;
}
