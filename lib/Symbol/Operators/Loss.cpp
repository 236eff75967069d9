// SPDX-License-Identifier: Apache-2.0
//
// Layers that end a network: what they give forward and, for training, the
// gradients that their labels give, whatever the gradient of the result
// (MXNet 1.9.1: softmax_output-inl.h, regression_output-inl.h,
// svm_output-inl.h, make_loss-inl.h).

#include "Rules.h"

using namespace dlc;
using namespace dlc::symbol;
using mlir::Value;

//===-- Softmax with a loss -----------------------------------------------===//

/// A label for each distribution; also whole distributions are accepted, and
/// where that does not decide, rows of as many labels in another shape.
static void relateSoftmaxOutput(ShapeRelation &r) {
  r.equate(0, 0);
  const Shape &data = r.input(0);
  if (!data || data->size() < 2)
    return;
  std::vector<int64_t> label = *data;
  bool isMulti = r.parameters.getBool("multi_output") &&
                 !r.parameters.getBool("preserve_shape");
  label.erase(isMulti ? label.begin() + 1 : label.end() - 1);
  if (isStatic(data) && r.inputCount() > 1 && r.input(1) == data)
    return;
  suggestElements(r, 1, label);
}

/// What an operator of this family gives: `y` and, for training, `gradient` as
/// that of the data.
static void setWithGradient(LoweringContext &n, Value y,
                            llvm::function_ref<Value()> gradient,
                            bool isScaled = false) {
  if (!n.isTraining())
    return n.set(0, y);
  Value x = n.in(0);
  n.set(0, n.b.op("replace_gradient", {y, x, n.b.castLike(gradient(), x)},
                  {{"scaled", isScaled}}));
}

static Value softmaxOf(LoweringContext &n, Value x) {
  if (n.p.getBool("preserve_shape"))
    return n.b.op("softmax", {x}, {{"axis", -1}});
  return n.p.getBool("multi_output") ? n.b.op("softmax", {x}, {{"axis", 1}})
                                     : softmaxOfSamples(n, x);
}

namespace {
/// The distributions of SoftmaxOutput as a tensor of [outer, classes, inner].
struct Distributions {
  int64_t outer = 1, classes = 1, inner = 1;
  bool isMulti = false;
};
} // namespace

static Distributions distributionsOf(LoweringContext &n, const Ints &shape) {
  Distributions d;
  d.isMulti = n.p.getBool("multi_output") && !n.p.getBool("preserve_shape");
  auto product = [&](size_t begin, size_t end) {
    int64_t count = 1;
    for (size_t i = begin; i < end; ++i)
      count *= shape[i];
    return count;
  };
  size_t rank = shape.size();
  size_t axis = n.p.getBool("preserve_shape") ? rank - 1 : 1;
  d.outer = product(0, axis);
  d.classes = d.isMulti ? shape[1] : product(axis, rank);
  d.inner = d.isMulti ? product(2, rank) : 1;
  return d;
}

/// What the gradient of SoftmaxOutput is multiplied with, a scalar. `counts`
/// tells which of the labels do.
static Value softmaxScale(LoweringContext &n, const Distributions &d,
                          Value counts, Value like) {
  const std::string &normalization = n.p.getText("normalization");
  double scale = n.p.getFloat("grad_scale");
  if (normalization != "valid") {
    if (d.isMulti)
      scale /= static_cast<double>(d.inner);
    if (normalization == "batch")
      scale /= static_cast<double>(d.outer);
    return n.scalarLike(like, scale);
  }
  Value valid = n.b.reduce("reduce_sum", n.b.castLike(counts, like), {0, 1, 2},
                           /*keepDims=*/false);
  Value atLeastOne = n.b.op("max", {valid, n.scalarLike(valid, 1)});
  return n.b.div(n.scalarLike(like, scale), atLeastOne);
}

