// SPDX-License-Identifier: Apache-2.0

#include "Conv.h"

#include "BlockedConv.h"
#include "ConvShape.h"
#include "DefinedConv.h"
#include "Isa.h"
#include "PreparedPlan.h"
#include "Winograd.h"

#include "../Reference/Window.h"

#include <algorithm>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

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
      plan.vectors <= manyVectors) {
    plan.tailPixels = tail;
    plan.vectors -= 1;
  }
  const int64_t outer = plan.batch * plan.group;
  const int64_t work =
      saturatedProduct({plan.k, plan.pixels, plan.outChannels});
  const int64_t wanted =
      std::clamp<int64_t>(ceilDiv(wantedTiles, std::max<int64_t>(outer, 1)), 1,
                          std::max<int64_t>(work / minTileWork, 1));
  // A block of nothing but such pixels has no vectors.
  const int64_t leastBlocks = plan.pixels > 0 ? 1 : 0;
  const int64_t fewestPixelBlocks =
      std::max(ceilDiv(plan.vectors, maxVectors), leastBlocks);
  const int64_t mostPixelBlocks =
      std::max(ceilDiv(plan.vectors, panelVectors), leastBlocks);
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

/// Whether windows are among those that runPlane() has strips for.
static bool hasStrips(const ConvShape &shape) {
  const int64_t kernel = shape.kernel[0], stride = shape.stride[0];
  const bool isSquare = kernel == shape.kernel[1] &&
                        stride == shape.stride[1] && shape.dilation[0] == 1 &&
                        shape.dilation[1] == 1;
  return isSquare && stride <= 2 && (kernel == 3 || kernel == 5 || kernel == 7);
}

/// Many results of a single channel are rows of a product, and their weights
/// lie as those that are not packed do.
static bool isPlainDepthwise(const ConvShape &shape) {
  constexpr int64_t manyResults = 16;
  return shape.isDepthwise() && !shape.blockedX &&
         (shape.group > 1 || shape.outChannels < manyResults ||
          hasStrips(shape));
}

/// Where packing pixels takes longer than reading them once for every few
/// output channels, by measurement: of windows of many taps each is packed as
/// often.
static bool hasFewChannels(const ConvShape &shape) {
  constexpr int64_t fewChannels = 4, someChannels = 16, manyTaps = 25;
  if (shape.isBlocked() || shape.stride[1] > 2 || shape.taps() == 1 ||
      shape.kernel[1] > kMostFewTaps)
    return false;
  if (shape.isDepthwise())
    return isPlainDepthwise(shape) && !hasStrips(shape);
  return shape.groupOut() <=
         (shape.taps() > manyTaps ? someChannels : fewChannels);
}

static FewChannelPlan planFewChannels(const ConvShape &shape) {
  auto plan = planOf<FewChannelPlan>(shape);
  plan.batch = shape.batch;
  plan.group = shape.group;
  plan.inChannels = shape.groupIn();
  plan.outChannels = shape.groupOut();
  plan.k = plan.inChannels * shape.taps();
  const bool hasPanels = shape.packed && !shape.isDepthwise();
  plan.tapStep = hasPanels ? kPanelRows : 1;
  plan.channelStep = hasPanels ? 1 : plan.k;
  plan.groupStep =
      (hasPanels ? roundUp(plan.outChannels, kPanelRows) : plan.outChannels) *
      plan.k;
  plan.epilogue = shape.epilogue;
  // Tiles of some microseconds, of long rows pieces.
  constexpr int64_t minTileWork = 1 << 17;
  plan.columnBlock = 64;
  const int64_t work = saturatedProduct(
      {plan.k, plan.outChannels, std::min(plan.outW, int64_t{1024})});
  plan.rowBlock = std::clamp<int64_t>(minTileWork / std::max<int64_t>(work, 1),
                                      1, std::max<int64_t>(plan.outH, 1));
  if (plan.outChannels > 0)
    plan.rowBlocks = ceilDiv(plan.outH, plan.rowBlock);
  return plan;
}

static ConvPlan planConv(const ConvShape &shape, int64_t vectorWidth) {
  ConvPlan plan = makeConvPlan(shape);
  plan.packedW = plan.packedW && !shape.isDepthwise();
  planGrid(plan, vectorWidth);
  return plan;
}

static DepthwisePlan planDepthwise(const ConvShape &shape) {
  auto plan = planOf<DepthwisePlan>(shape);
  plan.planes = shape.batch * shape.outChannels;
  plan.channels = shape.outChannels;
  plan.multiplier = std::max<int64_t>(shape.groupOut(), 1);
  plan.epilogue = shape.epilogue;
  plan.planeBlock = planeBlockOf(shape, plan.planes);
  if (shape.pixels() == 0)
    plan.planes = 0;
  return plan;
}

bool cpu::isConvSupported(const KernelCall &call, std::string &why) {
  ConvShape shape = {};
  Status status = readConv(call, shape);
  why = status.message();
  return status.isOk();
}

