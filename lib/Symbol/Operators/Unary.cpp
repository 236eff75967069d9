// SPDX-License-Identifier: Apache-2.0
//
// Functions of one operand, element by element, and what leaves it as it is.

#include "Rules.h"

#include "mlir/IR/TypeUtilities.h"

#include <cmath>
#include <numbers>

using namespace dlc::symbol;
using mlir::Value;

//===-- Functions that Graph does not have --------------------------------===//

static Value truncate(LoweringContext &n, Value x) {
  return n.b.mul(n.b.op("sign", {x}), n.b.op("floor", {n.b.op("abs", {x})}));
}

static void lowerTrunc(LoweringContext &n) { n.set(0, truncate(n, n.in(0))); }

/// Halves go away from zero. The distance to the integer below is exact, which
/// x + 0.5 is not.
static void lowerRound(LoweringContext &n) {
  Value x = n.in(0), magnitude = n.b.op("abs", {x});
  Value whole = n.b.op("floor", {magnitude});
  Value isUp = n.b.op("greater_equal",
                      {n.b.sub(magnitude, whole), n.scalarLike(x, 0.5)});
  Value rounded = n.b.add(whole, n.b.castLike(isUp, x));
  n.set(0, n.b.mul(n.b.op("sign", {x}), rounded));
}

/// Halves go down.
static void lowerRint(LoweringContext &n) {
  Value x = n.in(0);
  Value below = n.b.op("floor", {x}), above = n.b.op("ceil", {x});
  Value isDown = n.b.op("less_equal", {n.b.sub(x, below), n.b.sub(above, x)});
  n.set(0, n.b.op("select", {isDown, below, above}));
}

static void lowerSquare(LoweringContext &n) {
  n.set(0, n.b.mul(n.in(0), n.in(0)));
}

/// `scale` times `name`(x).
template <Mnemonic name>
static void lowerScaled(LoweringContext &n, double by) {
  Value y = n.b.op(name.str(), {n.in(0)});
  n.set(0, n.b.mul(y, n.scalarLike(y, by)));
}

static void lowerLog2(LoweringContext &n) {
  lowerScaled<"log">(n, std::numbers::log2e);
}

static void lowerLog10(LoweringContext &n) {
  lowerScaled<"log">(n, std::numbers::log10e);
}

/// log(u) x / (u - 1), where u = 1 + x, is exact to the last bits also for
/// small x; where u is 1, so is the result x (D. Goldberg, What every computer
/// scientist should know about floating-point arithmetic, 1991, theorem 4).
static void lowerLog1p(LoweringContext &n) {
  Value x = n.in(0), one = n.scalarLike(x, 1);
  Value u = n.b.add(x, one);
  Value exact = n.b.mul(n.b.op("log", {u}), n.b.div(x, n.b.sub(u, one)));
  // At infinity the correction is inf / inf.
  Value isLarge = n.b.op("greater", {x, n.scalarLike(x, 1e4)});
  exact = n.b.op("select", {isLarge, n.b.op("log", {u}), exact});
  n.set(0, n.b.op("select", {n.b.op("equal", {u, one}), x, exact}));
}

/// e^x - 1 cancels near 0; there it is 2 t / (1 - t) with t = tanh(x / 2).
static void lowerExpm1(LoweringContext &n) {
  Value x = n.in(0), one = n.scalarLike(x, 1);
  Value t = n.b.op("tanh", {n.b.mul(x, n.scalarLike(x, 0.5))});
  Value near = n.b.div(n.b.add(t, t), n.b.sub(one, t));
  Value isNear = n.b.op("less", {n.b.op("abs", {x}), one});
  Value far = n.b.sub(n.b.op("exp", {x}), one);
  n.set(0, n.b.op("select", {isNear, near, far}));
}

static Value cubeRoot(LoweringContext &n) {
  Value x = n.in(0);
  Value root = n.b.op("pow", {n.b.op("abs", {x}), n.scalarLike(x, 1.0 / 3)});
  return n.b.mul(n.b.op("sign", {x}), root);
}

static void lowerCbrt(LoweringContext &n) { n.set(0, cubeRoot(n)); }

static void lowerRcbrt(LoweringContext &n) {
  n.set(0, n.b.op("reciprocal", {cubeRoot(n)}));
}

static void lowerDegrees(LoweringContext &n) {
  n.set(0, n.b.mul(n.in(0), n.scalarLike(n.in(0), 180 / std::numbers::pi)));
}

static void lowerRadians(LoweringContext &n) {
  n.set(0, n.b.mul(n.in(0), n.scalarLike(n.in(0), std::numbers::pi / 180)));
}

static void lowerLogicalNot(LoweringContext &n) {
  Value x = n.in(0);
  n.set(0, n.b.castLike(n.b.op("equal", {x, n.scalarLike(x, 0)}), x));
}

//===-- Functions with parameters -----------------------------------------===//

