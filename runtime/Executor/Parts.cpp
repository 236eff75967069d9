// SPDX-License-Identifier: Apache-2.0
//
// Runs of programs that are made of others: by rows, and by shape.

#include "ExecutionState.h"

#include <algorithm>

using namespace dlc::rt;

Status Execution::State::prepareParts(const ExecutionOptions &options) {
  if (program.parts.empty())
    return Status::ok();
  DLC_RETURN_IF_ERROR(parts.create(program, options));
  if (program.isByShape)
    return Status::ok();
  Result<std::unique_ptr<BatchExecution>> made =
      BatchExecution::create(program, parts);
  if (!made.isOk())
    return std::move(made.status());
  batch = std::move(*made);
  return Status::ok();
}

Status Execution::State::runParts(PortListener *listener) {
  return program.isByShape ? runByShape(listener) : runBatch(listener);
}

//===----------------------------------------------------------------------===//
// By rows
//===----------------------------------------------------------------------===//

/// Memory for an output of `count` examples, unless the caller gave it.
Status Execution::State::allocateForBatch(size_t output, int64_t count) {
  const uint32_t value = program.outputValues[output];
  if (program.values[value].isStatic)
    return Status::ok();
  Result<std::span<const int64_t>> shape = batch->shapeOfOutput(output, count);
  if (!shape.isOk())
    return std::move(shape.status());
  if (!isBoundElsewhere[output])
    return allocateValue(value, *shape);
  if (std::ranges::equal(*shape, shapes[value]))
    return Status::ok();
  const TensorType expected{program.values[value].type.type,
                            {shape->begin(), shape->end()}},
      bound{expected.type, shapes[value]};
  return makeError(StatusCode::InvalidArgument,
                   "output '%s': expected memory of %s, got one of %s",
                   program.outputs[output].name.c_str(),
                   toString(expected).c_str(), toString(bound).c_str());
}

/// A batch of any size; who listens is told at its end.
Status Execution::State::runBatch(PortListener *listener) {
  Result<int64_t> count = batch->countExamples(shapes);
  if (!count.isOk())
    return std::move(count.status());
  for (size_t i = 0; i != program.outputs.size(); ++i)
    DLC_RETURN_IF_ERROR(allocateForBatch(i, *count));
  DLC_RETURN_IF_ERROR(batch->run(*count, addresses));
  if (!listener)
    return Status::ok();
  for (size_t i = 0; i != program.inputs.size(); ++i)
    listener->onInputDone(i);
  for (size_t i = 0; i != program.outputs.size(); ++i)
    listener->onOutputDone(i);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// By shape
//===----------------------------------------------------------------------===//

/// Whether what is bound has the shapes of `part`.
bool Execution::State::fits(const Program &part) const {
  for (size_t i = 0; i != program.inputs.size(); ++i)
    if (!shapeMatches(part.inputs()[i].type, shapes[program.inputValues[i]]))
      return false;
  return true;
}

/// "ids 1x32, mask 1x32": what the program leaves open, in some shape.
template <typename ShapeOf>
static std::string openShapes(std::span<const Port> inputs, ShapeOf shapeOf) {
  std::string text;
  for (size_t i = 0; i != inputs.size(); ++i)
    if (!inputs[i].type.isStatic())
      text += (text.empty() ? "" : ", ") + inputs[i].name + ' ' +
              toString(shapeOf(i));
  return text;
}

Status Execution::State::refuseShapes() const {
  constexpr size_t mostNamed = 8;
  std::string expected;
  for (size_t i = 0; i != std::min(program.parts.size(), mostNamed); ++i)
    expected +=
        (i ? "; or " : "") + openShapes(program.inputs, [&](size_t input) {
          return program.parts[i].program->inputs()[input].type;
        });
  if (program.parts.size() > mostNamed)
    expected += "; or one of " +
                std::to_string(program.parts.size() - mostNamed) + " more";
  const std::string got = openShapes(program.inputs, [&](size_t input) {
    return TensorType{program.inputs[input].type.type,
                      shapes[program.inputValues[input]]};
  });
  return makeError(StatusCode::InvalidArgument,
                   "the program was compiled for other shapes: expected %s, "
                   "got %s",
                   expected.c_str(), got.c_str());
}

/// What is bound goes to the program that it fits, outputs come from there.
Status Execution::State::runByShape(PortListener *listener) {
  size_t chosen = 0;
  while (chosen != parts.size() && !fits(*program.parts[chosen].program))
    ++chosen;
  if (chosen == parts.size())
    return refuseShapes();
  Execution &part = parts[chosen];
  auto viewOf = [&](uint32_t value) {
    return TensorView{program.values[value].type.type, shapes[value],
                      addresses[value]};
  };
  for (size_t i = 0; i != program.inputs.size(); ++i)
    DLC_RETURN_IF_ERROR(part.bindInput(i, viewOf(program.inputValues[i])));
  for (size_t i = 0; i != program.outputs.size(); ++i)
    if (isBoundElsewhere[i])
      DLC_RETURN_IF_ERROR(part.bindOutput(i, viewOf(program.outputValues[i])));
    else if (part.state->isBoundElsewhere[i]) // In a former run.
      DLC_RETURN_IF_ERROR(part.bindOutput(i, {}));
  DLC_RETURN_IF_ERROR(part.run(listener));
  for (size_t i = 0; i != program.outputs.size(); ++i) {
    const TensorView output = part.output(i);
    shapes[program.outputValues[i]].assign(output.shape.begin(),
                                           output.shape.end());
    setPort(Place::Output, i, output.data);
  }
  return Status::ok();
}
