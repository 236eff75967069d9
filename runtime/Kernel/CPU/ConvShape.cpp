// SPDX-License-Identifier: Apache-2.0

#include "ConvShape.h"

#include "BlockedConv.h"
#include "BlockedGradient.h"
#include "IntegerSet.h"
#include "Winograd.h"

#include <algorithm>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

/// More than any image needs, little enough that positions never overflow.
static constexpr int64_t kMostExtent = int64_t{1} << 31;

static Status attributeError(const char *name, const char *expected) {
  return makeError(StatusCode::InvalidArgument,
                   "expected attribute '%s' to be %s", name, expected);
}

/// A list of one number a spatial dimension, into the last places of `dims`,
/// which stay as they are without it.
static Status readDims(const Attributes &attributes, const char *name,
                       int64_t spatial, int64_t (&dims)[2]) {
  std::span<const int64_t> held = attributes.getInts(name);
  if (held.empty())
    return Status::ok();
  if (static_cast<int64_t>(held.size()) != spatial)
    return attributeError(name, "as long as there are spatial dimensions");
  for (int64_t i = 0; i < spatial; ++i) {
    if (held[i] < 1 || held[i] > kMostExtent)
      return attributeError(name, "positive and at most 2^31");
    dims[2 - spatial + i] = held[i];
  }
  return Status::ok();
}

static Status readPads(const Attributes &attributes, int64_t spatial,
                       int64_t (&begin)[2], int64_t (&end)[2]) {
  std::span<const int64_t> held = attributes.getInts("pads");
  if (held.empty())
    return Status::ok();
  if (static_cast<int64_t>(held.size()) != 2 * spatial)
    return attributeError("pads", "twice as long as there are spatial "
                                  "dimensions");
  for (int64_t i = 0; i < spatial; ++i) {
    if (held[i] < 0 || held[i] > kMostExtent || held[spatial + i] < 0 ||
        held[spatial + i] > kMostExtent)
      return attributeError("pads", "0 to 2^31");
    begin[2 - spatial + i] = held[i];
    end[2 - spatial + i] = held[spatial + i];
  }
  return Status::ok();
}

namespace {
/// The three tensors that a convolution relates, whichever is the result.
struct ConvTensors {
  const TensorType &x, &w, &y;
};
} // namespace

static Status checkChannels(const ConvTensors &tensors,
                            const ConvShape &shape) {
  const auto &[x, w, y] = tensors;
  if (shape.group < 1 || shape.inChannels % shape.group != 0 ||
      shape.outChannels % shape.group != 0)
    return makeError(StatusCode::InvalidArgument,
                     "expected a group that divides %lld and %lld channels, "
                     "got %lld",
                     static_cast<long long>(shape.inChannels),
                     static_cast<long long>(shape.outChannels),
                     static_cast<long long>(shape.group));
  if (w.shape[1] != shape.groupIn())
    return makeError(StatusCode::InvalidArgument,
                     "expected %lld input channels a group, got %s",
                     static_cast<long long>(shape.groupIn()),
                     toString(w).c_str());
  if (y.shape[0] != x.shape[0] || y.shape[1] != w.shape[0])
    return makeError(StatusCode::InvalidArgument,
                     "expected an output of %lld images of %lld channels, "
                     "got %s",
                     static_cast<long long>(x.shape[0]),
                     static_cast<long long>(w.shape[0]), toString(y).c_str());
  return Status::ok();
}

/// The output's spatial dimensions are those of the formula.
static Status checkSpatial(const ConvTensors &tensors, const ConvShape &shape,
                           const int64_t (&padEnd)[2]) {
  for (int i = 0; i < 2; ++i) {
    const int64_t padded = shape.in[i] + shape.padBegin[i] + padEnd[i];
    int64_t reach = 0;
    if (shape.kernel[i] < 1 ||
        __builtin_mul_overflow(shape.kernel[i] - 1, shape.dilation[i], &reach))
      return makeError(StatusCode::InvalidArgument,
                       "expected a kernel of at least one tap, got %s",
                       toString(tensors.w).c_str());
    const int64_t room = padded - reach - 1;
    const int64_t expected = room < 0 ? 0 : room / shape.stride[i] + 1;
    if (shape.out[i] != expected)
      return makeError(StatusCode::InvalidArgument,
                       "expected %lld output positions, got %lld in %s",
                       static_cast<long long>(expected),
                       static_cast<long long>(shape.out[i]),
                       toString(tensors.y).c_str());
  }
  return Status::ok();
}

