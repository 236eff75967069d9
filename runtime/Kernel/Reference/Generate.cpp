// SPDX-License-Identifier: Apache-2.0
//
// Operations that make a tensor from parameters: eye_like, one_hot,
// random_gamma, random_poisson, random_uniform, range.

#include "Element.h"
#include "Families.h"
#include "Parameter.h"
#include "ShapeRule.h"
#include "Walk.h"

#include "dlc/runtime/Base/Random.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>

using namespace dlc::rt;
using namespace dlc::rt::ref;

/// One value of `operand`, of whatever element type, as Wide; the operand must
/// hold one value that is known.
template <typename Wide>
static Wide readValue(DataType type, const void *data) {
  Wide value{};
  Status status = dispatch(type, [&]<typename E>(E) {
    value = convertTo<Wide>(loadElement<E>(data, 0));
    return Status::ok();
  });
  return status.isOk() ? value : Wide{};
}

/// Checks that operand `index` holds one value as far as its shape is known.
static Status checkOneValue(const InferContext &context, size_t index) {
  const TensorType &type = context.operand(index).type;
  bool isOne = !type.hasRank || type.shape.empty() ||
               (type.rank() == 1 && (type.shape[0] < 0 || type.shape[0] == 1));
  if (isOne)
    return Status::ok();
  return DLC_INVALID("operand %zu: expected one value, got %s", index,
                     toString(type).c_str());
}

//===----------------------------------------------------------------------===//
// eye_like
//===----------------------------------------------------------------------===//

static Status inferEyeLike(const InferContext &context,
                           std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1));
  DLC_RETURN_IF_ERROR(checkRank(context, 0, 2));
  const TensorType &x = context.operand(0).type;
  TensorType result = x.hasRank ? x : TensorType{x.type, {-1, -1}};
  DLC_RETURN_IF_ERROR(readType(context.attrs(), "dtype", x.type, result.type));
  return addResult(results, std::move(result));
}

static Status computeEyeLike(ComputeContext &context) {
  TensorView &y = context.output(0);
  int64_t k = context.attrs().getInt("k", 0);
  if (y.size() == 0)
    return Status::ok();
  std::memset(y.data, 0, y.bytes());
  return dispatch(y.type, [&]<typename E>(E) {
    for (int64_t i = 0; i < y.shape[0]; ++i) {
      int64_t j;
      if (!__builtin_add_overflow(i, k, &j) && j >= 0 && j < y.shape[1])
        storeElement<E>(y.data, i * y.shape[1] + j, int64_t(1));
    }
    return Status::ok();
  });
}

//===----------------------------------------------------------------------===//
// one_hot
//===----------------------------------------------------------------------===//

static Status checkOneHot(const InferContext &context) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 3));
  DLC_RETURN_IF_ERROR(checkType(context, 0, numericTypes));
  DLC_RETURN_IF_ERROR(checkType(context, 1, numericTypes));
  DLC_RETURN_IF_ERROR(checkOneValue(context, 1));
  static constexpr int64_t pair[] = {2};
  const TensorType &values = context.operand(2).type;
  if (!mayHaveShape(values, pair))
    return DLC_INVALID("operand 2: expected a vector of 2 values, got %s",
                       toString(values).c_str());
  return Status::ok();
}

static Status inferOneHot(const InferContext &context,
                          std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOneHot(context));
  const TensorType &indices = context.operand(0).type;
  const Operand &depth = context.operand(1);
  DataType type = context.operand(2).type.type;
  int64_t extent = kUnknownDim;
  if (depth.data && depth.type.isStatic()) {
    extent = readValue<int64_t>(depth.type.type, depth.data);
    if (extent < 1)
      return DLC_INVALID("expected a depth of at least 1, got %" PRId64,
                         extent);
  }
  if (!indices.hasRank)
    return addResult(results, unrankedOf(type));
  int64_t axis = context.attrs().getInt("axis", -1);
  DLC_RETURN_IF_ERROR(normalizeAxis(axis, indices.rank() + 1));
  TensorType result{type, indices.shape};
  result.shape.insert(result.shape.begin() + axis, extent);
  return addResult(results, std::move(result));
}

/// The position in [0, depth) that an index marks, or -1.
template <typename Wide> static int64_t hotPosition(Wide value, int64_t depth) {
  // Above 2^63 an unsigned index would wrap to a valid negative one.
  if (std::is_same_v<Wide, uint64_t> && value > Wide(INT64_MAX))
    return -1;
  int64_t index = convertTo<int64_t>(value);
  if (index < 0)
    index += depth;
  return index >= 0 && index < depth ? index : -1;
}

