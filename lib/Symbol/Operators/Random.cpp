// SPDX-License-Identifier: Apache-2.0
//
// Random numbers, other ones in each run: functions of the network's state of
// random numbers, so not those of MXNet, but of the same distributions.

#include "Rules.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"

#include <numbers>

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

/// Numbers of [0, 1) of the shape in parameter `shape`; null after a failure.
static Value drawUniform(LoweringContext &n) {
  Ints shape = n.ints("shape");
  if (shape.empty() || llvm::is_contained(shape, 0)) {
    n.unsupported("a shape with unknown dimensions");
    return {};
  }
  return n.randomUniform(shape);
}

/// Numbers of (0, 1], which have a logarithm.
static Value drawPositive(LoweringContext &n) {
  Value u = drawUniform(n);
  return u ? n.b.sub(n.scalarLike(u, 1), u) : u;
}

static void setNumbers(LoweringContext &n, Value numbers) {
  if (!n.p.isNone("dtype"))
    numbers = n.b.cast(numbers, typeParameter(n, "dtype"));
  n.set(0, numbers);
}

/// `value` as `type` has it.
static llvm::APFloat round(double value, mlir::FloatType type,
                           llvm::APFloat::roundingMode mode) {
  llvm::APFloat rounded(value);
  bool losesInfo;
  (void)rounded.convert(type.getFloatSemantics(), mode, &losesInfo);
  return rounded;
}

static bool holds(mlir::FloatType type, double value) {
  return round(value, type, llvm::APFloat::rmNearestTiesToEven).isFinite();
}

/// The largest number of `type` in front of `high`, but not less than `low` is
/// in `type`.
static double lastOf(double low, double high, mlir::FloatType type) {
  llvm::APFloat first = round(low, type, llvm::APFloat::rmNearestTiesToEven);
  llvm::APFloat last = round(high, type, llvm::APFloat::rmTowardNegative);
  if (last.convertToDouble() >= high)
    (void)last.next(/*nextDown=*/true);
  return std::max(first.convertToDouble(), last.convertToDouble());
}

static void lowerUniform(LoweringContext &n) {
  double low = n.p.getFloat("low"), high = n.p.getFloat("high");
  auto type = n.p.isNone("dtype")
                  ? n.b.opBuilder().getF32Type()
                  : llvm::cast<mlir::FloatType>(typeParameter(n, "dtype"));
  mlir::FloatType wide = n.b.opBuilder().getF32Type();
  if (type.getWidth() > wide.getWidth())
    wide = type;
  auto got = ", got " + toText(n.p.get("high"));
  if (!holds(type, low))
    return n.fail("parameter 'low': expected a number of the type, got " +
                  toText(n.p.get("low")));
  if (!holds(type, high) || !holds(wide, high - low))
    return n.fail("parameter 'high': expected a number of the type, as its "
                  "difference to 'low', " +
                  toText(n.p.get("low")) + got);
  if (!(low <= high))
    return n.fail("parameter 'high': expected at least 'low', " +
                  toText(n.p.get("low")) + got);
  Value u = drawUniform(n);
  if (!u)
    return;
  u = n.b.cast(u, wide);
  Value y =
      n.b.add(n.b.mul(u, n.scalarLike(u, high - low)), n.scalarLike(u, low));
  y = n.b.cast(y, type);
  // Sum and type round up to the end.
  n.set(0, n.b.op("min", {y, n.scalarLike(y, lastOf(low, high, type))}));
}

/// Box and Muller's: the length and the angle of a vector of two.
static void lowerNormal(LoweringContext &n) {
  double scale = n.p.getFloat("scale");
  if (!(scale > 0))
    return n.fail("parameter 'scale': expected more than 0, got " +
                  toText(n.p.get("scale")));
  Value u = drawPositive(n);
  if (!u)
    return;
  Value angle = n.b.mul(drawUniform(n), n.scalarLike(u, 2 * std::numbers::pi));
  Value square = n.b.mul(n.b.op("log", {u}), n.scalarLike(u, -2));
  Value y = n.b.mul(n.b.op("sqrt", {square}), n.b.op("cos", {angle}));
  setNumbers(n, n.b.add(n.b.mul(y, n.scalarLike(y, scale)),
                        n.scalarLike(y, n.p.getFloat("loc"))));
}

static void lowerExponential(LoweringContext &n) {
  double rate = n.p.getFloat("lam");
  if (!(rate > 0))
    return n.fail("parameter 'lam': expected more than 0, got " +
                  toText(n.p.get("lam")));
  if (Value u = drawPositive(n))
    setNumbers(n, n.b.mul(n.b.op("log", {u}), n.scalarLike(u, -1 / rate)));
}

