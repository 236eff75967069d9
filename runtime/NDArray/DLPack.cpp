// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/NDArray/DLPack.h"

#include <algorithm>
#include <cinttypes>
#include <cstddef>
#include <new>

using namespace dlc::rt;

// What the other side of the interface was compiled with.
static_assert(sizeof(dlpack::Tensor) == 48 &&
              offsetof(dlpack::Tensor, rank) == 16 &&
              offsetof(dlpack::Tensor, type) == 20 &&
              offsetof(dlpack::Tensor, byteOffset) == 40);
static_assert(sizeof(dlpack::ManagedTensor) == 64 &&
              sizeof(dlpack::ManagedTensorVersioned) == 80 &&
              offsetof(dlpack::ManagedTensorVersioned, tensor) == 32);

namespace {
struct TypeEntry {
  DataType type;
  uint8_t code, bits;
};
} // namespace

static constexpr TypeEntry typeTable[] = {
    {DLC_BOOL, dlpack::Bool, 8},
    {DLC_I8, dlpack::Int, 8},
    {DLC_I16, dlpack::Int, 16},
    {DLC_I32, dlpack::Int, 32},
    {DLC_I64, dlpack::Int, 64},
    {DLC_U8, dlpack::UInt, 8},
    {DLC_U16, dlpack::UInt, 16},
    {DLC_U32, dlpack::UInt, 32},
    {DLC_U64, dlpack::UInt, 64},
    {DLC_F16, dlpack::Float, 16},
    {DLC_BF16, dlpack::BFloat, 16},
    {DLC_F32, dlpack::Float, 32},
    {DLC_F64, dlpack::Float, 64},
    {DLC_C64, dlpack::Complex, 64},
    {DLC_C128, dlpack::Complex, 128},
    {DLC_F8E4M3FN, dlpack::Float8E4M3FN, 8},
    {DLC_F8E4M3FNUZ, dlpack::Float8E4M3FNUZ, 8},
    {DLC_F8E5M2, dlpack::Float8E5M2, 8},
    {DLC_F8E5M2FNUZ, dlpack::Float8E5M2FNUZ, 8},
    {DLC_F8E8M0FNU, dlpack::Float8E8M0FNU, 8},
    {DLC_I4, dlpack::Int, 4},
    {DLC_U4, dlpack::UInt, 4},
    {DLC_F4E2M1FN, dlpack::Float4E2M1FN, 4},
    {DLC_I2, dlpack::Int, 2},
    {DLC_U2, dlpack::UInt, 2}};
/// All but text, whose elements are references of this library.
static_assert(std::size(typeTable) == DLC_TEXT - 1 && kLastType == DLC_TEXT);

//===----------------------------------------------------------------------===//
// Out
//===----------------------------------------------------------------------===//

namespace {
/// What a tensor that was handed out keeps alive: not a handle, because it may
/// go inside an operation (see NDArray).
template <typename Managed> struct Exported {
  Managed managed = {};
  std::shared_ptr<const void> memory;
  std::vector<int64_t> shape, strides;

  static void destroy(Managed *self) {
    delete static_cast<Exported *>(self->context);
  }
};
} // namespace

