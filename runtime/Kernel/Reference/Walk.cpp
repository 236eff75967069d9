// SPDX-License-Identifier: Apache-2.0

#include "Walk.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

using namespace dlc::rt;
using namespace dlc::rt::ref;

Walk ref::rowMajorWalk(std::span<const int64_t> shape) {
  Walk walk;
  walk.strides.resize(shape.size());
  uint64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i])
    walk.strides[i] = stride;
  return walk;
}

ElementCopy::ElementCopy(const Walk &target, const Walk &source,
                         std::span<const int64_t> shape, size_t elementSize)
    : elementSize(elementSize), start{target.start, source.start} {
  // Also keeps huge dimensions beside a 0 from being counted through.
  if (std::ranges::count(shape, 0) > 0)
    return;
  for (size_t i = 0; i < shape.size(); ++i)
    addInner({shape[i], {target.strides[i], source.strides[i]}});
  if (loops.empty())
    loops.push_back({1, {1, 1}});
  split();
}

/// Two loops that both sides walk evenly are one.
void ElementCopy::addInner(const Loop &loop) {
  if (loop.extent == 1)
    return;
  const bool joins = !loops.empty() &&
                     loops.back().step.to == loop.step.to * loop.extent &&
                     loops.back().step.from == loop.step.from * loop.extent;
  if (joins)
    loops.back() = {loops.back().extent * loop.extent, loop.step};
  else
    loops.push_back(loop);
}

/// Rows that are copied together where some of them lie across, and elements of
/// each meanwhile: their lines stay in the cache.
static constexpr int64_t kBlock = 16;

/// Parts are rows of one place in all loops before, or pieces of long ones.
void ElementCopy::split() {
  isDense = loops.back().step.to == 1 && loops.back().step.from == 1;
  // The order of loops is nothing to anyone else.
  auto run = std::ranges::find_if(
      loops, [](const Loop &loop) { return loop.step.from == 1; });
  isTurned = !isDense && loops.back().step.to == 1 && run != loops.end();
  if (isTurned)
    std::rotate(run, run + 1, loops.end() - 1);
  const Loop &row = loops.back();
  constexpr int64_t most = 1 << 14;
  const bool splitsRows = loops.size() == 1 || (isDense && row.extent > most);
  splitLoop = loops.size() - (splitsRows ? 1 : 2);
  splitSize = splitsRows ? most
              : isDense  ? std::max<int64_t>(1, most / row.extent)
                         : kBlock;
  const int64_t extent = loops[splitLoop].extent;
  splits = (extent + splitSize - 1) / splitSize;
  pieceSize = splitsRows || isDense ? row.extent : most / kBlock;
  pieces = (row.extent + pieceSize - 1) / pieceSize;
  partCount = splits * pieces;
  int64_t elements = std::min(extent, splitSize);
  if (!splitsRows)
    elements *= std::min(row.extent, pieceSize);
  for (size_t d = 0; d < splitLoop; ++d)
    partCount *= loops[d].extent;
  partNanoseconds = static_cast<double>(elements) *
                    (isDense    ? static_cast<double>(elementSize) / 10
                     : isTurned ? static_cast<double>(elementSize) / 8
                                : 1.5);
}

