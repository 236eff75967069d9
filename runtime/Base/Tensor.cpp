// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Base/Tensor.h"

#include "dlc/runtime/Base/Text.h"

#include <algorithm>

using namespace dlc::rt;

namespace {
struct TypeFacts {
  std::string_view name;
  size_t bits;
};
} // namespace

static constexpr TypeFacts typeFacts[] = {
    {"invalid", 0},   {"bool", 8},       {"i8", 8},     {"i16", 16},
    {"i32", 32},      {"i64", 64},       {"u8", 8},     {"u16", 16},
    {"u32", 32},      {"u64", 64},       {"f16", 16},   {"bf16", 16},
    {"f32", 32},      {"f64", 64},       {"c64", 64},   {"c128", 128},
    {"f8e4m3fn", 8},  {"f8e4m3fnuz", 8}, {"f8e5m2", 8}, {"f8e5m2fnuz", 8},
    {"f8e8m0fnu", 8}, {"i4", 4},         {"u4", 4},     {"f4e2m1fn", 4},
    {"i2", 2},        {"u2", 2},         {"text", 64}};
static_assert(std::size(typeFacts) == kLastType + 1 && sizeof(Text) == 8);

static const TypeFacts &factsOf(DataType type) {
  bool known = type >= 0 && static_cast<size_t>(type) < std::size(typeFacts);
  return typeFacts[known ? type : 0];
}

size_t dlc::rt::bitsOf(DataType type) { return factsOf(type).bits; }

size_t dlc::rt::sizeOf(DataType type) { return bitsOf(type) / 8; }

std::optional<int64_t> dlc::rt::byteCount(DataType type, int64_t count) {
  auto bits = static_cast<int64_t>(bitsOf(type));
  int64_t bytes;
  if (bits == 0 || count < 0)
    return std::nullopt;
  if (bits < 8)
    return count / (8 / bits) + (count % (8 / bits) != 0);
  if (__builtin_mul_overflow(count, bits / 8, &bytes))
    return std::nullopt;
  return bytes;
}

/// Product of the dimensions that are not 0, as elementCount().
static std::optional<int64_t> extentOf(std::span<const int64_t> shape) {
  int64_t extent = 1;
  for (int64_t dim : shape)
    if (dim < 0 || (dim != 0 && __builtin_mul_overflow(extent, dim, &extent)))
      return std::nullopt;
  return extent;
}

static bool isEmpty(std::span<const int64_t> shape) {
  return std::ranges::find(shape, 0) != shape.end();
}

std::optional<int64_t> dlc::rt::byteCount(DataType type,
                                          std::span<const int64_t> shape) {
  std::optional<int64_t> extent = extentOf(shape);
  std::optional<int64_t> bytes =
      extent ? byteCount(type, *extent) : std::nullopt;
  return bytes && isEmpty(shape) ? 0 : bytes;
}

size_t dlc::rt::alignmentOf(DataType type) {
  if (type == DLC_C64 || type == DLC_C128)
    return sizeOf(type) / 2;
  return isPacked(type) ? 1 : sizeOf(type);
}

std::string_view dlc::rt::nameOf(DataType type) { return factsOf(type).name; }

DataType dlc::rt::dataTypeOf(std::string_view name) {
  for (size_t i = 1; i < std::size(typeFacts); ++i)
    if (typeFacts[i].name == name)
      return static_cast<DataType>(i);
  return DLC_INVALID_TYPE;
}

bool dlc::rt::isFloat(DataType type) {
  return type >= DLC_F16 && type <= DLC_F64;
}

bool dlc::rt::isSignedInteger(DataType type) {
  return type >= DLC_I8 && type <= DLC_I64;
}

bool dlc::rt::isUnsignedInteger(DataType type) {
  return type >= DLC_U8 && type <= DLC_U64;
}

bool TensorType::isStatic() const {
  if (!hasRank)
    return false;
  for (int64_t dim : shape)
    if (dim < 0)
      return false;
  return true;
}

std::string dlc::rt::toString(const TensorType &type) {
  std::string text = type.hasRank ? "" : "*x";
  for (int64_t dim : type.shape)
    text += (dim < 0 ? "?" : std::to_string(dim)) + "x";
  return text + std::string(nameOf(type.type));
}

std::optional<int64_t> dlc::rt::elementCount(std::span<const int64_t> shape) {
  std::optional<int64_t> extent = extentOf(shape);
  return extent && isEmpty(shape) ? 0 : extent;
}

int64_t TensorView::size() const {
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  return count;
}
