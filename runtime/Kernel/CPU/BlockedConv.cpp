// SPDX-License-Identifier: Apache-2.0

#include "BlockedConv.h"

#include "Matmul.h"
#include "RoundBefore.h"
#include "RoundedWinograd.h"

#include <algorithm>
#include <vector>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

static constexpr int64_t kFloat = sizeof(float);

/// Whether windows lie inside of the image, all of them.
static bool areInside(const ConvShape &shape) {
  for (int i = 0; i < 2; ++i) {
    const int64_t last = (shape.out[i] - 1) * shape.stride[i] +
                         (shape.kernel[i] - 1) * shape.dilation[i];
    if (shape.padBegin[i] > 0 || last >= shape.in[i])
      return false;
  }
  return true;
}

/// What a tile has on the stack for a plain x: a table of terms, and for what
/// is outside of the image another one and rows of a strip.
static int64_t stripBytes(const ConvShape &shape) {
  constexpr int64_t lanes = 16;
  const int64_t rows = shape.inChannels * shape.kernel[0];
  const int64_t table =
      rows * shape.kernel[1] * static_cast<int64_t>(sizeof(int64_t));
  if (areInside(shape))
    return table;
  const int64_t width = (kBlockedRows - 1) * shape.stride[1] +
                        (shape.kernel[1] - 1) * shape.dilation[1] + 1;
  return 2 * table + rows * ceilDiv(width, lanes) * lanes * kFloat;
}