namespace {

/// As many rows of as many elements as a vector has.
template <size_t size> struct Square {
  using Element = std::conditional_t<
      size == 1, uint8_t,
      std::conditional_t<size == 2, uint16_t,
                         std::conditional_t<size == 4, uint32_t, uint64_t>>>;
  typedef Element Vector __attribute__((vector_size(16)));
  static constexpr int lanes = sizeof(Vector) / size;

  /// Elements from `first` on, of a and b in turn.
  template <int first, int... lane>
  static Vector interleave(Vector a, Vector b,
                           std::integer_sequence<int, lane...>) {
    return __builtin_shufflevector(a, b,
                                   (first + lane / 2 + lane % 2 * lanes)...);
  }

  /// Rows become columns. Steps are bytes from row to row.
  static void turn(const char *from, ptrdiff_t fromStep, char *to,
                   ptrdiff_t toStep) {
    constexpr int half = lanes / 2;
    constexpr std::make_integer_sequence<int, lanes> all = {};
    Vector rows[lanes], next[lanes];
    for (int i = 0; i < lanes; ++i)
      std::memcpy(&rows[i], from + i * fromStep, sizeof(Vector));
    for (int done = 1; done < lanes; done *= 2) {
      for (int i = 0; i < half; ++i) {
        next[2 * i] = interleave<0>(rows[i], rows[i + half], all);
        next[2 * i + 1] = interleave<half>(rows[i], rows[i + half], all);
      }
      std::ranges::copy(next, rows);
    }
    for (int i = 0; i < lanes; ++i)
      std::memcpy(to + i * toStep, &rows[i], sizeof(Vector));
  }
};

} // namespace

template <size_t size> void ElementCopy::Bytes::copy(Place at) const {
  std::memcpy(target + at.to * size, source + at.from * size, size);
}

template <size_t size>
void ElementCopy::copyRow(const Bytes &bytes, const Loop &row, Place at) {
  if (row.step.to == 1 && row.step.from == 1) {
    std::memcpy(bytes.target + at.to * size, bytes.source + at.from * size,
                row.extent * size);
    return;
  }
  for (int64_t i = 0; i < row.extent; ++i, at += row.step)
    bytes.copy<size>(at);
}

/// Squares of rows and elements of each; what is left one by one.
template <size_t size>
void ElementCopy::turnRows(const Bytes &bytes, const Loop &rows,
                           const Loop &row, Place at) {
  constexpr int64_t lanes = Square<size>::lanes, line = 64 / size;
  const int64_t wholeRows = rows.extent / lanes * lanes;
  // Lines that lie far apart may have one place in a cache: those of the side
  // where they do are read or written to their ends before the next ones.
  const auto apart = [](uint64_t step) {
    return std::abs(static_cast<int64_t>(step));
  };
  const int64_t width =
      apart(rows.step.to) > apart(row.step.from) ? line : lanes;
  int64_t first = 0;
  while (first + lanes <= row.extent) {
    const int64_t columns =
        std::min(width, (row.extent - first) / lanes * lanes);
    const Place start = at + row.step * first;
    for (int64_t i = 0; i < wholeRows; i += lanes)
      for (int64_t j = 0; j < columns; j += lanes) {
        const Place corner = start + rows.step * i + row.step * j;
        // Steps may be negative.
        Square<size>::turn(bytes.source + corner.from * size,
                           static_cast<ptrdiff_t>(row.step.from * size),
                           bytes.target + corner.to * size,
                           static_cast<ptrdiff_t>(rows.step.to * size));
      }
    for (int64_t i = wholeRows; i < rows.extent; ++i)
      copyRow<size>(bytes, {columns, row.step}, start + rows.step * i);
    first += columns;
  }
  for (int64_t i = 0; i < rows.extent && first < row.extent; ++i)
    copyRow<size>(bytes, {row.extent - first, row.step},
                  at + row.step * first + rows.step * i);
}

template <size_t size>
void ElementCopy::copyRows(const Bytes &bytes, const Loop &rows,
                           const Loop &row, Place at) const {
  if (splitLoop + 1 == loops.size())
    return copyRow<size>(bytes, rows, at);
  if (isTurned)
    return turnRows<size>(bytes, rows, row, at);
  const int64_t most = isDense ? row.extent : kBlock;
  for (int64_t begin = 0; begin < row.extent; begin += most) {
    const Loop part = {std::min(most, row.extent - begin), row.step};
    Place first = at + row.step * begin;
    for (int64_t i = 0; i < rows.extent; ++i, first += rows.step)
      copyRow<size>(bytes, part, first);
  }
}

