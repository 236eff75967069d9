// SPDX-License-Identifier: Apache-2.0
//
// Gradients of factors, inverses and determinants of matrices (Giles, Collected
// Matrix Derivative Results for Forward and Reverse Mode Algorithmic
// Differentiation, 2008; of lq and cholesky: Seeger et al.,
// Auto-Differentiating Linear Algebra, 2017).

#include "Formula.h"

using namespace mlir;
using namespace dlc::graph;

namespace {
/// Formulas over the matrices in the last two dimensions.
struct Matrices : Formula {
  using Formula::Formula;

  static int64_t rowsOf(Value x) {
    return typeOf(x).getShape().drop_back().back();
  }
  Value product(Value a, Value b) { return make<MatmulOp>(a, b); }
  /// What is at or below the diagonal `below` under the main one.
  Value lower(Value x, int64_t below = 0) {
    return TriluOp::create(builder, loc, x, integer(-below), /*upper=*/false);
  }
  Value solve(Value a, Value b, bool upper, bool transposed) {
    return TriangularSolveOp::create(builder, loc, a, b, upper, transposed);
  }
  /// (x + x^T) / 2
  Value symmetric(Value x) { return scale(add(x, turned(x)), 0.5); }
  /// `x` with its dimensions, and these behind.
  Value unsqueezed(Value x, ArrayRef<int64_t> more) {
    SmallVector<int64_t> shape(typeOf(x).getShape());
    llvm::append_range(shape, more);
    return reshape(x, shape);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

/// L^-T P L^-1, where P is the lower triangle of L^T g with half its diagonal.
LogicalResult CholeskyOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  gradients.give(0, [&]() -> Value {
    Matrices f(gradients);
    Value l = getY();
    Value p = f.lower(f.product(f.turned(l), gradients.ofResult()));
    Value ones = f.identity(f.rowsOf(l), f.elementOf(l));
    p = f.sub(p, f.scale(f.mul(p, ones), 0.5));
    Value left = f.solve(l, p, /*upper=*/false, /*transposed=*/true);
    Value both = f.solve(l, f.turned(left), /*upper=*/false,
                         /*transposed=*/true);
    return f.symmetric(both);
  });
  return success();
}

/// L^-T (gQ + M Q), where M is L^T gL - gQ Q^T with its lower triangle on both
/// sides.
LogicalResult LqOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  gradients.give(0, [&]() -> Value {
    Matrices f(gradients);
    Value l = getL(), q = getQ(), m = f.full(l.getType(), 0), sum;
    if (Value g = gradients.ofResult(0))
      m = f.product(f.turned(l), g);
    if (Value g = gradients.ofResult(1)) {
      m = f.sub(m, f.product(g, f.turned(q)));
      sum = g;
    }
    m = f.add(f.lower(m), f.turned(f.lower(m, 1)));
    Value product = f.product(m, q);
    sum = sum ? f.add(sum, product) : product;
    return f.solve(l, sum, /*upper=*/false, /*transposed=*/true);
  });
  return success();
}

/// V (diag(gw) + (V^T gV) / (w_j - w_i)) V^T, symmetric; nothing where w_i and
/// w_j are equal.
LogicalResult EighOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  gradients.give(0, [&]() -> Value {
    Matrices f(gradients);
    Value w = getValues(), v = getVectors();
    int64_t n = f.rowsOf(v);
    SmallVector<int64_t> rows(f.typeOf(w).getShape());
    rows.insert(rows.end() - 1, 1);
    Value ones = f.identity(n, f.elementOf(v));
    Value inner = f.full(v.getType(), 0);
    if (Value g = gradients.ofResult(0))
      inner = f.add(inner, f.mul(ones, f.reshape(g, rows)));
    if (Value g = gradients.ofResult(1)) {
      Value distance = f.sub(f.reshape(w, rows), f.unsqueezed(w, {1}));
      Value isApart = f.either(f.less(distance, 0.0), f.greater(distance, 0.0));
      Value factor = f.select(
          isApart, f.reciprocal(f.select(isApart, distance, 1.0)), 0.0);
      inner = f.add(inner, f.mul(f.product(f.turned(v), g), factor));
    }
    return f.symmetric(f.product(f.product(v, inner), f.turned(v)));
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Inverses and solutions
//===----------------------------------------------------------------------===//

/// -y^T g y^T
LogicalResult InverseOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  gradients.give(0, [&]() -> Value {
    Matrices f(gradients);
    Value turned = f.turned(getY());
    return f.neg(f.product(f.product(turned, gradients.ofResult()), turned));
  });
  return success();
}

/// The gradient of b solves the transposed equations.
LogicalResult TriangularSolveOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  Matrices f(gradients);
  Value ofB =
      f.solve(getA(), gradients.ofResult(), getUpper(), !getTransposed());
  gradients.give(0, [&]() -> Value {
    Value left = getTransposed() ? Value(getY()) : ofB;
    Value right = getTransposed() ? ofB : Value(getY());
    Value all = f.neg(f.product(left, f.turned(right)));
    return TriluOp::create(f.builder, f.loc, all, f.integer(0), getUpper());
  });
  gradients.give(1, ofB);
  return success();
}

//===----------------------------------------------------------------------===//
// Determinants
//===----------------------------------------------------------------------===//

/// Of the logarithm g x^-T, or 0 where x is singular, as in MXNet; of the sign
/// none.
LogicalResult LogDetOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  Value g = gradients.ofResult(1);
  if (!g)
    return success();
  gradients.give(0, [&]() -> Value {
    Matrices f(gradients);
    Value turned = f.turned(f.make<InverseOp>(Value(getX())));
    Value sign = f.unsqueezed(getSign(), {1, 1});
    Value isRegular = f.either(f.less(sign, 0.0), f.greater(sign, 0.0));
    return f.select(isRegular, f.mul(f.unsqueezed(g, {1, 1}), turned), 0.0);
  });
  return success();
}

