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

/// A copy of the element of every index of a shape from one walk to another, in
/// parts that do not depend on each other. Immutable.
class ElementCopy {
public:
  ElementCopy(const Walk &target, const Walk &source,
              std::span<const int64_t> shape, size_t elementSize);

  int64_t parts() const { return partCount; }
  /// What a part takes, about.
  double nanoseconds() const { return partNanoseconds; }
  /// Copies parts [begin, end). Target and source don't overlap.
  void run(void *target, const void *source, int64_t begin, int64_t end) const;

private:
  /// Elements into both sides.
  struct Place {
    uint64_t to, from;

    Place operator*(int64_t count) const { return {to * count, from * count}; }
    Place operator+(Place other) const {
      return {to + other.to, from + other.from};
    }
    void operator+=(Place other) { *this = *this + other; }
  };
  struct Loop {
    int64_t extent;
    Place step;
  };
  struct Bytes {
    char *target;
    const char *source;

    template <size_t size> void copy(Place at) const;
  };

  void addInner(const Loop &loop);
  void split();
  template <size_t size>
  static void copyRow(const Bytes &bytes, const Loop &row, Place at);
  template <size_t size>
  void copyRows(const Bytes &bytes, const Loop &rows, const Loop &row,
                Place at) const;
  template <size_t size>
  static void turnRows(const Bytes &bytes, const Loop &rows, const Loop &row,
                       Place at);
  void copyPart(const Bytes &bytes, int64_t part) const;

  const size_t elementSize;
  const Place start;
  std::vector<Loop> loops; ///< The innermost last.
  bool isDense = false;    ///< The last loop is one run on both sides.
  /// The last loop is one run of the target, that before it one of the source.
  bool isTurned = false;
  size_t splitLoop = 0;    ///< The last one, or that before it.
  int64_t splitSize = 0, splits = 0;
  int64_t pieceSize = 0, pieces = 1; ///< Of the last loop, where it is another.
  int64_t partCount = 0;
  double partNanoseconds = 0;
};

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