static void lowerHardSigmoid(LoweringContext &n) {
  n.set(0, n.b.op("hard_sigmoid", {n.in(0)},
                  {{"alpha", static_cast<float>(n.p.getFloat("alpha"))},
                   {"beta", static_cast<float>(n.p.getFloat("beta"))}}));
}

static void lowerClip(LoweringContext &n) {
  Value x = n.in(0);
  n.set(0, n.b.op("clamp", {x, n.scalarLike(x, n.p.getFloat("a_min")),
                            n.scalarLike(x, n.p.getFloat("a_max"))}));
}

/// Zeros in place of what 32 bits do not hold. Of float16 that is infinities
/// alone.
static Value withinInt32(LoweringContext &n, Value x) {
  Value limit = n.scalarLike(
      x, mlir::getElementTypeOrSelf(x).isF16() ? 65536 : 2147483648.0);
  Value isWithin = n.b.op("less", {n.b.op("abs", {x}), limit});
  return n.b.op("select", {isWithin, x, n.scalarLike(x, 0)});
}

/// As the processors that MXNet ran on do it, floats become short integers by
/// way of 32 bits: what these hold and the short ones do not wraps around, and
/// what these do not hold is 0, the last bits of what stands for it.
static void lowerCast(LoweringContext &n) {
  Value x = n.in(0);
  mlir::Type target = typeParameter(n, "dtype");
  if (llvm::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(x)) &&
      target.isInteger() && target.getIntOrFloatBitWidth() < 32 &&
      !target.isInteger(1))
    x = n.b.cast(withinInt32(n, x), n.b.opBuilder().getI32Type());
  n.set(0, n.b.cast(x, target));
}

/// s = scalar: (s x)^2 / 2 within 1 / s^2 of 0, |x| - 1 / (2 s^2) outside.
static void lowerSmoothL1(LoweringContext &n) {
  Value x = n.in(0), magnitude = n.b.op("abs", {x});
  double square = n.p.getFloat("scalar") * n.p.getFloat("scalar");
  Value inside = n.b.mul(n.b.mul(x, x), n.scalarLike(x, 0.5 * square));
  Value outside = n.b.sub(magnitude, n.scalarLike(x, 0.5 / square));
  Value isInside = n.b.op("less", {magnitude, n.scalarLike(x, 1 / square)});
  n.set(0, n.b.op("select", {isInside, inside, outside}));
}

template <int value> static void lowerFilledLike(LoweringContext &n) {
  Value x = n.in(0);
  n.set(0, n.b.op("expand", {n.scalarLike(x, value), n.b.shapeOf(x)}));
}

//===-- Declarations ------------------------------------------------------===//

namespace {
struct Function {
  std::string_view name, summary;
  void (*lower)(LoweringContext &);
  std::vector<std::string_view> aliases = {};
};
} // namespace

