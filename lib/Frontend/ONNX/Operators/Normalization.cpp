// SPDX-License-Identifier: Apache-2.0
//
// Softmax and its relatives, and normalisations by statistics.

#include "Simple.h"

using namespace dlc::onnx;
using mlir::ShapedType;
using mlir::Type;
using mlir::Value;

//===-- Softmax -----------------------------------------------------------===//

template <Mnemonic name> static void importSoftmax(NodeContext &n) {
  n.set(0, n.b.op(name.str(), {n.in(0)}, {{"axis", n.getInt("axis", -1)}}));
}

/// Before opset 13 the dimensions from `axis` on counted as one.
template <Mnemonic name> static void importSoftmaxV1(NodeContext &n) {
  Value x = n.in(0);
  int64_t rank = n.rank(x);
  int64_t axis = n.getInt("axis", 1);
  if (axis != rank)
    axis = n.axis(axis, rank);
  if (axis == rank - 1)
    return n.set(0, n.b.op(name.str(), {x}, {{"axis", -1}}));
  Value matrix = n.b.op("flatten", {x}, {{"axis", axis}});
  Value result = n.b.op(name.str(), {matrix}, {{"axis", -1}});
  // A dimension of 0 would mean "copy" where the shape is not known.
  n.set(0, n.b.op("reshape", {result, n.b.shapeOf(x)}, {{"allowzero", true}}));
}

//===-- Batch normalisation -----------------------------------------------===//

/// Statistics of the batch, and running ones mixed from old and new.
static void trainBatchNorm(NodeContext &n, float epsilon, float momentum) {
  Value x = n.in(0);
  Ints axes = firstInts(n.rank(x), 2);
  axes.insert(axes.begin(), 0);
  Value wide = n.b.castLike(x, n.in(3));
  Value kept = n.b.reduce("reduce_mean", wide, axes, true);
  Value centered = n.b.sub(wide, kept);
  Value variance =
      n.b.reduce("reduce_mean", n.b.mul(centered, centered), axes, false);
  Value mean = n.b.reduce("reduce_mean", wide, axes, false);
  Value y = n.b.op("batch_norm",
                   {wide, n.b.castLike(n.in(1), wide),
                    n.b.castLike(n.in(2), wide), mean, variance},
                   {{"epsilon", epsilon}});
  auto mix = [&](Value old, Value now) {
    return n.b.add(n.b.mul(old, n.b.scalarLike(old, momentum)),
                   n.b.mul(now, n.b.scalarLike(now, 1.0 - momentum)));
  };
  Value newMean = mix(n.in(3), mean), newVariance = mix(n.in(4), variance);
  if (n.isTraining()) {
    n.update(3, newMean);
    n.update(4, newVariance);
  }
  n.setAll({n.b.castLike(y, x), newMean, newVariance, mean, variance});
}

static void importBatchNormalization(NodeContext &n) {
  float epsilon = n.getSize("epsilon", 1e-5f);
  float momentum = n.getSize("momentum", 0.9f, 1);
  bool training = false;
  if (n.opset >= 14) {
    training = n.getBool("training_mode", false);
  } else {
    // The number of outputs chose the mode.
    n.ignore({"consumed_inputs", "is_test"});
    for (size_t i = 1; i < n.node.outputs.size(); ++i)
      training |= n.wants(i);
    if (n.opset < 9 && !n.getBool("spatial", true))
      return n.unsupported("statistics per activation (spatial = 0)");
  }
  if (training || n.isTraining())
    return trainBatchNorm(n, epsilon, momentum);
  // Statistics may be wider than the data (opset 15).
  Value x = n.in(0);
  Value wide = n.b.castLike(x, n.in(3));
  Value y =
      n.b.op("batch_norm",
             {wide, n.b.castLike(n.in(1), wide), n.b.castLike(n.in(2), wide),
              n.in(3), n.b.castLike(n.in(4), wide)},
             {{"epsilon", epsilon}});
  n.set(0, n.b.castLike(y, x));
}

//===-- Layer, group and instance normalisation ---------------------------===//

static void checkStashType(NodeContext &n) {
  int64_t type = n.getInt("stash_type", 1);
  if (type != 1)
    n.unsupported("stash_type " + llvm::Twine(type) + ", expected 1 (f32)");
}

static void importLayerNormalization(NodeContext &n) {
  checkStashType(n);
  Value x = n.in(0);
  int64_t axis = n.getInt("axis", -1);
  float epsilon = n.getSize("epsilon", 1e-5f);
  llvm::SmallVector<Value> operands = {x, n.in(1)};
  if (n.has(2))
    operands.push_back(n.in(2));
  n.set(0,
        n.b.op("layer_norm", operands, {{"axis", axis}, {"epsilon", epsilon}}));
  if (!n.wants(1) && !n.wants(2))
    return;
  int64_t rank = n.rank(x);
  Ints axes = firstInts(rank, n.axis(axis, rank));
  Value wide = n.b.cast(x, n.b.f32());
  Value mean = n.b.reduce("reduce_mean", wide, axes, true);
  Value centered = n.b.sub(wide, mean);
  Value variance =
      n.b.reduce("reduce_mean", n.b.mul(centered, centered), axes, true);
  n.set(1, mean);
  n.set(2, n.b.op("rsqrt",
                  {n.b.add(variance, n.b.scalarLike(variance, epsilon))}));
}

static void importRMSNormalization(NodeContext &n) {
  checkStashType(n);
  Value x = n.in(0), scale = n.in(1);
  Value y = n.b.op("rms_norm", {x, n.b.castLike(scale, x)},
                   {{"axis", n.getInt("axis", -1)},
                    {"epsilon", n.getSize("epsilon", 1e-5f)}});
  n.set(0, n.b.castLike(y, scale));
}

