// SPDX-License-Identifier: Apache-2.0

#include "Conv.h"

#include "Check.h"
#include "Isa.h"

#include <algorithm>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// A checked call with one-dimensional convolutions made two-dimensional.
struct ConvShape {
  int64_t batch, group, inChannels, outChannels; ///< Channels of all groups.
  int64_t in[2], out[2], kernel[2], stride[2], dilation[2], padBegin[2];
  bool packed;
  Epilogue epilogue;

  int64_t groupIn() const { return group ? inChannels / group : 0; }
  int64_t groupOut() const { return group ? outChannels / group : 0; }
  int64_t taps() const { return kernel[0] * kernel[1]; }
  int64_t pixels() const { return out[0] * out[1]; }
  bool isDepthwise() const { return groupIn() == 1; }
};

class PreparedConv final : public PreparedKernel {
public:
  PreparedConv(const KernelCall &call, const ConvPlan &plan,
               const KernelSet &kernels)
      : plan(plan), kernels(kernels), arguments(call) {}

  int64_t tiles() const override {
    return plan.batch * plan.group * plan.pixelBlocks * plan.channelBlocks;
  }

  void run(void *const *given, int64_t begin, int64_t end) const override {
    void *five[5];
    arguments.fill(given, five);
    kernels.conv(plan, five, begin, end);
  }

private:
  const ConvPlan plan;
  const KernelSet &kernels;
  const FiveArguments arguments;
};

class PreparedDepthwise final : public PreparedKernel {
public:
  PreparedDepthwise(const KernelCall &call, const DepthwisePlan &plan,
                    const KernelSet &kernels)
      : plan(plan), kernels(kernels), arguments(call) {}

  int64_t tiles() const override {
    return ceilDiv(plan.planes, plan.planeBlock);
  }

  void run(void *const *given, int64_t begin, int64_t end) const override {
    void *five[5];
    arguments.fill(given, five);
    kernels.depthwise(plan, five, begin, end);
  }

private:
  const DepthwisePlan plan;
  const KernelSet &kernels;
  const FiveArguments arguments;
};

} // namespace

static Status attributeError(const char *name, const char *expected) {
  return makeError(StatusCode::InvalidArgument,
                   "expected attribute '%s' to be %s", name, expected);
}

/// A list of one number a spatial dimension, at the places from `offset` on.
static Status readDims(const Attributes &attributes, const char *name,
                       int64_t spatial, int64_t least, int64_t (&dims)[2]) {
  /// More than any image needs, little enough that positions never overflow.
  constexpr int64_t most = int64_t{1} << 31;
  std::span<const int64_t> held = attributes.getInts(name);
  if (held.empty())
    return Status::ok();
  if (static_cast<int64_t>(held.size()) != spatial)
    return attributeError(name, "as long as there are spatial dimensions");
  for (int64_t i = 0; i < spatial; ++i) {
    if (held[i] < least || held[i] > most)
      return attributeError(name, "positive and at most 2^31");
    dims[2 - spatial + i] = held[i];
  }
  return Status::ok();
}

static Status readPads(const Attributes &attributes, int64_t spatial,
                       int64_t (&begin)[2], int64_t (&end)[2]) {
  constexpr int64_t most = int64_t{1} << 31;
  std::span<const int64_t> held = attributes.getInts("pads");
  if (held.empty())
    return Status::ok();
  if (static_cast<int64_t>(held.size()) != 2 * spatial)
    return attributeError("pads", "twice as long as there are spatial "
                                  "dimensions");
  for (int64_t i = 0; i < spatial; ++i) {
    if (held[i] < 0 || held[i] > most || held[spatial + i] < 0 ||
        held[spatial + i] > most)
      return attributeError("pads", "0 to 2^31");
    begin[2 - spatial + i] = held[i];
    end[2 - spatial + i] = held[spatial + i];
  }
  return Status::ok();
}

