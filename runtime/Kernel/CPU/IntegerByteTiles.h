// SPDX-License-Identifier: Apache-2.0
//
// Sums of products of bytes on the tile registers of the including file.

#ifndef DLC_RUNTIME_KERNEL_CPU_INTEGERBYTETILES_H
#define DLC_RUNTIME_KERNEL_CPU_INTEGERBYTETILES_H

#include "IntegerKernel.h"
#include "IntegerTiles.h"

namespace dlc::rt::cpu {
namespace {

class TileSums {
public:
  static constexpr int64_t kTerms = kByteTerms;
  static constexpr int64_t kRows = 16, kTermsOfRows = kByteTerms;

  void add(const ByteArguments &t, int64_t rows, int64_t width) {
    for (int64_t j = 0; j < width; j += 2 * kTile)
      for (int64_t i = 0; i < rows; i += 2 * kTile) {
        ByteArguments part = t;
        part.a += i * t.aStride;
        part.b += j * kByteGroup;
        part.sums += i * kPackedColumns + j;
        const bool isTall = rows - i > kTile, isWide = width - j > kTile;
        if (isTall && isWide)
          multiply<2, 2>(part);
        else if (isTall)
          multiply<2, 1>(part);
        else if (isWide)
          multiply<1, 2>(part);
        else
          multiply<1, 1>(part);
      }
  }

private:
  static constexpr int64_t kTile = 16;

  template <int tall, int wide> void multiply(const ByteArguments &t);

  Tiles tiles{kTile};
};

template <int tall, int wide>
inline void TileSums::multiply(const ByteArguments &t) {
  constexpr int64_t sumStride = kPackedColumns * int64_t{sizeof(uint32_t)};
  const auto forSums = [&](auto &&function) __attribute__((always_inline)) {
    function.template operator()<0>(t.sums);
    if constexpr (wide == 2)
      function.template operator()<1>(t.sums + kTile);
    uint32_t *below = t.sums + kTile * kPackedColumns;
    if constexpr (tall == 2)
      function.template operator()<2>(below);
    if constexpr (tall == 2 && wide == 2)
      function.template operator()<3>(below + kTile);
  };
  forSums([&]<int sum>(uint32_t * at) __attribute__((always_inline)) {
    if (t.accumulate)
      tiles.template load<sum>(at, sumStride);
    else
      tiles.template zero<sum>();
  });
  const uint8_t *a = t.a;
  const int8_t *b = t.b;
  constexpr int64_t tileGroups = kByteTerms / kByteGroup;
  for (int64_t l = 0; l < t.groups; l += tileGroups) {
    tiles.template load<4>(a, t.aStride);
    tiles.template load<6>(b, t.bStride);
    tiles.template multiplyBytes<0, 0>();
    if constexpr (wide == 2) {
      tiles.template load<7>(b + kTile * kByteGroup, t.bStride);
      tiles.template multiplyBytes<0, 1>();
    }
    if constexpr (tall == 2) {
      tiles.template load<5>(a + kTile * t.aStride, t.aStride);
      tiles.template multiplyBytes<1, 0>();
    }
    if constexpr (tall == 2 && wide == 2)
      tiles.template multiplyBytes<1, 1>();
    a += kByteTerms;
    b += tileGroups * t.bStride;
  }
  forSums([&]<int sum>(uint32_t * at) __attribute__((always_inline)) {
    tiles.template store<sum>(at, sumStride);
  });
}

constexpr IntegerKernels thisByteTiles = {runIntegerMatmul<TileSums>,
                                          runIntegerConv<TileSums>,
                                          runIntegerDepthwise, arrangeImages};

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_INTEGERBYTETILES_H
