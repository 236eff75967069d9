// SPDX-License-Identifier: Apache-2.0
//
// Normalisation by statistics and softmax.

#include "Rules.h"

#include <limits>
#include <tuple>

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

static float floatOf(LoweringContext &n, const char *name) {
  return static_cast<float>(n.p.getFloat(name));
}

//===-- Batch normalisation -----------------------------------------------===//

static int64_t channelAxis(const Parameters &p, int64_t rank) {
  int64_t axis = p.getInt("axis");
  return axis < 0 ? axis + rank : axis;
}

static void relateBatchNorm(ShapeRelation &r) {
  r.equate(0, 0);
  const Shape &data = r.input(0);
  int64_t channels = rt::kUnknownDim;
  if (data) {
    auto rank = static_cast<int64_t>(data->size());
    int64_t axis = channelAxis(r.parameters, rank);
    if (axis < 0 || axis >= rank)
      return r.fail("expected an axis from " + std::to_string(-rank) + " to " +
                    std::to_string(rank - 1) + ", got " +
                    std::to_string(r.parameters.getInt("axis")));
    channels = (*data)[axis];
  }
  for (size_t i = 1; i < r.inputCount(); ++i)
    r.setInput(i, std::vector{channels});
  for (size_t i = 1; i < r.inputCount(); ++i)
    r.equateInputs(1, i);
  for (size_t i = 1; i < r.outputCount(); ++i)
    r.setOutput(i, Shape(r.input(1)));
  if (data && channels == rt::kUnknownDim) {
    std::vector<int64_t> known(data->size(), rt::kUnknownDim);
    known[channelAxis(r.parameters, static_cast<int64_t>(known.size()))] =
        r.inputDim(1, 0);
    r.setInput(0, known);
  }
}

/// Statistics of short floats are kept in float32.
static void relateBatchNormTypes(TypeRelation &r) {
  r.equate(0, 0);
  rt::DataType data = r.input(0);
  bool isShort = data == DLC_F16 || data == DLC_BF16;
  rt::DataType kept = isShort ? DLC_F32 : data;
  for (size_t i = 1; i < r.inputCount(); ++i)
    r.setInput(i, kept);
  for (size_t i = 1; i < r.inputCount(); ++i)
    r.equateInputs(1, i);
  for (size_t i = 1; i < r.outputCount(); ++i)
    r.setOutput(i, r.input(1));
}

/// Mean and variance of each channel (dimension 1) over the batch. Half floats
/// are summed up in f32.
static std::pair<Value, Value> batchStatistics(LoweringContext &n, Value x) {
  Value wide = n.b.cast(x, n.b.wideFloat(x));
  Ints axes = range(0, n.rank(x));
  axes.erase(axes.begin() + 1);
  Value mean = n.b.reduce("reduce_mean", wide, axes, /*keepDims=*/true);
  Value centered = n.b.sub(wide, mean);
  Value variance = n.b.reduce("reduce_mean", n.b.mul(centered, centered), axes,
                              /*keepDims=*/false);
  return {n.b.squeeze(mean, axes), variance};
}

/// The moving statistic that is operand `index` follows that of the batch,
/// which has no gradient by this.
static void follow(LoweringContext &n, size_t index, Value statistic) {
  Value old = n.in(index), now = n.b.op("stop_gradient", {statistic});
  double momentum = n.p.getFloat("momentum");
  Value kept = n.b.mul(old, n.scalarLike(old, momentum));
  Value added = n.b.mul(now, n.scalarLike(now, 1 - momentum));
  n.update(index, n.b.add(kept, n.b.castLike(added, old)));
}

/// Where a symbol shows them, results 1 and 2 are the mean of `x` along `axes`
/// and the root that it is divided by.
static void showStatistics(LoweringContext &n, Value x, Ints axes,
                           bool keepsDims) {
  if (!n.shows(1))
    return;
  Value wide = n.b.cast(x, n.b.wideFloat(x));
  Value mean = n.b.reduce("reduce_mean", wide, axes, /*keepDims=*/true);
  Value centered = n.b.sub(wide, mean);
  Value variance = n.b.reduce("reduce_mean", n.b.mul(centered, centered), axes,
                              /*keepDims=*/true);
  Value root = n.b.op(
      "sqrt", {n.b.add(variance, n.scalarLike(wide, n.p.getFloat("eps")))});
  for (auto [index, statistic] : {std::pair(1, mean), std::pair(2, root)}) {
    Value shown = keepsDims ? statistic : n.b.squeeze(statistic, axes);
    n.set(index, n.b.castLike(shown, x));
  }
}

