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
  /// What to fetch into a cache meanwhile: from there on the next bytes with
  /// each group, as what is needed next comes from further away.
  const int8_t *ahead;
  int64_t aheadStride;
};

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

typedef int16_t SignedHalves __attribute__((vector_size(DLC_VECTOR_BYTES)));

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

#if (DLC_VECTOR_BYTES == 64 && defined(__AVX512VNNI__)) ||                     \
    (DLC_VECTOR_BYTES == 32 && defined(__AVXVNNI__))
#define DLC_MULTIPLIES_BYTES

/// What fits into registers, 32 with 64 bytes and else 16.
constexpr int kByteRows = 6, kByteVectors = kLanes == 16 ? 4 : 2;

/// To each sum those of the products of four u8 and four i8.
[[gnu::always_inline]] inline Words addFourProducts(Words sum, Words a,
                                                    Words b) {
#if DLC_VECTOR_BYTES == 64
  return (Words)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)a, (__m512i)b);
#else
  return (Words)_mm256_dpbusd_avx_epi32((__m256i)sum, (__m256i)a, (__m256i)b);
#endif
}

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
  return addFourProducts(sum, a.bytes, b.bytes);
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

[[gnu::always_inline]] inline ByteColumns::ByteColumns(Words bytes)
    : even(reinterpret_cast<Words>(reinterpret_cast<SignedHalves>(bytes << 8) >>
                                   8)),
      odd(reinterpret_cast<Words>(reinterpret_cast<SignedHalves>(bytes) >> 8)) {
}

[[gnu::always_inline]] inline Words addProducts(Words sum, const ByteRow &a,
                                                const ByteColumns &b) {
  return sum + multiplyHalves(a.even, b.even) + multiplyHalves(a.odd, b.odd);
}

#endif

template <int rows, int vectors>
[[gnu::always_inline]] inline void storeSums(const Words (&sums)[rows][vectors],
                                             uint32_t *to, bool accumulate) {
  DLC_UNROLL for (int i = 0; i < rows; ++i) {
    uint32_t *at = to + i * kPackedColumns;
    DLC_UNROLL for (int v = 0; v < vectors; ++v, at += kLanes)
        storeWords(at, accumulate ? sums[i][v] + loadWords(at) : sums[i][v]);
  }
}

template <int rows, int vectors> void byteKernel(const ByteArguments &t) {
  Words sums[rows][vectors] = {};
  const uint8_t *a = t.a;
  const int8_t *b = t.b;
  const int8_t *ahead = t.ahead;
  for (int64_t l = 0; l < t.groups; ++l, a += kByteGroup, b += t.bStride) {
    __builtin_prefetch(ahead, 0, 2);
    ahead += t.aheadStride;
    Words bytes[vectors];
    DLC_UNROLL for (int v = 0; v < vectors; ++v) bytes[v] =
        loadWords(b + v * DLC_VECTOR_BYTES);
    DLC_UNROLL for (int i = 0; i < rows; ++i) {
      const ByteRow row(spreadTerms(a + i * t.aStride));
      DLC_UNROLL for (int v = 0; v < vectors; ++v) sums[i][v] =
          addProducts(sums[i][v], row, ByteColumns(bytes[v]));
    }
  }
  storeSums(sums, t.sums, t.accumulate);
}

/// The kernels for 1 to `mostRows` rows and 1 to kByteVectors vectors, of which
/// `Of` makes each.
template <typename Arguments, typename Of, int mostRows> struct KernelTable {
  using Kernel = void (*)(const Arguments &);

  constexpr KernelTable() { fill<1, 1>(); }
  Kernel of(int64_t rows, int64_t vectors) const { return at[rows][vectors]; }

private:
  template <int rows, int vectors> constexpr void fill() {
    at[rows][vectors] = Of::template kernel<rows, vectors>;
    if constexpr (vectors < kByteVectors)
      fill<rows, vectors + 1>();
    else if constexpr (rows < mostRows)
      fill<rows + 1, 1>();
  }

  Kernel at[mostRows + 1][kByteVectors + 1] = {};
};

