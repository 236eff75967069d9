// SPDX-License-Identifier: Apache-2.0
//
// The products of attention as MXNet 1.9.1 has oneDNN compute them: operators
// in subgraphs of their own, on floats and on small integers
// (src/operator/subgraph/mkldnn/mkldnn_transformer.cc).

#include "Quantization.h"

#include "../Bodies.h"

#include <cmath>

using namespace dlc;
using namespace dlc::symbol;
using mlir::Value;

//===-- Subgraphs ---------------------------------------------------------===//

/// The subgraph is the one operator with the heads of the node, on variables in
/// their order: what the node computes by itself.
static bool isPlain(LoweringContext &n, std::string_view name) {
  const Symbol &body = n.body(0);
  const Node &only = *body.outputs().front().node;
  bool isGood = body.nodes().size() == only.inputs.size() + 1 && only.op &&
                only.op->name == name &&
                only.parameters.getInt("heads") == n.p.getInt("heads");
  std::vector<std::string> variables = body.listInputs();
  for (size_t i = 0; i < only.inputs.size() && isGood; ++i)
    isGood = only.inputs[i].node->name == variables[i];
  if (!isGood)
    n.unsupported("a subgraph without " + llvm::Twine(std::string(name)) +
                  " of the same heads alone");
  return isGood;
}

/// Fails the node where it is trained, too: MXNet does not.
static bool checkBody(LoweringContext &n, std::string_view name) {
  if (!n.isTraining())
    return isPlain(n, name);
  n.unsupported("training of fused layers");
  return false;
}

//===-- Small integers ----------------------------------------------------===//

/// `sums` of integers, of which `scale` are one float: as floats or, where the
/// range was measured, as small integers.
static void setProducts(LoweringContext &n, Value sums, Value scale) {
  Value y = asFloat(n, sums);
  if (n.p.getBool("enable_float_output"))
    return n.set(0, n.b.mul(y, n.b.div(number(n, 1), scale)));
  auto [low, high] = measuredRange(n);
  Value factor =
      n.b.div(n.b.div(number(n, kInt8Range), largest(n, low, high)), scale);
  setWithRange(n, rounded(n, n.b.mul(y, factor), DLC_I8), low, high);
}

static Value ownScale(LoweringContext &n, size_t operand, size_t range) {
  return scaleOf(n, n.in(operand), rangeOperand(n, range),
                 rangeOperand(n, range + 1));
}

static bool givesSums(const Parameters &p) {
  return !p.getBool("enable_float_output") && !isMeasured(p);
}

static void lowerScores(LoweringContext &n) {
  if (!checkBody(n, "_contrib_interleaved_matmul_selfatt_qk"))
    return;
  Value q = headsOf(n, n.in(0), 3, 0), k = headsOf(n, n.in(0), 3, 1);
  if (n.b.failed())
    return;
  double root = std::sqrt(static_cast<double>(GraphBuilder::dimOf(q, 2)));
  if (!n.p.getBool("quantized"))
    return n.set(
        0, multiplyByTransposed(n, n.b.mul(q, n.scalarLike(q, 1 / root)), k));
  if (givesSums(n.p))
    return n.unsupported("scores as sums of integers, of which MXNet says that "
                         "they stand for zeros");
  Value scale = ownScale(n, 0, 1);
  Value sums = multiplyByTransposed(n, asSum(n, q), asSum(n, k));
  setProducts(n, sums, n.b.mul(n.b.mul(scale, scale), number(n, root)));
}

