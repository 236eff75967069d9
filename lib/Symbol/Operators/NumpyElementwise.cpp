// SPDX-License-Identifier: Apache-2.0
//
// MXNet's NumPy operators element by element, where they differ from the others
// of that meaning: operands of two types, results of bool, scalars that make
// floats of integers. Those that do not differ are aliases.

#include "Rules.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

using Function = Value (*)(GraphBuilder &, Value, Value);

//===-- Types -------------------------------------------------------------===//

static bool isFloat(rt::DataType type) {
  return type == DLC_F16 || type == DLC_F32 || type == DLC_F64;
}

static int widthOf(rt::DataType type) {
  return type == DLC_BOOL ? 0 : static_cast<int>(rt::sizeOf(type));
}

/// Of a float and an integer the float, of two alike the wider one.
static rt::DataType promoted(rt::DataType a, rt::DataType b) {
  if (a == DLC_INVALID_TYPE || b == DLC_INVALID_TYPE)
    return DLC_INVALID_TYPE;
  if (isFloat(a) != isFloat(b))
    return isFloat(a) ? a : b;
  return widthOf(a) >= widthOf(b) ? a : b;
}

static void promoteTypes(TypeRelation &r) {
  r.setOutput(0, promoted(r.input(0), r.input(1)));
}

/// Integers divide to float32.
static void divideTypes(TypeRelation &r) {
  rt::DataType type = promoted(r.input(0), r.input(1));
  if (type != DLC_INVALID_TYPE)
    r.setOutput(0, isFloat(type) ? type : DLC_F32);
}

static void givesBool(TypeRelation &r) {
  for (size_t i = 1; i < r.inputCount(); ++i)
    r.equateInputs(0, i);
  r.setOutput(0, DLC_BOOL);
}

static rt::DataType withScalar(TypeRelation &r) {
  rt::DataType type = r.input(0);
  if (type == DLC_INVALID_TYPE || isFloat(type))
    return type;
  if (!r.parameters.getBool("is_int"))
    return DLC_F64;
  return type == DLC_BOOL ? DLC_I64 : type;
}

static void scalarTypes(TypeRelation &r) { r.setOutput(0, withScalar(r)); }

static void divideScalarTypes(TypeRelation &r) {
  rt::DataType type = r.input(0);
  if (type != DLC_INVALID_TYPE)
    r.setOutput(0, isFloat(type) ? type : DLC_F32);
}

//===-- Functions ---------------------------------------------------------===//

template <Mnemonic name>
static Value simple(GraphBuilder &b, Value x, Value y) {
  return b.op(name.str(), {x, y});
}

template <Function function>
static Value swapped(GraphBuilder &b, Value x, Value y) {
  return function(b, y, x);
}

/// The sign is that of the divisor; x mod 0 is 0.
static Value modulo(GraphBuilder &b, Value x, Value y) {
  Value zero = b.scalarLike(x, 0);
  return b.op("select", {b.op("equal", {y, zero}), zero, b.op("mod", {x, y})});
}

/// |x| with the sign of y, whose zeros have none here.
static Value copySign(GraphBuilder &b, Value x, Value y) {
  Value magnitude = b.op("abs", {x});
  Value isBelow = b.op("less", {y, b.scalarLike(y, 0)});
  return b.op("select", {isBelow, b.op("neg", {magnitude}), magnitude});
}

/// The angle of (y, x): atan(y / x), turned by half a circle left of 0.
static Value arcTan2(GraphBuilder &b, Value y, Value x) {
  auto at = [&](double value) { return b.scalarLike(x, value); };
  constexpr double pi = std::numbers::pi;
  Value zero = at(0), isDown = b.op("less", {y, zero});
  Value half = b.op("select", {isDown, at(-pi), at(pi)});
  Value quarter = b.op("select", {isDown, at(-pi / 2), at(pi / 2)});
  Value angle = b.op("atan", {b.div(y, x)});
  angle = b.op("select", {b.op("less", {x, zero}), b.add(angle, half), angle});
  Value onAxis = b.op("select", {b.op("equal", {y, zero}), zero, quarter});
  return b.op("select", {b.op("equal", {x, zero}), onAxis, angle});
}

static Value loadExponent(GraphBuilder &b, Value x, Value y) {
  return b.mul(x, b.op("pow", {b.scalarLike(y, 2), y}));
}

