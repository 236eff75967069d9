// SPDX-License-Identifier: Apache-2.0
//
// Operations that move whole elements along dimensions: transpose, expand,
// tile, concat, split, slice.

#include "Families.h"
#include "Parameter.h"
#include "ShapeRule.h"
#include "Walk.h"

#include <algorithm>
#include <cinttypes>

using namespace dlc::rt;
using namespace dlc::rt::ref;

/// Gives a result whose rank is known as far as `rank` is, without dimensions.
static Status addUnknown(std::vector<TensorType> &results, DataType type,
                         int64_t rank) {
  if (rank < 0 || rank > DLC_MAX_RANK)
    return addResult(results, unrankedOf(type));
  return addResult(results, {type, std::vector<int64_t>(rank, kUnknownDim)});
}

//===----------------------------------------------------------------------===//
// transpose
//===----------------------------------------------------------------------===//

static Status inferTranspose(const InferContext &context,
                             std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1));
  const TensorType &x = context.operand(0).type;
  std::span<const int64_t> perm = context.attrs().getInts("perm");
  if (perm.size() > DLC_MAX_RANK ||
      (x.hasRank && perm.size() != x.shape.size()))
    return DLC_INVALID("expected a permutation of the dimensions of %s in "
                       "'perm', got %zu numbers",
                       toString(x).c_str(), perm.size());
  uint32_t seen = 0;
  TensorType result{x.type, {}};
  for (int64_t from : perm) {
    if (from < 0 || from >= static_cast<int64_t>(perm.size()) ||
        seen >> from & 1)
      return DLC_INVALID("expected a permutation of [0, %zu), got %" PRId64,
                         perm.size(), from);
    seen |= 1u << from;
    result.shape.push_back(x.hasRank ? x.shape[from] : kUnknownDim);
  }
  return addResult(results, std::move(result));
}

static Status computeTranspose(ComputeContext &context) {
  const TensorView &x = context.input(0);
  copyTransposed(context, context.output(0).data, x.data, x.shape,
                 context.attrs().getInts("perm"), sizeOf(x.type));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// expand
//===----------------------------------------------------------------------===//

static Status inferExpand(const InferContext &context,
                          std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2));
  Parameter shape;
  DLC_RETURN_IF_ERROR(readParameter(context, 1, shape));
  if (shape.length > DLC_MAX_RANK)
    return DLC_INVALID("expected at most %d dimensions, got %" PRId64,
                       DLC_MAX_RANK, shape.length);
  TensorType result = context.operand(0).type;
  TensorType wanted{result.type, {}, shape.length >= 0};
  if (shape.values)
    wanted.shape = *shape.values;
  else if (wanted.hasRank)
    wanted.shape.assign(shape.length, kUnknownDim);
  if (shape.values)
    for (int64_t dim : wanted.shape)
      if (dim < 0)
        return DLC_INVALID("expected dimensions of at least 0, got %" PRId64,
                           dim);
  DLC_RETURN_IF_ERROR(broadcastInto(result, wanted));
  return addResult(results, std::move(result));
}

static Status computeExpand(ComputeContext &context) {
  DLC_RETURN_IF_ERROR(checkOutputs(context, inferExpand));
  const TensorView &x = context.input(0);
  TensorView &y = context.output(0);
  Walk from = rowMajorWalk(x.shape);
  for (size_t i = 0; i < x.shape.size(); ++i)
    if (x.shape[i] == 1)
      from.strides[i] = 0;
  from.strides.insert(from.strides.begin(), y.shape.size() - x.shape.size(), 0);
  copyElements(context, y.data, rowMajorWalk(y.shape), x.data, from, y.shape,
               sizeOf(x.type));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// tile
//===----------------------------------------------------------------------===//

static Status inferTile(const InferContext &context,
                        std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2));
  const TensorType &x = context.operand(0).type;
  Parameter repeats;
  DLC_RETURN_IF_ERROR(readParameter(context, 1, repeats));
  if (!x.hasRank)
    return addUnknown(results, x.type, repeats.length);
  if (repeats.length >= 0 && repeats.length != x.rank())
    return DLC_INVALID("expected %" PRId64 " repeats, got %" PRId64, x.rank(),
                       repeats.length);
  if (!repeats.values)
    return addUnknown(results, x.type, x.rank());
  TensorType result = x;
  for (int64_t i = 0; i < x.rank(); ++i) {
    int64_t repeat = (*repeats.values)[i];
    if (repeat < 0)
      return DLC_INVALID("expected repeats of at least 0, got %" PRId64,
                         repeat);
    std::optional<int64_t> dim = multiplyDims(x.shape[i], repeat);
    if (!dim)
      return DLC_INVALID("dimension %" PRId64 ": %" PRId64 " times %" PRId64
                         " overflows",
                         i, x.shape[i], repeat);
    result.shape[i] = *dim;
  }
  return addResult(results, std::move(result));
}