static void lowerContext(LoweringContext &n) {
  if (!checkBody(n, "_contrib_interleaved_matmul_selfatt_valatt"))
    return;
  Value values = headsOf(n, n.in(0), 3, 2), attention = n.in(1);
  if (n.b.failed())
    return;
  if (!n.p.getBool("quantized"))
    return n.set(0, joinHeads(n, n.b.op("matmul", {attention, values})));
  Value sums = n.b.op("matmul", {asSum(n, attention), asSum(n, values)});
  sums = joinHeads(n, sums);
  if (!givesSums(n.p))
    return setProducts(n, sums, n.b.mul(ownScale(n, 0, 2), ownScale(n, 1, 4)));
  auto most = [&](size_t at) {
    return largest(n, rangeOperand(n, at), rangeOperand(n, at + 1));
  };
  setSums(n, sums, most(4), 255, most(2));
}

//===-- Operands ----------------------------------------------------------===//

static std::vector<std::string> rangesOfScores(const Parameters &p,
                                               const Symbol &) {
  if (!p.getBool("quantized"))
    return {};
  return {"min_qkv", "max_qkv"};
}

static std::vector<std::string> rangesOfContext(const Parameters &p,
                                                const Symbol &) {
  if (!p.getBool("quantized"))
    return {};
  return {"min_qkv", "max_qkv", "min_attention", "max_attention"};
}

template <size_t operands> static void relateAttentionRanges(ShapeRelation &r) {
  relateRanges(r, operands);
}

/// The data are of int8, the weights of values of uint8, ranges floats.
template <size_t operands>
static void relateAttentionTypes(const Node &node, TypeRelation &r) {
  if (!r.parameters.getBool("quantized"))
    return relateBodyTypes(node, r);
  for (size_t i = 0; i < r.inputCount(); ++i)
    r.setInput(i, i >= operands ? DLC_F32 : i == 0 ? DLC_I8 : DLC_U8);
  r.setOutput(0, r.parameters.getBool("enable_float_output") ? DLC_F32
                 : isMeasured(r.parameters)                  ? DLC_I8
                                                             : DLC_I32);
  for (size_t i = 1; i < r.outputCount(); ++i)
    r.setOutput(i, DLC_F32);
}

//===-- Declarations ------------------------------------------------------===//

static int64_t countAttentionOutputs(const Parameters &p) {
  return p.getBool("quantized") && !p.getBool("enable_float_output") ? 3 : 1;
}

std::span<const Operator> dlc::symbol::fusedAttentionOperators() {
  static const std::vector<Operator> rows = [] {
    Operator scores = {
        .name = "_sg_mkldnn_selfatt_qk",
        .summary = "Scores of attention to itself, as oneDNN has them",
        .details = "The inputs are the variables of the subgraph, which is "
                   "_contrib_interleaved_matmul_selfatt_qk, and the ranges of "
                   "those that are quantised.",
        .parameters = withRange(
            {required("heads", ParameterKind::Int,
                      "How many heads share the channels.")
                 .within(1, 1 << 20),
             optional("quantized", ParameterKind::Bool, "False",
                      "Operands are small integers, with their ranges behind "
                      "them."),
             optional("enable_float_output", ParameterKind::Bool, "False",
                      "Give floats, without a range.")}),
        .inputs = {},
        .outputs = {{"output"}, {"min_output"}, {"max_output"}},
        .countOutputs = countAttentionOutputs,
        .relateShapes = relateAttentionRanges<1>,
        .lower = lowerScores,
        .bodyCount = 1,
        .inputsBehindBody = rangesOfScores,
        .relateNodeTypes = relateAttentionTypes<1>};
    Operator context = scores;
    context.name = "_sg_mkldnn_selfatt_valatt";
    context.summary =
        "Values that attention to itself weights, as oneDNN has them";
    context.details =
        "The inputs are the variables of the subgraph, which is "
        "_contrib_interleaved_matmul_selfatt_valatt, and the ranges of those "
        "that are quantised.";
    context.relateShapes = relateAttentionRanges<2>;
    context.lower = lowerContext;
    context.inputsBehindBody = rangesOfContext;
    context.relateNodeTypes = relateAttentionTypes<2>;
    return std::vector<Operator>{scores, context};
  }();
  return rows;
}
