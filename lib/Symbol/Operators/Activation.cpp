// SPDX-License-Identifier: Apache-2.0
//
// Activations chosen by a parameter.

#include "Rules.h"

using namespace dlc::symbol;
using mlir::Value;

static void lowerActivation(LoweringContext &n) {
  const std::string &type = n.p.getText("act_type");
  n.set(0, n.b.op(type == "softrelu" ? "softplus" : type, {n.in(0)}));
}

/// One slope for all, or one for each channel.
static void relateLeakyRelu(ShapeRelation &r) {
  r.equate(0, 0);
  r.equate(0, 1);
  if (const Shape &data = r.input(0))
    suggestInput(r, 1, std::vector{data->size() > 1 ? (*data)[1] : int64_t(1)});
}

static Value lowerPrelu(LoweringContext &n) {
  Value x = n.in(0), slope = n.in(1);
  bool isPerChannel = GraphBuilder::rankOf(slope) == 1 &&
                      GraphBuilder::dimOf(slope, 0) != 1 && n.rank(x) > 1;
  if (isPerChannel)
    slope = n.perChannel(slope, x, 1);
  return n.b.op("prelu", {x, slope});
}

static void lowerLeakyRelu(LoweringContext &n) {
  const std::string &type = n.p.getText("act_type");
  Value x = n.in(0);
  auto number = [&](const char *name) {
    return static_cast<float>(n.p.getFloat(name));
  };
  if (type == "prelu")
    return n.set(0, lowerPrelu(n));
  if (type == "elu")
    return n.set(0, n.b.op("elu", {x}, {{"alpha", number("slope")}}));
  if (type == "selu" || type == "gelu")
    return n.set(0, n.b.op(type, {x}));
  // Random slopes have their mean when not training.
  float slope = type == "rrelu"
                    ? (number("lower_bound") + number("upper_bound")) / 2
                    : number("slope");
  n.set(0, n.b.op("leaky_relu", {x}, {{"alpha", slope}}));
  if (type == "rrelu")
    n.set(1, n.b.op("expand", {n.scalarLike(x, 0), n.b.shapeOf(x)}));
}

std::span<const Operator> dlc::symbol::activationOperators() {
  static const std::vector<Operator> rows = {
      {.name = "Activation",
       .summary = "An activation by name",
       .details = "softrelu is ln(1 + e^x), softsign x / (1 + |x|).",
       .parameters = {requiredChoice(
           "act_type", {"relu", "sigmoid", "softrelu", "softsign", "tanh"},
           "Which one.")},
       .relateShapes = sameShapes,
       .lower = lowerActivation},
      {.name = "LeakyReLU",
       .summary = "A rectifier with a slope below 0",
       .details = "leaky: slope x. elu: slope (e^x - 1). selu and gelu (with "
                  "erf) have fixed constants. prelu: slopes are an input, one "
                  "or one for each channel. rrelu: the mean of the bounds when "
                  "not training; its mask is then zeros.",
       .parameters = {choice("act_type",
                             {"elu", "gelu", "leaky", "prelu", "rrelu", "selu"},
                             "leaky", "What is done below 0."),
                      optional("slope", ParameterKind::Float, "0.25",
                               "Slope of leaky and elu."),
                      optional("lower_bound", ParameterKind::Float, "0.125",
                               "Least slope of rrelu."),
                      optional("upper_bound", ParameterKind::Float, "0.334",
                               "Largest slope of rrelu.")},
       .inputs = {{"data"},
                  {.name = "gamma",
                   .exists = when("act_type", "prelu"),
                   .initializer = "[\"Constant\", {\"value\": 0.25}]"}},
       .outputs = {{"output"}, {"mask", when("act_type", "rrelu")}},
       .relateShapes = relateLeakyRelu,
       .lower = lowerLeakyRelu},
  };
  return rows;
}
