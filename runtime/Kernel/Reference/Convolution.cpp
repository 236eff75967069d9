// SPDX-License-Identifier: Apache-2.0
//
// Convolution over any number of spatial dimensions: input N C D..., weights
// M C/group K..., an optional bias of M elements; and the gradient of weights.
// Input and result may have their channels in blocks of b: N C/b D... b, where
// C/b is rounded up: what lies behind the last channel is not read, and 0 in
// results.

#include "Centered.h"
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

/// N C D... of N C/b D... b, as far as it is known.
static Status joinBlocks(size_t operand, TensorType &x, int64_t &block) {
  block = x.shape.back();
  if (block == 0)
    return DLC_INVALID("operand %zu: expected blocks of at least 1 channel, "
                       "got 0",
                       operand);
  auto channels = multiplyDims(x.shape[1], block);
  if (!channels)
    return DLC_INVALID("operand %zu: expected less than 2^63 channels, got "
                       "%" PRId64 " blocks of %" PRId64,
                       operand, x.shape[1], block);
  x.shape[1] = *channels;
  x.shape.pop_back();
  return Status::ok();
}

/// Blocks of `block` channels that hold `channels` of them.
static int64_t blocksOf(int64_t channels, int64_t block) {
  return channels / block + (channels % block != 0);
}

/// Leaves out what lies behind the last channel of the input's last block,
/// where the weights say which that is.
static void trimBlocks(ConvolutionShape &shape) {
  if (!shape.hasRank || shape.block < 1 || shape.weights[1] == kUnknownDim ||
      shape.input[1] == kUnknownDim)
    return;
  auto channels = multiplyDims(shape.weights[1], shape.group);
  if (channels && *channels <= shape.input[1] &&
      shape.input[1] - *channels < shape.block)
    shape.input[1] = *channels;
}

/// Makes N M D... the N M/b D... b that `channel_block` asks for, if any.
static Status splitBlocks(const Attributes &attributes, TensorType &y) {
  const int64_t block = attributes.getInt("channel_block", 0);
  if (block < 0)
    return DLC_INVALID("attribute channel_block: expected at least 0, got "
                       "%" PRId64,
                       block);
  if (block == 0)
    return Status::ok();
  if (y.shape[1] != kUnknownDim)
    y.shape[1] = blocksOf(y.shape[1], block);
  y.shape.push_back(block);
  return Status::ok();
}

/// x as it is without blocks.
static Status readImage(const InferContext &context, TensorType &x,
                        int64_t &block) {
  x = context.operand(0).type;
  const TensorType &w = context.operand(1).type;
  if (x.hasRank && w.hasRank && w.rank() >= 3 && x.rank() == w.rank() + 1)
    return joinBlocks(0, x, block);
  return Status::ok();
}

/// Gives `type` N, M and the positions of windows.
static Status inferPositions(ConvolutionShape &shape, TensorType &type) {
  type.shape = {shape.input[0], shape.weights[0]};
  for (int64_t d = 0; d < shape.window.rank; ++d) {
    int64_t positions;
    DLC_RETURN_IF_ERROR(countPositions(shape.window, d, shape.input[d + 2],
                                       /*ceilMode=*/false, positions));
    type.shape.push_back(positions);
  }
  return Status::ok();
}

static Status inferConv(const InferContext &context,
                        std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2, 3));
  DLC_RETURN_IF_ERROR(checkSameType(context, 0, 2));
  ConvolutionShape shape;
  TensorType x;
  DLC_RETURN_IF_ERROR(readImage(context, x, shape.block));
  DLC_RETURN_IF_ERROR(readConvolution(context, x, shape));
  DataType element = context.operand(0).type.type;
  if (!shape.hasRank)
    return addResult(results, unrankedOf(element));
  trimBlocks(shape);
  DLC_RETURN_IF_ERROR(checkChannels(shape));
  DLC_RETURN_IF_ERROR(checkVector(context, 2, shape.weights[0]));
  TensorType type{element, {}};
  DLC_RETURN_IF_ERROR(inferPositions(shape, type));
  DLC_RETURN_IF_ERROR(splitBlocks(context.attrs(), type));
  return addResult(results, std::move(type));
}

