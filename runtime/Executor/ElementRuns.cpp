// SPDX-License-Identifier: Apache-2.0

#include "ElementRuns.h"

#include <algorithm>
#include <cstring>

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Adds the next outer loop. One that all operands walk evenly with the loop
/// inside is part of that.
void ElementRuns::addLoop(int64_t extent, const Offsets &strides) {
  if (extent == 1)
    return;
  const bool isEven =
      !loops.empty() &&
      std::equal(strides.begin(), strides.begin() + operandCount,
                 loops.back().strides.begin(),
                 [&](int64_t outer, int64_t inner) {
                   return outer == inner * loops.back().extent;
                 });
  if (isEven)
    loops.back().extent *= extent;
  else
    loops.push_back({extent, strides});
}

/// Whether runs of so many elements had better be gathered.
static bool isShort(int64_t length, int64_t tile, int64_t mostTile) {
  return length % tile != 0 && length <= mostTile / tile * tile / 2;
}

/// Makes one run of several that some operands begin anew, where tiles are
/// whole numbers of these.
void ElementRuns::joinRepeated() {
  if (loops.size() < 2 || tile % loops[0].extent != 0)
    return;
  const Loop &inner = loops[0], &outer = loops[1];
  const int64_t extent = inner.extent * outer.extent;
  if (extent <= tile || isShort(extent, tile, mostTile))
    return;
  auto isEven = [&](size_t k) {
    return outer.strides[k] == inner.strides[k] * inner.extent;
  };
  for (size_t k = 0; k != operandCount; ++k)
    if (!isEven(k) && outer.strides[k] != 0)
      return;
  Loop joined{extent, inner.strides};
  for (size_t k = 0; k + 1 != operandCount; ++k)
    if (!isEven(k)) {
      periods[k] = inner.extent;
      joined.strides[k] = 0;
    }
  loops.erase(loops.begin());
  loops.front() = joined;
}

ElementRuns::ElementRuns(DlcKernelFunction function, int64_t tile,
                         std::span<const TensorView> inputs,
                         const TensorView &result)
    : function(function), tile(tile), operandCount(inputs.size() + 1) {
  auto operandAt = [&](size_t k) -> const TensorView & {
    return k < inputs.size() ? inputs[k] : result;
  };
  Offsets step{}, strides{};
  for (size_t k = 0; k != operandCount; ++k) {
    sizes[k] = static_cast<uint8_t>(sizeOf(operandAt(k).type));
    step[k] = sizes[k];
  }
  for (size_t fromEnd = 1; fromEnd <= result.shape.size(); ++fromEnd) {
    for (size_t k = 0; k != operandCount; ++k) {
      std::span<const int64_t> shape = operandAt(k).shape;
      const int64_t extent =
          fromEnd <= shape.size() ? shape[shape.size() - fromEnd] : 1;
      strides[k] = extent == 1 ? 0 : step[k];
      step[k] *= extent;
    }
    addLoop(result.shape[result.shape.size() - fromEnd], strides);
  }
  if (loops.empty()) // One element.
    loops.push_back({1, {}});
  for (size_t k = 0; k + 1 != operandCount; ++k)
    periods[k] = loops[0].strides[k] == 0;
  joinRepeated();
  for (size_t k = 0; k != operandCount; ++k)
    hasAlike |= periods[k] > 0;
  for (size_t d = 1; d != loops.size(); ++d)
    runs *= loops[d].extent;

  constexpr int64_t wanted = 4096;
  const int64_t length = loops[0].extent;
  areShort = runs > 1 && isShort(length, tile, mostTile);
  pieceRuns = std::max<int64_t>(1, wanted / length);
  pieceLength = std::min<int64_t>(length, wanted);
  piecesOfRun = (length + pieceLength - 1) / pieceLength;
  pieces = (runs + pieceRuns - 1) / pieceRuns * piecesOfRun;
}

