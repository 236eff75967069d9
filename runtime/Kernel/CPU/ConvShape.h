// SPDX-License-Identifier: Apache-2.0
//
// What the entries of convolutions check and read of their calls.

#ifndef DLC_RUNTIME_KERNEL_CPU_CONVSHAPE_H
#define DLC_RUNTIME_KERNEL_CPU_CONVSHAPE_H

#include "Check.h"

namespace dlc::rt::cpu {

/// A checked call with one-dimensional convolutions made two-dimensional.
struct ConvShape {
  int64_t batch, group, inChannels, outChannels; ///< Channels of all groups.
  int64_t in[2], out[2], kernel[2], stride[2], dilation[2], padBegin[2];
  bool packed;
  bool pairedBlocks; ///< Packed terms go by two blocks of channels.
  bool winograd;     ///< As Winograd.h has it.
  /// That floats may be split to, 1 that they are rounded to, or 0.
  int64_t bf16Parts;
  bool blockedX, blockedY; ///< The tensor is [N][C/16][H][W][16].
  /// It is one of bfloat16, in blocks of 32; so is a residual of such a y, and
  /// may be that of another one.
  bool shortX, shortY, shortResidual;
  Epilogue epilogue;

  /// That tensors in blocks have room for; the last block may have places
  /// behind the last channel, of one group or of depthwise convolutions.
  int64_t inPlaces() const { return placesOf(inChannels, blockedX); }
  int64_t outPlaces() const { return placesOf(outChannels, blockedY); }
  bool hasWholeBlocks() const {
    return inPlaces() == inChannels && outPlaces() == outChannels;
  }
  int64_t groupIn() const { return group ? inChannels / group : 0; }
  int64_t groupOut() const { return group ? outChannels / group : 0; }
  int64_t taps() const { return kernel[0] * kernel[1]; }
  int64_t pixels() const { return out[0] * out[1]; }
  bool isDepthwise() const { return groupIn() == 1; }
  bool isBlocked() const { return blockedX || blockedY; }

private:
  static int64_t placesOf(int64_t channels, bool isBlocked) {
    return isBlocked ? blocksOf(channels) * kChannelBlock : channels;
  }
};

/// Checks a call of cpu.conv: x, w, bias and residual give y, which is blocked
/// where `channel_block` is given; so is x if it has a dimension more than w.
Status readConv(const KernelCall &call, ConvShape &shape);

/// Checks a call of cpu.conv_weight_gradient: x and the gradient of y, each in
/// blocks if it has a dimension more than w, give that of w. Taps may lie
/// anywhere; those outside of x count nothing.
Status readConvWeightGradient(const KernelCall &call, ConvShape &shape);

/// The same of cpu.integer_conv: x and w of bytes give y, in one group or each
/// channel by itself. A blocked tensor has all channels in one block. Of the
/// operands behind them and of element types it says nothing.
Status readIntegerConv(const KernelCall &call, ConvShape &shape);

/// Checks a call of cpu.max_pool_gradient: x and the gradient of its pooling
/// give that of x. As a convolution of each channel on its own.
Status readMaxPoolGradient(const KernelCall &call, ConvShape &shape);

Windows windowsOf(const ConvShape &shape);

/// A plan of which the windows alone are known.
template <typename Plan> Plan planOf(const ConvShape &shape) {
  Plan plan = {};
  static_cast<Windows &>(plan) = windowsOf(shape);
  return plan;
}

/// Planes, of `planes`, that make a tile where each is computed by itself:
/// enough tiles to balance workers, none too small.
int64_t planeBlockOf(const ConvShape &shape, int64_t planes);

/// All of the plan but the grid.
ConvPlan makeConvPlan(const ConvShape &shape);

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_CONVSHAPE_H
