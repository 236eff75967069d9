// SPDX-License-Identifier: Apache-2.0
//
// Calls of NVIDIA's libraries, which are opened when a program that has such a
// call is loaded; what is generated for the same kernel computes it where there
// is none. Entries:
//
// cublaslt.matmul    inputs (a, b, bias?, residual?), outputs y and a workspace
//   y = activation(a b + bias + residual), by libcublasLt of CUDA 12 or 13:
//   a [..., M, K] and b [K, N] or [..., K, N] with the same dimensions in
//   front, y [..., M, N], bias [N], residual as y; all f32, all f16 or all
//   bf16, row-major, with at least one element each. Sums are of f32. trans_a,
//   trans_b    1: a is [..., K, M], b [N, K] or [..., N, K]; a b of two
//                       dimensions takes no a [..., K, M] of more
//   activation          default "": "gelu_tanh", of no residual
//   compute             default "": products of f32 are exact. "tf32", "bf16":
//                       floats may be rounded to 10 and 7 bits before that
// cudnn.conv    inputs (x, w, bias?, residual?), outputs y and a workspace
//   y = activation(conv(x, w) + residual + bias), by libcudnn 9: x [N, 1, H, W,
//   C], y and residual [N, 1, OH, OW, OC], w [OC, C, 1, 1], bias [OC]; of one
//   type as above, with multiples of 8 channels. Sums are of f32. A residual or
//   an activation comes with a bias.
//   strides, dilations  two each, default 1
//   pads                begins, then ends, default 0; not negative
//   group               1
//   w_channels_last     1: w is [OC, KH, KW, C]
//   activation          default "": "relu"
//   compute             as above; f32 needs one
// cudnn.conv_transpose    inputs (g, w), outputs x and a workspace
//   What a convolution of an image like x by w passes on to it, given g, the
//   gradient of its result: g [N, 1, OH, OW, OC], x [N, 1, H, W, C], w as above
//   or with a 1 in front; attributes as above, without an activation. Taps that
//   g has no element for are zeros times w, unless w has one tap, strides are 1
//   and pads 0: then w has to be finite.
// cudnn.conv_weight_gradient    inputs (x, g), outputs w and a workspace
//   The same for the weights, w [OC, C, KH, KW]: x and g as above or plain, [N,
//   C, H, W] and [N, OC, OH, OW]. Attributes as above, but w_channels_last; the
//   ends of pads mean nothing. What lies outside of x are zeros times g, which
//   has to be finite then.
// Workspaces are what of memory a library may use; it chooses for it. Outputs
// may be the memory of residuals.

#ifndef DLC_RUNTIME_KERNEL_CUDA_CUDALIBRARY_H
#define DLC_RUNTIME_KERNEL_CUDA_CUDALIBRARY_H

#include "dlc/runtime/Kernel/Library.h"

#include <span>

namespace dlc::rt::cuda {

/// The entries above.
std::span<const LibraryEntry> libraryEntries();

} // namespace dlc::rt::cuda

#endif // DLC_RUNTIME_KERNEL_CUDA_CUDALIBRARY_H
