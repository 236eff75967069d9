// SPDX-License-Identifier: Apache-2.0

#include "BlockedGradient.h"

#include "Winograd.h"

#include <algorithm>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

static constexpr int64_t kPoints = 36;
static constexpr int64_t kFloat = sizeof(float);

//===----------------------------------------------------------------------===//
// By the definition
//===----------------------------------------------------------------------===//

/// Bytes of the sums of one block of channels and one of output channels.
static int64_t bytesOfSums(const ConvShape &shape) {
  return shape.taps() * kChannelBlock * kChannelBlock * kFloat;
}

/// Chooses the grid: the more blocks a tile has, the rarer x and the gradient
/// are read; enough tiles to balance 16 workers.
static BlockedWeightPlan planBlockedGradient(const ConvShape &shape) {
  constexpr int64_t wantedTiles = 16, sumBytes = 48 * 1024;
  constexpr int64_t lineBytes = 24 * 1024;
  auto plan = planOf<BlockedWeightPlan>(shape);
  plan.batch = shape.batch;
  plan.group = shape.group;
  plan.inBlocks = plan.inTiles = shape.groupIn() / kChannelBlock;
  plan.outBlocks = plan.outTiles = shape.groupOut() / kChannelBlock;
  auto bytesWith = [&](int64_t inTiles, int64_t outTiles) {
    return ceilDiv(plan.inBlocks, inTiles) * ceilDiv(plan.outBlocks, outTiles) *
           bytesOfSums(shape);
  };
  while (plan.group * plan.inTiles * plan.outTiles >= 2 * wantedTiles) {
    int64_t &more = plan.inTiles > plan.outTiles ? plan.inTiles : plan.outTiles;
    if (more == 1) // There are as many groups.
      break;
    const int64_t before = more;
    more = ceilDiv(more, 2);
    if (bytesWith(plan.inTiles, plan.outTiles) <= sumBytes)
      continue;
    more = before;
    break;
  }
  // Lines of both that stay in L1 while all taps pass.
  const int64_t bytesOfLine =
      (shape.out[1] + shape.in[1] * std::min(shape.stride[0], shape.in[0])) *
      kChannelBlock * kFloat;
  plan.lineBlock =
      std::max(lineBytes / std::max<int64_t>(bytesOfLine, 1), int64_t{1});
  return plan;
}

/// Bytes that strips of a plain x take, with offsets and sums of all taps.
static int64_t bytesOfStrips(const ConvShape &shape) {
  const int64_t width = saturatedProduct({shape.out[1], shape.stride[1]});
  const int64_t taps = saturatedProduct({shape.kernel[1], shape.dilation[1]});
  constexpr int64_t most = kScratchBytes;
  if (width > most || taps > most || shape.inChannels > most ||
      shape.kernel[0] > most)
    return INT64_MAX;
  const int64_t rows = shape.inChannels * shape.kernel[0];
  return saturatedProduct(
      {rows, (width + taps) * kFloat +
                 shape.kernel[1] * (kChannelBlock * kFloat +
                                    static_cast<int64_t>(sizeof(int64_t)))});
}

/// Chooses the grid of a plain x: each tile makes strips of its rows.
static BlockedWeightPlan planStripGradient(const ConvShape &shape) {
  constexpr int64_t wantedTiles = 16;
  auto plan = planOf<BlockedWeightPlan>(shape);
  plan.batch = shape.batch;
  plan.group = 1;
  plan.inBlocks = shape.inChannels * shape.kernel[0];
  plan.outBlocks = plan.outTiles = shape.outChannels / kChannelBlock;
  plan.inTiles = std::min(ceilDiv(wantedTiles, plan.outTiles), plan.inBlocks);
  return plan;
}

namespace {
/// Takes its operands as they are.
class PreparedBlockedGradient final : public PreparedKernel {
public:
  using Function = void (*)(const BlockedWeightPlan &, void *const *, int64_t,
                            int64_t);

  PreparedBlockedGradient(const BlockedWeightPlan &plan, Function function)
      : plan(plan), function(function) {}

  int64_t tiles() const override {
    return plan.group * plan.inTiles * plan.outTiles;
  }

