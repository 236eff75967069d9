// SPDX-License-Identifier: Apache-2.0

#include "ConvolutionShape.h"

#include "ShapeRule.h"

#include <algorithm>
#include <cinttypes>

using namespace dlc::rt;
using namespace dlc::rt::ref;

Status ref::readConvolution(const Attributes &attributes,
                            ConvolutionShape &shape) {
  shape.group = attributes.getInt("group", 1);
  if (shape.group < 1 || shape.group > INT32_MAX)
    return DLC_INVALID("expected a group count in [1, 2^31), got %" PRId64,
                       shape.group);
  int64_t rank = static_cast<int64_t>(shape.input.size()) - 2;
  DLC_RETURN_IF_ERROR(readWindow(attributes, rank, shape.window));
  std::copy(shape.weights.begin() + 2, shape.weights.end(),
            shape.window.kernel.begin());
  return Status::ok();
}

Status ref::readConvolution(const InferContext &context,
                            ConvolutionShape &shape) {
  return readConvolution(context, context.operand(0).type, shape);
}

Status ref::readConvolution(const InferContext &context, const TensorType &x,
                            ConvolutionShape &shape) {
  DLC_RETURN_IF_ERROR(checkType(context, 0, numericTypes));
  DLC_RETURN_IF_ERROR(checkSameType(context, 0, 1));
  return readConvolutionShape(context, x, shape);
}

Status ref::readConvolutionShape(const InferContext &context,
                                 const TensorType &x, ConvolutionShape &shape) {
  DLC_RETURN_IF_ERROR(checkRankAtLeast(context, 0, 3));
  DLC_RETURN_IF_ERROR(checkRankAtLeast(context, 1, 3));
  const TensorType &w = context.operand(1).type;
  shape.hasRank = x.hasRank || w.hasRank;
  if (!shape.hasRank)
    return Status::ok();
  if (x.hasRank)
    DLC_RETURN_IF_ERROR(checkRank(context, 1, x.rank()));
  size_t rank = std::max(x.shape.size(), w.shape.size());
  shape.input = x.shape;
  shape.weights = w.shape;
  shape.input.resize(rank, kUnknownDim);
  shape.weights.resize(rank, kUnknownDim);
  return readConvolution(context.attrs(), shape);
}

Status ref::readConvolution(const ComputeContext &context,
                            ConvolutionShape &shape) {
  std::span<const int64_t> x = context.input(0).shape;
  std::span<const int64_t> w = context.input(1).shape;
  shape.hasRank = true;
  shape.input.assign(x.begin(), x.end());
  shape.weights.assign(w.begin(), w.end());
  return readConvolution(context.attrs(), shape);
}

Status ref::checkDivides(int64_t divisor, int64_t dim, const char *what) {
  if (dim < 0 || dim % divisor == 0)
    return Status::ok();
  return DLC_INVALID("expected %s in %" PRId64 " equal groups, got %" PRId64,
                     what, divisor, dim);
}

Status ref::checkVector(const InferContext &context, size_t index,
                        int64_t count) {
  DLC_RETURN_IF_ERROR(checkRank(context, index, 1));
  const TensorType &type = context.operand(index).type;
  if (!context.isPresent(index) || mayHaveShape(type, {{count}}))
    return Status::ok();
  return DLC_INVALID("operand %zu: expected %" PRId64
                     " elements, one for each output channel, got %" PRId64,
                     index, count, type.shape[0]);
}

Status ref::checkChannels(const ConvolutionShape &shape) {
  auto channels = multiplyDims(shape.weights[1], shape.group);
  int64_t merged = channels.value_or(0);
  bool fits = channels && mergeDim(merged, shape.input[1]);
  // Maybe it is not meant to be in blocks.
  if (!fits && shape.block)
    return DLC_INVALID("expected weights of rank %zu, or of %" PRId64
                       " channels / %" PRId64 " groups for blocks of %" PRId64
                       ", got rank %zu and %" PRId64 " channels",
                       shape.weights.size() + 1, shape.input[1], shape.group,
                       shape.block, shape.weights.size(), shape.weights[1]);
  if (!fits)
    return DLC_INVALID("expected weights of %" PRId64 " channels / %" PRId64
                       " groups, got %" PRId64,
                       shape.input[1], shape.group, shape.weights[1]);
  return checkDivides(shape.group, shape.weights[0], "output channels");
}