/// One draw has 24 bits, so that two reach all numbers of 48.
static void lowerInteger(LoweringContext &n) {
  int64_t low = n.p.getInt("low"), high = n.p.getInt("high"), count = 0;
  if (low >= high)
    return n.fail("parameter 'high': expected more than 'low', " + Twine(low) +
                  ", got " + Twine(high));
  if (__builtin_sub_overflow(high, low, &count) || count > int64_t(1) << 48)
    return n.unsupported("integers from " + Twine(low) + " to " + Twine(high) +
                         ", which are more than 2^48");
  mlir::Type type = n.p.isNone("dtype") ? n.b.elementType(DLC_I32)
                                        : typeParameter(n, "dtype");
  if (type.isInteger(32) && (low < INT32_MIN || high - 1 > INT32_MAX))
    return n.fail("expected integers of int32, got those from " + Twine(low) +
                  " to " + Twine(high));
  Value u = drawUniform(n);
  if (!u)
    return;
  mlir::Type wide = n.b.opBuilder().getF64Type();
  u = n.b.cast(u, wide);
  if (count > 1 << 16) {
    Value more = n.b.cast(drawUniform(n), wide);
    u = n.b.add(u, n.b.mul(more, n.scalarLike(more, 0x1p-24)));
  }
  Value place = n.b.op("floor", {n.b.mul(u, n.scalarLike(u, double(count)))});
  Value integer = n.b.cast(place, n.b.i64());
  n.set(0, n.b.cast(n.b.add(integer, n.b.intScalar(low)), type));
}

//===-- Types -------------------------------------------------------------===//

static void setDtype(TypeRelation &r, rt::DataType otherwise) {
  r.setOutput(0, r.parameters.isNone("dtype") ? otherwise
                                              : r.parameters.getType("dtype"));
}

static void relateFloats(TypeRelation &r) {
  setDtype(r, DLC_F32);
  if (r.outputCount() && !rt::isFloat(r.output(0)))
    r.fail("parameter 'dtype': expected float16, float32 or float64, got " +
           toText(r.output(0)));
}

static void relateIntegers(TypeRelation &r) {
  setDtype(r, DLC_I32);
  if (r.outputCount() && r.output(0) != DLC_I32 && r.output(0) != DLC_I64)
    r.fail("parameter 'dtype': expected int32 or int64, got " +
           toText(r.output(0)));
}

//===-- Declarations ------------------------------------------------------===//

/// `own` parameters come in front of those that all have.
static Operator random(std::string_view name,
                       std::vector<std::string_view> aliases,
                       std::string_view summary, std::vector<Parameter> own,
                       void (*lower)(LoweringContext &)) {
  own.push_back(optional("shape", ParameterKind::Ints, "()", "The shape.")
                    .within(0, kMaxExtent));
  own.push_back(ignored("ctx", ParameterKind::Text, ""));
  own.push_back(optional("dtype", ParameterKind::Type, "None",
                         "Type of the elements; None: float32, or int32 of "
                         "integers."));
  return {.name = name,
          .aliases = std::move(aliases),
          .summary = summary,
          .details = "Other ones in each run, for training or not.",
          .parameters = std::move(own),
          .inputs = {},
          .relateTypes = relateFloats,
          .lower = lower};
}

std::span<const Operator> dlc::symbol::randomOperators() {
  static const std::vector<Operator> rows = [] {
    Operator integer =
        random("_random_randint", {"random_randint"},
               "Random integers of an interval, their probabilities equal up "
               "to one part in 256",
               {required("low", ParameterKind::Int, "The smallest."),
                required("high", ParameterKind::Int,
                         "One more than the "
                         "largest.")},
               lowerInteger);
    integer.relateTypes = relateIntegers;
    return std::vector<Operator>{
        random("_random_uniform", {"uniform", "random_uniform"},
               "Random numbers of an interval",
               {optional("low", ParameterKind::Float, "0", "Where it begins."),
                optional("high", ParameterKind::Float, "1",
                         "Where it ends, exclusive.")},
               lowerUniform),
        random("_random_normal", {"normal", "random_normal"},
               "Random numbers of a normal distribution",
               {optional("loc", ParameterKind::Float, "0", "Its mean."),
                optional("scale", ParameterKind::Float, "1",
                         "Its standard deviation, above 0.")},
               lowerNormal),
        random(
            "_random_exponential", {"random_exponential"},
            "Random numbers of an exponential distribution",
            {optional("lam", ParameterKind::Float, "1", "Its rate, above 0.")},
            lowerExponential),
        integer};
  }();
  return rows;
}
