// SPDX-License-Identifier: Apache-2.0
//
// Factors, inverses and determinants of the matrices in the last two
// dimensions, in f64 (Golub and Van Loan, Matrix Computations, 4th edition).

#include "Families.h"
#include "Loop.h"
#include "ShapeRule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

using namespace dlc::rt;
using namespace dlc::rt::ref;

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

namespace {
/// A matrix of doubles, row by row.
struct Matrix {
  Matrix(int64_t rows, int64_t columns)
      : rows(rows), columns(columns), elements(rows * columns) {}

  double &operator()(int64_t i, int64_t j) { return elements[i * columns + j]; }
  double operator()(int64_t i, int64_t j) const {
    return elements[i * columns + j];
  }
  void fill(double value) { std::ranges::fill(elements, value); }
  void swapRows(int64_t i, int64_t j) {
    if (i != j)
      std::swap_ranges(elements.begin() + i * columns,
                       elements.begin() + (i + 1) * columns,
                       elements.begin() + j * columns);
  }

  int64_t rows, columns;
  std::vector<double> elements;
};
} // namespace

static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

static Matrix matrixOf(const TensorView &x) {
  return Matrix(x.shape[x.rank() - 2], x.shape.back());
}

static int64_t matrixCount(const TensorView &x) {
  return std::accumulate(x.shape.begin(), x.shape.end() - 2, int64_t(1),
                         std::multiplies<>());
}

template <typename E>
static void load(const TensorView &x, int64_t number, Matrix &m) {
  auto size = static_cast<int64_t>(m.elements.size());
  for (int64_t i = 0; i < size; ++i)
    m.elements[i] = loadElement<E>(x.data, number * size + i);
}

template <typename E>
static void store(const TensorView &y, int64_t number, const Matrix &m) {
  auto size = static_cast<int64_t>(m.elements.size());
  for (int64_t i = 0; i < size; ++i)
    storeElement<E>(y.data, number * size + i, m.elements[i]);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Operand 0 is of square matrices of floats, as far as is known.
static Status checkSquare(const InferContext &context, TensorType &type) {
  DLC_RETURN_IF_ERROR(checkType(context, 0, floatTypes));
  DLC_RETURN_IF_ERROR(checkRankAtLeast(context, 0, 2));
  type = context.operand(0).type;
  if (!type.hasRank)
    return Status::ok();
  int64_t &columns = type.shape.back(), &rows = type.shape[type.rank() - 2];
  if (!mergeDim(columns, rows))
    return DLC_INVALID("expected square matrices, got %s",
                       toString(type).c_str());
  rows = columns;
  return Status::ok();
}

/// The result is like operand 0, which is square.
static Status inferSquare(const InferContext &context,
                          std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1));
  TensorType type;
  DLC_RETURN_IF_ERROR(checkSquare(context, type));
  return addResult(results, std::move(type));
}

/// `count` results without the dimensions of the matrices.
template <size_t count>
static Status inferNumbers(const InferContext &context,
                           std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1));
  TensorType type;
  DLC_RETURN_IF_ERROR(checkSquare(context, type));
  if (type.hasRank)
    type.shape.resize(type.shape.size() - 2);
  for (size_t i = 0; i < count; ++i)
    DLC_RETURN_IF_ERROR(addResult(results, type));
  return Status::ok();
}

static Status inferEigh(const InferContext &context,
                        std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1));
  TensorType vectors;
  DLC_RETURN_IF_ERROR(checkSquare(context, vectors));
  TensorType values = vectors;
  if (values.hasRank)
    values.shape.pop_back();
  DLC_RETURN_IF_ERROR(addResult(results, std::move(values)));
  return addResult(results, std::move(vectors));
}

