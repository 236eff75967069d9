// SPDX-License-Identifier: Apache-2.0
//
// Our declarations of cuBLASLt's functions against those of cublasLt.h, which
// this machine has: by the compiler.

#include "runtime/Kernel/CUDA/CublasLt.h"

#include "test/runtime/Device/CUDA/Alike.h"

#include <cublasLt.h>
#include <gtest/gtest.h>

using namespace dlc::rt::cuda::cublaslt;
using dlc::rt::test::Alike;

#define DLC_CUBLASLT_COMPARE(name, symbol, result, arguments)                  \
  static_assert(Alike<decltype(Library::name), decltype(&::symbol)>::value,    \
                #symbol);
DLC_CUBLASLT_FUNCTIONS(DLC_CUBLASLT_COMPARE)

static_assert(sizeof(Algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(Choice) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(Choice, workspaceBytes) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(Choice, code) ==
              offsetof(cublasLtMatmulHeuristicResult_t, state));

TEST(CublasLt, ConstantsAreThoseOfTheHeader) {
  EXPECT_EQ(success, CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(allocationFailed, CUBLAS_STATUS_ALLOC_FAILED);
  EXPECT_EQ(notSupported, CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(realF32, CUDA_R_32F);
  EXPECT_EQ(realF16, CUDA_R_16F);
  EXPECT_EQ(realBF16, CUDA_R_16BF);
  EXPECT_EQ(computeF32, CUBLAS_COMPUTE_32F);
  EXPECT_EQ(computeBF16, CUBLAS_COMPUTE_32F_FAST_16BF);
  EXPECT_EQ(computeTF32, CUBLAS_COMPUTE_32F_FAST_TF32);
  EXPECT_EQ(plain, CUBLAS_OP_N);
  EXPECT_EQ(transposed, CUBLAS_OP_T);
  EXPECT_EQ(operationTransposeA, CUBLASLT_MATMUL_DESC_TRANSA);
  EXPECT_EQ(operationTransposeB, CUBLASLT_MATMUL_DESC_TRANSB);
  EXPECT_EQ(operationEpilogue, CUBLASLT_MATMUL_DESC_EPILOGUE);
  EXPECT_EQ(operationBias, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
  EXPECT_EQ(layoutBatchCount, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
  EXPECT_EQ(layoutBatchStride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
  EXPECT_EQ(preferenceWorkspace, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
  EXPECT_EQ(preferenceAlignmentA, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
  EXPECT_EQ(preferenceAlignmentB, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
  EXPECT_EQ(preferenceAlignmentC, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
  EXPECT_EQ(preferenceAlignmentD, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
  EXPECT_EQ(epilogueNone, uint32_t(CUBLASLT_EPILOGUE_DEFAULT));
  EXPECT_EQ(epilogueBias, uint32_t(CUBLASLT_EPILOGUE_BIAS));
  EXPECT_EQ(epilogueGelu, uint32_t(CUBLASLT_EPILOGUE_GELU));
  EXPECT_EQ(epilogueGelu | epilogueBias, uint32_t(CUBLASLT_EPILOGUE_GELU_BIAS));
}
