// SPDX-License-Identifier: Apache-2.0

#include "PaddedPorts.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <limits>

using namespace dlc::rt;

/// One dimension of a copy, and those below it.
static void copyFrom(std::byte *target, std::span<const int64_t> targetShape,
                     const std::byte *source,
                     std::span<const int64_t> sourceShape, size_t bytes) {
  auto countOf = [&](std::span<const int64_t> shape) {
    size_t count = bytes;
    for (int64_t extent : shape)
      count *= size_t(extent);
    return count;
  };
  if (std::ranges::equal(targetShape, sourceShape)) {
    std::memcpy(target, source, countOf(sourceShape));
    return;
  }
  const auto below = targetShape.subspan(1), own = sourceShape.subspan(1);
  const size_t step = countOf(below), stride = countOf(own);
  const int64_t both = std::min(targetShape[0], sourceShape[0]);
  if (std::ranges::equal(below, own))
    std::memcpy(target, source, both * step);
  else
    for (int64_t i = 0; i != both; ++i)
      copyFrom(target + i * step, below, source + i * stride, own, bytes);
  // The last one again, twice as many at a time as there are of it.
  const std::byte *last = target + (both - 1) * step;
  for (int64_t i = both; i != targetShape[0];) {
    const int64_t some = std::min(i - both + 1, targetShape[0] - i);
    std::memcpy(target + i * step, last, some * step);
    i += some;
  }
}

void dlc::rt::copyResized(void *target, std::span<const int64_t> targetShape,
                          const void *source,
                          std::span<const int64_t> sourceShape, size_t bytes) {
  auto isEmpty = [](std::span<const int64_t> shape) {
    return std::ranges::find(shape, 0) != shape.end();
  };
  if (!isEmpty(targetShape) && !isEmpty(sourceShape))
    copyFrom(static_cast<std::byte *>(target), targetShape,
             static_cast<const std::byte *>(source), sourceShape, bytes);
}

/// The product of the padded extents, each once; infinite where one is open.
static double elementsIn(const Program &part, std::span<const Port> inputs,
                         size_t extents) {
  double elements = 1;
  std::vector<bool> seen(extents);
  for (size_t i = 0; i != inputs.size(); ++i)
    for (size_t k = 0; k != inputs[i].padded.size(); ++k)
      if (const int32_t number = inputs[i].padded[k];
          number >= 0 && !seen[number]) {
        seen[number] = true;
        const int64_t extent = part.inputs()[i].type.shape[k];
        elements *= extent == kUnknownDim
                        ? std::numeric_limits<double>::infinity()
                        : double(extent);
      }
  return elements;
}

PaddedPorts::PaddedPorts(const Program::State &program) : program(program) {
  const size_t all = program.parts.front().program->inputs().size();
  sizes.resize(all - program.inputs.size());
  memory.resize(program.inputs.size());
  for (const PartProgram &part : program.parts)
    elements.push_back(elementsIn(*part.program, program.inputs, sizes.size()));
}

Status PaddedPorts::findSizes(std::span<const std::vector<int64_t>> shapes) {
  std::ranges::fill(sizes, kUnknownDim);
  for (size_t i = 0; i != program.inputs.size(); ++i) {
    const Port &port = program.inputs[i];
    const std::vector<int64_t> &given = shapes[program.inputValues[i]];
    for (size_t k = 0; k != port.padded.size(); ++k) {
      if (port.padded[k] < 0)
        continue;
      int64_t &size = sizes[port.padded[k]];
      if (given[k] < 1 || (size != kUnknownDim && size != given[k]))
        return makeError(
            StatusCode::InvalidArgument,
            "input '%s': expected %s in dimension %zu, got %" PRId64,
            port.name.c_str(),
            size == kUnknownDim
                ? "at least one element"
                : (std::to_string(size) + ", as another input has").c_str(),
            k, given[k]);
      size = given[k];
    }
  }
  return Status::ok();
}

bool PaddedPorts::fits(const TensorType &type, std::span<const int64_t> shape,
                       std::span<const int32_t> padded) {
  if (padded.empty())
    return shapeMatches(type, shape);
  for (size_t k = 0; k != shape.size(); ++k)
    if (type.shape[k] != kUnknownDim &&
        (padded[k] < 0 ? type.shape[k] != shape[k] : type.shape[k] < shape[k]))
      return false;
  return true;
}

bool PaddedPorts::isPadded(const Program &part) const {
  for (size_t i = 0; i != program.inputs.size(); ++i)
    for (size_t k = 0; k != program.inputs[i].padded.size(); ++k)
      if (const int32_t number = program.inputs[i].padded[k]; number >= 0) {
        const int64_t extent = part.inputs()[i].type.shape[k];
        if (extent != kUnknownDim && extent != sizes[number])
          return true;
      }
  return false;
}

Result<TensorView> PaddedPorts::enlarge(size_t index, const TensorView &given,
                                        const Program &part) {
  const TensorType &type = part.inputs()[index].type;
  shape.assign(given.shape.begin(), given.shape.end());
  for (size_t k = 0; k != program.inputs[index].padded.size(); ++k)
    if (program.inputs[index].padded[k] >= 0 && type.shape[k] != kUnknownDim)
      shape[k] = type.shape[k];
  if (std::ranges::equal(shape, given.shape))
    return given;
  const std::optional<int64_t> bytes = byteCount(type.type, shape);
  if (!bytes)
    return makeError(StatusCode::OutOfMemory, "the size of an input overflows");
  AlignedBuffer &own = memory[index];
  if (!own.data() || own.size() < size_t(*bytes)) {
    Result<AlignedBuffer> larger = AlignedBuffer::allocate(*bytes);
    if (!larger.isOk())
      return std::move(larger.status());
    own = std::move(*larger);
  }
  copyResized(own.data(), shape, given.data, given.shape, sizeOf(type.type));
  return TensorView{type.type, shape, own.data()};
}

std::span<const int64_t>
PaddedPorts::shapeOfOutput(size_t index, std::span<const int64_t> whole) {
  shape.assign(whole.begin(), whole.end());
  for (size_t k = 0; k != program.outputs[index].padded.size(); ++k)
    if (const int32_t number = program.outputs[index].padded[k]; number >= 0)
      shape[k] = sizes[number];
  return shape;
}
