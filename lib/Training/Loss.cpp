// SPDX-License-Identifier: Apache-2.0

#include "Loss.h"

#include "Formulas.h"

#include "dlc/Training/Step.h"
#include "dlc/dialects/Graph/Views.h"

using namespace dlc::training;
using dlc::frontend::GraphBuilder;
using dlc::frontend::Ints;
using llvm::StringRef;
using mlir::Value;

namespace {
/// A loss under construction.
struct LossContext {
  GraphBuilder &b;
  Value output;
  Ints shape;
  llvm::function_ref<Value(mlir::Type)> addLabel;
  int64_t classes = 0;     ///< For labels that are classes.
  bool areLogits = false;  ///< The loss makes probabilities of the output.
  ClassPlaces places = {}; ///< For labels that are classes.

  /// The label, of the output's type.
  Value likeOutput() { return addLabel(output.getType()); }
  /// The sum of all elements by `count`.
  Value mean(Value x, int64_t count);
};

using Build = Value (*)(LossContext &);
} // namespace

Value LossContext::mean(Value x, int64_t count) {
  Value sum = sumOfAll(b, x);
  return b.mul(sum, b.scalarLike(sum, 1.0 / static_cast<double>(count)));
}

static int64_t productOf(llvm::ArrayRef<int64_t> dims) {
  int64_t product = 1;
  for (int64_t dim : dims)
    product *= dim;
  return product;
}

static int64_t countOf(llvm::ArrayRef<int64_t> shape) {
  return std::max(productOf(shape), int64_t(1));
}

/// The dimensions [begin, end) of `shape` that are `count` elements behind as
/// many as `outer`: one, if there is one.
static std::optional<std::pair<size_t, size_t>>
findDims(llvm::ArrayRef<int64_t> shape, int64_t outer, int64_t count) {
  std::optional<std::pair<size_t, size_t>> found;
  for (size_t begin = 0; begin < shape.size(); ++begin) {
    if (productOf(shape.take_front(begin)) != outer)
      continue;
    if (shape[begin] == count)
      return std::pair(begin, begin + 1);
    for (size_t end = begin + 2; !found && end <= shape.size(); ++end)
      if (productOf(shape.slice(begin, end - begin)) == count)
        found = {begin, end};
  }
  return found;
}

FoundSoftmax dlc::training::findSoftmax(Value value) {
  auto softmax =
      dlc::graph::skipViews(value).getDefiningOp<dlc::graph::SoftmaxOp>();
  auto type = mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
  if (!softmax || !type || !type.hasStaticShape())
    return {};
  auto own = mlir::dyn_cast<mlir::RankedTensorType>(softmax.getY().getType());
  if (!own || !own.hasStaticShape())
    return {};
  llvm::ArrayRef<int64_t> from = own.getShape();
  auto axis = static_cast<int64_t>(softmax.getAxis());
  axis += axis < 0 ? own.getRank() : 0;
  auto dims =
      findDims(type.getShape(), productOf(from.take_front(axis)), from[axis]);
  if (!dims)
    return {};
  return {softmax,
          axis,
          {from[axis], productOf(from.drop_front(axis + 1))},
          dims->first,
          dims->second};
}

/// Labels are classes. A softmax at the network's end is part of the loss: what
/// is left of small probabilities has no logarithm.
static Value softmaxCrossEntropy(LossContext &c) {
  Value logits = c.output;
  if (c.shape.size() < 2)
    return c.b.fail(
        "expected an output of at least 2 dimensions for a softmax, "
        "got " +
        llvm::Twine(c.shape.size()));
  int64_t axis = 1;
  Ints labels = c.shape, places = c.shape; // In the shape of the logits.
  FoundSoftmax softmax = findSoftmax(c.output);
  c.areLogits = !softmax.op;
  if (softmax.op && softmax.begin == 0)
    return c.b.fail("expected a softmax over the classes of each example, "
                    "got one over the first dimension, which is that of the "
                    "examples");
  if (softmax.op) {
    logits = softmax.op.getX();
    axis = softmax.axis;
    places = *GraphBuilder::shapeIfStatic(logits);
    labels.erase(labels.begin() + softmax.begin, labels.begin() + softmax.end);
    c.places = softmax.places;
  } else {
    labels.erase(labels.begin() + axis);
    c.places = {c.shape[axis],
                productOf(llvm::ArrayRef(c.shape).drop_front(2))};
  }
  auto rank = static_cast<int64_t>(places.size());
  int64_t classes = c.classes = c.places.count;
  places.erase(places.begin() + axis);
  Value label = c.addLabel(mlir::RankedTensorType::get(labels, c.b.i64()));
  if (labels != places)
    label = c.b.reshape(label, places);
  Value logarithms = c.b.op("log_softmax", {logits}, {{"axis", axis}});
  Value numbers = c.b.op(
      "range", {c.b.intScalar(0), c.b.intScalar(classes), c.b.intScalar(1)});
  Ints column(rank, 1);
  column[axis] = classes;
  Value isLabel = c.b.op(
      "equal", {c.b.reshape(numbers, column), c.b.unsqueeze(label, {axis})});
  Value picked =
      c.b.op("select", {isLabel, logarithms, c.b.scalarLike(logarithms, 0)});
  return c.mean(c.b.op("neg", {picked}), countOf(labels));
}

