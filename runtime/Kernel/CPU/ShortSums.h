// SPDX-License-Identifier: Apache-2.0
//
// Results of bfloat16 of sums of floats. See Vector.h for who may include it.

#ifndef DLC_RUNTIME_KERNEL_CPU_SHORTSUMS_H
#define DLC_RUNTIME_KERNEL_CPU_SHORTSUMS_H

#include "Activations.h"
#include "PairRows.h"

namespace dlc::rt::cpu {
namespace {

/// c = act(sums + bias + residual), rounded, `columns` of each row; bias and
/// residual are null where absent. Sums may be overwritten.
inline void writeShort(float *sums, int64_t sumStride, const float *bias,
                       const uint16_t *residual, uint16_t *c, int64_t stride,
                       int64_t rows, int64_t columns,
                       const Epilogue &epilogue) {
  const bool clamp = isClamp(epilogue);
  const Vec low = splat(clampLow(epilogue)), high = splat(clampHigh(epilogue));
  const bool isActivatedLast = epilogue.activation != Activation::None && !clamp;
  auto complete = [&](int64_t row, int64_t j) __attribute__((always_inline)) {
    Vec value = load(sums + row * sumStride + j);
    if (bias)
      value += loadFirst(bias + j, columns - j);
    if (residual)
      value += loadFirstShort(residual + row * stride + j, columns - j);
    return clamp ? minOf(maxOf(value, low), high) : value;
  };
  if (isActivatedLast) {
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t j = 0; j < columns; j += kLanes)
        storeFirst(sums + row * sumStride + j, complete(row, j), columns - j);
    activateRest(sums, sumStride, rows, columns, epilogue);
    for (int64_t row = 0; row < rows; ++row)
      roundTerms(sums + row * sumStride, columns, c + row * stride);
    return;
  }
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t j = 0; j < columns; j += kLanes)
      storeFirstShort(c + row * stride + j, complete(row, j), columns - j);
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_SHORTSUMS_H
