// SPDX-License-Identifier: Apache-2.0
//
// Small integers without their zero points.

#ifndef DLC_RUNTIME_KERNEL_REFERENCE_CENTERED_H
#define DLC_RUNTIME_KERNEL_REFERENCE_CENTERED_H

#include "Loop.h"
#include "ShapeRule.h"

namespace dlc::rt::ref {

inline constexpr TypeSet byteTypes{1u << DLC_I8 | 1u << DLC_U8, "i8 or u8"};

/// x - zeroPoint, of i8 or u8; zero points have the shape `shape`, which
/// broadcasts to that of x.
inline std::vector<int32_t> center(const TensorView &x,
                                   const TensorView &zeroPoint,
                                   std::span<const int64_t> shape) {
  std::vector<int32_t> centered(x.size());
  auto valueOf = [](const TensorView &tensor, int64_t at) -> int32_t {
    return tensor.type == DLC_U8 ? tensor.as<uint8_t>()[at]
                                 : tensor.as<int8_t>()[at];
  };
  broadcastLoop<1>(x.shape, {shape})
      .forEach([&](int64_t at, const auto &offsets) {
        centered[at] = valueOf(x, at) - valueOf(zeroPoint, offsets[0]);
      });
  return centered;
}
inline std::vector<int32_t> center(const TensorView &x,
                                   const TensorView &zeroPoint) {
  return center(x, zeroPoint, zeroPoint.shape);
}

} // namespace dlc::rt::ref

#endif // DLC_RUNTIME_KERNEL_REFERENCE_CENTERED_H