static Status inferLq(const InferContext &context,
                      std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1));
  DLC_RETURN_IF_ERROR(checkType(context, 0, floatTypes));
  DLC_RETURN_IF_ERROR(checkRankAtLeast(context, 0, 2));
  TensorType q = context.operand(0).type, l = q;
  if (q.hasRank) {
    int64_t rows = q.shape[q.rank() - 2], columns = q.shape.back();
    if (rows != kUnknownDim && columns != kUnknownDim && rows > columns)
      return DLC_INVALID("expected no more rows than columns, got %s",
                         toString(q).c_str());
    l.shape.back() = rows;
  }
  DLC_RETURN_IF_ERROR(addResult(results, std::move(l)));
  return addResult(results, std::move(q));
}

static Status inferTriangularSolve(const InferContext &context,
                                   std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2));
  DLC_RETURN_IF_ERROR(checkSameType(context, 0, 1));
  DLC_RETURN_IF_ERROR(checkRankAtLeast(context, 1, 2));
  TensorType a, b = context.operand(1).type;
  DLC_RETURN_IF_ERROR(checkSquare(context, a));
  if (!a.hasRank || !b.hasRank)
    return addResult(results, std::move(b));
  bool fits = a.rank() == b.rank();
  for (int64_t i = 0; fits && i < b.rank() - 1; ++i)
    fits = mergeDim(b.shape[i], a.shape[i]);
  if (!fits)
    return DLC_INVALID("operand 1: expected as many rows and matrices as %s "
                       "has, got %s",
                       toString(a).c_str(),
                       toString(context.operand(1).type).c_str());
  return addResult(results, std::move(b));
}

//===----------------------------------------------------------------------===//
// Elimination
//===----------------------------------------------------------------------===//

/// The row from `k` on with the largest element in column `k`: NaN is larger
/// than any, so that it is not lost.
static int64_t pivotOf(const Matrix &m, int64_t k) {
  int64_t best = k;
  for (int64_t i = k + 1; i < m.rows && !std::isnan(m(best, k)); ++i)
    if (!(std::fabs(m(i, k)) <= std::fabs(m(best, k))))
      best = i;
  return best;
}

/// Gaussian elimination with partial pivoting (3.4); destroys `m`. Calls
/// `pivot(value)` for each element of the resulting diagonal, with the sign of
/// the permutation, and returns false where that is 0.
template <typename Pivot> static bool eliminate(Matrix &m, Pivot &&pivot) {
  int64_t n = m.rows;
  for (int64_t k = 0; k < n; ++k) {
    int64_t best = pivotOf(m, k);
    if (m(best, k) == 0)
      return false;
    m.swapRows(k, best);
    pivot(best == k ? m(k, k) : -m(k, k));
    for (int64_t i = k + 1; i < n; ++i) {
      double factor = m(i, k) / m(k, k);
      for (int64_t j = k; j < n; ++j)
        m(i, j) -= factor * m(k, j);
    }
  }
  return true;
}

static Status computeDet(ComputeContext &context) {
  const TensorView &x = context.input(0), &y = context.output(0);
  return dispatchFloat(x.type, [&]<typename E>(E) {
    Matrix m = matrixOf(x);
    for (int64_t i = 0, count = y.size(); i < count; ++i) {
      load<E>(x, i, m);
      double determinant = 1;
      bool isRegular = eliminate(m, [&](double p) { determinant *= p; });
      storeElement<E>(y.data, i, isRegular ? determinant : 0);
    }
    return Status::ok();
  });
}

static Status computeLogDet(ComputeContext &context) {
  const TensorView &x = context.input(0);
  return dispatchFloat(x.type, [&]<typename E>(E) {
    Matrix m = matrixOf(x);
    for (int64_t i = 0, count = matrixCount(x); i < count; ++i) {
      load<E>(x, i, m);
      double sign = 1, logarithm = 0;
      bool isRegular = eliminate(m, [&](double p) {
        sign *= p < 0 ? -1 : p > 0 ? 1 : kNan;
        logarithm += std::log(std::fabs(p));
      });
      storeElement<E>(context.output(0).data, i, isRegular ? sign : 0);
      storeElement<E>(context.output(1).data, i,
                      isRegular ? logarithm
                                : -std::numeric_limits<double>::infinity());
    }
    return Status::ok();
  });
}

