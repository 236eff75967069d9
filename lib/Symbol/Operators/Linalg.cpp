// SPDX-License-Identifier: Apache-2.0
//
// Diagonals and triangles of matrices, and products with them.

#include "Rules.h"

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

//===-- Diagonals ---------------------------------------------------------===//

/// The `k`-th diagonal of matrices in two axes, as the last axis.
static Value diagonal(LoweringContext &n, Value x, int64_t axis1, int64_t axis2,
                      int64_t k) {
  int64_t rank = n.rank(x);
  if (rank < 2) {
    n.fail("expected data of at least 2 dimensions, got " + Twine(rank));
    return {};
  }
  Ints axes = n.axes({axis1, axis2}, rank), perm;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(axes, axis))
      perm.push_back(axis);
  perm.append(axes.begin(), axes.end());
  Ints shape = n.shape(x, "a diagonal");
  if (n.b.failed())
    return {};
  int64_t rows = shape[axes[0]], columns = shape[axes[1]];
  int64_t first = std::max<int64_t>(0, -k);
  int64_t length = std::min(rows - first, columns - std::max<int64_t>(0, k));
  if (length <= 0) {
    n.fail("expected a diagonal inside of " + Twine(rows) + " x " +
           Twine(columns) + ", got number " + Twine(k));
    return {};
  }
  Value matrices = n.b.transpose(x, perm);
  Value kept = n.b.op("select", {onDiagonal(n, rows, columns, k), matrices,
                                 n.scalarLike(x, 0)});
  Value y = n.b.reduce("reduce_sum", kept, {rank - 1}, false);
  return n.b.slice(y, rank - 2, first, first + length);
}

/// Matrices with the last axis as their `k`-th diagonal.
static Value withDiagonal(LoweringContext &n, Value x, int64_t k) {
  int64_t rank = n.rank(x);
  if (rank < 1) {
    n.fail("expected data of at least 1 dimension, got a scalar");
    return {};
  }
  int64_t length = GraphBuilder::dimOf(x, rank - 1);
  if (mlir::ShapedType::isDynamic(length)) {
    n.unknown("a diagonal of a shape");
    return {};
  }
  int64_t more = std::abs(k), size = length + more;
  if (size > 1 << 15) {
    n.fail("expected at most 32768 rows, got " + Twine(size));
    return {};
  }
  Value padded = n.b.op("pad", {x, n.b.ints({0, more}), n.scalarLike(x, 0),
                                n.b.ints({rank - 1})});
  Value lines = n.b.unsqueeze(padded, {k >= 0 ? rank : rank - 1});
  return n.b.op("select",
                {onDiagonal(n, size, size, k), lines, n.scalarLike(x, 0)});
}

/// A matrix of a vector, or the diagonals of matrices.
static void lowerDiag(LoweringContext &n) {
  int64_t k = n.p.getInt("k");
  if (n.rank(n.in(0)) == 1)
    return n.set(0, withDiagonal(n, n.in(0), k));
  n.set(0, diagonal(n, n.in(0), n.p.getInt("axis1"), n.p.getInt("axis2"), k));
}

static void lowerNumpyDiag(LoweringContext &n) {
  int64_t k = n.p.getInt("k"), rank = n.rank(n.in(0));
  if (rank == 1)
    return n.set(0, withDiagonal(n, n.in(0), k));
  if (rank > 2)
    return n.fail("expected data of 1 or 2 dimensions, got " + Twine(rank));
  n.set(0, diagonal(n, n.in(0), 0, 1, k));
}

static void lowerDiagonal(LoweringContext &n) {
  n.set(0, diagonal(n, n.in(0), n.p.getInt("axis1"), n.p.getInt("axis2"),
                    n.p.getInt("offset")));
}

static void lowerTrace(LoweringContext &n) {
  Value y = diagonal(n, n.in(0), n.p.getInt("axis1"), n.p.getInt("axis2"),
                     n.p.getInt("offset"));
  if (y)
    n.set(0, n.b.reduce("reduce_sum", y, {-1}, false));
}

static void lowerDiagFlat(LoweringContext &n) {
  n.set(0, withDiagonal(n, n.b.reshape(n.in(0), {-1}), n.p.getInt("k")));
}

static void lowerExtractDiag(LoweringContext &n) {
  n.set(0, diagonal(n, n.in(0), -2, -1, n.p.getInt("offset")));
}

static void lowerMakeDiag(LoweringContext &n) {
  n.set(0, withDiagonal(n, n.in(0), n.p.getInt("offset")));
}

static void lowerSumLogDiag(LoweringContext &n) {
  Value y = diagonal(n, n.in(0), -2, -1, 0);
  if (!y)
    return;
  Value sum = n.b.reduce("reduce_sum", n.b.op("log", {y}), {-1}, false);
  n.set(0, n.rank(sum) == 0 ? n.b.reshape(sum, {1}) : sum);
}

//===-- Triangles ---------------------------------------------------------===//

