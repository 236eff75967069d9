// SPDX-License-Identifier: Apache-2.0
//
// What the tile registers of AMX do, in software: the kernels on tiles are
// tested with it on machines that have none.

#ifndef DLC_RUNTIME_KERNEL_CPU_MODELTILES_H
#define DLC_RUNTIME_KERNEL_CPU_MODELTILES_H

#include <cstdint>
#include <cstring>

namespace dlc::rt::cpu {
namespace {

/// Eight registers of rows of 64 bytes: 0 to 3 hold sums, the four
/// products of a tile of a, in 4 and 5, and one of b, in 6 and 7. Those of b
/// have sixteen rows, the others as many as the object is made with. Elements
/// of a and b are pairs of bfloat16, of terms of one row or one column.
class Tiles {
public:
  explicit Tiles(int rows) : rows(rows) {}

  template <int tile> void zero() {
    std::memset(tiles[tile], 0, sizeof(tiles[tile]));
  }
  /// Rows lie `stride` bytes apart.
  template <int tile> void load(const void *source, int64_t stride) {
    for (int row = 0; row < rowsOf(tile); ++row)
      std::memcpy(tiles[tile][row],
                  static_cast<const char *>(source) + row * stride, 64);
  }
  template <int tile> void store(void *target, int64_t stride) {
    for (int row = 0; row < rowsOf(tile); ++row)
      std::memcpy(static_cast<char *>(target) + row * stride, tiles[tile][row],
                  64);
  }

  /// Adds tile `a` of a times tile `b` of b to their sums: the first and the
  /// second of all pairs are summed apart. Denormals are zeros.
  template <int a, int b> void multiply() {
    for (int row = 0; row < rows; ++row) {
      float first[16] = {}, second[16] = {};
      for (int pair = 0; pair < 16; ++pair) {
        const uint32_t word = tiles[4 + a][row][pair];
        const float left = floatOf(word << 16), right = floatOf(word);
        const uint32_t *columns = tiles[6 + b][pair];
        for (int column = 0; column < 16; ++column) {
          first[column] += left * floatOf(columns[column] << 16);
          second[column] += right * floatOf(columns[column]);
        }
      }
      uint32_t *sums = tiles[2 * a + b][row];
      for (int column = 0; column < 16; ++column) {
        const float sum = floatOf(bitsOf(first[column] + second[column]), ~0u) +
                          floatOf(sums[column], ~0u);
        sums[column] = bitsOf(floatOf(bitsOf(sum), ~0u));
      }
    }
  }

  /// The same of sums of integers, and elements that are four bytes: those of a
  /// have no sign.
  template <int a, int b> void multiplyBytes() {
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < 16; ++column) {
        uint32_t &sum = tiles[2 * a + b][row][column];
        for (int term = 0; term < 64; ++term) {
          const int shift = term % 4 * 8;
          const auto left =
              static_cast<uint8_t>(tiles[4 + a][row][term / 4] >> shift);
          const auto right =
              static_cast<int8_t>(tiles[6 + b][term / 4][column] >> shift);
          sum += static_cast<uint32_t>(left * right);
        }
      }
  }

private:
  int rowsOf(int tile) const { return tile < 6 ? rows : 16; }

  /// The float of the masked bits, zero instead of a denormal one.
  static float floatOf(uint32_t bits, uint32_t mask = 0xffff0000u) {
    bits &= (bits & 0x7f800000u) ? mask : 0x80000000u;
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  static uint32_t bitsOf(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
  }

  int rows;
  uint32_t tiles[8][16][16];
};

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_MODELTILES_H