/// Reads everything but the epilogue and flags; padding of ends to `padEnd`.
static Status readShape(const ConvTensors &tensors,
                        const Attributes &attributes, int64_t group,
                        ConvShape &shape, int64_t (&padEnd)[2]) {
  const auto &[x, w, y] = tensors;
  if (w.rank() != x.rank() || y.rank() != x.rank())
    return makeError(StatusCode::InvalidArgument,
                     "expected operands of equal rank, got %s, %s and %s",
                     toString(x).c_str(), toString(w).c_str(),
                     toString(y).c_str());
  const int64_t spatial = x.rank() - 2;
  shape.batch = x.shape[0];
  shape.inChannels = x.shape[1];
  shape.outChannels = w.shape[0];
  shape.group = group;
  for (int i = 0; i < 2; ++i) {
    const int64_t d = i - (2 - spatial) + 2; // Below 2: the row of a 1-D one.
    shape.in[i] = d < 2 ? 1 : x.shape[d];
    shape.kernel[i] = d < 2 ? 1 : w.shape[d];
    shape.out[i] = d < 2 ? 1 : y.shape[d];
    shape.stride[i] = shape.dilation[i] = 1;
    shape.padBegin[i] = padEnd[i] = 0;
  }
  DLC_RETURN_IF_ERROR(readDims(attributes, "strides", spatial, shape.stride));
  DLC_RETURN_IF_ERROR(
      readDims(attributes, "dilations", spatial, shape.dilation));
  DLC_RETURN_IF_ERROR(readPads(attributes, spatial, shape.padBegin, padEnd));
  return checkChannels(tensors, shape);
}

static Status readAlgorithm(const Attributes &attributes, bool &winograd) {
  std::string_view name = attributes.getString("algorithm");
  winograd = name == "winograd";
  if (name.empty() || winograd)
    return Status::ok();
  return makeError(StatusCode::InvalidArgument,
                   "expected algorithm '' or 'winograd', got '%s'",
                   std::string(name).c_str());
}

/// The plain shape of a blocked tensor [N][C/16][...][16], or one of twice as
/// large blocks, with all channels that these have room for.
static Status readBlocked(const TensorType &type, const char *role,
                          TensorType &plain, int64_t block = kChannelBlock) {
  if (type.rank() < 4 || type.shape.back() != block)
    return makeError(StatusCode::InvalidArgument,
                     "expected %s in blocks of %lld channels, got %s", role,
                     static_cast<long long>(block), toString(type).c_str());
  plain = type;
  plain.shape.pop_back();
  plain.shape[1] *= block; // No overflow: it was counted.
  return Status::ok();
}

/// The last block of floats may have places behind the last channel.
static void trimBlocks(TensorType &plain, int64_t channels) {
  if (plain.type == DLC_F32 && channels >= 0 && channels <= plain.shape[1] &&
      plain.shape[1] == blocksOf(channels) * kChannelBlock)
    plain.shape[1] = channels;
}

/// Channels of a block, of bfloat16 or of floats.
static constexpr int64_t blockOf(bool isShort) {
  return (isShort ? 2 : 1) * kChannelBlock;
}

/// Of 32 channels, to blocks of 16.
static Status halveBlocks(TensorType &type) {
  DLC_RETURN_IF_ERROR(readBlocked(type, "a residual", type, blockOf(true)));
  type.shape[1] /= kChannelBlock;
  type.shape.push_back(kChannelBlock);
  return Status::ok();
}

