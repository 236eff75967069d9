// SPDX-License-Identifier: Apache-2.0
//
// Elementwise functions of one operand without attributes. Floats are computed
// in double and rounded once.

#include "Families.h"
#include "Loop.h"
#include "ShapeRule.h"

#include <cstring>

using namespace dlc::rt;
using namespace dlc::rt::ref;

template <const TypeSet &types>
static Status inferSame(const InferContext &context,
                        std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1));
  DLC_RETURN_IF_ERROR(checkType(context, 0, types));
  return addResultLike(context, results);
}

static Status inferTest(const InferContext &context,
                        std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1));
  DLC_RETURN_IF_ERROR(checkType(context, 0, floatTypes));
  TensorType type = context.operand(0).type;
  type.type = DLC_BOOL;
  return addResult(results, std::move(type));
}

template <double (*function)(double)>
static Status computeFloat(ComputeContext &context) {
  mapElements<double, double, 1>(context, function);
  return Status::ok();
}

/// For functions that integers have, too: a template over the wide type.
template <typename Function>
static Status computeNumeric(ComputeContext &context) {
  return dispatchWide(context.input(0).type, [&](auto wide) {
    using T = decltype(wide);
    mapElements<T, T, 1>(context, Function());
    return Status::ok();
  });
}

namespace {

/// Integers wrap: the magnitude of the least i8 is itself.
struct Abs {
  double operator()(double x) const { return std::fabs(x); }
  uint64_t operator()(uint64_t x) const { return x; }
  int64_t operator()(int64_t x) const { return x < 0 ? 0 - uint64_t(x) : x; }
};

struct Neg {
  double operator()(double x) const { return -x; }
  uint64_t operator()(uint64_t x) const { return 0 - x; }
  int64_t operator()(int64_t x) const { return 0 - uint64_t(x); }
};

/// NaN stays NaN.
struct Sign {
  double operator()(double x) const {
    return std::isnan(x) ? x : (x > 0) - (x < 0);
  }
  uint64_t operator()(uint64_t x) const { return x > 0; }
  int64_t operator()(int64_t x) const { return (x > 0) - (x < 0); }
};

struct Relu {
  template <typename T> T operator()(T x) const { return x < 0 ? 0 : x; }
};

} // namespace

// The names of the standard functions are overloaded; these are not.
#define DLC_FLOAT_FUNCTION(name, expression)                                   \
  static double name(double x) { return expression; }
DLC_FLOAT_FUNCTION(ceilOf, std::ceil(x))
DLC_FLOAT_FUNCTION(floorOf, std::floor(x))
DLC_FLOAT_FUNCTION(roundOf, std::nearbyint(x)) // ties to even
DLC_FLOAT_FUNCTION(sqrtOf, std::sqrt(x))
DLC_FLOAT_FUNCTION(rsqrtOf, 1 / std::sqrt(x))
DLC_FLOAT_FUNCTION(reciprocalOf, 1 / x)
DLC_FLOAT_FUNCTION(expOf, std::exp(x))
DLC_FLOAT_FUNCTION(logOf, std::log(x))
DLC_FLOAT_FUNCTION(sinOf, std::sin(x))
DLC_FLOAT_FUNCTION(cosOf, std::cos(x))
DLC_FLOAT_FUNCTION(tanOf, std::tan(x))
DLC_FLOAT_FUNCTION(asinOf, std::asin(x))
DLC_FLOAT_FUNCTION(acosOf, std::acos(x))
DLC_FLOAT_FUNCTION(atanOf, std::atan(x))
DLC_FLOAT_FUNCTION(sinhOf, std::sinh(x))
DLC_FLOAT_FUNCTION(coshOf, std::cosh(x))
DLC_FLOAT_FUNCTION(tanhOf, std::tanh(x))
DLC_FLOAT_FUNCTION(asinhOf, std::asinh(x))
DLC_FLOAT_FUNCTION(acoshOf, std::acosh(x))
DLC_FLOAT_FUNCTION(atanhOf, std::atanh(x))
DLC_FLOAT_FUNCTION(erfOf, std::erf(x))
#undef DLC_FLOAT_FUNCTION