/// Of plain tensors.
static void preparePlain(const KernelCall &call, const ConvShape &shape,
                         const KernelSet &kernels,
                         std::unique_ptr<PreparedKernel> &prepared) {
  if (hasFewChannels(shape)) {
    const FewChannelPlan plan = planFewChannels(shape);
    const int64_t vectors = ceilDiv(plan.outW, kernels.vectorWidth);
    prepared = std::make_unique<PreparedFive<FewChannelPlan>>(
        call, plan,
        plan.batch * plan.group * plan.rowBlocks *
            ceilDiv(vectors, plan.columnBlock),
        kernels.fewChannels);
  } else if (isPlainDepthwise(shape)) {
    const DepthwisePlan plan = planDepthwise(shape);
    prepared = std::make_unique<PreparedFive<DepthwisePlan>>(
        call, plan, ceilDiv(plan.planes, plan.planeBlock), kernels.depthwise);
  } else {
    const ConvPlan plan = planConv(shape, kernels.vectorWidth);
    prepared = std::make_unique<PreparedFive<ConvPlan>>(
        call, plan,
        plan.batch * plan.group * plan.pixelBlocks * plan.channelBlocks,
        kernels.conv);
  }
}

Status cpu::prepareConv(const KernelCall &call, Isa isa,
                        std::unique_ptr<PreparedKernel> &prepared) {
  const KernelSet *kernels = nullptr;
  DLC_RETURN_IF_ERROR(findKernels(isa, kernels));
  const SplitKernels *split = nullptr;
  DLC_RETURN_IF_ERROR(findKernels(isa, split));
  const PairKernels *pairs = nullptr, *tiles = nullptr;
  DLC_RETURN_IF_ERROR(findKernels(isa, pairs));
  DLC_RETURN_IF_ERROR(findPairTiles(isa, tiles));
  ConvShape shape = {};
  DLC_RETURN_IF_ERROR(readConv(call, shape));
  if (tiles)
    pairs = tiles;
  if (shape.winograd)
    return prepareWinograd(call, shape, *kernels, *pairs, prepared);
  size_t workspace = 0;
  if (shape.isBlocked()) {
    workspace = blockedWorkspaceBytes(shape);
    DLC_RETURN_IF_ERROR(
        prepareBlocked(call, shape, *kernels, split, *pairs, prepared));
  } else {
    const size_t ofGuard =
        call.outputs.size() > 1 ? guardBytes(shape, workspace) : 0;
    DLC_RETURN_IF_ERROR(checkWorkspace(call, ofGuard));
    preparePlain(call, shape, *kernels, prepared);
  }
  guardWeights(call, shape, *kernels, workspace, prepared);
  return Status::ok();
}

/// Rows of the packed form, of one group.
static int64_t packedRows(const ConvShape &shape) {
  const int64_t rows = shape.groupOut();
  return shape.isDepthwise() ? rows : ceilDiv(rows, kPanelRows) * kPanelRows;
}

size_t cpu::packedConvBytes(const KernelCall &call, size_t operand) {
  ConvShape shape = {};
  if (operand != 1 || !readConv(call, shape).isOk())
    return 0;
  if (shape.winograd)
    return packedWinogradBytes(shape);
  if (shape.isBlocked())
    return packedBlockedBytes(shape);
  return static_cast<size_t>(shape.group * packedRows(shape) * shape.groupIn() *
                             shape.taps()) *
         sizeof(float);
}