/// Makes tensors that are blocked plain, which the rest of the checks are of.
static Status readBlocks(const KernelCall &call, TensorType &x, TensorType &y,
                         ConvShape &shape) {
  const int64_t block = call.attributes.getInt("channel_block", 0);
  if (block != 0 && block != kChannelBlock)
    return makeError(StatusCode::InvalidArgument,
                     "expected attribute 'channel_block' to be 0 or %lld, got "
                     "%lld",
                     static_cast<long long>(kChannelBlock),
                     static_cast<long long>(block));
  const int64_t blockOfX = blockOf(shape.shortX);
  shape.blockedY = block != 0;
  shape.blockedX = x.rank() == call.inputs[1].rank() + 1 &&
                   (shape.blockedY || x.shape.back() == blockOfX);
  if ((shape.shortX && !shape.blockedX) || (shape.shortY && !shape.blockedY))
    return makeError(StatusCode::InvalidArgument,
                     "expected bf16 in blocks of channels alone, got %s and %s",
                     toString(x).c_str(), toString(y).c_str());
  const TensorType &w = call.inputs[1];
  if (shape.blockedX) {
    DLC_RETURN_IF_ERROR(readBlocked(x, "an input", x, blockOfX));
    const int64_t channels =
        saturatedProduct({w.shape[1], call.attributes.getInt("group", 1)});
    if (!shape.shortX)
      trimBlocks(x, channels);
  }
  if (shape.blockedY) {
    DLC_RETURN_IF_ERROR(readBlocked(y, "an output", y, blockOf(shape.shortY)));
    if (!shape.shortY)
      trimBlocks(y, w.shape[0]);
  }
  return Status::ok();
}

/// That blocks of bfloat16 are those of one group, and of packed weights.
static Status checkShort(const ConvShape &shape) {
  const int64_t groups = shape.isDepthwise() ? 1 : shape.group;
  const bool isWhole =
      (!shape.shortX || (shape.inChannels / groups % blockOf(true) == 0 &&
                         shape.pairedBlocks)) &&
      ((!shape.shortY && !shape.shortResidual) ||
       (shape.outChannels / groups % blockOf(true) == 0 && shape.blockedY));
  // Sums of floats to bfloat16.
  if (shape.isDepthwise() &&
      (shape.shortResidual || (shape.shortX && !shape.shortY)))
    return makeError(StatusCode::InvalidArgument,
                     "expected an output of bf16 and no residual for a "
                     "depthwise convolution of bf16");
  if (isWhole)
    return Status::ok();
  return makeError(StatusCode::InvalidArgument,
                   "expected bf16 in blocks of 32 channels of one group, and "
                   "'packed_w' of 2");
}

static Status checkMostDims(const KernelCall &call, const TensorType &plainX) {
  if (plainX.rank() <= 4)
    return Status::ok();
  return makeError(StatusCode::InvalidArgument,
                   "expected input 0 to have rank 3 to 4, got %s",
                   toString(call.inputs[0]).c_str());
}

static Status readPacked(const Attributes &attributes, ConvShape &shape) {
  const int64_t form = attributes.getInt("packed_w", 0);
  const int64_t most = shape.bf16Parts == 1 ? 2 : 1;
  if (form < 0 || form > most)
    return makeError(StatusCode::InvalidArgument,
                     "expected attribute 'packed_w' to be 0 %s, got %lld",
                     most == 2 ? "to 2" : "or 1", static_cast<long long>(form));
  shape.packed = form != 0;
  shape.pairedBlocks = form == 2;
  return Status::ok();
}

