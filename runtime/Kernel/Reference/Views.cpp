// SPDX-License-Identifier: Apache-2.0
//
// Operations that only look at a tensor's shape, or give it another one:
// shape, size, reshape, flatten, squeeze, unsqueeze.

#include "Families.h"
#include "Parameter.h"
#include "ShapeRule.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

using namespace dlc::rt;
using namespace dlc::rt::ref;

/// A shape of `rank` unknown dimensions; unranked when that is unknown too.
static TensorType unknownShape(DataType type, int64_t rank) {
  if (rank < 0 || rank > DLC_MAX_RANK)
    return unrankedOf(type);
  return {type, std::vector<int64_t>(rank, kUnknownDim)};
}

/// Views share their bytes with the operand where an execution can; here they
/// are copied.
static Status copyBytes(ComputeContext &context) {
  const TensorView &x = context.input(0);
  TensorView &y = context.output(0);
  if (x.bytes() != y.bytes())
    return DLC_INVALID("expected a result of %zu bytes, got %zu", x.bytes(),
                       y.bytes());
  if (x.bytes())
    std::memcpy(y.data, x.data, x.bytes());
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// shape, size
//===----------------------------------------------------------------------===//

/// Brings `position` into [0, rank] as a Python slice does.
static int64_t clampPosition(int64_t position, int64_t rank) {
  if (position < 0)
    position += rank;
  return std::clamp<int64_t>(position, 0, rank);
}

/// The dimensions [first, second) that shape() returns.
static std::pair<int64_t, int64_t> shapeRange(const Attributes &attributes,
                                              int64_t rank) {
  int64_t start = clampPosition(attributes.getInt("start", 0), rank);
  int64_t end = clampPosition(attributes.getInt("end", INT64_MAX), rank);
  return {start, std::max(start, end)};
}

static Status inferShape(const InferContext &context,
                         std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1));
  const TensorType &x = context.operand(0).type;
  int64_t length = kUnknownDim;
  if (x.hasRank) {
    auto [start, end] = shapeRange(context.attrs(), x.rank());
    length = end - start;
  }
  return addResult(results, {DLC_I64, {length}});
}

static Status computeShape(ComputeContext &context) {
  const TensorView &x = context.input(0);
  auto [start, end] = shapeRange(context.attrs(), x.rank());
  std::copy(x.shape.begin() + start, x.shape.begin() + end,
            context.output(0).as<int64_t>());
  return Status::ok();
}

static Status inferSize(const InferContext &context,
                        std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1));
  return addResult(results, {DLC_I64, {}});
}

static Status computeSize(ComputeContext &context) {
  *context.output(0).as<int64_t>() = context.input(0).size();
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// reshape
//===----------------------------------------------------------------------===//

namespace {
/// The dimensions of a reshape that are not copied from the operand. Copied
/// ones cancel out, so that -1 is found next to unknown dimensions, and so
/// that an empty batch keeps its other dimensions.
struct Remainder {
  int64_t source = 1, target = 1; ///< Products, or kUnknownDim.
  bool overflows = false;
  bool areNone = false; ///< A copied one is 0: there are no elements.

  void multiply(int64_t &product, int64_t dim) {
    std::optional<int64_t> next = multiplyDims(product, dim);
    overflows |= !next;
    product = next.value_or(kUnknownDim);
  }
};
} // namespace

static Status checkReshapeValues(std::span<const int64_t> wanted,
                                 bool allowZero) {
  if (wanted.size() > DLC_MAX_RANK)
    return DLC_INVALID("expected at most %d dimensions, got %zu", DLC_MAX_RANK,
                       wanted.size());
  for (int64_t dim : wanted)
    if (dim < -1)
      return DLC_INVALID("expected dimensions of at least -1, got %" PRId64,
                         dim);
  int64_t inferred = std::ranges::count(wanted, -1);
  if (inferred > 1)
    return DLC_INVALID("expected at most one -1, got %" PRId64, inferred);
  if (allowZero && inferred == 1 && std::ranges::count(wanted, 0) > 0)
    return DLC_INVALID("expected no -1 beside a dimension of 0");
  return Status::ok();
}

/// Finds the dimension that was given as -1, or checks that sizes agree.
static Status solveReshape(Remainder &rest, int64_t *inferred,
                           const TensorType &x) {
  if (rest.overflows)
    return DLC_INVALID("the number of elements overflows");
  if (rest.source < 0 || rest.target < 0)
    return Status::ok();
  bool fits = inferred ? rest.target > 0 && rest.source % rest.target == 0
                       : rest.source == rest.target || rest.areNone;
  if (!fits)
    return DLC_INVALID("expected a shape for the elements of %s: %" PRId64
                       " can't be arranged as %s%" PRId64,
                       toString(x).c_str(), rest.source,
                       inferred ? "a multiple of " : "", rest.target);
  if (inferred)
    *inferred = rest.source / rest.target;
  return Status::ok();
}

static Status reshapeOf(const TensorType &x, std::span<const int64_t> wanted,
                        bool allowZero, TensorType &result) {
  DLC_RETURN_IF_ERROR(checkReshapeValues(wanted, allowZero));
  result = {x.type, {wanted.begin(), wanted.end()}};
  Remainder rest;
  if (!x.hasRank)
    rest.source = kUnknownDim;
  int64_t *inferred = nullptr;
  std::vector<bool> copied(x.shape.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    int64_t &dim = result.shape[i];
    if (dim == -1) {
      inferred = &dim;
      continue;
    }
    if (dim > 0 || allowZero) {
      rest.multiply(rest.target, dim);
      continue;
    }
    if (x.hasRank && i >= x.shape.size())
      return DLC_INVALID("dimension %zu: expected an extent, got 0 (copy) "
                         "past the end of %s",
                         i, toString(x).c_str());
    dim = x.hasRank ? x.shape[i] : kUnknownDim;
    if (x.hasRank)
      copied[i] = true;
    rest.areNone |= dim == 0;
  }
  for (size_t i = 0; i < x.shape.size(); ++i)
    if (!copied[i])
      rest.multiply(rest.source, x.shape[i]);
  return solveReshape(rest, inferred, x);
}

static Status inferReshape(const InferContext &context,
                           std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2));
  Parameter wanted;
  DLC_RETURN_IF_ERROR(readParameter(context, 1, wanted));
  const TensorType &x = context.operand(0).type;
  if (!wanted.values)
    return addResult(results, unknownShape(x.type, wanted.length));
  TensorType result;
  bool allowZero = context.attrs().getInt("allowzero", 0) != 0;
  DLC_RETURN_IF_ERROR(reshapeOf(x, *wanted.values, allowZero, result));
  return addResult(results, std::move(result));
}