/// Where the elements of the triangle stand in a matrix of `size` rows, row by
/// row; of an upper one column by column.
static Ints trianglePlaces(LoweringContext &n, int64_t size) {
  int64_t k = n.p.getInt("offset"), apart = std::abs(k);
  bool isUpper = k > 0 || (k == 0 && !n.p.getBool("lower"));
  Ints places;
  for (int64_t row = apart; row < size; ++row)
    for (int64_t column = 0; column <= row - apart; ++column)
      places.push_back(isUpper ? column * size + row : row * size + column);
  return places;
}

/// The extents; fails the node where the last ones are too many for a list of
/// places.
static Ints triangleShape(LoweringContext &n, int64_t leastRank) {
  Ints shape = n.shape(n.in(0), "triangles of matrices");
  if (n.b.failed())
    return {};
  if (static_cast<int64_t>(shape.size()) < leastRank)
    n.fail("expected data of at least " + Twine(leastRank) +
           " dimensions, got " + Twine(shape.size()));
  else if (shape.back() > 1 << 20)
    n.unsupported("triangles of more than 2^20 elements");
  return shape;
}

static void lowerExtractTriangle(LoweringContext &n) {
  Ints shape = triangleShape(n, 2);
  if (n.b.failed())
    return;
  int64_t size = shape.pop_back_val();
  if (shape.back() != size || size > 1 << 10)
    return n.fail("expected square matrices of at most 1024 rows, got " +
                  Twine(shape.back()) + " x " + Twine(size));
  shape.back() *= size;
  Value flat = n.b.reshapeTo(n.in(0), shape);
  n.set(0, n.b.op("gather", {flat, n.b.ints(trianglePlaces(n, size))},
                  {{"axis", -1}}));
}

/// Everything else is 0.
static void lowerMakeTriangle(LoweringContext &n) {
  Ints shape = triangleShape(n, 1);
  if (n.b.failed())
    return;
  int64_t count = shape.back(), rows = 0;
  while (rows * (rows + 1) / 2 < count)
    ++rows;
  if (rows * (rows + 1) / 2 != count)
    return n.fail("expected as many elements as a triangle has, got " +
                  Twine(count));
  int64_t size =
      rows + std::min<int64_t>(std::abs(n.p.getInt("offset")), kMaxExtent);
  if (size > 1 << 10)
    return n.fail("expected matrices of at most 1024 rows, got " + Twine(size));
  // One zero behind the elements, which all other places take.
  Ints sources(size * size, count);
  for (auto [i, place] : llvm::enumerate(trianglePlaces(n, size)))
    sources[place] = static_cast<int64_t>(i);
  auto last = static_cast<int64_t>(shape.size()) - 1;
  Value x = n.b.op("pad", {n.in(0), n.b.ints({0, 1}), n.scalarLike(n.in(0), 0),
                           n.b.ints({last})});
  Value y = n.b.op("gather", {x, n.b.ints(sources)}, {{"axis", last}});
  shape.back() = size;
  shape.push_back(size);
  n.set(0, n.b.reshapeTo(y, shape));
}

//===-- Products ----------------------------------------------------------===//

static void setScaled(LoweringContext &n, Value y) {
  n.set(0, n.b.mul(y, n.scalarLike(y, n.p.getFloat("alpha"))));
}

/// alpha A A^T, or alpha A^T A.
static void lowerSyrk(LoweringContext &n) {
  Value a = n.in(0), t = turned(n, a);
  if (n.b.failed())
    return;
  bool isFirst = n.p.getBool("transpose");
  setScaled(n, n.b.op("matmul", {isFirst ? t : a, isFirst ? a : t}));
}

/// alpha op(A) B or alpha B op(A), where A is a triangle.
static void lowerTrmm(LoweringContext &n) {
  if (n.rank(n.in(0)) < 2)
    return n.fail("expected matrices in 'A'");
  Value a = n.b.op("trilu", {n.in(0), n.b.intScalar(0)},
                   {{"upper", !n.p.getBool("lower")}});
  if (n.p.getBool("transpose"))
    a = turned(n, a);
  if (n.b.failed())
    return;
  bool isRight = n.p.getBool("rightside");
  setScaled(n,
            n.b.op("matmul", {isRight ? n.in(1) : a, isRight ? a : n.in(1)}));
}

static void lowerDet(LoweringContext &n) {
  Value y = n.b.op("det", {n.in(0)});
  n.set(0, y && n.rank(y) == 0 ? n.b.reshape(y, {1}) : y);
}

/// Of two matrices all products of rows, column by column.
static void lowerKhatriRao(LoweringContext &n) {
  if (n.inputCount() == 0)
    return n.fail("expected at least 1 operand, got none");
  Value y = n.in(0);
  for (size_t i = 0; i < n.inputCount(); ++i)
    if (n.rank(n.in(i)) != 2)
      return n.fail("expected matrices, got data of " + Twine(n.rank(n.in(i))) +
                    " dimensions");
  for (Value x : llvm::drop_begin(n.inputs())) {
    Ints left = n.shape(y, "a product"), right = n.shape(x, "a product");
    if (n.b.failed())
      return;
    Value product = n.b.mul(n.b.unsqueeze(y, {1}), n.b.unsqueeze(x, {0}));
    y = n.b.reshapeTo(product, {left[0] * right[0], left[1]});
  }
  n.set(0, y);
}

