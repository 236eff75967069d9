// SPDX-License-Identifier: Apache-2.0

#include "Winograd.h"

#include "BlockedConv.h"
#include "PhaseWinograd.h"
#include "RoundedWinograd.h"
#include "WinogradMatrix.h"

#include <algorithm>
#include <cstring>
#include <vector>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

static constexpr int64_t kTaps = 9, kPoints = 36;
static constexpr int64_t kFloat = sizeof(float);
/// A whole number of blocks for each instruction set.
static constexpr int64_t kChunkStep = 48;
/// Rounds tiles up to vectors of any instruction set.
static constexpr int64_t kMostLanes = 16;
/// Tiles of a block of a blocked convolution, at most: of two dozen it would
/// take a tenth of the time to transform weights.
static constexpr int64_t kBlockTiles = 64;
/// Those of files of before, of blocks of which there would be too few, and of
/// one block for all threads.
static constexpr int64_t kSmallBlockTiles = 32;
static_assert(kBlockTiles * kHalfChannels <= kWinogradSums);
static_assert(kWinogradWeights / kHalfChannels % kChannelBlock == 0);
static_assert(kPanelGroup * kChannelBlock % kHalfChannels == 0);
static_assert(kFewTiles <= kBlockTiles);

/// In one direction, as TwoTapWinogradTiles.h has it: windows of three in steps
/// of two, or of two.
static bool hasTwoTaps(const ConvShape &shape) {
  return shape.stride[0] == 2 || shape.kernel[0] == 2;
}

static int64_t tilesOf(const ConvShape &shape) {
  return shape.batch * ceilDiv(shape.out[0], 4) * ceilDiv(shape.out[1], 4);
}

/// Rows or columns of tiles that have three outputs in place of four, which is
/// a point less to multiply: 14 are 4 + 4 + 3 + 3.
static int64_t narrowOf(int64_t size) {
  const int64_t tiles = ceilDiv(size, 4);
  return std::min(4 * tiles - size, tiles);
}

static int64_t bytesOfTile(const ConvShape &shape) {
  return kPoints * shape.inChannels * kFloat;
}

/// How blocks of tiles are dealt out. Threads that share one read what others
/// have transformed, which takes long where they are on two chips.
enum class Chunks {
  /// Each block is transformed and multiplied by one thread, in as many shares
  /// as the workspace has room for: in files of before blocks were smaller.
  OfThreads,
  /// Of some blocks inputs are transformed at a time: these come in twos.
  InTwos,
  /// They do not: files of before have no workspace for more.
  AsBefore
};

/// Of transformed inputs, in a cache that processors share.
static constexpr int64_t kSharedBytes = 4 << 20;

/// Tiles whose inputs are transformed at a time: those that stay in a cache,
/// of blocked tensors one of each processor, else one that they share, until
/// all products have read them.
static int64_t mostOfChunk(const ConvShape &shape, Chunks kind) {
  constexpr int64_t ownBytes = 1 << 20;
  if (shape.blockedY)
    return std::max(ownBytes / bytesOfTile(shape), kind == Chunks::AsBefore
                                                       ? kSmallBlockTiles
                                                       : 2 * kBlockTiles);
  return std::max(kSharedBytes / bytesOfTile(shape) / kChunkStep, int64_t{1}) *
         kChunkStep;
}

namespace {
/// How such a convolution goes through its tiles: in blocks of `rows` rows of
/// tiles by `columns` at most.
struct TwoTapGrid {
  TwoTapGrid(const ConvShape &shape, Chunks kind)
      : kind(kind),
        columnBlocks(ceilDiv(ceilDiv(shape.out[1], 4), mostTiles(shape))),
        columns(ceilDiv(ceilDiv(shape.out[1], 4),
                        std::max<int64_t>(columnBlocks, 1))),
        rowBlocks(
            inTwos(ceilDiv(rowsOf(shape),
                           mostTiles(shape) / std::max<int64_t>(columns, 1)),
                   rowsOf(shape))),
        rows(ceilDiv(rowsOf(shape), std::max<int64_t>(rowBlocks, 1))),
        tilePixels(kTwoTapPixels[formOf(shape)]) {}

  const Chunks kind;
  const int64_t columnBlocks, columns, rowBlocks, rows, tilePixels;

