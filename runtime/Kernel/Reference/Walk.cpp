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

namespace {
/// One dimension of a copy, in elements.
struct CopyLoop {
  int64_t extent;
  uint64_t to, from;
};

/// Loops of a copy, the innermost last; two that both sides walk evenly are
/// one.
class Copier {
public:
  Copier(void *target, const void *source, size_t elementSize)
      : target(static_cast<char *>(target)),
        source(static_cast<const char *>(source)), elementSize(elementSize) {}

  void addInner(int64_t extent, uint64_t to, uint64_t from) {
    if (extent == 1)
      return;
    if (!loops.empty() && loops.back().to == to * extent &&
        loops.back().from == from * extent)
      loops.back() = {loops.back().extent * extent, to, from};
    else
      loops.push_back({extent, to, from});
  }
  void run(uint64_t to, uint64_t from) const {
    switch (elementSize) {
    case 1:
      return copy<1>(0, to, from);
    case 2:
      return copy<2>(0, to, from);
    case 4:
      return copy<4>(0, to, from);
    case 8:
      return copy<8>(0, to, from);
    }
  }

private:
  template <size_t size>
  void copyRow(const CopyLoop &row, uint64_t to, uint64_t from) const {
    if (row.to == 1 && row.from == 1) {
      std::memcpy(target + to * size, source + from * size, row.extent * size);
      return;
    }
    for (int64_t i = 0; i < row.extent; ++i, to += row.to, from += row.from)
      std::memcpy(target + to * size, source + from * size, size);
  }
  /// Rows of which the target's, or the source's, lie across: in blocks, whose
  /// lines stay in the cache until all of them is copied.
  template <size_t size>
  void copyAcross(const CopyLoop &rows, const CopyLoop &row, uint64_t to,
                  uint64_t from) const {
    constexpr int64_t block = 16;
    for (int64_t first = 0; first < rows.extent; first += block)
      for (int64_t begin = 0; begin < row.extent; begin += block) {
        const CopyLoop part = {std::min(block, row.extent - begin), row.to,
                               row.from};
        const int64_t end = std::min(first + block, rows.extent);
        for (int64_t i = first; i < end; ++i)
          copyRow<size>(part, to + i * rows.to + begin * row.to,
                        from + i * rows.from + begin * row.from);
      }
  }
  template <size_t size>
  void copy(size_t dim, uint64_t to, uint64_t from) const {
    if (dim == loops.size()) {
      std::memcpy(target + to * size, source + from * size, size);
      return;
    }
    const CopyLoop &loop = loops[dim];
    if (dim + 1 == loops.size())
      return copyRow<size>(loop, to, from);
    const CopyLoop &inner = loops.back();
    if (dim + 2 == loops.size() && (inner.to != 1 || inner.from != 1))
      return copyAcross<size>(loop, inner, to, from);
    for (int64_t i = 0; i < loop.extent; ++i, to += loop.to, from += loop.from)
      copy<size>(dim + 1, to, from);
  }

  char *target;
  const char *source;
  size_t elementSize;
  std::vector<CopyLoop> loops;
};
} // namespace

void ref::copyElements(void *target, const Walk &targetWalk, const void *source,
                       const Walk &sourceWalk, std::span<const int64_t> shape,
                       size_t elementSize) {
  // Also keeps huge dimensions beside a 0 from being counted through.
  if (std::ranges::count(shape, 0) > 0)
    return;
  Copier copier(target, source, elementSize);
  for (size_t i = 0; i < shape.size(); ++i)
    copier.addInner(shape[i], targetWalk.strides[i], sourceWalk.strides[i]);
  copier.run(targetWalk.start, sourceWalk.start);
}

void ref::copyTransposed(void *target, const void *source,
                         std::span<const int64_t> shape,
                         std::span<const int64_t> permutation,
                         size_t elementSize) {
  std::vector<int64_t> targetShape;
  Walk dense = rowMajorWalk(shape), permuted;
  for (int64_t from : permutation) {
    targetShape.push_back(shape[from]);
    permuted.strides.push_back(dense.strides[from]);
  }
  copyElements(target, rowMajorWalk(targetShape), source, permuted, targetShape,
               elementSize);
}

/// Twice as many at a time as there are already.
void ref::fillElements(void *target, int64_t count, const void *element,
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
