// SPDX-License-Identifier: Apache-2.0
//
// Factors, inverses and eigenvalues of matrices, and equations with them.
// MXNet ends with an error where a matrix has none; here the result is NaN.

#include "Rules.h"

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

//===-- Factors -----------------------------------------------------------===//

static void lowerPotrf(LoweringContext &n) {
  Value l = n.b.op("cholesky", {n.in(0)});
  n.set(0, n.p.getBool("lower") ? l : turned(n, l));
}

static void lowerGelqf(LoweringContext &n) {
  llvm::SmallVector<Value> factors = n.b.ops("lq", {n.in(0)});
  n.set(0, factors[1]);
  n.set(1, factors[0]);
}

/// Eigenvectors are rows.
static void lowerSyevd(LoweringContext &n) {
  llvm::SmallVector<Value> found = n.b.ops("eigh", {n.in(0)});
  n.set(0, turned(n, found[1]));
  n.set(1, found[0]);
}

/// Of the triangle that `UPLO` names.
static llvm::SmallVector<Value> eigenOf(LoweringContext &n) {
  bool isUpper = n.p.getText("UPLO") == "U";
  return n.b.ops("eigh", {isUpper ? turned(n, n.in(0)) : n.in(0)});
}

static void lowerEigh(LoweringContext &n) {
  llvm::SmallVector<Value> found = eigenOf(n);
  n.set(0, found[0]);
  n.set(1, found[1]);
}

static void lowerEigvalsh(LoweringContext &n) { n.set(0, eigenOf(n)[0]); }

//===-- Inverses and equations --------------------------------------------===//

/// Unit matrices of the shape of `like`.
static Value identityLike(LoweringContext &n, Value like) {
  Ints shape = n.shape(like, "unit matrices");
  if (n.b.failed())
    return {};
  if (shape.size() < 2) {
    n.fail("expected matrices, got data of " + Twine(shape.size()) +
           " dimensions");
    return {};
  }
  Value ones = onDiagonal(n, shape.end()[-2], shape.back(), /*k=*/0);
  return n.b.op("expand", {n.b.castLike(ones, like), n.b.ints(shape)});
}

static Value solveTriangular(LoweringContext &n, Value a, Value b, bool upper,
                             bool transposed) {
  return n.b.op("triangular_solve", {a, b},
                {{"upper", upper}, {"transposed", transposed}});
}

/// The inverse of what has this factor: with X = L^-1 it is X^T X.
static void lowerPotri(LoweringContext &n) {
  bool isLower = n.p.getBool("lower");
  Value identity = identityLike(n, n.in(0));
  if (n.b.failed())
    return;
  Value x = solveTriangular(n, n.in(0), identity, !isLower, false);
  Value t = turned(n, x);
  n.set(0, n.b.op("matmul", {isLower ? t : x, isLower ? x : t}));
}

/// op(A) X = alpha B or X op(A) = alpha B, where A is a triangle.
static void lowerTrsm(LoweringContext &n) {
  bool isRight = n.p.getBool("rightside");
  Value b = n.b.mul(n.in(1), n.scalarLike(n.in(1), n.p.getFloat("alpha")));
  Value y = solveTriangular(n, n.in(0), isRight ? turned(n, b) : b,
                            !n.p.getBool("lower"),
                            n.p.getBool("transpose") != isRight);
  n.set(0, isRight ? turned(n, y) : y);
}

static void lowerSlogdet(LoweringContext &n) {
  llvm::SmallVector<Value> found = n.b.ops("log_det", {n.in(0)});
  for (size_t i = 0; i < 2 && !n.b.failed(); ++i)
    n.set(i, n.rank(found[i]) == 0 && !n.hasNumpyShapes()
                 ? n.b.reshape(found[i], {1})
                 : found[i]);
}

/// a^-1 b, of which no step is rounded to short floats.
static Value solve(LoweringContext &n, Value a, Value b) {
  mlir::Type f64 = n.b.opBuilder().getF64Type();
  Value inverse = n.b.op("inverse", {n.b.cast(a, f64)});
  return n.b.castLike(n.b.op("matmul", {inverse, n.b.cast(b, f64)}), b);
}

/// B may be a vector for each matrix.
static void lowerSolve(LoweringContext &n) {
  Value b = n.in(1);
  int64_t rank = n.rank(b);
  bool isVector = rank + 1 == n.rank(n.in(0));
  if (isVector)
    b = n.b.unsqueeze(b, {rank});
  Value y = solve(n, n.in(0), b);
  n.set(0, isVector ? n.b.squeeze(y, {rank}) : y);
}

/// The inverse as a map of the last dimensions to the first `ind` ones.
static void lowerTensorInverse(LoweringContext &n) {
  Ints shape = n.shape(n.in(0), "an inverse");
  int64_t first = n.p.getInt("ind");
  if (n.b.failed())
    return;
  if (first < 1 || first >= static_cast<int64_t>(shape.size()))
    return n.fail("expected parameter 'ind' from 1 to " +
                  Twine(shape.size() - 1) + ", got " + Twine(first));
  llvm::ArrayRef<int64_t> rows = llvm::ArrayRef(shape).take_front(first),
                          columns = llvm::ArrayRef(shape).drop_front(first);
  Value matrix =
      n.b.reshapeTo(n.in(0), {mlir::ShapedType::getNumElements(rows),
                              mlir::ShapedType::getNumElements(columns)});
  Ints result(columns);
  result.append(rows.begin(), rows.end());
  n.set(0, n.b.reshapeTo(n.b.op("inverse", {matrix}), result));
}