/// Gauss and Jordan's method on [m, inverse]; false for singular ones.
static bool invert(Matrix &m, Matrix &inverse) {
  int64_t n = m.rows;
  inverse.fill(0);
  for (int64_t i = 0; i < n; ++i)
    inverse(i, i) = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t best = pivotOf(m, k);
    double pivot = m(best, k);
    if (pivot == 0)
      return false;
    m.swapRows(k, best);
    inverse.swapRows(k, best);
    for (int64_t j = 0; j < n; ++j) {
      m(k, j) /= pivot;
      inverse(k, j) /= pivot;
    }
    for (int64_t i = 0; i < n; ++i) {
      double factor = i == k ? 0 : m(i, k);
      for (int64_t j = 0; factor != 0 && j < n; ++j) {
        m(i, j) -= factor * m(k, j);
        inverse(i, j) -= factor * inverse(k, j);
      }
    }
  }
  return true;
}

static Status computeInverse(ComputeContext &context) {
  const TensorView &x = context.input(0), &y = context.output(0);
  return dispatchFloat(x.type, [&]<typename E>(E) {
    Matrix m = matrixOf(x), inverse = matrixOf(x);
    for (int64_t i = 0, count = matrixCount(x); i < count; ++i) {
      load<E>(x, i, m);
      if (!invert(m, inverse))
        inverse.fill(kNan);
      store<E>(y, i, inverse);
    }
    return Status::ok();
  });
}

/// Substitution (3.1). The triangle that is solved is lower, read forward, when
/// it is not transposed, and upper, read backward, when it is; or the other way
/// around.
static void solve(const Matrix &a, Matrix &b, bool upper, bool transposed) {
  int64_t n = a.rows;
  bool isBackward = upper != transposed;
  for (int64_t step = 0; step < n; ++step) {
    int64_t i = isBackward ? n - 1 - step : step;
    for (int64_t done = 0; done < step; ++done) {
      int64_t k = isBackward ? n - 1 - done : done;
      double factor = transposed ? a(k, i) : a(i, k);
      for (int64_t j = 0; j < b.columns; ++j)
        b(i, j) -= factor * b(k, j);
    }
    for (int64_t j = 0; j < b.columns; ++j)
      b(i, j) /= a(i, i);
  }
}

