// SPDX-License-Identifier: Apache-2.0
//
// Parts of a network as MXNet 1.9.1 has oneDNN fuse them: a layer, with what is
// around it, in a subgraph. On floats they are their subgraphs; on small
// integers the weights are made such, too (src/operator/subgraph/mkldnn).

#include "Quantization.h"

#include "../Bodies.h"

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

//===-- Subgraphs ---------------------------------------------------------===//

namespace {
/// What a subgraph does; null where it does not.
struct Parts {
  const Node *layer = nullptr; ///< A convolution or a fully connected layer.
  const Node *norm = nullptr;
  const Node *sum = nullptr;    ///< Of the result and the last variable.
  const Node *inner = nullptr;  ///< A function of the result before the sum.
  const Node *behind = nullptr; ///< A function of the sum, or without one.
  const Node *other = nullptr;  ///< Anything else, or one of these twice.

  bool hasBias() const { return !layer->parameters.getBool("no_bias"); }
};
} // namespace

static Parts partsOf(const Symbol &body, std::string_view layer) {
  Parts parts;
  for (const std::shared_ptr<Node> &node : body.nodes()) {
    if (node->isVariable())
      continue;
    std::string_view name = node->op->name;
    const Node **place = name == layer            ? &parts.layer
                         : name == "BatchNorm"    ? &parts.norm
                         : name == "elemwise_add" ? &parts.sum
                         : parts.sum              ? &parts.behind
                                                  : &parts.inner;
    (*place ? parts.other : *place) = node.get();
  }
  return parts;
}

/// relu, with a slope where numbers are negative.
static bool isRelu(const Node &node) {
  std::string_view name = node.op->name;
  if (name == "Activation" || name == "LeakyReLU")
    return node.parameters.getText("act_type") ==
           (name == "Activation" ? "relu" : "leaky");
  return false;
}

/// Functions after which MXNet makes results uint8.
static bool givesBytes(const Node *node, bool afterConvolution) {
  if (!node)
    return false;
  std::string_view name = node->op->name;
  if (name == "Activation") {
    const std::string &type = node->parameters.getText("act_type");
    return type == "relu" || type == "sigmoid" || type == "softrelu";
  }
  if (name == "clip")
    return true;
  if (afterConvolution)
    return false;
  return isRelu(*node) || name == "square" || name == "sqrt" || name == "exp" ||
         name == "abs";
}

/// A function of the subgraph, of `x`.
static Value apply(LoweringContext &n, const Node *function, Value x) {
  if (!function || n.b.failed())
    return x;
  llvm::SmallVector<Value> operands = {x};
  LoweringContext inner = n.inside(*function, operands);
  function->op->lower(inner);
  return inner.outputs().front();
}

/// Takes the variables that `node` reads from input `first` on.
static bool takeVariables(const Node &node, size_t first,
                          std::vector<const Node *> &variables) {
  for (size_t i = first; i < node.inputs.size(); ++i) {
    variables.push_back(node.inputs[i].node.get());
    if (!variables.back()->isVariable())
      return false;
  }
  return true;
}

/// The parts stand behind each other, and the variables of the subgraph are
/// their other operands, in their order.
static bool isChain(const Symbol &body, const Parts &parts) {
  std::vector<const Node *> variables;
  if (!takeVariables(*parts.layer, 0, variables))
    return false;
  const Node *last = parts.layer;
  auto follows = [&](const Node *node) {
    bool isNext = !node || node->inputs[0].node.get() == last;
    last = node ? node : last;
    return isNext;
  };
  if (!follows(parts.norm) ||
      (parts.norm && !takeVariables(*parts.norm, 1, variables)) ||
      !follows(parts.inner))
    return false;
  if (parts.sum) {
    const Node *a = parts.sum->inputs[0].node.get();
    const Node *b = parts.sum->inputs[1].node.get();
    variables.push_back(a == last ? b : a);
    if ((a == last) == (b == last) || !variables.back()->isVariable())
      return false;
    last = parts.sum;
  }
  if (!follows(parts.behind) || body.outputs().front().node.get() != last)
    return false;
  std::vector<const Node *> known;
  for (const std::shared_ptr<Node> &node : body.nodes())
    if (node->isVariable())
      known.push_back(node.get());
  return known == variables;
}