  int64_t blocks() const { return columnBlocks * rowBlocks; }
  /// Of all products of a block.
  int64_t pixels() const { return rows * columns * tilePixels; }
  int64_t blockBytes(const ConvShape &shape) const {
    return (pixels() * shape.inChannels + kPoints * kWinogradGap) * kFloat;
  }
  /// Blocks whose inputs are transformed at a time.
  int64_t blocksOfChunk(const ConvShape &shape) const {
    constexpr int64_t ownBytes = 4 << 20;
    const int64_t most = ownBytes / blockBytes(shape);
    return kind == Chunks::AsBefore ? std::max<int64_t>(most, 1)
                                    : std::max<int64_t>(most / 2 * 2, 2);
  }
  int64_t chunks(const ConvShape &shape) const {
    return ceilDiv(blocks(), blocksOfChunk(shape));
  }

private:
  int64_t inTwos(int64_t parts, int64_t most) const {
    return kind == Chunks::AsBefore || parts < 2
               ? parts
               : std::min(roundUp(parts, 2), most);
  }
  /// Weights of few channels take no time that more tiles could share, and then
  /// less is to be held in the second cache.
  static int64_t mostTiles(const ConvShape &shape) {
    constexpr int64_t manyChannels = 64;
    const int64_t most = kTwoTapTiles[formOf(shape)];
    return shape.inChannels < manyChannels ? most / 2 : most;
  }
  static size_t formOf(const ConvShape &shape) {
    return shape.stride[0] == 2 ? 0 : 1;
  }
  static int64_t rowsOf(const ConvShape &shape) {
    return shape.batch * ceilDiv(shape.out[0], 4);
  }
};
} // namespace

/// Parts are made when a program is loaded, whatever its file says.
static constexpr int64_t kMostParts = 4096;

static Status checkTwoTap(const ConvShape &shape) {
  for (int64_t size : shape.out)
    if (4 * ceilDiv(size, 4) - size > ceilDiv(size, 4))
      return makeError(StatusCode::InvalidArgument,
                       "expected outputs that tiles of four and three fill for "
                       "algorithm 'winograd' with strides of two or 2x2 taps, "
                       "got %lld",
                       static_cast<long long>(size));
  const int64_t parts = TwoTapGrid(shape, Chunks::AsBefore).chunks(shape);
  if (parts > kMostParts)
    return makeError(StatusCode::InvalidArgument,
                     "expected at most %lld parts for algorithm 'winograd', "
                     "got %lld",
                     static_cast<long long>(kMostParts),
                     static_cast<long long>(parts));
  return Status::ok();
}

Status cpu::checkWinograd(const ConvShape &shape) {
  auto refuse = [](const char *expected) {
    return makeError(StatusCode::InvalidArgument, "expected %s", expected);
  };
  if (hasPhases(shape))
    return checkPhases(shape);
  if (shape.blockedX != shape.blockedY)
    return refuse("both tensors or none in blocks, or the output alone, for "
                  "algorithm 'winograd'");
  if (!shape.hasWholeBlocks())
    return refuse("whole blocks for algorithm 'winograd'");
  bool hasForm = shape.group == 1;
  for (int i = 0; i < 2; ++i)
    hasForm = hasForm && shape.kernel[i] == shape.kernel[0] &&
              shape.stride[i] == shape.stride[0] && shape.dilation[i] == 1;
  const int64_t side = shape.kernel[0], step = shape.stride[0];
  const bool isOfTwoTaps = (side == 3 && step == 2) || (side == 2 && step == 1);
  hasForm =
      hasForm && ((side == 3 && step == 1) || (isOfTwoTaps && shape.blockedY));
  if (!hasForm || (!shape.packed && !shape.blockedY))
    return refuse(
        "algorithm 'winograd' with packed weights, or tensors in blocks, of "
        "3x3 taps, strides and dilations of one and one group; or in blocks "
        "of 3x3 taps and strides of two, or of 2x2 taps");
  // From there on it was measured to be faster, by a half and more.
  constexpr int64_t fewest = 8;
  if (shape.inChannels < fewest || shape.outChannels < fewest)
    return makeError(StatusCode::InvalidArgument,
                     "expected at least %lld channels for algorithm "
                     "'winograd', got %lld and %lld",
                     static_cast<long long>(fewest),
                     static_cast<long long>(shape.inChannels),
                     static_cast<long long>(shape.outChannels));
  if (hasTwoTaps(shape))
    return checkTwoTap(shape);
  const int64_t most = kMostParts * mostOfChunk(shape, Chunks::AsBefore);
  if (tilesOf(shape) > most)
    return makeError(StatusCode::InvalidArgument,
                     "expected at most %lld tiles for algorithm 'winograd', "
                     "got %lld",
                     static_cast<long long>(most),
                     static_cast<long long>(tilesOf(shape)));
  return Status::ok();
}

