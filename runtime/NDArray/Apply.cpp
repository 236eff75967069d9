// SPDX-License-Identifier: Apache-2.0
//
// Operations on arrays: shapes from the Reference shape rule when pushed, the
// elements from the Reference computation when run.

#include "Chunk.h"
#include "dlc/runtime/Base/Names.h"
#include "dlc/runtime/Kernel/Reference/Reference.h"

#include <algorithm>
#include <cstring>

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

namespace {
/// One application, as the engine holds it.
struct Application {
  const ref::Operation *operation = nullptr;
  Attributes attributes;
  std::vector<ArrayPiece> inputs, outputs;
  /// A kernel may read its operands after it has begun to write: outputs that
  /// lie over one are computed in `space`, each at its offset.
  static constexpr size_t inPlace = SIZE_MAX;
  std::vector<size_t> offsets;
  size_t spaceBytes = 0;
  TemporarySpace space;

  bool needsSpace() const {
    return std::ranges::any_of(offsets,
                               [](size_t offset) { return offset != inPlace; });
  }
  void layOut();
  Status run() const;
};
} // namespace

void Application::layOut() {
  for (const ArrayPiece &output : outputs) {
    bool isAside = std::ranges::any_of(inputs, [&](const ArrayPiece &input) {
      return input.overlaps(output);
    });
    offsets.push_back(isAside ? spaceBytes : inPlace);
    if (isAside)
      spaceBytes +=
          (output.bytes + DLC_ALIGNMENT - 1) / DLC_ALIGNMENT * DLC_ALIGNMENT;
  }
}