static dlpack::Tensor describe(const NDArray &array, void *data,
                               std::vector<int64_t> &shape,
                               std::vector<int64_t> &strides) {
  shape.assign(array.shape().begin(), array.shape().end());
  strides.assign(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  bool isPinned = array.context().kind == DeviceKind::CPUPinned;
  auto entry = std::ranges::find(typeTable, array.type(), &TypeEntry::type);
  return {data,
          {isPinned ? dlpack::CUDAHost : dlpack::CPU, 0},
          static_cast<int32_t>(shape.size()),
          {entry->code, entry->bits, 1},
          shape.data(),
          strides.data(),
          0};
}

template <typename Managed>
static Result<Managed *> handOut(const NDArray &array, VariableUse use) {
  Result<void *> data = array.hostAccess(use);
  if (!data.isOk())
    return std::move(data.status());
  auto *exported = new (std::nothrow) Exported<Managed>;
  if (!exported)
    return makeError(StatusCode::OutOfMemory, "no memory for a tensor");
  exported->memory = array.memory();
  Managed &managed = exported->managed;
  managed.tensor = describe(array, *data, exported->shape, exported->strides);
  managed.context = exported;
  managed.deleter = Exported<Managed>::destroy;
  return &managed;
}

Result<dlpack::ManagedTensor *> dlc::rt::toDLPack(const NDArray &array,
                                                  VariableUse use) {
  if (array.isReadOnly())
    return makeError(StatusCode::Unsupported,
                     "expected memory that may be written, got read-only "
                     "memory");
  return handOut<dlpack::ManagedTensor>(array, use);
}

Result<dlpack::ManagedTensorVersioned *>
dlc::rt::toDLPackVersioned(const NDArray &array, VariableUse use) {
  auto managed = handOut<dlpack::ManagedTensorVersioned>(array, use);
  if (managed.isOk()) {
    (*managed)->version = {dlpack::majorVersion, dlpack::minorVersion};
    (*managed)->flags = use == VariableUse::Read ? dlpack::readOnly : 0;
  }
  return managed;
}

//===----------------------------------------------------------------------===//
// In
//===----------------------------------------------------------------------===//

static Status findType(dlpack::ElementType found, DataType &type) {
  for (const TypeEntry &entry : typeTable)
    if (entry.code == found.code && entry.bits == found.bits &&
        found.lanes == 1) {
      type = entry.type;
      return Status::ok();
    }
  return makeError(StatusCode::Unsupported,
                   "element type of code %d, %d bits and %d lanes is not "
                   "supported",
                   found.code, found.bits, found.lanes);
}

static Status findContext(dlpack::Device device, Context &context) {
  if (device.type != dlpack::CPU && device.type != dlpack::CUDAHost)
    return makeError(StatusCode::Unsupported,
                     "expected memory of the host, got device type %" PRId32,
                     device.type);
  context = device.type == dlpack::CPU ? Context::cpu() : Context::cpuPinned();
  return Status::ok();
}

/// Row-major without gaps; a dimension of 1 may have any stride.
static Status checkStrides(std::span<const int64_t> shape,
                           const int64_t *strides) {
  if (!strides || std::ranges::count(shape, 0) != 0)
    return Status::ok();
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != expected)
      return makeError(StatusCode::Unsupported,
                       "expected a row-major tensor, got stride %" PRId64
                       " instead of %" PRId64 " in dimension %zu",
                       strides[i], expected, i);
    expected *= shape[i];
  }
  return Status::ok();
}

static Result<NDArray> adopt(const std::shared_ptr<ArrayRuntime> &runtime,
                             const dlpack::Tensor &tensor,
                             ForeignMemory memory) {
  if (tensor.rank > 0 && !tensor.shape)
    return makeError(StatusCode::InvalidArgument,
                     "expected a shape of %" PRId32 " dimensions, got null",
                     tensor.rank);
  if (tensor.rank < 0 || tensor.rank > DLC_MAX_RANK)
    return makeError(StatusCode::InvalidArgument,
                     "expected a shape of 0 to %d dimensions, got %" PRId32,
                     DLC_MAX_RANK, tensor.rank);
  std::span<const int64_t> shape(tensor.shape, size_t(tensor.rank));
  DataType type;
  Context context;
  DLC_RETURN_IF_ERROR(findType(tensor.type, type));
  DLC_RETURN_IF_ERROR(findContext(tensor.device, context));
  for (int64_t dim : shape)
    if (dim < 0)
      return makeError(StatusCode::InvalidArgument,
                       "expected dimensions of 0 or more, got %" PRId64, dim);
  if (!elementCount(shape))
    return makeError(StatusCode::InvalidArgument,
                     "expected less than 2^63 elements, got those of %s",
                     toString({type, {shape.begin(), shape.end()}}).c_str());
  DLC_RETURN_IF_ERROR(checkStrides(shape, tensor.strides));
  if (tensor.data)
    memory.data = static_cast<std::byte *>(tensor.data) + tensor.byteOffset;
  return NDArray::adopt(runtime, type, shape, memory, context);
}

template <typename Managed> static void release(void *owner) {
  auto *managed = static_cast<Managed *>(owner);
  if (managed->deleter) // The interface allows none.
    managed->deleter(managed);
}

static Status missing() {
  return makeError(StatusCode::InvalidArgument, "expected a tensor, got null");
}

Result<NDArray>
dlc::rt::fromDLPack(const std::shared_ptr<ArrayRuntime> &runtime,
                    dlpack::ManagedTensor *tensor) {
  if (!tensor)
    return missing();
  return adopt(runtime, tensor->tensor,
               {nullptr, false, release<dlpack::ManagedTensor>, tensor});
}

Result<NDArray>
dlc::rt::fromDLPack(const std::shared_ptr<ArrayRuntime> &runtime,
                    dlpack::ManagedTensorVersioned *tensor) {
  if (!tensor)
    return missing();
  if (tensor->version.major != dlpack::majorVersion)
    return makeError(StatusCode::Unsupported,
                     "expected DLPack of version %u, got %u",
                     dlpack::majorVersion, tensor->version.major);
  if (tensor->tensor.type.bits < 8 && tensor->flags & dlpack::isPadded)
    return makeError(StatusCode::Unsupported,
                     "expected packed elements of %d bits, got some padded to "
                     "bytes",
                     tensor->tensor.type.bits);
  bool isReadOnly = tensor->flags & dlpack::readOnly;
  return adopt(
      runtime, tensor->tensor,
      {nullptr, isReadOnly, release<dlpack::ManagedTensorVersioned>, tensor});
}