/// Of blocked tensors they are as large as each other.
static int64_t chunksOf(const ConvShape &shape, Chunks kind) {
  return ceilDiv(tilesOf(shape), mostOfChunk(shape, kind));
}

/// Of tiles of blocked tensors, in each chunk: smaller ones where eight threads
/// would find too few parts of the output channels to multiply.
static int64_t blocksOfChunk(const ConvShape &shape, Chunks kind) {
  const int64_t chunks = std::max<int64_t>(chunksOf(shape, kind), 1);
  const int64_t tiles = ceilDiv(tilesOf(shape), chunks);
  if (kind == Chunks::AsBefore)
    return ceilDiv(tiles, kSmallBlockTiles);
  constexpr int64_t wantedTiles = 8;
  const int64_t parts = ceilDiv(shape.outChannels, kHalfChannels);
  const int64_t wanted = ceilDiv(wantedTiles, std::max<int64_t>(parts, 1));
  const int64_t blocks =
      std::max(ceilDiv(tiles, kBlockTiles),
               std::min(ceilDiv(tiles, kSmallBlockTiles), wanted));
  return blocks > 1 ? roundUp(blocks, 2) : blocks;
}

namespace {
/// Blocks of tiles that threads transform and multiply by themselves, share by
/// share: of blocked tensors. Of a single block each share has some of the
/// output channels: to transform all inputs takes a thread less time than to
/// have half of them from another one.
struct ThreadBlocks {
  explicit ThreadBlocks(const ConvShape &shape);

  int64_t blocks = 0, shares = 0; ///< None where there are too few.
  int64_t parts = 1;              ///< Of the output channels.
  int64_t blockBytes = 0;         ///< Of transformed inputs.
};
} // namespace

ThreadBlocks::ThreadBlocks(const ConvShape &shape) {
  constexpr int64_t fewShares = 8, manyShares = 16, manyBlocks = 32;
  // Two or four calls of AVX-512's kernels of two panels; 32 are three.
  constexpr int64_t fewTiles = 28, manyTiles = 56;
  int64_t most, ofChunk;
  if (hasTwoTaps(shape)) {
    const TwoTapGrid grid(shape, Chunks::OfThreads);
    most = grid.blocks();
    ofChunk = std::min(most, grid.blocksOfChunk(shape));
    blockBytes = grid.blockBytes(shape);
  } else {
    const int64_t tiles = tilesOf(shape);
    most = tiles <= kSmallBlockTiles
               ? std::min<int64_t>(tiles, 1)
               : std::max(
                     roundUp(ceilDiv(tiles, manyTiles), 2),
                     std::min(roundUp(ceilDiv(tiles, fewTiles), 2), fewShares));
    ofChunk = blocksOfChunk(shape, Chunks::InTwos);
    blockBytes =
        ceilDiv(tiles, std::max<int64_t>(most, 1)) * bytesOfTile(shape) +
        kPoints * kWinogradGap * kFloat;
  }
  const int64_t groups = ceilDiv(shape.outChannels, kHalfChannels);
  if (!shape.blockedY)
    return;
  if (most == 1 && groups > 1) {
    constexpr int64_t mostParts = 8, mostBytes = 4 << 20;
    parts = std::min(mostParts, groups);
    while (parts > 2 && parts * blockBytes > mostBytes)
      parts /= 2;
    blocks = 1;
    shares = parts;
    return;
  }
  // As many as there are tiles of the grid of products otherwise.
  const int64_t wanted = std::min(ofChunk * groups, manyShares);
  if (most < std::max(wanted, fewShares))
    return;
  blocks = most;
  shares = wanted > fewShares || most >= manyBlocks ? manyShares : fewShares;
}

