// SPDX-License-Identifier: Apache-2.0

#include "Winograd.h"

#include <algorithm>
#include <cstring>
#include <vector>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

static constexpr int64_t kTaps = 9;
static constexpr int64_t kFloat = sizeof(float);
/// A whole number of blocks for each instruction set.
static constexpr int64_t kChunkStep = 48;
/// Rounds tiles up to vectors of any instruction set.
static constexpr int64_t kMostLanes = 16;

static int64_t roundUp(int64_t value, int64_t step) {
  return ceilDiv(value, step) * step;
}

static int64_t tilesOf(const ConvShape &shape) {
  return shape.batch * ceilDiv(shape.out[0], shape.winograd) *
         ceilDiv(shape.out[1], shape.winograd);
}

static int64_t pointsOf(const ConvShape &shape) {
  return (shape.winograd + 2) * (shape.winograd + 2);
}

static int64_t bytesOfTile(const ConvShape &shape) {
  return pointsOf(shape) * shape.inChannels * kFloat;
}

/// Tiles whose inputs are transformed at a time: those that stay in a cache
/// which processors share until all products have read them.
static int64_t chunkOf(const ConvShape &shape) {
  const int64_t chunkBytes = shape.blockedY ? 1 << 20 : 4 << 20;
  return std::max(chunkBytes / bytesOfTile(shape) / kChunkStep, int64_t{1}) *
         kChunkStep;
}

Status cpu::checkWinograd(const ConvShape &shape) {
  const char *name = shape.winograd == 2 ? "winograd_2x2" : "winograd";
  if (shape.winograd == 2 && (!shape.packed || !shape.blockedY))
    return makeError(StatusCode::InvalidArgument,
                     "expected packed weights and tensors in blocks for "
                     "algorithm 'winograd_2x2'");
  if (shape.blockedX != shape.blockedY)
    return makeError(StatusCode::InvalidArgument,
                     "expected both tensors or none in blocks for algorithm "
                     "'%s'",
                     name);
  bool hasForm = shape.group == 1;
  for (int i = 0; i < 2; ++i)
    hasForm = hasForm && shape.kernel[i] == 3 && shape.stride[i] == 1 &&
              shape.dilation[i] == 1;
  if (!hasForm || (!shape.packed && !shape.blockedY))
    return makeError(StatusCode::InvalidArgument,
                     "expected algorithm '%s' with packed weights, or "
                     "tensors in blocks, of 3x3 taps, strides and dilations of "
                     "one and one group",
                     name);
  // From there on it was measured to be faster, by a half and more.
  constexpr int64_t fewest = 8;
  if (shape.inChannels < fewest || shape.outChannels < fewest)
    return makeError(StatusCode::InvalidArgument,
                     "expected at least %lld channels for algorithm '%s', got "
                     "%lld and %lld",
                     static_cast<long long>(fewest), name,
                     static_cast<long long>(shape.inChannels),
                     static_cast<long long>(shape.outChannels));
  // Parts are made when a program is loaded, whatever its file says.
  constexpr int64_t mostParts = 4096;
  const int64_t most = mostParts * chunkOf(shape);
  if (tilesOf(shape) > most)
    return makeError(StatusCode::InvalidArgument,
                     "expected at most %lld tiles for algorithm '%s', got %lld",
                     static_cast<long long>(most), name,
                     static_cast<long long>(tilesOf(shape)));
  return Status::ok();
}

/// Tiles of a blocked convolution whose sums over so many output channels fit
/// on the stack.
static int64_t blockedTiles(const ConvShape &shape, int64_t outChannels) {
  return (kScratchBytes / (pointsOf(shape) * kFloat) - kWinogradGap) /
         outChannels;
}