void cpu::packConv(const KernelCall &call, size_t operand, const void *source,
                   void *target) {
  ConvShape shape = {};
  if (operand != 1 || !readConv(call, shape).isOk())
    return;
  const auto *from = static_cast<const float *>(source);
  auto *to = static_cast<float *>(target);
  if (shape.winograd)
    return packWinograd(shape, from, to);
  if (shape.isBlocked())
    return packBlocked(shape, from, to);
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

size_t cpu::convWorkspaceBytes(const KernelCall &call) {
  ConvShape shape = {};
  if (!readConv(call, shape).isOk())
    return 0;
  if (shape.winograd)
    return winogradWorkspaceBytes(shape);
  const size_t bytes = shape.isBlocked() ? blockedWorkspaceBytes(shape) : 0;
  return bytes + guardBytes(shape, bytes);
}

bool cpu::packsFiniteWeights(const KernelCall &call, size_t operand) {
  ConvShape shape = {};
  return operand == 1 && readConv(call, shape).isOk() &&
         needsFiniteWeights(shape);
}

/// What computing takes beside its flops, by measurement (AVX-512, networks of
/// the benchmarks, and 1x1 of 16 to 256 channels): plain depthwise convolutions
/// leave lanes of vectors along rows idle and shift them about; each element
/// under a tap is packed in panels of plain pixels for the time of ten terms
/// and its part of what a row takes, in steps of more than one for twice that,
/// those of few channels at half of all; those of which few output channels
/// are summed are loaded once for each tap, at half;
/// of plain rows for blocks each is read by each four blocks of output channels
/// for the time of sixteen terms, of 1x1 of seven, and blocks for plain rows
/// are turned round for that of fourteen terms of an output. Outputs are
/// written for the time of three, and sums of a single block wait for loads, at
/// a fifth. Depthwise convolutions of blocks wait for memory.
static uint64_t convOverhead(const ConvShape &shape, uint64_t flops,
                             uint64_t outputs) {
  constexpr uint64_t packing = 2 * 10, packingRow = 2 * 128, packingFew = 2,
                     turning = 2 * 14, storing = 2 * 3, wideLoads = 2,
                     singleBlock = 5;
  const uint64_t gathering = shape.taps() == 1 ? 2 * 7 : 2 * 16;
  if (shape.isDepthwise() && shape.blockedX)
    return 0;
  if (hasFewChannels(shape))
    return flops / wideLoads;
  if (isPlainDepthwise(shape)) {
    constexpr int64_t lanes = 16;
    const int64_t width = std::max<int64_t>(shape.out[1], 1);
    return flops / width * ceilDiv(width, lanes) * lanes;
  }
  // Elements of x under taps, each for all output channels of its group.
  const uint64_t elements = flops / 2 / std::max<int64_t>(shape.groupOut(), 1);
  if (!shape.isBlocked()) {
    const bool isStrided = shape.stride[0] > 1 || shape.stride[1] > 1;
    const bool areRowsJoined = shape.taps() == 1 && !isStrided;
    const int64_t width = areRowsJoined ? shape.pixels() : shape.out[1];
    const uint64_t each = (packing + packingRow / std::max<int64_t>(width, 1)) *
                          (isStrided ? 2 : 1);
    return storing * outputs + (shape.groupIn() < kChannelBlock
                                    ? flops / packingFew
                                    : each * elements);
  }
  // Whole blocks are computed, whatever is there of them.
  const int64_t blocks = blocksOf(shape.groupOut());
  const uint64_t unused = flops / std::max<int64_t>(shape.groupOut(), 1) *
                          (blocks * kChannelBlock - shape.groupOut());
  uint64_t overhead = unused + storing * outputs;
  if (!shape.blockedX)
    overhead += gathering * elements * ceilDiv(blocks, kPanelGroup);
  if (!shape.blockedY)
    overhead += turning * outputs;
  if (blocks == 1)
    overhead += flops / singleBlock;
  return overhead;
}

static uint64_t outputsOf(const ConvShape &shape) {
  return static_cast<uint64_t>(shape.batch) * shape.outChannels *
         shape.pixels();
}

KernelCost cpu::directConvCost(const ConvShape &shape, uint64_t bytes) {
  const uint64_t outputs = outputsOf(shape);
  KernelCost cost{2 * outputs * shape.groupIn() * shape.taps(), bytes};
  cost.overhead = convOverhead(shape, cost.flops, outputs);
  return cost;
}

bool cpu::convRoundsByTime(const KernelCall &call) {
  ConvShape shape = {};
  if (!readConv(call, shape).isOk())
    return false;
  const bool hasOneVector = shape.groupOut() <= kChannelBlock &&
                            shape.groupIn() % (2 * kChannelBlock) != 0;
  return !shape.blockedX || (hasOneVector && !shape.isDepthwise());
}

bool cpu::convPaysInParts(const KernelCall &call) {
  ConvShape shape = {};
  return readConv(call, shape).isOk() && paysToSplit(shape);
}

KernelCost cpu::convCost(const KernelCall &call) {
  ConvShape shape = {};
  if (!readConv(call, shape).isOk())
    return {};
  KernelCost cost;
  if (shape.winograd) {
    cost = winogradCost(shape);
    cost.bytes +=
        bytesOf({call.inputs.subspan(2), {}, call.attributes}) +
        bytesOf({call.inputs.first(1), call.outputs.first(1), call.attributes});
    // Plain tiles are turned round on their way there and back.
    constexpr uint64_t turning = 6;
    if (!shape.blockedY)
      cost.overhead += cost.flops / turning;
  } else {
    cost = directConvCost(shape, bytesOf(call));
    if (shape.bf16Parts == 1)
      setRounded(call, cost);
  }
  if (shape.isBlocked() && !shape.packed) // They are packed in every run.
    cost.bytes += 2 * packedBlockedBytes(shape);
  return cost;
}

bool cpu::convFromOperation(std::string_view, const KernelCall &call,
                            ConstantOperands, Attributes &attributes) {
  if (call.inputs.size() < 2 || call.inputs[1].rank() < 3)
    return false;
  const int64_t rank = call.inputs[1].rank() - 2;
  const bool isBlocked = call.inputs[0].rank() == rank + 3;
  if (!isBlocked && call.inputs[0].rank() != rank + 2)
    return false;
  ref::Window window;
  if (!ref::readWindow(call.attributes, rank, window).isOk())
    return false;
  std::copy_n(call.inputs[1].shape.begin() + 2, rank, window.kernel.begin());
  if (!setWindow(call.inputs[0], window, /*ceilMode=*/false, attributes))
    return false;
  attributes.set("group", call.attributes.getInt("group", 1));
  if (const int64_t block = call.attributes.getInt("channel_block", 0))
    attributes.set("channel_block", block);
  return true;
}