/// Fails the node unless the subgraph is a layer that is known here.
static bool checkParts(LoweringContext &n, const Parts &parts) {
  if (n.isTraining()) {
    n.unsupported("training of fused layers");
    return false;
  }
  if (!parts.layer || parts.other) {
    const Node *node = parts.other;
    n.unsupported(node ? "a subgraph with " + node->describe()
                       : "a subgraph without a layer");
    return false;
  }
  for (const Node *function : {parts.inner, parts.behind})
    if (function && function->inputs.size() != 1) {
      n.unsupported("a subgraph with " + function->describe());
      return false;
    }
  return true;
}

/// Fails the node unless its operands are those that quantised arithmetic reads
/// by their places.
static bool checkOrder(LoweringContext &n, const Parts &parts, bool hasSum) {
  if (isChain(n.body(0), parts) && hasSum == bool(parts.sum))
    return true;
  n.unsupported("a subgraph in another order");
  return false;
}

//===-- Operands of quantised layers --------------------------------------===//

namespace {
/// What a layer on small integers reads: its data, weight and bias, statistics
/// of a normalisation, something that is added, and ranges.
struct LayerOperands {
  Value data, weight, bias, sum; ///< No bias, nothing added: null.
  size_t statistics = 0;         ///< The first operand of these.
  Value low, high;               ///< The range of the data.
  Value scale;                   ///< Integers of the data for one float.
  size_t ranges = 0;             ///< The first operand behind that range.
};
} // namespace

/// Fails the node for data that are not of small integers.
static bool readOperands(LoweringContext &n, const Parts &parts,
                         LayerOperands &o) {
  size_t next = 2;
  o.data = n.in(0);
  o.weight = n.in(1);
  if (parts.hasBias())
    o.bias = n.in(next++);
  o.statistics = next;
  next += parts.norm ? 4 : 0;
  if (parts.sum)
    o.sum = n.in(next++);
  if (!isSmall(n, o.data))
    return false;
  o.low = rangeOperand(n, next);
  o.high = rangeOperand(n, next + 1);
  o.scale = scaleOf(n, o.data, o.low, o.high);
  o.ranges = next + 2;
  return true;
}

//===-- Weights -----------------------------------------------------------===//

namespace {
/// Weights as integers, and how many of them are one float: for each row, or
/// one number for all.
struct Weights {
  Value weight, bias; ///< i8 and i32; no bias: null.
  Value scale;
};
} // namespace

/// `x`, one number for each row of a tensor of rank `rank`, as a tensor of that
/// rank.
static Value perRow(LoweringContext &n, Value x, int64_t rank) {
  Ints axes = range(1, rank);
  return GraphBuilder::dimOf(x, 0) == 1 ? x : n.b.unsqueeze(x, axes);
}

/// Of floats, and a bias, for data that `dataScale` integers of are one float.
/// The bias limits the scale, so that it stays within int32.
static Weights quantizeWeights(LoweringContext &n, Value weight, Value bias,
                               Value dataScale, bool isPerRow) {
  int64_t rank = n.rank(weight);
  Value magnitude = n.b.op("abs", {weight});
  Value most = n.b.reshape(n.b.reduce("reduce_max", magnitude,
                                      range(isPerRow ? 1 : 0, rank),
                                      /*keepDims=*/false),
                           {-1});
  Value isZero = n.b.op("equal", {most, number(n, 0)});
  Value scale = n.b.op(
      "select", {isZero, number(n, kInt32Range),
                 n.b.div(number(n, kInt8Range),
                         n.b.op("select", {isZero, number(n, 1), most}))});
  if (bias && isPerRow) {
    Value limit = n.b.div(
        n.b.div(number(n, kInt32Range / 2), n.b.op("abs", {bias})), dataScale);
    scale = n.b.op("min", {scale, limit});
  }
  Weights result;
  result.scale = scale;
  result.weight = rounded(n, n.b.mul(weight, perRow(n, scale, rank)), DLC_I8);
  if (bias)
    result.bias =
        asSum(n, n.b.op("round", {n.b.mul(bias, n.b.mul(scale, dataScale))}));
  return result;
}

