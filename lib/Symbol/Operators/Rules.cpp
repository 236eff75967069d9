// SPDX-License-Identifier: Apache-2.0

#include "Rules.h"

using namespace dlc;
using namespace dlc::symbol;
using mlir::Value;

void symbol::lowerIdentity(LoweringContext &n) { n.set(0, n.in(0)); }

void symbol::sameShapes(ShapeRelation &r) { r.equateAll(); }

void symbol::keepsShape(ShapeRelation &r) { r.equate(0, 0); }

void symbol::suggestInput(ShapeRelation &r, size_t index, const Shape &shape) {
  if (index >= r.inputCount())
    return;
  Shape known = r.input(index);
  if (unify(known, shape))
    r.setInput(index, known);
}

void symbol::suggestElements(ShapeRelation &r, size_t index,
                             const Shape &shape) {
  suggestInput(r, index, shape);
  if (index >= r.inputCount() || !isStatic(shape) || !isStatic(r.input(index)))
    return;
  const Shape &known = r.input(index);
  bool hasSameRows = known->empty() == shape->empty() &&
                     (known->empty() || known->front() == shape->front());
  if (!hasSameRows ||
      product(known, 0, known->size()) != product(shape, 0, shape->size()))
    r.setInput(index, shape); // Says what was expected.
}

void symbol::convertsToDtype(TypeRelation &r) {
  for (size_t i = 0; i < r.outputCount(); ++i)
    r.setOutput(i, r.parameters.getType("dtype"));
}

void symbol::keepsType(TypeRelation &r) {
  for (size_t i = 0; i < r.outputCount(); ++i)
    r.equate(0, i);
}

mlir::Type symbol::typeParameter(LoweringContext &n, std::string_view name) {
  return n.b.elementType(n.p.getType(name));
}

bool symbol::checkLength(LoweringContext &n, std::string_view parameter,
                         size_t count) {
  size_t length = n.p.getInts(parameter).size();
  if (length == 0 || length == count)
    return true;
  n.fail("parameter '" + llvm::Twine(std::string(parameter)) + "': expected " +
         llvm::Twine(count) + " values, got " + llvm::Twine(length));
  return false;
}

int64_t symbol::multiplied(int64_t extent, int64_t by) {
  int64_t result = 0;
  bool isKnown =
      extent != rt::kUnknownDim && !__builtin_mul_overflow(extent, by, &result);
  return isKnown ? result : rt::kUnknownDim;
}

int64_t symbol::divided(int64_t extent, int64_t by) {
  return extent == rt::kUnknownDim || by == 0 || extent % by ? rt::kUnknownDim
                                                             : extent / by;
}

std::optional<size_t> symbol::axisWithin(int64_t axis, size_t rank) {
  auto end = static_cast<int64_t>(rank);
  axis += axis < 0 ? end : 0;
  if (axis < 0 || axis >= end)
    return std::nullopt;
  return static_cast<size_t>(axis);
}

int64_t symbol::product(const Shape &shape, size_t begin, size_t end) {
  if (!shape)
    return rt::kUnknownDim;
  int64_t result = 1;
  for (size_t i = begin; i < std::min(end, shape->size()); ++i)
    if ((*shape)[i] == rt::kUnknownDim ||
        __builtin_mul_overflow(result, (*shape)[i], &result))
      return rt::kUnknownDim;
  return result;
}

Value symbol::moveAxis(LoweringContext &n, Value x, int64_t from, int64_t to) {
  if (from == to)
    return x;
  Ints perm = range(0, n.rank(x));
  if (n.b.failed())
    return {};
  perm.erase(perm.begin() + from);
  perm.insert(perm.begin() + to, from);
  return n.b.transpose(x, perm);
}

Value symbol::extentOf(LoweringContext &n, Value x, int64_t axis) {
  return n.b.reshape(n.b.shapeOf(x, axis, axis + 1), {});
}

Value symbol::maskByLength(LoweringContext &n, Value x, int64_t axis,
                           Value lengths, double outside) {
  Value places = n.b.op(
      "range", {n.b.intScalar(0), extentOf(n, x, axis), n.b.intScalar(1)});
  Value isInside = n.b.op(
      "less", {n.perChannel(places, x, axis), n.b.cast(lengths, n.b.i64())});
  return n.b.op("select", {isInside, x, n.scalarLike(x, outside)});
}

Value symbol::softmaxOfSamples(LoweringContext &n, Value x) {
  if (n.rank(x) == 2)
    return n.b.op("softmax", {x}, {{"axis", 1}});
  Value rows = n.b.op("flatten", {x}, {{"axis", 1}});
  return n.b.op("reshape",
                {n.b.op("softmax", {rows}, {{"axis", 1}}), n.b.shapeOf(x)},
                {{"allowzero", true}});
}

Value symbol::floats(LoweringContext &n, llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<float> values) {
  auto type = mlir::RankedTensorType::get(shape, n.b.f32());
  return n.b.constant(mlir::DenseElementsAttr::get(type, values));
}

bool symbol::isImage(LoweringContext &n, Value x) {
  if (int64_t rank = n.rank(x); rank != 4) {
    n.fail("expected data of 4 dimensions, got " + llvm::Twine(rank));
    return false;
  }
  return !n.b.failed();
}

Value symbol::turned(LoweringContext &n, Value x) {
  Ints perm = range(0, n.rank(x));
  if (perm.size() < 2) {
    n.fail("expected matrices, got data of " + llvm::Twine(perm.size()) +
           " dimensions");
    return {};
  }
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return n.b.transpose(x, perm);
}

static Value places(LoweringContext &n, int64_t count) {
  return n.b.op("range",
                {n.b.intScalar(0), n.b.intScalar(count), n.b.intScalar(1)});
}

Value symbol::onDiagonal(LoweringContext &n, int64_t rows, int64_t columns,
                         int64_t k) {
  Value row = n.b.unsqueeze(places(n, rows), {1});
  return n.b.op("equal", {n.b.add(row, n.b.intScalar(k)), places(n, columns)});
}