/// Of transformed inputs.
static size_t inputBytes(const ConvShape &shape, Chunks kind) {
  if (kind == Chunks::OfThreads) {
    const ThreadBlocks own(shape);
    return static_cast<size_t>(own.shares * own.blockBytes);
  }
  if (hasTwoTaps(shape)) {
    const TwoTapGrid grid(shape, kind);
    return static_cast<size_t>(
        std::min(grid.blocks(), grid.blocksOfChunk(shape)) *
        grid.blockBytes(shape));
  }
  if (!shape.blockedY)
    return static_cast<size_t>(std::min(mostOfChunk(shape, kind),
                                        roundUp(tilesOf(shape), kMostLanes)) *
                               bytesOfTile(shape));
  const int64_t tiles =
      ceilDiv(tilesOf(shape), std::max<int64_t>(chunksOf(shape, kind), 1));
  return static_cast<size_t>(tiles * bytesOfTile(shape) +
                             blocksOfChunk(shape, kind) * kPoints *
                                 kWinogradGap * kFloat);
}

static bool hasFewWeights(const ConvShape &shape) {
  return shape.blockedY && !hasTwoTaps(shape) && shape.packed &&
         tilesOf(shape) <= kFewTiles;
}

/// Whether there are narrow tiles: where there are few, they are four of which
/// one is narrow in each direction.
static bool hasNarrow(const ConvShape &shape) {
  if (!shape.blockedY)
    return false;
  if (!hasFewWeights(shape))
    return true;
  bool isMixed = shape.batch == 1;
  for (int64_t size : shape.out)
    isMixed = isMixed && size == 7;
  return isMixed;
}

/// In packed weights, before the others: of blocked tensors half transformed.
static int64_t transformedWeights(const ConvShape &shape) {
  if (hasTwoTaps(shape) ||
      (shape.blockedY && (!shape.packed || hasFewWeights(shape))))
    return 0;
  return roundUp(shape.outChannels, kWinogradRows) * shape.inChannels *
         (shape.blockedY ? kHalfPoints : kPoints);
}

static size_t workspaceBytes(const ConvShape &shape, Chunks kind) {
  return inputBytes(shape, kind) + blockedWorkspaceBytes(shape);
}

static Chunks wantedChunks(const ConvShape &shape) {
  if (ThreadBlocks(shape).shares > 0)
    return Chunks::OfThreads;
  const bool areMany =
      hasTwoTaps(shape) &&
      TwoTapGrid(shape, Chunks::InTwos).chunks(shape) > kMostParts;
  return areMany ? Chunks::AsBefore : Chunks::InTwos;
}

size_t cpu::winogradWorkspaceBytes(const ConvShape &shape) {
  if (shape.bf16Parts == 1)
    return roundedWinogradWorkspaceBytes(shape);
  return hasPhases(shape) ? 0 : workspaceBytes(shape, wantedChunks(shape));
}

/// Products for each pair of channels.
static uint64_t productsOf(const ConvShape &shape) {
  if (!hasNarrow(shape))
    return static_cast<uint64_t>(tilesOf(shape) * kPoints);
  auto points = [&](int64_t size) {
    const int64_t each = hasTwoTaps(shape) ? 5 : 6; // But for the middle.
    const int64_t middle = shape.stride[0] == 2 ? size : 0;
    return static_cast<uint64_t>(each * ceilDiv(size, 4) - narrowOf(size) +
                                 middle);
  };
  return static_cast<uint64_t>(shape.batch) * points(shape.out[0]) *
         points(shape.out[1]);
}

