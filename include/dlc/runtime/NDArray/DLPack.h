// SPDX-License-Identifier: Apache-2.0
//
// Arrays to and from other libraries without a copy, through DLPack 1.1
// (https://github.com/dmlc/dlpack, include/dlpack/dlpack.h; its structures are
// a stable binary interface, and are declared here with its field order).

#ifndef DLC_RUNTIME_NDARRAY_DLPACK_H
#define DLC_RUNTIME_NDARRAY_DLPACK_H

#include "dlc/runtime/NDArray/NDArray.h"

#include <cstdint>

namespace dlc::rt {

namespace dlpack {

inline constexpr uint32_t majorVersion = 1, minorVersion = 1;

enum DeviceType : int32_t { CPU = 1, CUDA = 2, CUDAHost = 3 };
enum TypeCode : uint8_t {
  Int = 0,
  UInt = 1,
  Float = 2,
  BFloat = 4,
  Complex = 5,
  Bool = 6,
  Float8E4M3FN = 10, // These since DLPack 1.1.
  Float8E4M3FNUZ = 11,
  Float8E5M2 = 12,
  Float8E5M2FNUZ = 13,
  Float8E8M0FNU = 14,
  Float4E2M1FN = 17
};
/// Bits of ManagedTensorVersioned::flags. Elements of less than a byte are
/// packed from the lowest bits on unless `isPadded` says that each has a byte.
inline constexpr uint64_t readOnly = 1, isCopied = 2, isPadded = 4;

struct Device {
  int32_t type; ///< DeviceType.
  int32_t index;
};

struct ElementType {
  uint8_t code; ///< TypeCode.
  uint8_t bits;
  uint16_t lanes;
};

struct Tensor {
  void *data;
  Device device;
  int32_t rank;
  ElementType type;
  int64_t *shape;
  int64_t *strides; ///< In elements; null: row-major without gaps.
  uint64_t byteOffset;
};

/// DLManagedTensor.
struct ManagedTensor {
  Tensor tensor;
  void *context;
  void (*deleter)(ManagedTensor *self);
};

/// DLManagedTensorVersioned.
struct ManagedTensorVersioned {
  struct {
    uint32_t major, minor;
  } version;
  void *context;
  void (*deleter)(ManagedTensorVersioned *self);
  uint64_t flags;
  Tensor tensor;
};

} // namespace dlpack

/// Waits until the caller may read or write the elements (see
/// NDArray::hostAccess) and hands them out; the result keeps them alive until
/// its deleter is called, once, by any thread. The engine does not know of what
/// the receiver does with them. Errors: those of hostAccess, and Unsupported
/// for read-only memory, which only the versioned form can tell of.
Result<dlpack::ManagedTensor *> toDLPack(const NDArray &array,
                                         VariableUse use = VariableUse::Write);

/// The same; marked as read-only for VariableUse::Read.
Result<dlpack::ManagedTensorVersioned *> toDLPackVersioned(const NDArray &array,
                                                           VariableUse use);

/// An array over the elements of `tensor`, whose deleter is called when the
/// last operation on the array is over, by any thread. On failure the tensor
/// stays the caller's. Errors: InvalidArgument (null, a broken shape,
/// misaligned data), Unsupported (memory that is not the host's, an element
/// type that DLC lacks or pads otherwise, strides with gaps, another major
/// version), and those of the engine.
Result<NDArray> fromDLPack(const std::shared_ptr<ArrayRuntime> &runtime,
                           dlpack::ManagedTensor *tensor);

/// The same; memory that is marked as read-only makes a read-only array.
Result<NDArray> fromDLPack(const std::shared_ptr<ArrayRuntime> &runtime,
                           dlpack::ManagedTensorVersioned *tensor);

} // namespace dlc::rt

#endif // DLC_RUNTIME_NDARRAY_DLPACK_H
