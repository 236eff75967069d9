// SPDX-License-Identifier: Apache-2.0
//
// Functions of two operands, element by element: on equal shapes, broadcast,
// and with a scalar. One table has all three forms.

#include "Rules.h"

#include <string>

using namespace dlc::symbol;
using mlir::Value;

using Function = Value (*)(GraphBuilder &, Value, Value);

//===-- Functions ---------------------------------------------------------===//

template <Mnemonic name>
static Value simple(GraphBuilder &b, Value x, Value y) {
  return b.op(name.str(), {x, y});
}

/// The sign is that of the divisor; x mod 0 is 0.
static Value modulo(GraphBuilder &b, Value x, Value y) {
  Value zero = b.scalarLike(x, 0);
  return b.op("select", {b.op("equal", {y, zero}), zero, b.op("mod", {x, y})});
}

static Value hypotenuse(GraphBuilder &b, Value x, Value y) {
  return b.op("sqrt", {b.add(b.mul(x, x), b.mul(y, y))});
}

/// Comparisons give numbers of the operands' type.
template <Mnemonic name>
static Value compare(GraphBuilder &b, Value x, Value y) {
  return b.castLike(b.op(name.str(), {x, y}), x);
}

static Value notEqual(GraphBuilder &b, Value x, Value y) {
  Value isEqual = b.op("equal", {x, y});
  return b.castLike(b.op("logical_not", {isEqual}), x);
}

/// Anything but 0 is true.
template <Mnemonic name>
static Value logical(GraphBuilder &b, Value x, Value y) {
  Value result =
      b.op(name.str(), {b.cast(x, b.boolean()), b.cast(y, b.boolean())});
  return b.castLike(result, x);
}

template <Function function>
static Value swapped(GraphBuilder &b, Value x, Value y) {
  return function(b, y, x);
}

//===-- The three forms ---------------------------------------------------===//

template <Function function> static void lowerBinary(LoweringContext &n) {
  n.set(0, function(n.b, n.in(0), n.in(1)));
}

/// A fraction is cut off where the data are integers.
template <Function function> static void lowerScalar(LoweringContext &n) {
  Value x = n.in(0);
  n.set(0, function(n.b, x, n.scalarLike(x, n.p.getFloat("scalar"))));
}

namespace {
/// Null names: the form does not exist.
struct Row {
  std::string_view summary;
  std::string_view equal, broadcast, scalar;
  std::vector<std::string_view> equalAliases, broadcastAliases, scalarAliases;
  void (*lower)(LoweringContext &);
  void (*lowerScalar)(LoweringContext &);
};
} // namespace

template <Function function>
static Row
row(std::string_view summary, std::string_view equal,
    std::vector<std::string_view> equalAliases, std::string_view broadcast,
    std::vector<std::string_view> broadcastAliases, std::string_view scalar,
    std::vector<std::string_view> scalarAliases) {
  return {summary,
          equal,
          broadcast,
          scalar,
          std::move(equalAliases),
          std::move(broadcastAliases),
          std::move(scalarAliases),
          lowerBinary<function>,
          lowerScalar<function>};
}