static Status inferIntegerConv(const InferContext &context,
                               std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 4));
  for (size_t factor : {0, 1}) {
    DLC_RETURN_IF_ERROR(checkType(context, factor, byteTypes));
    DLC_RETURN_IF_ERROR(checkSameType(context, factor, factor + 2));
  }
  ConvolutionShape shape;
  TensorType x;
  DLC_RETURN_IF_ERROR(readImage(context, x, shape.block));
  DLC_RETURN_IF_ERROR(readConvolutionShape(context, x, shape));
  auto isOne = [](const TensorType &type) {
    return !type.hasRank || mayHaveShape(type, {}) ||
           mayHaveShape(type, {{int64_t{1}}});
  };
  const TensorType &ofX = context.operand(2).type,
                   &ofW = context.operand(3).type;
  if (!isOne(ofX))
    return DLC_INVALID("operand 2: expected one element, got %s",
                       toString(ofX).c_str());
  if (!shape.hasRank)
    return addResult(results, unrankedOf(DLC_I32));
  trimBlocks(shape);
  DLC_RETURN_IF_ERROR(checkChannels(shape));
  if (!isOne(ofW))
    DLC_RETURN_IF_ERROR(checkVector(context, 3, shape.weights[0]));
  TensorType type{DLC_I32, {}};
  DLC_RETURN_IF_ERROR(inferPositions(shape, type));
  DLC_RETURN_IF_ERROR(splitBlocks(context.attrs(), type));
  return addResult(results, std::move(type));
}

/// The N C D... of an operand of `rank` dimensions, or one more in blocks.
static Status readPlain(const InferContext &context, size_t operand,
                        int64_t rank, std::vector<int64_t> &dims) {
  TensorType type = context.operand(operand).type;
  int64_t block = 1;
  if (type.hasRank && type.rank() == rank + 1)
    DLC_RETURN_IF_ERROR(joinBlocks(operand, type, block));
  else
    DLC_RETURN_IF_ERROR(checkRank(context, operand, rank));
  dims = std::move(type.shape);
  dims.resize(rank, kUnknownDim);
  return Status::ok();
}

/// What the weights' gradient says of a convolution of operand 0 that gives
/// operand 1.
static Status inferWeightGradient(const InferContext &context,
                                  std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2));
  DLC_RETURN_IF_ERROR(checkType(context, 0, floatTypes));
  DLC_RETURN_IF_ERROR(checkSameType(context, 0, 1));
  std::span<const int64_t> kernel = context.attrs().getInts("kernel_shape");
  if (kernel.empty() || kernel.size() > DLC_MAX_RANK - 2)
    return DLC_INVALID("attribute kernel_shape: expected 1 to %d values, got "
                       "%zu",
                       DLC_MAX_RANK - 2, kernel.size());
  const int64_t rank = static_cast<int64_t>(kernel.size());
  Window::Extents extents;
  DLC_RETURN_IF_ERROR(
      readExtents(context.attrs(), "kernel_shape", rank, 1, 1, extents));
  ConvolutionShape shape;
  std::vector<int64_t> positions;
  DLC_RETURN_IF_ERROR(readPlain(context, 0, rank + 2, shape.input));
  DLC_RETURN_IF_ERROR(readPlain(context, 1, rank + 2, positions));
  int64_t batch = shape.input[0];
  if (!mergeDim(batch, positions[0]))
    return DLC_INVALID("operand 1: expected a batch of %" PRId64
                       ", got %" PRId64,
                       shape.input[0], positions[0]);
  shape.weights = {positions[1], kUnknownDim};
  shape.weights.insert(shape.weights.end(), kernel.begin(), kernel.end());
  DLC_RETURN_IF_ERROR(readConvolution(context.attrs(), shape));
  DLC_RETURN_IF_ERROR(
      checkDivides(shape.group, shape.input[1], "input channels"));
  DLC_RETURN_IF_ERROR(
      checkDivides(shape.group, positions[1], "output channels"));
  if (shape.input[1] >= 0)
    shape.weights[1] = shape.input[1] / shape.group;
  return addResult(results,
                   {context.operand(0).type.type, std::move(shape.weights)});
}

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

