// SPDX-License-Identifier: Apache-2.0

#include "TransposePlan.h"

#include "Loop.h"
#include "ShapeRule.h"

#include <cinttypes>

using namespace dlc::rt;
using namespace dlc::rt::ref;

/// The extents of the result and, in the window, the padding they imply.
static Status outputExtent(const Attributes &attributes,
                           ConvolutionShape &shape,
                           const Window::Extents &outputPadding, int64_t d,
                           int64_t &extent) {
  Window &window = shape.window;
  int64_t input = shape.input[d + 2], stride = window.strides[d];
  std::span<const int64_t> given = attributes.getInts("output_shape");
  bool isSame = window.autoPad == Window::AutoPad::SameUpper ||
                window.autoPad == Window::AutoPad::SameLower;
  extent = given.empty() ? kUnknownDim : given[d];
  if (window.kernel[d] == 0)
    return DLC_INVALID(
        "expected a kernel of at least 1 in spatial dim %" PRId64 ", got 0", d);
  if (input < 0 || window.kernel[d] < 0)
    return Status::ok();
  std::optional<int64_t> span = spanOf(window, d);
  int64_t full;
  if (!span || __builtin_mul_overflow(stride, input, &full) ||
      __builtin_add_overflow(full - stride, *span, &full) ||
      __builtin_add_overflow(full, outputPadding[d], &full))
    return DLC_INVALID("dimension %" PRId64 " of the result overflows", d);
  if (given.empty() && !isSame) {
    extent = full - window.padBegin[d] - window.padEnd[d];
    if (extent < 0)
      return DLC_INVALID("expected pads of at most %" PRId64
                         " in spatial dim %" PRId64 ", got %" PRId64,
                         full, d, window.padBegin[d] + window.padEnd[d]);
    return Status::ok();
  }
  if (given.empty())
    extent = stride * input;
  int64_t total = std::max<int64_t>(0, full - extent);
  bool upper = window.autoPad == Window::AutoPad::SameUpper;
  window.padBegin[d] = upper ? total / 2 : total - total / 2;
  window.padEnd[d] = total - window.padBegin[d];
  return Status::ok();
}

Status ref::outputExtents(const Attributes &attributes, ConvolutionShape &shape,
                          std::vector<int64_t> &extents) {
  int64_t rank = shape.window.rank;
  Window::Extents outputPadding, outputShape;
  DLC_RETURN_IF_ERROR(
      readExtents(attributes, "output_padding", rank, 0, 0, outputPadding));
  DLC_RETURN_IF_ERROR(
      readExtents(attributes, "output_shape", rank, 0, 0, outputShape));
  for (int64_t d = 0; d < rank; ++d) {
    int64_t extent;
    DLC_RETURN_IF_ERROR(
        outputExtent(attributes, shape, outputPadding, d, extent));
    extents.push_back(extent);
  }
  return Status::ok();
}

namespace {
/// Input positions of a dimension that a kernel element carries into the
/// result; nothing where `count` is 0.
struct Carried {
  int64_t first = 0, target = 0, count = 0;
};
} // namespace

static Carried carriedBy(const TransposePlan &plan, int64_t d, int64_t k) {
  const Window &window = plan.shape.window;
  const int64_t stride = window.strides[d];
  const int64_t shift = k * window.dilations[d] - window.padBegin[d];
  Carried carried;
  carried.first = shift < 0 ? (-shift + stride - 1) / stride : 0;
  carried.target = carried.first * stride + shift;
  const int64_t room = plan.extents[d] - carried.target;
  if (room > 0)
    carried.count =
        std::max<int64_t>(0, std::min(plan.shape.input[d + 2] - carried.first,
                                      (room - 1) / stride + 1));
  return carried;
}

/// Appends the runs along the last dimension that kernel element `k` carries.
static void addRuns(TransposePlan &plan, int64_t k) {
  const Window &window = plan.shape.window;
  const int64_t last = window.rank - 1;
  std::array<Carried, DLC_MAX_RANK> carried;
  StridedLoop<2> loop;
  int64_t source = 0, target = 0, inputStep = 1, outputStep = 1;
  for (int64_t d = last, rest = k; d >= 0; rest /= window.kernel[d--]) {
    carried[d] = carriedBy(plan, d, rest % window.kernel[d]);
    if (!carried[d].count)
      return;
    source += carried[d].first * inputStep;
    target += carried[d].target * outputStep;
    if (d < last)
      loop.addOuter(carried[d].count,
                    {inputStep, outputStep * window.strides[d]});
    inputStep *= plan.shape.input[d + 2];
    outputStep *= plan.extents[d];
  }
  loop.forEach([&](int64_t, const auto &offsets) {
    plan.runs.push_back(
        {k, source + offsets[0], target + offsets[1], carried[last].count});
  });
}

Status ref::planTranspose(const Attributes &attributes,
                          std::span<const int64_t> x,
                          std::span<const int64_t> w, TransposePlan &plan) {
  plan.shape.hasRank = true;
  plan.shape.input.assign(x.begin(), x.end());
  plan.shape.weights.assign(w.begin(), w.end());
  DLC_RETURN_IF_ERROR(readConvolution(attributes, plan.shape));
  DLC_RETURN_IF_ERROR(outputExtents(attributes, plan.shape, plan.extents));
  for (int64_t d = 0; d < plan.shape.window.rank; ++d) {
    plan.inputSize *= plan.shape.input[d + 2];
    plan.outputSize *= plan.extents[d];
    plan.kernelSize *= plan.shape.window.kernel[d];
  }
  for (int64_t k = 0; k < plan.kernelSize; ++k)
    addRuns(plan, k);
  return Status::ok();
}
