// SPDX-License-Identifier: Apache-2.0
//
// Products, normalisations and activations that have parameters.

#include "Translation.h"

using namespace dlc;
using namespace dlc::symbol;
using namespace dlc::symbol::nnvm;

//===-- Layers ------------------------------------------------------------===//

static void translateDense(Translation &t) {
  t.finish("FullyConnected", t.inputs,
           {{"num_hidden", textOf(t, "units")},
            {"no_bias", text(!t.p.getBool("use_bias"))},
            {"flatten", "False"}});
}

static void translateBatchNorm(Translation &t) {
  std::vector<Entry> operands = t.inputs;
  if (!t.p.getBool("center"))
    operands[2] = t.add("no_beta", "zeros_like", {operands[2]});
  t.finish("BatchNorm", operands,
           {{"axis", textOf(t, "axis")},
            {"eps", textOf(t, "epsilon")},
            {"momentum", textOf(t, "momentum")},
            {"fix_gamma", text(!t.p.getBool("scale"))}});
}

static void translateDropout(Translation &t) {
  t.finish("Dropout", t.inputs, {{"p", textOf(t, "rate")}});
}

static void translateLeakyRelu(Translation &t) {
  t.finish("LeakyReLU", t.inputs,
           {{"act_type", "leaky"}, {"slope", textOf(t, "alpha")}});
}

/// The data have 4 dimensions, whatever these are called.
static void translatePrelu(Translation &t) {
  constexpr std::string_view orders[] = {"CNHW", "NCHW", "NHCW", "NHWC"};
  std::string_view order = orders[t.p.getInt("axis")];
  std::vector<Entry> operands = t.inputs;
  operands[0] = ordered(t, "data_nchw", operands[0], order, "NCHW");
  finishImages(t, "LeakyReLU", operands, {{"act_type", "prelu"}}, order);
}

static void translateLrn(Translation &t) {
  int64_t axis = t.p.getInt("axis");
  std::string_view order = axis == 1 ? "NCHW" : "NHWC";
  if (axis != 1 && axis != 3)
    return t.fail("parameter 'axis': expected 1 or 3, got " +
                  std::to_string(axis));
  finishImages(t, "LRN", {ordered(t, "data_nchw", t.inputs[0], order, "NCHW")},
               {{"nsize", textOf(t, "size")},
                {"alpha", textOf(t, "alpha")},
                {"beta", textOf(t, "beta")},
                {"knorm", textOf(t, "bias")}},
               order);
}

/// By the root of the sum of squares, which is eps at least.
static void translateL2Normalize(Translation &t) {
  Entry x = t.inputs[0];
  Entry squares = t.add("square", "square", {x});
  Entry sum = t.add("sum", "sum", {squares},
                    {{"axis", textOf(t, "axis")}, {"keepdims", "True"}});
  Entry bounded =
      t.add("max", "_maximum_scalar", {sum}, {{"scalar", textOf(t, "eps")}});
  t.finish("broadcast_div", {x, t.add("norm", "sqrt", {bounded})});
}

//===-- Declarations ------------------------------------------------------===//

std::vector<Rule> nnvm::layerRules() {
  constexpr auto number = ParameterKind::Float;
  constexpr auto whole = ParameterKind::Int;
  return {
      rule("dense",
           {named("units", ParameterKind::Int).atLeast(1),
            flag("use_bias", "True")},
           translateDense, weighted()),
      rule("batch_norm",
           {optional("axis", whole, "1", ""),
            optional("epsilon", number, "1e-5", ""),
            optional("momentum", number, "0.9", ""), flag("center", "True"),
            flag("scale", "True")},
           translateBatchNorm,
           {{"data"}, {"gamma"}, {"beta"}, {"moving_mean"}, {"moving_var"}}),
      rule("dropout", {optional("rate", number, "0.5", "")}, translateDropout),
      rule("leaky_relu", {optional("alpha", number, "0.25", "")},
           translateLeakyRelu),
      rule("prelu", {optional("axis", whole, "1", "").within(0, 3)},
           translatePrelu, {{"data"}, {"alpha"}}),
      rule("lrn",
           {named("size", whole).atLeast(1), named("axis", whole),
            named("alpha", number), named("beta", number),
            named("bias", number)},
           translateLrn),
      rule("l2_normalize",
           {named("eps", number), named("axis", ParameterKind::Ints)},
           translateL2Normalize),
  };
}
