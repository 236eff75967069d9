// SPDX-License-Identifier: Apache-2.0
//
// Elementwise loops over operands that broadcast: runs of elements go through
// small buffers in a wide type (see Element.h), so that an operation is one
// function on doubles, int64_t or uint64_t. Nothing is allocated.

#ifndef DLC_RUNTIME_KERNEL_REFERENCE_LOOP_H
#define DLC_RUNTIME_KERNEL_REFERENCE_LOOP_H

#include "Element.h"

#include "dlc/runtime/Kernel/Reference/Reference.h"

#include <algorithm>
#include <array>
#include <utility>

namespace dlc::rt::ref {

/// Reads `count` elements of `view`, `stride` apart from `offset` on, as T:
/// double, int64_t or uint64_t.
template <typename T>
void loadRun(const TensorView &view, int64_t offset, int64_t stride,
             int64_t count, T *values);

/// Writes `count` elements from `offset` on, converting as `cast` does.
template <typename T>
void storeRun(const TensorView &view, int64_t offset, int64_t count,
              const T *values);

/// Calls function(i) for each i < count, in parts; `nanoseconds` is what each
/// takes, about.
template <typename F>
void forEachInParts(const ComputeContext &context, int64_t count,
                    double nanoseconds, const F &function) {
  context.inParts(count, nanoseconds, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      function(i);
  });
}

/// Folds of every eighth element, which do not wait for each other.
template <typename T> using Parts = std::array<T, 8>;

/// parts[k] = step(parts[k], i) for each i < count, in some k.
template <typename T, typename Step>
void stepParts(Parts<T> &parts, int64_t count, Step step) {
  constexpr int64_t partCount = std::tuple_size_v<Parts<T>>;
  int64_t i = 0;
  for (; i + partCount <= count; i += partCount)
    for (int64_t k = 0; k < partCount; ++k)
      parts[k] = step(parts[k], i + k);
  for (; i < count; ++i)
    parts[0] = step(parts[0], i);
}

/// Nested loops over at most DLC_MAX_RANK dimensions that keep N element
/// offsets. Dimensions that all offsets traverse evenly are merged, so that
/// the common cases are one run.
template <size_t N> class StridedLoop {
public:
  using Offsets = std::array<int64_t, N>;

  /// Adds the next outer dimension, the innermost first.
  void addOuter(int64_t extent, const Offsets &dimStrides) {
    empty |= extent == 0;
    if (extent == 1)
      return;
    bool merges = rank > 0;
    for (size_t k = 0; merges && k < N; ++k)
      merges = dimStrides[k] == strides[rank - 1][k] * extents[rank - 1];
    if (merges) {
      extents[rank - 1] *= extent;
      return;
    }
    extents[rank] = extent;
    strides[rank++] = dimStrides;
  }

  /// Number of elements.
  int64_t size() const {
    int64_t product = empty ? 0 : 1;
    for (size_t d = 0; d < rank && !empty; ++d)
      product *= extents[d];
    return product;
  }

  /// Calls function(at, offsets, strides, count) for each run along the
  /// innermost dimension, in row-major order, of the elements [begin, end);
  /// `at` counts the elements before the run.
  template <typename F>
  void forEachRun(int64_t begin, int64_t end, F &&function) const {
    if (begin >= end)
      return;
    if (rank == 0)
      return function(int64_t(0), Offsets{}, Offsets{}, int64_t(1));
    std::array<int64_t, DLC_MAX_RANK> index{};
    Offsets offsets{};
    int64_t rest = begin / extents[0], within = begin % extents[0];
    for (size_t d = 1; d < rank; rest /= extents[d++]) {
      index[d] = rest % extents[d];
      for (size_t k = 0; k < N; ++k)
        offsets[k] += strides[d][k] * index[d];
    }
    for (int64_t at = begin; at < end; within = 0) {
      const int64_t count = std::min(extents[0] - within, end - at);
      Offsets first = offsets;
      for (size_t k = 0; k < N; ++k)
        first[k] += strides[0][k] * within;
      function(at, first, strides[0], count);
      at += count;
      for (size_t d = 1; d < rank && !advance(d, index, offsets);)
        ++d;
    }
  }
  template <typename F> void forEachRun(F &&function) const {
    forEachRun(0, size(), function);
  }

  /// Calls function(at, offsets) for each of the elements [begin, end).
  template <typename F>
  void forEach(int64_t begin, int64_t end, F &&function) const {
    forEachRun(
        begin, end,
        [&](int64_t at, Offsets offsets, const Offsets &steps, int64_t count) {
          for (int64_t i = 0; i < count; ++i) {
            function(at + i, offsets);
            for (size_t k = 0; k < N; ++k)
              offsets[k] += steps[k];
          }
        });
  }
  template <typename F> void forEach(F &&function) const {
    forEach(0, size(), function);
  }

private:
  /// Steps along dimension `d`; false when it starts over.
  bool advance(size_t d, std::array<int64_t, DLC_MAX_RANK> &index,
               Offsets &offsets) const {
    bool wraps = ++index[d] == extents[d];
    for (size_t k = 0; k < N; ++k)
      offsets[k] += strides[d][k] * (wraps ? 1 - extents[d] : 1);
    if (wraps)
      index[d] = 0;
    return !wraps;
  }

  size_t rank = 0; ///< Innermost dimension first.
  std::array<int64_t, DLC_MAX_RANK> extents{};
  std::array<Offsets, DLC_MAX_RANK> strides{};
  bool empty = false;
};

