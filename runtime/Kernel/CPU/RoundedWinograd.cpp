// SPDX-License-Identifier: Apache-2.0

#include "RoundedWinograd.h"

#include "BlockedConv.h"
#include "Matmul.h"
#include "Winograd.h"

#include <algorithm>
#include <vector>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

static constexpr int64_t kPoints = 16, kLine = 2 * kChannelBlock;

bool cpu::canRoundWinograd(const ConvShape &shape) {
  bool hasForm = shape.packed && shape.pairedBlocks && shape.blockedX &&
                 shape.blockedY && shape.group == 1 &&
                 shape.inChannels % kLine == 0 &&
                 shape.outChannels % kLine == 0;
  for (int i = 0; i < 2; ++i)
    hasForm = hasForm && shape.kernel[i] == 3 && shape.stride[i] == 1 &&
              shape.dilation[i] == 1;
  return hasForm;
}

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

static int64_t tilesOf(const ConvShape &shape) {
  return saturatedProduct(
      {shape.batch, ceilDiv(shape.out[0], 2), ceilDiv(shape.out[1], 2)});
}

static int64_t groupsOf(const ConvShape &shape) {
  return ceilDiv(shape.outChannels, kPackedColumns);
}

/// Floats of transformed weights, of which each holds a pair.
static int64_t transformedWeights(const ConvShape &shape) {
  return kPoints * shape.inChannels / 2 * shape.outChannels;
}

/// Aims: as few blocks as their sums allow, but two where these have a dozen
/// tiles or there are few panels; enough tiles of the grid for 8 workers, as
/// far as memory for all their inputs allows. Inputs are transformed by whoever
/// multiplies them, in each range of tiles of the grid again: that takes less
/// time than to have them from another thread.
static RoundedWinogradPlan planSquares(const ConvShape &shape) {
  constexpr int64_t wantedTiles = 8, mostTiles = 16, mostFloats = 1 << 21;
  constexpr int64_t fewTiles = 12, fewestTiles = 4, fewGroups = 4;
  RoundedWinogradPlan plan = {};
  static_cast<WinogradTensors &>(plan) = winogradTensorsOf(shape, 2);
  plan.tiles = tilesOf(shape);
  plan.isShortX = shape.shortX;
  plan.isShortY = shape.shortY;
  plan.isShortResidual = shape.shortResidual;
  const int64_t leastTiles =
      groupsOf(shape) < fewGroups ? fewestTiles : fewTiles;
  plan.blocks = std::max<int64_t>(ceilDiv(plan.tiles, kMostSquares),
                                  plan.tiles < 2 * leastTiles ? 1 : 2);
  if (plan.blocks > wantedTiles)
    plan.blocks = roundUp(plan.blocks, 2);
  plan.groupParts =
      std::min(ceilDiv(wantedTiles, plan.blocks), groupsOf(shape));
  plan.blockTiles = ceilDiv(plan.tiles, plan.blocks);
  plan.pointStride = plan.blockTiles * plan.inChannels + kWinogradGap;
  plan.gridTiles = std::min(
      {plan.blocks * plan.groupParts, mostTiles,
       std::max<int64_t>(mostFloats / (kPoints * plan.pointStride), 2)});
  plan.hasLargeWeights =
      transformedWeights(shape) * int64_t{sizeof(float)} > 2 * kCachedBytes;
  return plan;
}

/// For elements as large as floats, which some machines have them as. A tile of
/// AMX may read rows behind the last one.
size_t cpu::roundedWinogradWorkspaceBytes(const ConvShape &shape) {
  constexpr int64_t rowsBehind = 16;
  const RoundedWinogradPlan plan = planSquares(shape);
  return static_cast<size_t>(saturatedProduct(
             {plan.gridTiles, kPoints,
              saturatedProduct({plan.pointStride, sizeof(float)})})) +
         rowsBehind * kLine * sizeof(float);
}

namespace {
class PreparedSquares final : public PreparedKernel {
public:
  PreparedSquares(const KernelCall &call, const ConvShape &shape,
                  const PairKernels &pairs)
      : plan(planSquares(shape)), function(pairs.winograd), arguments(call),
        transformed(transformedWeights(shape)) {}