/// Anything but 0 is true to operations on bits of bool.
template <Mnemonic bits, Mnemonic truth>
static Value bitwise(GraphBuilder &b, Value x, Value y) {
  bool isBool = GraphBuilder::elementOf(x).isInteger(1);
  return b.op(isBool ? truth.str() : bits.str(), {x, y});
}

static Value notEqual(GraphBuilder &b, Value x, Value y) {
  return b.op("logical_not", {b.op("equal", {x, y})});
}

//===-- Forms -------------------------------------------------------------===//

/// Operands become of the result's type, `floats` where that is divided.
static mlir::Type commonType(LoweringContext &n, bool divides) {
  mlir::Type a = GraphBuilder::elementOf(n.in(0)),
             b = n.inputCount() > 1 ? GraphBuilder::elementOf(n.in(1)) : a;
  bool floatA = llvm::isa<mlir::FloatType>(a),
       floatB = llvm::isa<mlir::FloatType>(b);
  mlir::Type common = floatA != floatB ? (floatA ? a : b)
                      : a.getIntOrFloatBitWidth() >= b.getIntOrFloatBitWidth()
                          ? a
                          : b;
  return divides && !llvm::isa<mlir::FloatType>(common) ? n.b.f32() : common;
}

template <Function function, bool divides = false>
static void lowerPromoted(LoweringContext &n) {
  mlir::Type type = commonType(n, divides);
  n.set(0, function(n.b, n.b.cast(n.in(0), type), n.b.cast(n.in(1), type)));
}

template <Function function> static void lowerPlain(LoweringContext &n) {
  n.set(0, function(n.b, n.in(0), n.in(1)));
}

template <Function function, bool divides = false>
static void lowerScalar(LoweringContext &n) {
  mlir::Type type = GraphBuilder::elementOf(n.in(0));
  if (!llvm::isa<mlir::FloatType>(type)) {
    if (divides)
      type = n.b.f32();
    else if (!n.p.getBool("is_int"))
      type = n.b.opBuilder().getF64Type();
    else if (type.isInteger(1))
      type = n.b.i64();
  }
  Value x = n.b.cast(n.in(0), type);
  n.set(0, function(n.b, x, n.b.scalar(type, n.p.getFloat("scalar"))));
}

/// The scalar is of the data's type: comparisons and operations on bits.
template <Function function> static void lowerLikeData(LoweringContext &n) {
  Value x = n.in(0);
  n.set(0, function(n.b, x, n.scalarLike(x, n.p.getFloat("scalar"))));
}

/// Comparisons with a fraction are those of floats.
template <Function function> static void lowerCompared(LoweringContext &n) {
  Value x = n.in(0);
  if (!llvm::isa<mlir::FloatType>(GraphBuilder::elementOf(x)))
    x = n.b.cast(x, n.b.opBuilder().getF64Type());
  n.set(0, function(n.b, x, n.scalarLike(x, n.p.getFloat("scalar"))));
}

//===-- Tests and corrections ---------------------------------------------===//

static void lowerNot(LoweringContext &n) {
  n.set(0, n.b.op("equal", {n.in(0), n.scalarLike(n.in(0), 0)}));
}

/// Integers are always finite.
template <bool wantsInf, bool positive, bool negative>
static void lowerIs(LoweringContext &n) {
  Value x = n.in(0);
  if (!llvm::isa<mlir::FloatType>(GraphBuilder::elementOf(x)))
    x = n.b.cast(x, n.b.f32());
  n.set(0, wantsInf ? n.b.op("is_inf", {x},
                             {{"detect_positive", positive},
                              {"detect_negative", negative}})
                    : n.b.op("is_nan", {x}));
}

static void lowerIsFinite(LoweringContext &n) {
  Value x = n.in(0);
  if (!llvm::isa<mlir::FloatType>(GraphBuilder::elementOf(x)))
    x = n.b.cast(x, n.b.f32());
  Value isNot =
      n.b.op("logical_or", {n.b.op("is_inf", {x}), n.b.op("is_nan", {x})});
  n.set(0, n.b.op("logical_not", {isNot}));
}

static void lowerBitNot(LoweringContext &n) {
  bool isBool = GraphBuilder::elementOf(n.in(0)).isInteger(1);
  n.set(0, n.b.op(isBool ? "logical_not" : "bitwise_not", {n.in(0)}));
}