void ElementCopy::copyPart(const Bytes &bytes, int64_t part) const {
  Loop rows = loops[splitLoop], row = loops.back();
  const int64_t piece = part % pieces * pieceSize;
  part /= pieces;
  const int64_t first = part % splits * splitSize;
  part /= splits;
  Place at = start + rows.step * first + row.step * piece;
  rows.extent = std::min(splitSize, rows.extent - first);
  row.extent = std::min(pieceSize, row.extent - piece);
  for (size_t d = splitLoop; d-- > 0; part /= loops[d].extent)
    at += loops[d].step * (part % loops[d].extent);
  switch (elementSize) {
  case 1:
    return copyRows<1>(bytes, rows, row, at);
  case 2:
    return copyRows<2>(bytes, rows, row, at);
  case 4:
    return copyRows<4>(bytes, rows, row, at);
  case 8:
    return copyRows<8>(bytes, rows, row, at);
  }
}

void ElementCopy::run(void *target, const void *source, int64_t begin,
                      int64_t end) const {
  const Bytes bytes = {static_cast<char *>(target),
                       static_cast<const char *>(source)};
  for (int64_t part = begin; part < end; ++part)
    copyPart(bytes, part);
}

void ref::copyElements(const ComputeContext &context, void *target,
                       const Walk &targetWalk, const void *source,
                       const Walk &sourceWalk, std::span<const int64_t> shape,
                       size_t elementSize) {
  const ElementCopy copy(targetWalk, sourceWalk, shape, elementSize);
  context.inParts(copy.parts(), copy.nanoseconds(),
                  [&](int64_t begin, int64_t end) {
                    copy.run(target, source, begin, end);
                  });
}

void ref::copyTransposed(const ComputeContext &context, void *target,
                         const void *source, std::span<const int64_t> shape,
                         std::span<const int64_t> permutation,
                         size_t elementSize) {
  std::vector<int64_t> targetShape;
  Walk dense = rowMajorWalk(shape), permuted;
  for (int64_t from : permutation) {
    targetShape.push_back(shape[from]);
    permuted.strides.push_back(dense.strides[from]);
  }
  copyElements(context, target, rowMajorWalk(targetShape), source, permuted,
               targetShape, elementSize);
}

/// Twice as many at a time as there are already.
static void fillSome(void *target, int64_t count, const void *element,
                     size_t elementSize) {
  if (count <= 0)
    return;
  char *bytes = static_cast<char *>(target);
  const size_t all = count * elementSize;
  std::memcpy(bytes, element, elementSize);
  constexpr size_t most = 1 << 14; // What is copied again stays in the cache.
  for (size_t done = elementSize; done < all;) {
    const size_t more =
        std::min({done, all - done, most / elementSize * elementSize});
    std::memcpy(bytes + done, bytes, more);
    done += more;
  }
}

void ref::fillElements(const ComputeContext &context, void *target,
                       int64_t count, const void *element, size_t elementSize) {
  context.inParts(count, static_cast<double>(elementSize) / 10,
                  [&](int64_t begin, int64_t end) {
                    fillSome(static_cast<char *>(target) + begin * elementSize,
                             end - begin, element, elementSize);
                  });
}

int64_t ref::extentOf(std::span<const int64_t> shape, size_t begin,
                      size_t end) {
  uint64_t extent = 1;
  for (size_t i = begin; i < end; ++i)
    extent *= shape[i];
  return static_cast<int64_t>(extent);
}

IndexCounter::IndexCounter(std::span<const int64_t> shape)
    : shape(shape), current(shape.size()) {
  for (int64_t dim : shape)
    done |= dim <= 0;
}

void IndexCounter::next() {
  for (size_t dim = shape.size(); dim-- > 0;) {
    if (++current[dim] < shape[dim])
      return;
    current[dim] = 0;
  }
  done = true;
}