/// `showsRoot`: the variance that MXNet shows is what the data are multiplied
/// with.
template <bool showsRoot> static void lowerBatchNorm(LoweringContext &n) {
  int64_t rank = n.rank(n.in(0));
  int64_t axis = n.axisOf("axis", rank);
  if (n.b.failed())
    return;
  if (rank < 2)
    return n.fail("expected data of at least 2 dimensions, got " + Twine(rank));
  Value x = moveAxis(n, n.in(0), axis, 1), gamma = n.in(1);
  if (n.p.getBool("fix_gamma"))
    gamma = n.b.op("expand", {n.scalarLike(gamma, 1), n.b.shapeOf(gamma)});
  Value mean = n.in(3), variance = n.in(4);
  if (n.isTraining() && !n.p.getBool("use_global_stats")) {
    std::tie(mean, variance) = batchStatistics(n, x);
    follow(n, 3, mean);
    follow(n, 4, variance);
  }
  Value y = n.b.op("batch_norm", {x, gamma, n.in(2), mean, variance},
                   {{"epsilon", floatOf(n, "eps")}});
  n.set(0, moveAxis(n, y, 1, axis));
  if (!n.shows(1))
    return;
  n.set(1, mean);
  if (!showsRoot)
    return n.set(2, variance);
  Value shifted =
      n.b.add(variance, n.scalarLike(variance, n.p.getFloat("eps")));
  n.set(2, n.b.div(n.scalarLike(shifted, 1), n.b.op("sqrt", {shifted})));
}

static void lowerBatchNormWithRelu(LoweringContext &n) {
  lowerBatchNorm</*showsRoot=*/true>(n);
  if (!n.b.failed())
    n.set(0, n.b.op("relu", {n.outputs().front()}));
}

//===-- Other statistics --------------------------------------------------===//

/// gamma and beta have one element for each channel.
static void relateAffine(ShapeRelation &r, int64_t length) {
  r.equate(0, 0);
  for (size_t i : {1, 2})
    r.setInput(i, std::vector{length});
  r.equateInputs(1, 2);
}

static void relateLayerNorm(ShapeRelation &r) {
  relateAffine(r, r.inputDim(0, r.parameters.getInt("axis")));
}

static void lowerLayerNorm(LoweringContext &n) {
  int64_t rank = n.rank(n.in(0));
  int64_t axis = n.axisOf("axis", rank);
  if (n.b.failed())
    return;
  Value y = n.b.op("layer_norm",
                   {moveAxis(n, n.in(0), axis, rank - 1), n.in(1), n.in(2)},
                   {{"axis", -1}, {"epsilon", floatOf(n, "eps")}});
  n.set(0, moveAxis(n, y, rank - 1, axis));
  showStatistics(n, n.in(0), {axis}, /*keepsDims=*/true);
}

static void relateGroupNorm(ShapeRelation &r) {
  relateAffine(r, r.parameters.getInt("num_groups"));
}

/// MXNet scales and shifts each group; Graph each channel.
static void lowerGroupNorm(LoweringContext &n) {
  Value x = n.in(0);
  int64_t groups = n.p.getInt("num_groups");
  if (n.rank(x) < 3)
    return n.fail("expected data of at least 3 dimensions, got " +
                  Twine(n.rank(x)));
  int64_t channels = GraphBuilder::dimOf(x, 1);
  if (mlir::ShapedType::isDynamic(channels))
    return n.unknown("a number of channels");
  if (channels % groups)
    return n.fail("expected parameter 'num_groups' to divide " +
                  Twine(channels) + " channels, got " + Twine(groups));
  auto perChannel = [&](Value value) {
    Value column = n.b.unsqueeze(value, {1});
    Value all =
        n.b.op("expand", {column, n.b.ints({groups, channels / groups})});
    return n.b.reshape(all, {channels});
  };
  n.set(0, n.b.op("group_norm", {x, perChannel(n.in(1)), perChannel(n.in(2))},
                  {{"num_groups", groups}, {"epsilon", floatOf(n, "eps")}}));
  showStatistics(n, n.b.reshape(x, {0, groups, -1}), {2}, /*keepsDims=*/false);
}

static void relateInstanceNorm(ShapeRelation &r) {
  relateAffine(r, r.inputDim(0, 1));
}

static void lowerInstanceNorm(LoweringContext &n) {
  int64_t channels = GraphBuilder::dimOf(n.in(0), 1);
  if (n.rank(n.in(0)) < 3)
    return n.fail("expected data of at least 3 dimensions, got " +
                  Twine(n.rank(n.in(0))));
  if (mlir::ShapedType::isDynamic(channels))
    return n.unknown("a number of channels");
  n.set(0, n.b.op("group_norm", n.inputs(),
                  {{"num_groups", channels}, {"epsilon", floatOf(n, "eps")}}));
}

