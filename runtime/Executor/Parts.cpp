// SPDX-License-Identifier: Apache-2.0
//
// Runs of programs that are made of others: by rows, and by shape.

#include "ExecutionState.h"

#include <algorithm>
#include <cstring>

using namespace dlc::rt;

Status Execution::State::prepareParts(const ExecutionOptions &options) {
  if (program.parts.empty())
    return Status::ok();
  DLC_RETURN_IF_ERROR(parts.create(program, options));
  if (program.isByShape) {
    padded = std::make_unique<PaddedPorts>(program);
    return Status::ok();
  }
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

/// Tells of every input and output.
void Execution::State::tellAll(PortListener &listener) const {
  for (size_t i = 0; i != program.inputs.size(); ++i)
    listener.onInputDone(i);
  for (size_t i = 0; i != program.outputs.size(); ++i)
    listener.onOutputDone(i);
}

/// A batch of any size; who listens is told at its end.
Status Execution::State::runBatch(PortListener *listener) {
  Result<int64_t> count = batch->countExamples(shapes);
  if (!count.isOk())
    return std::move(count.status());
  for (size_t i = 0; i != program.outputs.size(); ++i) {
    Result<std::span<const int64_t>> shape = batch->shapeOfOutput(i, *count);
    if (!shape.isOk())
      return std::move(shape.status());
    DLC_RETURN_IF_ERROR(placeOutput(i, *shape));
  }
  DLC_RETURN_IF_ERROR(batch->run(*count, addresses));
  if (listener)
    tellAll(*listener);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// By shape
//===----------------------------------------------------------------------===//

/// Whether what is bound has the shapes of `part`, or can be padded to them.
bool Execution::State::fits(const Program &part) const {
  for (size_t i = 0; i != program.inputs.size(); ++i)
    if (!PaddedPorts::fits(part.inputs()[i].type,
                           shapes[program.inputValues[i]],
                           program.inputs[i].padded))
      return false;
  return true;
}

/// "ids 1x32, mask 1x32": what the program leaves open, in some shape; with
/// `isMost` "ids 1x<=32" where it may be smaller.
template <typename ShapeOf>
static std::string openShapes(std::span<const Port> inputs, bool isMost,
                              ShapeOf shapeOf) {
  std::string text;
  for (size_t i = 0; i != inputs.size(); ++i) {
    if (inputs[i].type.isStatic())
      continue;
    text += (text.empty() ? "" : ", ") + inputs[i].name + ' ';
    const TensorType type = shapeOf(i);
    for (size_t k = 0; k != type.shape.size(); ++k) {
      if (isMost && !inputs[i].padded.empty() && inputs[i].padded[k] >= 0)
        text += "<=";
      text +=
          type.shape[k] == kUnknownDim ? "?" : std::to_string(type.shape[k]);
      text += 'x';
    }
    text += toString(TensorType{type.type, {}}); // Of one element.
  }
  return text;
}

/// Whether whatever fits `part` fits `larger`, too.
static bool covers(std::span<const Port> inputs, const Program &larger,
                   const Program &part) {
  for (size_t i = 0; i != inputs.size(); ++i)
    if (!PaddedPorts::fits(larger.inputs()[i].type, part.inputs()[i].type.shape,
                           inputs[i].padded))
      return false;
  return true;
}

Status Execution::State::refuseShapes() const {
  constexpr size_t mostNamed = 8;
  std::string expected;
  size_t count = 0;
  for (const PartProgram &part : program.parts) {
    const bool isCovered =
        std::ranges::any_of(program.parts, [&](const PartProgram &other) {
          return &other != &part &&
                 covers(program.inputs, *other.program, *part.program);
        });
    if (isCovered || count++ >= mostNamed)
      continue;
    expected += (expected.empty() ? "" : "; or ") +
                openShapes(program.inputs, /*isMost=*/true, [&](size_t input) {
                  return part.program->inputs()[input].type;
                });
  }
  if (count > mostNamed)
    expected += "; or one of " + std::to_string(count - mostNamed) + " more";
  const std::string got =
      openShapes(program.inputs, /*isMost=*/false, [&](size_t input) {
        return TensorType{program.inputs[input].type.type,
                          shapes[program.inputValues[input]]};
      });
  return makeError(StatusCode::InvalidArgument,
                   "the program was compiled for other shapes: expected %s, "
                   "got %s",
                   expected.c_str(), got.c_str());
}

/// The part that what is bound fits with the least padding; null without any.
Execution *Execution::State::choosePart() {
  Execution *chosen = nullptr;
  double least = 0;
  for (size_t i = 0; i != parts.size(); ++i) {
    const Program &part = *program.parts[i].program;
    if (!fits(part))
      continue;
    const double elements = padded->elementsOf(i);
    if (!chosen || elements < least) {
      chosen = &parts[i];
      least = elements;
    }
  }
  return chosen;
}

/// Memory for an output of `shape`, unless the caller gave it.
Status Execution::State::placeOutput(size_t output,
                                     std::span<const int64_t> shape) {
  const uint32_t value = program.outputValues[output];
  if (program.values[value].isStatic)
    return Status::ok();
  if (!isBoundElsewhere[output])
    return allocateValue(value, shape);
  if (std::ranges::equal(shape, shapes[value]))
    return Status::ok();
  const TensorType expected{program.values[value].type.type,
                            {shape.begin(), shape.end()}},
      bound{expected.type, shapes[value]};
  return makeError(StatusCode::InvalidArgument,
                   "output '%s': expected memory of %s, got one of %s",
                   program.outputs[output].name.c_str(),
                   toString(expected).c_str(), toString(bound).c_str());
}

TensorView Execution::State::viewOf(uint32_t value) const {
  return {program.values[value].type.type, shapes[value], addresses[value]};
}

/// What is bound goes to the program that it fits, outputs come from there.
Status Execution::State::runByShape(PortListener *listener) {
  DLC_RETURN_IF_ERROR(padded->findSizes(shapes));
  Execution *part = choosePart();
  if (!part)
    return refuseShapes();
  if (padded->isPadded(part->program()))
    return runPadded(*part, listener);
  for (size_t i = 0; i != program.inputs.size(); ++i)
    DLC_RETURN_IF_ERROR(part->bindInput(i, viewOf(program.inputValues[i])));
  DLC_RETURN_IF_ERROR(bindSizes(*part));
  // A part for any shapes knows those of its results after the run.
  bool isAnyCopied = false;
  auto isCopied = [&](size_t output) {
    const Program &own = part->program();
    return isBoundElsewhere[output] && own.implementation().parts.empty() &&
           !own.outputs()[output].type.isStatic();
  };
  for (size_t i = 0; i != program.outputs.size(); ++i)
    if (isCopied(i))
      isAnyCopied = true;
    else if (isBoundElsewhere[i])
      DLC_RETURN_IF_ERROR(part->bindOutput(i, viewOf(program.outputValues[i])));
    else if (part->state->isBoundElsewhere[i]) // In a former run.
      DLC_RETURN_IF_ERROR(part->bindOutput(i, {}));
  DLC_RETURN_IF_ERROR(part->run(isAnyCopied ? nullptr : listener));
  for (size_t i = 0; i != program.outputs.size(); ++i) {
    const TensorView result = part->output(i);
    if (!isCopied(i)) {
      takeOutput(i, result);
      continue;
    }
    DLC_RETURN_IF_ERROR(placeOutput(i, result.shape));
    std::memcpy(addresses[program.outputValues[i]], result.data,
                result.bytes());
  }
  if (isAnyCopied && listener)
    tellAll(*listener);
  return Status::ok();
}

/// An output of a part is that of the whole.
void Execution::State::takeOutput(size_t output, const TensorView &tensor) {
  shapes[program.outputValues[output]].assign(tensor.shape.begin(),
                                              tensor.shape.end());
  setPort(Place::Output, output, tensor.data);
}

/// How much there is of what may be padded.
Status Execution::State::bindSizes(Execution &part) {
  const std::span<int64_t> sizes = padded->found();
  for (size_t i = 0; i != sizes.size(); ++i)
    DLC_RETURN_IF_ERROR(
        part.bindInput(program.inputs.size() + i, {DLC_I64, {}, &sizes[i]}));
  return Status::ok();
}

/// The same with copies of what is bound in the shapes of `part`, and of
/// results what is asked for; who listens is told at the end.
Status Execution::State::runPadded(Execution &part, PortListener *listener) {
  for (size_t i = 0; i != program.inputs.size(); ++i) {
    Result<TensorView> input =
        padded->enlarge(i, viewOf(program.inputValues[i]), part.program());
    if (!input.isOk())
      return std::move(input.status())
          .withContext("input '" + program.inputs[i].name + "'");
    DLC_RETURN_IF_ERROR(part.bindInput(i, *input));
  }
  DLC_RETURN_IF_ERROR(bindSizes(part));
  for (size_t i = 0; i != program.outputs.size(); ++i)
    if (part.state->isBoundElsewhere[i])
      DLC_RETURN_IF_ERROR(part.bindOutput(i, {}));
  DLC_RETURN_IF_ERROR(part.run());
  for (size_t i = 0; i != program.outputs.size(); ++i) {
    const TensorView whole = part.output(i);
    const std::span<const int64_t> shape =
        padded->shapeOfOutput(i, whole.shape);
    if (!isBoundElsewhere[i] && std::ranges::equal(shape, whole.shape)) {
      takeOutput(i, whole);
      continue;
    }
    DLC_RETURN_IF_ERROR(placeOutput(i, shape));
    copyResized(addresses[program.outputValues[i]], shape, whole.data,
                whole.shape, sizeOf(whole.type));
  }
  if (listener)
    tellAll(*listener);
  return Status::ok();
}