/// The statistics become part of weight and bias.
static void foldNorm(LoweringContext &n, const Node &norm, size_t first,
                     Value &weight, Value &bias) {
  Value beta = n.in(first + 1), mean = n.in(first + 2);
  Value deviation = n.b.op(
      "sqrt",
      {n.b.add(n.in(first + 3), number(n, norm.parameters.getFloat("eps")))});
  Value gamma =
      norm.parameters.getBool("fix_gamma") ? number(n, 1) : n.in(first);
  Value slope = n.b.div(gamma, deviation);
  bias = bias ? n.b.add(beta, n.b.mul(slope, n.b.sub(bias, mean)))
              : n.b.sub(beta, n.b.mul(slope, mean));
  weight = n.b.mul(weight, perRow(n, slope, n.rank(weight)));
}

/// One number for each channel of images of rank `rank`.
static Value perChannel(LoweringContext &n, Value x, int64_t rank) {
  return perRow(n, x, rank - 1);
}

//===-- Convolutions ------------------------------------------------------===//

/// Before numbers are rounded: relu; what clips is done by the type's range.
static Value activate(LoweringContext &n, const Node *function, Value y,
                      bool hasSum) {
  if (!function || n.b.failed())
    return y;
  if (function->op->name == "clip" && !hasSum)
    return y;
  if (isRelu(*function))
    return apply(n, function, y);
  n.unsupported("small integers after " + function->describe());
  return {};
}

static void lowerQuantizedConv(LoweringContext &n, const Parts &parts) {
  const Node &layer = *parts.layer;
  LayerOperands o;
  if (!readOperands(n, parts, o))
    return;
  Value x = o.data, weight = o.weight, bias = o.bias, sum = o.sum;
  if (parts.norm)
    foldNorm(n, *parts.norm, o.statistics, weight, bias);
  auto [outLow, outHigh] = measuredRange(n);
  Weights weights = quantizeWeights(n, weight, bias, o.scale,
                                    /*isPerRow=*/bool(outLow));
  llvm::SmallVector<Value> operands(n.inputs());
  LoweringContext inner = n.inside(layer, operands);
  Value sums =
      convolve(inner, asSum(n, x), asSum(n, weights.weight), weights.bias);
  if (n.b.failed())
    return;
  Value y = asFloat(n, sums);
  const Node *last = parts.sum ? parts.behind : parts.inner;
  rt::DataType type =
      givesBytes(last, /*afterConvolution=*/true) ? DLC_U8 : DLC_I8;
  Value scale = n.b.mul(o.scale, weights.scale);
  if (outLow) {
    scale = n.b.div(number(n, type == DLC_U8 ? kUint8Range : kInt8Range),
                    largest(n, outLow, outHigh));
    Value factor = n.b.div(n.b.div(scale, o.scale), weights.scale);
    y = n.b.mul(y, perChannel(n, factor, n.rank(y)));
  }
  y = activate(n, parts.inner, y, bool(sum));
  // MXNet would read the bytes of one type as those of the other.
  if (sum && outLow && !n.b.failed() && isUnsigned(sum) != (type == DLC_U8))
    return n.unsupported("a sum of integers of another type than the result's");
  if (sum) {
    Value own = scaleOf(n, sum, rangeOperand(n, o.ranges),
                        rangeOperand(n, o.ranges + 1));
    y = n.b.add(y, n.b.mul(asFloat(n, sum), n.b.div(scale, own)));
    y = activate(n, parts.behind, y, /*hasSum=*/true);
  }
  if (outLow)
    return setWithRange(n, rounded(n, y, type), outLow, outHigh);
  auto [least, greatest] = rangeOfElements(n, weight);
  setSums(n, asSum(n, n.b.op("round", {y})), largest(n, o.low, o.high),
          isUnsigned(x) ? 255 : 127, largest(n, least, greatest));
}

