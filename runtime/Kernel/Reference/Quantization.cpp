// SPDX-License-Identifier: Apache-2.0
//
// quantize_linear, dequantize_linear: per tensor (one scale), per axis (a
// vector of scales) or in blocks along an axis.

#include "Centered.h"
#include "Families.h"
#include "Loop.h"
#include "Parameter.h"
#include "ShapeRule.h"
#include "Walk.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>

using namespace dlc::rt;
using namespace dlc::rt::ref;

static constexpr TypeSet quantizedTypes{1u << DLC_I8 | 1u << DLC_U8 |
                                            1u << DLC_I16 | 1u << DLC_U16,
                                        "i8, u8, i16 or u16"};
static constexpr TypeSet dequantizableTypes{quantizedTypes.bits | 1u << DLC_I32,
                                            "i8, u8, i16, u16 or i32"};

//===----------------------------------------------------------------------===//
// Which scale an element has
//===----------------------------------------------------------------------===//

namespace {
/// Element i, at place a along the axis, has scale
/// (i / period) * count + a / block of its row, or scale 0.
struct Granularity {
  bool isPerTensor = true;
  int64_t inner = 1;  ///< Elements between neighbours along the axis.
  int64_t extent = 1; ///< Of the axis.
  int64_t block = 1;  ///< Neighbours that share a scale.
  int64_t count = 1;  ///< Scales along the axis.
  bool isBlocked = false;

  int64_t scaleOf(int64_t i) const {
    if (isPerTensor)
      return 0;
    int64_t place = i / inner % extent;
    if (!isBlocked)
      return place;
    return (i / inner / extent * count + place / block) * inner + i % inner;
  }
};
} // namespace

static bool isOneValue(std::span<const int64_t> shape) {
  return shape.empty() || (shape.size() == 1 && shape[0] == 1);
}

/// Checks the scale's shape against x and its place among the granularities.
static Status checkGranularity(const Attributes &attributes,
                               const TensorType &x, const TensorType &scale) {
  int64_t block = attributes.getInt("block_size", 0);
  if (block < 0)
    return DLC_INVALID("expected a block_size of at least 0, got %" PRId64,
                       block);
  if (!x.hasRank || !scale.hasRank)
    return Status::ok();
  if (block == 0 && isOneValue(scale.shape))
    return Status::ok();
  int64_t axis = attributes.getInt("axis", 1);
  DLC_RETURN_IF_ERROR(normalizeAxis(axis, x.rank()));
  std::vector<int64_t> wanted{x.shape[axis]};
  if (block > 0) {
    wanted = x.shape;
    int64_t &dim = wanted[axis];
    if (dim > 0)
      dim = (dim - 1) / block + 1;
  }
  if (mayHaveShape(scale, wanted))
    return Status::ok();
  return DLC_INVALID("operand 1: expected %s of shape %s, got %s",
                     block ? "scales of blocks" : "a scale, or scales",
                     toString({scale.type, wanted}).c_str(),
                     toString(scale).c_str());
}

static Status readGranularity(ComputeContext &context, Granularity &result) {
  const TensorView &x = context.input(0), &scale = context.input(1);
  int64_t block = context.attrs().getInt("block_size", 0);
  if (block == 0 && isOneValue(scale.shape))
    return Status::ok();
  int64_t axis = context.attrs().getInt("axis", 1);
  DLC_RETURN_IF_ERROR(normalizeAxis(axis, x.rank()));
  result.isPerTensor = false;
  result.inner = extentOf(x.shape, axis + 1, x.shape.size());
  result.extent = x.shape[axis];
  result.isBlocked = block > 0;
  if (result.isBlocked) {
    result.block = block;
    result.count = scale.shape[axis];
  }
  return Status::ok();
}

static Status checkZeroPoint(const InferContext &context) {
  const TensorType &scale = context.operand(1).type;
  const TensorType &zeroPoint = context.operand(2).type;
  if (!scale.hasRank || mayHaveShape(zeroPoint, scale.shape))
    return Status::ok();
  if (zeroPoint.hasRank && isOneValue(zeroPoint.shape) &&
      isOneValue(scale.shape))
    return Status::ok();
  return DLC_INVALID("operand 2: expected the shape of %s, got %s",
                     toString(scale).c_str(), toString(zeroPoint).c_str());
}

