// SPDX-License-Identifier: Apache-2.0
//
// The operands of convolutions, with whatever is not known filled in.

#ifndef DLC_RUNTIME_KERNEL_REFERENCE_CONVOLUTIONSHAPE_H
#define DLC_RUNTIME_KERNEL_REFERENCE_CONVOLUTIONSHAPE_H

#include "Window.h"

namespace dlc::rt::ref {

/// Operand 0 (N C D...) and operand 1, the weights (two channel dimensions,
/// then K...), both with `window.rank` spatial dimensions.
struct ConvolutionShape {
  bool hasRank = false; ///< False when neither operand's rank is known.
  int64_t group = 1;
  std::vector<int64_t> input, weights;
  /// What operand 0 has behind `input`, in which its blocks are joined; 0 where
  /// its channels are in none.
  int64_t block = 0;
  Window window; ///< With the kernel's extents.
};

/// Checks types, ranks and attributes, and reads the above.
Status readConvolution(const InferContext &context, ConvolutionShape &shape);
/// The same with `x` in place of operand 0's type.
Status readConvolution(const InferContext &context, const TensorType &x,
                       ConvolutionShape &shape);
/// The same of element types that are checked already.
Status readConvolutionShape(const InferContext &context, const TensorType &x,
                            ConvolutionShape &shape);
/// The same when every shape is known; for computations.
Status readConvolution(const ComputeContext &context, ConvolutionShape &shape);

/// Reads the attributes for the input and weights that are set.
Status readConvolution(const Attributes &attributes, ConvolutionShape &shape);

/// Checks that `dim`, called `what` in the message, is a multiple of
/// `divisor`.
Status checkDivides(int64_t divisor, int64_t dim, const char *what);

/// Checks that the weights' second dimension times the groups are the input's
/// channels, and that the groups divide the output channels: not for transposed
/// convolutions.
Status checkChannels(const ConvolutionShape &shape);

/// Checks operand `index`: absent, or a vector of `count` elements.
Status checkVector(const InferContext &context, size_t index, int64_t count);

} // namespace dlc::rt::ref

#endif // DLC_RUNTIME_KERNEL_REFERENCE_CONVOLUTIONSHAPE_H
