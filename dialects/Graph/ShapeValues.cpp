// SPDX-License-Identifier: Apache-2.0
//
// What is known of shapes that a program computes: ShapeValueOpInterface and
// PartialShapeOpInterface.

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace dlc::graph;

using Operands = ArrayRef<const PartialInts *>;
using MaybeInts = std::optional<PartialInts>;

/// All numbers of an operand, or nullopt when one is unknown.
static std::optional<SmallVector<int64_t>> allOf(const PartialInts *ints) {
  if (!ints)
    return std::nullopt;
  SmallVector<int64_t> values;
  for (std::optional<int64_t> each : *ints) {
    if (!each)
      return std::nullopt;
    values.push_back(*each);
  }
  return values;
}

static PartialInts dimsOf(RankedTensorType type) {
  PartialInts dims;
  for (int64_t dim : type.getShape())
    dims.push_back(ShapedType::isDynamic(dim) ? std::nullopt
                                              : std::optional(dim));
  return dims;
}

/// Operand 0 as it is, for operations that only change its shape.
static MaybeInts sameElements(Operands operands) {
  return operands[0] ? MaybeInts(*operands[0]) : std::nullopt;
}

/// A position of a list of `rank` dimensions, which may count from its end.
static int64_t limitedTo(int64_t rank, int64_t position) {
  return std::clamp<int64_t>(position < 0 ? position + rank : position, 0,
                             rank);
}

int64_t ShapeOp::getFirst() {
  return limitedTo(cast<RankedTensorType>(getX().getType()).getRank(),
                   getStart());
}

int64_t ShapeOp::getLast() {
  return limitedTo(cast<RankedTensorType>(getX().getType()).getRank(),
                   getEnd());
}

MaybeInts ShapeOp::evaluatePartially(Operands) {
  auto type = dyn_cast<RankedTensorType>(getX().getType());
  if (!type)
    return std::nullopt;
  const int64_t begin = getFirst(), end = getLast();
  PartialInts dims = dimsOf(type);
  return begin < end ? PartialInts(dims.begin() + begin, dims.begin() + end)
                     : PartialInts();
}

MaybeInts SizeOp::evaluatePartially(Operands) {
  auto type = dyn_cast<RankedTensorType>(getX().getType());
  if (!type || !type.hasStaticShape())
    return PartialInts(1);
  return PartialInts{type.getNumElements()};
}

MaybeInts ReshapeOp::evaluatePartially(Operands operands) {
  return sameElements(operands);
}

MaybeInts SqueezeOp::evaluatePartially(Operands operands) {
  return sameElements(operands);
}

MaybeInts UnsqueezeOp::evaluatePartially(Operands operands) {
  return sameElements(operands);
}

MaybeInts ExpandOp::evaluatePartially(Operands operands) {
  auto shape = allOf(operands[1]);
  if (!operands[0] || operands[0]->size() != 1 || !shape)
    return std::nullopt;
  int64_t count = 1;
  for (int64_t dim : *shape)
    if (dim < 0 || dim > 4096 || (count *= dim) > 4096)
      return std::nullopt;
  return PartialInts(count, operands[0]->front());
}

MaybeInts ConcatOp::evaluatePartially(Operands operands) {
  auto type = dyn_cast<RankedTensorType>(getY().getType());
  if (!type || type.getRank() != 1)
    return std::nullopt;
  PartialInts all;
  for (auto [input, ints] : llvm::zip_equal(getInputs(), operands)) {
    if (ints) {
      all.append(*ints);
      continue;
    }
    auto part = dyn_cast<RankedTensorType>(input.getType());
    if (!part || !part.hasStaticShape() || part.getNumElements() > 4096)
      return std::nullopt;
    all.append(part.getNumElements(), std::nullopt);
  }
  return all;
}

MaybeInts SliceOp::evaluatePartially(Operands operands) {
  auto type = dyn_cast<RankedTensorType>(getX().getType());
  auto starts = allOf(operands[1]), ends = allOf(operands[2]);
  auto steps = allOf(operands[4]);
  if (!operands[0] || !type || type.getRank() != 1 || !starts || !ends ||
      !steps || starts->size() != 1 || ends->size() != 1 ||
      steps->size() != 1 || steps->front() == 0)
    return std::nullopt;
  int64_t count = operands[0]->size(), step = steps->front();
  int64_t low = step > 0 ? 0 : -1, high = step > 0 ? count : count - 1;
  auto limit = [&](int64_t position) {
    if (position < 0)
      position = position < -count ? low : position + count;
    return std::clamp(position, low, high);
  };
  PartialInts part;
  int64_t end = limit(ends->front());
  for (int64_t i = limit(starts->front()); step > 0 ? i < end : i > end;) {
    part.push_back((*operands[0])[i]);
    if (llvm::AddOverflow(i, step, i))
      break;
  }
  return part;
}