  int64_t tiles() const override { return plan.tiles > 0 ? plan.gridTiles : 0; }

  int64_t ranges(unsigned threads) const override {
    return plan.groupParts == 1 ? tiles() : std::min<int64_t>(tiles(), threads);
  }

  void run(void *const *given, int64_t begin, int64_t end) const override {
    void *all[7];
    arguments.fill(given, all);
    all[5] = given[arguments.inputs + 1];
    all[6] = static_cast<float *>(all[1]) + transformed;
    function(plan, all, begin, end);
  }

private:
  const RoundedWinogradPlan plan;
  decltype(PairKernels::winograd) const function;
  const FiveArguments arguments;
  const int64_t transformed; ///< Weights, in front of those that are not.
};
} // namespace

Status cpu::prepareRoundedWinograd(const KernelCall &call,
                                   const ConvShape &shape,
                                   const PairKernels &pairs,
                                   std::unique_ptr<PreparedKernel> &prepared) {
  DLC_RETURN_IF_ERROR(
      checkWorkspace(call, roundedWinogradWorkspaceBytes(shape)));
  prepared = std::make_unique<PreparedSquares>(call, shape, pairs);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

size_t cpu::packedRoundedWinogradBytes(const ConvShape &shape) {
  return static_cast<size_t>(transformedWeights(shape)) * sizeof(float) +
         packedBlockedBytes(shape);
}

/// G g of three numbers, `step` apart.
static void transformThree(const double *g, int64_t step, double (&all)[4]) {
  const double sum = (g[0] + g[2 * step]) / 2, middle = g[step] / 2;
  all[0] = g[0];
  all[1] = sum + middle;
  all[2] = sum - middle;
  all[3] = g[2 * step];
}

/// G g G^T of nine taps.
static void transformTaps(const float *taps, double (&numbers)[kPoints]) {
  double wide[9], half[4][3];
  std::copy_n(taps, 9, wide);
  for (int j = 0; j < 3; ++j) {
    double column[4];
    transformThree(wide + j, 3, column);
    for (int i = 0; i < 4; ++i)
      half[i][j] = column[i];
  }
  for (int i = 0; i < 4; ++i) {
    double row[4];
    transformThree(half[i], 1, row);
    std::copy_n(row, 4, numbers + 4 * i);
  }
}

void cpu::packRoundedWinograd(const ConvShape &shape, const float *source,
                              float *target) {
  const int64_t channels = shape.inChannels;
  auto *pairs = reinterpret_cast<uint32_t *>(target);
  // Of the columns of a group, [16][C][columns].
  std::vector<float> numbers(
      static_cast<size_t>(kPoints * channels * kPackedColumns));
  for (int64_t first = 0; first < shape.outChannels; first += kPackedColumns) {
    const int64_t own = std::min(kPackedColumns, shape.outChannels - first);
    for (int64_t out = 0; out < own; ++out)
      for (int64_t c = 0; c < channels; ++c) {
        double all[kPoints];
        transformTaps(source + ((first + out) * channels + c) * 9, all);
        for (int64_t point = 0; point < kPoints; ++point)
          numbers[(point * channels + c) * own + out] =
              static_cast<float>(all[point]);
      }
    for (int64_t point = 0; point < kPoints; ++point)
      pairs = packPairs({numbers.data() + point * channels * own, own, 1},
                        channels, own, pairs);
  }
  packBlocked(shape, source, target + transformedWeights(shape));
}

KernelCost cpu::roundedWinogradCost(const ConvShape &shape) {
  // What each of the numbers of a tile takes on its way there and back.
  constexpr uint64_t transform = 6;
  const auto numbers = static_cast<uint64_t>(tilesOf(shape) * kPoints);
  const auto in = static_cast<uint64_t>(shape.inChannels);
  const auto out = static_cast<uint64_t>(shape.outChannels);
  KernelCost cost;
  cost.flops = numbers * (2 * in * out + transform * (in + out));
  cost.saved = numbers * in * out;
  cost.bytes = roundedWinogradWorkspaceBytes(shape) / 2 +
               static_cast<uint64_t>(transformedWeights(shape)) * sizeof(float);
  return cost;
}
