// SPDX-License-Identifier: Apache-2.0
//
// Inputs and outputs of a run whose extents are smaller than those of the
// program that computes it (Binding.padded).

#ifndef DLC_RUNTIME_EXECUTOR_PADDEDPORTS_H
#define DLC_RUNTIME_EXECUTOR_PADDEDPORTS_H

#include "ProgramState.h"

#include <span>
#include <vector>

namespace dlc::rt {

/// Copies `source` to `target`, dense tensors of as many dimensions and
/// elements of `bytes`: what both have. Where `target` is larger it has the
/// last elements of `source` again, since a model may refuse made-up data;
/// there `source` has some.
void copyResized(void *target, std::span<const int64_t> targetShape,
                 const void *source, std::span<const int64_t> sourceShape,
                 size_t bytes);

class PaddedPorts {
public:
  /// For a program by shape, maybe without padded extents.
  explicit PaddedPorts(const Program::State &program);

  /// Finds the sizes of padded extents by the shapes of all values. Errors:
  /// InvalidArgument (inputs do not agree, nothing there).
  Status findSizes(std::span<const std::vector<int64_t>> shapes);
  /// The sizes that it found, one for each extent, in place.
  std::span<int64_t> found() { return sizes; }
  /// Whether an input of `shape` can be that of a part which has `type`: with
  /// padding, as far as `padded` (Port::padded) allows.
  static bool fits(const TensorType &type, std::span<const int64_t> shape,
                   std::span<const int32_t> padded);
  /// The elements that part number `index` has of what is padded: fewer are
  /// less to compute.
  double elementsOf(size_t index) const { return elements[index]; }
  /// Whether `part` has an extent that is larger than what there is of it.
  bool isPadded(const Program &part) const;

  /// Input `index` with `shape`, in the shape of `part`: in memory of its own
  /// until the next call for that input. Errors: OutOfMemory.
  Result<TensorView> enlarge(size_t index, const TensorView &given,
                             const Program &part);
  /// The shape that is left of that of output `index`, until the next call.
  std::span<const int64_t> shapeOfOutput(size_t index,
                                         std::span<const int64_t> shape);

private:
  const Program::State &program;
  std::vector<double> elements;      ///< Of each part.
  std::vector<int64_t> sizes;        ///< Of each padded extent.
  std::vector<AlignedBuffer> memory; ///< Of each input.
  std::vector<int64_t> shape;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_EXECUTOR_PADDEDPORTS_H