/// softmax - label, where the label is a class or a distribution.
static Value softmaxGradient(LoweringContext &n, Value y) {
  Ints shape = n.shape(y, "the gradient of a loss");
  Ints labels = n.shape(n.in(1), "the gradient of a loss");
  if (n.b.failed())
    return {};
  if (labels == shape)
    return n.b.mul(n.b.sub(y, n.b.castLike(n.in(1), y)),
                   n.scalarLike(y, n.p.getFloat("grad_scale")));
  Distributions d = distributionsOf(n, shape);
  Value wide =
      n.b.cast(n.b.reshape(y, {d.outer, d.classes, d.inner}), n.b.wideFloat(y));
  Value label =
      n.b.reshape(n.b.cast(n.in(1), n.b.i64()), {d.outer, 1, d.inner});
  Value classes = n.b.op(
      "range", {n.b.intScalar(0), n.b.intScalar(d.classes), n.b.intScalar(1)});
  Value isLabel =
      n.b.op("equal", {n.b.reshape(classes, {1, d.classes, 1}), label});
  double alpha = d.isMulti ? 0 : n.p.getFloat("smooth_alpha");
  double others =
      d.classes > 1 ? alpha / static_cast<double>(d.classes - 1) : 0;
  Value wanted = n.b.op("select", {isLabel, n.scalarLike(wide, 1 - alpha),
                                   n.scalarLike(wide, others)});
  Value gradient = n.b.sub(wide, wanted);
  Value ignored = n.b.scalar(n.b.i64(), n.p.getFloat("ignore_label"));
  Value counts = n.b.op("logical_not", {n.b.op("equal", {label, ignored})});
  if (n.p.getBool("use_ignore"))
    gradient = n.b.op("select", {counts, gradient, n.scalarLike(wide, 0)});
  gradient = n.b.mul(gradient, softmaxScale(n, d, counts, wide));
  return n.b.reshape(n.b.castLike(gradient, y), shape);
}

