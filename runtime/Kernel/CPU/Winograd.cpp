// SPDX-License-Identifier: Apache-2.0

#include "Winograd.h"

#include <algorithm>
#include <cstring>
#include <vector>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

static constexpr int64_t kPoints = 36, kTaps = 9;
static constexpr int64_t kFloat = sizeof(float);
/// A whole number of blocks for each instruction set.
static constexpr int64_t kChunkStep = 48;
/// Rounds tiles up to vectors of any instruction set.
static constexpr int64_t kMostLanes = 16;

static int64_t roundUp(int64_t value, int64_t step) {
  return ceilDiv(value, step) * step;
}

static int64_t tilesOf(const ConvShape &shape) {
  return shape.batch * ceilDiv(shape.out[0], 4) * ceilDiv(shape.out[1], 4);
}

static int64_t bytesOfTile(const ConvShape &shape) {
  return kPoints * shape.inChannels * static_cast<int64_t>(sizeof(float));
}

/// Tiles whose inputs are transformed at a time: those that stay in a cache
/// which processors share until all products have read them.
static int64_t chunkOf(const ConvShape &shape) {
  const int64_t chunkBytes = shape.blockedY ? 1 << 20 : 4 << 20;
  return std::max(chunkBytes / bytesOfTile(shape) / kChunkStep, int64_t{1}) *
         kChunkStep;
}

Status cpu::checkWinograd(const ConvShape &shape) {
  if (shape.blockedX != shape.blockedY)
    return makeError(StatusCode::InvalidArgument,
                     "expected both tensors or none in blocks for algorithm "
                     "'winograd'");
  bool hasForm = shape.group == 1;
  for (int i = 0; i < 2; ++i)
    hasForm = hasForm && shape.kernel[i] == 3 && shape.stride[i] == 1 &&
              shape.dilation[i] == 1;
  if (!hasForm || !shape.packed)
    return makeError(StatusCode::InvalidArgument,
                     "expected algorithm 'winograd' with packed weights of 3x3 "
                     "taps, strides and dilations of one and one group");
  // From there on it was measured to be faster, by a half and more.
  constexpr int64_t fewest = 8;
  if (shape.inChannels < fewest || shape.outChannels < fewest)
    return makeError(StatusCode::InvalidArgument,
                     "expected at least %lld channels for algorithm "
                     "'winograd', got %lld and %lld",
                     static_cast<long long>(fewest),
                     static_cast<long long>(shape.inChannels),
                     static_cast<long long>(shape.outChannels));
  // Parts are made when a program is loaded, whatever its file says.
  constexpr int64_t mostParts = 4096;
  const int64_t most = mostParts * chunkOf(shape);
  if (tilesOf(shape) > most)
    return makeError(StatusCode::InvalidArgument,
                     "expected at most %lld tiles for algorithm 'winograd', "
                     "got %lld",
                     static_cast<long long>(most),
                     static_cast<long long>(tilesOf(shape)));
  return Status::ok();
}

/// Tiles of a blocked convolution whose sums over so many output channels fit
/// on the stack.
static int64_t blockedTiles(int64_t outChannels) {
  return (kScratchBytes / (kPoints * kFloat) - kWinogradGap) / outChannels;
}

/// Output channels of a tile: the fewer, the more tiles can share the weights,
/// and the more there are for 16 workers.
static int64_t blockedChannels(const ConvShape &shape) {
  constexpr int64_t mostChannels = 64, fewChannels = 32, wantedTiles = 16;
  const int64_t most = std::min(mostChannels, shape.outChannels);
  const int64_t blocks =
      ceilDiv(std::min(chunkOf(shape), tilesOf(shape)), blockedTiles(most));
  return blocks * ceilDiv(shape.outChannels, most) < wantedTiles
             ? std::min(fewChannels, most)
             : most;
}

size_t cpu::winogradWorkspaceBytes(const ConvShape &shape) {
  const int64_t tiles =
      std::min(chunkOf(shape), roundUp(tilesOf(shape), kMostLanes));
  if (!shape.blockedY)
    return static_cast<size_t>(tiles * bytesOfTile(shape));
  const int64_t gaps = ceilDiv(tiles, blockedTiles(blockedChannels(shape)));
  return static_cast<size_t>(tiles * bytesOfTile(shape) +
                             gaps * kPoints * kWinogradGap * kFloat);
}

