// SPDX-License-Identifier: Apache-2.0
//
// What weights are multiplied by where they are transformed when packed, as
// WinogradTiles.h has it.

#ifndef DLC_RUNTIME_KERNEL_CPU_WINOGRADMATRIX_H
#define DLC_RUNTIME_KERNEL_CPU_WINOGRADMATRIX_H

#include "KernelSet.h"

namespace dlc::rt::cpu {

/// Of three or four taps, F(4, 3) and F(3, 4): rows 0 to 4 of G are powers of
/// a point, the last one, infinity, is the last tap.
struct WinogradMatrix {
  constexpr WinogradMatrix() {
    constexpr double p = kWinogradP, q = kWinogradQ;
    constexpr double points[5] = {0, p, -p, q, -q};
    for (int row = 0; row < 5; ++row) {
      powers[row][0] = 1;
      for (int tap = 1; tap < 4; ++tap)
        powers[row][tap] = powers[row][tap - 1] * points[row];
      double distances = 1;
      for (int other = 0; other < 5; ++other)
        distances *= other == row ? 1 : points[row] - points[other];
      factors[row] = 1 / distances;
    }
  }

  constexpr double at(int64_t row, int64_t tap, int64_t taps) const {
    if (row == 5)
      return tap == taps - 1 ? 1 : 0;
    return powers[row][tap];
  }

  /// Of a row, which at() is without.
  double factors[6] = {0, 0, 0, 0, 0, 1};

private:
  double powers[5][4] = {};
};
inline constexpr WinogradMatrix kWinogradMatrix;

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_WINOGRADMATRIX_H
