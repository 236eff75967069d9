// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Base/Tensor.h"

using namespace dlc::rt;

namespace {
struct TypeFacts {
  std::string_view name;
  size_t size;
};
} // namespace

static constexpr TypeFacts typeFacts[] = {
    {"invalid", 0},  {"bool", 1},       {"i8", 1},     {"i16", 2},
    {"i32", 4},      {"i64", 8},        {"u8", 1},     {"u16", 2},
    {"u32", 4},      {"u64", 8},        {"f16", 2},    {"bf16", 2},
    {"f32", 4},      {"f64", 8},        {"c64", 8},    {"c128", 16},
    {"f8e4m3fn", 1}, {"f8e4m3fnuz", 1}, {"f8e5m2", 1}, {"f8e5m2fnuz", 1},
    {"f8e8m0fnu", 1}};

static const TypeFacts &factsOf(DataType type) {
  bool known = type >= 0 && static_cast<size_t>(type) < std::size(typeFacts);
  return typeFacts[known ? type : 0];
}

size_t dlc::rt::sizeOf(DataType type) { return factsOf(type).size; }

size_t dlc::rt::alignmentOf(DataType type) {
  bool isComplex = type == DLC_C64 || type == DLC_C128;
  return isComplex ? sizeOf(type) / 2 : sizeOf(type);
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
  int64_t count = 1;
  for (int64_t dim : shape)
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count))
      return std::nullopt;
  return count;
}

int64_t TensorView::size() const {
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  return count;
}