static void lowerNanToNum(LoweringContext &n) {
  Value x = n.in(0);
  auto type = llvm::dyn_cast<mlir::FloatType>(GraphBuilder::elementOf(x));
  if (!type)
    return n.set(0, x);
  llvm::APFloat most = llvm::APFloat::getLargest(type.getFloatSemantics());
  bool losesInfo = false;
  most.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
               &losesInfo);
  double largest = most.convertToDouble();
  auto orLargest = [&](const char *name, double fallback) {
    return n.scalarLike(x, n.p.isNone(name) ? fallback : n.p.getFloat(name));
  };
  auto inf = [&](bool positive) {
    return n.b.op(
        "is_inf", {x},
        {{"detect_positive", positive}, {"detect_negative", !positive}});
  };
  Value y = n.b.op("select", {n.b.op("is_nan", {x}),
                              n.scalarLike(x, n.p.getFloat("nan")), x});
  y = n.b.op("select", {inf(true), orLargest("posinf", largest), y});
  n.set(0, n.b.op("select", {inf(false), orLargest("neginf", -largest), y}));
}

/// Halves go to even numbers.
static void lowerAround(LoweringContext &n) {
  Value x = n.in(0);
  if (!llvm::isa<mlir::FloatType>(GraphBuilder::elementOf(x)))
    return n.set(0, x);
  double scale = std::pow(10.0, static_cast<double>(n.p.getInt("decimals")));
  Value factor = n.scalarLike(x, scale);
  n.set(0, n.b.div(n.b.op("round", {n.b.mul(x, factor)}), factor));
}

//===-- Choices -----------------------------------------------------------===//

static void promoteChoices(TypeRelation &r) {
  r.setOutput(0, promoted(r.input(1), r.input(2)));
}

static void typeOfChoice(TypeRelation &r) { r.equate(1, 0); }
static void choiceOfScalars(TypeRelation &r) { r.setOutput(0, DLC_F32); }

static void lowerWhere(LoweringContext &n) {
  mlir::Type a = GraphBuilder::elementOf(n.in(1)),
             b = GraphBuilder::elementOf(n.in(2));
  bool floatA = llvm::isa<mlir::FloatType>(a),
       floatB = llvm::isa<mlir::FloatType>(b);
  mlir::Type type = floatA != floatB ? (floatA ? a : b)
                    : a.getIntOrFloatBitWidth() >= b.getIntOrFloatBitWidth()
                        ? a
                        : b;
  n.set(0,
        n.b.op("select", {n.b.cast(n.in(0), n.b.boolean()),
                          n.b.cast(n.in(1), type), n.b.cast(n.in(2), type)}));
}

template <bool isLeft> static void lowerWhereScalar(LoweringContext &n) {
  Value x = n.in(1), scalar = n.scalarLike(x, n.p.getFloat("scalar"));
  Value condition = n.b.cast(n.in(0), n.b.boolean());
  n.set(0, n.b.op("select",
                  {condition, isLeft ? scalar : x, isLeft ? x : scalar}));
}

static void lowerWhereScalars(LoweringContext &n) {
  n.set(0, n.b.op("select", {n.b.cast(n.in(0), n.b.boolean()),
                             n.b.scalar(n.b.f32(), n.p.getFloat("x")),
                             n.b.scalar(n.b.f32(), n.p.getFloat("y"))}));
}

//===-- Declarations ------------------------------------------------------===//

namespace {
struct Binary {
  std::string_view name, summary;
  void (*lower)(LoweringContext &);
  void (*types)(TypeRelation &) = nullptr; ///< Null: all alike.
};
} // namespace

static const Binary binaries[] = {
    {"_npi_add", "Sum", lowerPromoted<simple<"add">>, promoteTypes},
    {"_npi_subtract", "Difference", lowerPromoted<simple<"sub">>, promoteTypes},
    {"_npi_multiply", "Product", lowerPromoted<simple<"mul">>, promoteTypes},
    {"_npi_true_divide", "Quotient of floats",
     lowerPromoted<simple<"div">, true>, divideTypes},
    {"_npi_mod", "Remainder with the divisor's sign", lowerPromoted<modulo>,
     promoteTypes},
    {"_npi_power", "Power", lowerPromoted<simple<"pow">>, promoteTypes},
    {"_npi_copysign", "Magnitude of the one, sign of the other",
     lowerPlain<copySign>},
    {"_npi_arctan2", "Angle of a point", lowerPlain<arcTan2>},
    {"_npi_ldexp", "The one times 2 to the power of the other",
     lowerPlain<loadExponent>},
    {"_npi_bitwise_and", "And of every bit",
     lowerPlain<bitwise<"bitwise_and", "logical_and">>},
    {"_npi_bitwise_or", "Or of every bit",
     lowerPlain<bitwise<"bitwise_or", "logical_or">>},
    {"_npi_bitwise_xor", "Exclusive or of every bit",
     lowerPlain<bitwise<"bitwise_xor", "logical_xor">>},
    {"_npi_equal", "Whether equal", lowerPlain<simple<"equal">>, givesBool},
    {"_npi_not_equal", "Whether not equal", lowerPlain<notEqual>, givesBool},
    {"_npi_greater", "Whether greater", lowerPlain<simple<"greater">>,
     givesBool},
    {"_npi_greater_equal", "Whether greater or equal",
     lowerPlain<simple<"greater_equal">>, givesBool},
    {"_npi_less", "Whether less", lowerPlain<simple<"less">>, givesBool},
    {"_npi_less_equal", "Whether less or equal",
     lowerPlain<simple<"less_equal">>, givesBool},
};

