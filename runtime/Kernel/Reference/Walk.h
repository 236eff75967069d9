// SPDX-License-Identifier: Apache-2.0
//
// Strided walks over dense tensors. Operations that only move elements need
// the element's size, never its type.

#ifndef DLC_RUNTIME_KERNEL_REFERENCE_WALK_H
#define DLC_RUNTIME_KERNEL_REFERENCE_WALK_H

#include "dlc/runtime/Kernel/Reference/Reference.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dlc::rt::ref {

/// Where the element of index 0 lies and how far apart neighbours are, in
/// elements. Arithmetic wraps: the strides of an empty tensor may be anything.
struct Walk {
  uint64_t start = 0;
  std::vector<uint64_t> strides;
};

/// The walk over a dense row-major tensor of that shape.
Walk rowMajorWalk(std::span<const int64_t> shape);

/// Copies the element of every index of `shape` from one walk to another, in
/// parts of `context`. Target and source don't overlap.
void copyElements(const ComputeContext &context, void *target,
                  const Walk &targetWalk, const void *source,
                  const Walk &sourceWalk, std::span<const int64_t> shape,
                  size_t elementSize);

/// Makes dimension i of the target dimension permutation[i] of the source,
/// which is dense and of shape `shape`.
void copyTransposed(const ComputeContext &context, void *target,
                    const void *source, std::span<const int64_t> shape,
                    std::span<const int64_t> permutation, size_t elementSize);

/// Fills `count` elements with the one at `element`.
void fillElements(const ComputeContext &context, void *target, int64_t count,
                  const void *element, size_t elementSize);

/// Product of the dimensions [begin, end) of a static shape.
int64_t extentOf(std::span<const int64_t> shape, size_t begin, size_t end);

/// Counts through the indices of a shape in row-major order.
class IndexCounter {
public:
  explicit IndexCounter(std::span<const int64_t> shape);

  bool isDone() const { return done; }
  void next();
  std::span<const int64_t> index() const { return current; }
  int64_t operator[](size_t dim) const { return current[dim]; }

private:
  std::span<const int64_t> shape;
  std::vector<int64_t> current;
  bool done = false;
};

} // namespace dlc::rt::ref

#endif // DLC_RUNTIME_KERNEL_REFERENCE_WALK_H