uint64_t cpu::winogradFlops(const ConvShape &shape) {
  // Each of the 36 numbers of a tile takes about 8 on its way there and back.
  constexpr uint64_t transform = 8;
  const auto in = static_cast<uint64_t>(shape.inChannels);
  const auto out =
      static_cast<uint64_t>(roundUp(shape.outChannels, kWinogradRows));
  return static_cast<uint64_t>(tilesOf(shape)) * kPoints *
         (2 * in * out + transform * (in + out));
}

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

static int64_t transformedWeights(const ConvShape &shape) {
  return roundUp(shape.outChannels, kWinogradRows) * kPoints * shape.inChannels;
}

static void planBlockedWinograd(const ConvShape &shape, WinogradPlan &plan) {
  constexpr int64_t mostTerms = 256;
  plan.kBlock = ceilDiv(plan.inChannels, ceilDiv(plan.inChannels, mostTerms));
  plan.outBlock = blockedChannels(shape);
  plan.blockTiles = blockedTiles(plan.outBlock);
}

static WinogradPlan planWinograd(const ConvShape &shape, int64_t lanes) {
  constexpr int64_t wantedTiles = 16, panelBytes = 32 * 1024;
  WinogradPlan plan = {};
  plan.inH = shape.in[0];
  plan.inW = shape.in[1];
  plan.outH = shape.out[0];
  plan.outW = shape.out[1];
  plan.padTop = shape.padBegin[0];
  plan.padLeft = shape.padBegin[1];
  plan.inChannels = shape.inChannels;
  plan.outChannels = shape.outChannels;
  plan.tilesH = ceilDiv(plan.outH, 4);
  plan.tilesW = ceilDiv(plan.outW, 4);
  plan.inBlock = 16;
  plan.directWeights = transformedWeights(shape);
  plan.epilogue = shape.epilogue;
  if (shape.blockedY) {
    planBlockedWinograd(shape, plan);
    return plan;
  }
  const int64_t width = kWinogradVectors * lanes;
  plan.kBlock = ceilDiv(
      plan.inChannels,
      ceilDiv(plan.inChannels,
              panelBytes / (width * static_cast<int64_t>(sizeof(float)))));
  plan.outBlock = kScratchBytes /
                  static_cast<int64_t>(kPoints * width * sizeof(float)) /
                  kWinogradRows * kWinogradRows;
  const int64_t blocks =
      ceilDiv(std::min(chunkOf(shape), tilesOf(shape)), width);
  if (blocks * ceilDiv(plan.outChannels, plan.outBlock) < wantedTiles)
    plan.outBlock = kWinogradRows;
  return plan;
}

namespace {
using TileFunction = void (*)(const WinogradPlan &, void *const *, int64_t,
                              int64_t);

/// One of the two kernels for a part of the tiles.
class WinogradStep final : public PreparedKernel {
public:
  WinogradStep(const KernelCall &call, const WinogradPlan &plan,
               TileFunction function, int64_t tileCount,
               std::unique_ptr<PreparedKernel> following)
      : plan(plan), function(function), tileCount(tileCount), arguments(call),
        following(std::move(following)) {}

  int64_t tiles() const override { return tileCount; }

  void run(void *const *given, int64_t begin, int64_t end) const override {
    void *all[6];
    arguments.fill(given, all);
    all[5] = given[arguments.inputs + 1];
    function(plan, all, begin, end);
  }

  const PreparedKernel *next() const override { return following.get(); }

private:
  const WinogradPlan plan;
  const TileFunction function;
  const int64_t tileCount;
  const FiveArguments arguments;
  const std::unique_ptr<PreparedKernel> following;
};
} // namespace