static Status computeOneHot(ComputeContext &context) {
  DLC_RETURN_IF_ERROR(checkOutputs(context, inferOneHot));
  const TensorView &indices = context.input(0), &values = context.input(2);
  TensorView &y = context.output(0);
  int64_t axis = context.attrs().getInt("axis", -1);
  DLC_RETURN_IF_ERROR(normalizeAxis(axis, y.rank()));
  size_t size = sizeOf(y.type);
  fillElements(context, y.data, y.size(), values.data, size);
  int64_t depth = y.shape[axis];
  int64_t inner = extentOf(y.shape, axis + 1, y.shape.size());
  return dispatch(indices.type, [&]<typename E>(E) {
    for (int64_t i = 0; i < indices.size(); ++i) {
      int64_t hot = hotPosition(loadElement<E>(indices.data, i), depth);
      if (hot >= 0)
        std::memcpy(y.as<char>() +
                        ((i / inner * depth + hot) * inner + i % inner) * size,
                    values.as<char>() + size, size);
    }
    return Status::ok();
  });
}

//===----------------------------------------------------------------------===//
// random_gamma, random_poisson, random_uniform
//===----------------------------------------------------------------------===//

/// Blocks that one run may draw from a stream.
static constexpr int64_t blocksOfRun = int64_t(1) << 32;

/// The operands, of which the first is the state, and the stream.
static Status checkRandom(const InferContext &context) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2));
  DLC_RETURN_IF_ERROR(checkType(context, 0, i64Type));
  static constexpr int64_t pair[] = {2};
  const TensorType &state = context.operand(0).type;
  if (!mayHaveShape(state, pair))
    return DLC_INVALID("operand 0: expected a vector of 2 values, got %s",
                       toString(state).c_str());
  int64_t stream = context.attrs().getInt("stream", 0);
  if (stream < 0 || stream > UINT32_MAX)
    return DLC_INVALID("expected a stream of 0 to 2^32 - 1, got %" PRId64,
                       stream);
  return Status::ok();
}

/// As many numbers as a run may draw, as far as that is known.
static Status checkRandomCount(const TensorType &result) {
  if (!result.isStatic())
    return Status::ok();
  std::optional<int64_t> count = elementCount(result.shape);
  if (!count || *count > blocksOfRun)
    return DLC_INVALID("expected at most 2^32 random numbers, got %s",
                       toString(result).c_str());
  return Status::ok();
}

static RandomDraws drawsOf(const ComputeContext &context) {
  std::vector<int64_t> state = context.intsOf(0);
  return {uint64_t(state[0]), uint32_t(context.attrs().getInt("stream", 0)),
          uint64_t(state[1]) * uint64_t(blocksOfRun)};
}

static Status inferRandomUniform(const InferContext &context,
                                 std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkRandom(context));
  DLC_RETURN_IF_ERROR(checkRank(context, 1, 1));
  Parameter shape;
  DLC_RETURN_IF_ERROR(readParameter(context, 1, shape));
  TensorType result = unrankedOf(DLC_F32);
  if (shape.values)
    result = {DLC_F32, *shape.values};
  else if (shape.length != kUnknownDim)
    result = {DLC_F32, std::vector<int64_t>(shape.length, kUnknownDim)};
  if (shape.values) {
    for (int64_t dim : *shape.values)
      if (dim < 0)
        return DLC_INVALID("expected dimensions of at least 0, got %" PRId64,
                           dim);
    DLC_RETURN_IF_ERROR(checkRandomCount(result));
  }
  return addResult(results, std::move(result));
}

static Status computeRandomUniform(ComputeContext &context) {
  DLC_RETURN_IF_ERROR(checkOutputs(context, inferRandomUniform));
  TensorView &y = context.output(0);
  fillUniform(drawsOf(context), 0, std::span(y.as<float>(), y.size()));
  return Status::ok();
}

static Status inferRandomOf(const InferContext &context,
                            std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkRandom(context));
  DLC_RETURN_IF_ERROR(checkType(context, 1, {1u << DLC_F32, "f32"}));
  TensorType result = context.operand(1).type;
  DLC_RETURN_IF_ERROR(checkRandomCount(result));
  return addResult(results, std::move(result));
}

/// Calls `draw(draws, i, one, parameter)` for each element i, whose number goes
/// to `one`. That of 0 is 0, and of what is no parameter NaN.
template <typename Draw>
static void drawEach(ComputeContext &context, Draw &&draw) {
  TensorView &y = context.output(0);
  RandomDraws draws = drawsOf(context);
  const float *parameters = context.input(1).as<float>();
  float *numbers = y.as<float>();
  for (int64_t i = 0; i < y.size(); ++i) {
    float parameter = parameters[i];
    if (parameter > 0 && std::isfinite(parameter))
      draw(draws, uint64_t(i), std::span(numbers + i, 1), parameter);
    else
      numbers[i] = parameter == 0 ? 0 : NAN;
  }
}

