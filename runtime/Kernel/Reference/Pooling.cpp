// SPDX-License-Identifier: Apache-2.0
//
// Pooling over sliding windows: max_pool, max_pool_with_indices,
// max_pool_gradient, avg_pool, lp_pool. Inputs are N C D..., with any number of
// spatial dimensions.

#include "Element.h"
#include "Families.h"
#include "ShapeRule.h"
#include "Walk.h"
#include "Window.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstring>

using namespace dlc::rt;
using namespace dlc::rt::ref;

//===----------------------------------------------------------------------===//
// Shape rules
//===----------------------------------------------------------------------===//

static Status readPoolWindow(const Attributes &attributes, Window &window) {
  size_t rank = attributes.getInts("kernel_shape").size();
  if (rank == 0 || rank > DLC_MAX_RANK - 2)
    return DLC_INVALID("attribute kernel_shape: expected 1 to %d values, got "
                       "%zu",
                       DLC_MAX_RANK - 2, rank);
  DLC_RETURN_IF_ERROR(
      readWindow(attributes, static_cast<int64_t>(rank), window));
  return readExtents(attributes, "kernel_shape", window.rank, 1, 1,
                     window.kernel);
}

/// Positions along spatial dimension `d`. With VALID, ONNX's formula gives the
/// same number whether it rounds up or down.
static Status countPool(const Attributes &attributes, Window &window, int64_t d,
                        int64_t input, int64_t &positions) {
  bool ceilMode = attributes.getInt("ceil_mode", 0) != 0 &&
                  window.autoPad == Window::AutoPad::NotSet;
  return countPositions(window, d, input, ceilMode, positions);
}

/// The pooling of operand 0.
static Status inferPool(const InferContext &context, TensorType &result) {
  Window window;
  DLC_RETURN_IF_ERROR(readPoolWindow(context.attrs(), window));
  DLC_RETURN_IF_ERROR(checkRank(context, 0, window.rank + 2));
  result = context.operand(0).type;
  if (!result.hasRank)
    result = {result.type, std::vector<int64_t>(window.rank + 2, kUnknownDim)};
  for (int64_t d = 0; d < window.rank; ++d)
    DLC_RETURN_IF_ERROR(countPool(context.attrs(), window, d,
                                  result.shape[d + 2], result.shape[d + 2]));
  return Status::ok();
}

static Status inferMaxPool(const InferContext &context,
                           std::vector<TensorType> &results) {
  TensorType result;
  DLC_RETURN_IF_ERROR(checkOperands(context, 1));
  DLC_RETURN_IF_ERROR(checkType(context, 0, numericTypes));
  DLC_RETURN_IF_ERROR(inferPool(context, result));
  return addResult(results, std::move(result));
}

static Status inferMaxPoolWithIndices(const InferContext &context,
                                      std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(inferMaxPool(context, results));
  TensorType indices = results.front();
  indices.type = DLC_I64;
  int64_t order = context.attrs().getInt("storage_order", 0);
  if (order != 0 && order != 1)
    return DLC_INVALID("expected storage_order 0 or 1, got %" PRId64, order);
  return addResult(results, std::move(indices));
}

static Status inferMaxPoolGradient(const InferContext &context,
                                   std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2));
  DLC_RETURN_IF_ERROR(checkType(context, 0, floatTypes));
  DLC_RETURN_IF_ERROR(checkSameType(context, 0, 1));
  TensorType pooled;
  DLC_RETURN_IF_ERROR(inferPool(context, pooled));
  const TensorType &g = context.operand(1).type;
  if (g.hasRank && !mayHaveShape(g, pooled.shape))
    return DLC_INVALID("operand 1: expected %s, what the pooling of operand 0 "
                       "gives, got %s",
                       toString(pooled).c_str(), toString(g).c_str());
  TensorType result = context.operand(0).type;
  if (!result.hasRank)
    result = {result.type, std::vector<int64_t>(pooled.rank(), kUnknownDim)};
  return addResult(results, std::move(result));
}

static Status inferAvgPool(const InferContext &context,
                           std::vector<TensorType> &results) {
  TensorType result;
  DLC_RETURN_IF_ERROR(checkOperands(context, 1));
  DLC_RETURN_IF_ERROR(checkType(context, 0, floatTypes));
  DLC_RETURN_IF_ERROR(inferPool(context, result));
  return addResult(results, std::move(result));
}

