// SPDX-License-Identifier: Apache-2.0
//
// Which elements of a transposed convolution's input meet which of its result.

#ifndef DLC_RUNTIME_KERNEL_REFERENCE_TRANSPOSEPLAN_H
#define DLC_RUNTIME_KERNEL_REFERENCE_TRANSPOSEPLAN_H

#include "ConvolutionShape.h"

namespace dlc::rt::ref {

/// Elements of a row of the input that kernel element `k` carries into one of
/// the result, a stride apart there.
struct CarriedRun {
  int64_t k, source, target, count;
};

/// Of one plane of input and result.
struct TransposePlan {
  ConvolutionShape shape;
  std::vector<int64_t> extents; ///< Spatial extents of the result.
  int64_t inputSize = 1, outputSize = 1, kernelSize = 1;
  std::vector<CarriedRun> runs;

  /// How far neighbours of a run are apart in the result.
  int64_t step() const { return shape.window.strides[shape.window.rank - 1]; }
};

/// The extents of the result, as far as they are known, and in the window the
/// padding that they imply.
Status outputExtents(const Attributes &attributes, ConvolutionShape &shape,
                     std::vector<int64_t> &extents);

/// Of operands that the shape rule accepts, of known shapes.
Status planTranspose(const Attributes &attributes, std::span<const int64_t> x,
                     std::span<const int64_t> w, TransposePlan &plan);

} // namespace dlc::rt::ref

#endif // DLC_RUNTIME_KERNEL_REFERENCE_TRANSPOSEPLAN_H