static void lowerL2Normalization(LoweringContext &n) {
  Value x = n.in(0);
  int64_t rank = n.rank(x);
  const std::string &mode = n.p.getText("mode");
  if (rank < (mode == "spatial" ? 3 : 2))
    return n.fail("expected more dimensions of data, got " + Twine(rank));
  Ints axes = mode == "channel"   ? Ints{1}
              : mode == "spatial" ? range(2, rank)
                                  : range(1, rank);
  Value sum = n.b.reduce("reduce_sum", n.b.mul(x, x), axes, true);
  Value norm =
      n.b.op("sqrt", {n.b.add(sum, n.scalarLike(x, n.p.getFloat("eps")))});
  n.set(0, n.b.div(x, norm));
}

static void lowerLRN(LoweringContext &n) {
  int64_t size = n.p.getInt("nsize");
  if (size % 2 == 0)
    return n.fail("expected an odd parameter 'nsize', got " + Twine(size));
  n.set(0, n.b.op("lrn", {n.in(0)},
                  {{"size", size},
                   {"alpha", floatOf(n, "alpha")},
                   {"beta", floatOf(n, "beta")},
                   {"bias", floatOf(n, "knorm")}}));
}

/// Along `axes` all elements share one number. What is left grows by what was
/// dropped.
static void lowerDropout(LoweringContext &n) {
  bool isAlways = n.p.getText("mode") == "always";
  double kept = 1 - n.p.getFloat("p");
  if (!(kept > 0 && kept <= 1))
    return n.fail("expected parameter 'p' in [0, 1), got " +
                  toText(n.p.get("p")));
  Value x = n.in(0);
  n.set(0, x);
  if ((!n.isTraining() && !isAlways) || kept == 1)
    return;
  Ints shape = n.shape(x, "dropout");
  Ints shared = n.axes(n.ints("axes"), n.rank(x));
  if (n.b.failed())
    return;
  for (int64_t axis : shared)
    shape[axis] = 1;
  Value numbers = n.randomUniform(shape);
  Value isKept = n.b.op("less", {numbers, n.scalarLike(numbers, kept)});
  Value factor =
      n.b.op("select", {isKept, n.scalarLike(x, 1 / kept), n.scalarLike(x, 0)});
  n.set(0, n.b.mul(x, factor));
}

//===-- Softmax -----------------------------------------------------------===//

/// The lengths have the shape of the data without the axis.
static void relateSoftmax(ShapeRelation &r) {
  r.equate(0, 0);
  const Shape &data = r.input(0);
  if (!data || r.inputCount() < 2)
    return;
  std::vector<int64_t> lengths = *data;
  auto rank = static_cast<int64_t>(lengths.size());
  int64_t axis = channelAxis(r.parameters, rank);
  if (axis < 0 || axis >= rank)
    return;
  lengths.erase(lengths.begin() + axis);
  r.setInput(1, lengths);
}

static void relateSoftmaxTypes(TypeRelation &r) {
  if (r.parameters.isNone("dtype"))
    r.equate(0, 0);
  else
    r.setOutput(0, r.parameters.getType("dtype"));
}

/// Elements from the length on are as if they were not there: 0 in the result.
template <Mnemonic name, bool isNegated>
static void lowerSoftmax(LoweringContext &n) {
  Value x = n.in(0);
  int64_t axis = n.axisOf("axis", n.rank(x));
  if (n.b.failed())
    return;
  if (isNegated)
    x = n.b.op("neg", {x});
  if (!n.p.isNone("temperature"))
    x = n.b.div(x, n.scalarLike(x, n.p.getFloat("temperature")));
  bool hasLength = n.inputCount() > 1;
  if (!hasLength)
    n.expectDefault("use_length");
  Value lengths = hasLength ? n.b.unsqueeze(n.in(1), {axis}) : Value();
  if (hasLength)
    x = maskByLength(n, x, axis, lengths,
                     -std::numeric_limits<double>::infinity());
  Value y = n.b.op(name.str(), {x}, {{"axis", axis}});
  if (hasLength)
    y = maskByLength(n, y, axis, lengths, 0);
  if (!n.p.isNone("dtype"))
    y = n.b.cast(y, typeParameter(n, "dtype"));
  n.set(0, y);
}