/// Walks a result together with N dense operands that broadcast to it.
template <size_t N>
StridedLoop<N>
broadcastLoop(std::span<const int64_t> result,
              const std::array<std::span<const int64_t>, N> &operands) {
  StridedLoop<N> loop;
  std::array<int64_t, N> strides, step;
  step.fill(1);
  for (size_t fromEnd = 1; fromEnd <= result.size(); ++fromEnd) {
    for (size_t k = 0; k < N; ++k) {
      bool inside = fromEnd <= operands[k].size();
      int64_t dim = inside ? operands[k][operands[k].size() - fromEnd] : 1;
      strides[k] = dim == 1 ? 0 : step[k];
      step[k] *= dim;
    }
    loop.addOuter(result[result.size() - fromEnd], strides);
  }
  return loop;
}

/// The lines of a dense tensor along one axis: their number of elements, the
/// distance between these, and the loop over the lines' first elements.
struct Lines {
  int64_t length, stride = 1;
  StridedLoop<1> starts;
};

inline Lines linesOf(std::span<const int64_t> shape, int64_t axis) {
  Lines lines;
  lines.length = shape[axis];
  int64_t stride = 1;
  for (int64_t d = static_cast<int64_t>(shape.size()) - 1; d >= 0; --d) {
    if (d == axis)
      lines.stride = stride;
    else
      lines.starts.addOuter(shape[d], {stride});
    stride *= shape[d];
  }
  return lines;
}

template <typename T, typename R, typename F, size_t... operand>
void mapBlocks(ComputeContext &context, F &function,
               std::index_sequence<operand...>) {
  constexpr int64_t blockSize = 128;
  constexpr size_t count = sizeof...(operand);
  const TensorView &result = context.output(0);
  auto loop =
      broadcastLoop<count>(result.shape, {context.input(operand).shape...});
  context.inParts(loop.size(), 2, [&](int64_t first, int64_t last) {
    T inputs[count][blockSize];
    R outputs[blockSize];
    loop.forEachRun(first, last,
                    [&](int64_t at, const auto &offsets, const auto &strides,
                        int64_t length) {
                      for (int64_t begin = 0; begin < length;
                           begin += blockSize) {
                        int64_t block = std::min(blockSize, length - begin);
                        (loadRun(context.input(operand),
                                 offsets[operand] + begin * strides[operand],
                                 strides[operand], block, inputs[operand]),
                         ...);
                        for (int64_t i = 0; i < block; ++i)
                          outputs[i] = function(inputs[operand][i]...);
                        storeRun(result, at + begin, block, outputs);
                      }
                    });
  });
}

/// Computes result 0 from the first `count` inputs, read as T and broadcast:
/// R function(T...), for each element.
template <typename T, typename R, size_t count, typename F>
void mapElements(ComputeContext &context, F function) {
  mapBlocks<T, R>(context, function, std::make_index_sequence<count>());
}

} // namespace dlc::rt::ref

#endif // DLC_RUNTIME_KERNEL_REFERENCE_LOOP_H