/// On floats: the subgraph as it is.
static void lowerWhole(LoweringContext &n) {
  auto results = n.lowerBody(0, n.inputs());
  if (!n.b.failed())
    n.set(0, results.front());
}

static void lowerFusedConv(LoweringContext &n) {
  Parts parts = partsOf(n.body(0), "Convolution");
  if (!checkParts(n, parts))
    return;
  if (!n.p.getBool("quantized"))
    return lowerWhole(n);
  if (checkOrder(n, parts, n.p.getBool("with_sum")))
    lowerQuantizedConv(n, parts);
}

//===-- Fully connected layers --------------------------------------------===//

/// To the nearest integer, halves away from zero.
static Value roundedAway(LoweringContext &n, Value x) {
  Value whole = n.b.op("floor", {n.b.add(n.b.op("abs", {x}), number(n, 0.5))});
  return n.b.mul(n.b.op("sign", {x}), whole);
}

/// Weights that are integers already, whose ranges are operands from `next` on.
/// Where the bias would leave int32, weights get smaller.
static Weights takeWeights(LoweringContext &n, Value weight, Value bias,
                           Value dataScale, size_t next) {
  Weights result;
  result.scale =
      scaleOf(n, weight, rangeOperand(n, next), rangeOperand(n, next + 1));
  result.weight = weight;
  if (!bias)
    return result;
  Value most = largest(n, rangeOperand(n, next + 2), rangeOperand(n, next + 3));
  Value biasScale = n.b.div(number(n, kInt8Range), most);
  Value factor = n.b.div(n.b.mul(dataScale, result.scale), biasScale);
  Value limit = n.b.div(n.b.div(number(n, kInt32Range / 2), most), biasScale);
  Value isLarge = n.b.op("greater", {factor, limit});
  Value shrunk =
      n.b.div(n.b.div(n.b.mul(limit, biasScale), dataScale), result.scale);
  Value ratio = n.b.op("select", {isLarge, shrunk, number(n, 1)});
  result.weight = n.b.cast(roundedAway(n, n.b.mul(asFloat(n, weight), ratio)),
                           n.b.elementType(DLC_I8));
  result.scale = n.b.mul(result.scale, ratio);
  factor = n.b.op("min", {factor, limit});
  result.bias = asSum(n, roundedAway(n, n.b.mul(asFloat(n, bias), factor)));
  return result;
}

static bool isChannelWise(const Parameters &p) {
  // MXNet asks whether there is a value, not which.
  return !p.isNone("channel_wise_quantize");
}

