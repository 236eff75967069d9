// SPDX-License-Identifier: Apache-2.0
//
// Losses, and what else training leaves in models.

#include "Simple.h"

using namespace dlc::onnx;
using mlir::Value;

/// -weight[t] * input[n, t, ...] for every target t, reduced.
static Value negativeLogLikelihood(NodeContext &n, Value input) {
  Value target = n.in(1), weight = n.in(2);
  llvm::StringRef reduction =
      n.getChoice("reduction", "mean", {"none", "sum", "mean"});
  Value ignored;
  if (n.hasAttr("ignore_index")) {
    Value index = n.b.scalarLike(target, n.getInt("ignore_index", 0));
    ignored = n.b.op("equal", {target, index});
    // The index may lie outside the classes.
    target = n.b.op("select", {ignored, n.b.scalarLike(target, 0), target});
  }
  Value picked = n.b.op("gather_elements", {input, n.b.unsqueeze(target, {1})},
                        {{"axis", 1}});
  Value loss = n.b.op("neg", {n.b.squeeze(picked, {1})});
  Value weights;
  if (weight)
    weights = n.b.op("gather", {weight, target}, {{"axis", 0}});
  else if (ignored)
    weights = n.b.scalarLike(input, 1);
  if (weight)
    loss = n.b.mul(loss, weights);
  if (ignored) {
    Value zero = n.b.scalarLike(input, 0);
    weights = n.b.op("select", {ignored, zero, weights});
    loss = n.b.op("select", {ignored, zero, loss});
  }
  if (reduction == "none")
    return loss;
  Ints axes = firstInts(n.rank(loss));
  if (reduction == "mean" && !weights)
    return n.b.reduce("reduce_mean", loss, axes, false);
  Value sum = n.b.reduce("reduce_sum", loss, axes, false);
  if (reduction == "sum")
    return sum;
  return n.b.div(sum, n.b.reduce("reduce_sum", weights, axes, false));
}

static void importNegativeLogLikelihoodLoss(NodeContext &n) {
  n.set(0, negativeLogLikelihood(n, n.in(0)));
}

static void importSoftmaxCrossEntropyLoss(NodeContext &n) {
  Value logits = n.b.op("log_softmax", {n.in(0)}, {{"axis", 1}});
  n.set(0, negativeLogLikelihood(n, logits));
  n.set(1, logits);
}

//===-- Dropout -----------------------------------------------------------===//

/// All elements pass. The mask says so; its type was that of the data before
/// opset 10.
static void passAll(NodeContext &n) {
  Value x = n.in(0);
  n.set(0, x);
  if (!n.wants(1))
    return;
  mlir::Type element =
      n.opset < 10 ? GraphBuilder::elementOf(x) : n.b.boolean();
  if (std::optional<Ints> shape = GraphBuilder::shapeIfStatic(x))
    return n.set(1, n.b.splat(*shape, element, 1));
  n.set(1, n.b.op("expand", {n.b.scalar(element, 1), n.b.shapeOf(x)}));
}

/// Elements that are left grow by what was dropped.
static void dropSome(NodeContext &n, double ratio) {
  Value x = n.in(0);
  std::optional<Ints> shape = GraphBuilder::shapeIfStatic(x);
  if (!(ratio >= 0 && ratio < 1))
    return n.fail("expected a ratio in [0, 1), got " +
                  llvm::Twine(std::to_string(ratio)));
  if (!shape)
    return n.unsupported("dropout of a shape that is not known");
  Value numbers = n.randomUniform(*shape);
  Value isKept =
      n.b.op("greater_equal", {numbers, n.b.scalarLike(numbers, ratio)});
  Value factor = n.b.op("select", {isKept, n.b.scalarLike(x, 1 / (1 - ratio)),
                                   n.b.scalarLike(x, 0)});
  n.set(0, n.b.mul(x, factor));
  if (n.wants(1))
    n.set(1, n.opset < 10 ? n.b.castLike(isKept, x) : isKept);
}

static void importDropoutV1(NodeContext &n) {
  n.ignore({"consumed_inputs"});
  bool inference = n.opset >= 7 || n.getBool("is_test", false);
  float ratio = n.getFloat("ratio", 0.5f);
  if (n.isTraining() && ratio != 0.0f)
    return dropSome(n, ratio);
  if (!inference && ratio != 0.0f)
    return n.unsupported("random elements (is_test = 0)");
  passAll(n);
}

static void importDropout(NodeContext &n) {
  n.ignore({"seed"});
  bool drops = false;
  if (n.has(2)) {
    Ints training = n.constantInts(2, "'training_mode'");
    std::optional<llvm::SmallVector<double>> ratio =
        GraphBuilder::floatsOf(n.in(1));
    bool isZero =
        n.has(1) && ratio && ratio->size() == 1 && ratio->front() == 0.0;
    drops = training.size() == 1 && training.front() != 0 && !isZero;
  }
  if (n.isTraining()) {
    std::optional<llvm::SmallVector<double>> ratio =
        n.has(1) ? GraphBuilder::floatsOf(n.in(1))
                 : llvm::SmallVector<double>{0.5};
    if (!ratio || ratio->size() != 1)
      return n.unsupported("a ratio that is not known");
    return ratio->front() == 0 ? passAll(n) : dropSome(n, ratio->front());
  }
  if (drops)
    return n.unsupported("random elements (training_mode)");
  passAll(n);
}

static constexpr Operator rows[] = {
    {"Dropout", 1, 1, 1, 2, importDropoutV1},
    {"Dropout", 12, 1, 3, 2, importDropout},
    {"NegativeLogLikelihoodLoss", 12, 2, 3, 1, importNegativeLogLikelihoodLoss},
    {"SoftmaxCrossEntropyLoss", 12, 2, 3, 2, importSoftmaxCrossEntropyLoss},
};

llvm::ArrayRef<Operator> dlc::onnx::lossOperators() { return rows; }
