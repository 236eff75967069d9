// SPDX-License-Identifier: Apache-2.0
//
// Floats of the types that the fake libraries compute with.

#ifndef DLC_TEST_RUNTIME_KERNEL_CUDA_FAKEFLOATS_H
#define DLC_TEST_RUNTIME_KERNEL_CUDA_FAKEFLOATS_H

#include "dlc/runtime/Base/Half.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace dlc::rt::test {

enum class Real { F32, F16, BF16 };

inline size_t bytesOf(Real real) { return real == Real::F32 ? 4 : 2; }

inline float loadReal(Real real, const void *from) {
  float value = 0;
  uint16_t bits = 0;
  if (real == Real::F32)
    std::memcpy(&value, from, 4);
  else
    std::memcpy(&bits, from, 2);
  return real == Real::F32   ? value
         : real == Real::F16 ? floatFromHalf(bits)
                             : floatFromBFloat16(bits);
}

inline void storeReal(Real real, void *to, float value) {
  uint16_t bits =
      real == Real::F16 ? halfFromFloat(value) : bfloat16FromFloat(value);
  if (real == Real::F32)
    std::memcpy(to, &value, 4);
  else
    std::memcpy(to, &bits, 2);
}

} // namespace dlc::rt::test

#endif // DLC_TEST_RUNTIME_KERNEL_CUDA_FAKEFLOATS_H