Status cpu::checkBlocked(const ConvShape &shape) {
  auto refuse = [](const char *expected) {
    return makeError(StatusCode::InvalidArgument, "expected %s", expected);
  };
  if (shape.inChannels == 0 || shape.outChannels == 0)
    return refuse("channels in blocked tensors");
  if (shape.blockedX != shape.blockedY && shape.group != 1)
    return refuse("one group where one tensor is not blocked");
  const bool isDepthwise = shape.blockedX && shape.isDepthwise();
  if (isDepthwise && shape.groupOut() != 1)
    return refuse("as many output channels as input channels of depthwise "
                  "convolutions of blocked tensors");
  if (shape.blockedY && !isDepthwise && shape.group != 1 &&
      shape.groupOut() % kChannelBlock != 0)
    return refuse("blocks of 16 output channels of one group");
  if (shape.taps() > kMostOffsets / kBlockedRows)
    return refuse("at most 1365 taps for blocked tensors");
  if (shape.blockedX) {
    if (!isDepthwise && shape.group != 1 &&
        shape.groupIn() % kChannelBlock != 0)
      return refuse("blocks of 16 input channels of one group");
    return Status::ok();
  }
  // Bounded one by one: their product may overflow.
  constexpr int64_t most = kStripBytes;
  static_assert(most <= 256 * 1024, "stripBytes() of what is bounded so");
  if (shape.inChannels > most || shape.stride[1] > most ||
      shape.dilation[1] > most || stripBytes(shape) > most)
    return refuse("windows of six pixels of a plain input, for each channel "
                  "and row of taps, that fit with their offsets in 176 KiB");
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// They may end within a block.
static int64_t paddedChannels(const ConvShape &shape) {
  return blocksOf(shape.outChannels) * kChannelBlock;
}

/// Of a row of taps of a plain x that is rounded, with what makes lines of 32.
static int64_t rowTermsOf(const ConvShape &shape) {
  int64_t terms = 4;
  while (terms < shape.kernel[1])
    terms *= 2;
  return terms;
}

/// Lines of 32 terms that these are.
static int64_t plainLines(const ConvShape &shape) {
  return ceilDiv(shape.inChannels * shape.kernel[0],
                 2 * kChannelBlock / rowTermsOf(shape));
}

size_t cpu::packedBlockedBytes(const ConvShape &shape) {
  if (shape.bf16Parts == 1 && !shape.blockedX)
    return static_cast<size_t>(paddedChannels(shape) * plainLines(shape) * 2 *
                               kChannelBlock) *
           sizeof(uint16_t);
  const int64_t element = shape.bf16Parts == 1 ? kFloat / 2 : kFloat;
  return static_cast<size_t>(paddedChannels(shape) * shape.groupIn() *
                             shape.taps() * element);
}

/// Packed weights: parts, for some output channels each, which follow each
/// other as the channels do. A part is [C/16][taps][16][64], with fewer rows
/// in the last block if channels end within it, of a plain x [C][taps][64], and
/// [taps][16] of depthwise ones.
namespace {
class WeightParts {
public:
  explicit WeightParts(const ConvShape &shape)
      : isDepthwise(shape.isDepthwise() && shape.blockedX),
        block(shape.blockedX && !isDepthwise ? kChannelBlock : 1),
        width(isDepthwise ? kChannelBlock : kPanelGroup * kChannelBlock),
        groups(isDepthwise ? 1 : shape.group), rows(shape.outChannels / groups),
        padded(paddedChannels(shape) / groups), channels(shape.groupIn()),
        taps(shape.taps()) {}

  int64_t count() const { return groups * partsOfGroup(); }

  /// With what packs whole blocks, or null.
  void pack(int64_t part, const KernelSet *kernels, const float *source,
            float *target) const {
    const int64_t first = part % partsOfGroup() * width;
    const int64_t row = part / partsOfGroup() * rows + first;
    const int64_t own = std::min(width, padded - first);
    source += row * channels * taps;
    target += row * channels * taps;
    const bool isFast =
        kernels && block == kChannelBlock && first + own <= rows;
    int64_t begin = 0;
    for (; isFast && begin + block <= channels; begin += block)
      kernels->packPanels(source + begin * taps, channels * taps, own, taps,
                          target + begin * taps * own);
    target += begin * taps * own;
    for (; begin < channels; begin += block)
      for (int64_t tap = 0; tap < taps; ++tap)
        for (int64_t c = begin; c < std::min(begin + block, channels); ++c)
          for (int64_t i = 0; i < own; ++i)
            *target++ = first + i < rows
                            ? source[(i * channels + c) * taps + tap]
                            : 0.0f;
  }

private:
  int64_t partsOfGroup() const { return ceilDiv(padded, width); }

  bool isDepthwise;
  int64_t block, width, groups, rows, padded, channels, taps;
};
} // namespace

/// [C/16][taps][8][64] pairs of channels in place of [C/16][taps][16][64], or
/// [C/32][taps][16][64], of which the last may be half as many.
static void packBlockedPairs(const ConvShape &shape, const float *source,
                             uint32_t *target) {
  const int64_t channels = shape.groupIn(), taps = shape.taps();
  const int64_t together = (shape.pairedBlocks ? 2 : 1) * kChannelBlock;
  for (int64_t first = 0; first < shape.outChannels;) {
    const int64_t own =
        std::min(kPackedColumns, shape.groupOut() - first % shape.groupOut());
    const float *rows = source + first * channels * taps;
    for (int64_t block = 0; block < channels; block += together)
      for (int64_t tap = 0; tap < taps; ++tap)
        target = packPairs({rows + block * taps + tap, taps, channels * taps},
                           std::min(together, channels - block), own, target);
    first += own;
  }
}

/// [OC/64][lines][16][64] pairs of terms, a line for some rows of taps.
static void packPlainPairs(const ConvShape &shape, const float *source,
                           uint32_t *target) {
  const int64_t rows = shape.inChannels * shape.kernel[0];
  const int64_t taps = shape.kernel[1], rowTerms = rowTermsOf(shape);
  const int64_t terms = plainLines(shape) * 2 * kChannelBlock;
  std::vector<float> padded(static_cast<size_t>(terms * kPackedColumns));
  for (int64_t first = 0; first < shape.outChannels; first += kPackedColumns) {
    const int64_t own = std::min(kPackedColumns, shape.outChannels - first);
    for (int64_t i = 0; i < own; ++i)
      for (int64_t row = 0; row < rows; ++row)
        std::copy_n(source + ((first + i) * rows + row) * taps, taps,
                    padded.data() + i * terms + row * rowTerms);
    target = packPairs({padded.data(), 1, terms}, terms, own, target);
  }
}

void cpu::packBlocked(const ConvShape &shape, const float *source,
                      float *target) {
  if (shape.bf16Parts == 1 && !shape.blockedX)
    return packPlainPairs(shape, source, reinterpret_cast<uint32_t *>(target));
  if (shape.bf16Parts == 1)
    return packBlockedPairs(shape, source,
                            reinterpret_cast<uint32_t *>(target));
  const WeightParts parts(shape);
  for (int64_t part = 0; part < parts.count(); ++part)
    parts.pack(part, nullptr, source, target);
}

namespace {

/// Packs weights into the workspace, a part a tile.
class PackWeights final : public PreparedKernel {
public:
  PackWeights(const KernelCall &call, const ConvShape &shape,
              const KernelSet &kernels,
              std::unique_ptr<PreparedKernel> following)
      : parts(shape), kernels(kernels), workspace(call.inputs.size() + 1),
        following(std::move(following)) {}

  int64_t tiles() const override { return parts.count(); }

  void run(void *const *given, int64_t begin, int64_t end) const override {
    for (int64_t part = begin; part < end; ++part)
      parts.pack(part, &kernels, static_cast<const float *>(given[1]),
                 static_cast<float *>(given[workspace]));
  }

  const PreparedKernel *next() const override { return following.get(); }

private:
  const WeightParts parts;
  const KernelSet &kernels;
  const size_t workspace; ///< Which argument it is.
  const std::unique_ptr<PreparedKernel> following;
};

template <typename Plan> class PreparedBlocked final : public PreparedKernel {
public:
  using Function = void (*)(const Plan &, void *const *, int64_t, int64_t);

  PreparedBlocked(const KernelCall &call, const ConvShape &shape,
                  const Plan &plan, Function function, int64_t tileCount)
      : plan(plan), function(function), tileCount(tileCount), arguments(call),
        packed(shape.packed),
        roundsPixels(shape.bf16Parts == 1 && !shape.shortX &&
                     !isRoundedBefore(plan)) {}

  int64_t tiles() const override { return tileCount; }

  int64_t ranges(unsigned threads) const override {
    // Each range rounds its pixels.
    return roundsPixels
               ? std::min(tileCount, threads * tileCount / groupBlocks(plan))
               : tileCount;
  }

  void run(void *const *given, int64_t begin, int64_t end) const override {
    void *five[5];
    arguments.fill(given, five);
    void *workspace = packed && !isRoundedBefore(plan)
                          ? nullptr
                          : given[arguments.inputs + 1];
    if (!packed)
      five[1] = workspace;
    if (isRoundedBefore(plan))
      five[0] = workspace;
    function(plan, five, begin, end);
  }

private:
  static bool isRoundedBefore(const BlockedPlan &plan) {
    return plan.isRoundedBefore;
  }
  static bool isRoundedBefore(const BlockedDepthwisePlan &) { return false; }
  static int64_t groupBlocks(const BlockedPlan &plan) {
    return plan.groupBlocks;
  }
  static int64_t groupBlocks(const BlockedDepthwisePlan &) { return 1; }

  const Plan plan;
  const Function function;
  const int64_t tileCount;
  const FiveArguments arguments;
  const bool packed;
  const bool roundsPixels;
};

} // namespace

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

int64_t cpu::mostPixelsOfTile(const ConvShape &shape) {
  const int64_t pixelsOfTable =
      kMostOffsets / (shape.taps() * kBlockedRows) * kBlockedRows;
  return std::min(kMostPixelsOfTile, pixelsOfTable);
}

/// Chooses the grid. Aims: weights of a call in L2; tiles that balance 16
/// workers, none below some microseconds; weights that L2 does not hold read
/// once, each part for all pixels, also those that some do, if the image is
/// smaller.
BlockedPlan cpu::planBlocked(const ConvShape &shape) {
  constexpr int64_t weightBytes = 192 * 1024;
  constexpr int64_t wantedTiles = 32, minTileWork = 1 << 20;
  BlockedPlan plan = {};
  static_cast<Windows &>(plan) = windowsOf(shape);
  plan.batch = shape.batch;
  plan.group = shape.group;
  plan.inChannels = shape.groupIn();
  plan.outChannels = shape.groupOut();
  plan.isPlainX = !shape.blockedX;
  plan.isPlainY = !shape.blockedY;
  plan.isShortX = shape.shortX;
  plan.isShortY = shape.shortY;
  plan.isShortResidual = shape.shortResidual;
  plan.hasPairedBlocks = shape.pairedBlocks;
  plan.pixelUnit = 1;
  plan.columnUnit = kPanelGroup * kChannelBlock;
  plan.pixels = plan.outPlane = shape.pixels();
  plan.epilogue = shape.epilogue;
  const int64_t inBlocks = blocksOf(plan.inChannels);
  const int64_t blockBytes =
      shape.taps() * kChannelBlock * kChannelBlock * kPanelGroup * kFloat;
  const int64_t most = std::max<int64_t>(weightBytes / blockBytes, 1);
  plan.kBlock = ceilDiv(inBlocks, ceilDiv(inBlocks, most));

  const int64_t terms = plan.inChannels * shape.taps();
  // All threads then read all of the image, whoever wrote it.
  const int64_t weights = plan.outChannels * terms * kFloat;
  const int64_t image = plan.inChannels * plan.inH * plan.inW * kFloat;
  plan.isPanelSlowest =
      weights > 2 * kCachedBytes || (weights > kCachedBytes && weights > image);
  const int64_t groups = ceilDiv(plan.outChannels, kPanelGroup * kChannelBlock);
  plan.groupBlocks = plan.isPanelSlowest ? groups : 1;
  plan.pixelBlocks = ceilDiv(plan.pixels, mostPixelsOfTile(shape));
  // More tiles: first of fewer groups, then of fewer pixels.
  auto missing = [&](int64_t others) {
    return ceilDiv(wantedTiles, std::max<int64_t>(others, 1));
  };
  const int64_t outer = shape.batch * shape.group;
  const int64_t wide = std::max<int64_t>(groups, 1);
  plan.groupBlocks =
      std::clamp(missing(outer * plan.pixelBlocks), plan.groupBlocks, wide);
  const int64_t work = saturatedProduct({terms, plan.outChannels, plan.pixels});
  const int64_t mostTiles = std::max<int64_t>(
      std::min(work / minTileWork, ceilDiv(plan.pixels, kBlockedRows)), 1);
  plan.pixelBlocks = std::max(plan.pixelBlocks,
                              std::min(missing(outer * plan.groupBlocks),
                                       ceilDiv(mostTiles, plan.groupBlocks)));
  return plan;
}

bool cpu::canRound(const ConvShape &shape) {
  if (shape.winograd)
    return canRoundWinograd(shape);
  if (shape.isDepthwise() && shape.blockedX) // Of tensors of bfloat16.
    return shape.packed && shape.blockedY && shape.hasWholeBlocks();
  if (!shape.packed || !shape.hasWholeBlocks())
    return false;
  if (!shape.blockedX)
    return shape.blockedY && shape.pairedBlocks && shape.dilation[1] == 1 &&
           shape.kernel[1] <= kMostPlainTaps &&
           shape.stride[1] <= kMostPlainStep;
  return shape.taps() <= kMostSplitTaps;
}

bool cpu::paysToSplit(const ConvShape &shape) {
  constexpr int64_t fewestPixels = 48, fewest = 64, fewestWeights = 256 * 64;
  const int64_t terms = shape.groupIn() * shape.taps();
  return shape.blockedX && shape.blockedY && shape.hasWholeBlocks() &&
         !shape.isDepthwise() && !shape.winograd &&
         shape.taps() <= kMostSplitTaps && shape.pixels() >= fewestPixels &&
         shape.groupOut() >= fewest && terms >= fewest &&
         shape.groupOut() * terms >= fewestWeights;
}

int64_t cpu::mostPixelsOfSplit(const ConvShape &shape) {
  return shape.blockedY ? kSplitRows : kMostPixelsOfTile;
}

/// How far taps reach behind a pixel, in pixels along dimension `i`.
static int64_t reachOf(const ConvShape &shape, int i) {
  return (shape.kernel[i] - 1) * shape.dilation[i] / shape.stride[i];
}

/// Images that all taps read, of every stride-th row and column.
static int64_t planesOf(const ConvShape &shape) {
  return std::min(shape.kernel[0], shape.stride[0]) *
         std::min(shape.kernel[1], shape.stride[1]);
}

/// Rows of pixels that one tile may have where all taps share the rounded
/// elements under them; 0 where they do not.
static int64_t rowsOfStrip(const ConvShape &shape) {
  if (!shape.pairedBlocks || !shape.blockedX || !shape.blockedY ||
      shape.taps() == 1)
    return 0;
  const int64_t width = shape.out[1];
  const int64_t pitch = width + reachOf(shape, 1);
  auto fits = [&](int64_t rows) {
    return (rows - 1) * pitch + width <= kSplitRows &&
           saturatedProduct({planesOf(shape), rows + reachOf(shape, 0),
                             pitch}) <= kMostTileRows;
  };
  if (pitch > kMostTileRows || shape.pixels() == 0)
    return 0;
  int64_t rows = 0;
  while (rows < shape.out[0] && fits(rows + 1))
    ++rows;
  return rows;
}

/// Chooses the grid. Aims: many pixels, which share the
/// panels of weights, and enough tiles for 16 workers.
BlockedPlan cpu::planSplit(const ConvShape &shape) {
  constexpr int64_t wantedTiles = 32, mostGroups = 4;
  BlockedPlan plan = planBlocked(shape);
  plan.isPanelSlowest = false;
  if (!shape.blockedX)
    plan.rowTerms = rowTermsOf(shape);
  plan.pixelBlocks = ceilDiv(plan.pixels, mostPixelsOfSplit(shape));
  if (const int64_t rows = rowsOfStrip(shape)) {
    plan.pixelBlocks = ceilDiv(shape.out[0], rows);
    plan.pixelUnit = shape.out[1];
  }
  const int64_t groups = ceilDiv(plan.outChannels, kPanelGroup * kChannelBlock);
  const int64_t outer = std::max<int64_t>(
      saturatedProduct({plan.batch, plan.group, plan.pixelBlocks}), 1);
  plan.groupBlocks = std::clamp(ceilDiv(wantedTiles, outer),
                                ceilDiv(groups, mostGroups), groups);
  return plan;
}

BlockedPlan cpu::planPairs(const ConvShape &shape) {
  constexpr int64_t fewestPixels = 24, manyTiles = 8, fewestTiles = 6;
  BlockedPlan plan = planSplit(shape);
  if (plan.isPlainX) {
    // A row of pixels, or a part of one: what lies under them is one row, too.
    const int64_t width = shape.out[1];
    const int64_t parts =
        ceilDiv(std::max<int64_t>(width, 1), mostPixelsOfSplit(shape));
    plan.pixelUnit =
        width % parts == 0 ? std::max<int64_t>(width / parts, 1) : 1;
    const int64_t most = mostPixelsOfSplit(shape) / plan.pixelUnit;
    plan.pixelBlocks = ceilDiv(plan.pixels / plan.pixelUnit, most);
  }
  const int64_t outer = saturatedProduct({plan.batch, plan.group});
  const int64_t groups = ceilDiv(plan.outChannels, plan.columnUnit);
  if (saturatedProduct({outer, plan.pixelBlocks, groups}) >= manyTiles)
    return plan;
  plan.columnUnit /= 2;
  plan.groupBlocks = ceilDiv(plan.outChannels, plan.columnUnit);
  const int64_t others = saturatedProduct({outer, plan.groupBlocks});
  if (plan.pixelUnit != 1 || others == 0)
    return plan;
  const int64_t wanted = roundUp(ceilDiv(fewestTiles, others), 2);
  plan.pixelBlocks =
      std::max(plan.pixelBlocks, std::min(wanted, plan.pixels / fewestPixels));
  return plan;
}

/// Weights that the second cache does not hold pass once for all images: on
/// tiles blocks of panels that it does hold are computed for all pixels, one
/// after the other.
static BlockedPlan planTiles(const ConvShape &shape) {
  BlockedPlan plan = planSplit(shape);
  constexpr int64_t manyBytes = 3 * kCachedBytes, blockBytes = 640 * 1024;
  constexpr int64_t mostColumns = 4 * kPackedColumns;
  const int64_t columnBytes =
      saturatedProduct({plan.inChannels, shape.taps(), kFloat / 2});
  if (shape.bf16Parts != 1 || !shape.blockedX || !shape.blockedY ||
      plan.group != 1 || saturatedProduct({plan.batch, plan.pixelBlocks}) < 2 ||
      saturatedProduct({plan.outChannels, columnBytes}) <= manyBytes)
    return plan;
  const int64_t columns =
      std::clamp(blockBytes / columnBytes / kPackedColumns * kPackedColumns,
                 kPackedColumns, mostColumns);
  plan.groupBlocks = ceilDiv(plan.outChannels, columns);
  plan.isPanelSlowest = true;
  return plan;
}

/// Lines of a block of pixels of the plan, at most.
static int64_t blockLinesOf(const ConvShape &shape, const BlockedPlan &plan) {
  const int64_t pixels =
      ceilDiv(plan.pixels / plan.pixelUnit, plan.pixelBlocks) * plan.pixelUnit;
  if (shape.taps() == 1) {
    const bool isDense = shape.stride[0] == 1 && shape.stride[1] == 1;
    // Whole rows, of which the first and the last may be parts.
    return isDense ? pixels : (ceilDiv(pixels, plan.outW) + 1) * plan.outW;
  }
  return planesOf(shape) * (pixels / plan.outW + reachOf(shape, 0)) *
         (plan.outW + reachOf(shape, 1));
}

/// Whether pixels are rounded once for all tiles of the grid that read them,
/// where there are enough of both to pay for a step of its own, and not so many
/// blocks of pixels that threads have some for themselves. It depends on the
/// call alone, which has the memory for it.
static bool roundsBefore(const ConvShape &shape, BlockedPlan &plan) {
  constexpr int64_t fewestElements = 1 << 15, mostBlocks = 8;
  if (!plan.isPanelSlowest &&
      saturatedProduct({plan.batch, plan.group, plan.pixelBlocks}) > mostBlocks)
    return false;
  if (shape.bf16Parts != 1 || !shape.pairedBlocks || !shape.blockedX ||
      !shape.blockedY || shape.pixels() == 0 || shape.batch == 0)
    return false;
  // Padding around a tap is no part of x, and has no lines.
  const bool isInside =
      shape.padBegin[0] == 0 && shape.padBegin[1] == 0 && areInside(shape);
  if (shape.taps() == 1 ? !isInside : rowsOfStrip(shape) == 0)
    return false;
  // Tiles read pixels of bfloat16 where they are.
  if (shape.shortX && shape.taps() == 1 && shape.stride[0] == 1 &&
      shape.stride[1] == 1 && shape.in[1] == shape.out[1])
    return false;
  if (shape.taps() != 1 && shape.groupIn() % (2 * kChannelBlock) != 0)
    return false;
  plan.blockLines = blockLinesOf(shape, plan);
  return plan.groupBlocks > 1 && plan.blockLines <= kMostTileRows &&
         saturatedProduct({plan.blockLines, plan.inChannels}) >= fewestElements;
}

static size_t roundedPixelsBytes(const ConvShape &shape) {
  if (shape.bf16Parts != 1)
    return 0;
  BlockedPlan plan = planTiles(shape);
  if (!roundsBefore(shape, plan))
    return 0;
  // Behind the last ones those of a tile that has more rows.
  constexpr int64_t lineTerms = 2 * kChannelBlock, tileRows = 16;
  const int64_t lines =
      saturatedProduct({plan.batch, plan.group, plan.pixelBlocks,
                        ceilDiv(plan.inChannels, lineTerms), plan.blockLines}) +
      tileRows;
  return static_cast<size_t>(lines * lineTerms) * sizeof(uint16_t);
}

size_t cpu::blockedWorkspaceBytes(const ConvShape &shape) {
  return shape.packed ? roundedPixelsBytes(shape) : packedBlockedBytes(shape);
}

BlockedDepthwisePlan cpu::planBlockedDepthwise(const ConvShape &shape) {
  BlockedDepthwisePlan plan = {};
  static_cast<Windows &>(plan) = windowsOf(shape);
  plan.batch = shape.batch;
  plan.channels = shape.outChannels;
  plan.blocks = blocksOf(plan.channels);
  plan.inRows = plan.inH;
  plan.outRows = plan.outH;
  plan.isShortX = shape.shortX;
  plan.isShortY = shape.shortY;
  plan.epilogue = shape.epilogue;
  // In twos: two threads have half of the rows each.
  constexpr int64_t wantedTiles = 32, fewestRows = 4;
  const int64_t others = std::max<int64_t>(plan.batch * plan.blocks, 1);
  plan.rowBlocks =
      std::clamp<int64_t>(roundUp(ceilDiv(wantedTiles, others), 2), 1,
                          std::max<int64_t>(plan.outH / fewestRows, 1));
  plan.rowBlock = std::max<int64_t>(ceilDiv(plan.outH, plan.rowBlocks), 1);
  plan.rowBlocks = ceilDiv(plan.outH, plan.rowBlock);
  return plan;
}

std::unique_ptr<PreparedKernel>
cpu::packBefore(const KernelCall &call, const ConvShape &shape,
                const KernelSet &kernels,
                std::unique_ptr<PreparedKernel> following) {
  return std::make_unique<PackWeights>(call, shape, kernels,
                                       std::move(following));
}

Status cpu::prepareBlocked(const KernelCall &call, const ConvShape &shape,
                           const KernelSet &kernels, const SplitKernels *split,
                           const PairKernels &pairs,
                           std::unique_ptr<PreparedKernel> &prepared) {
  // Artifacts of before have no memory for pixels that are rounded before.
  const bool hasWorkspace = call.outputs.size() > 1;
  DLC_RETURN_IF_ERROR(checkWorkspace(
      call, !hasWorkspace && shape.packed ? 0 : blockedWorkspaceBytes(shape)));
  const bool isEmpty = shape.batch * shape.pixels() == 0;
  if (shape.isDepthwise() && shape.blockedX) {
    const BlockedDepthwisePlan plan = planBlockedDepthwise(shape);
    prepared = std::make_unique<PreparedBlocked<BlockedDepthwisePlan>>(
        call, shape, plan,
        shape.shortY ? pairs.blockedDepthwise : kernels.blockedDepthwise,
        isEmpty ? 0 : plan.batch * plan.blocks * plan.rowBlocks);
  } else {
    auto *function = kernels.blockedConv;
    BlockedPlan plan;
    const bool areTiles = shape.bf16Parts == 1 && pairs.roundPixels;
    if (shape.bf16Parts == 1) {
      function = pairs.blockedConv;
      plan = areTiles ? planTiles(shape) : planPairs(shape);
    } else if (split && shape.bf16Parts != 0 && paysToSplit(shape)) {
      function = split->blockedConv;
      plan = planSplit(shape);
    } else {
      plan = planBlocked(shape);
    }
    plan.isRoundedBefore =
        areTiles && hasWorkspace && roundsBefore(shape, plan);
    prepared = std::make_unique<PreparedBlocked<BlockedPlan>>(
        call, shape, plan, function,
        isEmpty
            ? 0
            : plan.batch * plan.group * plan.pixelBlocks * plan.groupBlocks);
    if (plan.isRoundedBefore)
      prepared = std::make_unique<RoundBefore<BlockedPlan>>(
          call, plan, pairs.roundPixels,
          plan.batch * plan.group * plan.pixelBlocks *
              ceilDiv(ceilDiv(plan.inChannels, 2 * kChannelBlock),
                      kRoundedGroups),
          std::move(prepared));
  }
  if (!shape.packed)
    prepared = packBefore(call, shape, kernels, std::move(prepared));
  return Status::ok();
}