KernelCost cpu::winogradCost(const ConvShape &shape) {
  if (shape.bf16Parts == 1)
    return roundedWinogradCost(shape);
  if (hasPhases(shape))
    return phaseCost(shape);
  // Each of the numbers of a tile takes about 8 on its way there and back;
  // weights of blocked tensors, 9 to 36 of them for each block of tiles, as
  // much as 100; of two taps, where they come back in 81 or 25 and what goes
  // there is the whole image, 18 and 400 or 250; 45 where images are in no
  // cache of a processor's own.
  constexpr int64_t cachedFloats = 1 << 20;
  const int64_t floats =
      shape.batch * (shape.inChannels * shape.in[0] * shape.in[1] +
                     shape.outChannels * shape.pixels());
  const uint64_t transform = !hasTwoTaps(shape)      ? 8
                             : floats > cachedFloats ? 45
                                                     : 18;
  const uint64_t transformWeights = shape.stride[0] == 2   ? 400
                                    : shape.kernel[0] == 2 ? 250
                                                           : 100;
  const auto in = static_cast<uint64_t>(shape.inChannels);
  const auto out =
      static_cast<uint64_t>(roundUp(shape.outChannels, kWinogradRows));
  const auto tiles = static_cast<uint64_t>(tilesOf(shape));
  KernelCost cost;
  cost.flops = productsOf(shape) * (2 * in * out + transform * (in + out));
  // Of as many tiles as there may be: numbers above were found so.
  const auto blocks =
      hasTwoTaps(shape)
          ? static_cast<uint64_t>(TwoTapGrid(shape, Chunks::AsBefore).blocks())
          : ceilDiv(tiles, uint64_t{kBlockTiles});
  if (shape.blockedY)
    cost.overhead = blocks * transformWeights * in * out;
  // Of inputs that threads transform for themselves as much as of a chunk.
  cost.bytes =
      std::min<uint64_t>(inputBytes(shape, wantedChunks(shape)), kSharedBytes) +
      (transformedWeights(shape) > 0
           ? static_cast<uint64_t>(transformedWeights(shape) * kFloat)
           : packedBlockedBytes(shape));
  return cost;
}

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

WinogradTensors cpu::winogradTensorsOf(const ConvShape &shape,
                                       int64_t outputs) {
  WinogradTensors plan = {};
  plan.inH = shape.in[0];
  plan.inW = shape.in[1];
  plan.outH = shape.out[0];
  plan.outW = shape.out[1];
  plan.padTop = shape.padBegin[0];
  plan.padLeft = shape.padBegin[1];
  plan.inChannels = shape.inChannels;
  plan.outChannels = shape.outChannels;
  plan.images = shape.batch;
  plan.tilesH = ceilDiv(plan.outH, outputs);
  plan.tilesW = ceilDiv(plan.outW, outputs);
  plan.epilogue = shape.epilogue;
  return plan;
}

static WinogradPlan planWinograd(const ConvShape &shape, Chunks kind,
                                 int64_t lanes) {
  constexpr int64_t wantedTiles = 16, panelBytes = 32 * 1024;
  constexpr int64_t largeBytes = 1 << 20;
  WinogradPlan plan = {};
  static_cast<WinogradTensors &>(plan) = winogradTensorsOf(shape, 4);
  plan.inBlock = 16;
  if (shape.blockedY) {
    if (hasNarrow(shape)) {
      plan.narrowH = narrowOf(plan.outH);
      plan.narrowW = narrowOf(plan.outW);
    }
    plan.side = shape.kernel[0];
    plan.step = shape.stride[0];
    plan.outBlock = kHalfChannels;
    plan.kBlock = kWinogradWeights / kHalfChannels;
    plan.isLarge = shape.batch *
                       std::max(shape.in[0] * shape.in[1] * shape.inChannels,
                                shape.pixels() * shape.outChannels) *
                       kFloat >
                   largeBytes;
    if (hasTwoTaps(shape)) {
      const TwoTapGrid grid(shape, kind);
      plan.columnBlocks = grid.columnBlocks;
      plan.rowBlocks = grid.rowBlocks;
      plan.blockPixels = grid.pixels();
      return plan;
    }
    plan.hasFewWeights = hasFewWeights(shape);
    return plan;
  }
  plan.isBlockSlowest = transformedWeights(shape) * kFloat <= 2 * kCachedBytes;
  const int64_t width = kWinogradVectors * lanes;
  plan.kBlock = ceilDiv(
      plan.inChannels,
      ceilDiv(plan.inChannels,
              panelBytes / (width * static_cast<int64_t>(sizeof(float)))));
  plan.outBlock = kScratchBytes / (kPoints * width * kFloat) / kWinogradRows *
                  kWinogradRows;
  const int64_t blocks =
      ceilDiv(std::min(mostOfChunk(shape, kind), tilesOf(shape)), width);
  if (blocks * ceilDiv(plan.outChannels, plan.outBlock) < wantedTiles)
    plan.outBlock = kWinogradRows;
  return plan;
}