//===----------------------------------------------------------------------===//
// quantize_linear
//===----------------------------------------------------------------------===//

static Status divisionType(const Attributes &attributes, DataType scale,
                           DataType &type) {
  DLC_RETURN_IF_ERROR(readType(attributes, "precision", scale, type));
  if (floatTypes.contains(type))
    return Status::ok();
  return DLC_INVALID("expected a float precision, got %s",
                     std::string(nameOf(type)).c_str());
}

static Status inferQuantize(const InferContext &context,
                            std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 3));
  DLC_RETURN_IF_ERROR(checkType(
      context, 0, {floatTypes.bits | 1u << DLC_I32, "a float type or i32"}));
  DLC_RETURN_IF_ERROR(checkType(context, 1, floatTypes));
  DLC_RETURN_IF_ERROR(checkType(context, 2, quantizedTypes));
  DataType division;
  DLC_RETURN_IF_ERROR(
      divisionType(context.attrs(), context.operand(1).type.type, division));
  TensorType result = context.operand(0).type;
  DLC_RETURN_IF_ERROR(
      checkGranularity(context.attrs(), result, context.operand(1).type));
  DLC_RETURN_IF_ERROR(checkZeroPoint(context));
  result.type = context.operand(2).type.type;
  return addResult(results, std::move(result));
}

/// `value` rounded as elements of that float type are.
static double roundTo(DataType type, double value) {
  switch (type) {
  case DLC_F16:
    return floatFromHalf(halfFromDouble(value));
  case DLC_BF16:
    return floatFromBFloat16(bfloat16FromDouble(value));
  case DLC_F32:
    return static_cast<float>(value);
  default:
    return value;
  }
}

namespace {
struct Range {
  double least, greatest;
};
} // namespace

static Range rangeOf(DataType type) {
  switch (type) {
  case DLC_I8:
    return {INT8_MIN, INT8_MAX};
  case DLC_U8:
    return {0, UINT8_MAX};
  case DLC_I16:
    return {INT16_MIN, INT16_MAX};
  default:
    return {0, UINT16_MAX};
  }
}

/// All elements of a tensor of at most 32-bit integers or floats.
static std::vector<double> loadAll(const TensorView &view) {
  std::vector<double> values(view.size());
  loadRun(view, 0, 1, view.size(), values.data());
  return values;
}

/// y[i] = function(i, x[i]), some elements after the other: types are looked at
/// once for them.
template <typename Function>
static void mapInRuns(const ComputeContext &context, TensorView &y,
                      const Function &function) {
  const TensorView &x = context.input(0);
  context.inParts(x.size(), 2, [&](int64_t begin, int64_t end) {
    constexpr int64_t most = 256;
    double values[most];
    for (; begin < end; begin += most) {
      const int64_t count = std::min(most, end - begin);
      loadRun(x, begin, 1, count, values);
      for (int64_t i = 0; i < count; ++i)
        values[i] = function(begin + i, values[i]);
      storeRun(y, begin, count, values);
    }
  });
}

/// Quantises floats by one scale; NaN becomes the zero point. No function is
/// called for an element: numbers that are clamped to what adding a large one
/// leaves whole are rounded by that, from halves to even ones.
static void quantizeFloats(const ComputeContext &context, float scale,
                           double zeroPoint, const Range &range,
                           TensorView &y) {
  constexpr double far = 0x1p40, large = 0x1.8p52;
  mapInRuns(context, y, [=](int64_t, double value) {
    const double quotient = static_cast<float>(value) / scale;
    const double known = quotient == quotient ? quotient : 0;
    const double rounded = (std::clamp(known, -far, far) + large) - large;
    return std::clamp(rounded + zeroPoint, range.least, range.greatest);
  });
}

