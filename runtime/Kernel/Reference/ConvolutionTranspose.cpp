// SPDX-License-Identifier: Apache-2.0
//
// Transposed convolution over any number of spatial dimensions: input N C
// D..., weights C M/group K..., an optional bias of M elements.

#include "ConvolutionShape.h"
#include "Families.h"
#include "Loop.h"
#include "ShapeRule.h"

#include <cinttypes>

using namespace dlc::rt;
using namespace dlc::rt::ref;

//===----------------------------------------------------------------------===//
// Shape rule
//===----------------------------------------------------------------------===//

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

static Status outputExtents(const Attributes &attributes,
                            ConvolutionShape &shape,
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

static Status inferConvTranspose(const InferContext &context,
                                 std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2, 3));
  DLC_RETURN_IF_ERROR(checkSameType(context, 0, 2));
  ConvolutionShape shape;
  DLC_RETURN_IF_ERROR(readConvolution(context, shape));
  DataType element = context.operand(0).type.type;
  if (!shape.hasRank)
    return addResult(results, unrankedOf(element));
  int64_t channels = shape.input[1];
  if (!mergeDim(channels, shape.weights[0]))
    return DLC_INVALID("expected weights of %" PRId64
                       " input channels, got %" PRId64,
                       channels, shape.weights[0]);
  DLC_RETURN_IF_ERROR(checkDivides(shape.group, channels, "input channels"));
  auto outputs = multiplyDims(shape.weights[1], shape.group);
  if (!outputs)
    return DLC_INVALID("the number of output channels overflows");
  DLC_RETURN_IF_ERROR(checkVector(context, 2, *outputs));
  TensorType type{element, {shape.input[0], *outputs}};
  DLC_RETURN_IF_ERROR(outputExtents(context.attrs(), shape, type.shape));
  return addResult(results, std::move(type));
}

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

namespace {
struct TransposePlan {
  ConvolutionShape shape;
  std::vector<int64_t> extents; ///< Spatial extents of the result.
  int64_t inputSize = 1, outputSize = 1, kernelSize = 1;
};
} // namespace

/// The input position that kernel element `k` carries to result `out` (all
/// row-major spatial indices), or -1.
static int64_t sourceOf(const TransposePlan &plan, int64_t k, int64_t out) {
  const Window &window = plan.shape.window;
  int64_t source = 0, step = 1;
  for (int64_t d = window.rank - 1; d >= 0; --d) {
    int64_t extent = plan.shape.input[d + 2];
    int64_t at = out % plan.extents[d] + window.padBegin[d] -
                 k % window.kernel[d] * window.dilations[d];
    out /= plan.extents[d];
    k /= window.kernel[d];
    if (at < 0 || at % window.strides[d] != 0 ||
        at / window.strides[d] >= extent)
      return -1;
    source += at / window.strides[d] * step;
    step *= extent;
  }
  return source;
}

/// One image and one output channel: `x` and `w` are those of its group,
/// weights `weightStride` apart from one input channel to the next.
template <typename E>
static void convolve(const TransposePlan &plan, const typename E::Storage *x,
                     const typename E::Storage *w, int64_t depth,
                     int64_t weightStride, Accumulator<E> bias,
                     typename E::Storage *y) {
  using Acc = Accumulator<E>;
  for (int64_t out = 0; out < plan.outputSize; ++out) {
    Acc sum = bias;
    for (int64_t k = 0; depth && k < plan.kernelSize; ++k) {
      int64_t source = sourceOf(plan, k, out);
      for (int64_t c = 0; source >= 0 && c < depth; ++c)
        sum += static_cast<Acc>(E::decode(x[c * plan.inputSize + source])) *
               static_cast<Acc>(E::decode(w[c * weightStride + k]));
    }
    y[out] = E::encode(sum);
  }
}

static Status planTranspose(const ComputeContext &context,
                            TransposePlan &plan) {
  DLC_RETURN_IF_ERROR(readConvolution(context, plan.shape));
  DLC_RETURN_IF_ERROR(outputExtents(context.attrs(), plan.shape, plan.extents));
  for (int64_t d = 0; d < plan.shape.window.rank; ++d) {
    plan.inputSize *= plan.shape.input[d + 2];
    plan.outputSize *= plan.extents[d];
    plan.kernelSize *= plan.shape.window.kernel[d];
  }
  return Status::ok();
}

static Status computeConvTranspose(ComputeContext &context) {
  const TensorView &x = context.input(0), &w = context.input(1);
  const TensorView &bias = context.input(2), &y = context.output(0);
  if (y.size() == 0)
    return Status::ok();
  TransposePlan plan;
  DLC_RETURN_IF_ERROR(planTranspose(context, plan));
  int64_t channels = y.shape[1], perGroup = w.shape[1];
  int64_t depth = x.shape[1] / plan.shape.group;
  return dispatch(y.type, [&](auto element) {
    using E = decltype(element);
    using Storage = typename E::Storage;
    for (int64_t plane = 0; plane < y.shape[0] * channels; ++plane) {
      int64_t n = plane / channels, m = plane % channels;
      int64_t c = m / perGroup * depth;
      Accumulator<E> start = 0;
      if (context.isPresent(2))
        start = static_cast<Accumulator<E>>(loadElement<E>(bias.data, m));
      int64_t filter = c * perGroup + m % perGroup;
      convolve<E>(plan, x.as<Storage>() + (n * x.shape[1] + c) * plan.inputSize,
                  w.as<Storage>() + filter * plan.kernelSize, depth,
                  perGroup * plan.kernelSize, start,
                  y.as<Storage>() + plane * plan.outputSize);
    }
    return Status::ok();
  });
}

std::span<const Operation> ref::convolutionTransposeOperations() {
  static constexpr Operation operations[] = {
      {"conv_transpose", inferConvTranspose, computeConvTranspose},
  };
  return operations;
}
