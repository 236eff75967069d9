// SPDX-License-Identifier: Apache-2.0

#include "LogicalCall.h"

using namespace dlc::rt;
using namespace dlc::rt::cpu;

static constexpr std::string_view kPackedShape = "packed_shape";

LogicalCall::LogicalCall(const KernelCall &call)
    : inputs(call.inputs.begin(), call.inputs.end()), outputs(call.outputs) {
  for (const Attribute &attribute : call.attributes)
    if (attribute.name != kPackedShape)
      attributes.set(attribute.name, attribute.value);
  std::span<const int64_t> shape = call.attributes.getInts(kPackedShape);
  if (!shape.empty() && inputs.size() > 1)
    inputs[1].shape.assign(shape.begin(), shape.end());
}

Status cpu::checkPackedSize(const KernelCall &call, size_t bytes) {
  const Attributes &attributes = call.attributes;
  if (!attributes.has(kPackedShape) && !attributes.getInt("packed_w", 0) &&
      !attributes.getInt("packed_b", 0))
    return Status::ok();
  const TensorType &packed = call.inputs[1];
  std::optional<int64_t> count = elementCount(packed.shape);
  if (packed.type == DLC_F32 && count &&
      static_cast<uint64_t>(*count) == bytes / sizeof(float))
    return Status::ok();
  return makeError(StatusCode::InvalidArgument,
                   "expected a packed operand of %zu bytes, got %s", bytes,
                   toString(packed).c_str());
}