/// Output channels whose weights are transformed at a time, in a run: those of
/// a few megabytes, so that a workspace stays small, and in a cache that
/// processors share.
static int64_t channelsOfPart(const ConvShape &shape) {
  constexpr int64_t partBytes = 10 << 20, step = kPanelGroup * kChannelBlock;
  if (shape.packed)
    return shape.outChannels;
  const int64_t most =
      std::max(partBytes / bytesOfTile(shape) / step, int64_t{1}) * step;
  return std::min(most, shape.outChannels);
}

/// Output channels of a tile: the fewer, the more tiles can share the weights,
/// and the more there are for 16 workers.
static int64_t blockedChannels(const ConvShape &shape) {
  constexpr int64_t mostChannels = 64, fewChannels = 32, wantedTiles = 16;
  const int64_t part = channelsOfPart(shape);
  const int64_t most = std::min(mostChannels, part);
  const int64_t blocks = ceilDiv(std::min(chunkOf(shape), tilesOf(shape)),
                                 blockedTiles(shape, most));
  return blocks * ceilDiv(part, most) < wantedTiles
             ? std::min(fewChannels, most)
             : most;
}

/// Of transformed inputs, which the workspace begins with.
static size_t inputBytes(const ConvShape &shape) {
  const int64_t tiles =
      std::min(chunkOf(shape), roundUp(tilesOf(shape), kMostLanes));
  if (!shape.blockedY)
    return static_cast<size_t>(tiles * bytesOfTile(shape));
  const int64_t gaps =
      ceilDiv(tiles, blockedTiles(shape, blockedChannels(shape)));
  return static_cast<size_t>(tiles * bytesOfTile(shape) +
                             gaps * pointsOf(shape) * kWinogradGap * kFloat);
}

static int64_t transformedWeights(const ConvShape &shape) {
  return roundUp(shape.outChannels, kWinogradRows) * pointsOf(shape) *
         shape.inChannels;
}

size_t cpu::winogradWorkspaceBytes(const ConvShape &shape) {
  const int64_t weights = channelsOfPart(shape) * bytesOfTile(shape);
  return inputBytes(shape) + static_cast<size_t>(shape.packed ? 0 : weights);
}

uint64_t cpu::winogradFlops(const ConvShape &shape) {
  // Each of the numbers of a tile takes about 8 on its way there and back.
  constexpr uint64_t transform = 8;
  const auto in = static_cast<uint64_t>(shape.inChannels);
  const auto out =
      static_cast<uint64_t>(roundUp(shape.outChannels, kWinogradRows));
  return static_cast<uint64_t>(tilesOf(shape) * pointsOf(shape)) *
         (2 * in * out + transform * (in + out));
}

uint64_t cpu::winogradWeightBytes(const ConvShape &shape) {
  if (!shape.packed)
    return packedWinogradBytes(shape);
  // By measurement: fetched ahead they pass at 15 bytes in a nanosecond, where
  // nanosecondsOf() has 10.
  const auto bytes = static_cast<uint64_t>(transformedWeights(shape) * kFloat);
  return shape.blockedY ? bytes * 2 / 3 : bytes;
}

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

static void planBlockedWinograd(const ConvShape &shape, WinogradPlan &plan) {
  constexpr int64_t mostTerms = 256;
  plan.kBlock = ceilDiv(plan.inChannels, ceilDiv(plan.inChannels, mostTerms));
  plan.outBlock = blockedChannels(shape);
  plan.blockTiles = blockedTiles(shape, plan.outBlock);
}

