// SPDX-License-Identifier: Apache-2.0

#include "ConvWeightGradient.h"

#include "ConvShape.h"
#include "Isa.h"

#include <algorithm>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

namespace {

class PreparedWeightGradient final : public PreparedKernel {
public:
  PreparedWeightGradient(const ConvWeightPlan &plan, const KernelSet &kernels)
      : plan(plan), kernels(kernels) {}

  int64_t tiles() const override {
    return plan.columns.group * plan.rowBlocks * plan.channelBlocks;
  }

  void run(void *const *arguments, int64_t begin, int64_t end) const override {
    kernels.convWeightGradient(plan, arguments, begin, end);
  }

private:
  const ConvWeightPlan plan;
  const KernelSet &kernels;
};

} // namespace

/// Chooses the grid. Each tile packs its rows once for all output channels, so
/// that those are shared out last; enough tiles to balance 16 workers, but none
/// below some ten microseconds.
static void planGrid(ConvWeightPlan &plan, int64_t vectorWidth) {
  constexpr int64_t wantedTiles = 16, minTileWork = 1 << 20, unit = 4;
  const ConvPlan &columns = plan.columns;
  const int64_t rows = columns.k, terms = columns.batch * columns.pixels;
  // As a double: nothing has been multiplied that could not be in memory yet.
  const double work =
      static_cast<double>(rows) * columns.outChannels * terms * columns.group;
  const int64_t wanted =
      std::clamp<int64_t>(ceilDiv(static_cast<int64_t>(std::min<double>(
                                      wantedTiles, work / minTileWork)),
                                  columns.group),
                          1, wantedTiles);
  const int64_t fewest = ceilDiv(std::max<int64_t>(rows, 1), kMaxWeightRows);
  constexpr int64_t leastRows = 24, leastChannels = 32;
  const int64_t blocks =
      std::max(fewest, std::min(wanted, ceilDiv(rows, leastRows)));
  plan.rowBlock = ceilDiv(ceilDiv(rows, blocks), unit) * unit;
  plan.rowBlocks = rows ? ceilDiv(rows, plan.rowBlock) : 0;
  const int64_t channelBlocks = std::clamp<int64_t>(
      wanted / std::max<int64_t>(plan.rowBlocks, 1), 1,
      std::max<int64_t>(columns.outChannels / leastChannels, 1));
  plan.channelBlock =
      std::max<int64_t>(ceilDiv(columns.outChannels, channelBlocks), 1);
  plan.channelBlocks = ceilDiv(columns.outChannels, plan.channelBlock);
  // The longer a block of terms, the rarer the sums leave their registers.
  const int64_t whole = ceilDiv(columns.pixels, vectorWidth) * vectorWidth;
  if (whole <= kMaxWeightTerms) {
    plan.images =
        std::clamp<int64_t>(kMaxWeightTerms / std::max<int64_t>(whole, 1), 1,
                            std::max<int64_t>(columns.batch, 1));
    plan.pixelBlock = columns.pixels;
    plan.imageTerms = whole;
  } else {
    const int64_t parts = ceilDiv(whole, kMaxWeightTerms);
    plan.images = 1;
    plan.pixelBlock = ceilDiv(ceilDiv(whole, parts), vectorWidth) * vectorWidth;
    plan.imageTerms = plan.pixelBlock;
  }
}

static ConvWeightPlan planWeightGradient(const ConvShape &shape,
                                         int64_t vectorWidth) {
  ConvWeightPlan plan = {};
  plan.columns = makeConvPlan(shape);
  planGrid(plan, vectorWidth);
  return plan;
}

bool cpu::isConvWeightGradientSupported(const KernelCall &call,
                                        std::string &why) {
  ConvShape shape = {};
  Status status = readConvWeightGradient(call, shape);
  why = status.message();
  return status.isOk();
}

Status
cpu::prepareConvWeightGradient(const KernelCall &call, Isa isa,
                               std::unique_ptr<PreparedKernel> &prepared) {
  const KernelSet *kernels = kernelSetOf(isa);
  if (!kernels)
    return makeError(StatusCode::Unsupported, "this machine cannot run %s",
                     std::string(nameOf(isa)).c_str());
  ConvShape shape = {};
  DLC_RETURN_IF_ERROR(readConvWeightGradient(call, shape));
  prepared = std::make_unique<PreparedWeightGradient>(
      planWeightGradient(shape, kernels->vectorWidth), *kernels);
  return Status::ok();
}

KernelCost cpu::convWeightGradientCost(const KernelCall &call) {
  ConvShape shape = {};
  if (!readConvWeightGradient(call, shape).isOk())
    return {};
  const auto terms = static_cast<uint64_t>(shape.batch) * shape.pixels();
  return {2 * terms * shape.outChannels * shape.groupIn() * shape.taps(),
          bytesOf(call)};
}
