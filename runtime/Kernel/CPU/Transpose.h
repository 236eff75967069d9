// SPDX-License-Identifier: Apache-2.0
//
// Matrices turned round while they are packed. See Vector.h for who may include
// it.

#ifndef DLC_RUNTIME_KERNEL_CPU_TRANSPOSE_H
#define DLC_RUNTIME_KERNEL_CPU_TRANSPOSE_H

#include "Vector.h"

namespace dlc::rt::cpu {
namespace {

/// Four columns of b, which lie along k in memory, into rows of `width`.
inline void packFourTransposed(const float *source, int64_t stride,
                               int64_t terms, float *target, int64_t width) {
  auto row = [&](int64_t j, int64_t l) -> Quad {
    return *reinterpret_cast<const UnalignedQuad *>(source + j * stride + l);
  };
  auto put = [&](int64_t l, Quad value) {
    *reinterpret_cast<UnalignedQuad *>(target + l * width) = value;
  };
  int64_t l = 0;
  for (; l + 4 <= terms; l += 4) {
    Quad r0 = row(0, l), r1 = row(1, l), r2 = row(2, l), r3 = row(3, l);
    Quad low01 = __builtin_shufflevector(r0, r1, 0, 4, 1, 5);
    Quad high01 = __builtin_shufflevector(r0, r1, 2, 6, 3, 7);
    Quad low23 = __builtin_shufflevector(r2, r3, 0, 4, 1, 5);
    Quad high23 = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
    put(l, __builtin_shufflevector(low01, low23, 0, 1, 4, 5));
    put(l + 1, __builtin_shufflevector(low01, low23, 2, 3, 6, 7));
    put(l + 2, __builtin_shufflevector(high01, high23, 0, 1, 4, 5));
    put(l + 3, __builtin_shufflevector(high01, high23, 2, 3, 6, 7));
  }
  for (; l < terms; ++l)
    for (int64_t j = 0; j < 4; ++j)
      target[l * width + j] = source[j * stride + l];
}

/// Columns of a transposed b into rows of `width`.
inline void packTransposed(const float *source, int64_t stride, int64_t terms,
                           int64_t columns, float *target, int64_t width) {
  int64_t j = 0;
  for (; j + 4 <= columns; j += 4)
    packFourTransposed(source + j * stride, stride, terms, target + j, width);
  for (; j < columns; ++j)
    for (int64_t l = 0; l < terms; ++l)
      target[l * width + j] = source[j * stride + l];
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_TRANSPOSE_H