/// Labels are 0 to 1 for each element. A sigmoid at the end is part of the
/// loss, max(x, 0) - x label + ln(1 + e^-|x|).
static Value binaryCrossEntropy(LossContext &c) {
  Value x = c.output, label = c.likeOutput();
  auto sigmoid =
      dlc::graph::skipViews(x).getDefiningOp<dlc::graph::SigmoidOp>();
  c.areLogits = !sigmoid;
  if (sigmoid)
    x = sigmoid.getX();
  if (x.getType() != label.getType())
    label = c.b.reshape(label, *GraphBuilder::shapeIfStatic(x));
  Value power = c.b.op("exp", {c.b.op("neg", {c.b.op("abs", {x})})});
  Value rest = c.b.op("log", {c.b.add(power, c.b.scalarLike(x, 1))});
  Value loss = c.b.add(c.b.sub(c.b.op("relu", {x}), c.b.mul(x, label)), rest);
  return c.mean(loss, countOf(c.shape));
}

static Value meanSquaredError(LossContext &c) {
  Value difference = c.b.sub(c.output, c.likeOutput());
  return c.mean(c.b.mul(difference, difference), countOf(c.shape));
}

static Value meanAbsoluteError(LossContext &c) {
  Value difference = c.b.sub(c.output, c.likeOutput());
  return c.mean(c.b.op("abs", {difference}), countOf(c.shape));
}

/// The network's output is the loss already.
static Value ofOutput(LossContext &c) {
  return c.mean(c.output, countOf(c.shape));
}

static constexpr struct Loss {
  StringRef name;
  Build build;
  bool hasLabels;
  bool hasFractions = false; ///< Labels are from 0 to 1.
} losses[] = {
    {"softmax-cross-entropy", softmaxCrossEntropy, true},
    {"binary-cross-entropy", binaryCrossEntropy, true, true},
    {"mean-squared-error", meanSquaredError, true},
    {"mean-absolute-error", meanAbsoluteError, true},
    {"output", ofOutput, false},
};

static const Loss *find(StringRef name) {
  for (const Loss &loss : losses)
    if (loss.name == name)
      return &loss;
  return nullptr;
}

std::string dlc::training::lossNames() {
  std::string names;
  for (const Loss &loss : losses)
    names += (names.empty() ? "" : ", ") + loss.name.str();
  return names;
}

bool dlc::training::lossHasFractions(StringRef name) {
  const Loss *loss = find(name);
  return loss && loss->hasFractions;
}

std::optional<bool> dlc::training::lossHasLabels(StringRef name) {
  const Loss *loss = find(name);
  return loss ? std::optional(loss->hasLabels) : std::nullopt;
}

BuiltLoss
dlc::training::buildLoss(GraphBuilder &b, StringRef name, Value output,
                         llvm::function_ref<Value(mlir::Type)> addLabel) {
  auto fail = [&](const llvm::Twine &message) {
    return BuiltLoss{b.fail(message)};
  };
  auto type = mlir::dyn_cast<mlir::RankedTensorType>(output.getType());
  if (!type || !type.hasStaticShape() ||
      !mlir::isa<mlir::FloatType>(type.getElementType())) {
    std::string text;
    llvm::raw_string_ostream(text) << output.getType();
    return fail("expected floats of a static shape as the output that the "
                "loss is of, got " +
                text);
  }
  const Loss *loss = find(name);
  if (!loss)
    return fail("expected loss " + lossNames() + ", got '" + name + "'");
  LossContext context{b, output, Ints(type.getShape()), addLabel};
  Value value = loss->build(context);
  return {value ? b.cast(value, b.f32()) : value, context.classes,
          context.areLogits, context.places};
}