static Status computeQuantize(ComputeContext &context) {
  const TensorView &x = context.input(0);
  TensorView &y = context.output(0);
  if (x.size() == 0)
    return Status::ok();
  Granularity granularity;
  DLC_RETURN_IF_ERROR(readGranularity(context, granularity));
  DataType type;
  DLC_RETURN_IF_ERROR(
      divisionType(context.attrs(), context.input(1).type, type));
  std::vector<double> scales = loadAll(context.input(1)),
                      zeroPoints = loadAll(context.input(2));
  Range range = rangeOf(y.type);
  if (x.type == DLC_F32 && type == DLC_F32 && scales.size() == 1) {
    quantizeFloats(context, static_cast<float>(scales[0]), zeroPoints[0], range,
                   y);
    return Status::ok();
  }
  mapInRuns(context, y, [&](int64_t i, double value) {
    int64_t at = granularity.scaleOf(i);
    double quotient =
        roundTo(type, roundTo(type, value) / roundTo(type, scales[at]));
    // NaN becomes the zero point.
    double rounded = std::isnan(quotient) ? 0 : std::nearbyint(quotient);
    return std::clamp(rounded + zeroPoints[at], range.least, range.greatest);
  });
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// dequantize_linear
//===----------------------------------------------------------------------===//

static Status inferDequantize(const InferContext &context,
                              std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 3));
  DLC_RETURN_IF_ERROR(checkType(context, 0, dequantizableTypes));
  DLC_RETURN_IF_ERROR(checkType(context, 1, floatTypes));
  DLC_RETURN_IF_ERROR(checkSameType(context, 0, 2));
  TensorType result = context.operand(0).type;
  DLC_RETURN_IF_ERROR(
      checkGranularity(context.attrs(), result, context.operand(1).type));
  DLC_RETURN_IF_ERROR(checkZeroPoint(context));
  result.type = context.operand(1).type.type;
  return addResult(results, std::move(result));
}

static Status computeDequantize(ComputeContext &context) {
  const TensorView &x = context.input(0), &scale = context.input(1);
  TensorView &y = context.output(0);
  if (x.size() == 0)
    return Status::ok();
  Granularity granularity;
  DLC_RETURN_IF_ERROR(readGranularity(context, granularity));
  std::vector<double> scales = loadAll(scale),
                      zeroPoints = loadAll(context.input(2));
  mapInRuns(context, y, [&](int64_t i, double value) {
    int64_t at = granularity.scaleOf(i);
    return (value - zeroPoints[at]) * scales[at]; // the difference is exact
  });
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// requantize
//===----------------------------------------------------------------------===//

static Status inferRequantize(const InferContext &context,
                              std::vector<TensorType> &results) {
  constexpr TypeSet i32Type{1u << DLC_I32, "i32"},
      f32Type{1u << DLC_F32, "f32"};
  DLC_RETURN_IF_ERROR(checkOperands(context, 4));
  DLC_RETURN_IF_ERROR(checkType(context, 0, i32Type));
  DLC_RETURN_IF_ERROR(checkType(context, 1, f32Type));
  DLC_RETURN_IF_ERROR(checkType(context, 2, f32Type));
  DLC_RETURN_IF_ERROR(checkType(context, 3, byteTypes));
  TensorType type = context.operand(0).type;
  for (size_t i : {1, 2, 3})
    DLC_RETURN_IF_ERROR(broadcastInto(type, context.operand(i).type));
  type.type = context.operand(3).type.type;
  return addResult(results, std::move(type));
}

static Status computeRequantize(ComputeContext &context) {
  const Range range = rangeOf(context.output(0).type);
  mapElements<double, double, 4>(
      context, [=](double x, double multiplier, double offset, double zero) {
        const float product =
            static_cast<float>(x) * static_cast<float>(multiplier);
        const float sum = product + static_cast<float>(offset);
        const double rounded = std::isnan(sum) ? 0 : std::nearbyint(sum);
        return std::clamp(rounded + zero, range.least, range.greatest);
      });
  return Status::ok();
}

std::span<const Operation> ref::quantizationOperations() {
  static constexpr Operation table[] = {
      {"dequantize_linear", inferDequantize, computeDequantize},
      {"quantize_linear", inferQuantize, computeQuantize},
      {"requantize", inferRequantize, computeRequantize},
  };
  return table;
}
