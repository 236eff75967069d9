// SPDX-License-Identifier: Apache-2.0
//
// The functions of libcublasLt that we call. They are declared here because a
// build must not need CUDA; test/runtime/Kernel/CUDA compares them with
// cublasLt.h where there is one.

#ifndef DLC_LIB_RUNTIME_KERNEL_CUDA_CUBLASLT_H
#define DLC_LIB_RUNTIME_KERNEL_CUDA_CUBLASLT_H

#include "dlc/runtime/Base/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace dlc::rt::cuda::cublaslt {

using Code = int; ///< cublasStatus_t
using Handle = struct cublasLtContext *;
using Stream = struct CUstream_st *; ///< cudaStream_t is CUstream.
// cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatmulPreference_t.
using Operation = struct OperationOpaque *;
using Layout = struct LayoutOpaque *;
using Preference = struct PreferenceOpaque *;

inline constexpr Code success = 0;
inline constexpr Code allocationFailed = 3;
inline constexpr Code notSupported = 15;

// Values of cudaDataType, cublasComputeType_t and cublasOperation_t.
inline constexpr int realF32 = 0, realF16 = 2, realBF16 = 14;
inline constexpr int computeF32 = 68, computeBF16 = 75, computeTF32 = 77;
inline constexpr int32_t plain = 0, transposed = 1;

// Values of cublasLtMatmulDescAttributes_t, cublasLtMatrixLayoutAttribute_t and
// cublasLtMatmulPreferenceAttributes_t.
inline constexpr int operationTransposeA = 3, operationTransposeB = 4,
                     operationEpilogue = 7, operationBias = 8;
inline constexpr int layoutBatchCount = 5, layoutBatchStride = 6;
inline constexpr int preferenceWorkspace = 1, preferenceAlignmentA = 5,
                     preferenceAlignmentB = 6, preferenceAlignmentC = 7,
                     preferenceAlignmentD = 8;

// Values of cublasLtEpilogue_t: bits that are set together, or this one.
inline constexpr uint32_t epilogueNone = 1, epilogueBias = 4, epilogueGelu = 32;

/// cublasLtMatmulAlgo_t.
struct Algorithm {
  uint64_t data[8];
};
/// cublasLtMatmulHeuristicResult_t.
struct Choice {
  Algorithm algorithm;
  size_t workspaceBytes;
  Code code;
  float waves;
  int reserved[4];
};

// X(name of the member, symbol, result, arguments)
#define DLC_CUBLASLT_FUNCTIONS(X)                                              \
  X(getStatusString, cublasLtGetStatusString, const char *, (Code))            \
  X(create, cublasLtCreate, Code, (Handle *))                                  \
  X(destroy, cublasLtDestroy, Code, (Handle))                                  \
  X(operationCreate, cublasLtMatmulDescCreate, Code, (Operation *, int, int))  \
  X(operationDestroy, cublasLtMatmulDescDestroy, Code, (Operation))            \
  X(operationSet, cublasLtMatmulDescSetAttribute, Code,                        \
    (Operation, int, const void *, size_t))                                    \
  X(layoutCreate, cublasLtMatrixLayoutCreate, Code,                            \
    (Layout *, int, uint64_t, uint64_t, int64_t))                              \
  X(layoutDestroy, cublasLtMatrixLayoutDestroy, Code, (Layout))                \
  X(layoutSet, cublasLtMatrixLayoutSetAttribute, Code,                         \
    (Layout, int, const void *, size_t))                                       \
  X(preferenceCreate, cublasLtMatmulPreferenceCreate, Code, (Preference *))    \
  X(preferenceDestroy, cublasLtMatmulPreferenceDestroy, Code, (Preference))    \
  X(preferenceSet, cublasLtMatmulPreferenceSetAttribute, Code,                 \
    (Preference, int, const void *, size_t))                                   \
  X(choose, cublasLtMatmulAlgoGetHeuristic, Code,                              \
    (Handle, Operation, Layout, Layout, Layout, Layout, Preference, int,       \
     Choice *, int *))                                                         \
  X(multiply, cublasLtMatmul, Code,                                            \
    (Handle, Operation, const void *, const void *, Layout, const void *,      \
     Layout, const void *, const void *, Layout, void *, Layout,               \
     const Algorithm *, void *, size_t, Stream))

/// The library, open. Immutable.
class Library {
public:
  using Handle = cublaslt::Handle;

  /// Opens libcublasLt.so.13 or libcublasLt.so.12. Errors: Unavailable.
  static Result<std::shared_ptr<const Library>> open();

#define DLC_CUBLASLT_MEMBER(name, symbol, result, arguments)                   \
  result(*name) arguments = nullptr;
  DLC_CUBLASLT_FUNCTIONS(DLC_CUBLASLT_MEMBER)
#undef DLC_CUBLASLT_MEMBER

  /// "cublasLtMatmul failed: an unsupported value or parameter was passed",
  /// with the code that fits.
  Status error(const char *function, Code code) const;

private:
  Library() = default;
  void *library = nullptr;
};

} // namespace dlc::rt::cuda::cublaslt

#endif // DLC_LIB_RUNTIME_KERNEL_CUDA_CUBLASLT_H
