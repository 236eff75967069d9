// SPDX-License-Identifier: Apache-2.0
//
// Operations that pick elements by index: gather, gather_elements, gather_nd;
// and resolve_indices, which checks for them.

#include "Families.h"
#include "Index.h"
#include "Loop.h"
#include "Parameter.h"
#include "Walk.h"

#include <algorithm>
#include <cstring>

using namespace dlc::rt;
using namespace dlc::rt::ref;

static Status checkGather(const InferContext &context) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2));
  DLC_RETURN_IF_ERROR(checkType(context, 1, indexTypes));
  return checkRankAtLeast(context, 0, 1);
}

//===----------------------------------------------------------------------===//
// resolve_indices
//===----------------------------------------------------------------------===//

static Status inferResolveIndices(const InferContext &context,
                                  std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1));
  DLC_RETURN_IF_ERROR(checkType(context, 0, indexTypes));
  const TensorType &type = context.operand(0).type;
  size_t count = context.attrs().getInts("extents").size();
  bool hasPlaces = type.hasRank && type.rank() > 0;
  int64_t places = hasPlaces ? type.shape.back() : kUnknownDim;
  bool fits =
      count == 1 ||
      (count > 1 && (!type.hasRank || hasPlaces) &&
       (places == kUnknownDim || places == static_cast<int64_t>(count)));
  if (!fits)
    return DLC_INVALID("expected one extent, or one per place along the last "
                       "dimension of %s, got %zu",
                       toString(type).c_str(), count);
  return addResultLike(context, results);
}

static Status computeResolveIndices(ComputeContext &context) {
  DLC_RETURN_IF_ERROR(checkOutputs(context, inferResolveIndices));
  const TensorView &indices = context.input(0), &y = context.output(0);
  std::span<const int64_t> extents = context.attrs().getInts("extents");
  const auto dims = static_cast<int64_t>(extents.size());
  const int64_t count = indices.size();
  auto resolve = [&]<typename T>(const T *from, T *to) {
    bool isOutside = false;
    auto each = [&](int64_t i, int64_t extent) {
      const int64_t index = from[i] + ((int64_t(from[i]) >> 63) & extent);
      isOutside |= uint64_t(index) >= uint64_t(extent);
      to[i] = static_cast<T>(index);
    };
    if (dims == 1)
      for (int64_t i = 0, extent = extents[0]; i < count; ++i)
        each(i, extent);
    else
      for (int64_t d = 0; d < dims; ++d)
        for (int64_t i = d; i < count; i += dims)
          each(i, extents[d]);
    int64_t index;
    for (int64_t i = 0; isOutside && i < count; ++i)
      DLC_RETURN_IF_ERROR(readIndex(indices, i, extents[i % dims], index));
    return Status::ok();
  };
  return indices.type == DLC_I32
             ? resolve(indices.as<int32_t>(), y.as<int32_t>())
             : resolve(indices.as<int64_t>(), y.as<int64_t>());
}

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

static Status inferGather(const InferContext &context,
                          std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkGather(context));
  const TensorType &x = context.operand(0).type;
  const TensorType &indices = context.operand(1).type;
  int64_t axis = context.attrs().getInt("axis", 0);
  if (x.hasRank)
    DLC_RETURN_IF_ERROR(normalizeAxis(axis, x.rank()));
  if (!x.hasRank || !indices.hasRank)
    return addResult(results, unrankedOf(x.type));
  TensorType result = x;
  auto at = result.shape.erase(result.shape.begin() + axis);
  result.shape.insert(at, indices.shape.begin(), indices.shape.end());
  return addResult(results, std::move(result));
}

static Status computeGather(ComputeContext &context) {
  const TensorView &x = context.input(0), &indices = context.input(1);
  int64_t axis = context.attrs().getInt("axis", 0);
  DLC_RETURN_IF_ERROR(normalizeAxis(axis, x.rank()));
  int64_t outer = extentOf(x.shape, 0, axis), extent = x.shape[axis];
  size_t inner = extentOf(x.shape, axis + 1, x.shape.size()) * sizeOf(x.type);
  int64_t count = indices.size();
  char *target = context.output(0).as<char>();
  std::vector<int64_t> resolved(count);
  for (int64_t j = 0; j < count; ++j)
    DLC_RETURN_IF_ERROR(readIndex(indices, j, extent, resolved[j]));
  auto copyRow = [&](int64_t row) {
    const int64_t from = row / count * extent + resolved[row % count];
    std::memcpy(target + row * inner, x.as<char>() + from * inner, inner);
  };
  if (inner && count)
    forEachInParts(context, outer * count, static_cast<double>(inner) / 10 + 5,
                   copyRow);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// gather_elements
//===----------------------------------------------------------------------===//

static Status inferGatherElements(const InferContext &context,
                                  std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkGather(context));
  const TensorType &x = context.operand(0).type;
  const TensorType &indices = context.operand(1).type;
  int64_t axis = context.attrs().getInt("axis", 0);
  if (x.hasRank) {
    DLC_RETURN_IF_ERROR(normalizeAxis(axis, x.rank()));
    DLC_RETURN_IF_ERROR(checkRank(context, 1, x.rank()));
  }
  for (int64_t i = 0; x.hasRank && indices.hasRank && i < x.rank(); ++i)
    if (i != axis && x.shape[i] >= 0 && indices.shape[i] > x.shape[i])
      return DLC_INVALID("operand 1: expected dimension %" PRId64
                         " to be at most %" PRId64 ", got %" PRId64,
                         i, x.shape[i], indices.shape[i]);
  TensorType result = indices;
  result.type = x.type;
  return addResult(results, std::move(result));
}