struct ByteKernelOf {
  template <int rows, int vectors>
  static constexpr auto kernel = byteKernel<rows, vectors>;
};
constexpr KernelTable<ByteArguments, ByteKernelOf, kByteRows> byteKernels;

/// Groups of columns that stay in a first cache while rows pass, and all in a
/// second one.
constexpr int64_t kMostGroups = 128;

/// add() for parts of `t` of kMostGroups groups, one after the other.
template <typename Add>
[[gnu::always_inline]] inline void inParts(const ByteArguments &t,
                                           const Add &add) {
  int64_t first = 0;
  do { // Of no terms, too: sums of them are 0.
    ByteArguments part = t;
    part.a += first * kByteGroup;
    part.b += first * t.bStride;
    part.groups = least(t.groups - first, kMostGroups);
    part.accumulate = t.accumulate || first > 0;
    add(part);
    first += kMostGroups;
  } while (first < t.groups);
}

/// Sums of `rows` rows of bytes and the `width` columns of a part of a packed
/// b, a multiple of kPanelWidth.
inline void addBytes(const ByteArguments &t, int64_t rows, int64_t width) {
  constexpr int64_t lanes = kByteVectors * kLanes;
  const int64_t bytes = t.groups * t.bStride;
  const int64_t calls =
      (width + lanes - 1) / lanes * ((rows + kByteRows - 1) / kByteRows);
  // What follows is needed when all of this has passed. Where rows pass once,
  // that is left to the processor.
  ByteArguments part = t;
  part.ahead = t.b + bytes;
  part.aheadStride = rows > kByteRows ? t.bStride / calls : 0;
  for (int64_t i = 0; i < rows; i += kByteRows)
    for (int64_t j = 0; j < width; j += lanes) {
      part.a = t.a + i * t.aStride;
      part.b = t.b + j * kByteGroup;
      part.sums = t.sums + i * kPackedColumns + j;
      byteKernels.of(least<int64_t>(rows - i, kByteRows),
                     least<int64_t>((width - j) / kLanes, kByteVectors))(part);
      part.ahead += t.groups * part.aheadStride;
    }
}

#if defined(DLC_MULTIPLIES_BYTES) || DLC_VECTOR_BYTES == 16

/// Adds up products of rows of a and columns of b, as every `Sums` does.
struct VectorSums {
  /// Terms that it takes are a multiple of that many.
  static constexpr int64_t kTerms = kByteGroup;
  /// Of what is not copied multiples of so many rows, with such of so many
  /// terms, have nothing behind them that it reads.
  static constexpr int64_t kRows = 1, kTermsOfRows = kByteGroup;

  static void add(const ByteArguments &t, int64_t rows, int64_t width) {
    inParts(t, [&](const ByteArguments &part) { addBytes(part, rows, width); });
  }
};

#else

//===----------------------------------------------------------------------===//
// Products of pairs of bytes
//===----------------------------------------------------------------------===//

// An instruction adds up two products of u8 and i8 in 16 bits, where they
// saturate. They don't if i8 of one sign are 128 together at most, without it,
// which is so of nearly all pairs of what was quantised. A group of terms of a
// vector of columns that has others is two groups, each with a half of every
// i8; where there are many of those, products are of 16 bits.

#if DLC_VECTOR_BYTES == 64
[[gnu::always_inline]] inline Words multiplyPairs(Words a, Words b) {
  return (Words)_mm512_maddubs_epi16((__m512i)a, (__m512i)b);
}
[[gnu::always_inline]] inline Words sizesOf(Words bytes) {
  return (Words)_mm512_abs_epi8((__m512i)bytes);
}
[[gnu::always_inline]] inline Words positiveOf(Words bytes) {
  return (Words)_mm512_max_epi8((__m512i)bytes, _mm512_setzero_si512());
}
[[gnu::always_inline]] inline Words largerHalves(Words a, Words b) {
  return (Words)_mm512_max_epi16((__m512i)a, (__m512i)b);
}
[[gnu::always_inline]] inline bool hasHalfOver128(Words halves) {
  return _mm512_cmpgt_epi16_mask((__m512i)halves, _mm512_set1_epi16(128)) != 0;
}
#else
[[gnu::always_inline]] inline Words multiplyPairs(Words a, Words b) {
  return (Words)_mm256_maddubs_epi16((__m256i)a, (__m256i)b);
}
[[gnu::always_inline]] inline Words sizesOf(Words bytes) {
  return (Words)_mm256_abs_epi8((__m256i)bytes);
}
[[gnu::always_inline]] inline Words positiveOf(Words bytes) {
  return (Words)_mm256_max_epi8((__m256i)bytes, _mm256_setzero_si256());
}
[[gnu::always_inline]] inline Words largerHalves(Words a, Words b) {
  return (Words)_mm256_max_epi16((__m256i)a, (__m256i)b);
}
[[gnu::always_inline]] inline bool hasHalfOver128(Words halves) {
  return _mm256_movemask_epi8(
             _mm256_cmpgt_epi16((__m256i)halves, _mm256_set1_epi16(128))) != 0;
}
#endif

