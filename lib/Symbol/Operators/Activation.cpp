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

/// Each element has a slope of its own while training, which is the mask, and
/// their mean else.
static void lowerRandomRelu(LoweringContext &n) {
  Value x = n.in(0);
  double low = n.p.getFloat("lower_bound"), high = n.p.getFloat("upper_bound");
  if (!n.isTraining()) {
    auto mean = static_cast<float>((low + high) / 2);
    n.set(0, n.b.op("leaky_relu", {x}, {{"alpha", mean}}));
    n.set(1, n.b.op("expand", {n.scalarLike(x, 0), n.b.shapeOf(x)}));
    return;
  }
  Ints shape = n.shape(x, "rrelu");
  if (n.b.failed())
    return;
  Value u = n.randomUniform(shape);
  Value slopes =
      n.b.add(n.b.mul(u, n.scalarLike(u, high - low)), n.scalarLike(u, low));
  slopes = n.b.castLike(slopes, x);
  n.set(0, n.b.op("prelu", {x, slopes}));
  n.set(1, slopes);
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
  if (type == "rrelu")
    return lowerRandomRelu(n);
  n.set(0, n.b.op("leaky_relu", {x}, {{"alpha", number("slope")}}));
}

std::span<const Operator> dlc::symbol::activationOperators() {
  static const std::vector<Operator> rows = {
      {.name = "Activation",
       .aliases = {"_npx_activation"},
       .summary = "An activation by name",
       .details = "softrelu is ln(1 + e^x), softsign x / (1 + |x|).",
       .parameters = {requiredChoice(
           "act_type", {"relu", "sigmoid", "softrelu", "softsign", "tanh"},
           "Which one.")},
       .relateShapes = sameShapes,
       .lower = lowerActivation},
      {.name = "LeakyReLU",
       .aliases = {"_npx_leaky_relu"},
       .summary = "A rectifier with a slope below 0",
       .details = "leaky: slope x. elu: slope (e^x - 1). selu and gelu (with "
                  "erf) have fixed constants. prelu: slopes are an input, one "
                  "or one for each channel. rrelu: random slopes between the "
                  "bounds for training, which are its mask; else their mean, "
                  "and a mask of zeros.",
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