static void lowerSoftmaxOutput(LoweringContext &n) {
  Value x = n.in(0);
  int64_t rank = n.rank(x);
  if (rank < 2)
    return n.fail("expected data of at least 2 dimensions, got " +
                  llvm::Twine(rank));
  Value y = softmaxOf(n, x);
  setWithGradient(
      n, y, [&] { return softmaxGradient(n, y); }, n.p.getBool("out_grad"));
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

//===-- Regression --------------------------------------------------------===//

/// What the gradient of a regression is made of y - label.
enum class Error { Difference, Sign };

/// Divided by the values that each label has.
static Value regressionGradient(LoweringContext &n, Value y, Error error) {
  Ints shape = n.shape(y, "the gradient of a loss");
  Ints labels = n.shape(n.in(1), "the gradient of a loss");
  if (n.b.failed())
    return {};
  int64_t each = 1;
  for (size_t i = 1; i < labels.size(); ++i)
    each *= labels[i];
  Value label = n.b.reshape(n.b.castLike(n.in(1), y), shape);
  Value difference = n.b.sub(y, label);
  // At 0 it is that of the negative side.
  if (error == Error::Sign)
    difference = n.b.op("select", {n.b.op("greater", {y, label}),
                                   n.scalarLike(y, 1), n.scalarLike(y, -1)});
  double scale = n.p.getFloat("grad_scale") /
                 static_cast<double>(std::max(each, int64_t(1)));
  return n.b.mul(difference, n.scalarLike(y, scale));
}

template <Error error> static void lowerLinear(LoweringContext &n) {
  Value y = n.in(0);
  setWithGradient(n, y, [&] { return regressionGradient(n, y, error); });
}

static void lowerLogistic(LoweringContext &n) {
  Value y = n.b.op("sigmoid", {n.in(0)});
  setWithGradient(n, y,
                  [&] { return regressionGradient(n, y, Error::Difference); });
}

/// `grad_scale`, by the size of the batch or by how many elements are above a
/// threshold.
static Value makeLossGradient(LoweringContext &n) {
  Value x = n.in(0);
  Ints shape = n.shape(x, "the gradient of a loss");
  if (n.b.failed())
    return {};
  const std::string &normalization = n.p.getText("normalization");
  double scale = n.p.getFloat("grad_scale");
  if (normalization == "batch" && !shape.empty())
    scale /= static_cast<double>(std::max(shape[0], int64_t(1)));
  Value each = n.scalarLike(x, scale);
  if (normalization == "valid") {
    Value isValid =
        n.b.op("greater", {x, n.scalarLike(x, n.p.getFloat("valid_thresh"))});
    // 16 bits cannot count beyond some thousands.
    Value wide = n.b.cast(isValid, n.b.wideFloat(x));
    Value count = n.b.reduce("reduce_sum", wide, range(0, n.rank(x)),
                             /*keepDims=*/false);
    count = n.b.op("max", {count, n.scalarLike(wide, 1)});
    each = n.b.castLike(n.b.div(n.b.castLike(each, wide), count), x);
  }
  return n.b.op("expand", {each, n.b.ints(shape)});
}

static void lowerMakeLoss(LoweringContext &n) {
  setWithGradient(n, n.in(0), [&] { return makeLossGradient(n); });
}

/// That of a hinge for each class, which pushes the label's up and others down.
static Value svmGradient(LoweringContext &n) {
  Value x = n.in(0);
  Ints shape = n.shape(x, "the gradient of a loss");
  if (n.b.failed())
    return {};
  if (shape.size() != 2) {
    n.fail("expected 'data' of 2 dimensions, got " + llvm::Twine(shape.size()));
    return {};
  }
  Value label = n.b.reshape(n.b.cast(n.in(1), n.b.i64()), {shape[0], 1});
  Value classes = n.b.op(
      "range", {n.b.intScalar(0), n.b.intScalar(shape[1]), n.b.intScalar(1)});
  Value isLabel = n.b.op("equal", {classes, label});
  // The side of the margin: -1 for the label's class, 1 for others.
  Value side =
      n.b.op("select", {isLabel, n.scalarLike(x, -1), n.scalarLike(x, 1)});
  Value distance =
      n.b.add(n.scalarLike(x, n.p.getFloat("margin")), n.b.mul(side, x));
  Value zero = n.scalarLike(x, 0);
  Value isInside = n.b.op("greater", {distance, zero});
  double scale = n.p.getFloat("regularization_coefficient");
  if (n.p.getBool("use_linear"))
    return n.b.mul(n.b.op("select", {isInside, side, zero}),
                   n.scalarLike(x, scale));
  Value squared = n.b.mul(n.b.mul(side, distance), n.scalarLike(x, 2 * scale));
  return n.b.op("select", {isInside, squared, zero});
}

static void lowerSvm(LoweringContext &n) {
  setWithGradient(n, n.in(0), [&] { return svmGradient(n); });
}

/// The label has the shape of the data, or is a vector for a column.
static void relateRegression(ShapeRelation &r) {
  r.equate(0, 0);
  const Shape &data = r.input(0);
  if (!data)
    return;
  if (data->size() == 2 && (*data)[1] == 1)
    suggestInput(r, 1, std::vector{(*data)[0]});
  suggestElements(r, 1, data);
}

static void relateSvm(ShapeRelation &r) {
  r.equate(0, 0);
  if (r.input(0))
    suggestElements(r, 1, std::vector{r.inputDim(0, 0)});
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

static void relateSparseIdentity(ShapeRelation &r) {
  r.equate(0, 0);
  r.setInput(1, std::vector{r.inputDim(0, 1)});
}

static void lowerSparseIdentity(LoweringContext &n) {
  if (n.isTraining())
    return n.unsupported("training through a sparseness penalty");
  n.set(0, n.in(0));
}

std::span<const Operator> dlc::symbol::lossOperators() {
  static const std::vector<Operator> rows = {
      regression("LinearRegressionOutput",
                 "The operand; its gradient is that of half the squared error",
                 lowerLinear<Error::Difference>),
      regression("LogisticRegressionOutput",
                 "Sigmoid; its gradient is that of the cross entropy",
                 lowerLogistic),
      regression("MAERegressionOutput",
                 "The operand; its gradient is that of the absolute error",
                 lowerLinear<Error::Sign>),
      {.name = "MakeLoss",
       .summary = "The operand, which is a loss",
       .parameters = {gradScale(),
                      optional("valid_thresh", ParameterKind::Float, "0",
                               "Elements above it count as valid."),
                      normalization()},
       .relateShapes = sameShapes,
       .lower = lowerMakeLoss},
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
       .lower = lowerSvm},
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
      {.name = "IdentityAttachKLSparseReg",
       .summary = "The data, whose gradient MXNet makes sparse in training",
       .details = "Training it is not supported: the gradient depends on a "
                  "running mean of sigmoids.",
       .parameters = {optional("sparseness_target", ParameterKind::Float, "0.1",
                               "The mean that is wanted."),
                      optional("penalty", ParameterKind::Float, "0.001",
                               "Weight of the distance from it."),
                      optional("momentum", ParameterKind::Float, "0.9",
                               "Kept part of the running mean.")
                          .within(0, 1)},
       .inputs = {{"data"},
                  {.name = "moving_avg", .role = InputRole::Auxiliary}},
       .relateShapes = relateSparseIdentity,
       .lower = lowerSparseIdentity},
  };
  return rows;
}
