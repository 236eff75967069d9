// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Kernel/CUDA/CUDALibrary.h"

#include "Conv.h"
#include "ConvGradients.h"
#include "Matmul.h"

using namespace dlc::rt;

static Status refuseHost(const KernelCall &,
                         std::unique_ptr<PreparedKernel> &) {
  return makeError(StatusCode::Unsupported,
                   "expected a launch on a GPU, got one on the host");
}

static constexpr LibraryEntry entries[] = {
    {.name = "cublaslt.matmul",
     .prepare = refuseHost,
     .packedBytes = nullptr,
     .pack = nullptr,
     .isSupported = cuda::isMatmulSupported,
     .workspaceBytes = cuda::matmulWorkspaceBytes,
     .cost = cuda::matmulCost,
     .prepareOn = cuda::prepareMatmul,
     .isFaster = cuda::isMatmulFaster,
     .inPlaceOperand = 3},
    {.name = "cudnn.conv",
     .prepare = refuseHost,
     .packedBytes = nullptr,
     .pack = nullptr,
     .packsFinite = cuda::convWantsFinite,
     .isSupported = cuda::isConvSupported,
     .workspaceBytes = cuda::convWorkspaceBytes,
     .cost = cuda::convCost,
     .prepareOn = cuda::prepareConv,
     .isFaster = cuda::isConvFaster,
     .inPlaceOperand = 3},
    {.name = "cudnn.conv_transpose",
     .prepare = refuseHost,
     .packedBytes = nullptr,
     .pack = nullptr,
     .packsFinite = cuda::convTransposeWantsFinite,
     .isSupported = cuda::isConvTransposeSupported,
     .workspaceBytes = cuda::convGradientWorkspaceBytes,
     .cost = cuda::convTransposeCost,
     .prepareOn = cuda::prepareConvTranspose,
     .isFaster = cuda::isConvGradientFaster},
    {.name = "cudnn.conv_weight_gradient",
     .prepare = refuseHost,
     .packedBytes = nullptr,
     .pack = nullptr,
     .packsFinite = cuda::convWeightGradientWantsFinite,
     .isSupported = cuda::isConvWeightGradientSupported,
     .workspaceBytes = cuda::convGradientWorkspaceBytes,
     .cost = cuda::convWeightGradientCost,
     .prepareOn = cuda::prepareConvWeightGradient,
     .isFaster = cuda::isConvGradientFaster},
};

std::span<const LibraryEntry> cuda::libraryEntries() { return entries; }
