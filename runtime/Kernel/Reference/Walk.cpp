// SPDX-License-Identifier: Apache-2.0

#include "Walk.h"

#include <algorithm>
#include <cstring>

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

/// Parts are rows of one place in all loops before, or of long rows pieces.
void ElementCopy::split() {
  const Loop &row = loops.back();
  isDense = row.step.to == 1 && row.step.from == 1;
  constexpr int64_t most = 1 << 14;
  const bool splitsRows = loops.size() == 1 || (isDense && row.extent > most);
  splitLoop = loops.size() - (splitsRows ? 1 : 2);
  splitSize = splitsRows ? most
              : isDense  ? std::max<int64_t>(1, most / row.extent)
                         : kBlock;
  const int64_t extent = loops[splitLoop].extent;
  splits = (extent + splitSize - 1) / splitSize;
  partCount = splits;
  int64_t elements = std::min(extent, splitSize);
  if (!splitsRows)
    elements *= row.extent;
  for (size_t d = 0; d < splitLoop; ++d)
    partCount *= loops[d].extent;
  partNanoseconds = static_cast<double>(elements) *
                    (isDense ? static_cast<double>(elementSize) / 10 : 1.5);
}

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

template <size_t size>
void ElementCopy::copyRows(const Bytes &bytes, const Loop &rows,
                           Place at) const {
  if (splitLoop + 1 == loops.size())
    return copyRow<size>(bytes, rows, at);
  const Loop &row = loops.back();
  const int64_t most = isDense ? row.extent : kBlock;
  for (int64_t begin = 0; begin < row.extent; begin += most) {
    const Loop part = {std::min(most, row.extent - begin), row.step};
    Place first = at + row.step * begin;
    for (int64_t i = 0; i < rows.extent; ++i, first += rows.step)
      copyRow<size>(bytes, part, first);
  }
}

void ElementCopy::copyPart(const Bytes &bytes, int64_t part) const {
  Loop rows = loops[splitLoop];
  const int64_t first = part % splits * splitSize;
  Place at = start + rows.step * first;
  rows.extent = std::min(splitSize, rows.extent - first);
  part /= splits;
  for (size_t d = splitLoop; d-- > 0; part /= loops[d].extent)
    at += loops[d].step * (part % loops[d].extent);
  switch (elementSize) {
  case 1:
    return copyRows<1>(bytes, rows, at);
  case 2:
    return copyRows<2>(bytes, rows, at);
  case 4:
    return copyRows<4>(bytes, rows, at);
  case 8:
    return copyRows<8>(bytes, rows, at);
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