static WinogradPlan planWinograd(const ConvShape &shape, int64_t lanes) {
  constexpr int64_t wantedTiles = 16, panelBytes = 32 * 1024;
  WinogradPlan plan = {};
  plan.side = shape.winograd;
  plan.points = pointsOf(shape);
  plan.inH = shape.in[0];
  plan.inW = shape.in[1];
  plan.outH = shape.out[0];
  plan.outW = shape.out[1];
  plan.padTop = shape.padBegin[0];
  plan.padLeft = shape.padBegin[1];
  plan.inChannels = shape.inChannels;
  plan.outChannels = shape.outChannels;
  plan.tilesH = ceilDiv(plan.outH, plan.side);
  plan.tilesW = ceilDiv(plan.outW, plan.side);
  plan.inBlock = 16;
  plan.outEnd = plan.outChannels;
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
  plan.outBlock = kScratchBytes / (plan.points * width * kFloat) /
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

/// One of the two kernels for a part of the tiles, or the one before them that
/// transforms weights.
class WinogradStep final : public PreparedKernel {
public:
  WinogradStep(const KernelCall &call, const ConvShape &shape,
               const WinogradPlan &plan, TileFunction function,
               int64_t tileCount, std::unique_ptr<PreparedKernel> following)
      : plan(plan), function(function), tileCount(tileCount), arguments(call),
        packed(shape.packed), directWeights(transformedWeights(shape)),
        transformed(inputBytes(shape)), following(std::move(following)) {}

  int64_t tiles() const override { return tileCount; }

  void run(void *const *given, int64_t begin, int64_t end) const override {
    void *all[7];
    arguments.fill(given, all);
    all[5] = given[arguments.inputs + 1];
    all[6] = packed ? static_cast<float *>(all[1]) + directWeights : all[1];
    if (!packed)
      all[1] = static_cast<char *>(all[5]) + transformed;
    function(plan, all, begin, end);
  }

  const PreparedKernel *next() const override { return following.get(); }

private:
  const WinogradPlan plan;
  const TileFunction function;
  const int64_t tileCount;
  const FiveArguments arguments;
  const bool packed;
  const int64_t directWeights; ///< Where in packed w those not transformed are.
  const size_t transformed;    ///< Where in the workspace the others are.
  const std::unique_ptr<PreparedKernel> following;
};
} // namespace

namespace {
/// Puts steps in front of each other, the last first: each owns the next.
class WinogradSteps {
public:
  WinogradSteps(const KernelCall &call, const ConvShape &shape,
                const KernelSet &kernels)
      : call(call), shape(shape), kernels(kernels),
        plan(planWinograd(shape, kernels.vectorWidth)), tiles(tilesOf(shape)),
        chunk(chunkOf(shape)) {}

  std::unique_ptr<PreparedKernel> make();

private:
  void add(TileFunction function, int64_t tileCount) {
    first = std::make_unique<WinogradStep>(call, shape, plan, function,
                                           tileCount, std::move(first));
  }
  void setTiles(int64_t part);
  void addInput();
  void addProduct();
  void addWeights();

  const KernelCall &call;
  const ConvShape &shape;
  const KernelSet &kernels;
  WinogradPlan plan;
  const int64_t tiles, chunk;
  std::unique_ptr<PreparedKernel> first;
};
} // namespace

void WinogradSteps::setTiles(int64_t part) {
  plan.firstTile = part * chunk;
  plan.tiles = std::min(chunk, tiles - plan.firstTile);
  if (shape.blockedY) {
    plan.blocks = ceilDiv(plan.tiles, plan.blockTiles);
  } else {
    plan.vectors = ceilDiv(plan.tiles, kernels.vectorWidth);
    plan.blocks = ceilDiv(plan.vectors, kWinogradVectors);
  }
}

void WinogradSteps::addInput() {
  add(shape.blockedY ? kernels.blockedWinogradInput : kernels.winogradInput,
      plan.blocks * ceilDiv(plan.inChannels, plan.inBlock));
}

void WinogradSteps::addProduct() {
  add(shape.blockedY ? kernels.blockedWinogradProduct : kernels.winogradProduct,
      plan.blocks * ceilDiv(plan.outEnd - plan.outBegin, plan.outBlock));
}

void WinogradSteps::addWeights() {
  constexpr int64_t width = kPanelGroup * kChannelBlock;
  add(kernels.blockedWinogradWeights,
      ceilDiv(plan.outEnd - plan.outBegin, width) *
          (plan.inChannels / kChannelBlock));
}

