// SPDX-License-Identifier: Apache-2.0
//
// From an encoded TensorProto to elements in memory.

#include "dlc/Frontend/ONNX/Reader.h"

#include <cstring>
#include <iterator>

using namespace dlc::onnx;
namespace rt = dlc::rt;
using dlc::rt::DataType;
using dlc::rt::makeError;
using dlc::rt::Result;
using dlc::rt::Status;
using dlc::rt::StatusCode;
using dlc::rt::TensorType;

namespace {
struct ElementFacts {
  const char *name;
  DataType type;
};
} // namespace

static constexpr ElementFacts elementFacts[] = {
    {"UNDEFINED", DLC_INVALID_TYPE},
    {"FLOAT", DLC_F32},
    {"UINT8", DLC_U8},
    {"INT8", DLC_I8},
    {"UINT16", DLC_U16},
    {"INT16", DLC_I16},
    {"INT32", DLC_I32},
    {"INT64", DLC_I64},
    {"STRING", DLC_INVALID_TYPE},
    {"BOOL", DLC_BOOL},
    {"FLOAT16", DLC_F16},
    {"DOUBLE", DLC_F64},
    {"UINT32", DLC_U32},
    {"UINT64", DLC_U64},
    {"COMPLEX64", DLC_INVALID_TYPE},
    {"COMPLEX128", DLC_INVALID_TYPE},
    {"BFLOAT16", DLC_BF16},
    {"FLOAT8E4M3FN", DLC_INVALID_TYPE},
    {"FLOAT8E4M3FNUZ", DLC_INVALID_TYPE},
    {"FLOAT8E5M2", DLC_INVALID_TYPE},
    {"FLOAT8E5M2FNUZ", DLC_INVALID_TYPE},
    {"UINT4", DLC_INVALID_TYPE},
    {"INT4", DLC_INVALID_TYPE},
    {"FLOAT4E2M1", DLC_INVALID_TYPE},
    {"FLOAT8E8M0", DLC_INVALID_TYPE},
    {"UINT2", DLC_INVALID_TYPE},
    {"INT2", DLC_INVALID_TYPE}};

DataType dlc::onnx::dataTypeOf(ElementType type) {
  auto index = static_cast<uint32_t>(type);
  return index < std::size(elementFacts) ? elementFacts[index].type
                                         : DLC_INVALID_TYPE;
}

std::string dlc::onnx::nameOf(ElementType type) {
  auto index = static_cast<uint32_t>(type);
  if (index < std::size(elementFacts))
    return elementFacts[index].name;
  return "type " + std::to_string(static_cast<int32_t>(type));
}

static std::string describe(const Tensor &tensor) {
  return "tensor '" + std::string(tensor.name) + "'";
}

Result<TensorType> dlc::onnx::typeOf(const Tensor &tensor) {
  TensorType type;
  type.type = dataTypeOf(tensor.type);
  std::string what = describe(tensor);
  if (type.type == DLC_INVALID_TYPE)
    return makeError(StatusCode::Unsupported,
                     "unsupported: element type %s of %s",
                     nameOf(tensor.type).c_str(), what.c_str());
  if (tensor.dims.size() > DLC_MAX_RANK)
    return makeError(StatusCode::Unsupported,
                     "unsupported: rank %zu of %s, expected at most %d",
                     tensor.dims.size(), what.c_str(), DLC_MAX_RANK);
  for (int64_t dim : tensor.dims)
    if (dim < 0)
      return makeError(StatusCode::InvalidArgument,
                       "expected dims of %s that are not negative, got %lld",
                       what.c_str(), static_cast<long long>(dim));
  type.shape = tensor.dims;
  if (!rt::byteCount(type.type, type.shape))
    return makeError(StatusCode::InvalidArgument,
                     "expected a size of %s within 64 bits, got dims %s",
                     what.c_str(), rt::toString(type).c_str());
  return type;
}

static bool isAligned(const void *data, size_t alignment) {
  return reinterpret_cast<uintptr_t>(data) % alignment == 0;
}

