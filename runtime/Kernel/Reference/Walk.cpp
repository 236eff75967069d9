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
  void run(const ComputeContext &context, uint64_t to, uint64_t from) {
    if (loops.empty())
      loops.push_back({1, 1, 1});
    const CopyLoop &row = loops.back();
    isDense = row.to == 1 && row.from == 1;
    constexpr int64_t most = 1 << 14;
    const bool splitsRows = loops.size() == 1 || (isDense && row.extent > most);
    splitLoop = loops.size() - (splitsRows ? 1 : 2);
    splitSize = splitsRows ? most
                : isDense  ? std::max<int64_t>(1, most / row.extent)
                           : block;
    const int64_t extent = loops[splitLoop].extent;
    splits = (extent + splitSize - 1) / splitSize;
    int64_t parts = splits, elements = std::min(extent, splitSize);
    if (!splitsRows)
      elements *= row.extent;
    for (size_t d = 0; d < splitLoop; ++d)
      parts *= loops[d].extent;
    const double each = isDense ? static_cast<double>(elementSize) / 10 : 1.5;
    context.inParts(parts, static_cast<double>(elements) * each,
                    [&](int64_t begin, int64_t end) {
                      for (int64_t part = begin; part < end; ++part)
                        copyPart(part, to, from);
                    });
  }

private:
  /// Rows that are copied together where some of them lie across, and elements
  /// of each meanwhile: their lines stay in the cache.
  static constexpr int64_t block = 16;

  /// Some elements of a row, or some rows, of one place in all loops before.
  void copyPart(int64_t part, uint64_t to, uint64_t from) const {
    CopyLoop split = loops[splitLoop];
    const int64_t first = part % splits * splitSize;
    to += split.to * first;
    from += split.from * first;
    split.extent = std::min(splitSize, split.extent - first);
    part /= splits;
    for (size_t d = splitLoop; d-- > 0; part /= loops[d].extent) {
      to += loops[d].to * (part % loops[d].extent);
      from += loops[d].from * (part % loops[d].extent);
    }
    switch (elementSize) {
    case 1:
      return copySplit<1>(split, to, from);
    case 2:
      return copySplit<2>(split, to, from);
    case 4:
      return copySplit<4>(split, to, from);
    case 8:
      return copySplit<8>(split, to, from);
    }
  }
  template <size_t size>
  void copySplit(const CopyLoop &split, uint64_t to, uint64_t from) const {
    if (splitLoop + 1 == loops.size())
      return copyRow<size>(split, to, from);
    const CopyLoop &row = loops.back();
    if (!isDense)
      return copyAcross<size>(split, row, to, from);
    for (int64_t i = 0; i < split.extent; ++i)
      copyRow<size>(row, to + i * split.to, from + i * split.from);
  }
  template <size_t size>
  void copyRow(const CopyLoop &row, uint64_t to, uint64_t from) const {
    if (row.to == 1 && row.from == 1) {
      std::memcpy(target + to * size, source + from * size, row.extent * size);
      return;
    }
    for (int64_t i = 0; i < row.extent; ++i, to += row.to, from += row.from)
      std::memcpy(target + to * size, source + from * size, size);
  }
  template <size_t size>
  void copyAcross(const CopyLoop &rows, const CopyLoop &row, uint64_t to,
                  uint64_t from) const {
    for (int64_t begin = 0; begin < row.extent; begin += block) {
      const CopyLoop part = {std::min(block, row.extent - begin), row.to,
                             row.from};
      for (int64_t i = 0; i < rows.extent; ++i)
        copyRow<size>(part, to + i * rows.to + begin * row.to,
                      from + i * rows.from + begin * row.from);
    }
  }

  char *target;
  const char *source;
  size_t elementSize;
  std::vector<CopyLoop> loops;
  bool isDense = false; ///< The last loop is one run on both sides.
  size_t splitLoop = 0; ///< That is divided into parts, the last or before it.
  int64_t splitSize = 0, splits = 0;
};
} // namespace

void ref::copyElements(const ComputeContext &context, void *target,
                       const Walk &targetWalk, const void *source,
                       const Walk &sourceWalk, std::span<const int64_t> shape,
                       size_t elementSize) {
  // Also keeps huge dimensions beside a 0 from being counted through.
  if (std::ranges::count(shape, 0) > 0)
    return;
  Copier copier(target, source, elementSize);
  for (size_t i = 0; i < shape.size(); ++i)
    copier.addInner(shape[i], targetWalk.strides[i], sourceWalk.strides[i]);
  copier.run(context, targetWalk.start, sourceWalk.start);
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