MaybeInts GatherOp::evaluatePartially(Operands operands) {
  auto type = dyn_cast<RankedTensorType>(getX().getType());
  auto indices = allOf(operands[1]);
  if (!operands[0] || !type || type.getRank() != 1 || !indices)
    return std::nullopt;
  int64_t count = operands[0]->size();
  PartialInts part;
  for (int64_t index : *indices) {
    index += index < 0 ? count : 0;
    if (index < 0 || index >= count)
      return std::nullopt;
    part.push_back((*operands[0])[index]);
  }
  return part;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Applies `function` to pairs of numbers; a single number meets all. An
/// element is unknown when either is, or when the function says so.
static MaybeInts combine(Operands operands,
                         std::optional<int64_t> (*function)(int64_t, int64_t)) {
  if (!operands[0] || !operands[1])
    return std::nullopt;
  const PartialInts &a = *operands[0], &b = *operands[1];
  if (a.size() != b.size() && a.size() != 1 && b.size() != 1)
    return std::nullopt;
  size_t count = a.size() == 1 ? b.size() : a.size();
  PartialInts result(count);
  for (size_t i = 0; i < count; ++i) {
    auto left = a[a.size() == 1 ? 0 : i], right = b[b.size() == 1 ? 0 : i];
    if (left && right)
      result[i] = function(*left, *right);
  }
  return result;
}

/// Shapes are 64-bit; narrower arithmetic wraps elsewhere.
static bool isI64(Operation *op) {
  return cast<TensorType>(op->getResult(0).getType())
      .getElementType()
      .isInteger(64);
}

/// The result of an overflow check, unknown when it failed.
static std::optional<int64_t> checked(bool overflow, int64_t value) {
  return overflow ? std::nullopt : std::optional(value);
}

MaybeInts AddOp::evaluatePartially(Operands operands) {
  if (!isI64(*this))
    return std::nullopt;
  return combine(operands, [](int64_t a, int64_t b) {
    int64_t sum;
    bool overflow = llvm::AddOverflow(a, b, sum);
    return checked(overflow, sum);
  });
}

MaybeInts SubOp::evaluatePartially(Operands operands) {
  if (!isI64(*this))
    return std::nullopt;
  return combine(operands, [](int64_t a, int64_t b) {
    int64_t difference;
    bool overflow = llvm::SubOverflow(a, b, difference);
    return checked(overflow, difference);
  });
}

MaybeInts MulOp::evaluatePartially(Operands operands) {
  if (!isI64(*this))
    return std::nullopt;
  return combine(operands, [](int64_t a, int64_t b) {
    int64_t product;
    bool overflow = llvm::MulOverflow(a, b, product);
    return checked(overflow, product);
  });
}

MaybeInts DivOp::evaluatePartially(Operands operands) {
  if (!isI64(*this))
    return std::nullopt;
  return combine(operands, [](int64_t a, int64_t b) {
    return checked(b == 0 || b == -1, b == 0 || b == -1 ? 0 : a / b);
  });
}

/// Between integers of 32 and 64 bits shapes keep their value.
MaybeInts CastOp::evaluatePartially(Operands operands) {
  Type to = getTo(), from = getX().getType().getElementType();
  if (!operands[0] || !to.isSignlessInteger() || !from.isSignlessInteger() ||
      to.getIntOrFloatBitWidth() < 32)
    return std::nullopt;
  PartialInts result = *operands[0];
  for (std::optional<int64_t> &value : result)
    if (value && !llvm::isIntN(to.getIntOrFloatBitWidth(), *value))
      value = std::nullopt;
  return result;
}

//===----------------------------------------------------------------------===//
// Shapes from values
//===----------------------------------------------------------------------===//

std::optional<SmallVector<int64_t>>
ReshapeOp::inferPartially(Operands operands) {
  if (!operands[1])
    return std::nullopt;
  auto from = dyn_cast<RankedTensorType>(getX().getType());
  SmallVector<int64_t> shape;
  for (auto [i, dim] : llvm::enumerate(*operands[1])) {
    bool copies = dim && *dim == 0 && !getAllowzero();
    if (copies && from && static_cast<int64_t>(i) < from.getRank())
      shape.push_back(from.getDimSize(i));
    else if (dim && *dim >= 0 && !copies)
      shape.push_back(*dim);
    else
      shape.push_back(ShapedType::kDynamic);
  }
  // With one dimension unknown, the number of elements tells it. This holds
  // whether the unknown one is -1 or computed at run time.
  if (!from || !from.hasStaticShape() ||
      llvm::count(shape, ShapedType::kDynamic) != 1)
    return shape;
  int64_t known = 1;
  for (int64_t dim : shape)
    if (!ShapedType::isDynamic(dim) && llvm::MulOverflow(known, dim, known))
      return shape;
  if (known > 0 && from.getNumElements() % known == 0)
    *llvm::find(shape, ShapedType::kDynamic) = from.getNumElements() / known;
  return shape;
}

std::optional<SmallVector<int64_t>>
ExpandOp::inferPartially(Operands operands) {
  auto from = dyn_cast<RankedTensorType>(getX().getType());
  if (!operands[1] || !from)
    return std::nullopt;
  int64_t asked = operands[1]->size(), had = from.getRank();
  int64_t rank = std::max(asked, had);
  SmallVector<int64_t> shape(rank, ShapedType::kDynamic);
  for (int64_t i = 0; i < rank; ++i) {
    int64_t a = i - (rank - asked), b = i - (rank - had);
    std::optional<int64_t> wanted = a < 0 ? 1 : (*operands[1])[a];
    int64_t dim = b < 0 ? 1 : from.getDimSize(b);
    if (dim != 1 && !ShapedType::isDynamic(dim))
      shape[i] = dim;
    else if (wanted && (*wanted > 1 || dim == 1))
      shape[i] = *wanted;
  }
  return shape;
}