Status Application::run() const {
  std::vector<TensorView> inputViews, outputViews;
  for (size_t i = 0; i != inputs.size(); ++i) {
    if (!inputs[i].chunk) {
      inputViews.emplace_back();
      continue;
    }
    Result<std::byte *> start = inputs[i].readable();
    if (!start.isOk())
      return std::move(start.status())
          .withContext("operand " + std::to_string(i));
    inputViews.push_back(inputs[i].view(*start));
  }
  std::byte *aside = nullptr;
  if (needsSpace()) {
    Result<void *> memory = space.reserve(spaceBytes);
    if (!memory.isOk())
      return std::move(memory.status());
    aside = static_cast<std::byte *>(*memory);
  }
  for (size_t i = 0; i != outputs.size(); ++i) {
    Result<std::byte *> start = outputs[i].writable();
    if (!start.isOk())
      return std::move(start.status());
    outputViews.push_back(outputs[i].view(*start));
    if (offsets[i] != inPlace)
      outputViews[i].data = aside + offsets[i];
  }
  ref::ComputeContext context(inputViews, outputViews, attributes);
  DLC_RETURN_IF_ERROR(operation->run(context));
  for (size_t i = 0; i != outputs.size(); ++i)
    if (offsets[i] != inPlace)
      std::memcpy(*outputs[i].writable(), aside + offsets[i], outputs[i].bytes);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

Result<const ref::Operation *> dlc::rt::findOperation(std::string_view name) {
  if (const ref::Operation *operation = ref::lookup(name))
    return operation;
  NearName near(name);
  for (const ref::Operation &operation : ref::operations())
    near.offer(operation.name);
  return makeError(StatusCode::NotFound, "no operation is named '%s'%s",
                   std::string(name).c_str(), near.question().c_str());
}

/// Checks the attributes and asks the shape rule for the types of the results.
static Status infer(const ref::Operation &operation,
                    std::span<const NDArray> inputs,
                    const Attributes &attributes, size_t resultCount,
                    std::vector<TensorType> &types) {
  DLC_RETURN_IF_ERROR(ref::checkAttributes(operation, attributes));
  std::vector<ref::Operand> operands;
  for (const NDArray &input : inputs) {
    if (!input.isNull())
      if (Status status = checkComputable(input); !status.isOk())
        return std::move(status).withContext(operation.name);
    operands.push_back({typeOf(input)});
  }
  ref::InferContext context(operands, attributes, resultCount);
  if (Status status = operation.infer(context, types); !status.isOk())
    return std::move(status).withContext(operation.name);
  if (types.size() != resultCount)
    return makeError(StatusCode::InvalidArgument,
                     "expected %zu result%s of %s, got %zu", types.size(),
                     types.size() == 1 ? "" : "s",
                     std::string(operation.name).c_str(), resultCount);
  for (const TensorType &type : types)
    if (!type.isStatic())
      return makeError(StatusCode::Unsupported,
                       "expected results of %s whose shapes do not depend on "
                       "values, got %s",
                       std::string(operation.name).c_str(),
                       toString(type).c_str());
  return Status::ok();
}

/// Any of the arrays: all share its host device and its engine.
static Status findPlace(std::span<const NDArray> inputs,
                        std::span<const NDArray> outputs, const NDArray *&any) {
  any = nullptr;
  for (std::span<const NDArray> arrays : {outputs, inputs})
    for (const NDArray &array : arrays) {
      if (array.isNull())
        continue;
      DLC_RETURN_IF_ERROR(checkPresent(array));
      if (!any)
        any = &array;
      if (array.context() != any->context())
        return makeError(StatusCode::InvalidArgument,
                         "expected arrays on %s, got one on %s",
                         toString(any->context()).c_str(),
                         toString(array.context()).c_str());
      DLC_RETURN_IF_ERROR(checkSameEngine(*any, array));
    }
  if (!any)
    return makeError(StatusCode::InvalidArgument,
                     "expected an array, got null handles alone");
  return checkHost(any->context());
}

static Status checkOutputs(std::span<const NDArray> outputs,
                           std::span<const TensorType> types) {
  for (size_t i = 0; i != outputs.size(); ++i) {
    DLC_RETURN_IF_ERROR(checkWritable(outputs[i]));
    if (outputs[i].type() != types[i].type ||
        !std::ranges::equal(outputs[i].shape(), types[i].shape))
      return makeError(
          StatusCode::InvalidArgument, "expected an output of %s, got %s",
          toString(types[i]).c_str(), toString(typeOf(outputs[i])).c_str());
    for (size_t j = 0; j != i; ++j)
      if (ArrayPiece(outputs[i]).overlaps(ArrayPiece(outputs[j])))
        return makeError(StatusCode::InvalidArgument,
                         "expected outputs that do not overlap, got %zu and "
                         "%zu",
                         j, i);
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Pushing
//===----------------------------------------------------------------------===//

static Status push(const ref::Operation &operation,
                   std::span<const NDArray> inputs,
                   const Attributes &attributes,
                   std::span<const NDArray> outputs, int priority) {
  Application application;
  application.operation = &operation;
  application.attributes = attributes;
  std::vector<Variable> reads, writes;
  for (const NDArray &output : outputs) {
    application.outputs.emplace_back(output);
    addVariable(writes, output.variable());
  }
  for (const NDArray &input : inputs) {
    application.inputs.emplace_back(input);
    if (!input.isNull() && std::ranges::count(writes, input.variable()) == 0)
      addVariable(reads, input.variable());
  }
  const NDArray &first = outputs[0];
  application.layOut();
  if (application.needsSpace()) {
    Result<TemporarySpace> space =
        first.runtime()->resources().temporarySpace(first.context());
    if (!space.isOk())
      return std::move(space.status());
    application.space = *space;
    writes.push_back(space->variable());
  }
  PushOptions options;
  options.name = operation.name.data(); // A literal: ends in a zero.
  options.priority = priority;
  return first.runtime()->engine().pushSync(
      [application = std::move(application)] { return application.run(); },
      first.context(), reads, writes, options);
}

Status dlc::rt::apply(std::string_view name, std::span<const NDArray> inputs,
                      const Attributes &attributes,
                      std::span<const NDArray> outputs, int priority) {
  Result<const ref::Operation *> operation = findOperation(name);
  if (!operation.isOk())
    return std::move(operation.status());
  const NDArray *any;
  std::vector<TensorType> types;
  DLC_RETURN_IF_ERROR(findPlace(inputs, outputs, any));
  DLC_RETURN_IF_ERROR(
      infer(**operation, inputs, attributes, outputs.size(), types));
  DLC_RETURN_IF_ERROR(checkOutputs(outputs, types));
  if (outputs.empty())
    return Status::ok();
  return push(**operation, inputs, attributes, outputs, priority);
}

Result<std::vector<NDArray>>
dlc::rt::applyToNew(std::string_view name, std::span<const NDArray> inputs,
                    const Attributes &attributes, size_t outputCount,
                    int priority) {
  Result<const ref::Operation *> operation = findOperation(name);
  if (!operation.isOk())
    return std::move(operation.status());
  const NDArray *any;
  std::vector<TensorType> types;
  DLC_RETURN_IF_ERROR(findPlace(inputs, {}, any));
  DLC_RETURN_IF_ERROR(
      infer(**operation, inputs, attributes, outputCount, types));
  std::vector<NDArray> outputs;
  for (const TensorType &type : types) {
    Result<NDArray> output =
        NDArray::create(any->runtime(), type.type, type.shape, any->context());
    if (!output.isOk())
      return std::move(output.status());
    outputs.push_back(std::move(*output));
  }
  if (!outputs.empty())
    DLC_RETURN_IF_ERROR(
        push(**operation, inputs, attributes, outputs, priority));
  return outputs;
}

Result<NDArray> dlc::rt::apply(std::string_view name,
                               std::initializer_list<NDArray> inputs,
                               const Attributes &attributes) {
  Result<std::vector<NDArray>> outputs =
      applyToNew(name, std::span(inputs.begin(), inputs.size()), attributes);
  if (!outputs.isOk())
    return std::move(outputs.status());
  return std::move(outputs->front());
}