/// Where one kernel element meets one row (of the innermost spatial dimension)
/// of the result.
namespace {
struct RowMeeting {
  int64_t input;      ///< Offset of the input for position 0, maybe outside.
  int64_t begin, end; ///< Positions whose input is inside.
};

struct ConvolutionPlan {
  ConvolutionShape shape;
  std::span<const int64_t> output;
  int64_t inputSize = 1, outputSize = 1, kernelSize = 1; ///< Spatial.
  /// Channels that lie side by side, 1 in plain tensors.
  int64_t inputBlock = 1, outputBlock = 1;
  int64_t inputChannels = 0; ///< With what the last block has room for.
};
} // namespace

/// Where channel `c` begins whose planes of `size` elements come in blocks;
/// its elements are `block` apart.
static int64_t channelOffset(int64_t c, int64_t size, int64_t block) {
  return c / block * block * size + c % block;
}

/// The least q with q * step >= value.
static int64_t ceilDiv(int64_t value, int64_t step) {
  return value <= 0 ? 0 : (value - 1) / step + 1;
}

/// Kernel element `k` against the row that starts at spatial result `row`
/// (both row-major indices); an empty range when they never meet inside.
static RowMeeting meet(const ConvolutionPlan &plan, int64_t k, int64_t row) {
  const Window &window = plan.shape.window;
  RowMeeting meeting{0, 0, 0};
  int64_t stride = 1;
  for (int64_t d = window.rank - 1; d >= 0; --d) {
    int64_t extent = plan.shape.input[d + 2], out = plan.output[d + 2];
    int64_t at = k % window.kernel[d] * window.dilations[d] -
                 window.padBegin[d] + row % out * window.strides[d];
    k /= window.kernel[d];
    row /= out;
    if (d == window.rank - 1) {
      meeting.begin = ceilDiv(-at, window.strides[d]);
      meeting.end = std::min(out, ceilDiv(extent - at, window.strides[d]));
    } else if (at < 0 || at >= extent) {
      return {0, 0, 0};
    }
    meeting.input += at * stride;
    stride *= extent;
  }
  return meeting;
}

/// Adds the products of all channels of a group, which begins with
/// `firstChannel` of the image `x`, to a part [begin, begin + count) of a
/// result row.
template <typename E>
static void accumulate(const ConvolutionPlan &plan,
                       const typename E::Storage *x, int64_t firstChannel,
                       const typename E::Storage *w, int64_t row, int64_t begin,
                       int64_t count, Accumulator<E> *sums) {
  using Acc = Accumulator<E>;
  int64_t stride = plan.shape.window.strides[plan.shape.window.rank - 1];
  if (plan.shape.weights[1] == 0)
    return;
  for (int64_t k = 0; k < plan.kernelSize; ++k) {
    RowMeeting meeting = meet(plan, k, row);
    int64_t first = std::max(begin, meeting.begin);
    int64_t last = std::min(begin + count, meeting.end);
    for (int64_t c = 0; first < last && c < plan.shape.weights[1]; ++c) {
      Acc weight = static_cast<Acc>(E::decode(w[c * plan.kernelSize + k]));
      const auto *from =
          x + channelOffset(firstChannel + c, plan.inputSize, plan.inputBlock) +
          (meeting.input + first * stride) * plan.inputBlock;
      for (int64_t i = first; i < last; ++i, from += stride * plan.inputBlock)
        sums[i - begin] += weight * static_cast<Acc>(E::decode(*from));
    }
  }
}

