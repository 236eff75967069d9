// SPDX-License-Identifier: Apache-2.0
//
// Activation functions: elementwise, of one float operand, some with
// parameters. Computed in double and rounded once.

#include "Families.h"
#include "Loop.h"
#include "ShapeRule.h"

#include <numbers>

using namespace dlc::rt;
using namespace dlc::rt::ref;

template <const TypeSet &types>
static Status inferSame(const InferContext &context,
                        std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1));
  DLC_RETURN_IF_ERROR(checkType(context, 0, types));
  return addResultLike(context, results);
}

static Status inferGelu(const InferContext &context,
                        std::vector<TensorType> &results) {
  std::string_view kind = context.attrs().getString("approximate", "none");
  if (kind != "none" && kind != "tanh")
    return DLC_INVALID("expected approximate \"none\" or \"tanh\", got \"%s\"",
                       std::string(kind).c_str());
  return inferSame<floatTypes>(context, results);
}

template <typename F> static Status map(ComputeContext &context, F function) {
  mapElements<double, double, 1>(context, function);
  return Status::ok();
}

/// max(0, min(1, x)) that keeps NaN.
static double clampToUnit(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// log(1 + e^x) without overflow.
static double softplus(double x) {
  return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x)));
}

static Status computeSigmoid(ComputeContext &context) {
  return map(context, sigmoid);
}

static Status computeSoftplus(ComputeContext &context) {
  return map(context, softplus);
}

static Status computeSoftsign(ComputeContext &context) {
  return map(context, [](double x) { return x / (1 + std::fabs(x)); });
}

static Status computeSilu(ComputeContext &context) {
  return map(context, [](double x) { return x * sigmoid(x); });
}

static Status computeSwish(ComputeContext &context) {
  double alpha = context.attrs().getFloat("alpha", 1);
  return map(context, [=](double x) { return x * sigmoid(alpha * x); });
}

static Status computeMish(ComputeContext &context) {
  return map(context, [](double x) { return x * std::tanh(softplus(x)); });
}

static Status computeHardSwish(ComputeContext &context) {
  return map(context, [](double x) { return x * clampToUnit(x / 6 + 0.5); });
}

static Status computeHardSigmoid(ComputeContext &context) {
  double alpha = context.attrs().getFloat("alpha", 0.2f);
  double beta = context.attrs().getFloat("beta", 0.5f);
  return map(context, [=](double x) { return clampToUnit(alpha * x + beta); });
}

static Status computeElu(ComputeContext &context) {
  double alpha = context.attrs().getFloat("alpha", 1);
  return map(context,
             [=](double x) { return x < 0 ? alpha * std::expm1(x) : x; });
}

static Status computeSelu(ComputeContext &context) {
  double alpha = context.attrs().getFloat("alpha", 1.67326319f);
  double gamma = context.attrs().getFloat("gamma", 1.05070102f);
  return map(context, [=](double x) {
    return gamma * (x < 0 ? alpha * std::expm1(x) : x);
  });
}

static Status computeCelu(ComputeContext &context) {
  double alpha = context.attrs().getFloat("alpha", 1);
  return map(context, [=](double x) {
    return x < 0 ? alpha * std::expm1(x / alpha) : x;
  });
}

static Status computeLeakyRelu(ComputeContext &context) {
  double alpha = context.attrs().getFloat("alpha", 0.01f);
  return map(context, [=](double x) { return x < 0 ? alpha * x : x; });
}

static Status computeThresholdedRelu(ComputeContext &context) {
  double alpha = context.attrs().getFloat("alpha", 1);
  return map(context, [=](double x) { return x > alpha ? x : 0; });
}

static Status computeShrink(ComputeContext &context) {
  double bias = context.attrs().getFloat("bias", 0);
  double lambda = context.attrs().getFloat("lambd", 0.5f);
  return map(context, [=](double x) {
    return x < -lambda ? x + bias : x > lambda ? x - bias : 0;
  });
}

/// erfc keeps the small values of the left tail, where 1 + erf cancels.
static double gelu(double x) {
  return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
}

static double geluByTanh(double x) {
  const double factor = std::sqrt(2 / std::numbers::pi);
  return 0.5 * x * (1 + std::tanh(factor * (x + 0.044715 * x * x * x)));
}

static Status computeGelu(ComputeContext &context) {
  bool byTanh = context.attrs().getString("approximate", "none") == "tanh";
  return map(context, byTanh ? geluByTanh : gelu);
}

std::span<const Operation> ref::activationOperations() {
  static constexpr Operation operations[] = {
      {"celu", inferSame<floatTypes>, computeCelu},
      {"elu", inferSame<floatTypes>, computeElu},
      {"gelu", inferGelu, computeGelu},
      {"hard_sigmoid", inferSame<floatTypes>, computeHardSigmoid},
      {"hard_swish", inferSame<floatTypes>, computeHardSwish},
      {"leaky_relu", inferSame<floatTypes>, computeLeakyRelu},
      {"mish", inferSame<floatTypes>, computeMish},
      {"selu", inferSame<floatTypes>, computeSelu},
      {"shrink", inferSame<numericTypes>, computeShrink},
      {"sigmoid", inferSame<floatTypes>, computeSigmoid},
      {"silu", inferSame<floatTypes>, computeSilu},
      {"softplus", inferSame<floatTypes>, computeSoftplus},
      {"softsign", inferSame<floatTypes>, computeSoftsign},
      {"swish", inferSame<floatTypes>, computeSwish},
      {"thresholded_relu", inferSame<floatTypes>, computeThresholdedRelu},
  };
  return operations;
}
