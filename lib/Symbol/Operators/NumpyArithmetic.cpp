// SPDX-License-Identifier: Apache-2.0
//
// NumPy's functions of rows of numbers: polynomials, differences, and multiples
// of integers.

#include "Rules.h"

#include <cmath>

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

//===-- Polynomials -------------------------------------------------------===//

/// Written down step by step, which more coefficients are too many for.
static constexpr int64_t kMostCoefficients = 1024;

/// As Horner's scheme says; coefficients of high powers come first.
static void lowerPolynomial(LoweringContext &n) {
  Value p = n.in(0), x = n.in(1);
  Ints shape = n.shape(p, "coefficients");
  if (n.b.failed())
    return;
  if (shape.size() != 1)
    return n.fail("input 'p': expected 1 dimension, got " +
                  Twine(shape.size()));
  if (shape[0] > kMostCoefficients)
    return n.unsupported("polynomials of more than " +
                         Twine(kMostCoefficients) + " coefficients, got " +
                         Twine(shape[0]));
  Value y = n.b.op("expand", {n.scalarLike(x, 0), n.b.shapeOf(x)});
  for (int64_t i = 0; i < shape[0]; ++i) {
    Value coefficient = n.b.reshape(n.b.slice(p, 0, i, i + 1), {});
    y = n.b.add(n.b.mul(y, x), coefficient);
  }
  n.set(0, y);
}

static void relatePolynomial(ShapeRelation &r) { r.equate(1, 0); }

//===-- Differences -------------------------------------------------------===//

/// A number as elements of `like` have it: integers without their fraction.
static Value numberLike(LoweringContext &n, Value like, double number) {
  bool isFloat = llvm::isa<mlir::FloatType>(GraphBuilder::elementOf(like));
  Value one = n.b.splat({1}, n.b.opBuilder().getF64Type(),
                        isFloat ? number : std::trunc(number));
  return n.b.castLike(one, like);
}

static void lowerDifferences(LoweringContext &n) {
  Value row = n.b.reshape(n.in(0), {-1});
  Ints shape = n.shape(row, "differences");
  if (n.b.failed())
    return;
  if (shape[0] == 0)
    return n.fail("input 'input1': expected at least 1 element, got none");
  size_t operand = 1;
  llvm::SmallVector<Value> parts;
  auto append = [&](const char *given, const char *scalar) {
    if (n.p.getBool(given))
      parts.push_back(n.b.reshape(n.in(operand++), {-1}));
    else if (!n.p.isNone(scalar))
      parts.push_back(numberLike(n, row, n.p.getFloat(scalar)));
  };
  append("to_begin_arr_given", "to_begin_scalar");
  parts.push_back(n.b.sub(n.b.slice(row, 0, 1, shape[0]),
                          n.b.slice(row, 0, 0, shape[0] - 1)));
  append("to_end_arr_given", "to_end_scalar");
  n.set(0, parts.size() == 1 ? parts[0] : n.b.concat(parts, 0));
}

//===-- Multiples ---------------------------------------------------------===//

static Value magnitude(LoweringContext &n, Value x) {
  if (GraphBuilder::elementOf(x).isUnsignedInteger())
    return x;
  return n.b.op("max", {x, n.b.op("neg", {x})});
}

/// Euclid's algorithm in as many steps as numbers of the type may take: each
/// two halve what is left, and Fibonacci's numbers take log(2) / log(golden
/// ratio) for each bit. Nothing is divided by 0, for which others have other
/// rules.
static Value leastMultiple(LoweringContext &n, Value a, Value b) {
  a = magnitude(n, a);
  b = magnitude(n, b);
  unsigned bits = GraphBuilder::elementOf(a).getIntOrFloatBitWidth();
  Value x = n.b.op("expand", {a, n.b.shapeOf(n.b.add(a, b))}), y = b;
  Value zero = n.scalarLike(a, 0), one = n.scalarLike(a, 1);
  for (unsigned step = 0; step < bits * 3 / 2; ++step) {
    Value isDone = n.b.op("equal", {y, zero});
    Value rest = n.b.op("mod", {x, n.b.op("select", {isDone, one, y})});
    x = n.b.op("select", {isDone, x, y});
    y = rest;
  }
  return n.b.mul(n.b.div(a, n.b.op("max", {x, one})), b);
}

static void lowerMultiple(LoweringContext &n) {
  n.set(0, leastMultiple(n, n.in(0), n.in(1)));
}

static void lowerMultipleOfScalar(LoweringContext &n) {
  if (!n.p.getBool("is_int"))
    return n.fail("parameter 'is_int': expected True, got False");
  mlir::Type type = GraphBuilder::elementOf(n.in(0));
  double scalar = n.p.getFloat("scalar");
  double most = std::ldexp(1.0, static_cast<int>(type.getIntOrFloatBitWidth()) -
                                    !type.isUnsignedInteger());
  double least = type.isUnsignedInteger() ? 0 : 1 - most;
  if (!(scalar >= least && scalar < most) || std::trunc(scalar) != scalar)
    return n.fail("parameter 'scalar': expected an integer of the data's type, "
                  "got " +
                  toText(n.p.get("scalar")));
  Value other = n.b.scalar(type, scalar);
  n.set(0, leastMultiple(n, n.in(0), other));
}

static void relateIntegers(TypeRelation &r) {
  r.equateAll();
  if (r.input(0) != DLC_INVALID_TYPE &&
      (rt::isFloat(r.input(0)) || r.input(0) == DLC_BOOL))
    r.fail("expected data of integers, got " + toText(r.input(0)));
}

//===-- Declarations ------------------------------------------------------===//

std::span<const Operator> dlc::symbol::numpyArithmeticOperators() {
  auto flag = [](std::string_view name, std::string_view summary) {
    return optional(name, ParameterKind::Bool, "False", summary);
  };
  auto number = [](std::string_view name, std::string_view summary) {
    return optional(name, ParameterKind::Float, "None", summary);
  };
  static const std::vector<Operator> rows = {
      {.name = "_npi_polyval",
       .summary = "A polynomial at numbers",
       .details = "The coefficient of the highest power comes first.",
       .inputs = {{"p"}, {"x"}},
       .relateShapes = relatePolynomial,
       .lower = lowerPolynomial},
      {.name = "_npi_ediff1d",
       .summary = "Differences of elements to the next ones",
       .details = "Of all elements in a row, with others in front and behind.",
       .parameters = {flag("to_begin_arr_given",
                           "An operand is in front of the result."),
                      flag("to_end_arr_given", "An operand is behind it."),
                      number("to_begin_scalar",
                             "A number that is in front of it."),
                      number("to_end_scalar", "A number that is behind it.")},
       .inputs = {{"input1"},
                  {"input2", when("to_begin_arr_given")},
                  {"input3", when("to_end_arr_given")}},
       .lower = lowerDifferences},
      {.name = "_npi_lcm",
       .summary = "The least common multiple of integers",
       .details = "Dimensions of extent 1 are repeated; of 0 it is 0.",
       .inputs = {{"lhs"}, {"rhs"}},
       .relateTypes = relateIntegers,
       .lower = lowerMultiple},
      {.name = "_npi_lcm_scalar",
       .summary = "The least common multiple with a scalar",
       .parameters = {optional("scalar", ParameterKind::Float, "1",
                               "An integer."),
                      optional("is_int", ParameterKind::Bool, "True",
                               "Has to be so.")},
       .relateShapes = sameShapes,
       .relateTypes = relateIntegers,
       .lower = lowerMultipleOfScalar},
  };
  return rows;
}