static Status inferLpPool(const InferContext &context,
                          std::vector<TensorType> &results) {
  int64_t p = context.attrs().getInt("p", 2);
  if (p < 1)
    return DLC_INVALID("expected p of at least 1, got %" PRId64, p);
  return inferAvgPool(context, results);
}

//===----------------------------------------------------------------------===//
// Computations
//===----------------------------------------------------------------------===//

namespace {
/// What one position of the window covers: the offsets of input elements
/// within a plane, in row-major order, and their number with the padding.
struct Cover {
  std::vector<int64_t> taps;
  int64_t padded = 0;
};
} // namespace

/// The number of k in [0, limit) with start + k * step < bound.
static int64_t countBelow(int64_t start, int64_t step, int64_t limit,
                          int64_t bound) {
  if (start >= bound)
    return 0;
  return std::min(limit, (bound - start - 1) / step + 1);
}

static Cover coverAt(const Window &window, std::span<const int64_t> extents,
                     std::span<const int64_t> position) {
  Cover cover{{0}, 1};
  for (int64_t d = 0; d < window.rank; ++d) {
    int64_t extent = extents[d], step = window.dilations[d];
    int64_t start = position[d] * window.strides[d] - window.padBegin[d];
    int64_t first = countBelow(start, step, window.kernel[d], 0);
    int64_t last = countBelow(start, step, window.kernel[d], extent);
    cover.padded *=
        countBelow(start, step, window.kernel[d], extent + window.padEnd[d]);
    std::vector<int64_t> taps;
    for (int64_t tap : cover.taps)
      for (int64_t k = first; k < last; ++k)
        taps.push_back(tap * extent + start + k * step);
    cover.taps = std::move(taps);
  }
  return cover;
}

/// Calls function(cover, inputOffset, outputOffset) for each element of `y`,
/// the result of pooling `x`, in parts unless a call depends on those before.
template <bool isIndependent = true, typename F>
static Status forEachWindow(const ComputeContext &context, const TensorView &x,
                            const TensorView &y, F &&function) {
  Window window;
  DLC_RETURN_IF_ERROR(readPoolWindow(context.attrs(), window));
  std::span<const int64_t> extents = x.shape.subspan(2);
  for (int64_t d = 0; d < window.rank; ++d) {
    int64_t positions;
    DLC_RETURN_IF_ERROR(
        countPool(context.attrs(), window, d, extents[d], positions));
  }
  if (y.size() == 0)
    return Status::ok();
  int64_t planes = x.shape[0] * x.shape[1];
  int64_t inputSize = extentOf(x.shape, 2, x.shape.size());
  int64_t outputSize = extentOf(y.shape, 2, y.shape.size());
  auto pool = [&](int64_t begin, int64_t end) {
    std::vector<int64_t> position(y.shape.size() - 2);
    for (int64_t at = begin; at < end; ++at) {
      int64_t rest = at;
      for (size_t d = position.size(); d-- > 0; rest /= y.shape[d + 2])
        position[d] = rest % y.shape[d + 2];
      Cover cover = coverAt(window, extents, position);
      for (int64_t plane = 0; plane < planes; ++plane)
        function(cover, plane * inputSize, plane * outputSize + at);
    }
  };
  if constexpr (isIndependent)
    context.inParts(
        outputSize,
        static_cast<double>(planes) *
            static_cast<double>(extentOf(window.kernel, 0, window.rank)),
        pool);
  else
    pool(0, outputSize);
  return Status::ok();
}

/// The tap of the greatest element, the first of equals; NaN is greatest. -1
/// for a window that covers padding only.
template <typename E>
static int64_t findMax(const TensorView &x, int64_t offset,
                       const Cover &cover) {
  int64_t best = -1;
  typename E::Wide bestValue{};
  for (int64_t tap : cover.taps) {
    typename E::Wide value = loadElement<E>(x.data, offset + tap);
    bool isNan = value != value;
    if (best < 0 || value > bestValue || (isNan && bestValue == bestValue)) {
      best = tap;
      bestValue = value;
    }
  }
  return best;
}

template <typename E> static typename E::Wide leastValue() {
  using Wide = typename E::Wide;
  using Stored = std::conditional_t<std::is_floating_point_v<Wide>, double,
                                    typename E::Storage>;
  if constexpr (std::is_floating_point_v<Wide>)
    return -std::numeric_limits<double>::infinity();
  return static_cast<Wide>(std::numeric_limits<Stored>::lowest());
}