std::unique_ptr<PreparedKernel> WinogradSteps::make() {
  if (tiles == 0) {
    add(kernels.winogradInput, 0);
    return std::move(first);
  }
  const int64_t chunks = ceilDiv(tiles, chunk);
  const int64_t part = channelsOfPart(shape);
  for (int64_t index = ceilDiv(plan.outChannels, part); index-- > 0;) {
    plan.outBegin = index * part;
    plan.outEnd = std::min(plan.outBegin + part, plan.outChannels);
    for (int64_t i = chunks; i-- > 0;) {
      setTiles(i);
      addProduct();
      if (chunks > 1 || index == 0) // One chunk stays transformed.
        addInput();
    }
    if (!shape.packed)
      addWeights();
  }
  return std::move(first);
}

Status cpu::prepareWinograd(const KernelCall &call, const ConvShape &shape,
                            const KernelSet &kernels,
                            std::unique_ptr<PreparedKernel> &prepared) {
  DLC_RETURN_IF_ERROR(checkWorkspace(call, winogradWorkspaceBytes(shape)));
  prepared = WinogradSteps(call, shape, kernels).make();
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

static constexpr double kP = kWinogradP, kQ = kWinogradQ;
static constexpr double kPP = kP * kP, kQQ = kQ * kQ;
static constexpr double kOfP = 2 * kPP * (kPP - kQQ);
static constexpr double kOfQ = 2 * kQQ * (kQQ - kPP);
/// G of F(4x4, 3x3) and of F(2x2, 3x3).
static constexpr double kMatrixOfFour[6][3] = {
    {1 / (kPP * kQQ), 0, 0},
    {1 / kOfP, kP / kOfP, kPP / kOfP},
    {1 / kOfP, -kP / kOfP, kPP / kOfP},
    {1 / kOfQ, kQ / kOfQ, kQQ / kOfQ},
    {1 / kOfQ, -kQ / kOfQ, kQQ / kOfQ},
    {0, 0, 1},
};
static constexpr double kMatrixOfTwo[4][3] = {
    {1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
static constexpr int64_t kMostPoints = 36;

/// G g G^T, row after row.
template <int n>
static void transformWeights(const double (&matrix)[n][3], const float *weights,
                             float *points) {
  double half[n][3] = {};
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < 3; ++j)
      for (int l = 0; l < 3; ++l)
        half[i][j] += matrix[i][l] * weights[l * 3 + j];
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < 3; ++l)
        sum += half[i][l] * matrix[j][l];
      points[i * n + j] = static_cast<float>(sum);
    }
}

void cpu::packWinograd(const ConvShape &shape, const float *source,
                       float *target) {
  const int64_t channels = shape.inChannels;
  const int64_t count = transformedWeights(shape), pointCount = pointsOf(shape);
  constexpr int64_t kWide = kPanelGroup * kChannelBlock;
  std::fill_n(target, count, 0.0f);
  for (int64_t out = 0; out < shape.outChannels; ++out) {
    const int64_t group = out / kWinogradRows, row = out % kWinogradRows;
    const int64_t wide = out / kWide * kWide; // Where its group of panels is.
    for (int64_t c = 0; c < channels; ++c) {
      float points[kMostPoints];
      const float *taps = source + (out * channels + c) * kTaps;
      if (shape.winograd == 2)
        transformWeights(kMatrixOfTwo, taps, points);
      else
        transformWeights(kMatrixOfFour, taps, points);
      for (int64_t point = 0; point < pointCount; ++point) {
        // Blocked [points][OC/64][C][64], else [OC/16][36][4][C][4].
        const int64_t at =
            shape.blockedY
                ? point * shape.outChannels * channels + wide * channels +
                      c * std::min(kWide, shape.outChannels - wide) + out - wide
                : (group * pointCount + point) * kWinogradRows * channels +
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