static const Function functions[] = {
    {"abs",
     "Absolute value",
     lowerSimple<"abs">,
     {"_npi_absolute", "_npi_abs"}},
    {"arccos", "Inverse cosine", lowerSimple<"acos">, {"_npi_arccos"}},
    {"arccosh",
     "Inverse hyperbolic cosine",
     lowerSimple<"acosh">,
     {"_npi_arccosh"}},
    {"arcsin", "Inverse sine", lowerSimple<"asin">, {"_npi_arcsin"}},
    {"arcsinh",
     "Inverse hyperbolic sine",
     lowerSimple<"asinh">,
     {"_npi_arcsinh"}},
    {"arctan", "Inverse tangent", lowerSimple<"atan">, {"_npi_arctan"}},
    {"arctanh",
     "Inverse hyperbolic tangent",
     lowerSimple<"atanh">,
     {"_npi_arctanh"}},
    {"cbrt", "Cube root", lowerCbrt, {"_npi_cbrt"}},
    {"ceil",
     "Smallest integer that is not below",
     lowerSimple<"ceil">,
     {"_npi_ceil"}},
    {"cos", "Cosine", lowerSimple<"cos">, {"_npi_cos"}},
    {"cosh", "Hyperbolic cosine", lowerSimple<"cosh">, {"_npi_cosh"}},
    {"degrees",
     "Radians in degrees",
     lowerDegrees,
     {"_npi_degrees", "_npi_rad2deg"}},
    {"erf", "Error function", lowerSimple<"erf">, {"_npx_erf"}},
    {"exp", "e to the power of x", lowerSimple<"exp">, {"_npi_exp"}},
    {"expm1", "e to the power of x, less 1", lowerExpm1, {"_npi_expm1"}},
    {"fix", "Integer nearest towards zero", lowerTrunc, {"_npi_fix"}},
    {"floor",
     "Largest integer that is not above",
     lowerSimple<"floor">,
     {"_npi_floor"}},
    {"log", "Natural logarithm", lowerSimple<"log">, {"_npi_log"}},
    {"log10", "Logarithm to base 10", lowerLog10, {"_npi_log10"}},
    {"log1p", "Natural logarithm of 1 + x", lowerLog1p, {"_npi_log1p"}},
    {"log2", "Logarithm to base 2", lowerLog2, {"_npi_log2"}},
    {"logical_not", "1 where x is 0, else 0", lowerLogicalNot},
    {"negative", "-x", lowerSimple<"neg">, {"_npi_negative"}},
    {"radians",
     "Degrees in radians",
     lowerRadians,
     {"_npi_radians", "_npi_deg2rad"}},
    {"rcbrt", "Reciprocal of the cube root", lowerRcbrt},
    {"reciprocal", "1 / x", lowerSimple<"reciprocal">, {"_npi_reciprocal"}},
    {"relu",
     "x where it is positive, else 0",
     lowerSimple<"relu">,
     {"_npx_relu"}},
    {"rint", "Nearest integer; halves go down", lowerRint, {"_npi_rint"}},
    {"round", "Nearest integer; halves go away from zero", lowerRound},
    {"rsqrt", "Reciprocal of the square root", lowerSimple<"rsqrt">},
    {"sigmoid", "1 / (1 + e^-x)", lowerSimple<"sigmoid">, {"_npx_sigmoid"}},
    {"sign", "-1, 0 or 1", lowerSimple<"sign">, {"_npi_sign"}},
    {"sin", "Sine", lowerSimple<"sin">, {"_npi_sin"}},
    {"sinh", "Hyperbolic sine", lowerSimple<"sinh">, {"_npi_sinh"}},
    {"softsign", "x / (1 + |x|)", lowerSimple<"softsign">},
    {"sqrt", "Square root", lowerSimple<"sqrt">, {"_npi_sqrt"}},
    {"square", "x * x", lowerSquare, {"_npi_square"}},
    {"tan", "Tangent", lowerSimple<"tan">, {"_npi_tan"}},
    {"tanh", "Hyperbolic tangent", lowerSimple<"tanh">, {"_npi_tanh"}},
    {"trunc", "Integer nearest towards zero", lowerTrunc, {"_npi_trunc"}},
    {"_copy", "The operand", lowerIdentity, {"identity", "_np_copy"}},
    {"BlockGrad",
     "The operand, through which no gradient flows",
     lowerSimple<"stop_gradient">,
     {"stop_gradient"}},
    {"make_loss", "The operand, of which the gradient is 1", lowerIdentity},
    {"zeros_like", "Zeros of the operand's shape", lowerFilledLike<0>},
    {"ones_like", "Ones of the operand's shape", lowerFilledLike<1>},
};

static void addFunctions(std::vector<Operator> &rows) {
  for (const Function &function : functions) {
    Operator op;
    op.name = function.name;
    op.aliases = function.aliases;
    op.summary = function.summary;
    op.relateShapes = sameShapes;
    op.lower = function.lower;
    if (op.name == "make_loss")
      op.outputs = {{"loss"}};
    rows.push_back(std::move(op));
  }
}

static std::vector<Operator> makeRows() {
  std::vector<Operator> rows = {
      {.name = "Cast",
       .aliases = {"_npi_cast", "_npx_cast", "cast"},
       .summary = "Conversion of elements to another type",
       .parameters = {required("dtype", ParameterKind::Type,
                               "Type of the result.")},
       .relateShapes = sameShapes,
       .relateTypes = convertsToDtype,
       .lower = lowerCast},
      {.name = "amp_cast",
       .summary = "Conversion that mixed precision put in",
       .parameters = {required("dtype", ParameterKind::Type,
                               "Type of the result.")},
       .relateShapes = sameShapes,
       .relateTypes = convertsToDtype,
       .lower = lowerCast},
      {.name = "clip",
       .aliases = {"_npi_clip"},
       .summary = "Elements limited to a range",
       .parameters = {required("a_min", ParameterKind::Float, "Lower limit."),
                      required("a_max", ParameterKind::Float, "Upper limit.")},
       .relateShapes = sameShapes,
       .lower = lowerClip},
      {.name = "hard_sigmoid",
       .summary = "max(0, min(1, alpha x + beta))",
       .parameters = {optional("alpha", ParameterKind::Float, "0.2", "Slope."),
                      optional("beta", ParameterKind::Float, "0.5",
                               "Value at 0.")},
       .relateShapes = sameShapes,
       .lower = lowerHardSigmoid},
      {.name = "smooth_l1",
       .aliases = {"_npx_smooth_l1"},
       .summary = "Square near 0, absolute value further off",
       .details = "(s x)^2 / 2 where |x| < 1 / s^2, else |x| - 1 / (2 s^2); "
                  "s is `scalar`.",
       .parameters = {optional("scalar", ParameterKind::Float, "1",
                               "What makes the square narrow.")},
       .relateShapes = sameShapes,
       .lower = lowerSmoothL1},
  };
  addFunctions(rows);
  return rows;
}

std::span<const Operator> dlc::symbol::unaryOperators() {
  static const std::vector<Operator> rows = makeRows();
  return rows;
}
