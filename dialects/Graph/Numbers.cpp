// SPDX-License-Identifier: Apache-2.0

#include "dlc/dialects/Graph/Numbers.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace dlc::graph;

static bool isConstant(const Index &index) {
  return llvm::all_of(index.coefficients, [](int64_t c) { return c == 0; });
}

/// The number at `position` of constants, where those that it may be at are
/// linear in it.
static std::optional<Index> linearAt(ArrayRef<int64_t> values,
                                     ArrayRef<int64_t> shape,
                                     ArrayRef<Index> position, Index sum) {
  struct Dim {
    int64_t extent, stride;
    const Index &index;
    int64_t slope = 0;
  };
  SmallVector<Dim> dims;
  int64_t first = 0, stride = 1;
  for (size_t dim = shape.size(); dim-- > 0; stride *= shape[dim]) {
    const Index &index = position[dim];
    if (!isConstant(index))
      dims.push_back({shape[dim], stride, index});
    else if (index.constant < 0 || index.constant >= shape[dim])
      return std::nullopt;
    else
      first += index.constant * stride;
  }
  if (values.empty())
    return std::nullopt;
  int64_t count = 1;
  for (Dim &dim : dims) {
    dim.slope = dim.extent > 1 ? values[first + dim.stride] - values[first] : 0;
    count *= dim.extent;
  }
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = first, expected = values[first], rest = i;
    for (const Dim &dim : dims) {
      at += rest % dim.extent * dim.stride;
      expected += rest % dim.extent * dim.slope;
      rest /= dim.extent;
    }
    if (values[at] != expected)
      return std::nullopt;
  }
  sum = sum + values[first];
  for (const Dim &dim : dims)
    sum = sum + dim.index * dim.slope;
  return sum;
}

std::optional<Index> NumberReader::numberAt(Value tensor,
                                            ArrayRef<Index> position) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || !type.hasStaticShape() ||
      !type.getElementType().isSignlessInteger() ||
      type.getElementType().isInteger(1) || isExcluded(tensor))
    return std::nullopt;
  if (ElementsAttr elements = elementsOf(tensor)) {
    ArrayRef<int64_t> values = valuesOf(tensor, elements);
    return linearAt(values, type.getShape(), position, number(0));
  }
  auto result = dyn_cast<OpResult>(tensor);
  return result ? numberOf(result, position) : std::nullopt;
}

/// Empty where there are too many, or so large ones that sums could overflow.
/// Many of 8 bits are weights, and no places.
ArrayRef<int64_t> NumberReader::valuesOf(Value tensor, ElementsAttr elements) {
  const bool isOfBytes = elements.getElementType().isInteger(8);
  const size_t mostValues = size_t(1) << (isOfBytes ? 12 : 23);
  constexpr int64_t largest = int64_t(1) << 40;
  auto [known, isNew] = constants.try_emplace(tensor);
  if (!isNew)
    return known->second;
  auto values = getInts(elements, mostValues);
  auto isLarge = [](int64_t value) {
    return value < -largest || value > largest;
  };
  if (values && !llvm::any_of(*values, isLarge))
    known->second = std::move(*values);
  return known->second;
}

NumberReader::Value NumberReader::read(Value tensor, ArrayRef<Index> position) {
  last = numberAt(tensor, position);
  if (!last)
    return {};
  Type type = getElementTypeOrSelf(tensor.getType());
  placeholder =
      arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, 0));
  return placeholder;
}

/// Whether no number of `type` wraps around: narrow ones do where there are
/// more elements than somebody has read.
bool NumberReader::fits(const Index &number, Type type) const {
  const unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (isConstant(number) || width >= 64)
    return true;
  auto [low, high] = rangeOf(number);
  return width == 32 && low >= INT32_MIN && high <= INT32_MAX;
}

std::optional<Index> NumberReader::numberOf(OpResult result,
                                            ArrayRef<Index> position) {
  auto number = numberBefore(result, position);
  return number && fits(*number, result.getType()) ? number : std::nullopt;
}

/// The same, as if integers had no end.
std::optional<Index> NumberReader::numberBefore(OpResult result,
                                                ArrayRef<Index> position) {
  Operation *op = result.getOwner();
  auto operandAt = [&](unsigned i) -> std::optional<Index> {
    Value operand = op->getOperand(i);
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || !type.hasStaticShape())
      return std::nullopt;
    return numberAt(operand, broadcast(position, type.getShape()));
  };
  if (isa<CastOp>(op))
    return operandAt(0);
  if (isa<AddOp, SubOp, MulOp>(op)) {
    auto a = operandAt(0), b = a ? operandAt(1) : std::nullopt;
    if (!b)
      return std::nullopt;
    if (!isa<MulOp>(op))
      return *a + *b * (isa<SubOp>(op) ? -1 : 1);
    if (isConstant(*a))
      return *b * a->constant;
    return isConstant(*b) ? std::optional(*a * b->constant) : std::nullopt;
  }
  if (auto range = dyn_cast<RangeOp>(op)) {
    auto start = numberAt(range.getStart(), {});
    auto delta = start ? numberAt(range.getDelta(), {}) : std::nullopt;
    return delta && isConstant(*delta)
               ? std::optional(position[0] * delta->constant + *start)
               : std::nullopt;
  }
  // Movement of one element: nothing is made of it.
  auto moved = dyn_cast<PositionedOpInterface>(op);
  if (!moved || getFusionKind(op) != FusionKind::Movement ||
      !hasStaticTypes(op))
    return std::nullopt;
  last.reset();
  Value value = moved.buildElementAt(*this, result.getResultNumber(), position);
  return value && value == placeholder ? last : std::nullopt;
}