/// Everything behind the first dimension counts as one, except for channels.
static void lowerSoftmaxActivation(LoweringContext &n) {
  Value x = n.in(0);
  int64_t rank = n.rank(x);
  if (rank < 2)
    return n.fail("expected data of at least 2 dimensions, got " + Twine(rank));
  n.set(0, n.p.getText("mode") == "channel"
               ? n.b.op("softmax", {x}, {{"axis", 1}})
               : softmaxOfSamples(n, x));
}

//===-- Declarations ------------------------------------------------------===//

static Parameter epsilon(std::string_view fallback) {
  return optional("eps", ParameterKind::Float, fallback,
                  "Added to the variance.")
      .atLeast(0);
}

static Parameter meanAndVariance() {
  return optional("output_mean_var", ParameterKind::Bool, "False",
                  "Show mean and variance, or the roots, too.");
}

static std::vector<Input> affine() { return {{"data"}, {"gamma"}, {"beta"}}; }

static std::vector<Output> statistics(std::string_view second,
                                      std::string_view third) {
  return {{"output"},
          {second, {}, when("output_mean_var")},
          {third, {}, when("output_mean_var")}};
}

static std::vector<Operator> batchNormRows() {
  Operator op = {
      .name = "BatchNorm",
      .aliases = {"_npx_batch_norm", "CuDNNBatchNorm"},
      .summary = "Normalisation of each channel over the batch",
      .details = "(data - moving_mean) / sqrt(moving_var + eps) gamma + beta "
                 "when not training.",
      .parameters = {epsilon("1e-3"),
                     optional(
                         "momentum", ParameterKind::Float, "0.9",
                         "Weight of the old moving statistics when training.")
                         .within(0, 1),
                     optional("fix_gamma", ParameterKind::Bool, "True",
                              "Take gamma as 1, whatever it holds."),
                     optional("use_global_stats", ParameterKind::Bool, "False",
                              "Use the moving statistics in training too."),
                     meanAndVariance(),
                     optional("axis", ParameterKind::Int, "1",
                              "Axis of the channels."),
                     ignored("cudnn_off", ParameterKind::Bool, "False"),
                     ignored("min_calib_range", ParameterKind::Float, "None"),
                     ignored("max_calib_range", ParameterKind::Float, "None")},
      .inputs = {{"data"},
                 {"gamma"},
                 {"beta"},
                 {"moving_mean", {}, InputRole::Auxiliary, "[\"zero\", {}]"},
                 {"moving_var", {}, InputRole::Auxiliary, "[\"one\", {}]"}},
      .outputs = statistics("mean", "var"),
      .relateShapes = relateBatchNorm,
      .relateTypes = relateBatchNormTypes,
      .lower = lowerBatchNorm</*showsRoot=*/true>};
  Operator old = op;
  old.name = "BatchNorm_v1";
  old.aliases = {};
  old.lower = lowerBatchNorm</*showsRoot=*/false>;
  Operator sync = old;
  sync.name = "_contrib_SyncBatchNorm";
  sync.summary = "Batch normalisation over several devices";
  sync.details = "When not training it is BatchNorm.";
  sync.parameters.push_back(ignored("ndev", ParameterKind::Int, "1"));
  sync.parameters.push_back(ignored("key", ParameterKind::Text, ""));
  Operator relu = op;
  relu.name = "_contrib_BatchNormWithReLU";
  relu.aliases = {};
  relu.summary = "Batch normalisation, of which negative numbers become 0";
  relu.outputs.push_back({"workspace", {}, never()});
  relu.lower = lowerBatchNormWithRelu;
  return {op, old, sync, relu};
}

static std::vector<Parameter> softmaxParameters() {
  return {optional("axis", ParameterKind::Int, "-1",
                   "Axis along which elements sum up to 1."),
          optional("temperature", ParameterKind::Float, "None",
                   "What the data are divided by."),
          optional("dtype", ParameterKind::Type, "None",
                   "Type of the result; None: that of the data."),
          optional("use_length", ParameterKind::Bool, "False",
                   "Take only the first elements along the axis, as many as "
                   "the input `length` says.")};
}

