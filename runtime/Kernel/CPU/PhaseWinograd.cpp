// SPDX-License-Identifier: Apache-2.0

#include "PhaseWinograd.h"

#include "PreparedPlan.h"
#include "Winograd.h"
#include "WinogradMatrix.h"

#include <algorithm>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

static constexpr int64_t kPoints = 36;
/// Of a channel.
static constexpr int64_t kPhases = 4;
static constexpr int64_t kMostChannels = kChannelBlock / kPhases;
/// A part of what a processor's own cache holds.
static constexpr int64_t kLargeFloats = 1 << 18;

bool cpu::hasPhases(const ConvShape &shape) {
  return !shape.blockedX && shape.blockedY;
}

/// Windows begin at an even row or column: with a tap in front, which is zero,
/// where they would not.
static int64_t tapsBefore(const ConvShape &shape, int i) {
  return shape.padBegin[i] % 2 == 0 ? 0 : 1;
}

/// Taps over a phase.
static int64_t sideOf(const ConvShape &shape, int i) {
  return ceilDiv(shape.kernel[i] + tapsBefore(shape, i), 2);
}

/// Terms of a product: phases of all channels.
static int64_t termsOf(const ConvShape &shape) {
  return kPhases * shape.inChannels;
}

Status cpu::checkPhases(const ConvShape &shape) {
  bool hasForm = shape.packed && shape.hasWholeBlocks() && shape.group == 1 &&
                 shape.inChannels <= kMostChannels;
  for (int i = 0; i < 2; ++i)
    hasForm = hasForm && shape.stride[i] == 2 && shape.dilation[i] == 1 &&
              (sideOf(shape, i) == 3 || sideOf(shape, i) == 4);
  if (hasForm && sideOf(shape, 0) == sideOf(shape, 1))
    return Status::ok();
  return makeError(
      StatusCode::InvalidArgument,
      "expected at most %lld channels, packed weights, one group, "
      "strides of two and 5x5 to 8x8 taps, three or four over every "
      "other row and column, for algorithm 'winograd' of a plain "
      "input",
      static_cast<long long>(kMostChannels));
}

static PhaseWinogradPlan planPhases(const ConvShape &shape) {
  PhaseWinogradPlan plan = {};
  const int64_t side = sideOf(shape, 0);
  static_cast<WinogradTensors &>(plan) = winogradTensorsOf(shape, 7 - side);
  plan.side = side;
  plan.channels = shape.inChannels;
  plan.inChannels = termsOf(shape);
  plan.kernelH = shape.kernel[0];
  plan.kernelW = shape.kernel[1];
  plan.phaseTop = plan.padTop + tapsBefore(shape, 0);
  plan.phaseLeft = plan.padLeft + tapsBefore(shape, 1);
  plan.blocks = ceilDiv(plan.tilesH * plan.tilesW, kPhaseTiles);
  // Few pixels of many channels: enough tiles for 16 workers.
  constexpr int64_t wantedTiles = 16;
  const int64_t outer = std::max<int64_t>(plan.images * plan.blocks, 1);
  plan.channelParts = std::clamp<int64_t>(
      ceilDiv(wantedTiles, outer), 1, ceilDiv(plan.outChannels, kHalfChannels));
  plan.isLarge =
      shape.batch * shape.pixels() * shape.outChannels > kLargeFloats;
  return plan;
}

std::unique_ptr<PreparedKernel> cpu::preparePhases(const KernelCall &call,
                                                   const ConvShape &shape,
                                                   const KernelSet &kernels) {
  const PhaseWinogradPlan plan = planPhases(shape);
  return std::make_unique<PreparedFive<PhaseWinogradPlan>>(
      call, plan, plan.images * plan.blocks * plan.channelParts,
      kernels.phaseWinograd);
}

size_t cpu::packedPhaseBytes(const ConvShape &shape) {
  const int64_t each = kPoints * termsOf(shape) + // Transformed ones.
                       shape.inChannels * shape.taps();
  return static_cast<size_t>(shape.outChannels * each) * sizeof(float);
}

/// G g G^T of the taps of one phase, of which those outside of the window are
/// zero.
static void transformPhase(const ConvShape &shape, const float *weights,
                           int64_t phase, double (&numbers)[kPoints]) {
  const int64_t side = sideOf(shape, 0);
  double half[6][4] = {};
  for (int64_t row = 0; row < side; ++row)
    for (int64_t column = 0; column < side; ++column) {
      const int64_t y = 2 * row + phase / 2 - tapsBefore(shape, 0);
      const int64_t x = 2 * column + phase % 2 - tapsBefore(shape, 1);
      if (y < 0 || y >= shape.kernel[0] || x < 0 || x >= shape.kernel[1])
        continue;
      for (int i = 0; i < 6; ++i)
        half[i][column] +=
            kWinogradMatrix.at(i, row, side) * weights[y * shape.kernel[1] + x];
    }
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) {
      double sum = 0;
      for (int64_t column = 0; column < side; ++column)
        sum += kWinogradMatrix.at(j, column, side) * half[i][column];
      numbers[i * 6 + j] =
          sum * kWinogradMatrix.factors[i] * kWinogradMatrix.factors[j];
    }
}

void cpu::packPhases(const ConvShape &shape, const float *source,
                     float *target) {
  const int64_t terms = termsOf(shape), taps = shape.taps();
  for (int64_t out = 0; out < shape.outChannels; ++out) {
    const int64_t first = out / kHalfChannels * kHalfChannels;
    const int64_t width = std::min(kHalfChannels, shape.outChannels - first);
    float *part = target + first * kPoints * terms + out - first;
    for (int64_t term = 0; term < terms; ++term) {
      double numbers[kPoints];
      transformPhase(shape,
                     source + (out * shape.inChannels + term / kPhases) * taps,
                     term % kPhases, numbers);
      for (int64_t point = 0; point < kPoints; ++point)
        part[(point * terms + term) * width] =
            static_cast<float>(numbers[point]);
    }
  }
  target += shape.outChannels * kPoints * terms;
  const int64_t each = shape.inChannels * taps;
  for (int64_t first = 0; first < shape.outChannels; first += kChannelBlock)
    for (int64_t i = 0; i < each; ++i)
      for (int64_t out = first; out < first + kChannelBlock; ++out)
        *target++ = source[out * each + i];
}

KernelCost cpu::phaseCost(const ConvShape &shape) {
  // Each of the numbers of a tile takes so much on its way there, in lanes of
  // which not all have a channel, and back; a call something of its own.
  constexpr uint64_t transform = 20, call = 150'000;
  const PhaseWinogradPlan plan = planPhases(shape);
  const auto terms = static_cast<uint64_t>(plan.inChannels);
  const auto out = static_cast<uint64_t>(plan.outChannels);
  KernelCost cost;
  cost.flops = static_cast<uint64_t>(plan.images * plan.tilesH * plan.tilesW) *
               kPoints * (2 * terms * out + transform * (kChannelBlock + out));
  cost.overhead = call;
  cost.bytes = packedPhaseBytes(shape);
  return cost;
}
