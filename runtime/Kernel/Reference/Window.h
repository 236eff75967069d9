// SPDX-License-Identifier: Apache-2.0
//
// Sliding windows of convolutions and pooling: attributes, automatic padding
// and the number of positions.

#ifndef DLC_RUNTIME_KERNEL_REFERENCE_WINDOW_H
#define DLC_RUNTIME_KERNEL_REFERENCE_WINDOW_H

#include "dlc/runtime/Kernel/Reference/Reference.h"

#include <array>

namespace dlc::rt::ref {

/// A window over `rank` spatial dimensions.
struct Window {
  enum class AutoPad { NotSet, Valid, SameUpper, SameLower };
  using Extents = std::array<int64_t, DLC_MAX_RANK>;

  int64_t rank = 0;
  AutoPad autoPad = AutoPad::NotSet;
  Extents kernel{}; ///< kUnknownDim while not known.
  Extents strides{}, dilations{}, padBegin{}, padEnd{};
};

/// Reads an attribute with one value for each of `rank` dimensions, all within
/// [least, 2^31); absent means `defaultValue` for all.
Status readExtents(const Attributes &attributes, const char *name, int64_t rank,
                   int64_t defaultValue, int64_t least,
                   Window::Extents &values);

/// Reads strides, dilations, pads and auto_pad. Sets the rank, not the kernel.
Status readWindow(const Attributes &attributes, int64_t rank, Window &window);

/// (kernel - 1) * dilation + 1; nullopt on overflow. The kernel is known.
std::optional<int64_t> spanOf(const Window &window, int64_t d);

/// The number of positions of the window along dimension `d` over `input`
/// elements: unknown while the input or the kernel is. Sets the padding that
/// auto_pad asks for. `ceilMode` lets the last position pass the padded end,
/// if it starts within the input or its begin padding.
Status countPositions(Window &window, int64_t d, int64_t input, bool ceilMode,
                      int64_t &positions);

} // namespace dlc::rt::ref

#endif // DLC_RUNTIME_KERNEL_REFERENCE_WINDOW_H