Status cpu::prepareWinograd(const KernelCall &call, const ConvShape &shape,
                            const KernelSet &kernels,
                            std::unique_ptr<PreparedKernel> &prepared) {
  DLC_RETURN_IF_ERROR(checkWorkspace(call, winogradWorkspaceBytes(shape)));
  const int64_t lanes = kernels.vectorWidth;
  WinogradPlan plan = planWinograd(shape, lanes);
  const int64_t tiles = tilesOf(shape), chunk = chunkOf(shape);
  std::unique_ptr<PreparedKernel> first;
  // From the last to the first: each owns the next.
  for (int64_t part = ceilDiv(tiles, chunk); part-- > 0;) {
    plan.firstTile = part * chunk;
    plan.tiles = std::min(chunk, tiles - plan.firstTile);
    if (shape.blockedY) {
      plan.blocks = ceilDiv(plan.tiles, plan.blockTiles);
    } else {
      plan.vectors = ceilDiv(plan.tiles, lanes);
      plan.blocks = ceilDiv(plan.vectors, kWinogradVectors);
    }
    first = std::make_unique<WinogradStep>(
        call, plan,
        shape.blockedY ? kernels.blockedWinogradProduct
                       : kernels.winogradProduct,
        plan.blocks * ceilDiv(plan.outChannels, plan.outBlock),
        std::move(first));
    first = std::make_unique<WinogradStep>(
        call, plan,
        shape.blockedY ? kernels.blockedWinogradInput : kernels.winogradInput,
        plan.blocks * ceilDiv(plan.inChannels, plan.inBlock), std::move(first));
  }
  if (!first) // Nothing to compute.
    first = std::make_unique<WinogradStep>(call, plan, kernels.winogradInput, 0,
                                           nullptr);
  prepared = std::move(first);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

size_t cpu::packedWinogradBytes(const ConvShape &shape) {
  return static_cast<size_t>(transformedWeights(shape) +
                             shape.outChannels * shape.inChannels * kTaps) *
         sizeof(float);
}

/// G g G^T, row after row.
static void transformWeights(const float *weights, float (&points)[kPoints]) {
  constexpr double p = kWinogradP, q = kWinogradQ;
  constexpr double pp = p * p, qq = q * q;
  constexpr double ofP = 2 * pp * (pp - qq), ofQ = 2 * qq * (qq - pp);
  static constexpr double matrix[6][3] = {
      {1 / (pp * qq), 0, 0},         {1 / ofP, p / ofP, pp / ofP},
      {1 / ofP, -p / ofP, pp / ofP}, {1 / ofQ, q / ofQ, qq / ofQ},
      {1 / ofQ, -q / ofQ, qq / ofQ}, {0, 0, 1},
  };
  double half[6][3] = {};
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 3; ++j)
      for (int l = 0; l < 3; ++l)
        half[i][j] += matrix[i][l] * weights[l * 3 + j];
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) {
      double sum = 0;
      for (int l = 0; l < 3; ++l)
        sum += half[i][l] * matrix[j][l];
      points[i * 6 + j] = static_cast<float>(sum);
    }
}

void cpu::packWinograd(const ConvShape &shape, const float *source,
                       float *target) {
  const int64_t channels = shape.inChannels;
  const int64_t count = transformedWeights(shape);
  constexpr int64_t kWide = kPanelGroup * kChannelBlock;
  std::fill_n(target, count, 0.0f);
  for (int64_t out = 0; out < shape.outChannels; ++out) {
    const int64_t group = out / kWinogradRows, row = out % kWinogradRows;
    const int64_t wide = out / kWide * kWide; // Where its group of panels is.
    for (int64_t c = 0; c < channels; ++c) {
      float points[kPoints];
      transformWeights(source + (out * channels + c) * kTaps, points);
      for (int64_t point = 0; point < kPoints; ++point) {
        // Blocked [36][OC/64][C][64], else [OC/16][36][4][C][4].
        const int64_t at =
            shape.blockedY
                ? point * shape.outChannels * channels + wide * channels +
                      c * std::min(kWide, shape.outChannels - wide) + out - wide
                : (group * kPoints + point) * kWinogradRows * channels +
                      row / kPanelRows * kPanelRows * channels +
                      c * kPanelRows + row % kPanelRows;
        target[at] = points[point];
      }
    }
  }
  std::memcpy(target + count, source,
              static_cast<size_t>(shape.outChannels * channels * kTaps) *
                  sizeof(float));
}