static Status computeTriangularSolve(ComputeContext &context) {
  const TensorView &a = context.input(0), &b = context.input(1),
                   &y = context.output(0);
  bool upper = context.attrs().getInt("upper", 0),
       transposed = context.attrs().getInt("transposed", 0);
  return dispatchFloat(a.type, [&]<typename E>(E) {
    Matrix left = matrixOf(a), right = matrixOf(b);
    for (int64_t i = 0, count = matrixCount(a); i < count; ++i) {
      load<E>(a, i, left);
      load<E>(b, i, right);
      solve(left, right, upper, transposed);
      store<E>(y, i, right);
    }
    return Status::ok();
  });
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

/// The upper triangle becomes the lower one.
static void makeSymmetric(Matrix &m) {
  for (int64_t i = 0; i < m.rows; ++i)
    for (int64_t j = 0; j < i; ++j)
      m(j, i) = m(i, j);
}

/// In place, column by column (4.2.5).
static void factorCholesky(Matrix &m) {
  makeSymmetric(m);
  for (int64_t j = 0; j < m.rows; ++j) {
    for (int64_t k = 0; k < j; ++k)
      for (int64_t i = j; i < m.rows; ++i)
        m(i, j) -= m(i, k) * m(j, k);
    if (!(m(j, j) > 0))
      return m.fill(kNan);
    double root = std::sqrt(m(j, j));
    for (int64_t i = j; i < m.rows; ++i)
      m(i, j) /= root;
    for (int64_t i = 0; i < j; ++i)
      m(i, j) = 0;
  }
}

static Status computeCholesky(ComputeContext &context) {
  const TensorView &x = context.input(0), &y = context.output(0);
  return dispatchFloat(x.type, [&]<typename E>(E) {
    Matrix m = matrixOf(x);
    for (int64_t i = 0, count = matrixCount(x); i < count; ++i) {
      load<E>(x, i, m);
      factorCholesky(m);
      store<E>(y, i, m);
    }
    return Status::ok();
  });
}

/// Rotates rows and columns `p` and `q` so that element (p, q) becomes 0
/// (8.5.2).
static void rotate(Matrix &m, Matrix &vectors, int64_t p, int64_t q) {
  double theta = (m(q, q) - m(p, p)) / (2 * m(p, q));
  double tangent =
      (theta < 0 ? -1 : 1) / (std::fabs(theta) + std::hypot(theta, 1));
  double cosine = 1 / std::hypot(tangent, 1), sine = tangent * cosine;
  auto turn = [&](double &a, double &b) {
    double first = a;
    a = cosine * first - sine * b;
    b = sine * first + cosine * b;
  };
  for (int64_t i = 0; i < m.rows; ++i)
    turn(m(i, p), m(i, q));
  for (int64_t i = 0; i < m.rows; ++i)
    turn(m(p, i), m(q, i));
  for (int64_t i = 0; i < m.rows; ++i)
    turn(vectors(i, p), vectors(i, q));
  m(p, q) = m(q, p) = 0;
}

/// Cyclic sweeps until what is beside the diagonal is nothing. Eigenvalues are
/// on the diagonal of `m` then.
static void diagonalize(Matrix &m, Matrix &vectors) {
  constexpr int mostSweeps = 64; // A few square the distance; bounds the rest.
  int64_t n = m.rows;
  double size = 0;
  for (double element : m.elements)
    size = std::max(size, std::fabs(element));
  double least = size * std::numeric_limits<double>::epsilon() * 1e-2;
  bool isDone = false;
  for (int sweep = 0; sweep < mostSweeps && !isDone; ++sweep) {
    isDone = true;
    for (int64_t p = 0; p < n; ++p)
      for (int64_t q = p + 1; q < n; ++q)
        if (std::fabs(m(p, q)) > least) {
          rotate(m, vectors, p, q);
          isDone = false;
        }
  }
}

/// The element of largest magnitude of column `j` becomes positive.
static double signOf(const Matrix &vectors, int64_t j) {
  double most = 0;
  for (int64_t i = 0; i < vectors.rows; ++i)
    if (std::fabs(vectors(i, j)) > std::fabs(most))
      most = vectors(i, j);
  return most < 0 ? -1 : 1;
}

static Status computeEigh(ComputeContext &context) {
  const TensorView &x = context.input(0), &values = context.output(0);
  return dispatchFloat(x.type, [&]<typename E>(E) {
    Matrix m = matrixOf(x), turned = matrixOf(x), vectors = matrixOf(x);
    int64_t n = m.rows;
    std::vector<int64_t> order(n);
    for (int64_t i = 0, count = matrixCount(x); i < count; ++i) {
      load<E>(x, i, m);
      makeSymmetric(m);
      bool isFinite = std::ranges::all_of(
          m.elements, [](double element) { return std::isfinite(element); });
      turned.fill(0);
      for (int64_t k = 0; k < n; ++k)
        turned(k, k) = 1;
      if (isFinite)
        diagonalize(m, turned);
      else
        m.fill(kNan), turned.fill(kNan);
      std::iota(order.begin(), order.end(), 0);
      if (isFinite)
        std::ranges::stable_sort(order, {}, [&](int64_t k) { return m(k, k); });
      for (int64_t to = 0; to < n; ++to) {
        int64_t from = order[to];
        double sign = signOf(turned, from);
        storeElement<E>(values.data, i * n + to, m(from, from));
        for (int64_t k = 0; k < n; ++k)
          vectors(k, to) = sign * turned(k, from);
      }
      store<E>(context.output(1), i, vectors);
    }
    return Status::ok();
  });
}

namespace {
/// I - factor v v^T, where v is 0 before its place, 1 there, and `rest` behind.
struct Reflection {
  double factor = 0;
  std::vector<double> rest;
};
} // namespace

/// Turns row `k` behind its diagonal to 0, as LAPACK's larfg (5.1.1).
static Reflection reflect(const Matrix &m, int64_t k, double &diagonal) {
  Reflection reflection;
  double norm = 0;
  for (int64_t j = k + 1; j < m.columns; ++j)
    norm = std::hypot(norm, m(k, j));
  diagonal = m(k, k);
  if (norm == 0)
    return reflection;
  double alpha = m(k, k);
  diagonal = alpha > 0 || (alpha == 0 && !std::signbit(alpha))
                 ? -std::hypot(alpha, norm)
                 : std::hypot(alpha, norm);
  reflection.factor = (diagonal - alpha) / diagonal;
  for (int64_t j = k + 1; j < m.columns; ++j)
    reflection.rest.push_back(m(k, j) / (alpha - diagonal));
  return reflection;
}

/// Applies it from the right to the rows from `first` on, around column `k`.
static void apply(const Reflection &reflection, Matrix &m, int64_t first,
                  int64_t k) {
  if (reflection.factor == 0)
    return;
  auto length = static_cast<int64_t>(reflection.rest.size());
  for (int64_t i = first; i < m.rows; ++i) {
    double sum = m(i, k);
    for (int64_t j = 0; j < length; ++j)
      sum += m(i, k + 1 + j) * reflection.rest[j];
    sum *= reflection.factor;
    m(i, k) -= sum;
    for (int64_t j = 0; j < length; ++j)
      m(i, k + 1 + j) -= sum * reflection.rest[j];
  }
}

/// Reflections make `m` lower triangular from the right, and applied in reverse
/// order to unit rows give q.
static void factorLq(Matrix &m, Matrix &l, Matrix &q) {
  std::vector<Reflection> reflections;
  for (int64_t k = 0; k < m.rows; ++k) {
    double diagonal = 0;
    reflections.push_back(reflect(m, k, diagonal));
    apply(reflections.back(), m, k + 1, k);
    for (int64_t j = 0; j < m.rows; ++j)
      l(k, j) = j < k ? m(k, j) : j == k ? diagonal : 0;
  }
  q.fill(0);
  for (int64_t i = 0; i < q.rows; ++i)
    q(i, i) = 1;
  for (int64_t k = m.rows - 1; k >= 0; --k)
    apply(reflections[k], q, 0, k);
}

static Status computeLq(ComputeContext &context) {
  const TensorView &x = context.input(0);
  return dispatchFloat(x.type, [&]<typename E>(E) {
    Matrix m = matrixOf(x), q = matrixOf(x), l(m.rows, m.rows);
    for (int64_t i = 0, count = matrixCount(x); i < count; ++i) {
      load<E>(x, i, m);
      factorLq(m, l, q);
      store<E>(context.output(0), i, l);
      store<E>(context.output(1), i, q);
    }
    return Status::ok();
  });
}

std::span<const Operation> ref::matrixOperations() {
  static constexpr Operation table[] = {
      {"cholesky", inferSquare, computeCholesky},
      {"det", inferNumbers<1>, computeDet},
      {"eigh", inferEigh, computeEigh},
      {"inverse", inferSquare, computeInverse},
      {"log_det", inferNumbers<2>, computeLogDet},
      {"lq", inferLq, computeLq},
      {"triangular_solve", inferTriangularSolve, computeTriangularSolve},
  };
  return table;
}
