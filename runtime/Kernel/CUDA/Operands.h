// SPDX-License-Identifier: Apache-2.0
//
// Checks that entries share.

#ifndef DLC_LIB_RUNTIME_KERNEL_CUDA_OPERANDS_H
#define DLC_LIB_RUNTIME_KERNEL_CUDA_OPERANDS_H

#include "../Check.h"

#include "dlc/abi/Tensor.h"

#include <algorithm>

namespace dlc::rt::cuda {

/// "expected EXPECTED, got A, B and Y".
inline Status invalidShapes(const KernelCall &call, const char *expected) {
  return makeError(
      StatusCode::InvalidArgument, "expected %s, got %s, %s and %s", expected,
      toString(call.inputs[0]).c_str(), toString(call.inputs[1]).c_str(),
      toString(call.outputs[0]).c_str());
}

struct Ranks {
  int64_t least, most;
};

/// The call has two factors, a bias of rank 1 and a residual, which may be
/// absent, and an output, all of one type: f32, f16 or bf16. The residual has
/// the output's ranks.
inline Status checkOperands(const KernelCall &call, Ranks first, Ranks second,
                            Ranks output) {
  if (call.inputs.size() < 2 || call.inputs.size() > 4 || call.outputs.empty())
    return makeError(StatusCode::InvalidArgument,
                     "expected 2 to 4 inputs and an output, got %zu and %zu",
                     call.inputs.size(), call.outputs.size());
  const DataType type = call.inputs[0].type;
  if (type != DLC_F32 && type != DLC_F16 && type != DLC_BF16)
    return makeError(StatusCode::InvalidArgument,
                     "expected f32, f16 or bf16, got %s",
                     toString(call.inputs[0]).c_str());
  DLC_RETURN_IF_ERROR(
      checkTensor(call.inputs[0], type, "input 0", first.least, first.most));
  DLC_RETURN_IF_ERROR(
      checkTensor(call.inputs[1], type, "input 1", second.least, second.most));
  if (hasBias(call))
    DLC_RETURN_IF_ERROR(checkTensor(call.inputs[2], type, "the bias", 1, 1));
  if (hasResidual(call))
    DLC_RETURN_IF_ERROR(checkTensor(call.inputs[3], type, "the residual",
                                    output.least, output.most));
  return checkTensor(call.outputs[0], type, "the output", output.least,
                     output.most);
}

/// What the libraries want of a workspace's address, of which an arena knows
/// DLC_ALIGNMENT: they refuse others (cublasLtMatmul, "at least 256 bytes").
constexpr uint64_t workspaceAlignment = 256;

constexpr uint64_t mostSkipped = workspaceAlignment - DLC_ALIGNMENT;

/// A workspace from where it is the library's.
inline void *alignWorkspace(void *workspace) {
  auto address = reinterpret_cast<uintptr_t>(workspace);
  return static_cast<std::byte *>(workspace) +
         (workspaceAlignment - address % workspaceAlignment) %
             workspaceAlignment;
}

/// What a library has of the second output, the workspace.
inline Status readWorkspace(const KernelCall &call, uint64_t &bytes) {
  if (!checkWorkspace(call, 1).isOk())
    return makeError(StatusCode::InvalidArgument,
                     "expected a workspace as the second output");
  bytes = uint64_t(call.outputs[1].shape[0]);
  bytes -= std::min(bytes, mostSkipped);
  return Status::ok();
}

} // namespace dlc::rt::cuda

#endif // DLC_LIB_RUNTIME_KERNEL_CUDA_OPERANDS_H
