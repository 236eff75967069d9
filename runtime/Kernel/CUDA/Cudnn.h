// SPDX-License-Identifier: Apache-2.0
//
// The functions of libcudnn that we call: its graph API, as descriptors with
// attributes. They are declared here because a build must not need cuDNN;
// test/runtime/Kernel/CUDA compares them with cudnn_graph.h where there is one.

#ifndef DLC_LIB_RUNTIME_KERNEL_CUDA_CUDNN_H
#define DLC_LIB_RUNTIME_KERNEL_CUDA_CUDNN_H

#include "dlc/runtime/Base/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace dlc::rt::cuda::cudnn {

using Code = int; ///< cudnnStatus_t
using Handle = struct cudnnContext *;
using Stream = struct CUstream_st *; ///< cudaStream_t is CUstream.
using RawDescriptor = void *;        ///< cudnnBackendDescriptor_t

inline constexpr Code success = 0;
inline constexpr Code notSupported = 3000; ///< And the numbers to 3999.
inline constexpr Code hostAllocationFailed = 4003,
                      deviceAllocationFailed = 4004;

/// cudnnBackendDescriptorType_t.
enum class Kind : int {
  Pointwise = 0,
  Convolution = 1,
  Engine = 2,
  EngineConfig = 3,
  Heuristic = 4,
  Plan = 5,
  ConvolutionForward = 10,
  ConvolutionBackwardFilter = 11,
  ConvolutionBackwardData = 12,
  PointwiseOperation = 13,
  Graph = 15,
  Arguments = 16,
  Tensor = 17,
  DeviceProperties = 38,
};

/// cudnnBackendAttributeName_t.
enum class Name : int {
  PointwiseMode = 0,
  PointwisePrecision = 1,
  PointwiseNan = 2,
  ConvolutionPrecision = 100,
  ConvolutionMode = 101,
  ConvolutionDilations = 102,
  ConvolutionStrides = 103,
  ConvolutionPadsEnd = 104,
  ConvolutionPadsBegin = 105,
  ConvolutionRank = 106,
  HeuristicMode = 200,
  HeuristicGraph = 201,
  HeuristicResults = 202,
  HeuristicDevice = 204,
  ConfigEngine = 300,
  PlanHandle = 400,
  PlanConfig = 401,
  PlanWorkspace = 402,
  PlanDevice = 407,
  ForwardAlpha = 700,
  ForwardBeta = 701,
  ForwardConvolution = 702,
  ForwardW = 703,
  ForwardX = 704,
  ForwardY = 705,
  DataAlpha = 706,
  DataBeta = 707,
  DataConvolution = 708,
  DataW = 709,
  DataX = 710,
  DataY = 711,
  FilterAlpha = 712,
  FilterBeta = 713,
  FilterConvolution = 714,
  FilterW = 715,
  FilterX = 716,
  FilterY = 717,
  PointwiseOf = 750,
  PointwiseX = 751,
  PointwiseB = 752,
  PointwiseY = 753,
  GraphHandle = 800,
  GraphOperations = 801,
  TensorAlignment = 900,
  TensorType = 901,
  TensorDimensions = 902,
  TensorStrides = 903,
  TensorId = 906,
  TensorIsVirtual = 907,
  ArgumentIds = 1000,
  ArgumentPointers = 1001,
  ArgumentWorkspace = 1003,
  EngineNotes = 1303,
  DeviceText = 2702,
};

/// cudnnBackendAttributeType_t.
enum class Type : int {
  Handle = 0,
  DataType = 1,
  Boolean = 2,
  Int64 = 3,
  Float = 4,
  Pointer = 6,
  ConvolutionMode = 7,
  HeuristicMode = 8,
  Nan = 10,
  Note = 11,
  PointwiseMode = 14,
  Descriptor = 15,
  Text = 24,
};