static Status computeLogicalNot(ComputeContext &context) {
  mapElements<uint64_t, uint64_t, 1>(context,
                                     [](uint64_t x) -> uint64_t { return !x; });
  return Status::ok();
}

static Status computeBitwiseNot(ComputeContext &context) {
  mapElements<uint64_t, uint64_t, 1>(context, [](uint64_t x) { return ~x; });
  return Status::ok();
}

static Status computeIsNan(ComputeContext &context) {
  mapElements<double, uint64_t, 1>(
      context, [](double x) -> uint64_t { return std::isnan(x); });
  return Status::ok();
}

static Status computeIsInf(ComputeContext &context) {
  bool positive = context.attrs().getInt("detect_positive", 1);
  bool negative = context.attrs().getInt("detect_negative", 1);
  mapElements<double, uint64_t, 1>(context, [=](double x) -> uint64_t {
    return std::isinf(x) && (x > 0 ? positive : negative);
  });
  return Status::ok();
}

static Status computeSame(ComputeContext &context) {
  const TensorView &x = context.input(0);
  if (size_t bytes = x.bytes())
    std::memcpy(context.output(0).data, x.data, bytes);
  return Status::ok();
}

std::span<const Operation> ref::unaryOperations() {
  static constexpr Operation operations[] = {
      {"abs", inferSame<numericTypes>, computeNumeric<Abs>},
      {"acos", inferSame<floatTypes>, computeFloat<acosOf>},
      {"acosh", inferSame<floatTypes>, computeFloat<acoshOf>},
      {"asin", inferSame<floatTypes>, computeFloat<asinOf>},
      {"asinh", inferSame<floatTypes>, computeFloat<asinhOf>},
      {"atan", inferSame<floatTypes>, computeFloat<atanOf>},
      {"atanh", inferSame<floatTypes>, computeFloat<atanhOf>},
      {"bitwise_not", inferSame<integerTypes>, computeBitwiseNot},
      {"ceil", inferSame<floatTypes>, computeFloat<ceilOf>},
      {"copy", inferSame<anyType>, computeSame},
      {"cos", inferSame<floatTypes>, computeFloat<cosOf>},
      {"cosh", inferSame<floatTypes>, computeFloat<coshOf>},
      {"erf", inferSame<floatTypes>, computeFloat<erfOf>},
      {"exp", inferSame<floatTypes>, computeFloat<expOf>},
      {"floor", inferSame<floatTypes>, computeFloat<floorOf>},
      {"is_inf", inferTest, computeIsInf},
      {"is_nan", inferTest, computeIsNan},
      {"log", inferSame<floatTypes>, computeFloat<logOf>},
      {"logical_not", inferSame<boolType>, computeLogicalNot},
      {"neg", inferSame<numericTypes>, computeNumeric<Neg>},
      {"reciprocal", inferSame<floatTypes>, computeFloat<reciprocalOf>},
      {"relu", inferSame<numericTypes>, computeNumeric<Relu>},
      {"round", inferSame<floatTypes>, computeFloat<roundOf>},
      {"rsqrt", inferSame<floatTypes>, computeFloat<rsqrtOf>},
      {"sign", inferSame<numericTypes>, computeNumeric<Sign>},
      {"sin", inferSame<floatTypes>, computeFloat<sinOf>},
      {"sinh", inferSame<floatTypes>, computeFloat<sinhOf>},
      {"sqrt", inferSame<floatTypes>, computeFloat<sqrtOf>},
      {"stop_gradient", inferSame<anyType>, computeSame},
      {"tan", inferSame<floatTypes>, computeFloat<tanOf>},
      {"tanh", inferSame<floatTypes>, computeFloat<tanhOf>},
  };
  return operations;
}