static void lowerQuantizedFullyConnected(LoweringContext &n,
                                         const Parts &parts) {
  const Node &layer = *parts.layer;
  LayerOperands o;
  if (!readOperands(n, parts, o))
    return;
  Value x = o.data, bias = o.bias;
  if (bias)
    bias = n.b.reshape(bias, {-1});
  auto [outLow, outHigh] = measuredRange(n);
  bool givesFloats = n.p.getBool("enable_float_output");
  bool isFinal = outLow || givesFloats;
  if (isChannelWise(n.p) && !isFinal)
    return n.fail("expected 'min_calib_range' and 'max_calib_range', or "
                  "'enable_float_output', for 'channel_wise_quantize'");
  Weights weights =
      isChannelWise(n.p)
          ? quantizeWeights(n, o.weight, bias, o.scale, /*isPerRow=*/true)
          : takeWeights(n, o.weight, bias, o.scale, o.ranges);
  llvm::SmallVector<Value> operands(n.inputs());
  LoweringContext inner = n.inside(layer, operands);
  Value y = multiplyByWeight(inner, asSum(n, x), asSum(n, weights.weight));
  if (weights.bias)
    y = n.b.add(y, weights.bias);
  y = asFloat(n, y);
  if (isFinal)
    y = n.b.mul(y, n.b.div(n.b.div(number(n, 1), o.scale), weights.scale));
  y = apply(n, parts.inner, y);
  if (givesFloats)
    return n.set(0, y);
  if (!outLow)
    return setSums(
        n, asSum(n, n.b.op("round", {y})), largest(n, o.low, o.high),
        isUnsigned(x) ? 255 : 127,
        largest(n, rangeOperand(n, o.ranges), rangeOperand(n, o.ranges + 1)));
  rt::DataType type =
      givesBytes(parts.inner, /*afterConvolution=*/false) ? DLC_U8 : DLC_I8;
  Value scale = n.b.div(number(n, type == DLC_U8 ? kUint8Range : kInt8Range),
                        largest(n, outLow, outHigh));
  setWithRange(n, rounded(n, n.b.mul(y, scale), type), outLow, outHigh);
}

static void lowerFusedFullyConnected(LoweringContext &n) {
  Parts parts = partsOf(n.body(0), "FullyConnected");
  if (!checkParts(n, parts))
    return;
  if (parts.norm || parts.sum)
    return n.unsupported("a subgraph with " +
                         (parts.norm ? parts.norm : parts.sum)->describe());
  if (!n.p.getBool("quantized"))
    return lowerWhole(n);
  if (checkOrder(n, parts, /*hasSum=*/false))
    lowerQuantizedFullyConnected(n, parts);
}

//===-- Operands ----------------------------------------------------------===//

static std::vector<std::string> rangesOfConv(const Parameters &p,
                                             const Symbol &) {
  if (!p.getBool("quantized"))
    return {};
  if (p.getBool("with_sum"))
    return {"data_min", "data_max", "sum_min", "sum_max"};
  return {"data_min", "data_max"};
}

static std::vector<std::string> rangesOfFullyConnected(const Parameters &p,
                                                       const Symbol &body) {
  if (!p.getBool("quantized"))
    return {};
  std::vector<std::string> names = {"min_data", "max_data"};
  if (isChannelWise(p))
    return names;
  names.insert(names.end(), {"min_weight", "max_weight"});
  Parts parts = partsOf(body, "FullyConnected");
  if (parts.layer && parts.hasBias())
    names.insert(names.end(), {"min_bias", "max_bias"});
  return names;
}

static void relateLastRanges(ShapeRelation &r, size_t count) {
  relateRanges(r, r.inputCount() - std::min(count, r.inputCount()));
}

static void relateConvRanges(ShapeRelation &r) {
  relateLastRanges(r, rangesOfConv(r.parameters, {}).size());
}

static void relateFullyConnectedRanges(ShapeRelation &r) {
  if (r.parameters.getBool("quantized"))
    relateLastRanges(r,
                     isChannelWise(r.parameters) ? 2 : r.inputCount() / 3 * 2);
}

/// Data and what is added are small integers, other operands floats.
static void relateConvTypes(const Node &node, TypeRelation &r) {
  if (!r.parameters.getBool("quantized"))
    return relateBodyTypes(node, r);
  Parts parts = partsOf(node.bodies.front(), "Convolution");
  size_t ranges = rangesOfConv(r.parameters, {}).size();
  for (size_t i = 1; i < r.inputCount(); ++i)
    if (!parts.sum || i + ranges + 1 != r.inputCount())
      r.setInput(i, DLC_F32);
  bool isByte = givesBytes(parts.sum ? parts.behind : parts.inner,
                           /*afterConvolution=*/true);
  r.setOutput(0, !isMeasured(r.parameters) ? DLC_I32
                 : isByte                  ? DLC_U8
                                           : DLC_I8);
  r.setOutput(1, DLC_F32);
  r.setOutput(2, DLC_F32);
}