static Status checkChannels(const KernelCall &call, const ConvShape &shape) {
  const TensorType &x = call.inputs[0], &w = call.inputs[1];
  const TensorType &y = call.outputs[0];
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
static Status checkSpatial(const KernelCall &call, const ConvShape &shape,
                           const int64_t (&padEnd)[2]) {
  for (int i = 0; i < 2; ++i) {
    const int64_t padded = shape.in[i] + shape.padBegin[i] + padEnd[i];
    int64_t reach = 0;
    if (shape.kernel[i] < 1 ||
        __builtin_mul_overflow(shape.kernel[i] - 1, shape.dilation[i], &reach))
      return makeError(StatusCode::InvalidArgument,
                       "expected a kernel of at least one tap, got %s",
                       toString(call.inputs[1]).c_str());
    const int64_t room = padded - reach - 1;
    const int64_t expected = room < 0 ? 0 : room / shape.stride[i] + 1;
    if (shape.out[i] != expected)
      return makeError(StatusCode::InvalidArgument,
                       "expected %lld output positions, got %lld in %s",
                       static_cast<long long>(expected),
                       static_cast<long long>(shape.out[i]),
                       toString(call.outputs[0]).c_str());
  }
  return Status::ok();
}

static Status readShape(const KernelCall &call, ConvShape &shape) {
  using enum AttributeKind;
  const Attributes &attributes = call.attributes;
  DLC_RETURN_IF_ERROR(checkAttributes(attributes, {{"strides", Ints},
                                                   {"pads", Ints},
                                                   {"dilations", Ints},
                                                   {"group", Int},
                                                   {"packed_w", Int}}));
  DLC_RETURN_IF_ERROR(checkOperands(call, 3, 4));
  const TensorType &x = call.inputs[0], &w = call.inputs[1];
  const TensorType &y = call.outputs[0];
  if (w.rank() != x.rank() || y.rank() != x.rank())
    return makeError(StatusCode::InvalidArgument,
                     "expected operands of equal rank, got %s, %s and %s",
                     toString(x).c_str(), toString(w).c_str(),
                     toString(y).c_str());
  const int64_t spatial = x.rank() - 2;
  shape.batch = x.shape[0];
  shape.inChannels = x.shape[1];
  shape.outChannels = w.shape[0];
  shape.group = attributes.getInt("group", 1);
  int64_t padEnd[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    const int64_t d = i - (2 - spatial) + 2; // Below 2: the row of a 1-D one.
    shape.in[i] = d < 2 ? 1 : x.shape[d];
    shape.kernel[i] = d < 2 ? 1 : w.shape[d];
    shape.out[i] = d < 2 ? 1 : y.shape[d];
    shape.stride[i] = shape.dilation[i] = 1;
    shape.padBegin[i] = 0;
  }
  DLC_RETURN_IF_ERROR(
      readDims(attributes, "strides", spatial, 1, shape.stride));
  DLC_RETURN_IF_ERROR(
      readDims(attributes, "dilations", spatial, 1, shape.dilation));
  DLC_RETURN_IF_ERROR(readPads(attributes, spatial, shape.padBegin, padEnd));
  DLC_RETURN_IF_ERROR(readFlag(attributes, "packed_w", shape.packed));
  DLC_RETURN_IF_ERROR(readEpilogue(attributes, shape.epilogue));
  DLC_RETURN_IF_ERROR(checkChannels(call, shape));
  DLC_RETURN_IF_ERROR(checkSpatial(call, shape, padEnd));
  return checkBiasAndResidual(call, shape.outChannels);
}

/// Chooses the grid. Aims: a panel of pixels in L1; enough output channels a
/// tile to pay for its packing; enough tiles to balance 16 workers, but none
/// below a microsecond or two.
static void planGrid(ConvPlan &plan, int64_t vectorWidth) {
  constexpr int64_t panelBytes = 24 * 1024, maxTerms = 384, maxVectors = 12;
  constexpr int64_t panelVectors = 3;
  constexpr int64_t wantedTiles = 16, minTileWork = 1 << 17;
  const int64_t terms =
      std::min(panelBytes / (panelVectors * vectorWidth * 4), maxTerms);
  plan.kBlock = ceilDiv(std::max<int64_t>(plan.k, 1),
                        ceilDiv(std::max<int64_t>(plan.k, 1), terms));
  plan.vectors = ceilDiv(plan.pixels, vectorWidth);
  // 7x7 is 49 pixels. One or two that are left over are cheaper as dot
  // products than as a vector, unless they are lost among many.
  constexpr int64_t mostTail = 2, manyVectors = 24;
  const int64_t tail = plan.pixels % vectorWidth;
  if (plan.packedW && vectorWidth > 4 && tail > 0 && tail <= mostTail &&
      plan.vectors > 1 && plan.vectors <= manyVectors) {
    plan.tailPixels = tail;
    plan.vectors -= 1;
  }
  const int64_t outer = plan.batch * plan.group;
  const int64_t work = plan.k * plan.pixels * plan.outChannels;
  const int64_t wanted =
      std::clamp<int64_t>(ceilDiv(wantedTiles, std::max<int64_t>(outer, 1)), 1,
                          std::max<int64_t>(work / minTileWork, 1));
  const int64_t fewestPixelBlocks = ceilDiv(plan.vectors, maxVectors);
  const int64_t mostPixelBlocks = ceilDiv(plan.vectors, panelVectors);
  auto channelBlocksOf = [&](int64_t channels) {
    return ceilDiv(plan.outChannels, channels);
  };
  plan.pixelBlocks = fewestPixelBlocks;
  int64_t channelBlocks = 1;
  auto missing = [&](int64_t have) {
    return ceilDiv(wanted, std::max<int64_t>(have, 1));
  };
  if (plan.pixelBlocks < wanted)
    channelBlocks = std::min(missing(plan.pixelBlocks), channelBlocksOf(128));
  if (plan.pixelBlocks * channelBlocks < wanted)
    plan.pixelBlocks =
        std::clamp(missing(channelBlocks), fewestPixelBlocks, mostPixelBlocks);
  if (plan.pixelBlocks * channelBlocks < wanted)
    channelBlocks = std::min(missing(plan.pixelBlocks), channelBlocksOf(64));
  channelBlocks = std::max<int64_t>(channelBlocks, 1);
  plan.channelBlock =
      ceilDiv(ceilDiv(plan.outChannels, channelBlocks), kPanelRows) *
      kPanelRows;
  plan.channelBlock = std::max(plan.channelBlock, kPanelRows);
  plan.channelBlocks = ceilDiv(plan.outChannels, plan.channelBlock);
}

static ConvPlan planConv(const ConvShape &shape, int64_t vectorWidth) {
  ConvPlan plan = {};
  plan.batch = shape.batch;
  plan.group = shape.group;
  plan.inChannels = shape.groupIn();
  plan.outChannels = shape.groupOut();
  plan.inH = shape.in[0];
  plan.inW = shape.in[1];
  plan.outH = shape.out[0];
  plan.outW = shape.out[1];
  plan.kernelH = shape.kernel[0];
  plan.kernelW = shape.kernel[1];
  plan.strideH = shape.stride[0];
  plan.strideW = shape.stride[1];
  plan.dilationH = shape.dilation[0];
  plan.dilationW = shape.dilation[1];
  plan.padTop = shape.padBegin[0];
  plan.padLeft = shape.padBegin[1];
  plan.packedW = shape.packed;
  plan.k = plan.inChannels * shape.taps();
  plan.pixels = shape.pixels();
  plan.epilogue = shape.epilogue;
  const bool pointwise = shape.taps() == 1 && plan.strideH == 1 &&
                         plan.strideW == 1 && plan.inH == plan.outH &&
                         plan.inW == plan.outW;
  if (pointwise) {
    // Rows follow each other in memory: one long row.
    plan.inW = plan.outW = plan.pixels;
    plan.inH = plan.outH = 1;
  }
  planGrid(plan, vectorWidth);
  return plan;
}

static DepthwisePlan planDepthwise(const ConvShape &shape) {
  constexpr int64_t wantedTiles = 64, minTileWork = 1 << 16;
  DepthwisePlan plan = {};
  plan.planes = shape.batch * shape.outChannels;
  plan.channels = shape.outChannels;
  plan.multiplier = std::max<int64_t>(shape.groupOut(), 1);
  plan.inH = shape.in[0];
  plan.inW = shape.in[1];
  plan.outH = shape.out[0];
  plan.outW = shape.out[1];
  plan.kernelH = shape.kernel[0];
  plan.kernelW = shape.kernel[1];
  plan.strideH = shape.stride[0];
  plan.strideW = shape.stride[1];
  plan.dilationH = shape.dilation[0];
  plan.dilationW = shape.dilation[1];
  plan.padTop = shape.padBegin[0];
  plan.padLeft = shape.padBegin[1];
  plan.epilogue = shape.epilogue;
  const int64_t work = std::max<int64_t>(shape.pixels() * shape.taps(), 1);
  plan.planeBlock = std::max(
      {plan.planes / wantedTiles, ceilDiv(minTileWork, work), int64_t{1}});
  if (shape.pixels() == 0)
    plan.planes = 0;
  return plan;
}

bool cpu::isConvSupported(const KernelCall &call, std::string &why) {
  ConvShape shape = {};
  Status status = readShape(call, shape);
  why = status.message();
  return status.isOk();
}

Status cpu::prepareConv(const KernelCall &call, Isa isa,
                        std::unique_ptr<PreparedKernel> &prepared) {
  const KernelSet *kernels = kernelSetOf(isa);
  if (!kernels)
    return makeError(StatusCode::Unsupported, "this machine cannot run %s",
                     std::string(nameOf(isa)).c_str());
  ConvShape shape = {};
  DLC_RETURN_IF_ERROR(readShape(call, shape));
  if (shape.isDepthwise())
    prepared = std::make_unique<PreparedDepthwise>(call, planDepthwise(shape),
                                                   *kernels);
  else
    prepared = std::make_unique<PreparedConv>(
        call, planConv(shape, kernels->vectorWidth), *kernels);
  return Status::ok();
}

/// Rows of the packed form, of one group.
static int64_t packedRows(const ConvShape &shape) {
  const int64_t rows = shape.groupOut();
  return shape.isDepthwise() ? rows : ceilDiv(rows, kPanelRows) * kPanelRows;
}

size_t cpu::packedConvBytes(const KernelCall &call, size_t operand) {
  ConvShape shape = {};
  if (operand != 1 || !readShape(call, shape).isOk())
    return 0;
  return static_cast<size_t>(shape.group * packedRows(shape) * shape.groupIn() *
                             shape.taps()) *
         sizeof(float);
}

void cpu::packConv(const KernelCall &call, size_t operand, const void *source,
                   void *target) {
  ConvShape shape = {};
  if (operand != 1 || !readShape(call, shape).isOk())
    return;
  const auto *from = static_cast<const float *>(source);
  auto *to = static_cast<float *>(target);
  const int64_t terms = shape.groupIn() * shape.taps();
  const int64_t rows = shape.groupOut();
  const int64_t height = shape.isDepthwise() ? 1 : kPanelRows;
  for (int64_t group = 0; group < shape.group; ++group) {
    for (int64_t panel = 0; panel < packedRows(shape); panel += height)
      for (int64_t l = 0; l < terms; ++l)
        for (int64_t row = panel; row < panel + height; ++row)
          *to++ = row < rows ? from[row * terms + l] : 0.0f;
    from += rows * terms;
  }
}

KernelCost cpu::convCost(const KernelCall &call) {
  ConvShape shape = {};
  if (!readShape(call, shape).isOk())
    return {};
  const auto outputs =
      static_cast<uint64_t>(shape.batch) * shape.outChannels * shape.pixels();
  return {2 * outputs * shape.groupIn() * shape.taps(), bytesOf(call)};
}