/// Of every pair of `bytes` the sum of their sizes.
[[gnu::always_inline]] inline Words sizesOfPairs(Words bytes) {
  return multiplyPairs(sizesOf(bytes), 0x01010101 + Words{});
}

/// Whether products of a pair of i8 may saturate.
[[gnu::always_inline]] inline bool maySaturate(Words bytes) {
  const Words positive = positiveOf(bytes);
  return hasHalfOver128(
      largerHalves(sizesOfPairs(positive), sizesOfPairs(bytes ^ positive)));
}

/// Of so many groups one may be two: more take longer than products of 16 bits.
constexpr int64_t kGroupsOfSplit = 4;

/// Vectors of columns, made ready for a kernel.
struct ReadyColumns {
  /// Takes them as they are, and in two halves where products may saturate;
  /// words of two terms where that would be too many. Of t.b the first vector
  /// is meant.
  void take(const ByteArguments &t, int64_t vectors);
  /// The other halves of the groups that are split, of vector `v`.
  const uint32_t *restOf(int64_t v) const { return data + kRest * (kAll + v); }

  bool isWide;                 ///< There are words of two terms.
  int64_t count[kByteVectors]; ///< Of split groups of each vector.
  /// Of each its distance from the first group, in bytes.
  int32_t split[kByteVectors][kMostGroups];
  /// Groups, and behind the most that there are the other halves; or words, of
  /// all groups first those at even places and then the others.
  alignas(64) uint32_t data[2 * kMostGroups * kByteVectors * kLanes];

private:
  static constexpr int64_t kRest = kMostGroups * kLanes, kAll = kByteVectors;

  template <int vectors> bool trySplit(const ByteArguments &t);
  template <int vectors = 1>
  bool trySplit(const ByteArguments &t, int64_t given);
  void widen(const ByteArguments &t, int64_t vectors);
};

/// False where there are too many to split.
template <int vectors>
inline bool ReadyColumns::trySplit(const ByteArguments &t) {
  typedef int8_t SignedBytes __attribute__((vector_size(DLC_VECTOR_BYTES)));
  int64_t left = t.groups * vectors / kGroupsOfSplit;
  uint32_t *to = data;
  DLC_UNROLL for (int v = 0; v < vectors; ++v) count[v] = 0;
  for (int64_t l = 0; l < t.groups; ++l) {
    Words bytes[vectors], most = {};
    DLC_UNROLL for (int v = 0; v < vectors; ++v) {
      bytes[v] = loadWords(t.b + l * t.bStride + v * DLC_VECTOR_BYTES);
      storeWords(to + v * kLanes, bytes[v]);
      most = largerHalves(most, sizesOfPairs(bytes[v]));
    }
    // Usually neither of any sign does.
    if (__builtin_expect(hasHalfOver128(most), false))
      DLC_UNROLL for (int v = 0; v < vectors; ++v) {
        if (!maySaturate(bytes[v]))
          continue;
        if (--left < 0)
          return false;
        const auto own = reinterpret_cast<SignedBytes>(bytes[v]);
        const SignedBytes half = own >> 1;
        storeWords(to + v * kLanes, reinterpret_cast<Words>(half));
        storeWords(data + kRest * (kAll + v) + count[v] * kLanes,
                   reinterpret_cast<Words>(own - half));
        split[v][count[v]++] = static_cast<int32_t>(l * kByteGroup);
      }
    to += vectors * kLanes;
  }
  return true;
}

