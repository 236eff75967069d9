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
struct Copier {
  char *target;
  const char *source;
  std::span<const uint64_t> targetStrides, sourceStrides;
  std::span<const int64_t> shape;

  template <size_t size>
  void copy(size_t dim, uint64_t to, uint64_t from) const {
    if (dim == shape.size()) {
      std::memcpy(target + to * size, source + from * size, size);
      return;
    }
    for (int64_t i = 0; i < shape[dim]; ++i) {
      copy<size>(dim + 1, to, from);
      to += targetStrides[dim];
      from += sourceStrides[dim];
    }
  }
};
} // namespace

void ref::copyElements(void *target, const Walk &targetWalk, const void *source,
                       const Walk &sourceWalk, std::span<const int64_t> shape,
                       size_t elementSize) {
  // Also keeps huge dimensions beside a 0 from being counted through.
  if (std::ranges::count(shape, 0) > 0)
    return;
  Copier copier{static_cast<char *>(target), static_cast<const char *>(source),
                targetWalk.strides, sourceWalk.strides, shape};
  uint64_t to = targetWalk.start, from = sourceWalk.start;
  switch (elementSize) {
  case 1:
    return copier.copy<1>(0, to, from);
  case 2:
    return copier.copy<2>(0, to, from);
  case 4:
    return copier.copy<4>(0, to, from);
  case 8:
    return copier.copy<8>(0, to, from);
  }
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

void ref::fillElements(void *target, int64_t count, const void *element,
                       size_t elementSize) {
  char *bytes = static_cast<char *>(target);
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(bytes + i * elementSize, element, elementSize);
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
