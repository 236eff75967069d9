// SPDX-License-Identifier: Apache-2.0
//
// The Fourier transform as matrix products: of a length of two factors as
// transforms of each, of others with the matrix of the transform. Cooley and
// Tukey, An Algorithm for the Machine Calculation of Complex Fourier Series
// (1965).

#include "Formula.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace dlc::graph;

/// Longer transforms are split, if they can be.
static constexpr int64_t kMostWhole = 128;
/// Of the matrix of one that is not split.
static constexpr int64_t kMostNumbers = int64_t(1) << 22;

namespace {

/// A transform whose types are known: of `input` numbers of `components` along
/// `axis` to `output`, by n-th roots of unity.
struct Transform {
  int64_t axis, n, input, output, components, outComponents;
  bool isInverse, isOneSided;

  /// What input number t, component `from`, adds to output number k.
  double weight(int64_t t, int64_t from, int64_t k, int64_t to) const;
};

} // namespace

double Transform::weight(int64_t t, int64_t from, int64_t k, int64_t to) const {
  const double angle = 2 * std::numbers::pi * static_cast<double>((t * k) % n) /
                       static_cast<double>(n);
  const double sine = isInverse ? std::sin(angle) : -std::sin(angle);
  double value = from == to ? std::cos(angle) : from == 0 ? sine : -sine;
  if (!isInverse)
    return value;
  // The other half of a spectrum is the same once more.
  const bool isHalf = isOneSided && t > 0 && 2 * t < n;
  return value * (isHalf ? 2 : 1) / static_cast<double>(n);
}

static std::optional<Transform> transformOf(DftOp op) {
  auto isNone = [](Value x) { return isa<NoneType>(x.getType()); };
  auto axes = isNone(op.getAxis()) ? SmallVector<int64_t>{-2}
                                   : getConstantInts(op.getAxis());
  auto x = Formula::typeOf(op.getX()), y = Formula::typeOf(op.getY());
  if (!axes)
    return std::nullopt;
  Transform t = {};
  t.axis = wrapAxis(axes->front(), x.getRank());
  t.isInverse = op.getInverse();
  t.isOneSided = op.getOnesided();
  t.input = x.getDimSize(t.axis);
  t.output = y.getDimSize(t.axis);
  t.components = x.getShape().back();
  t.outComponents = y.getShape().back();
  t.n = t.isInverse && t.isOneSided ? t.output : t.input;
  if (!isNone(op.getDftLength())) {
    auto lengths = getConstantInts(op.getDftLength());
    if (!lengths)
      return std::nullopt;
    t.n = lengths->front();
  }
  // What is behind the length counts nothing.
  t.input = std::min(t.input, t.isInverse && t.isOneSided ? t.n / 2 + 1 : t.n);
  return t;
}

/// The divisor of `n` that is nearest to its root, from below.
static int64_t factorOf(int64_t n) {
  auto factor = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  while (n % factor != 0)
    --factor;
  return factor;
}

/// Elements [0, count) of `axis`, with zeros behind them where there are fewer.
static Value firstOf(Formula &f, Value x, int64_t axis, int64_t count) {
  const int64_t extent = Formula::typeOf(x).getDimSize(axis);
  if (extent == count)
    return x;
  return f.make<PadOp>(x, f.ints({0, count - extent}), f.number(x, 0),
                       f.ints(axis));
}

/// y[..., k, re or im] as one product of all numbers along the axis.
static Value multiplyWhole(Formula &f, Value x, const Transform &t) {
  const int64_t rank = Formula::typeOf(x).getRank(), last = rank - 2;
  auto order = llvm::to_vector(llvm::seq<int64_t>(rank));
  std::swap(order[t.axis], order[last]);
  auto swapped = [&](Value value) {
    return t.axis == last ? value : f.transpose(value, order);
  };
  const int64_t rows = t.input * t.components,
                columns = t.output * t.outComponents;
  SmallVector<float> numbers(rows * columns);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      numbers[i * columns + j] = static_cast<float>(
          t.weight(i / t.components, i % t.components, j / t.outComponents,
                   j % t.outComponents));
  auto type = RankedTensorType::get({rows, columns}, f.builder.getF32Type());
  const char *bytes = reinterpret_cast<const char *>(numbers.data());
  Value matrix =
      f.constant(makeElements(type, {bytes, numbers.size() * sizeof(float)}));
  x = swapped(firstOf(f, x, t.axis, t.input));
  SmallVector<int64_t> shape(Formula::typeOf(x).getShape().drop_back(2));
  const int64_t signals = Formula::typeOf(x).getNumElements() / rows;
  Value y = f.make<MatmulOp>(f.reshape(x, {signals, rows}), matrix);
  shape.push_back(t.output);
  shape.push_back(t.outComponents);
  return swapped(f.reshape(y, shape));
}