static Value groupNorm(NodeContext &n, Value scale, Value bias,
                       int64_t groups) {
  return n.b.op(
      "group_norm", {n.in(0), scale, bias},
      {{"num_groups", groups}, {"epsilon", n.getSize("epsilon", 1e-5f)}});
}

/// Version 18 had one scale and bias per group.
static void importGroupNormalizationV18(NodeContext &n) {
  int64_t groups = n.getInt("num_groups", 0);
  int64_t channels = GraphBuilder::dimOf(n.in(0), 1);
  if (ShapedType::isDynamic(channels))
    return n.unsupported("number of channels that is not known");
  if (groups <= 0 || channels % groups != 0)
    return n.fail("expected attribute 'num_groups' to divide " +
                  llvm::Twine(channels) + " channels, got " +
                  llvm::Twine(groups));
  auto perChannel = [&](Value value) {
    Value column = n.b.unsqueeze(value, {1});
    Value repeats = n.b.ints({1, channels / groups});
    return n.b.reshape(n.b.op("tile", {column, repeats}), {channels});
  };
  n.set(0, groupNorm(n, perChannel(n.in(1)), perChannel(n.in(2)), groups));
}

static void importGroupNormalization(NodeContext &n) {
  checkStashType(n);
  n.set(0, groupNorm(n, n.in(1), n.in(2), n.getInt("num_groups", 0)));
}

static void importInstanceNormalization(NodeContext &n) {
  if (n.opset < 6)
    n.ignore({"consumed_inputs"});
  int64_t channels = GraphBuilder::dimOf(n.in(0), 1);
  if (ShapedType::isDynamic(channels))
    channels = GraphBuilder::dimOf(n.in(1), 0);
  if (ShapedType::isDynamic(channels))
    return n.unsupported("number of channels that is not known");
  n.set(0, groupNorm(n, n.in(1), n.in(2), channels));
}

//===-- Others ------------------------------------------------------------===//

static void importLRN(NodeContext &n) {
  n.set(0, n.b.op("lrn", {n.in(0)},
                  {{"size", n.getInt("size", 0)},
                   {"alpha", n.getFloat("alpha", 1e-4f)},
                   {"beta", n.getFloat("beta", 0.75f)},
                   {"bias", n.getFloat("bias", 1.0f)}}));
}

/// x / |x|, and 0 where the norm is 0.
static void importLpNormalization(NodeContext &n) {
  Value x = n.b.widen(n.in(0));
  Ints axes = {n.getInt("axis", -1)};
  int64_t p = n.getInt("p", 2);
  if (p != 1 && p != 2)
    return n.fail("expected attribute 'p' to be 1 or 2, got " + llvm::Twine(p));
  Value norm;
  if (p == 1)
    norm = n.b.reduce("reduce_sum", n.b.op("abs", {x}), axes, true);
  else
    norm =
        n.b.op("sqrt", {n.b.reduce("reduce_sum", n.b.mul(x, x), axes, true)});
  Value zero = n.b.scalarLike(x, 0);
  Value y = n.b.op("select",
                   {n.b.op("equal", {norm, zero}), zero, n.b.div(x, norm)});
  n.set(0, n.b.castLike(y, n.in(0)));
}

static void importMeanVarianceNormalization(NodeContext &n) {
  Value x = n.b.widen(n.in(0));
  Ints axes = n.hasAttr("axes") ? n.getInts("axes") : Ints{0, 2, 3};
  Value centered = n.b.sub(x, n.b.reduce("reduce_mean", x, axes, true));
  Value variance =
      n.b.reduce("reduce_mean", n.b.mul(centered, centered), axes, true);
  Value deviation = n.b.op("sqrt", {variance});
  // The constant is that of the operator's defining function.
  Value y =
      n.b.div(centered, n.b.add(deviation, n.b.scalarLike(deviation, 1e-9)));
  n.set(0, n.b.castLike(y, n.in(0)));
}

static constexpr Operator rows[] = {
    {"BatchNormalization", 1, 5, 5, 5, importBatchNormalization},
    {"BatchNormalization", 14, 5, 5, 3, importBatchNormalization},
    {"GroupNormalization", 18, 3, 3, 1, importGroupNormalizationV18},
    {"GroupNormalization", 21, 3, 3, 1, importGroupNormalization},
    {"Hardmax", 1, 1, 1, 1, importSoftmaxV1<"hardmax">},
    {"Hardmax", 13, 1, 1, 1, importSoftmax<"hardmax">},
    {"InstanceNormalization", 1, 3, 3, 1, importInstanceNormalization},
    {"LRN", 1, 1, 1, 1, importLRN},
    {"LayerNormalization", 17, 2, 3, 3, importLayerNormalization},
    {"LogSoftmax", 1, 1, 1, 1, importSoftmaxV1<"log_softmax">},
    {"LogSoftmax", 13, 1, 1, 1, importSoftmax<"log_softmax">},
    {"LpNormalization", 1, 1, 1, 1, importLpNormalization},
    {"MeanVarianceNormalization", 9, 1, 1, 1, importMeanVarianceNormalization},
    {"RMSNormalization", 23, 2, 2, 1, importRMSNormalization},
    {"Softmax", 1, 1, 1, 1, importSoftmaxV1<"softmax">},
    {"Softmax", 13, 1, 1, 1, importSoftmax<"softmax">},
};

llvm::ArrayRef<Operator> dlc::onnx::normalizationOperators() { return rows; }