// Values of cudnnDataType_t, cudnnConvolutionMode_t, cudnnPointwiseMode_t,
// cudnnNanPropagation_t, cudnnBackendHeurMode_t and
// cudnnBackendNumericalNote_t.
inline constexpr int realF32 = 0, realF16 = 2, realBF16 = 9;
inline constexpr int crossCorrelation = 1;
inline constexpr int pointwiseAdd = 0, pointwiseRelu = 100;
inline constexpr int propagateNan = 1;
inline constexpr int heuristicFallback = 2, heuristicA = 3;
inline constexpr int noteTensorCore = 0, noteDownConverts = 1,
                     noteStrictNan = 9;

// X(name of the member, symbol, result, arguments)
#define DLC_CUDNN_FUNCTIONS(X)                                                 \
  X(getErrorString, cudnnGetErrorString, const char *, (Code))                 \
  X(create, cudnnCreate, Code, (Handle *))                                     \
  X(destroy, cudnnDestroy, Code, (Handle))                                     \
  X(setStream, cudnnSetStream, Code, (Handle, Stream))                         \
  X(descriptorCreate, cudnnBackendCreateDescriptor, Code,                      \
    (Kind, RawDescriptor *))                                                   \
  X(descriptorDestroy, cudnnBackendDestroyDescriptor, Code, (RawDescriptor))   \
  X(descriptorSet, cudnnBackendSetAttribute, Code,                             \
    (RawDescriptor, Name, Type, int64_t, const void *))                        \
  X(descriptorGet, cudnnBackendGetAttribute, Code,                             \
    (RawDescriptor, Name, Type, int64_t, int64_t *, void *))                   \
  X(descriptorFinalize, cudnnBackendFinalize, Code, (RawDescriptor))           \
  X(execute, cudnnBackendExecute, Code, (Handle, RawDescriptor, RawDescriptor))

/// The library, open. Immutable.
class Library {
public:
  using Handle = cudnn::Handle;

  /// Opens libcudnn.so.9. Errors: Unavailable.
  static Result<std::shared_ptr<const Library>> open();

#define DLC_CUDNN_MEMBER(name, symbol, result, arguments)                      \
  result(*name) arguments = nullptr;
  DLC_CUDNN_FUNCTIONS(DLC_CUDNN_MEMBER)
#undef DLC_CUDNN_MEMBER

  /// "cudnnBackendFinalize failed with error 3000 (...)", with the code that
  /// fits.
  Status error(const char *function, Code code) const;

private:
  Library() = default;
  void *library = nullptr;
};

/// A descriptor: made, given attributes, finalized, and then for reading.
class Descriptor {
public:
  Descriptor() = default;
  Descriptor(Descriptor &&other) noexcept
      : library(other.library), raw(std::exchange(other.raw, nullptr)) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(library, other.library);
    std::swap(raw, other.raw);
    return *this;
  }
  ~Descriptor() {
    if (raw)
      library->descriptorDestroy(raw);
  }

  static Status create(const Library &library, Kind kind, Descriptor &made);
  template <typename T>
  Status set(Name name, Type type, std::span<const T> values) {
    return setAll(name, type, int64_t(values.size()), values.data());
  }
  template <typename T> Status set(Name name, Type type, const T &value) {
    return setAll(name, type, 1, &value);
  }
  Status set(Name name, const Descriptor &other) {
    return setAll(name, Type::Descriptor, 1, &other.raw);
  }
  Status finalize();
  /// As many values as there are, at most `values.size()`.
  template <typename T>
  Status get(Name name, Type type, std::span<T> values, size_t &count) const {
    return getAll(name, type, int64_t(values.size()), values.data(), count);
  }

  RawDescriptor get() const { return raw; }

private:
  Status setAll(Name name, Type type, int64_t count, const void *values);
  Status getAll(Name name, Type type, int64_t most, void *values,
                size_t &count) const;

  const Library *library = nullptr;
  RawDescriptor raw = nullptr;
};

} // namespace dlc::rt::cuda::cudnn

#endif // DLC_LIB_RUNTIME_KERNEL_CUDA_CUDNN_H