Status cpu::readConv(const KernelCall &call, ConvShape &shape) {
  using enum AttributeKind;
  const Attributes &attributes = call.attributes;
  DLC_RETURN_IF_ERROR(checkAttributes(attributes, {{"strides", Ints},
                                                   {"pads", Ints},
                                                   {"dilations", Ints},
                                                   {"group", Int},
                                                   {"packed_w", Int},
                                                   {"channel_block", Int},
                                                   {kBf16Parts, Int},
                                                   {"algorithm", String}}));
  DLC_RETURN_IF_ERROR(readAlgorithm(attributes, shape.winograd));
  DLC_RETURN_IF_ERROR(readParts(attributes, shape.bf16Parts));
  FloatView floats;
  DLC_RETURN_IF_ERROR(floats.read(call, shape.bf16Parts == 1));
  shape.shortX = floats.isShortX;
  shape.shortY = floats.isShortY;
  shape.shortResidual = floats.isShortResidual;
  DLC_RETURN_IF_ERROR(checkOperands(floats.view(), 3, 5));
  if (shape.shortResidual && !shape.shortY)
    DLC_RETURN_IF_ERROR(halveBlocks(floats.inputs[3]));
  TensorType x = floats.inputs[0], y = floats.outputs[0];
  DLC_RETURN_IF_ERROR(readBlocks(call, x, y, shape));
  DLC_RETURN_IF_ERROR(checkMostDims(call, x));
  const ConvTensors tensors{x, call.inputs[1], y};
  int64_t padEnd[2];
  DLC_RETURN_IF_ERROR(readShape(tensors, attributes,
                                attributes.getInt("group", 1), shape, padEnd));
  DLC_RETURN_IF_ERROR(checkSpatial(tensors, shape, padEnd));
  DLC_RETURN_IF_ERROR(readPacked(attributes, shape));
  DLC_RETURN_IF_ERROR(readEpilogue(attributes, shape.epilogue));
  if (shape.isBlocked())
    DLC_RETURN_IF_ERROR(checkBlocked(shape));
  if (shape.winograd)
    DLC_RETURN_IF_ERROR(checkWinograd(shape));
  if (shape.bf16Parts == 1 && !canRound(shape))
    return makeError(StatusCode::InvalidArgument,
                     "expected a blocked input, packed weights, at most %lld "
                     "taps and whole blocks, "
                     "of algorithm 'winograd' 3x3 taps, strides of one, "
                     "'packed_w' of 2 and whole blocks of 32 channels, "
                     "or a plain input, a blocked output, 'packed_w' of 2 and "
                     "windows of at most %lld neighbours in steps of at most "
                     "%lld, where 'bf16_parts' is 1",
                     static_cast<long long>(kMostSplitTaps),
                     static_cast<long long>(kMostPlainTaps),
                     static_cast<long long>(kMostPlainStep));
  DLC_RETURN_IF_ERROR(checkShort(shape));
  // It says what tensors may be; nothing is multiplied rounded.
  if (shape.isDepthwise() && shape.blockedX)
    shape.bf16Parts = 0;
  return checkBiasAndResidual(floats.view(), shape.outChannels);
}

/// Windows may lie anywhere, but not so far that positions would overflow.
static Status checkReach(const ConvShape &shape) {
  constexpr int64_t most = int64_t{1} << 60;
  for (int i = 0; i < 2; ++i) {
    int64_t windows = 0, taps = 0;
    if (__builtin_mul_overflow(shape.out[i], shape.stride[i], &windows) ||
        __builtin_mul_overflow(shape.kernel[i], shape.dilation[i], &taps) ||
        windows > most || taps > most)
      return makeError(StatusCode::InvalidArgument,
                       "expected windows that reach at most 2^60 elements");
  }
  return Status::ok();
}

/// Gradients are taken as they are.
static Status checkNothingAdded(const KernelCall &call, ConvShape &shape) {
  DLC_RETURN_IF_ERROR(readEpilogue(call.attributes, shape.epilogue));
  // An operand that is left out would be one of the arguments, too.
  if (call.inputs.size() != 2 || shape.epilogue.activation != Activation::None)
    return makeError(StatusCode::InvalidArgument,
                     "expected no bias, residual or activation");
  return Status::ok();
}

Status cpu::readConvWeightGradient(const KernelCall &call, ConvShape &shape) {
  using enum AttributeKind;
  const Attributes &attributes = call.attributes;
  DLC_RETURN_IF_ERROR(checkAttributes(attributes, {{"strides", Ints},
                                                   {"pads", Ints},
                                                   {"dilations", Ints},
                                                   {"group", Int},
                                                   {"algorithm", String}}));
  DLC_RETURN_IF_ERROR(readAlgorithm(attributes, shape.winograd));
  const KernelCall own = withoutWorkspace(call);
  DLC_RETURN_IF_ERROR(checkOperands(own, 3, 5));
  DLC_RETURN_IF_ERROR(checkNothingAdded(call, shape));
  TensorType x = call.inputs[0], g = call.inputs[1];
  const TensorType &w = call.outputs[0];
  shape.blockedX = x.rank() == w.rank() + 1;
  shape.blockedY = g.rank() == w.rank() + 1;
  if (shape.blockedX)
    DLC_RETURN_IF_ERROR(readBlocked(x, "an input", x));
  if (shape.blockedY)
    DLC_RETURN_IF_ERROR(readBlocked(g, "a gradient", g));
  DLC_RETURN_IF_ERROR(checkMostDims(call, x));
  int64_t padEnd[2];
  DLC_RETURN_IF_ERROR(readShape({x, w, g}, attributes,
                                attributes.getInt("group", 1), shape, padEnd));
  DLC_RETURN_IF_ERROR(checkReach(shape));
  return checkBlockedGradient(shape);
}

