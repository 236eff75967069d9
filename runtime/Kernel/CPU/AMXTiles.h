// SPDX-License-Identifier: Apache-2.0
//
// The tile registers of AMX. Included by the file compiled for it alone.

#ifndef DLC_RUNTIME_KERNEL_CPU_AMXTILES_H
#define DLC_RUNTIME_KERNEL_CPU_AMXTILES_H

#include <cstdint>
#include <immintrin.h>

namespace dlc::rt::cpu {
namespace {

/// As ModelTiles.h says, which computes the same. What a thread has in the
/// registers belongs to one object at a time.
class Tiles {
public:
  explicit Tiles(int rows) {
    struct alignas(64) {
      uint8_t palette = 1, startRow = 0, reserved[14] = {};
      uint16_t rowBytes[16] = {};
      uint8_t rows[16] = {};
    } config;
    static_assert(sizeof(config) == 64);
    for (int tile = 0; tile < 8; ++tile) {
      config.rowBytes[tile] = 64;
      config.rows[tile] = static_cast<uint8_t>(tile < 6 ? rows : 16);
    }
    // g++ takes the instruction for one that reads eight bytes.
    asm volatile("" : : "r"(&config) : "memory");
    _tile_loadconfig(&config);
  }
  ~Tiles() { _tile_release(); }
  Tiles(const Tiles &) = delete;
  Tiles &operator=(const Tiles &) = delete;

// The instructions name their registers: no variable can.
#define DLC_FOR_TILE(operation, ...)                                           \
  if constexpr (tile == 0)                                                     \
    operation(0 __VA_OPT__(, ) __VA_ARGS__);                                   \
  if constexpr (tile == 1)                                                     \
    operation(1 __VA_OPT__(, ) __VA_ARGS__);                                   \
  if constexpr (tile == 2)                                                     \
    operation(2 __VA_OPT__(, ) __VA_ARGS__);                                   \
  if constexpr (tile == 3)                                                     \
    operation(3 __VA_OPT__(, ) __VA_ARGS__);                                   \
  if constexpr (tile == 4)                                                     \
    operation(4 __VA_OPT__(, ) __VA_ARGS__);                                   \
  if constexpr (tile == 5)                                                     \
    operation(5 __VA_OPT__(, ) __VA_ARGS__);                                   \
  if constexpr (tile == 6)                                                     \
    operation(6 __VA_OPT__(, ) __VA_ARGS__);                                   \
  if constexpr (tile == 7)                                                     \
  operation(7 __VA_OPT__(, ) __VA_ARGS__)

  template <int tile> [[gnu::always_inline]] void zero() {
    DLC_FOR_TILE(_tile_zero);
  }
  template <int tile>
  [[gnu::always_inline]] void load(const void *source, int64_t stride) {
    DLC_FOR_TILE(_tile_loadd, source, stride);
  }
  template <int tile>
  [[gnu::always_inline]] void store(void *target, int64_t stride) {
    DLC_FOR_TILE(_tile_stored, target, stride);
  }
#undef DLC_FOR_TILE

  template <int a, int b> [[gnu::always_inline]] void multiply() {
    if constexpr (a == 0 && b == 0)
      _tile_dpbf16ps(0, 4, 6);
    if constexpr (a == 0 && b == 1)
      _tile_dpbf16ps(1, 4, 7);
    if constexpr (a == 1 && b == 0)
      _tile_dpbf16ps(2, 5, 6);
    if constexpr (a == 1 && b == 1)
      _tile_dpbf16ps(3, 5, 7);
  }
#ifdef __AMX_INT8__
  template <int a, int b> [[gnu::always_inline]] void multiplyBytes() {
    if constexpr (a == 0 && b == 0)
      _tile_dpbusd(0, 4, 6);
    if constexpr (a == 0 && b == 1)
      _tile_dpbusd(1, 4, 7);
    if constexpr (a == 1 && b == 0)
      _tile_dpbusd(2, 5, 6);
    if constexpr (a == 1 && b == 1)
      _tile_dpbusd(3, 5, 7);
  }
#endif
};

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_AMXTILES_H