static Value transformAlong(Formula &f, Value x, int64_t axis, bool isInverse) {
  Value none = NoneOp::create(f.builder, f.loc);
  return DftOp::create(f.builder, f.loc, x, none, f.integer(axis), isInverse,
                       /*onesided=*/false);
}

/// x times the root of unity that belongs to its places along `axis` and the
/// dimension behind that, of n in all; complex.
static Value twiddle(Formula &f, Value x, int64_t axis, const Transform &t) {
  ArrayRef<int64_t> shape = Formula::typeOf(x).getShape();
  const int64_t rows = shape[axis], columns = shape[axis + 1];
  SmallVector<float> numbers[2];
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(i * j) /
                           static_cast<double>(t.n);
      numbers[0].push_back(static_cast<float>(std::cos(angle)));
      numbers[1].push_back(
          static_cast<float>(t.isInverse ? std::sin(angle) : -std::sin(angle)));
    }
  SmallVector<int64_t> factors(shape.size() - axis, 1);
  factors[0] = rows;
  factors[1] = columns;
  auto type = RankedTensorType::get(factors, f.builder.getF32Type());
  auto factor = [&](int which) {
    const char *bytes = reinterpret_cast<const char *>(numbers[which].data());
    return f.constant(
        makeElements(type, {bytes, numbers[which].size() * sizeof(float)}));
  };
  const int64_t last = static_cast<int64_t>(shape.size()) - 1;
  auto component = [&](int64_t which) {
    return f.make<SliceOp>(x, f.ints(which), f.ints(which + 1), f.ints(last),
                           f.ints(1));
  };
  Value re = component(0), im = component(1);
  Value cosine = factor(0), sine = factor(1);
  SmallVector<Value> parts = {f.sub(f.mul(re, cosine), f.mul(im, sine)),
                              f.add(f.mul(re, sine), f.mul(im, cosine))};
  return ConcatOp::create(f.builder, f.loc, parts, last);
}

/// Number t = t1 * b + t2 of n = a * b becomes number k = k1 + a * k2.
static Value multiplyParts(Formula &f, Value x, const Transform &t, int64_t a) {
  const int64_t b = t.n / a;
  x = firstOf(f, x, t.axis, t.n);
  SmallVector<int64_t> shape(Formula::typeOf(x).getShape());
  shape[t.axis] = a;
  shape.insert(shape.begin() + t.axis + 1, b);
  x = transformAlong(f, f.reshape(x, shape), t.axis, t.isInverse);
  x = transformAlong(f, twiddle(f, x, t.axis, t), t.axis + 1, t.isInverse);
  auto order =
      llvm::to_vector(llvm::seq<int64_t>(Formula::typeOf(x).getRank()));
  std::swap(order[t.axis], order[t.axis + 1]);
  shape = SmallVector<int64_t>(Formula::typeOf(x).getShape());
  shape.erase(shape.begin() + t.axis);
  shape[t.axis] = t.n;
  x = f.reshape(f.transpose(x, order), shape);
  return firstOf(f, x, t.axis, t.output);
}

bool DftOp::hasFasterParts() { return true; }

FailureOr<SmallVector<Value>> DftOp::decompose(OpBuilder &builder) {
  auto element = cast<TensorType>(getX().getType()).getElementType();
  if (!hasElements(*this) || element.isF64())
    return failure();
  std::optional<Transform> t = transformOf(*this);
  if (!t || t->n < 1 || t->input < 1)
    return failure();
  Formula f(builder, getLoc());
  Value x = f.cast(getX(), builder.getF32Type());
  const int64_t a = factorOf(t->n);
  const bool isFromHalf = t->isInverse && t->isOneSided;
  Value y;
  if (t->n > kMostWhole && a > 1 && !isFromHalf)
    y = multiplyParts(f, x, *t, a);
  else if (t->input * t->components <=
           kMostNumbers / (t->output * t->outComponents))
    y = multiplyWhole(f, x, *t);
  else
    return failure();
  return SmallVector<Value>{f.cast(y, element)};
}