/// Blocks in as many shares as the workspace of a call has room for: all of
/// them but in files of before.
static ThreadBlocks blocksWithin(const KernelCall &call,
                                 const ConvShape &shape) {
  ThreadBlocks own(shape);
  auto fit = [&] {
    const auto bytes = static_cast<size_t>(own.shares * own.blockBytes);
    return checkWorkspace(call, bytes + blockedWorkspaceBytes(shape)).isOk();
  };
  while (own.shares > 0 && !fit())
    --own.shares;
  return own;
}

namespace {
using TileFunction = void (*)(const WinogradPlan &, void *const *, int64_t,
                              int64_t);

/// What both kernels are called with: x, weights, bias, residual, y,
/// transformed inputs and weights that are not transformed.
class WinogradOperands {
public:
  static constexpr size_t kCount = 7;

  WinogradOperands(const KernelCall &call, const ConvShape &shape)
      : arguments(call), packed(shape.packed),
        transformed(transformedWeights(shape)),
        packedHere(blockedWorkspaceBytes(shape)) {}

  void fill(void *const *given, void **all) const {
    arguments.fill(given, all);
    char *workspace = static_cast<char *>(given[arguments.inputs + 1]);
    all[5] = workspace + packedHere;
    all[6] = packed ? static_cast<float *>(all[1]) + transformed
                    : static_cast<void *>(workspace);
    if (transformed == 0)
      all[1] = nullptr;
  }

private:
  const FiveArguments arguments;
  const bool packed;
  const int64_t transformed; ///< Weights, in front of those that are not.
  const size_t packedHere;   ///< What the workspace begins with.
};

/// One of the two kernels for a part of the tiles.
class WinogradStep final : public PreparedKernel {
public:
  WinogradStep(const KernelCall &call, const ConvShape &shape,
               const WinogradPlan &plan, TileFunction function,
               int64_t tileCount, std::unique_ptr<PreparedKernel> following)
      : plan(plan), function(function), tileCount(tileCount),
        operands(call, shape), following(std::move(following)) {}

  int64_t tiles() const override { return tileCount; }

  void run(void *const *given, int64_t begin, int64_t end) const override {
    void *all[WinogradOperands::kCount];
    operands.fill(given, all);
    function(plan, all, begin, end);
  }

  const PreparedKernel *next() const override { return following.get(); }

private:
  const WinogradPlan plan;
  const TileFunction function;
  const int64_t tileCount;
  const WinogradOperands operands;
  const std::unique_ptr<PreparedKernel> following;
};

/// Both kernels of one block after the other, for a share of the blocks.
class WinogradShares final : public PreparedKernel {
public:
  WinogradShares(const KernelCall &call, const ConvShape &shape,
                 const WinogradPlan &whole, TileFunction transform,
                 TileFunction multiply)
      : plan(whole), own(blocksWithin(call, shape)), transform(transform),
        multiply(multiply), operands(call, shape) {
    plan.blocks = plan.blockStep = 1;
    plan.allBlocks = own.blocks;
  }

  int64_t tiles() const override { return own.shares; }

  int64_t ranges(unsigned threads) const override {
    return std::min<int64_t>(tiles(), threads);
  }

  void run(void *const *given, int64_t begin, int64_t end) const override {
    void *all[WinogradOperands::kCount];
    operands.fill(given, all);
    // No other range begins there.
    all[5] = static_cast<char *>(all[5]) + begin * own.blockBytes;
    WinogradPlan block = plan;
    const int64_t groups = ceilDiv(plan.outChannels, plan.outBlock);
    const int64_t parts = own.blocks * own.parts;
    const int64_t last = parts * end / own.shares;
    for (int64_t part = parts * begin / own.shares; part < last;) {
      block.firstBlock = part / own.parts;
      transform(block, all, 0, plan.inChannels / kChannelBlock);
      const int64_t first = part % own.parts;
      const int64_t next = std::min((block.firstBlock + 1) * own.parts, last);
      multiply(block, all, groups * first / own.parts,
               groups * (first + next - part) / own.parts);
      part = next;
    }
  }

private:
  WinogradPlan plan;
  const ThreadBlocks own;
  const TileFunction transform, multiply;
  const WinogradOperands operands;
};
} // namespace

