// SPDX-License-Identifier: Apache-2.0
//
// Sums of products of bytes: the microkernels, with the instructions of VNNI or
// without. See Vector.h for who may include it.

#ifndef DLC_RUNTIME_KERNEL_CPU_INTEGERKERNEL_H
#define DLC_RUNTIME_KERNEL_CPU_INTEGERKERNEL_H

#include "IntegerSet.h"
#include "Vector.h"

namespace dlc::rt::cpu {
namespace {

/// One call of a kernel: sums of rows of a, some vectors of columns of b.
struct ByteArguments {
  const uint8_t *a; ///< Rows of terms.
  int64_t aStride;
  const int8_t *b;
  int64_t bStride; ///< In bytes, from four terms of all columns to the next.
  int64_t groups;  ///< Of four terms.
  uint32_t *sums;  ///< kPackedColumns from row to row.
  bool accumulate; ///< Add to the sums there are.
};

using ByteKernel = void (*)(const ByteArguments &);

/// At any address.
typedef uint32_t UnalignedWords
    __attribute__((vector_size(DLC_VECTOR_BYTES), aligned(1), may_alias));

[[gnu::always_inline]] inline Words loadWords(const void *source) {
  return *static_cast<const UnalignedWords *>(source);
}
[[gnu::always_inline]] inline void storeWords(void *target, Words value) {
  *static_cast<UnalignedWords *>(target) = value;
}

/// Four terms of a row in each lane.
[[gnu::always_inline]] inline Words spreadTerms(const uint8_t *a) {
  uint32_t terms;
  __builtin_memcpy(&terms, a, sizeof(terms));
  return terms + Words{};
}

#if DLC_VECTOR_BYTES == 64 && defined(__AVX512VNNI__)

/// With 32 registers.
constexpr int kByteRows = 6, kByteVectors = 4;

/// Four terms of a vector of columns, and of a row.
struct ByteColumns {
  Words bytes;
  [[gnu::always_inline]] explicit ByteColumns(Words bytes) : bytes(bytes) {}
};
struct ByteRow {
  Words bytes;
  [[gnu::always_inline]] explicit ByteRow(Words bytes) : bytes(bytes) {}
};
[[gnu::always_inline]] inline Words addProducts(Words sum, const ByteRow &a,
                                                const ByteColumns &b) {
  return (Words)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)a.bytes,
                                    (__m512i)b.bytes);
}

#else

/// Bytes at even and at odd places, as 16 bits: the instruction that multiplies
/// pairs of those never overflows, as that for bytes does.
constexpr int kByteRows = 4, kByteVectors = kLanes == 16 ? 4 : 2;

struct ByteColumns {
  Words even, odd;
  [[gnu::always_inline]] explicit ByteColumns(Words bytes);
};
struct ByteRow {
  Words even, odd;
  [[gnu::always_inline]] explicit ByteRow(Words bytes)
      : even(bytes & 0x00ff00ffu), odd(bytes >> 8 & 0x00ff00ffu) {}
};

typedef int16_t SignedHalves __attribute__((vector_size(DLC_VECTOR_BYTES)));
[[gnu::always_inline]] inline ByteColumns::ByteColumns(Words bytes)
    : even(reinterpret_cast<Words>(reinterpret_cast<SignedHalves>(bytes << 8) >>
                                   8)),
      odd(reinterpret_cast<Words>(reinterpret_cast<SignedHalves>(bytes) >> 8)) {
}

/// The sums of the products of both halves.
[[gnu::always_inline]] inline Words multiplyHalves(Words a, Words b) {
#if DLC_VECTOR_BYTES == 64
  return (Words)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif DLC_VECTOR_BYTES == 32
  return (Words)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
  return (Words)__builtin_ia32_pmaddwd128((SignedHalves)a, (SignedHalves)b);
#else
  const auto x = reinterpret_cast<IntVec>(a), y = reinterpret_cast<IntVec>(b);
  return reinterpret_cast<Words>((x >> 16) * (y >> 16) +
                                 (x << 16 >> 16) * (y << 16 >> 16));
#endif
}

[[gnu::always_inline]] inline Words addProducts(Words sum, const ByteRow &a,
                                                const ByteColumns &b) {
  return sum + multiplyHalves(a.even, b.even) + multiplyHalves(a.odd, b.odd);
}

#endif

template <int rows, int vectors> void byteKernel(const ByteArguments &t) {
  Words sums[rows][vectors] = {};
  const uint8_t *a = t.a;
  const int8_t *b = t.b;
  for (int64_t l = 0; l < t.groups; ++l, a += kByteGroup, b += t.bStride) {
    Words bytes[vectors];
    DLC_UNROLL for (int v = 0; v < vectors; ++v) bytes[v] =
        loadWords(b + v * DLC_VECTOR_BYTES);
    DLC_UNROLL for (int i = 0; i < rows; ++i) {
      const ByteRow row(spreadTerms(a + i * t.aStride));
      DLC_UNROLL for (int v = 0; v < vectors; ++v) sums[i][v] =
          addProducts(sums[i][v], row, ByteColumns(bytes[v]));
    }
  }
  DLC_UNROLL for (int i = 0; i < rows; ++i) {
    uint32_t *to = t.sums + i * kPackedColumns;
    DLC_UNROLL for (int v = 0; v < vectors; ++v, to += kLanes)
        storeWords(to, t.accumulate ? sums[i][v] + loadWords(to) : sums[i][v]);
  }
}

template <int rows> struct ByteKernelRow {
  ByteKernel at[kByteVectors + 1] = {};
  constexpr ByteKernelRow() { fill<1>(); }
  template <int vectors> constexpr void fill() {
    if constexpr (vectors <= kByteVectors) {
      at[vectors] = byteKernel<rows, vectors>;
      fill<vectors + 1>();
    }
  }
};

template <int rows = 1>
[[gnu::always_inline]] inline ByteKernel byteKernelOf(int64_t wanted,
                                                      int64_t vectors) {
  if constexpr (rows < kByteRows)
    if (wanted > rows)
      return byteKernelOf<rows + 1>(wanted, vectors);
  static constexpr ByteKernelRow<rows> row;
  return row.at[vectors];
}

struct VectorSums {
  /// Sums of `rows` rows and the `width` columns of a part of a packed b, a
  /// multiple of kPanelWidth.
  static void add(const ByteArguments &t, int64_t rows, int64_t width) {
    const int64_t bytes = width * kByteGroup;
    for (int64_t i = 0; i < rows; i += kByteRows) {
      ByteArguments part = t;
      part.a += i * t.aStride;
      for (int64_t at = 0; at < bytes;) {
        const int64_t vectors =
            least<int64_t>((bytes - at) / DLC_VECTOR_BYTES, kByteVectors);
        part.b = t.b + at;
        part.sums = t.sums + i * kPackedColumns + at / kByteGroup;
        byteKernelOf(least<int64_t>(rows - i, kByteRows), vectors)(part);
        at += vectors * DLC_VECTOR_BYTES;
      }
    }
  }
};

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_INTEGERKERNEL_H