/// Calls store(tap, inputOffset, outputOffset) beside writing the maximum.
template <typename F>
static Status poolMax(ComputeContext &context, F &&store) {
  const TensorView &x = context.input(0);
  TensorView &y = context.output(0);
  return dispatch(x.type, [&]<typename E>(E) {
    return forEachWindow(
        context, x, y, [&](const Cover &cover, int64_t from, int64_t to) {
          int64_t tap = findMax<E>(x, from, cover);
          storeElement<E>(y.data, to,
                          tap < 0 ? leastValue<E>()
                                  : loadElement<E>(x.data, from + tap));
          store(tap, from, to);
        });
  });
}

static Status computeMaxPool(ComputeContext &context) {
  return poolMax(context, [](int64_t, int64_t, int64_t) {});
}

/// The offset within a plane when its first dimension varies fastest.
static int64_t columnMajorOffset(int64_t offset,
                                 std::span<const int64_t> extents) {
  int64_t size = extentOf(extents, 0, extents.size()), column = 0;
  for (size_t d = extents.size(); d-- > 0;) {
    size /= extents[d];
    column += offset % extents[d] * size;
    offset /= extents[d];
  }
  return column;
}

static Status computeMaxPoolWithIndices(ComputeContext &context) {
  std::span<const int64_t> extents = context.input(0).shape.subspan(2);
  bool columnMajor = context.attrs().getInt("storage_order", 0) == 1;
  int64_t *indices = context.output(1).as<int64_t>();
  return poolMax(context, [&](int64_t tap, int64_t from, int64_t to) {
    if (tap < 0)
      indices[to] = -1;
    else
      indices[to] =
          from + (columnMajor ? columnMajorOffset(tap, extents) : tap);
  });
}

static Status computeMaxPoolGradient(ComputeContext &context) {
  const TensorView &x = context.input(0), &g = context.input(1);
  TensorView &dx = context.output(0);
  return dispatchFloat(x.type, [&]<typename E>(E) {
    std::vector<double> sums(dx.size());
    DLC_RETURN_IF_ERROR(forEachWindow<false>(
        context, x, g, [&](const Cover &cover, int64_t from, int64_t to) {
          if (int64_t tap = findMax<E>(x, from, cover); tap >= 0)
            sums[from + tap] += loadElement<E>(g.data, to);
        }));
    for (size_t i = 0; i < sums.size(); ++i)
      storeElement<E>(dx.data, static_cast<int64_t>(i), sums[i]);
    return Status::ok();
  });
}

static Status computeAvgPool(ComputeContext &context) {
  const TensorView &x = context.input(0);
  TensorView &y = context.output(0);
  bool withPadding = context.attrs().getInt("count_include_pad", 0) != 0;
  return dispatchFloat(x.type, [&]<typename E>(E) {
    return forEachWindow(
        context, x, y, [&](const Cover &cover, int64_t from, int64_t to) {
          double sum = 0;
          for (int64_t tap : cover.taps)
            sum += loadElement<E>(x.data, from + tap);
          int64_t count = withPadding ? cover.padded
                                      : static_cast<int64_t>(cover.taps.size());
          storeElement<E>(y.data, to, count ? sum / count : 0.0);
        });
  });
}

static Status computeLpPool(ComputeContext &context) {
  const TensorView &x = context.input(0);
  TensorView &y = context.output(0);
  double p = static_cast<double>(context.attrs().getInt("p", 2));
  return dispatchFloat(x.type, [&]<typename E>(E) {
    return forEachWindow(
        context, x, y, [&](const Cover &cover, int64_t from, int64_t to) {
          double sum = 0;
          for (int64_t tap : cover.taps)
            sum += std::pow(std::fabs(loadElement<E>(x.data, from + tap)), p);
          storeElement<E>(y.data, to, std::pow(sum, 1 / p));
        });
  });
}

std::span<const Operation> ref::poolingOperations() {
  static constexpr Operation table[] = {
      {"avg_pool", inferAvgPool, computeAvgPool},
      {"lp_pool", inferLpPool, computeLpPool},
      {"max_pool", inferMaxPool, computeMaxPool},
      {"max_pool_gradient", inferMaxPoolGradient, computeMaxPoolGradient},
      {"max_pool_with_indices", inferMaxPoolWithIndices,
       computeMaxPoolWithIndices},
  };
  return table;
}
