// SPDX-License-Identifier: Apache-2.0
//
// Conversions between element types: by value (cast) and by bits (bit_cast).

#include "Families.h"
#include "Loop.h"
#include "ShapeRule.h"

#include <cinttypes>
#include <cstring>

using namespace dlc::rt;
using namespace dlc::rt::ref;

static Status targetType(const Attributes &attributes, DataType &type) {
  int64_t to = attributes.getInt("to", DLC_INVALID_TYPE);
  if (to < 0 || to > kLastType || !isComputable(DataType(to)))
    return DLC_INVALID("expected a plain type in attribute to, got %" PRId64,
                       to);
  type = static_cast<DataType>(to);
  return Status::ok();
}

static Status inferCast(const InferContext &context,
                        std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1));
  TensorType type = context.operand(0).type;
  DLC_RETURN_IF_ERROR(targetType(context.attrs(), type.type));
  return addResult(results, std::move(type));
}

static Status inferBitCast(const InferContext &context,
                           std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1));
  TensorType type = context.operand(0).type;
  size_t size = sizeOf(type.type);
  DLC_RETURN_IF_ERROR(targetType(context.attrs(), type.type));
  if (sizeOf(type.type) != size)
    return DLC_INVALID("expected a type of %zu bytes in attribute to, got %s",
                       size, std::string(nameOf(type.type)).c_str());
  return addResult(results, std::move(type));
}

/// Floats become the nearest integer towards zero that the type holds (NaN
/// becomes 0), integers wrap, and everything but 0 becomes true. `saturate` is
/// about 8-bit floats, which are no plain types.
static Status computeCast(ComputeContext &context) {
  return dispatchWide(context.input(0).type, [&](auto wide) {
    using T = decltype(wide);
    mapElements<T, T, 1>(context, [](T x) { return x; });
    return Status::ok();
  });
}

static Status computeBitCast(ComputeContext &context) {
  const TensorView &x = context.input(0), &y = context.output(0);
  if (y.type == DLC_BOOL) {
    // A bool holds 0 or 1 only.
    for (int64_t i = 0, e = x.size(); i < e; ++i)
      y.as<uint8_t>()[i] = x.as<uint8_t>()[i] & 1;
    return Status::ok();
  }
  if (size_t bytes = x.bytes())
    std::memcpy(y.data, x.data, bytes);
  return Status::ok();
}

std::span<const Operation> ref::conversionOperations() {
  static constexpr Operation operations[] = {
      {"bit_cast", inferBitCast, computeBitCast},
      {"cast", inferCast, computeCast},
  };
  return operations;
}