/// The determinants of what is left without row i and column j, as elements
/// (i, j), with signs like a chessboard: they exist where the inverse does not.
static Value cofactors(Formula &f, Value x) {
  auto type = Formula::typeOf(x);
  int64_t rank = type.getRank(), n = type.getDimSize(rank - 1);
  SmallVector<int64_t> others;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < n - 1; ++k)
      others.push_back(k + (k >= i));
  Value index = f.reshape(f.ints(others), {n, n - 1});
  // ..., i, row, j, column
  Value minors = GatherOp::create(f.builder, f.loc, x, index, rank - 2);
  minors = GatherOp::create(f.builder, f.loc, minors, index, rank);
  auto perm = llvm::to_vector(llvm::seq<int64_t>(rank + 2));
  std::swap(perm[rank - 1], perm[rank]);
  Value determinants = f.make<DetOp>(f.transpose(minors, perm));
  Value numbers = f.iota(n);
  Value sum = f.add(f.reshape(numbers, {n, 1}), numbers);
  Value isOdd = f.make<EqualOp>(
      ModOp::create(f.builder, f.loc, sum, f.integer(2), /*fmod=*/false),
      f.integer(1));
  return f.select(isOdd, f.neg(determinants), determinants);
}

/// n^2 determinants of n - 1 rows each: for matrices of a few rows.
LogicalResult DetOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  // The minors of n rows have n^4 elements.
  constexpr int64_t mostRows = 64;
  if (int64_t rows = Formula::typeOf(getX()).getShape().back(); rows > mostRows)
    return gradients.fail("expected at most " + Twine(mostRows) +
                          " rows, got " + Twine(rows));
  gradients.give(0, [&]() -> Value {
    Formula f(gradients);
    auto type = Formula::typeOf(getX());
    SmallVector<int64_t> shape(Formula::typeOf(getY()).getShape());
    shape.append({1, 1});
    Value g = f.reshape(gradients.ofResult(), shape);
    if (type.getNumElements() == 0 || type.getShape().back() == 1)
      return f.expand(g, type.getShape());
    return f.mul(g, cofactors(f, getX()));
  });
  return success();
}
