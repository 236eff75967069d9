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

/// Elements of a row of the input that kernel element `k` carries into one of
/// the result, a stride apart there.
struct CarriedRun {
  int64_t k, source, target, count;
};

struct TransposePlan {
  ConvolutionShape shape;
  std::vector<int64_t> extents; ///< Spatial extents of the result.
  int64_t inputSize = 1, outputSize = 1, kernelSize = 1;
  std::vector<CarriedRun> runs;
};

} // namespace

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

/// One image and one output channel: `x` and `w` are those of its group,
/// weights `weightStride` apart from one input channel to the next; `sums` has
/// an element for each of the result.
template <typename E>
static void convolve(const TransposePlan &plan, const typename E::Storage *x,
                     const typename E::Storage *w, int64_t depth,
                     int64_t weightStride, std::span<Accumulator<E>> sums,
                     typename E::Storage *y) {
  using Acc = Accumulator<E>;
  const int64_t stride = plan.shape.window.strides[plan.shape.window.rank - 1];
  for (int64_t c = 0; c < depth; ++c)
    for (const CarriedRun &run : plan.runs) {
      const Acc weight =
          static_cast<Acc>(E::decode(w[c * weightStride + run.k]));
      const typename E::Storage *from = x + c * plan.inputSize + run.source;
      Acc *to = sums.data() + run.target;
      for (int64_t i = 0; i < run.count; ++i)
        to[i * stride] += static_cast<Acc>(E::decode(from[i])) * weight;
    }
  for (int64_t i = 0; i < plan.outputSize; ++i)
    y[i] = E::encode(sums[i]);
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
  for (int64_t k = 0; k < plan.kernelSize; ++k)
    addRuns(plan, k);
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
    auto convolvePlane = [&](int64_t plane, std::span<Accumulator<E>> sums) {
      int64_t n = plane / channels, m = plane % channels;
      int64_t c = m / perGroup * depth;
      Accumulator<E> start = 0;
      if (context.isPresent(2))
        start = static_cast<Accumulator<E>>(loadElement<E>(bias.data, m));
      int64_t filter = c * perGroup + m % perGroup;
      std::ranges::fill(sums, start);
      convolve<E>(plan, x.as<Storage>() + (n * x.shape[1] + c) * plan.inputSize,
                  w.as<Storage>() + filter * plan.kernelSize, depth,
                  perGroup * plan.kernelSize, sums,
                  y.as<Storage>() + plane * plan.outputSize);
    };
    context.inParts(y.shape[0] * channels,
                    static_cast<double>(plan.inputSize) *
                        static_cast<double>(plan.kernelSize * depth),
                    [&](int64_t begin, int64_t end) {
                      std::vector<Accumulator<E>> sums(plan.outputSize);
                      for (int64_t plane = begin; plane < end; ++plane)
                        convolvePlane(plane, sums);
                    });
    return Status::ok();
  });
}

std::span<const Operation> ref::convolutionTransposeOperations() {
  static constexpr Operation operations[] = {
      {"conv_transpose", inferConvTranspose, computeConvTranspose},
  };
  return operations;
}
