// SPDX-License-Identifier: Apache-2.0
//
// Transposed convolution over any number of spatial dimensions: input N C
// D..., weights C M/group K..., an optional bias of M elements.

#include "Families.h"
#include "Loop.h"
#include "ShapeRule.h"
#include "TransposePlan.h"

#include <cinttypes>

using namespace dlc::rt;
using namespace dlc::rt::ref;

//===----------------------------------------------------------------------===//
// Shape rule
//===----------------------------------------------------------------------===//

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

/// One image and one output channel: `x` and `w` are those of its group,
/// weights `weightStride` apart from one input channel to the next; `sums` has
/// an element for each of the result.
template <typename E>
static void convolve(const TransposePlan &plan, const typename E::Storage *x,
                     const typename E::Storage *w, int64_t depth,
                     int64_t weightStride, std::span<Accumulator<E>> sums,
                     typename E::Storage *y) {
  using Acc = Accumulator<E>;
  const int64_t stride = plan.step();
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

static Status computeConvTranspose(ComputeContext &context) {
  const TensorView &x = context.input(0), &w = context.input(1);
  const TensorView &bias = context.input(2), &y = context.output(0);
  if (y.size() == 0)
    return Status::ok();
  TransposePlan plan;
  DLC_RETURN_IF_ERROR(planTranspose(context.attrs(), x.shape, w.shape, plan));
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
