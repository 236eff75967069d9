// SPDX-License-Identifier: Apache-2.0
//
// Operators on sparse arrays of which others have no form: all arrays are dense
// here, with zeros where nothing is stored.

#include "Rules.h"

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

/// Zeros in all rows but those that the second operand names.
static void lowerRetain(LoweringContext &n) {
  Value x = n.in(0);
  int64_t rank = n.rank(x), rows = GraphBuilder::dimOf(x, 0);
  if (n.b.failed())
    return;
  if (rank < 1 || n.rank(n.in(1)) != 1)
    return n.fail("expected 'data' of at least 1 dimension and 'indices' of 1, "
                  "got " +
                  Twine(rank) + " and " + Twine(n.rank(n.in(1))));
  if (mlir::ShapedType::isDynamic(rows))
    return n.unknown("a number of rows");
  Value places = n.b.op(
      "range", {n.b.intScalar(0), n.b.intScalar(rows), n.b.intScalar(1)});
  Value named = n.b.cast(n.in(1), n.b.i64());
  Value isNamed =
      n.b.op("equal", {n.b.unsqueeze(places, {1}), n.b.unsqueeze(named, {0})});
  Value isKept = n.b.reduce("reduce_max", n.b.castLike(isNamed, x), {1},
                            /*keepDims=*/false);
  Ints axes = range(1, rank);
  isKept = axes.empty() ? isKept : n.b.unsqueeze(isKept, axes);
  n.set(0, n.b.op("select",
                  {n.b.cast(isKept, n.b.boolean()), x, n.scalarLike(x, 0)}));
}

static void lowerSquareSum(LoweringContext &n) {
  Value x = n.in(0);
  int64_t rank = n.rank(x);
  Ints axes =
      n.p.isNone("axis") ? range(0, rank) : n.axes(n.ints("axis"), rank);
  if (axes.empty())
    axes = range(0, rank);
  bool keeps = n.p.getBool("keepdims");
  Value y = n.b.reduce("reduce_sum", n.b.mul(x, x), axes, keeps);
  bool isAll = static_cast<int64_t>(axes.size()) == rank;
  n.set(0, isAll && !keeps ? n.b.reshape(y, {1}) : y);
}

std::span<const Operator> dlc::symbol::sparseOperators() {
  static const std::vector<Operator> rows = {
      {.name = "cast_storage",
       .summary = "The data, stored in another way",
       .details = "All arrays are dense here.",
       .parameters = {requiredChoice("stype", {"csr", "default", "row_sparse"},
                                     "How MXNet stores it.")},
       .relateShapes = sameShapes,
       .lower = lowerIdentity},
      {.name = "_sparse_retain",
       .summary = "Zeros in all rows but those of given numbers",
       .inputs = {{"data"}, {"indices"}},
       .relateShapes = keepsShape,
       .relateTypes = keepsType,
       .lower = lowerRetain},
      {.name = "_square_sum",
       .summary = "Sum of squares along axes",
       .parameters = {optional("axis", ParameterKind::Ints, "None",
                               "The axes; None or (): all."),
                      optional("keepdims", ParameterKind::Bool, "False",
                               "They stay, of extent 1.")},
       .lower = lowerSquareSum},
  };
  return rows;
}