static const Binary scalars[] = {
    {"_npi_add_scalar", "Sum with a scalar", lowerScalar<simple<"add">>,
     scalarTypes},
    {"_npi_subtract_scalar", "Difference to a scalar",
     lowerScalar<simple<"sub">>, scalarTypes},
    {"_npi_rsubtract_scalar", "Difference from a scalar",
     lowerScalar<swapped<simple<"sub">>>, scalarTypes},
    {"_npi_multiply_scalar", "Product with a scalar",
     lowerScalar<simple<"mul">>, scalarTypes},
    {"_npi_true_divide_scalar", "Quotient by a scalar",
     lowerScalar<simple<"div">, true>, divideScalarTypes},
    {"_npi_rtrue_divide_scalar", "Quotient of a scalar",
     lowerScalar<swapped<simple<"div">>, true>, divideScalarTypes},
    {"_npi_mod_scalar", "Remainder by a scalar", lowerScalar<modulo>,
     scalarTypes},
    {"_npi_rmod_scalar", "Remainder of a scalar", lowerScalar<swapped<modulo>>,
     scalarTypes},
    {"_npi_power_scalar", "Power by a scalar", lowerScalar<simple<"pow">>,
     scalarTypes},
    {"_npi_rpower_scalar", "Power of a scalar",
     lowerScalar<swapped<simple<"pow">>>, scalarTypes},
    {"_npi_copysign_scalar", "Magnitude with the sign of a scalar",
     lowerScalar<copySign>, scalarTypes},
    {"_npi_rcopysign_scalar", "Magnitude of a scalar with signs",
     lowerScalar<swapped<copySign>>, scalarTypes},
    {"_npi_arctan2_scalar", "Angle of a point at a scalar",
     lowerScalar<arcTan2>, scalarTypes},
    {"_npi_rarctan2_scalar", "Angle of a point of a scalar",
     lowerScalar<swapped<arcTan2>>, scalarTypes},
    {"_npi_ldexp_scalar", "The data times 2 to the power of a scalar",
     lowerScalar<loadExponent>, scalarTypes},
    {"_npi_rldexp_scalar", "A scalar times 2 to the power of the data",
     lowerScalar<swapped<loadExponent>>, scalarTypes},
    {"_npi_bitwise_and_scalar", "And of every bit with a scalar",
     lowerLikeData<bitwise<"bitwise_and", "logical_and">>},
    {"_npi_bitwise_or_scalar", "Or of every bit with a scalar",
     lowerLikeData<bitwise<"bitwise_or", "logical_or">>},
    {"_npi_bitwise_xor_scalar", "Exclusive or of every bit with a scalar",
     lowerLikeData<bitwise<"bitwise_xor", "logical_xor">>},
    {"_npi_equal_scalar", "Whether equal to a scalar",
     lowerCompared<simple<"equal">>, givesBool},
    {"_npi_not_equal_scalar", "Whether not equal to a scalar",
     lowerCompared<notEqual>, givesBool},
    {"_npi_greater_scalar", "Whether greater than a scalar",
     lowerCompared<simple<"greater">>, givesBool},
    {"_npi_greater_equal_scalar", "Whether greater than a scalar or equal",
     lowerCompared<simple<"greater_equal">>, givesBool},
    {"_npi_less_scalar", "Whether less than a scalar",
     lowerCompared<simple<"less">>, givesBool},
    {"_npi_less_equal_scalar", "Whether less than a scalar or equal",
     lowerCompared<simple<"less_equal">>, givesBool},
};