void ElementRuns::run(void *const *arguments, int64_t begin,
                      int64_t end) const {
  Copies copies;
  for (int64_t piece = begin; piece != end; ++piece) {
    const int64_t first = piece / piecesOfRun * pieceRuns;
    const int64_t last = std::min(first + pieceRuns, runs);
    const int64_t start = piece % piecesOfRun * pieceLength;
    const int64_t count = std::min(pieceLength, loops[0].extent - start);
    if (areShort) {
      computeShort(arguments, first, last, copies);
      continue;
    }
    for (int64_t run = first; run != last; ++run) {
      Pointers at;
      for (size_t k = 0; k != operandCount; ++k)
        at[k] = static_cast<std::byte *>(arguments[k]) +
                start * loops[0].strides[k];
      int64_t rest = run;
      for (size_t d = 1; d != loops.size(); ++d) {
        const int64_t index = rest % loops[d].extent;
        rest /= loops[d].extent;
        for (size_t k = 0; k != operandCount; ++k)
          at[k] += index * loops[d].strides[k];
      }
      hasAlike ? computeAlike(at, count, copies) : compute(at, count, copies);
    }
  }
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

template <typename T>
static void fill(std::byte *target, const std::byte *source, int64_t period,
                 int64_t count) {
  const T *elements = reinterpret_cast<const T *>(source);
  T *values = reinterpret_cast<T *>(target);
  if (period == 1) {
    std::fill(values, values + count, elements[0]);
    return;
  }
  for (int64_t i = 0; i < count; i += period)
    std::copy(elements, elements + std::min(period, count - i), values + i);
}

/// `count` elements, of which the first `period` repeat.
static void fillElements(std::byte *target, const std::byte *source,
                         size_t size, int64_t period, int64_t count) {
  switch (size) {
  case 1:
    return fill<uint8_t>(target, source, period, count);
  case 2:
    return fill<uint16_t>(target, source, period, count);
  case 4:
    return fill<uint32_t>(target, source, period, count);
  default:
    return fill<uint64_t>(target, source, period, count);
  }
}

/// Copies of `count` whole runs of an operand from run `first` on.
template <typename T>
void ElementRuns::gather(size_t operand, const std::byte *source, int64_t first,
                         int64_t count, std::byte *target) const {
  std::array<int64_t, DLC_MAX_RANK> index;
  int64_t rest = first;
  for (size_t d = 1; d != loops.size(); ++d) {
    index[d] = rest % loops[d].extent;
    rest /= loops[d].extent;
    source += index[d] * loops[d].strides[operand];
  }
  const int64_t length = loops[0].extent, step = periods[operand] ? 0 : 1;
  T *to = reinterpret_cast<T *>(target);
  for (int64_t run = 0; run != count; ++run) {
    const T *from = reinterpret_cast<const T *>(source);
    for (int64_t i = 0; i != length; ++i)
      *to++ = from[i * step];
    for (size_t d = 1; d != loops.size(); ++d) {
      source += loops[d].strides[operand];
      if (++index[d] != loops[d].extent)
        break;
      source -= loops[d].extent * loops[d].strides[operand];
      index[d] = 0;
    }
  }
}

/// Runs [first, last), as many at once as fill tiles. Those of the result lie
/// behind each other.
void ElementRuns::computeShort(void *const *arguments, int64_t first,
                               int64_t last, Copies &copies) const {
  const int64_t length = loops[0].extent;
  const int64_t atOnce = mostTile / tile * tile / length;
  const size_t result = operandCount - 1;
  Pointers held;
  for (size_t k = 0; k != operandCount; ++k)
    held[k] = copies.bytes[k];
  for (int64_t run = first; run < last; run += atOnce) {
    const int64_t count = std::min(atOnce, last - run);
    const int64_t tiles = (count * length + tile - 1) / tile;
    for (size_t k = 0; k != result; ++k) {
      const auto *source = static_cast<const std::byte *>(arguments[k]);
      switch (sizes[k]) {
      case 1:
        gather<uint8_t>(k, source, run, count, held[k]);
        break;
      case 2:
        gather<uint16_t>(k, source, run, count, held[k]);
        break;
      case 4:
        gather<uint32_t>(k, source, run, count, held[k]);
        break;
      default:
        gather<uint64_t>(k, source, run, count, held[k]);
      }
      std::memset(held[k] + count * length * sizes[k], 0,
                  (tiles * tile - count * length) * sizes[k]);
    }
    function(reinterpret_cast<void *const *>(held.data()), 0, tiles);
    std::memcpy(static_cast<std::byte *>(arguments[result]) +
                    run * length * sizes[result],
                held[result], count * length * sizes[result]);
  }
}

/// `count` elements of each operand that lie behind each other. What is less
/// than a tile at the end is computed with the elements in front of it, again:
/// the result is in no operand's memory.
void ElementRuns::compute(const Pointers &at, int64_t count,
                          Copies &copies) const {
  if (count < tile)
    return computeRest(at, count, copies);
  void *const *arguments = reinterpret_cast<void *const *>(at.data());
  function(arguments, 0, count / tile);
  const int64_t rest = count % tile;
  if (rest == 0)
    return;
  Pointers last = at;
  for (size_t k = 0; k != operandCount; ++k)
    last[k] += (count - tile) * sizes[k];
  function(reinterpret_cast<void *const *>(last.data()), 0, 1);
}

/// As compute(), where some operands repeat elements.
void ElementRuns::computeAlike(Pointers at, int64_t count,
                               Copies &copies) const {
  const int64_t step = mostTile / tile * tile;
  for (size_t k = 0; k != operandCount; ++k)
    if (periods[k]) {
      fillElements(copies.bytes[k], at[k], sizes[k], periods[k],
                   std::min(step, (count + tile - 1) / tile * tile));
      at[k] = copies.bytes[k];
    }
  for (int64_t done = 0; done < count; done += step) {
    // The copies have whole tiles, which nothing is in front of.
    const int64_t length = std::min(step, count - done);
    function(reinterpret_cast<void *const *>(at.data()), 0, length / tile);
    const int64_t rest = length % tile;
    for (size_t k = 0; k != operandCount; ++k)
      if (!periods[k])
        at[k] += (length - rest) * sizes[k];
    if (rest)
      computeRest(at, rest, copies);
  }
}

/// Less than a tile, as a copy of a whole one.
void ElementRuns::computeRest(const Pointers &at, int64_t count,
                              Copies &copies) const {
  Pointers held;
  for (size_t k = 0; k != operandCount; ++k) {
    held[k] = copies.bytes[k];
    const size_t bytes = count * sizes[k];
    if (periods[k] || k + 1 == operandCount)
      continue;
    std::memcpy(held[k], at[k], bytes);
    std::memset(held[k] + bytes, 0, tile * sizes[k] - bytes);
  }
  function(reinterpret_cast<void *const *>(held.data()), 0, 1);
  std::memcpy(at[operandCount - 1], held[operandCount - 1],
              count * sizes[operandCount - 1]);
}