/// Each dimension d repeated r times is a walk over [r, d] with source
/// strides [0, 1].
static Status computeTile(ComputeContext &context) {
  DLC_RETURN_IF_ERROR(checkOutputs(context, inferTile));
  const TensorView &x = context.input(0);
  TensorView &y = context.output(0);
  std::vector<int64_t> repeats = context.intsOf(1), shape;
  Walk source = rowMajorWalk(x.shape), target = rowMajorWalk(y.shape), from, to;
  for (size_t i = 0; i < x.shape.size(); ++i) {
    shape.insert(shape.end(), {repeats[i], x.shape[i]});
    from.strides.insert(from.strides.end(), {0, source.strides[i]});
    to.strides.insert(to.strides.end(),
                      {target.strides[i] * x.shape[i], target.strides[i]});
  }
  if (y.size() != 0)
    copyElements(context, y.data, to, x.data, from, shape, sizeOf(x.type));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// concat
//===----------------------------------------------------------------------===//

/// Adds operand `index` to the concatenation `result` along `axis`.
static Status appendOperand(const InferContext &context, size_t index,
                            int64_t axis, TensorType &result) {
  const TensorType &part = context.operand(index).type;
  DLC_RETURN_IF_ERROR(checkSameType(context, 0, index));
  DLC_RETURN_IF_ERROR(checkRank(context, index, result.rank()));
  for (int64_t i = 0; i < result.rank(); ++i) {
    int64_t dim = part.hasRank ? part.shape[i] : kUnknownDim;
    if (i == axis) {
      std::optional<int64_t> sum = addDims(result.shape[i], dim);
      if (!sum)
        return DLC_INVALID("the sum of dimensions %" PRId64 " overflows", i);
      result.shape[i] = *sum;
    } else if (!mergeDim(result.shape[i], dim)) {
      return DLC_INVALID("operand %zu: expected dimension %" PRId64
                         " to be %" PRId64 ", got %s",
                         index, i, result.shape[i], toString(part).c_str());
    }
  }
  return Status::ok();
}

static Status inferConcat(const InferContext &context,
                          std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1, SIZE_MAX));
  TensorType result = unrankedOf(context.operand(0).type.type);
  for (size_t i = 0; i < context.operandCount(); ++i) {
    const Operand &operand = context.operand(i);
    if (!operand.isPresent())
      return DLC_INVALID("operand %zu: expected a tensor, got none", i);
    DLC_RETURN_IF_ERROR(checkSameType(context, 0, i));
    DLC_RETURN_IF_ERROR(checkRankAtLeast(context, i, 1));
    if (operand.type.hasRank && !result.hasRank)
      result = {result.type,
                std::vector<int64_t>(operand.type.rank(), kUnknownDim)};
  }
  if (!result.hasRank)
    return addResult(results, std::move(result));
  int64_t axis = context.attrs().getInt("axis", 0);
  DLC_RETURN_IF_ERROR(normalizeAxis(axis, result.rank()));
  result.shape[axis] = 0;
  for (size_t i = 0; i < context.operandCount(); ++i)
    DLC_RETURN_IF_ERROR(appendOperand(context, i, axis, result));
  return addResult(results, std::move(result));
}

static Status computeConcat(ComputeContext &context) {
  TensorView &y = context.output(0);
  int64_t axis = context.attrs().getInt("axis", 0);
  DLC_RETURN_IF_ERROR(normalizeAxis(axis, y.rank()));
  Walk to = rowMajorWalk(y.shape);
  for (size_t i = 0; i < context.inputCount(); ++i) {
    const TensorView &x = context.input(i);
    copyElements(context, y.data, to, x.data, rowMajorWalk(x.shape), x.shape,
                 sizeOf(x.type));
    to.start += to.strides[axis] * x.shape[axis];
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// split
//===----------------------------------------------------------------------===//

static Status checkSplitSizes(std::span<const int64_t> sizes, int64_t dim) {
  int64_t sum = 0;
  for (int64_t size : sizes) {
    if (size < 0 || __builtin_add_overflow(sum, size, &sum))
      return DLC_INVALID("expected sizes of at least 0 with a sum that fits, "
                         "got %" PRId64,
                         size);
  }
  if (dim >= 0 && sum != dim)
    return DLC_INVALID("expected sizes with sum %" PRId64 ", got %" PRId64, dim,
                       sum);
  return Status::ok();
}

static Status inferSplit(const InferContext &context,
                         std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2));
  DLC_RETURN_IF_ERROR(checkRankAtLeast(context, 0, 1));
  const TensorType &x = context.operand(0).type;
  Parameter sizes;
  DLC_RETURN_IF_ERROR(readParameter(context, 1, sizes));
  int64_t count = static_cast<int64_t>(context.results());
  if (count == 0 || (sizes.length >= 0 && sizes.length != count))
    return DLC_INVALID("expected a size for each of %" PRId64
                       " results, got %" PRId64,
                       count, sizes.length);
  int64_t axis = context.attrs().getInt("axis", 0);
  if (x.hasRank)
    DLC_RETURN_IF_ERROR(normalizeAxis(axis, x.rank()));
  if (sizes.values)
    DLC_RETURN_IF_ERROR(checkSplitSizes(
        *sizes.values, x.hasRank ? x.shape[axis] : kUnknownDim));
  for (int64_t i = 0; i < count; ++i) {
    TensorType result = x;
    if (x.hasRank)
      result.shape[axis] = sizes.values ? (*sizes.values)[i] : kUnknownDim;
    DLC_RETURN_IF_ERROR(addResult(results, std::move(result)));
  }
  return Status::ok();
}