/// Of `given` vectors, `vectors` at least.
template <int vectors>
inline bool ReadyColumns::trySplit(const ByteArguments &t, int64_t given) {
  if constexpr (vectors < kByteVectors)
    if (given > vectors)
      return trySplit<vectors + 1>(t, given);
  return trySplit<vectors>(t);
}

inline void ReadyColumns::widen(const ByteArguments &t, int64_t vectors) {
  const int64_t width = vectors * kLanes;
  uint32_t *even = data, *odd = data + t.groups * width;
  for (int64_t l = 0; l < t.groups; ++l)
    for (int64_t v = 0; v < vectors; ++v, even += kLanes, odd += kLanes) {
      const ByteColumns terms(
          loadWords(t.b + l * t.bStride + v * DLC_VECTOR_BYTES));
      storeWords(even, terms.even);
      storeWords(odd, terms.odd);
    }
}

inline void ReadyColumns::take(const ByteArguments &t, int64_t vectors) {
  isWide = !trySplit(t, vectors);
  if (isWide)
    widen(t, vectors);
}

/// Rows times columns that are made ready once for all of them.
class VectorSums {
public:
  static constexpr int64_t kTerms = kByteGroup;
  static constexpr int64_t kRows = 1, kTermsOfRows = kByteGroup * kLanes;

  void add(const ByteArguments &t, int64_t rows, int64_t width);

private:
  static constexpr int64_t kParts = kPackedColumns / kLanes / kByteVectors;

  void addGroups(const ByteArguments &t, int64_t rows, int64_t width);
  void widenRows(const ByteArguments &t, int64_t rows);

  ReadyColumns columns[kParts];
  /// Rows as words of two terms.
  alignas(64) uint32_t halves[kMostByteRows][2 * kMostGroups];
};

inline void VectorSums::widenRows(const ByteArguments &t, int64_t rows) {
  static_assert(kByteTerms / kByteGroup % kLanes == 0);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t l = 0; l < t.groups; l += kLanes) {
      const ByteRow terms(loadWords(t.a + i * t.aStride + l * kByteGroup));
      storeWords(halves[i] + l, terms.even);
      storeWords(halves[i] + kMostGroups + l, terms.odd);
    }
}

/// One call of a kernel for rows that are `aStride` bytes apart.
struct RowArguments {
  const void *a;
  int64_t aStride;
  const ReadyColumns &columns;
  int64_t groups;
  uint32_t *sums;
  bool accumulate;
  const int8_t *ahead; ///< What to fetch, of each group so many bytes.
  int64_t aheadStride;
};

/// Where rows of a are. The distances are hidden, so that each stays an operand
/// of its load: a loop that adds them up has no time for products.
template <int rows> struct RowPointers {
  explicit RowPointers(const RowArguments &t)
      : a(static_cast<const uint8_t *>(t.a)) {
    DLC_UNROLL for (int i = 0; i < rows; ++i) {
      offsets[i] = i * t.aStride;
      asm("" : "+r"(offsets[i]));
    }
  }
  [[gnu::always_inline]] Words at(int row, int64_t byte) const {
    return spreadTerms(a + byte + offsets[row]);
  }

  const uint8_t *a;
  int64_t offsets[rows];
};

template <int rows, int vectors> void pairKernel(const RowArguments &t) {
  const RowPointers<rows> a(t);
  const uint32_t *b = t.columns.data;
  const int8_t *ahead = t.ahead;
  Words sums[rows][vectors] = {};
  const auto add = [&](Words & sum, Words row, const uint32_t *column)
      __attribute__((always_inline)) {
    sum += multiplyHalves(multiplyPairs(row, loadWords(column)),
                          0x00010001 + Words{});
  };
  for (int64_t l = 0; l < t.groups; ++l, b += vectors * kLanes) {
    __builtin_prefetch(ahead, 0, 2);
    ahead += t.aheadStride;
    DLC_UNROLL for (int i = 0; i < rows; ++i) {
      const Words row = a.at(i, l * kByteGroup);
      DLC_UNROLL for (int v = 0; v < vectors; ++v)
          add(sums[i][v], row, b + v * kLanes);
    }
  }
  DLC_UNROLL for (int v = 0; v < vectors; ++v) {
    const uint32_t *rest = t.columns.restOf(v);
    for (int64_t l = 0; l < t.columns.count[v]; ++l, rest += kLanes)
      DLC_UNROLL for (int i = 0; i < rows; ++i)
          add(sums[i][v], a.at(i, t.columns.split[v][l]), rest);
  }
  storeSums(sums, t.sums, t.accumulate);
}