static Status computeGatherElements(ComputeContext &context) {
  const TensorView &x = context.input(0), &indices = context.input(1);
  const size_t size = sizeOf(x.type);
  int64_t axis = context.attrs().getInt("axis", 0);
  DLC_RETURN_IF_ERROR(normalizeAxis(axis, x.rank()));
  char *target = context.output(0).as<char>();
  return forEachIndexed(x.shape, indices, axis,
                        [&](uint64_t offset, int64_t position) {
                          std::memcpy(target + position * size,
                                      x.as<char>() + offset * size, size);
                        });
}

//===----------------------------------------------------------------------===//
// gather_nd
//===----------------------------------------------------------------------===//

/// Merges the batch dimensions of both operands into `result`.
static Status addBatchDims(const TensorType &x, const TensorType &indices,
                           int64_t batchDims, TensorType &result) {
  for (int64_t i = 0; i < batchDims; ++i) {
    int64_t dim = x.shape[i];
    if (!mergeDim(dim, indices.shape[i]))
      return DLC_INVALID("operand 1: expected dimension %" PRId64
                         " to be %" PRId64 ", got %" PRId64,
                         i, x.shape[i], indices.shape[i]);
    result.shape.push_back(dim);
  }
  return Status::ok();
}

static Status inferGatherNd(const InferContext &context,
                            std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkGather(context));
  DLC_RETURN_IF_ERROR(checkRankAtLeast(context, 1, 1));
  const TensorType &x = context.operand(0).type;
  const TensorType &indices = context.operand(1).type;
  int64_t batchDims = context.attrs().getInt("batch_dims", 0);
  if (!x.hasRank || !indices.hasRank)
    return addResult(results, unrankedOf(x.type));
  int64_t mostBatchDims = std::min(x.rank(), indices.rank()) - 1;
  if (batchDims < 0 || batchDims > mostBatchDims)
    return DLC_INVALID("expected batch_dims in [0, %" PRId64 "], got %" PRId64,
                       mostBatchDims, batchDims);
  int64_t tuple = indices.shape.back();
  if (tuple == 0 || tuple > x.rank() - batchDims)
    return DLC_INVALID("operand 1: expected tuples of 1 to %" PRId64
                       " indices, got %" PRId64,
                       x.rank() - batchDims, tuple);
  if (tuple < 0)
    return addResult(results, unrankedOf(x.type));
  TensorType result{x.type, {}};
  DLC_RETURN_IF_ERROR(addBatchDims(x, indices, batchDims, result));
  result.shape.insert(result.shape.end(), indices.shape.begin() + batchDims,
                      indices.shape.end() - 1);
  result.shape.insert(result.shape.end(), x.shape.begin() + batchDims + tuple,
                      x.shape.end());
  return addResult(results, std::move(result));
}

static Status computeGatherNd(ComputeContext &context) {
  const TensorView &x = context.input(0), &indices = context.input(1);
  size_t batchDims = context.attrs().getInt("batch_dims", 0);
  size_t tuple = indices.shape.back(), tupleDims = indices.shape.size() - 1;
  int64_t batches = extentOf(indices.shape, 0, batchDims);
  int64_t tuples = extentOf(indices.shape, batchDims, tupleDims);
  int64_t batchSize = extentOf(x.shape, batchDims, x.shape.size());
  size_t size = sizeOf(x.type);
  size_t bytes = extentOf(x.shape, batchDims + tuple, x.shape.size()) * size;
  Walk from = rowMajorWalk(x.shape);
  char *target = context.output(0).as<char>();
  int64_t position = 0;
  for (int64_t b = 0; b < batches; ++b) {
    for (int64_t t = 0; t < tuples; ++t, target += bytes, position += tuple) {
      uint64_t offset;
      DLC_RETURN_IF_ERROR(readIndexTuple(
          indices, position, x.shape, from.strides, batchDims, tuple, offset));
      if (bytes)
        std::memcpy(target, x.as<char>() + (b * batchSize + offset) * size,
                    bytes);
    }
  }
  return Status::ok();
}

std::span<const Operation> ref::indexingOperations() {
  static constexpr Operation table[] = {
      {"gather", inferGather, computeGather},
      {"gather_elements", inferGatherElements, computeGatherElements},
      {"gather_nd", inferGatherNd, computeGatherNd},
      {"resolve_indices", inferResolveIndices, computeResolveIndices},
  };
  return table;
}