  void run(void *const *arguments, int64_t begin, int64_t end) const override {
    function(plan, arguments, begin, end);
  }

private:
  const BlockedWeightPlan plan;
  const Function function;
};
} // namespace

//===----------------------------------------------------------------------===//
// F(4x4, 3x3)
//===----------------------------------------------------------------------===//

static int64_t tilesOf(const ConvShape &shape) {
  return shape.batch * ceilDiv(shape.out[0], 4) * ceilDiv(shape.out[1], 4);
}

/// What the 36 numbers of one tile take, of x and of the gradient.
static int64_t bytesOfTile(const ConvShape &shape) {
  return kPoints * (shape.inChannels + shape.outChannels) * kFloat;
}

static int64_t bytesOfAllSums(const ConvShape &shape) {
  return kPoints * shape.inChannels * shape.outChannels * kFloat;
}

/// Tiles that are transformed at a time: the more, the rarer all sums pass;
/// those of as many bytes as sums have, of some megabytes at most.
static int64_t chunkOf(const ConvShape &shape) {
  constexpr int64_t least = 4 << 20, most = 16 << 20, fewestTiles = 32;
  const int64_t bytes = std::clamp(bytesOfAllSums(shape), least, most);
  return std::max(bytes / bytesOfTile(shape), fewestTiles);
}

static int64_t transformedBytes(const ConvShape &shape) {
  return std::min(chunkOf(shape), tilesOf(shape)) * bytesOfTile(shape) +
         kPoints * kWinogradGap * kFloat;
}

/// Sums are kept between chunks.
static bool keepsSums(const ConvShape &shape) {
  return tilesOf(shape) > chunkOf(shape);
}

namespace {
class WinogradGradientStep final : public PreparedKernel {
public:
  using Function = void (*)(const WinogradPlan &, void *const *, int64_t,
                            int64_t);

  WinogradGradientStep(const ConvShape &shape, const WinogradPlan &plan,
                       Function function, int64_t tileCount,
                       std::unique_ptr<PreparedKernel> following)
      : plan(plan), function(function), tileCount(tileCount),
        sums(keepsSums(shape) ? transformedBytes(shape) : 0),
        following(std::move(following)) {}

  int64_t tiles() const override { return tileCount; }

  void run(void *const *given, int64_t begin, int64_t end) const override {
    void *all[] = {given[0], given[1], given[2], given[3], nullptr};
    if (sums)
      all[4] = static_cast<char *>(given[3]) + sums;
    function(plan, all, begin, end);
  }

  const PreparedKernel *next() const override { return following.get(); }

private:
  const WinogradPlan plan;
  const Function function;
  const int64_t tileCount;
  const int64_t sums; ///< Where in the workspace they are; 0 for nowhere.
  const std::unique_ptr<PreparedKernel> following;
};
} // namespace

static std::unique_ptr<PreparedKernel>
makeWinogradSteps(const ConvShape &shape, const KernelSet &kernels) {
  constexpr int64_t tilesOfBlock = 32;
  WinogradPlan plan = {};
  static_cast<WinogradTensors &>(plan) = winogradTensorsOf(shape, 4);
  const int64_t inBlocks = plan.inChannels / kChannelBlock;
  const int64_t outBlocks = plan.outChannels / kChannelBlock;
  const int64_t chunks = ceilDiv(tilesOf(shape), chunkOf(shape));
  std::unique_ptr<PreparedKernel> first;
  auto add = [&](WinogradGradientStep::Function function, int64_t tiles) {
    first = std::make_unique<WinogradGradientStep>(shape, plan, function, tiles,
                                                   std::move(first));
  };
  for (int64_t chunk = chunks; chunk-- > 0;) {
    plan.firstTile = tilesOf(shape) * chunk / chunks;
    plan.tiles = tilesOf(shape) * (chunk + 1) / chunks - plan.firstTile;
    plan.blocks = ceilDiv(plan.tiles, tilesOfBlock);
    if (!first)
      add(kernels.winogradWeightResult, inBlocks * outBlocks);
    if (keepsSums(shape))
      add(kernels.winogradWeightProduct, kPoints);
    add(kernels.winogradWeightInput, plan.blocks * (inBlocks + outBlocks));
  }
  return first;
}