/// What there is to know of the gradient of a pooling of x.
static Status readPlainMaxPool(const TensorType &x, const TensorType &g,
                               const Attributes &attributes, ConvShape &shape) {
  // As a convolution that has a kernel for each channel.
  const int64_t spatial = x.rank() - 2;
  int64_t kernel[2] = {};
  if (attributes.getInts("kernel_shape").empty())
    return attributeError("kernel_shape",
                          "as long as there are spatial dimensions");
  DLC_RETURN_IF_ERROR(readDims(attributes, "kernel_shape", spatial, kernel));
  TensorType weights{DLC_F32, {x.shape[1], 1}};
  weights.shape.insert(weights.shape.end(), kernel + 2 - spatial, kernel + 2);
  const ConvTensors tensors{x, weights, g};
  int64_t padEnd[2];
  DLC_RETURN_IF_ERROR(
      readShape(tensors, attributes, x.shape[1], shape, padEnd));
  if (shape.in[0] * shape.in[1] > INT32_MAX)
    return makeError(StatusCode::InvalidArgument,
                     "expected planes of less than 2^31 elements, got %s",
                     toString(x).c_str());
  return checkReach(shape);
}

/// Attributes of windows over blocked tensors, without the last dimension.
static Status readBlockedWindows(const Attributes &attributes,
                                 Attributes &plain) {
  constexpr size_t dims = 3;
  auto refuse = [] {
    return makeError(StatusCode::InvalidArgument,
                     "expected windows of one element along a block of "
                     "channels");
  };
  for (const char *name : {"kernel_shape", "strides", "dilations"}) {
    std::span<const int64_t> held = attributes.getInts(name);
    if (held.empty())
      continue;
    if (held.size() != dims || held.back() != 1)
      return refuse();
    plain.set(name, std::vector<int64_t>(held.begin(), held.end() - 1));
  }
  std::span<const int64_t> pads = attributes.getInts("pads");
  if (pads.empty())
    return Status::ok();
  if (pads.size() != 2 * dims || pads[2] != 0 || pads[5] != 0)
    return refuse();
  plain.set("pads", std::vector<int64_t>{pads[0], pads[1], pads[3], pads[4]});
  return Status::ok();
}

/// The plain shape of a tensor with all its channels last, in one block.
static Status readChannelsLast(const TensorType &type, const char *role,
                               TensorType &plain) {
  if (type.rank() < 4 || type.shape[1] != 1)
    return makeError(StatusCode::InvalidArgument,
                     "expected %s in one block of channels, got %s", role,
                     toString(type).c_str());
  plain = type;
  plain.shape[1] = type.shape.back();
  plain.shape.pop_back();
  return Status::ok();
}

Status cpu::readIntegerConv(const KernelCall &call, ConvShape &shape) {
  using enum AttributeKind;
  const Attributes &attributes = call.attributes;
  DLC_RETURN_IF_ERROR(checkAttributes(attributes, {{"strides", Ints},
                                                   {"pads", Ints},
                                                   {"dilations", Ints},
                                                   {"group", Int},
                                                   {"channel_block", Int},
                                                   {"packed_w", Int}}));
  DLC_RETURN_IF_ERROR(readFlag(attributes, "packed_w", shape.packed));
  TensorType x = call.inputs[0], y = call.outputs[0];
  const TensorType &w = call.inputs[1];
  shape.blockedX = x.rank() == w.rank() + 1;
  const int64_t block = attributes.getInt("channel_block", 0);
  shape.blockedY = block != 0;
  if (shape.blockedY && (y.shape.empty() || y.shape.back() != block))
    return makeError(StatusCode::InvalidArgument,
                     "expected the output in a block of %lld channels, got %s",
                     static_cast<long long>(block), toString(y).c_str());
  if (shape.blockedX)
    DLC_RETURN_IF_ERROR(readChannelsLast(x, "x", x));
  if (shape.blockedY)
    DLC_RETURN_IF_ERROR(readChannelsLast(y, "the output", y));
  DLC_RETURN_IF_ERROR(checkMostDims(call, x));
  const ConvTensors tensors = {x, w, y};
  int64_t padEnd[2];
  DLC_RETURN_IF_ERROR(readShape(tensors, attributes,
                                attributes.getInt("group", 1), shape, padEnd));
  DLC_RETURN_IF_ERROR(checkSpatial(tensors, shape, padEnd));
  const bool isOneToOne =
      shape.isDepthwise() && shape.outChannels == shape.inChannels;
  if (shape.group == 1 || (isOneToOne && shape.taps() <= kMostByteTaps))
    return Status::ok();
  return makeError(StatusCode::InvalidArgument,
                   "expected one group, or one for each channel of both x and "
                   "y and at most %lld taps, got %lld of %s",
                   static_cast<long long>(kMostByteTaps),
                   static_cast<long long>(shape.group), toString(w).c_str());
}