/// a x = b, summed over the last dimensions of a, as many as x has.
static void lowerTensorSolve(LoweringContext &n) {
  int64_t rank = n.rank(n.in(0)), rows = n.rank(n.in(1));
  Ints last = n.axes(n.ints("a_axes"), rank), perm;
  if (n.b.failed())
    return;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(last, axis))
      perm.push_back(axis);
  perm.append(last.begin(), last.end());
  Value a = n.b.transpose(n.in(0), perm);
  Ints shape = n.shape(a, "a solution");
  if (n.b.failed())
    return;
  if (rows > rank)
    return n.fail("expected no more dimensions of 'b' than of 'a', got " +
                  Twine(rows));
  llvm::ArrayRef<int64_t> columns = llvm::ArrayRef(shape).drop_front(rows);
  int64_t count = mlir::ShapedType::getNumElements(columns);
  Value matrix = n.b.reshapeTo(a, {mlir::ShapedType::getNumElements(
                                       llvm::ArrayRef(shape).take_front(rows)),
                                   count});
  Value x = solve(n, matrix, n.b.reshape(n.in(1), {-1, 1}));
  n.set(0, n.b.reshapeTo(x, columns));
}

//===-- Declarations ------------------------------------------------------===//

static Parameter lowerFlag(std::string_view summary) {
  return optional("lower", ParameterKind::Bool, "True", summary);
}

/// Results by these names.
static Operator two(Operator op, std::string_view first,
                    std::string_view second) {
  op.outputs = {{first}, {second}};
  return op;
}

std::span<const Operator> dlc::symbol::factorOperators() {
  constexpr std::string_view ofSymmetric =
      "NaN where there is none. The lower triangle is read.";
  static const std::vector<Operator> rows = {
      {.name = "_linalg_potrf",
       .aliases = {"linalg_potrf"},
       .summary = "Cholesky factors of matrices",
       .details = ofSymmetric,
       .parameters = {lowerFlag("Lower triangular factors.")},
       .inputs = {{"A"}},
       .lower = lowerPotrf},
      {.name = "_npi_cholesky",
       .summary = "Cholesky factors of matrices",
       .details = ofSymmetric,
       .parameters = {lowerFlag("Lower triangular factors.")},
       .inputs = {{"A"}},
       .lower = lowerPotrf},
      {.name = "_linalg_potri",
       .aliases = {"linalg_potri"},
       .summary = "Inverses of matrices with given Cholesky factors",
       .parameters = {lowerFlag("The factors are lower triangular.")},
       .inputs = {{"A"}},
       .lower = lowerPotri},
      {.name = "_linalg_trsm",
       .aliases = {"linalg_trsm"},
       .summary = "Solutions of triangular equations",
       .parameters = {optional("transpose", ParameterKind::Bool, "False",
                               "Transpose the triangle."),
                      optional("rightside", ParameterKind::Bool, "False",
                               "It stands on the right of the solution."),
                      lowerFlag("The lower triangle."),
                      optional("alpha", ParameterKind::Float, "1",
                               "Factor of `B`.")},
       .inputs = {{"A"}, {"B"}},
       .lower = lowerTrsm},
      two({.name = "_linalg_gelqf",
           .aliases = {"linalg_gelqf"},
           .summary = "Orthogonal rows and a lower triangle for matrices",
           .inputs = {{"A"}},
           .lower = lowerGelqf},
          "output0", "output1"),
      two({.name = "_linalg_syevd",
           .summary = "Eigenvectors, as rows, and eigenvalues of symmetric "
                      "matrices",
           .details = ofSymmetric,
           .inputs = {{"A"}},
           .lower = lowerSyevd},
          "output0", "output1"),
      two({.name = "_npi_eigh",
           .summary = "Eigenvalues and eigenvectors of symmetric matrices",
           .parameters = {choice("UPLO", {"L", "U"}, "L",
                                 "The triangle that is read.")},
           .inputs = {{"A"}},
           .lower = lowerEigh},
          "output0", "output1"),
      {.name = "_npi_eigvalsh",
       .summary = "Eigenvalues of symmetric matrices",
       .parameters = {choice("UPLO", {"L", "U"}, "L",
                             "The triangle that is read.")},
       .inputs = {{"A"}},
       .lower = lowerEigvalsh},
      {.name = "_linalg_inverse",
       .aliases = {"linalg_inverse", "_npi_inv"},
       .summary = "Inverses of matrices",
       .details = "NaN where there is none.",
       .inputs = {{"A"}},
       .lower = lowerSimple<"inverse">},
      two({.name = "_linalg_slogdet",
           .aliases = {"linalg_slogdet", "_npi_slogdet"},
           .summary = "Signs and logarithms of determinants",
           .inputs = {{"A"}},
           .lower = lowerSlogdet},
          "output0", "output1"),
      {.name = "_npi_solve",
       .summary = "Solutions of linear equations",
       .inputs = {{"A"}, {"B"}},
       .lower = lowerSolve},
      {.name = "_npi_tensorinv",
       .summary = "Inverse of a map between several dimensions",
       .parameters = {optional("ind", ParameterKind::Int, "2",
                               "How many dimensions are mapped to.")},
       .inputs = {{"a"}},
       .lower = lowerTensorInverse},
      {.name = "_npi_tensorsolve",
       .summary = "Solution of linear equations over several dimensions",
       .parameters = {optional("a_axes", ParameterKind::Ints, "()",
                               "Axes of `a` that are moved to its end.")},
       .inputs = {{"a"}, {"b"}},
       .lower = lowerTensorSolve},
  };
  return rows;
}