template <int rows, int vectors> void halfKernel(const RowArguments &t) {
  constexpr int64_t word = sizeof(uint32_t);
  const RowPointers<rows> a(t);
  const uint32_t *b = t.columns.data;
  const int8_t *ahead = t.ahead;
  Words sums[rows][vectors] = {};
  for (int64_t first = 0; first < 2; ++first)
    for (int64_t l = 0; l < t.groups; ++l, b += vectors * kLanes) {
      __builtin_prefetch(ahead, 0, 2);
      ahead += t.aheadStride / 2;
      DLC_UNROLL for (int i = 0; i < rows; ++i) {
        const Words row = a.at(i, (first * kMostGroups + l) * word);
        DLC_UNROLL for (int v = 0; v < vectors; ++v) sums[i][v] +=
            multiplyHalves(row, loadWords(b + v * kLanes));
      }
    }
  storeSums(sums, t.sums, t.accumulate);
}

struct PairKernelOf {
  template <int rows, int vectors>
  static constexpr auto kernel = pairKernel<rows, vectors>;
};
struct HalfKernelOf {
  template <int rows, int vectors>
  static constexpr auto kernel = halfKernel<rows, vectors>;
};
/// What fits into registers: fewer rows leave more to load and to count for
/// each product.
constexpr int kPairRows = kLanes == 16 ? 6 : 4, kHalfRows = 6;
constexpr KernelTable<RowArguments, PairKernelOf, kPairRows> pairKernels;
constexpr KernelTable<RowArguments, HalfKernelOf, kHalfRows> halfKernels;

inline void VectorSums::add(const ByteArguments &t, int64_t rows,
                            int64_t width) {
  if (rows <= kByteRows) {
    addBytes(t, rows, width);
    return;
  }
  inParts(t, [&](const ByteArguments &part) { addGroups(part, rows, width); });
}

inline void VectorSums::addGroups(const ByteArguments &t, int64_t rows,
                                  int64_t width) {
  constexpr int64_t lanes = kByteVectors * kLanes;
  const auto vectorsOf = [&](int64_t j) {
    return least<int64_t>((width - j) / kLanes, kByteVectors);
  };
  bool isWide = false;
  for (int64_t j = 0; j < width; j += lanes) {
    ByteArguments part = t;
    part.b += j * kByteGroup;
    columns[j / lanes].take(part, vectorsOf(j));
    isWide |= columns[j / lanes].isWide;
  }
  if (isWide)
    widenRows(t, rows);
  // What follows is needed when all of this has passed.
  const int64_t calls =
      (width + lanes - 1) / lanes * ((rows + kPairRows - 1) / kPairRows);
  const int64_t aheadStride = t.bStride / calls;
  const int8_t *ahead = t.b + t.groups * t.bStride;
  for (int64_t j = 0; j < width; j += lanes) {
    const ReadyColumns &own = columns[j / lanes];
    const int64_t vectors = vectorsOf(j);
    const int64_t mostRows = own.isWide ? kHalfRows : kPairRows;
    for (int64_t i = 0; i < rows; i += mostRows) {
      const int64_t some = least(rows - i, mostRows);
      uint32_t *sums = t.sums + i * kPackedColumns + j;
      if (own.isWide)
        halfKernels.of(some,
                       vectors)({halves[i], sizeof(halves[i]), own, t.groups,
                                 sums, t.accumulate, ahead, aheadStride});
      else
        pairKernels.of(some,
                       vectors)({t.a + i * t.aStride, t.aStride, own, t.groups,
                                 sums, t.accumulate, ahead, aheadStride});
      ahead += t.groups * aheadStride;
    }
  }
}

#endif

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_INTEGERKERNEL_H