static Status computeSplit(ComputeContext &context) {
  DLC_RETURN_IF_ERROR(checkOutputs(context, inferSplit));
  const TensorView &x = context.input(0);
  int64_t axis = context.attrs().getInt("axis", 0);
  DLC_RETURN_IF_ERROR(normalizeAxis(axis, x.rank()));
  Walk from = rowMajorWalk(x.shape);
  for (size_t i = 0; i < context.outputCount(); ++i) {
    TensorView &y = context.output(i);
    copyElements(context, y.data, rowMajorWalk(y.shape), x.data, from, y.shape,
                 sizeOf(x.type));
    from.start += from.strides[axis] * y.shape[axis];
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// slice
//===----------------------------------------------------------------------===//

namespace {
/// The elements start, start + step, ... of one dimension.
struct SliceRange {
  int64_t start = 0, step = 1, length = 0;
};

struct SliceParameters {
  Parameter starts, ends, axes, steps;
};
} // namespace

/// ONNX's clamping: towards the dimension's first and last element, and one
/// further for the end.
static SliceRange clampSlice(int64_t start, int64_t end, int64_t step,
                             int64_t dim) {
  if (dim == 0)
    return {0, step, 0};
  if (start < 0)
    start += dim;
  if (end < 0)
    end += dim;
  // |step| as unsigned: INT64_MIN has no positive counterpart.
  uint64_t pace = step < 0 ? -static_cast<uint64_t>(step) : step;
  int64_t span;
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, dim);
    span = std::clamp<int64_t>(end, 0, dim) - start;
  } else {
    start = std::clamp<int64_t>(start, 0, dim - 1);
    span = start - std::clamp<int64_t>(end, -1, dim - 1);
  }
  if (span <= 0)
    return {0, step, 0};
  return {start, step, static_cast<int64_t>((span - 1) / pace + 1)};
}

static Status readSlice(const InferContext &context, SliceParameters &slice) {
  Parameter *all[] = {&slice.starts, &slice.ends, &slice.axes, &slice.steps};
  int64_t length = kUnknownDim;
  for (size_t i = 0; i < std::size(all); ++i) {
    DLC_RETURN_IF_ERROR(readParameter(context, i + 1, *all[i]));
    if (!mergeDim(length, all[i]->length))
      return DLC_INVALID("operand %zu: expected %" PRId64
                         " values as the operands before, got %" PRId64,
                         i + 1, length, all[i]->length);
  }
  if (slice.steps.values && std::ranges::count(*slice.steps.values, 0) > 0)
    return DLC_INVALID("expected steps other than 0");
  return Status::ok();
}

static Status inferSlice(const InferContext &context,
                         std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 5));
  const TensorType &x = context.operand(0).type;
  SliceParameters slice;
  DLC_RETURN_IF_ERROR(readSlice(context, slice));
  if (!x.hasRank)
    return addResult(results, x);
  if (!slice.axes.values)
    return addUnknown(results, x.type, x.rank());
  std::vector<int64_t> &axes = *slice.axes.values;
  DLC_RETURN_IF_ERROR(normalizeAxes(axes, x.rank()));
  TensorType result = x;
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t &dim = result.shape[axes[i]];
    bool known = slice.starts.values && slice.ends.values &&
                 slice.steps.values && dim >= 0;
    dim = known ? clampSlice((*slice.starts.values)[i], (*slice.ends.values)[i],
                             (*slice.steps.values)[i], dim)
                      .length
                : kUnknownDim;
  }
  return addResult(results, std::move(result));
}

static Status computeSlice(ComputeContext &context) {
  DLC_RETURN_IF_ERROR(checkOutputs(context, inferSlice));
  const TensorView &x = context.input(0);
  TensorView &y = context.output(0);
  std::vector<int64_t> starts = context.intsOf(1), ends = context.intsOf(2),
                       axes = context.intsOf(3), steps = context.intsOf(4);
  DLC_RETURN_IF_ERROR(normalizeAxes(axes, x.rank()));
  Walk from = rowMajorWalk(x.shape);
  for (size_t i = 0; i < axes.size(); ++i) {
    SliceRange range =
        clampSlice(starts[i], ends[i], steps[i], x.shape[axes[i]]);
    uint64_t &stride = from.strides[axes[i]];
    from.start += stride * range.start;
    stride *= range.step;
  }
  copyElements(context, y.data, rowMajorWalk(y.shape), x.data, from, y.shape,
               sizeOf(x.type));
  return Status::ok();
}

std::span<const Operation> ref::movementOperations() {
  static constexpr Operation table[] = {
      {"concat", inferConcat, computeConcat},
      {"expand", inferExpand, computeExpand},
      {"slice", inferSlice, computeSlice},
      {"split", inferSplit, computeSplit},
      {"tile", inferTile, computeTile},
      {"transpose", inferTranspose, computeTranspose},
  };
  return table;
}