Status cpu::readMaxPoolGradient(const KernelCall &call, ConvShape &shape) {
  using enum AttributeKind;
  const Attributes &attributes = call.attributes;
  DLC_RETURN_IF_ERROR(checkAttributes(attributes, {{"kernel_shape", Ints},
                                                   {"strides", Ints},
                                                   {"pads", Ints},
                                                   {"dilations", Ints}}));
  DLC_RETURN_IF_ERROR(checkOperands(call, 3, 5));
  DLC_RETURN_IF_ERROR(checkNothingAdded(call, shape));
  if (call.outputs[0].shape != call.inputs[0].shape)
    return makeError(
        StatusCode::InvalidArgument, "expected an output %s, got %s",
        toString(call.inputs[0]).c_str(), toString(call.outputs[0]).c_str());
  if (call.inputs[0].rank() < 5)
    return readPlainMaxPool(call.inputs[0], call.inputs[1], attributes, shape);
  TensorType x, g;
  Attributes windows;
  shape.blockedX = shape.blockedY = true;
  DLC_RETURN_IF_ERROR(readBlocked(call.inputs[0], "an input", x));
  DLC_RETURN_IF_ERROR(readBlocked(call.inputs[1], "a gradient", g));
  DLC_RETURN_IF_ERROR(readBlockedWindows(attributes, windows));
  return readPlainMaxPool(x, g, windows, shape);
}

Windows cpu::windowsOf(const ConvShape &shape) {
  Windows windows;
  windows.inH = shape.in[0];
  windows.inW = shape.in[1];
  windows.outH = shape.out[0];
  windows.outW = shape.out[1];
  windows.kernelH = shape.kernel[0];
  windows.kernelW = shape.kernel[1];
  windows.strideH = shape.stride[0];
  windows.strideW = shape.stride[1];
  windows.dilationH = shape.dilation[0];
  windows.dilationW = shape.dilation[1];
  windows.padTop = shape.padBegin[0];
  windows.padLeft = shape.padBegin[1];
  return windows;
}

int64_t cpu::planeBlockOf(const ConvShape &shape, int64_t planes) {
  constexpr int64_t wantedTiles = 64, minTileWork = 1 << 16;
  // A window may be far larger than the image.
  const int64_t taps = std::min(shape.kernel[0], shape.in[0]) *
                       std::min(shape.kernel[1], shape.in[1]);
  const int64_t work = std::clamp<int64_t>(shape.pixels(), 1, minTileWork) *
                       std::clamp<int64_t>(taps, 1, minTileWork);
  return std::max(
      {planes / wantedTiles, ceilDiv(minTileWork, work), int64_t{1}});
}

ConvPlan cpu::makeConvPlan(const ConvShape &shape) {
  auto plan = planOf<ConvPlan>(shape);
  plan.batch = shape.batch;
  plan.group = shape.group;
  plan.inChannels = shape.groupIn();
  plan.outChannels = shape.groupOut();
  plan.packedW = shape.packed;
  plan.k = plan.inChannels * shape.taps();
  plan.pixels = shape.pixels();
  plan.epilogue = shape.epilogue;
  const bool pointwise = shape.taps() == 1 && plan.strideH == 1 &&
                         plan.strideW == 1 && plan.padTop == 0 &&
                         plan.padLeft == 0 && plan.inH == plan.outH &&
                         plan.inW == plan.outW;
  if (pointwise) {
    // Rows follow each other in memory: one long row.
    plan.inW = plan.outW = plan.pixels;
    plan.inH = plan.outH = 1;
  }
  return plan;
}