static Status computeRandomGamma(ComputeContext &context) {
  DLC_RETURN_IF_ERROR(checkOutputs(context, inferRandomOf));
  drawEach(context,
           [](const RandomDraws &draws, uint64_t i, std::span<float> one,
              double shape) { fillGamma(draws, i, one, shape); });
  return Status::ok();
}

static Status computeRandomPoisson(ComputeContext &context) {
  DLC_RETURN_IF_ERROR(checkOutputs(context, inferRandomOf));
  drawEach(context, fillPoisson);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// range
//===----------------------------------------------------------------------===//

/// ceil((limit - start) / delta), at least 0; nullopt when it has no value.
template <typename Wide>
static std::optional<int64_t> rangeLength(Wide start, Wide limit, Wide delta) {
  if constexpr (std::is_floating_point_v<Wide>) {
    double length = std::ceil((limit - start) / delta);
    if (!(length < 0x1p62)) // NaN too
      return std::nullopt;
    return length > 0 ? static_cast<int64_t>(length) : 0;
  } else {
    __int128 distance = static_cast<__int128>(limit) - start, step = delta;
    if (step < 0) {
      distance = -distance;
      step = -step;
    }
    __int128 length = distance > 0 ? (distance - 1) / step + 1 : 0;
    return length <= INT64_MAX ? std::optional(static_cast<int64_t>(length))
                               : std::nullopt;
  }
}

template <typename Wide> static std::string printNumber(Wide value) {
  if constexpr (std::is_integral_v<Wide>)
    return std::to_string(value);
  char text[32];
  std::snprintf(text, sizeof(text), "%g", static_cast<double>(value));
  return text;
}

template <typename Wide>
static Status inferRangeOf(const InferContext &context, int64_t &length) {
  Wide values[3];
  for (size_t i = 0; i < 3; ++i) {
    const Operand &operand = context.operand(i);
    values[i] = readValue<Wide>(operand.type.type, operand.data);
  }
  if (values[2] == Wide(0))
    return DLC_INVALID("expected a delta other than 0");
  std::optional<int64_t> count = rangeLength(values[0], values[1], values[2]);
  if (!count)
    return DLC_INVALID("expected less than 2^63 values in a range, got one "
                       "from %s to %s by %s",
                       printNumber(values[0]).c_str(),
                       printNumber(values[1]).c_str(),
                       printNumber(values[2]).c_str());
  length = *count;
  return Status::ok();
}

static Status inferRange(const InferContext &context,
                         std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 3));
  DLC_RETURN_IF_ERROR(checkType(context, 0, numericTypes));
  bool isKnown = true;
  for (size_t i = 0; i < 3; ++i) {
    DLC_RETURN_IF_ERROR(checkSameType(context, 0, i));
    DLC_RETURN_IF_ERROR(checkOneValue(context, i));
    isKnown &= context.operand(i).data && context.operand(i).type.isStatic();
  }
  DataType type = context.operand(0).type.type;
  int64_t length = kUnknownDim;
  if (isKnown)
    DLC_RETURN_IF_ERROR(dispatchWide(type, [&]<typename Wide>(Wide) {
      return inferRangeOf<Wide>(context, length);
    }));
  return addResult(results, {type, {length}});
}

static Status computeRange(ComputeContext &context) {
  DLC_RETURN_IF_ERROR(checkOutputs(context, inferRange));
  TensorView &y = context.output(0);
  return dispatch(y.type, [&]<typename E>(E) {
    using Sum = Accumulator<E>;
    Sum start = Sum(loadElement<E>(context.input(0).data, 0));
    Sum delta = Sum(loadElement<E>(context.input(2).data, 0));
    for (int64_t i = 0; i < y.size(); ++i)
      storeElement<E>(y.data, i, start + Sum(i) * delta);
    return Status::ok();
  });
}

std::span<const Operation> ref::generateOperations() {
  static constexpr Operation table[] = {
      {"eye_like", inferEyeLike, computeEyeLike},
      {"one_hot", inferOneHot, computeOneHot},
      {"random_gamma", inferRandomOf, computeRandomGamma},
      {"random_poisson", inferRandomOf, computeRandomPoisson},
      {"random_uniform", inferRandomUniform, computeRandomUniform},
      {"range", inferRange, computeRange},
  };
  return table;
}