KernelCost cpu::winogradGradientCost(const ConvShape &shape) {
  // As winogradFlops() has it; sums of 36 take 80 on their way to weights.
  constexpr uint64_t transform = 8, toWeights = 80;
  const auto in = static_cast<uint64_t>(shape.inChannels);
  const auto out = static_cast<uint64_t>(shape.outChannels);
  const auto tiles = static_cast<uint64_t>(tilesOf(shape));
  const auto chunks =
      static_cast<uint64_t>(ceilDiv(tilesOf(shape), chunkOf(shape)));
  const auto sums = static_cast<uint64_t>(bytesOfAllSums(shape));
  KernelCost cost;
  cost.flops = tiles * kPoints * (2 * in * out + transform * (in + out)) +
               toWeights * in * out;
  cost.bytes = 2 * tiles * static_cast<uint64_t>(bytesOfTile(shape)) +
               (keepsSums(shape) ? 2 * chunks * sums : 0);
  // Columns of sixteen are not as fast as long ones, by measurement.
  cost.overhead = cost.flops / 4;
  return cost;
}

//===----------------------------------------------------------------------===//
// Both
//===----------------------------------------------------------------------===//

static Status refuse(const char *expected) {
  return makeError(StatusCode::InvalidArgument, "expected %s", expected);
}

static Status checkWinogradGradient(const ConvShape &shape) {
  bool hasForm = shape.group == 1;
  for (int i = 0; i < 2; ++i)
    hasForm = hasForm && shape.kernel[i] == 3 && shape.stride[i] == 1 &&
              shape.dilation[i] == 1;
  if (!hasForm || !shape.blockedX || !shape.blockedY)
    return refuse("algorithm 'winograd' with tensors in blocks, 3x3 taps, "
                  "strides and dilations of one and one group");
  // Steps are made when a program is loaded, whatever its file says.
  constexpr int64_t mostChunks = 4096;
  if (shape.pixels() == 0 || shape.batch == 0)
    return refuse("pixels for algorithm 'winograd'");
  if (tilesOf(shape) > mostChunks * chunkOf(shape))
    return refuse("at most 4096 parts of tiles for algorithm 'winograd'");
  return Status::ok();
}

Status cpu::checkBlockedGradient(const ConvShape &shape) {
  if (shape.blockedX && !shape.blockedY)
    return refuse("a gradient in blocks beside an input in blocks");
  if (shape.winograd)
    DLC_RETURN_IF_ERROR(checkWinogradGradient(shape));
  if (!shape.isBlocked())
    return Status::ok();
  if (shape.inChannels == 0 || shape.outChannels == 0 ||
      (shape.blockedX && shape.groupIn() % kChannelBlock != 0) ||
      shape.groupOut() % kChannelBlock != 0)
    return refuse("blocks of 16 channels of one group");
  if (!shape.blockedX && shape.group != 1)
    return refuse("one group where one tensor is not blocked");
  if (!shape.blockedX && bytesOfStrips(shape) > kScratchBytes)
    return refuse("rows of a plain input, for each channel and row of taps, "
                  "that fit in 112 KiB with sums");
  if (shape.blockedX &&
      shape.taps() > kScratchBytes / (kChannelBlock * kChannelBlock * kFloat))
    return refuse("at most 112 taps for blocked tensors");
  return Status::ok();
}

size_t cpu::blockedGradientWorkspace(const ConvShape &shape) {
  if (!shape.winograd)
    return 0;
  return static_cast<size_t>(transformedBytes(shape) +
                             (keepsSums(shape) ? bytesOfAllSums(shape) : 0));
}

Status cpu::prepareBlockedGradient(const KernelCall &call,
                                   const ConvShape &shape,
                                   const KernelSet &kernels,
                                   std::unique_ptr<PreparedKernel> &prepared) {
  DLC_RETURN_IF_ERROR(checkWorkspace(call, blockedGradientWorkspace(shape)));
  if (shape.winograd)
    prepared = makeWinogradSteps(shape, kernels);
  else if (shape.blockedX)
    prepared = std::make_unique<PreparedBlockedGradient>(
        planBlockedGradient(shape), kernels.blockedWeightGradient);
  else
    prepared = std::make_unique<PreparedBlockedGradient>(
        planStripGradient(shape), kernels.stripWeightGradient);
  return Status::ok();
}
