// SPDX-License-Identifier: Apache-2.0

#include "Parameter.h"

#include "ShapeRule.h"

#include <algorithm>
#include <cinttypes>

using namespace dlc::rt;
using namespace dlc::rt::ref;

Status ref::readParameter(const InferContext &context, size_t index,
                          Parameter &parameter) {
  DLC_RETURN_IF_ERROR(checkType(context, index, indexTypes));
  const TensorType &type = context.operand(index).type;
  if (!type.hasRank)
    return Status::ok();
  if (type.rank() > 1)
    return DLC_INVALID("operand %zu: expected a vector, got %s", index,
                       toString(type).c_str());
  parameter.length = type.rank() == 0 ? 1 : type.shape[0];
  parameter.values = context.intsOf(index);
  return Status::ok();
}

Status ref::readScalar(const InferContext &context, size_t index,
                       std::optional<int64_t> &value) {
  Parameter parameter;
  DLC_RETURN_IF_ERROR(readParameter(context, index, parameter));
  if (parameter.length >= 0 && parameter.length != 1)
    return DLC_INVALID("operand %zu: expected one value, got %" PRId64, index,
                       parameter.length);
  if (parameter.values)
    value = parameter.values->front();
  return Status::ok();
}

Status ref::readType(const Attributes &attributes, std::string_view name,
                     DataType fallback, DataType &type) {
  int64_t value = attributes.getInt(name, fallback);
  if (value <= DLC_INVALID_TYPE || value > DLC_F64)
    return DLC_INVALID("expected %s to be an element type, got %" PRId64,
                       std::string(name).c_str(), value);
  type = static_cast<DataType>(value);
  return Status::ok();
}

Status ref::checkOutputs(ComputeContext &context, InferFunction rule) {
  std::vector<Operand> operands;
  for (size_t i = 0; i < context.inputCount(); ++i) {
    const TensorView &view = context.input(i);
    TensorType type{view.type, {view.shape.begin(), view.shape.end()}};
    operands.push_back({std::move(type), view.data});
  }
  std::vector<TensorType> results;
  InferContext known(operands, context.attrs(), context.outputCount());
  DLC_RETURN_IF_ERROR(rule(known, results));
  for (size_t i = 0; i < results.size(); ++i) {
    const TensorView &view = context.output(i);
    if (view.type == results[i].type &&
        std::ranges::equal(view.shape, results[i].shape))
      continue;
    TensorType planned{view.type, {view.shape.begin(), view.shape.end()}};
    return DLC_INVALID("result %zu: expected %s, got memory for %s", i,
                       toString(results[i]).c_str(), toString(planned).c_str());
  }
  return Status::ok();
}