static void relateFullyConnectedTypes(const Node &node, TypeRelation &r) {
  if (!r.parameters.getBool("quantized"))
    return relateBodyTypes(node, r);
  Parts parts = partsOf(node.bodies.front(), "FullyConnected");
  size_t ranges =
      node.inputNames().size() - node.bodies.front().listInputs().size();
  bool isInteger = !isChannelWise(r.parameters);
  for (size_t i = 1; i < r.inputCount(); ++i)
    r.setInput(i, isInteger && i + ranges < r.inputCount() ? DLC_I8 : DLC_F32);
  if (r.parameters.getBool("enable_float_output"))
    return r.setOutput(0, DLC_F32);
  bool isByte = givesBytes(parts.inner, /*afterConvolution=*/false);
  r.setOutput(0, !isMeasured(r.parameters) ? DLC_I32
                 : isByte                  ? DLC_U8
                                           : DLC_I8);
  r.setOutput(1, DLC_F32);
  r.setOutput(2, DLC_F32);
}

//===-- Declarations ------------------------------------------------------===//

static Parameter flag(std::string_view name, std::string_view summary) {
  return optional(name, ParameterKind::Bool, "False", summary);
}

/// What the subgraph says, too.
static Parameter told(std::string_view name) {
  return ignored(name, ParameterKind::Bool, "False");
}

static int64_t countFullyConnectedOutputs(const Parameters &p) {
  return p.getBool("quantized") && !p.getBool("enable_float_output") ? 3 : 1;
}

std::span<const Operator> dlc::symbol::fusedOperators() {
  Parameter quantized =
      flag("quantized", "Data is of int8 or uint8, with its range behind the "
                        "variables of the subgraph.");
  Condition hasRange = when("quantized");
  static const std::vector<Operator> rows = {
      {.name = "_sg_mkldnn_conv",
       .summary = "A convolution with what oneDNN fuses with it",
       .details = "The inputs are the variables of the subgraph, and the "
                  "ranges of quantised data and of what is added.",
       .parameters = withRange(
           {told("with_bn"), told("with_act"),
            flag("with_sum", "Something is added, which is the last variable."),
            told("with_postsum_act"), quantized}),
       .inputs = {},
       .outputs = {{"output"},
                   {"output_min", hasRange},
                   {"output_max", hasRange}},
       .relateShapes = relateConvRanges,
       .lower = lowerFusedConv,
       .bodyCount = 1,
       .inputsBehindBody = rangesOfConv,
       .relateNodeTypes = relateConvTypes},
      {.name = "_sg_mkldnn_fully_connected",
       .summary = "A fully connected layer with what oneDNN fuses with it",
       .details = "The inputs are the variables of the subgraph, and the "
                  "ranges of those that are quantised.",
       .parameters = withRange(
           {quantized,
            flag("enable_float_output", "Give floats, without a "
                                        "range."),
            told("with_eltwise"),
            optional("channel_wise_quantize", ParameterKind::Bool, "None",
                     "Weights are floats, and quantised row by row, whatever "
                     "the value.")}),
       .inputs = {},
       .outputs = {{"output"}, {"min_output"}, {"max_output"}},
       .countOutputs = countFullyConnectedOutputs,
       .relateShapes = relateFullyConnectedRanges,
       .lower = lowerFusedFullyConnected,
       .bodyCount = 1,
       .inputsBehindBody = rangesOfFullyConnected,
       .relateNodeTypes = relateFullyConnectedTypes},
  };
  return rows;
}