/// One image and one output channel, of the group that begins with
/// `firstChannel`.
template <typename E>
static void convolve(const ConvolutionPlan &plan, const typename E::Storage *x,
                     int64_t firstChannel, const typename E::Storage *w,
                     Accumulator<E> bias, typename E::Storage *y) {
  constexpr int64_t partSize = 64;
  int64_t width = plan.output.back();
  for (int64_t row = 0; row < plan.outputSize; row += width) {
    for (int64_t begin = 0; begin < width; begin += partSize) {
      int64_t count = std::min(partSize, width - begin);
      Accumulator<E> sums[partSize];
      std::fill_n(sums, count, bias);
      accumulate<E>(plan, x, firstChannel, w, row, begin, count, sums);
      for (int64_t i = 0; i < count; ++i)
        y[(row + begin + i) * plan.outputBlock] = E::encode(sums[i]);
    }
  }
}

static Status planConvolution(const ComputeContext &context,
                              const TensorView &y, ConvolutionPlan &plan) {
  std::span<const int64_t> w = context.input(1).shape;
  const TensorView &input = context.input(0);
  TensorType x{input.type, {input.shape.begin(), input.shape.end()}};
  plan.output = y.shape.first(w.size());
  if (y.shape.size() > w.size())
    plan.outputBlock = y.shape.back();
  if (x.shape.size() > w.size())
    DLC_RETURN_IF_ERROR(joinBlocks(0, x, plan.inputBlock));
  plan.inputChannels = x.shape[1];
  plan.shape.input = std::move(x.shape);
  plan.shape.weights.assign(w.begin(), w.end());
  DLC_RETURN_IF_ERROR(readConvolution(context.attrs(), plan.shape));
  Window &window = plan.shape.window;
  for (int64_t d = 0; d < window.rank; ++d) {
    int64_t positions;
    DLC_RETURN_IF_ERROR(countPositions(window, d, plan.shape.input[d + 2],
                                       /*ceilMode=*/false, positions));
    plan.inputSize *= plan.shape.input[d + 2];
    plan.outputSize *= positions;
    plan.kernelSize *= window.kernel[d];
  }
  return Status::ok();
}

/// Of elements of x and w, which have the shapes of inputs 0 and 1; without a
/// bias if that is null.
template <typename E>
static Status convolveAll(ComputeContext &context, const typename E::Storage *x,
                          const typename E::Storage *w, const void *bias) {
  const TensorView &y = context.output(0);
  if (y.size() == 0)
    return Status::ok();
  ConvolutionPlan plan;
  DLC_RETURN_IF_ERROR(planConvolution(context, y, plan));
  int64_t channels = plan.shape.weights[0];
  int64_t perGroup = channels / plan.shape.group;
  int64_t depth = plan.shape.weights[1];
  int64_t inputImage = plan.inputChannels * plan.inputSize;
  int64_t outputImage =
      blocksOf(channels, plan.outputBlock) * plan.outputBlock * plan.outputSize;
  auto *to = y.as<typename E::Storage>();
  if (channels % plan.outputBlock != 0)
    std::fill_n(to, y.size(), E::encode(Accumulator<E>(0)));
  auto convolvePlane = [&](int64_t plane) {
    int64_t n = plane / channels, m = plane % channels;
    Accumulator<E> start = 0;
    if (bias)
      start = static_cast<Accumulator<E>>(loadElement<E>(bias, m));
    convolve<E>(plan, x + n * inputImage, m / perGroup * depth,
                w + m * depth * plan.kernelSize, start,
                to + n * outputImage +
                    channelOffset(m, plan.outputSize, plan.outputBlock));
  };
  forEachInParts(context, y.shape[0] * channels,
                 static_cast<double>(plan.outputSize) *
                     static_cast<double>(plan.kernelSize * depth),
                 convolvePlane);
  return Status::ok();
}

static Status computeConv(ComputeContext &context) {
  return dispatch(context.output(0).type, [&](auto element) {
    using Storage = typename decltype(element)::Storage;
    return convolveAll<decltype(element)>(
        context, context.input(0).as<Storage>(),
        context.input(1).as<Storage>(),
        context.isPresent(2) ? context.input(2).data : nullptr);
  });
}