static std::vector<Operator> softmaxRows() {
  Operator op = {.name = "softmax",
                 .aliases = {"_npx_softmax"},
                 .summary = "e^x by its sum along an axis",
                 .parameters = softmaxParameters(),
                 .inputs = {{"data"}, {"length", when("use_length")}},
                 .relateShapes = relateSoftmax,
                 .relateTypes = relateSoftmaxTypes,
                 .lower = lowerSoftmax<"softmax", false>};
  Operator negated = op;
  negated.name = "softmin";
  negated.aliases = {};
  negated.summary = "e^-x by its sum along an axis";
  negated.lower = lowerSoftmax<"softmax", true>;
  Operator logarithm = op;
  logarithm.name = "log_softmax";
  logarithm.aliases = {"_npx_log_softmax"};
  logarithm.summary = "Logarithm of softmax";
  logarithm.lower = lowerSoftmax<"log_softmax", false>;
  // MXNet declares it of all three, and fails where these have it.
  for (Operator *other : {&negated, &logarithm}) {
    other->parameters.back() =
        optional("use_length", ParameterKind::Bool, "False", "Not supported.");
    other->inputs = {{"data"}};
  }
  return {op, negated, logarithm};
}

static std::vector<Operator> makeRows() {
  std::vector<Operator> rows = {
      {.name = "Dropout",
       .aliases = {"_npx_dropout"},
       .summary = "Random zeros when training",
       .details = "When not training it is the operand, unless `mode` is "
                  "always.",
       .parameters = {optional("p", ParameterKind::Float, "0.5",
                               "Part of the elements that become 0."),
                      choice("mode", {"always", "training"}, "training",
                             "When it acts: in training, or always."),
                      optional("axes", ParameterKind::Ints, "()",
                               "Axes along which all elements share one fate."),
                      ignored("cudnn_off", ParameterKind::Bool, "False")},
       .outputs = {{"output"}, {"mask", {}, never()}},
       .relateShapes = keepsShape,
       .lower = lowerDropout},
      {.name = "GroupNorm",
       .summary = "Normalisation of groups of channels",
       .details = "gamma and beta have one element for each group.",
       .parameters = {optional("num_groups", ParameterKind::Int, "1",
                               "Groups that the channels are split into.")
                          .atLeast(1),
                      epsilon("1e-5"), meanAndVariance()},
       .inputs = affine(),
       .outputs = statistics("mean", "std"),
       .relateShapes = relateGroupNorm,
       .lower = lowerGroupNorm},
      {.name = "InstanceNorm",
       .summary = "Normalisation of each channel of each sample",
       .parameters = {epsilon("1e-3")},
       .inputs = affine(),
       .outputs = {{"output"}, {"mean", {}, never()}, {"var", {}, never()}},
       .relateShapes = relateInstanceNorm,
       .lower = lowerInstanceNorm},
      {.name = "L2Normalization",
       .summary = "Division by the Euclidean norm",
       .parameters = {optional("eps", ParameterKind::Float, "1e-10",
                               "Added to the square of the norm.")
                          .atLeast(0),
                      choice("mode", {"channel", "instance", "spatial"},
                             "instance",
                             "Norm over the channels, over all of a sample, "
                             "or over each channel of a sample.")},
       .outputs = {{"output"}, {"norm", {}, never()}},
       .relateShapes = keepsShape,
       .lower = lowerL2Normalization},
      {.name = "LRN",
       .summary = "Local response normalisation across channels",
       .details = "x / (knorm + alpha / nsize s)^beta, where s is the sum of "
                  "squares over the nsize channels around x.",
       .parameters = {required("nsize", ParameterKind::Int,
                               "Channels in the sum, an odd number.")
                          .atLeast(1),
                      optional("alpha", ParameterKind::Float, "1e-4",
                               "Factor of the sum."),
                      optional("beta", ParameterKind::Float, "0.75",
                               "Exponent."),
                      optional("knorm", ParameterKind::Float, "2",
                               "Added to the sum.")},
       .outputs = {{"output"}, {"tmp_norm", {}, never()}},
       .relateShapes = keepsShape,
       .lower = lowerLRN},
      {.name = "LayerNorm",
       .aliases = {"_npx_layer_norm"},
       .summary = "Normalisation along one axis",
       .parameters = {optional("axis", ParameterKind::Int, "-1",
                               "Axis that is normalised."),
                      epsilon("1e-5"), meanAndVariance()},
       .inputs = affine(),
       .outputs = statistics("mean", "std"),
       .relateShapes = relateLayerNorm,
       .lower = lowerLayerNorm},
      {.name = "SoftmaxActivation",
       .summary = "Softmax over a sample or over its channels",
       .parameters = {choice("mode", {"channel", "instance"}, "instance",
                             "channel: along axis 1; instance: over "
                             "everything but the first dimension.")},
       .relateShapes = keepsShape,
       .lower = lowerSoftmaxActivation},
  };
  for (std::vector<Operator> more : {batchNormRows(), softmaxRows()})
    rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

std::span<const Operator> dlc::symbol::normalizationOperators() {
  static const std::vector<Operator> rows = makeRows();
  return rows;
}