/// A byte of a bool tensor is 0 or 1 everywhere else in DLC.
static bool isClean(const TensorType &type, std::string_view raw) {
  if (type.type != DLC_BOOL)
    return true;
  for (char byte : raw)
    if (static_cast<uint8_t>(byte) > 1)
      return false;
  return true;
}

/// Memory that is aligned for every element type.
static std::shared_ptr<std::byte[]> allocate(size_t bytes) {
  return std::shared_ptr<std::byte[]>(
      new (std::align_val_t(DLC_ALIGNMENT), std::nothrow) std::byte[bytes],
      [](std::byte *data) {
        operator delete[](data, std::align_val_t(DLC_ALIGNMENT));
      });
}

Result<TensorContents> dlc::onnx::viewRaw(TensorType type, std::string_view raw,
                                          std::shared_ptr<const void> mapping) {
  size_t expected = *rt::byteCount(type.type, type.shape);
  if (raw.size() != expected)
    return makeError(StatusCode::InvalidArgument,
                     "expected %zu bytes of data for %s, got %zu", expected,
                     rt::toString(type).c_str(), raw.size());
  auto *bytes = reinterpret_cast<const std::byte *>(raw.data());
  if (isAligned(bytes, rt::sizeOf(type.type)) && isClean(type, raw))
    return TensorContents{
        std::move(type), {bytes, raw.size()}, std::move(mapping)};

  std::shared_ptr<std::byte[]> copy = allocate(raw.size());
  if (!copy)
    return makeError(StatusCode::OutOfMemory, "cannot allocate %zu bytes",
                     raw.size());
  std::memcpy(copy.get(), raw.data(), raw.size());
  if (type.type == DLC_BOOL)
    for (size_t i = 0; i < raw.size(); ++i)
      copy[i] = std::byte(copy[i] != std::byte(0));
  std::span<const std::byte> data(copy.get(), raw.size());
  return TensorContents{std::move(type), data, std::move(copy)};
}

namespace {
/// Writes the values of a typed field as elements of the tensor's type.
class ElementWriter {
public:
  ElementWriter(std::byte *target, size_t count, DataType type)
      : next(target), left(count), type(type), width(rt::sizeOf(type)) {}

  /// False when there are more values than elements.
  bool put(uint64_t bits) {
    if (left == 0)
      return false;
    if (type == DLC_BOOL)
      bits = bits != 0;
    std::memcpy(next, &bits, width);
    next += width;
    --left;
    return true;
  }
  size_t missing() const { return left; }

private:
  std::byte *next;
  size_t left;
  DataType type;
  size_t width;
};
} // namespace

static bool putVarints(std::string_view chunk, ElementWriter &writer) {
  uint64_t value = 0;
  int shift = 0;
  for (char signedByte : chunk) {
    auto byte = static_cast<uint8_t>(signedByte);
    if (shift > 63)
      return false;
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    shift += 7;
    if (byte & 0x80)
      continue;
    if (!writer.put(value))
      return false;
    value = 0;
    shift = 0;
  }
  return shift == 0;
}

static bool putFixed(std::string_view chunk, size_t width,
                     ElementWriter &writer) {
  if (chunk.size() % width != 0)
    return false;
  for (size_t i = 0; i < chunk.size(); i += width) {
    uint64_t value = 0;
    std::memcpy(&value, chunk.data() + i, width);
    if (!writer.put(value))
      return false;
  }
  return true;
}

namespace {
/// The field of TensorProto that holds elements of some type.
struct TypedField {
  const char *name;
  const std::vector<std::string_view> *chunks;
  size_t fixedWidth; ///< 0: varints.
};
} // namespace

static TypedField fieldFor(const Tensor &tensor, DataType type) {
  switch (type) {
  case DLC_F32:
    return {"float_data", &tensor.floats, 4};
  case DLC_F64:
    return {"double_data", &tensor.doubles, 8};
  case DLC_I64:
    return {"int64_data", &tensor.int64s, 0};
  case DLC_U32:
  case DLC_U64:
    return {"uint64_data", &tensor.uint64s, 0};
  default: // Small types, f16 and bf16 as bit patterns.
    return {"int32_data", &tensor.int32s, 0};
  }
}