static std::vector<Row> makeTable() {
  return {
      row<simple<"add">>("Sum", "elemwise_add",
                         {"_plus", "_Plus", "_add", "_grad_add"},
                         "broadcast_add", {"broadcast_plus"}, "_plus_scalar",
                         {"_PlusScalar", "_scatter_plus_scalar"}),
      row<simple<"sub">>("Difference", "elemwise_sub",
                         {"_minus", "_Minus", "_sub"}, "broadcast_sub",
                         {"broadcast_minus"}, "_minus_scalar",
                         {"_MinusScalar", "_scatter_minus_scalar"}),
      row<swapped<simple<"sub">>>("Difference from a scalar", "", {}, "", {},
                                  "_rminus_scalar", {"_RMinusScalar"}),
      row<simple<"mul">>("Product", "elemwise_mul", {"_mul", "_Mul"},
                         "broadcast_mul", {}, "_mul_scalar", {"_MulScalar"}),
      row<simple<"div">>("Quotient", "elemwise_div",
                         {"_div", "_Div", "_scatter_elemwise_div"},
                         "broadcast_div", {}, "_div_scalar", {"_DivScalar"}),
      row<swapped<simple<"div">>>("Quotient of a scalar", "", {}, "", {},
                                  "_rdiv_scalar", {"_RDivScalar"}),
      row<modulo>("Remainder with the divisor's sign", "_mod", {"_Mod"},
                  "broadcast_mod", {}, "_mod_scalar", {"_ModScalar"}),
      row<swapped<modulo>>("Remainder of a scalar", "", {}, "", {},
                           "_rmod_scalar", {"_RModScalar"}),
      row<simple<"pow">>("Power", "_power", {"_Power"}, "broadcast_power", {},
                         "_power_scalar", {"_PowerScalar"}),
      row<swapped<simple<"pow">>>("Power of a scalar", "", {}, "", {},
                                  "_rpower_scalar", {"_RPowerScalar"}),
      row<simple<"max">>("Larger of two", "_maximum", {"_Maximum"},
                         "broadcast_maximum", {"_npi_maximum"},
                         "_maximum_scalar",
                         {"_MaximumScalar", "_npi_maximum_scalar"}),
      row<simple<"min">>("Smaller of two", "_minimum", {"_Minimum"},
                         "broadcast_minimum", {"_npi_minimum"},
                         "_minimum_scalar",
                         {"_MinimumScalar", "_npi_minimum_scalar"}),
      row<hypotenuse>("Square root of the sum of squares", "_hypot", {"_Hypot"},
                      "broadcast_hypot", {"_npi_hypot"}, "_hypot_scalar",
                      {"_HypotScalar", "_npi_hypot_scalar"}),
      row<compare<"equal">>("1 where equal, else 0", "_equal", {"_Equal"},
                            "broadcast_equal", {}, "_equal_scalar",
                            {"_EqualScalar"}),
      row<notEqual>("1 where not equal, else 0", "_not_equal", {"_Not_Equal"},
                    "broadcast_not_equal", {}, "_not_equal_scalar",
                    {"_NotEqualScalar"}),
      row<compare<"greater">>("1 where greater, else 0", "_greater",
                              {"_Greater"}, "broadcast_greater", {},
                              "_greater_scalar", {"_GreaterScalar"}),
      row<compare<"greater_equal">>(
          "1 where greater or equal, else 0", "_greater_equal",
          {"_Greater_Equal"}, "broadcast_greater_equal", {},
          "_greater_equal_scalar", {"_GreaterEqualScalar"}),
      row<compare<"less">>("1 where less, else 0", "_lesser", {"_Lesser"},
                           "broadcast_lesser", {}, "_lesser_scalar",
                           {"_LesserScalar"}),
      row<compare<"less_equal">>(
          "1 where less or equal, else 0", "_lesser_equal", {"_Lesser_Equal"},
          "broadcast_lesser_equal", {}, "_lesser_equal_scalar",
          {"_LesserEqualScalar"}),
      row<logical<"logical_and">>("1 where both are not 0, else 0",
                                  "_logical_and", {"_Logical_And"},
                                  "broadcast_logical_and", {},
                                  "_logical_and_scalar", {"_LogicalAndScalar"}),
      row<logical<"logical_or">>("1 where one is not 0, else 0", "_logical_or",
                                 {"_Logical_Or"}, "broadcast_logical_or", {},
                                 "_logical_or_scalar", {"_LogicalOrScalar"}),
      row<logical<"logical_xor">>("1 where exactly one is not 0, else 0",
                                  "_logical_xor", {"_Logical_Xor"},
                                  "broadcast_logical_xor", {},
                                  "_logical_xor_scalar", {"_LogicalXorScalar"}),
  };
}

//===-- Declarations ------------------------------------------------------===//

/// Broadcasting says nothing of operands, except that of a rank it knows.
static void addForms(const Row &row, std::vector<Operator> &rows) {
  Operator op;
  op.summary = row.summary;
  op.inputs = {{"lhs"}, {"rhs"}};
  op.lower = row.lower;
  if (!row.broadcast.empty()) {
    op.name = row.broadcast;
    op.aliases = row.broadcastAliases;
    op.details = "Dimensions of extent 1 are repeated.";
    rows.push_back(op);
  }
  op.relateShapes = sameShapes;
  if (!row.equal.empty()) {
    op.name = row.equal;
    op.aliases = row.equalAliases;
    op.details = "The operands have one shape.";
    rows.push_back(op);
  }
  op.name = row.scalar;
  op.aliases = row.scalarAliases;
  op.details = "The second operand is a parameter; where the elements are "
               "integers it is cut off to one.";
  op.inputs = {{"data"}};
  op.parameters = {
      optional("scalar", ParameterKind::Float, "1", "The second operand."),
      ignored("is_int", ParameterKind::Bool, "True")};
  op.lower = row.lowerScalar;
  rows.push_back(op);
}

std::span<const Operator> dlc::symbol::binaryOperators() {
  static const std::vector<Operator> rows = [] {
    std::vector<Operator> rows;
    for (const Row &row : makeTable())
      addForms(row, rows);
    return rows;
  }();
  return rows;
}