static const Binary tests[] = {
    {"_npi_logical_not", "Whether 0", lowerNot, givesBool},
    {"_npi_isnan", "Whether NaN", lowerIs<false, true, true>, givesBool},
    {"_npi_isinf", "Whether infinite", lowerIs<true, true, true>, givesBool},
    {"_npi_isposinf", "Whether infinite above", lowerIs<true, true, false>,
     givesBool},
    {"_npi_isneginf", "Whether infinite below", lowerIs<true, false, true>,
     givesBool},
    {"_npi_isfinite", "Whether a finite number", lowerIsFinite, givesBool},
    {"_npi_bitwise_not", "Negation of every bit", lowerBitNot},
};

static void addTables(std::vector<Operator> &rows) {
  auto add = [&](const Binary &each, std::vector<Input> inputs) -> Operator & {
    Operator op;
    op.name = each.name;
    op.summary = each.summary;
    op.inputs = std::move(inputs);
    op.relateTypes = each.types;
    op.lower = each.lower;
    rows.push_back(std::move(op));
    return rows.back();
  };
  for (const Binary &each : binaries)
    add(each, {{"lhs"}, {"rhs"}}).details =
        each.types == promoteTypes
            ? "Dimensions of extent 1 are repeated; of two types the result "
              "has the float, or the wider one."
            : "Dimensions of extent 1 are repeated.";
  for (const Binary &each : scalars) {
    Operator &op = add(each, {{"data"}});
    op.relateShapes = sameShapes;
    op.parameters = {
        optional("scalar", ParameterKind::Float, "1", "The scalar."),
        optional(
            "is_int", ParameterKind::Bool, "True",
            "The scalar is a whole number; else integers become float64.")};
  }
  for (const Binary &each : tests)
    add(each, {{"data"}}).relateShapes = sameShapes;
}

std::span<const Operator> dlc::symbol::numpyElementwiseOperators() {
  static const std::vector<Operator> rows = [] {
    std::vector<Operator> rows = {
        {.name = "_npi_nan_to_num",
         .summary = "Numbers in the place of NaN and infinities",
         .parameters = {ignored("copy", ParameterKind::Bool, "True"),
                        optional("nan", ParameterKind::Float, "0",
                                 "What NaN becomes."),
                        optional("posinf", ParameterKind::Float, "None",
                                 "What infinity becomes; None: the largest "
                                 "number."),
                        optional("neginf", ParameterKind::Float, "None",
                                 "The same below.")},
         .relateShapes = sameShapes,
         .lower = lowerNanToNum},
        {.name = "_npi_around",
         .summary = "Rounding to a number of decimals",
         .details = "Halves go to even numbers.",
         .parameters = {optional("decimals", ParameterKind::Int, "0",
                                 "How many; negative ones round tens.")
                            .within(-30, 30)},
         .inputs = {{"x"}},
         .relateShapes = sameShapes,
         .lower = lowerAround},
        {.name = "_npi_where",
         .summary =
             "The one operand where a condition is not 0, else the other",
         .details = "Dimensions of extent 1 are repeated.",
         .inputs = {{"condition"}, {"x"}, {"y"}},
         .relateTypes = promoteChoices,
         .lower = lowerWhere},
        {.name = "_npi_where_lscalar",
         .summary = "A scalar where a condition is not 0, else the data",
         .parameters = {optional("scalar", ParameterKind::Float, "0",
                                 "The scalar.")},
         .inputs = {{"condition"}, {"x"}},
         .relateTypes = typeOfChoice,
         .lower = lowerWhereScalar<true>},
        {.name = "_npi_where_rscalar",
         .summary = "The data where a condition is not 0, else a scalar",
         .parameters = {optional("scalar", ParameterKind::Float, "0",
                                 "The scalar.")},
         .inputs = {{"condition"}, {"x"}},
         .relateTypes = typeOfChoice,
         .lower = lowerWhereScalar<false>},
        {.name = "_npi_where_scalar2",
         .summary = "One scalar where a condition is not 0, else another",
         .parameters = {optional("x", ParameterKind::Float, "0", "The one."),
                        optional("y", ParameterKind::Float, "0", "The other.")},
         .inputs = {{"condition"}},
         .relateShapes = sameShapes,
         .relateTypes = choiceOfScalars,
         .lower = lowerWhereScalars},
    };
    addTables(rows);
    return rows;
  }();
  return rows;
}
