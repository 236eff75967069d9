// SPDX-License-Identifier: Apache-2.0

#include "Elements.h"

#include "dlc/Training/Text.h"
#include "dlc/runtime/Base/Half.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

using namespace dlc;
using namespace dlc::tool;

std::optional<double> dlc::tool::numberAt(const rt::TensorView &tensor,
                                          size_t i) {
  const void *data = tensor.data;
  switch (tensor.type) {
  case DLC_F32:
    return static_cast<const float *>(data)[i];
  case DLC_F64:
    return static_cast<const double *>(data)[i];
  case DLC_I64:
    return double(static_cast<const int64_t *>(data)[i]);
  case DLC_U64:
    return double(static_cast<const uint64_t *>(data)[i]);
  case DLC_I32:
    return static_cast<const int32_t *>(data)[i];
  case DLC_I16:
    return static_cast<const int16_t *>(data)[i];
  case DLC_I8:
    return static_cast<const int8_t *>(data)[i];
  case DLC_U8:
  case DLC_BOOL:
    return static_cast<const uint8_t *>(data)[i];
  case DLC_U16:
    return static_cast<const uint16_t *>(data)[i];
  case DLC_U32:
    return static_cast<const uint32_t *>(data)[i];
  case DLC_F16:
    return rt::floatFromHalf(static_cast<const uint16_t *>(data)[i]);
  case DLC_BF16:
    return rt::floatFromBFloat16(static_cast<const uint16_t *>(data)[i]);
  default:
    return std::nullopt;
  }
}

bool dlc::tool::isFinite(const HostTensor &tensor) {
  if (!rt::isFloat(tensor.type))
    return true;
  int64_t size = tensor.view().size();
  if (tensor.type == DLC_F32) // As almost all are, and may be large.
    return std::ranges::all_of(
        std::span(static_cast<const float *>(
                      static_cast<const void *>(tensor.data.data())),
                  size),
        [](float value) { return std::isfinite(value); });
  for (int64_t i = 0; i != size; ++i)
    if (std::optional<double> number = numberAt(tensor.view(), i);
        number && !std::isfinite(*number))
      return false;
  return true;
}

/// Whether `T` has the whole number; doubles count further than 2^53, but not
/// in steps of 1.
template <typename T> static bool store(T &to, double value) {
  using Limits = std::numeric_limits<T>;
  if (value != std::trunc(value) || !(std::abs(value) < 0x1p53) ||
      value < static_cast<double>(Limits::lowest()) ||
      value > static_cast<double>(Limits::max()))
    return false;
  to = static_cast<T>(value);
  return true;
}

static bool storeBool(uint8_t &to, double value) {
  to = value == 1;
  return value == 0 || value == 1;
}

/// Infinities and what is no number stay what they are.
static bool isHeld(double value, double stored) {
  return std::isfinite(stored) || !std::isfinite(value);
}

/// False where the type has no such number, or is none of numbers.
static bool store(rt::TensorView &to, int64_t i, double value) {
  switch (to.type) {
  case DLC_F32:
    to.as<float>()[i] = static_cast<float>(value);
    return isHeld(value, to.as<float>()[i]);
  case DLC_F64:
    to.as<double>()[i] = value;
    return true;
  case DLC_F16:
    to.as<uint16_t>()[i] = rt::halfFromDouble(value);
    return isHeld(value, rt::floatFromHalf(to.as<uint16_t>()[i]));
  case DLC_BF16:
    to.as<uint16_t>()[i] = rt::bfloat16FromDouble(value);
    return isHeld(value, rt::floatFromBFloat16(to.as<uint16_t>()[i]));
  case DLC_I64:
    return store(to.as<int64_t>()[i], value);
  case DLC_I32:
    return store(to.as<int32_t>()[i], value);
  case DLC_I16:
    return store(to.as<int16_t>()[i], value);
  case DLC_I8:
    return store(to.as<int8_t>()[i], value);
  case DLC_U64:
    return store(to.as<uint64_t>()[i], value);
  case DLC_U32:
    return store(to.as<uint32_t>()[i], value);
  case DLC_U16:
    return store(to.as<uint16_t>()[i], value);
  case DLC_U8:
    return store(to.as<uint8_t>()[i], value);
  case DLC_BOOL:
    return storeBool(to.as<uint8_t>()[i], value);
  default:
    return false;
  }
}

void dlc::tool::convertElements(HostTensor &tensor, rt::DataType type,
                                const std::string &what) {
  if (tensor.type == type)
    return;
  HostTensor converted = makeZeros({type, tensor.shape});
  rt::TensorView view = converted.view();
  auto refuse = [&](const std::string &found) -> Failure {
    return {what + " of type " +
            rt::toString(rt::TensorType{type, tensor.shape}) + ", got " +
            found};
  };
  for (int64_t i = 0, size = view.size(); i != size; ++i) {
    std::optional<double> number = numberAt(tensor.view(), i);
    if (!number)
      throw refuse(rt::toString(rt::TensorType{tensor.type, tensor.shape}));
    if (!store(view, i, *number))
      throw refuse(training::toText(*number) + " in it");
  }
  tensor = std::move(converted);
}