/// A part of the tiles of such a convolution.
static WinogradPlan twoTapPartOf(WinogradPlan plan, const ConvShape &shape,
                                 Chunks kind, int64_t part) {
  const TwoTapGrid grid(shape, kind);
  plan.firstBlock = part;
  plan.blockStep = grid.chunks(shape);
  plan.allBlocks = grid.blocks();
  plan.blocks = ceilDiv(plan.allBlocks - part, plan.blockStep);
  return plan;
}

/// Puts steps in front of each other, the last first: each owns the next.
static std::unique_ptr<PreparedKernel> makeSteps(const KernelCall &call,
                                                 const ConvShape &shape,
                                                 Chunks kind,
                                                 const KernelSet &kernels) {
  std::unique_ptr<PreparedKernel> first;
  WinogradPlan plan = planWinograd(shape, kind, kernels.vectorWidth);
  auto add = [&](TileFunction function, int64_t tileCount) {
    first = std::make_unique<WinogradStep>(call, shape, plan, function,
                                           tileCount, std::move(first));
  };
  const int64_t tiles = tilesOf(shape), chunks = chunksOf(shape, kind);
  if (tiles == 0)
    add(kernels.winogradInput, 0);
  if (kind == Chunks::OfThreads) {
    plan.tiles = tiles;
    const bool isTwoTap = hasTwoTaps(shape);
    return std::make_unique<WinogradShares>(
        call, shape, plan,
        isTwoTap ? kernels.twoTapWinogradInput : kernels.blockedWinogradInput,
        isTwoTap ? kernels.twoTapWinogradProduct
                 : kernels.blockedWinogradProduct);
  }
  if (hasTwoTaps(shape)) {
    for (int64_t i = TwoTapGrid(shape, kind).chunks(shape); i-- > 0;) {
      plan = twoTapPartOf(plan, shape, kind, i);
      add(kernels.twoTapWinogradProduct,
          plan.blocks * ceilDiv(plan.outChannels, plan.outBlock));
      add(kernels.twoTapWinogradInput,
          plan.blocks * (plan.inChannels / kChannelBlock));
    }
    return first;
  }
  for (int64_t i = chunks; i-- > 0;) {
    if (shape.blockedY) {
      plan.tiles = tiles;
      plan.blocks = blocksOfChunk(shape, kind);
      plan.firstBlock = i;
      plan.blockStep = chunks;
      plan.allBlocks = chunks * plan.blocks;
    } else {
      const int64_t most = mostOfChunk(shape, kind);
      plan.firstTile = i * most;
      plan.tiles = std::min(most, tiles - plan.firstTile);
      plan.vectors = ceilDiv(plan.tiles, kernels.vectorWidth);
      plan.blocks = ceilDiv(plan.vectors, kWinogradVectors);
    }
    add(shape.blockedY ? kernels.blockedWinogradProduct
                       : kernels.winogradProduct,
        plan.blocks * ceilDiv(plan.outChannels, plan.outBlock));
    add(shape.blockedY ? kernels.blockedWinogradInput : kernels.winogradInput,
        plan.blocks * ceilDiv(plan.inChannels, plan.inBlock));
  }
  return first;
}

/// Those that the workspace of a call has room for.
static Status chooseChunks(const KernelCall &call, const ConvShape &shape,
                           Chunks &kind) {
  kind = wantedChunks(shape);
  if (checkWorkspace(call, workspaceBytes(shape, kind)).isOk())
    return Status::ok();
  Status asBefore =
      checkWorkspace(call, workspaceBytes(shape, Chunks::AsBefore));
  if (!asBefore.isOk() && kind == Chunks::OfThreads &&
      blocksWithin(call, shape).shares > 0)
    return Status::ok();
  kind = Chunks::AsBefore;
  return asBefore;
}

