// SPDX-License-Identifier: Apache-2.0

#include "Gradients.h"

#include "BlockedGradient.h"
#include "Isa.h"
#include "PreparedPlan.h"

#include <algorithm>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

//===----------------------------------------------------------------------===//
// cpu.conv_weight_gradient
//===----------------------------------------------------------------------===//

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
  const KernelSet *kernels = nullptr;
  DLC_RETURN_IF_ERROR(findKernels(isa, kernels));
  ConvShape shape = {};
  DLC_RETURN_IF_ERROR(readConvWeightGradient(call, shape));
  if (shape.isBlocked())
    return prepareBlockedGradient(call, shape, *kernels, prepared);
  DLC_RETURN_IF_ERROR(checkWorkspace(call, 0));
  const ConvWeightPlan plan = planWeightGradient(shape, kernels->vectorWidth);
  prepared = std::make_unique<PreparedPlan<ConvWeightPlan>>(
      plan, plan.columns.group * plan.rowBlocks * plan.channelBlocks,
      kernels->convWeightGradient);
  return Status::ok();
}

KernelCost cpu::convWeightGradientCost(const KernelCall &call) {
  ConvShape shape = {};
  if (!readConvWeightGradient(call, shape).isOk())
    return {};
  if (shape.winograd)
    return winogradGradientCost(shape);
  const auto terms = static_cast<uint64_t>(shape.batch) * shape.pixels();
  const uint64_t flops =
      2 * terms * shape.outChannels * shape.groupIn() * shape.taps();
  // By measurement: plain columns are packed, and the lanes of sums summed.
  constexpr uint64_t gathering = 3, storing = 8;
  return {flops, bytesOf(call),
          flops / (shape.isBlocked() ? storing : gathering)};
}

size_t cpu::convWeightGradientWorkspace(const KernelCall &call) {
  ConvShape shape = {};
  if (!readConvWeightGradient(call, shape).isOk())
    return 0;
  return blockedGradientWorkspace(shape);
}

//===----------------------------------------------------------------------===//
// cpu.max_pool_gradient
//===----------------------------------------------------------------------===//

static MaxPoolPlan planMaxPoolGradient(const ConvShape &shape) {
  auto plan = planOf<MaxPoolPlan>(shape);
  plan.planes =
      shape.batch * shape.inChannels / (shape.blockedX ? kChannelBlock : 1);
  plan.planeBlock = planeBlockOf(shape, plan.planes);
  return plan;
}

bool cpu::isMaxPoolGradientSupported(const KernelCall &call, std::string &why) {
  ConvShape shape = {};
  Status status = readMaxPoolGradient(call, shape);
  why = status.message();
  return status.isOk();
}

Status cpu::prepareMaxPoolGradient(const KernelCall &call, Isa isa,
                                   std::unique_ptr<PreparedKernel> &prepared) {
  const KernelSet *kernels = nullptr;
  DLC_RETURN_IF_ERROR(findKernels(isa, kernels));
  ConvShape shape = {};
  DLC_RETURN_IF_ERROR(readMaxPoolGradient(call, shape));
  const MaxPoolPlan plan = planMaxPoolGradient(shape);
  prepared = std::make_unique<PreparedPlan<MaxPoolPlan>>(
      plan, ceilDiv(plan.planes, plan.planeBlock),
      shape.blockedX ? kernels->blockedMaxPoolGradient
                     : kernels->maxPoolGradient);
  return Status::ok();
}

KernelCost cpu::maxPoolGradientCost(const KernelCall &call) {
  ConvShape shape = {};
  if (!readMaxPoolGradient(call, shape).isOk())
    return {};
  const auto planes = static_cast<uint64_t>(shape.batch) * shape.inChannels;
  return {planes * shape.pixels() * shape.taps(), bytesOf(call)};
}
