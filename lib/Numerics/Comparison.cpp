// SPDX-License-Identifier: Apache-2.0

#include "dlc/Numerics/Comparison.h"

#include "dlc/dialects/Graph/GraphDialect.h"
#include "dlc/dialects/Graph/Plain.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>
#include <cstdio>
#include <cstring>

using namespace mlir;
using namespace dlc;
using namespace dlc::numerics;

double dlc::numerics::toleranceOf(rt::DataType type) {
  switch (type) {
  case DLC_F64:
    return 1e-11;
  case DLC_F32:
    return 2e-5;
  case DLC_F16:
    return 5e-3;
  case DLC_BF16:
    return 4e-2;
  default:
    return 0;
  }
}

double dlc::numerics::toleranceFactorOf(Value value, bool allowsSteps) {
  auto toleranceOfValue = [](Value each) {
    return toleranceOf(graph::toTensorType(each.getType()).type);
  };
  // Some steps of 8 bits, where two ways to round end in different ones.
  constexpr double toleranceOfSteps = 4e-2;
  double own = toleranceOfValue(value), coarsest = own;
  llvm::SetVector<Value> sources;
  sources.insert(value);
  for (size_t i = 0; i < sources.size(); ++i) {
    coarsest = std::max(coarsest, toleranceOfValue(sources[i]));
    // A fusion is made of what is in it.
    if (Operation *op = sources[i].getDefiningOp())
      op->walk([&](Operation *inner) {
        sources.insert_range(inner->getOperands());
        if (allowsSteps && inner->hasTrait<graph::RoundsToIntegers>())
          coarsest = std::max(coarsest, toleranceOfSteps);
      });
  }
  return own > 0 ? coarsest / own : 1;
}

template <typename T> static double wide(const Tensor &tensor, int64_t index) {
  return static_cast<double>(tensor.as<T>()[index]);
}

static double half(const Tensor &tensor, int64_t index,
                   const llvm::fltSemantics &semantics) {
  return llvm::APFloat(semantics, llvm::APInt(16, tensor.as<uint16_t>()[index]))
      .convertToDouble();
}

double dlc::numerics::numberAt(const Tensor &tensor, int64_t index) {
  switch (tensor.type.type) {
  case DLC_F64:
    return wide<double>(tensor, index);
  case DLC_F32:
    return wide<float>(tensor, index);
  case DLC_F16:
    return half(tensor, index, llvm::APFloat::IEEEhalf());
  case DLC_BF16:
    return half(tensor, index, llvm::APFloat::BFloat());
  case DLC_I8:
    return wide<int8_t>(tensor, index);
  case DLC_I16:
    return wide<int16_t>(tensor, index);
  case DLC_I32:
    return wide<int32_t>(tensor, index);
  case DLC_I64:
    return wide<int64_t>(tensor, index);
  case DLC_U16:
    return wide<uint16_t>(tensor, index);
  case DLC_U32:
    return wide<uint32_t>(tensor, index);
  case DLC_U64:
    return wide<uint64_t>(tensor, index);
  default: // bool and ui8
    return wide<uint8_t>(tensor, index);
  }
}

/// "[1, 0, 3]" of the element with that number.
static std::string placeOf(const Tensor &tensor, int64_t index) {
  std::string text;
  for (size_t i = tensor.type.shape.size(); i-- > 0;) {
    std::string at = std::to_string(index % tensor.type.shape[i]);
    text = text.empty() ? at : at + ", " + text;
    index /= tensor.type.shape[i];
  }
  return "[" + text + "]";
}

static std::string textOf(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", number);
  return text;
}

static double largestOf(const Tensor &tensor) {
  double largest = 1;
  for (int64_t i = 0, size = tensor.size(); i < size; ++i)
    if (double number = std::abs(numberAt(tensor, i)); std::isfinite(number))
      largest = std::max(largest, number);
  return largest;
}

std::optional<std::string>
dlc::numerics::findDifference(const Tensor &expected, const Tensor &found,
                              double toleranceFactor) {
  if (expected.type.type != found.type.type ||
      expected.type.shape != found.type.shape)
    return "expected " + rt::toString(expected.type) + ", got " +
           rt::toString(found.type);
  size_t width = rt::sizeOf(expected.type.type);
  bool isFloat = rt::isFloat(expected.type.type);
  double largest = isFloat ? largestOf(expected) : 0;
  double allowed = toleranceOf(expected.type.type) * toleranceFactor * largest;
  for (int64_t i = 0, size = expected.size(); i < size; ++i) {
    if (!std::memcmp(expected.as<char>() + i * width,
                     found.as<char>() + i * width, width))
      continue;
    double wanted = numberAt(expected, i), got = numberAt(found, i);
    if (isFloat && (std::abs(wanted - got) <= allowed || wanted == got ||
                    (std::isnan(wanted) && std::isnan(got))))
      continue;
    return "expected " + textOf(wanted) + " at " + placeOf(expected, i) +
           ", got " + textOf(got) + "; " + textOf(allowed) + " is allowed";
  }
  return std::nullopt;
}