//===----------------------------------------------------------------------===//
// flatten, squeeze, unsqueeze
//===----------------------------------------------------------------------===//

static Status inferFlatten(const InferContext &context,
                           std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1));
  const TensorType &x = context.operand(0).type;
  if (!x.hasRank)
    return addResult(results, unknownShape(x.type, 2));
  int64_t axis = context.attrs().getInt("axis", 1);
  if (axis < -x.rank() || axis > x.rank())
    return DLC_INVALID("expected an axis in [%" PRId64 ", %" PRId64
                       "], got %" PRId64,
                       -x.rank(), x.rank(), axis);
  if (axis < 0)
    axis += x.rank();
  int64_t parts[2] = {1, 1};
  for (int64_t i = 0; i < x.rank(); ++i) {
    int64_t &part = parts[i >= axis];
    std::optional<int64_t> product = multiplyDims(part, x.shape[i]);
    if (!product)
      return DLC_INVALID("the number of elements of %s overflows",
                         toString(x).c_str());
    part = *product;
  }
  return addResult(results, {x.type, {parts[0], parts[1]}});
}

/// squeeze without axes: which dimensions go is known only when all are.
static Status inferSqueezeAll(const TensorType &x,
                              std::vector<TensorType> &results) {
  if (!x.isStatic())
    return addResult(results, unrankedOf(x.type));
  TensorType result = x;
  std::erase(result.shape, 1);
  return addResult(results, std::move(result));
}

static Status inferSqueeze(const InferContext &context,
                           std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1, 2));
  const TensorType &x = context.operand(0).type;
  if (!context.isPresent(1))
    return inferSqueezeAll(x, results);
  Parameter axes;
  DLC_RETURN_IF_ERROR(readParameter(context, 1, axes));
  if (!x.hasRank)
    return addResult(results, unrankedOf(x.type));
  if (!axes.values) {
    int64_t rank = axes.length < 0 ? kUnknownDim : x.rank() - axes.length;
    if (axes.length > x.rank())
      return DLC_INVALID("expected at most %" PRId64 " axes, got %" PRId64,
                         x.rank(), axes.length);
    return addResult(results, unknownShape(x.type, rank));
  }
  DLC_RETURN_IF_ERROR(normalizeAxes(*axes.values, x.rank()));
  TensorType result{x.type, {}};
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (std::ranges::count(*axes.values, i) == 0)
      result.shape.push_back(x.shape[i]);
    else if (x.shape[i] >= 0 && x.shape[i] != 1)
      return DLC_INVALID("dimension %" PRId64 ": expected 1, got %" PRId64, i,
                         x.shape[i]);
  }
  return addResult(results, std::move(result));
}

static Status inferUnsqueeze(const InferContext &context,
                             std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2));
  const TensorType &x = context.operand(0).type;
  Parameter axes;
  DLC_RETURN_IF_ERROR(readParameter(context, 1, axes));
  if (!x.hasRank || axes.length < 0)
    return addResult(results, unrankedOf(x.type));
  if (axes.length > DLC_MAX_RANK - x.rank())
    return DLC_INVALID("expected at most %" PRId64 " axes, got %" PRId64,
                       DLC_MAX_RANK - x.rank(), axes.length);
  int64_t rank = x.rank() + axes.length;
  if (!axes.values)
    return addResult(results, unknownShape(x.type, rank));
  DLC_RETURN_IF_ERROR(normalizeAxes(*axes.values, rank));
  TensorType result{x.type, {}};
  auto next = x.shape.begin();
  for (int64_t i = 0; i < rank; ++i)
    result.shape.push_back(std::ranges::count(*axes.values, i) ? 1 : *next++);
  return addResult(results, std::move(result));
}

std::span<const Operation> ref::viewOperations() {
  static constexpr Operation table[] = {
      {"flatten", inferFlatten, copyBytes, /*allocatesResults=*/false,
       /*keepsBytes=*/true},
      {"reshape", inferReshape, copyBytes, /*allocatesResults=*/false,
       /*keepsBytes=*/true},
      {"shape", inferShape, computeShape},
      {"size", inferSize, computeSize},
      {"squeeze", inferSqueeze, copyBytes, /*allocatesResults=*/false,
       /*keepsBytes=*/true},
      {"unsqueeze", inferUnsqueeze, copyBytes, /*allocatesResults=*/false,
       /*keepsBytes=*/true},
  };
  return table;
}
