// SPDX-License-Identifier: Apache-2.0
//
// max_unpool: puts each maximum back to where max_pool found it.

#include "Families.h"
#include "Parameter.h"
#include "ShapeRule.h"
#include "Walk.h"
#include "Window.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

using namespace dlc::rt;
using namespace dlc::rt::ref;

/// The shape that max_pool had before, if every window was full: what the
/// indices count in, even when a larger result is asked for.
static Status unpooledShape(const Attributes &attributes,
                            std::span<const int64_t> pooled,
                            std::vector<int64_t> &shape) {
  Window window;
  int64_t rank = static_cast<int64_t>(pooled.size()) - 2;
  DLC_RETURN_IF_ERROR(readWindow(attributes, rank, window));
  DLC_RETURN_IF_ERROR(
      readExtents(attributes, "kernel_shape", rank, 1, 1, window.kernel));
  shape.assign(pooled.begin(), pooled.end());
  for (int64_t d = 0; d < rank; ++d) {
    int64_t &dim = shape[d + 2];
    if (dim < 0)
      continue;
    __int128 extent = static_cast<__int128>(dim - 1) * window.strides[d] -
                      window.padBegin[d] - window.padEnd[d] + window.kernel[d];
    if (extent < 0 || extent > INT64_MAX)
      return DLC_INVALID("expected pads that leave spatial dim %" PRId64
                         " an extent, got %" PRId64 " and %" PRId64,
                         d, window.padBegin[d], window.padEnd[d]);
    dim = static_cast<int64_t>(extent);
  }
  return Status::ok();
}

/// Puts the shape asked for over the one that the window gives.
static Status applyOutputShape(std::span<const int64_t> wanted,
                               std::vector<int64_t> &shape) {
  if (wanted.size() != shape.size())
    return DLC_INVALID("operand 2: expected %zu dimensions, got %zu",
                       shape.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    bool fits = i < 2 ? wanted[i] == shape[i] : wanted[i] >= shape[i];
    if (wanted[i] < 0 || (shape[i] >= 0 && !fits))
      return DLC_INVALID("operand 2: expected dimension %zu to be %s%" PRId64
                         ", got %" PRId64,
                         i, i < 2 ? "" : "at least ",
                         std::max<int64_t>(shape[i], 0), wanted[i]);
    shape[i] = wanted[i];
  }
  return Status::ok();
}

static Status inferMaxUnpool(const InferContext &context,
                             std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2, 3));
  DLC_RETURN_IF_ERROR(checkType(context, 1, i64Type));
  DLC_RETURN_IF_ERROR(checkRankAtLeast(context, 0, 3));
  const TensorType &x = context.operand(0).type;
  const TensorType &indices = context.operand(1).type;
  if (!x.hasRank)
    return addResult(results, x);
  if (!mayHaveShape(indices, x.shape))
    return DLC_INVALID("operand 1: expected the shape of %s, got %s",
                       toString(x).c_str(), toString(indices).c_str());
  TensorType result{x.type, {}};
  DLC_RETURN_IF_ERROR(unpooledShape(context.attrs(), x.shape, result.shape));
  if (!context.isPresent(2))
    return addResult(results, std::move(result));
  Parameter wanted;
  DLC_RETURN_IF_ERROR(readParameter(context, 2, wanted));
  if (wanted.values)
    DLC_RETURN_IF_ERROR(applyOutputShape(*wanted.values, result.shape));
  else
    std::fill(result.shape.begin() + 2, result.shape.end(), kUnknownDim);
  return addResult(results, std::move(result));
}

static Status computeMaxUnpool(ComputeContext &context) {
  DLC_RETURN_IF_ERROR(checkOutputs(context, inferMaxUnpool));
  const TensorView &x = context.input(0), &indices = context.input(1);
  TensorView &y = context.output(0);
  std::vector<int64_t> shape;
  DLC_RETURN_IF_ERROR(unpooledShape(context.attrs(), x.shape, shape));
  std::optional<int64_t> size = elementCount(shape);
  if (!size)
    return DLC_INVALID("the number of elements overflows");
  if (y.bytes())
    std::memset(y.data, 0, y.bytes());
  Walk to = rowMajorWalk(y.shape);
  size_t bytes = sizeOf(x.type);
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t index = indices.as<int64_t>()[i];
    if (index < 0 || index >= *size)
      return DLC_INVALID("expected an index in [0, %" PRId64 "), got %" PRId64
                         " at position %" PRId64,
                         *size, index, i);
    uint64_t offset = 0;
    for (size_t d = shape.size(); d-- > 0; index /= shape[d])
      offset += to.strides[d] * (index % shape[d]);
    std::memcpy(y.as<char>() + offset * bytes, x.as<char>() + i * bytes, bytes);
  }
  return Status::ok();
}

std::span<const Operation> ref::unpoolingOperations() {
  static constexpr Operation table[] = {
      {"max_unpool", inferMaxUnpool, computeMaxUnpool},
  };
  return table;
}