/// A zero point for each output channel is one for each row of weights.
static Status computeIntegerConv(ComputeContext &context) {
  const TensorView &w = context.input(1);
  std::vector<int64_t> shape(context.input(3).shape.begin(),
                             context.input(3).shape.end());
  if (!shape.empty())
    shape.resize(w.shape.size(), 1);
  const std::vector<int32_t> image = center(context.input(0), context.input(2));
  const std::vector<int32_t> weights = center(w, context.input(3), shape);
  return convolveAll<Element<DLC_I32>>(context, image.data(), weights.data(),
                                       nullptr);
}

/// The sum over the batch of one image's channel, from `x` on, times one
/// channel of the positions, from `g` on, where kernel element `k` met it.
template <typename E>
static Accumulator<E> sumMeetings(const ConvolutionPlan &plan, int64_t k,
                                  const typename E::Storage *x,
                                  const typename E::Storage *g) {
  using Acc = Accumulator<E>;
  const ConvolutionShape &shape = plan.shape;
  int64_t width = plan.output.back();
  int64_t stride = shape.window.strides[shape.window.rank - 1];
  Acc sum = 0;
  for (int64_t n = 0; plan.outputSize && n < shape.input[0]; ++n) {
    for (int64_t row = 0; row < plan.outputSize; row += width) {
      RowMeeting meeting = meet(plan, k, row);
      const auto *from =
          x + (meeting.input + meeting.begin * stride) * plan.inputBlock;
      for (int64_t i = meeting.begin; i < meeting.end;
           ++i, from += stride * plan.inputBlock)
        sum += static_cast<Acc>(E::decode(*from)) *
               static_cast<Acc>(E::decode(g[(row + i) * plan.outputBlock]));
    }
    x += shape.input[1] * plan.inputSize;
    g += plan.output[1] * plan.outputSize;
  }
  return sum;
}

static Status computeWeightGradient(ComputeContext &context) {
  const TensorView &x = context.input(0), &g = context.input(1);
  const TensorView &w = context.output(0);
  ConvolutionPlan plan;
  TensorType image{x.type, {x.shape.begin(), x.shape.end()}};
  TensorType positions{g.type, {g.shape.begin(), g.shape.end()}};
  if (x.shape.size() > w.shape.size())
    DLC_RETURN_IF_ERROR(joinBlocks(0, image, plan.inputBlock));
  if (g.shape.size() > w.shape.size())
    DLC_RETURN_IF_ERROR(joinBlocks(1, positions, plan.outputBlock));
  plan.shape.input = std::move(image.shape);
  plan.shape.weights.assign(w.shape.begin(), w.shape.end());
  plan.output = positions.shape;
  DLC_RETURN_IF_ERROR(readConvolution(context.attrs(), plan.shape));
  for (int64_t d = 0; d < plan.shape.window.rank; ++d) {
    plan.inputSize *= plan.shape.input[d + 2];
    plan.outputSize *= plan.output[d + 2];
    plan.kernelSize *= w.shape[d + 2];
  }
  int64_t depth = w.shape[1], perGroup = w.shape[0] / plan.shape.group;
  return dispatch(w.type, [&](auto element) {
    using E = decltype(element);
    using Storage = typename E::Storage;
    auto *to = w.as<Storage>();
    for (int64_t m = 0; m < w.shape[0]; ++m)
      for (int64_t c = 0; c < depth; ++c)
        for (int64_t k = 0; k < plan.kernelSize; ++k)
          *to++ = E::encode(sumMeetings<E>(
              plan, k,
              x.as<Storage>() + channelOffset(m / perGroup * depth + c,
                                              plan.inputSize, plan.inputBlock),
              g.as<Storage>() +
                  channelOffset(m, plan.outputSize, plan.outputBlock)));
    return Status::ok();
  });
}

std::span<const Operation> ref::convolutionOperations() {
  static constexpr Operation operations[] = {
      {"conv", inferConv, computeConv},
      {"integer_conv", inferIntegerConv, computeIntegerConv},
      {"conv_weight_gradient", inferWeightGradient, computeWeightGradient},
  };
  return operations;
}
