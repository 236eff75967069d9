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
//   activation          default "": "relu", or "gelu_tanh", of no residual
//   compute             default "": products of f32 are exact. "tf32", "bf16":
//                       floats may be rounded to 10 and 7 bits before that
//   The workspace is what of memory the library may use; it chooses for it. The
//   output may be the memory of the residual.

#ifndef DLC_RUNTIME_KERNEL_CUDA_CUDALIBRARY_H
#define DLC_RUNTIME_KERNEL_CUDA_CUDALIBRARY_H

#include "dlc/runtime/Kernel/Library.h"

#include <span>

namespace dlc::rt::cuda {

/// The entries above.
std::span<const LibraryEntry> libraryEntries();

} // namespace dlc::rt::cuda

#endif // DLC_RUNTIME_KERNEL_CUDA_CUDALIBRARY_H
