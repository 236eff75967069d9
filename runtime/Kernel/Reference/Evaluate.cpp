// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Kernel/Reference/Evaluate.h"

#include <algorithm>
#include <new>

using namespace dlc::rt;
using namespace dlc::rt::ref;

static constexpr std::align_val_t alignment{DLC_ALIGNMENT};

void OwnedTensor::Free::operator()(void *memory) const {
  ::operator delete(memory, alignment);
}

Status OwnedTensor::allocate(DataType type, std::span<const int64_t> shape,
                             OwnedTensor &tensor) {
  std::optional<int64_t> bytes = byteCount(type, shape);
  if (!bytes)
    return makeError(StatusCode::InvalidArgument,
                     "expected a static shape whose size fits 63 bits");
  void *memory =
      ::operator new(static_cast<size_t>(*bytes), alignment, std::nothrow);
  if (!memory)
    return makeError(StatusCode::OutOfMemory, "no memory for %lld bytes",
                     static_cast<long long>(*bytes));
  tensor.memory.reset(memory);
  tensor.elementType = type;
  tensor.dims.assign(shape.begin(), shape.end());
  return Status::ok();
}

static std::vector<Operand> describe(std::span<const TensorView> inputs) {
  std::vector<Operand> operands;
  for (const TensorView &input : inputs) {
    TensorType type{input.type, {input.shape.begin(), input.shape.end()}};
    operands.push_back({std::move(type), input.data});
  }
  return operands;
}

static Status compute(const Operation &operation,
                      std::span<const TensorView> inputs,
                      std::span<const TensorType> types,
                      const Attributes &attributes,
                      std::vector<OwnedTensor> &results) {
  std::vector<TensorView> outputs(types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    outputs[i].type = types[i].type;
    if (!types[i].isStatic())
      continue;
    DLC_RETURN_IF_ERROR(
        OwnedTensor::allocate(types[i].type, types[i].shape, results[i]));
    outputs[i] = results[i].view();
  }
  ComputeContext::Allocator allocate = [&](size_t index,
                                           std::span<const int64_t> shape) {
    Status status =
        OwnedTensor::allocate(types[index].type, shape, results[index]);
    return status.isOk() ? results[index].data() : nullptr;
  };
  ComputeContext context(inputs, outputs, attributes, &allocate);
  DLC_RETURN_IF_ERROR(operation.run(context));
  for (const OwnedTensor &result : results)
    if (!result.data())
      return makeError(StatusCode::Internal, "a result was not allocated");
  return Status::ok();
}

Status ref::evaluate(const Operation &operation,
                     std::span<const TensorView> inputs,
                     const Attributes &attributes, size_t resultCount,
                     std::vector<OwnedTensor> &results) {
  results.clear();
  std::vector<Operand> operands = describe(inputs);
  InferContext infer(operands, attributes, resultCount);
  std::vector<TensorType> types;
  Status status = operation.infer(infer, types);
  if (status.isOk()) {
    results.resize(types.size());
    status = compute(operation, inputs, types, attributes, results);
  }
  if (status.isOk())
    return status;
  results.clear();
  return std::move(status).withContext(operation.name);
}