static size_t countTypedFields(const Tensor &tensor) {
  size_t count = 0;
  for (const auto *chunks : {&tensor.floats, &tensor.int32s, &tensor.int64s,
                             &tensor.doubles, &tensor.uint64s})
    count += !chunks->empty();
  return count;
}

/// An upper bound of the values in a field, so that a short file cannot ask
/// for a large allocation.
static size_t boundValues(const TypedField &field) {
  size_t bytes = 0;
  for (std::string_view chunk : *field.chunks)
    bytes += chunk.size();
  return field.fixedWidth ? bytes / field.fixedWidth : bytes;
}

static Result<TensorContents> decodeTyped(const Tensor &tensor,
                                          TensorType type) {
  TypedField field = fieldFor(tensor, type.type);
  std::string what = describe(tensor);
  size_t count = *rt::elementCount(type.shape);
  if (countTypedFields(tensor) > 1 ||
      (field.chunks->empty() && countTypedFields(tensor) != 0))
    return makeError(StatusCode::InvalidArgument,
                     "expected elements of %s of type %s in %s alone",
                     what.c_str(), nameOf(tensor.type).c_str(), field.name);
  if (count > boundValues(field))
    return makeError(StatusCode::InvalidArgument,
                     "expected %zu values in %s of %s, got at most %zu", count,
                     field.name, what.c_str(), boundValues(field));

  size_t bytes = *rt::byteCount(type.type, type.shape);
  std::shared_ptr<std::byte[]> data = allocate(bytes);
  if (!data)
    return makeError(StatusCode::OutOfMemory,
                     "cannot allocate %zu bytes for %s", bytes, what.c_str());
  ElementWriter writer(data.get(), count, type.type);
  for (std::string_view chunk : *field.chunks) {
    bool fits = field.fixedWidth ? putFixed(chunk, field.fixedWidth, writer)
                                 : putVarints(chunk, writer);
    if (!fits)
      return makeError(StatusCode::InvalidArgument,
                       "expected %zu well-formed values in %s of %s, got "
                       "others or more",
                       count, field.name, what.c_str());
  }
  if (writer.missing() != 0)
    return makeError(StatusCode::InvalidArgument,
                     "expected %zu values in %s of %s, got %zu", count,
                     field.name, what.c_str(), count - writer.missing());
  std::span<const std::byte> view(data.get(), bytes);
  return TensorContents{std::move(type), view, std::move(data)};
}

Result<TensorContents>
dlc::onnx::decodeTensor(const Tensor &tensor,
                        std::shared_ptr<const void> mapping) {
  Result<TensorType> type = typeOf(tensor);
  if (!type.isOk())
    return std::move(type.status());
  std::string what = describe(tensor);
  if (tensor.isExternal)
    return makeError(StatusCode::InvalidArgument,
                     "expected the elements of %s in the message, found a "
                     "reference to a file",
                     what.c_str());
  if (tensor.hasSegment)
    return makeError(StatusCode::Unsupported, "unsupported: segment of %s",
                     what.c_str());
  if (!tensor.hasRaw)
    return decodeTyped(tensor, std::move(*type));
  if (countTypedFields(tensor) != 0)
    return makeError(StatusCode::InvalidArgument,
                     "expected elements of %s in one field, found raw_data "
                     "and a typed field",
                     what.c_str());
  Result<TensorContents> contents =
      viewRaw(std::move(*type), tensor.raw, std::move(mapping));
  if (!contents.isOk())
    return std::move(contents.status()).withContext(what);
  return contents;
}

Result<NamedTensor> dlc::onnx::readTensorProto(std::string_view bytes) {
  Result<Tensor> tensor = readTensor(bytes);
  if (!tensor.isOk())
    return std::move(tensor.status());
  Result<TensorContents> contents = decodeTensor(*tensor);
  if (!contents.isOk())
    return std::move(contents.status());
  return NamedTensor{std::string(tensor->name), std::move(*contents)};
}