//===-- Declarations ------------------------------------------------------===//

static Parameter diagonalNumber(std::string_view name) {
  return optional(name, ParameterKind::Int, "0",
                  "Which diagonal; positive ones are above the main one.")
      .within(-(1 << 15), 1 << 15);
}

static std::vector<Parameter> diagonalParameters(std::string_view name) {
  return {diagonalNumber(name),
          optional("axis1", ParameterKind::Int, "0", "Axis of rows."),
          optional("axis2", ParameterKind::Int, "1", "Axis of columns.")};
}

static Operator linalg(std::string_view name, std::string_view alias,
                       std::string_view summary, std::vector<Input> inputs,
                       std::vector<Parameter> parameters,
                       void (*lower)(LoweringContext &)) {
  return {.name = name,
          .aliases = {alias},
          .summary = summary,
          .parameters = std::move(parameters),
          .inputs = std::move(inputs),
          .lower = lower};
}

std::span<const Operator> dlc::symbol::linalgOperators() {
  static const std::vector<Operator> rows = [] {
    Parameter alpha =
        optional("alpha", ParameterKind::Float, "1", "Factor of the product.");
    auto flag = [](std::string_view name, std::string_view fallback,
                   std::string_view summary) {
      return optional(name, ParameterKind::Bool, fallback, summary);
    };
    Operator det = linalg("_linalg_det", "linalg_det", "Determinants", {{"A"}},
                          {}, lowerDet);
    det.aliases.push_back("_npi_det");
    det.outputs = {{"output0"}};
    return std::vector<Operator>{
        {.name = "diag",
         .summary = "A matrix of a vector, or the diagonals of matrices",
         .parameters = diagonalParameters("k"),
         .lower = lowerDiag},
        {.name = "_np_diag",
         .summary = "A matrix of a vector, or the diagonal of a matrix",
         .parameters = {diagonalNumber("k")},
         .lower = lowerNumpyDiag},
        {.name = "_np_diagonal",
         .summary = "Diagonals of matrices in two axes",
         .parameters = diagonalParameters("offset"),
         .lower = lowerDiagonal},
        {.name = "_np_trace",
         .summary = "Sums of diagonals",
         .parameters = diagonalParameters("offset"),
         .lower = lowerTrace},
        {.name = "_np_diagflat",
         .summary = "A matrix with all elements on a diagonal",
         .parameters = {diagonalNumber("k")},
         .lower = lowerDiagFlat},
        linalg("_linalg_extractdiag", "linalg_extractdiag",
               "Diagonals of matrices", {{"A"}}, {diagonalNumber("offset")},
               lowerExtractDiag),
        linalg("_linalg_makediag", "linalg_makediag",
               "Matrices with given diagonals", {{"A"}},
               {diagonalNumber("offset")}, lowerMakeDiag),
        linalg("_linalg_extracttrian", "linalg_extracttrian",
               "Triangles of matrices, row by row", {{"A"}},
               {diagonalNumber("offset"),
                flag("lower", "True",
                     "The lower triangle, where the diagonal is the main one; "
                     "upper ones are read column by column.")},
               lowerExtractTriangle),
        linalg("_linalg_maketrian", "linalg_maketrian",
               "Matrices with given triangles", {{"A"}},
               {diagonalNumber("offset"),
                flag("lower", "True",
                     "The lower triangle, where the diagonal is the main "
                     "one.")},
               lowerMakeTriangle),
        linalg("_linalg_sumlogdiag", "linalg_sumlogdiag",
               "Sums of logarithms of diagonals", {{"A"}}, {}, lowerSumLogDiag),
        linalg("_linalg_syrk", "linalg_syrk",
               "Products of matrices with themselves, transposed", {{"A"}},
               {flag("transpose", "False", "The transposed one first."), alpha},
               lowerSyrk),
        linalg("_linalg_trmm", "linalg_trmm",
               "Products with triangles of matrices", {{"A"}, {"B"}},
               {flag("transpose", "False", "Transpose the triangle."),
                flag("rightside", "False", "It stands on the right."),
                flag("lower", "True", "The lower triangle."), alpha},
               lowerTrmm),
        det,
        {.name = "khatri_rao",
         .summary = "Products of all rows, column by column",
         .parameters = {optional("num_args", ParameterKind::Int, "0",
                                 "Number of operands; filled in when "
                                 "composing.")
                            .within(0, kMaxOperands)},
         .inputs = {},
         .inputCount = "num_args",
         .lower = lowerKhatriRao},
    };
  }();
  return rows;
}
