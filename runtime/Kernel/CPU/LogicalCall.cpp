// SPDX-License-Identifier: Apache-2.0

#include "LogicalCall.h"

using namespace dlc::rt;
using namespace dlc::rt::cpu;

/// Operand 0 is never packed.
static std::optional<size_t> packedOperandOf(const KernelCall &call,
                                             std::string_view attribute) {
  for (size_t i = 1; i < call.inputs.size(); ++i)
    if (attribute == packedShapeName(i))
      return i;
  return std::nullopt;
}

LogicalCall::LogicalCall(const KernelCall &call)
    : inputs(call.inputs.begin(), call.inputs.end()), outputs(call.outputs) {
  for (const Attribute &attribute : call.attributes) {
    std::optional<size_t> operand = packedOperandOf(call, attribute.name);
    if (!operand) {
      attributes.set(attribute.name, attribute.value);
      continue;
    }
    std::span<const int64_t> shape = call.attributes.getInts(attribute.name);
    if (!shape.empty())
      inputs[*operand].shape.assign(shape.begin(), shape.end());
  }
}

Status cpu::checkPackedSize(const KernelCall &call, size_t operand,
                            size_t bytes) {
  const Attributes &attributes = call.attributes;
  if (!attributes.has(packedShapeName(operand)) &&
      !attributes.getInt("packed_w", 0) && !attributes.getInt("packed_b", 0))
    return Status::ok();
  if (operand >= call.inputs.size() ||
      call.inputs[operand].type == DLC_INVALID_TYPE)
    return Status::ok(); // Whoever needs it has missed it already.
  const TensorType &packed = call.inputs[operand];
  std::optional<int64_t> count = elementCount(packed.shape);
  if (packed.type == DLC_F32 && count &&
      static_cast<uint64_t>(*count) == bytes / sizeof(float))
    return Status::ok();
  return makeError(StatusCode::InvalidArgument,
                   "expected a packed operand of %zu bytes, got %s", bytes,
                   toString(packed).c_str());
}