Status cpu::prepareWinograd(const KernelCall &call, const ConvShape &shape,
                            const KernelSet &kernels, const PairKernels &pairs,
                            std::unique_ptr<PreparedKernel> &prepared) {
  if (shape.bf16Parts == 1)
    return prepareRoundedWinograd(call, shape, pairs, prepared);
  if (hasPhases(shape)) {
    DLC_RETURN_IF_ERROR(checkWorkspace(call, 0));
    prepared = preparePhases(call, shape, kernels);
    return Status::ok();
  }
  Chunks kind;
  DLC_RETURN_IF_ERROR(chooseChunks(call, shape, kind));
  prepared = makeSteps(call, shape, kind, kernels);
  if (!shape.packed)
    prepared = packBefore(call, shape, kernels, std::move(prepared));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

size_t cpu::packedWinogradBytes(const ConvShape &shape) {
  if (shape.bf16Parts == 1)
    return packedRoundedWinogradBytes(shape);
  if (hasPhases(shape))
    return packedPhaseBytes(shape);
  return static_cast<size_t>(transformedWeights(shape) + shape.outChannels *
                                                             shape.inChannels *
                                                             shape.taps()) *
         sizeof(float);
}

using Half = double[6][3];

/// G g without the factors.
static void transformHalf(const float *weights, Half &half) {
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 3; ++j) {
      half[i][j] = 0;
      for (int l = 0; l < 3; ++l)
        half[i][j] += kWinogradMatrix.at(i, l, 3) * weights[l * 3 + j];
    }
}

/// To [OC/16][36][4][C][4], all of G g G^T.
static void packPlain(const ConvShape &shape, const float *source,
                      float *target) {
  const int64_t channels = shape.inChannels;
  for (int64_t out = 0; out < shape.outChannels; ++out) {
    const int64_t group = out / kWinogradRows, row = out % kWinogradRows;
    for (int64_t c = 0; c < channels; ++c) {
      Half half;
      transformHalf(source + (out * channels + c) * kTaps, half);
      for (int64_t point = 0; point < kPoints; ++point) {
        const int64_t i = point / 6, j = point % 6;
        double sum = 0;
        for (int l = 0; l < 3; ++l)
          sum += half[i][l] * kWinogradMatrix.at(j, l, 3);
        const int64_t at =
            (group * kPoints + point) * kWinogradRows * channels +
            row / kPanelRows * kPanelRows * channels + c * kPanelRows +
            row % kPanelRows;
        target[at] = static_cast<float>(kWinogradMatrix.factors[i] *
                                        kWinogradMatrix.factors[j] * sum);
      }
    }
  }
}

/// To [OC/32][6][C][3][32], half transformed.
static void packHalf(const ConvShape &shape, const float *source,
                     float *target) {
  const int64_t channels = shape.inChannels;
  for (int64_t out = 0; out < shape.outChannels; ++out) {
    const int64_t first = out / kHalfChannels * kHalfChannels;
    const int64_t width = std::min(kHalfChannels, shape.outChannels - first);
    float *part = target + first * channels * kHalfPoints + out - first;
    for (int64_t c = 0; c < channels; ++c) {
      Half half;
      transformHalf(source + (out * channels + c) * kTaps, half);
      for (int64_t i = 0; i < 6; ++i)
        for (int64_t j = 0; j < 3; ++j)
          part[((i * channels + c) * 3 + j) * width] =
              static_cast<float>(half[i][j]);
    }
  }
}

/// To [OC/16][C][9][16].
static void packFew(const ConvShape &shape, const float *source,
                    float *target) {
  for (int64_t first = 0; first < shape.outChannels; first += kChannelBlock)
    for (int64_t term = 0; term < shape.inChannels * kTaps; ++term)
      for (int64_t out = first; out < first + kChannelBlock; ++out)
        *target++ = source[out * shape.inChannels * kTaps + term];
}

void cpu::packWinograd(const ConvShape &shape, const float *source,
                       float *target) {
  if (shape.bf16Parts == 1)
    return packRoundedWinograd(shape, source, target);
  if (hasPhases(shape))
    return packPhases(shape, source, target);
  if (hasFewWeights(shape))
    return packFew(shape, source, target);
  const int64_t count = transformedWeights(shape);
  if (shape.blockedY) {
    if (count > 0)
      packHalf(shape, source, target);
    return packBlocked(shape, source, target + count);
  }
  std::fill_n(target, count, 0.0f);
  packPlain(shape, source, target);
  std::memcpy(
      target + count, source,
      static_cast<size_t>(shape.outChannels * shape.inChannels * kTaps) *
          sizeof(float));
}
