// SPDX-License-Identifier: Apache-2.0

#include "BatchExecution.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <new>

using namespace dlc::rt;

/// What a launch takes beside its computation: of few examples, most of it.
static constexpr uint64_t launchNanoseconds = 1000;

/// What a program takes on one thread.
static uint64_t modelTime(const Program::State &program) {
  uint64_t sum = 0;
  for (const LaunchRecord &launch : program.launches)
    sum += launch.nanoseconds + launchNanoseconds;
  return sum;
}

/// Of each port; what is not the same for all gets its place behind `end`, for
/// as many examples as the largest program has. False where that overflows.
bool BatchExecution::findRows(std::span<const Port> whole,
                              std::span<const Port> one,
                              std::vector<PortRows> &rows, uint64_t &end) {
  for (size_t i = 0; i != whole.size(); ++i) {
    const TensorType &type = one[i].type;
    const auto bytes = uint64_t(*byteCount(type.type, type.shape));
    const bool isShared = whole[i].type.isStatic();
    rows.push_back({type.shape, isShared, bytes, end});
    uint64_t room;
    if (isShared)
      continue;
    if (__builtin_mul_overflow(bytes, uint64_t(program.parts[0].rows), &room) ||
        __builtin_add_overflow(end, room, &end) ||
        end > UINT64_MAX - DLC_ALIGNMENT)
      return false;
    end = alignUp(end, DLC_ALIGNMENT);
  }
  return true;
}

BatchExecution::BatchExecution(const Program::State &program,
                               const PartExecutions &parts)
    : program(program), executions(parts) {
  for (const PartProgram &part : program.parts)
    programs.push_back({part.rows, modelTime(part.program->implementation())});
}

Status BatchExecution::allocate() {
  const Program &one = *program.parts.back().program;
  uint64_t end = 0;
  if (!findRows(program.inputs, one.inputs(), inputRows, end) ||
      !findRows(program.outputs, one.outputs(), outputRows, end))
    return makeError(StatusCode::OutOfMemory, "the examples are too large");
  Result<PageBuffer> pages = PageBuffer::allocate(end);
  if (!pages.isOk())
    return std::move(pages.status()).withContext("examples");
  pad = std::move(*pages);
  inputs.resize(inputRows.size());
  outputs.resize(outputRows.size());
  return Status::ok();
}

Result<std::unique_ptr<BatchExecution>>
BatchExecution::create(const Program::State &program,
                       const PartExecutions &parts) {
  std::unique_ptr<BatchExecution> batch(new (std::nothrow)
                                            BatchExecution(program, parts));
  if (!batch)
    return makeError(StatusCode::OutOfMemory, "no memory for an execution");
  DLC_RETURN_IF_ERROR(batch->allocate());
  return batch;
}

Result<int64_t> BatchExecution::countExamples(
    std::span<const std::vector<int64_t>> shapes) const {
  int64_t count = -1;
  size_t first = 0; // The input that said how many.
  for (size_t i = 0; i != inputRows.size(); ++i) {
    if (inputRows[i].isShared)
      continue;
    const int64_t rows = shapes[program.inputValues[i]][0],
                  each = inputRows[i].shape[0];
    if (each == 0 || rows % each != 0 || (count >= 0 && rows / each != count))
      return makeError(StatusCode::InvalidArgument,
                       "input '%s': expected %" PRId64
                       " rows for each example of the batch%s, got %" PRId64,
                       program.inputs[i].name.c_str(), each,
                       count < 0
                           ? ""
                           : (" of " + std::to_string(count) + " that input '" +
                              program.inputs[first].name + "' has")
                                 .c_str(),
                       rows);
    if (count < 0)
      first = i;
    count = rows / each;
  }
  return count;
}

Result<std::span<const int64_t>> BatchExecution::shapeOfOutput(size_t index,
                                                               int64_t count) {
  const PortRows &rows = outputRows[index];
  std::copy(rows.shape.begin(), rows.shape.end(), shape.begin());
  if (!rows.isShared && __builtin_mul_overflow(count, shape[0], &shape[0]))
    return makeError(StatusCode::OutOfMemory, "the size of a result overflows");
  return std::span<const int64_t>(shape).first(rows.shape.size());
}

/// A run with the memory of `inputs` and `outputs`.
Status BatchExecution::runAt(uint32_t program) {
  Execution &execution = executions[program];
  auto viewOf = [](const Port &port, void *data) {
    return TensorView{port.type.type, port.type.shape, data};
  };
  const Program &own = execution.program();
  for (size_t i = 0; i != inputs.size(); ++i)
    DLC_RETURN_IF_ERROR(
        execution.bindInput(i, viewOf(own.inputs()[i], inputs[i])));
  for (size_t i = 0; i != outputs.size(); ++i)
    DLC_RETURN_IF_ERROR(
        execution.bindOutput(i, viewOf(own.outputs()[i], outputs[i])));
  return execution.run();
}

/// Where the batch has fewer examples than the program: they are copied, the
/// last one as often as there is room, since a model may refuse made-up data.
/// Without examples there are zeros, for what all share.
Status BatchExecution::runPadded(const BatchRun &run) {
  auto inPad = [&](const PortRows &rows, int64_t example) {
    return pad.data() + rows.padded + example * rows.bytes;
  };
  for (size_t i = 0; i != inputs.size(); ++i) {
    const PortRows &rows = inputRows[i];
    if (rows.isShared)
      continue;
    std::memcpy(inPad(rows, 0), inputs[i], run.count * rows.bytes);
    for (int64_t k = run.count; k != programs[run.program].rows; ++k)
      if (run.count)
        std::memcpy(inPad(rows, k), inPad(rows, run.count - 1), rows.bytes);
      else
        std::memset(inPad(rows, k), 0, rows.bytes);
    inputs[i] = inPad(rows, 0);
  }
  for (size_t i = 0; i != outputs.size(); ++i)
    if (!outputRows[i].isShared)
      outputs[i] = inPad(outputRows[i], 0);
  return runAt(run.program);
}

Status BatchExecution::runOnce(const BatchRun &run,
                               std::span<void *const> addresses) {
  auto addressOf = [&](const PortRows &rows, uint32_t value) {
    auto *data = static_cast<std::byte *>(addresses[value]);
    return rows.isShared ? data : data + run.first * rows.bytes;
  };
  for (size_t i = 0; i != inputs.size(); ++i)
    inputs[i] = addressOf(inputRows[i], program.inputValues[i]);
  for (size_t i = 0; i != outputs.size(); ++i)
    outputs[i] = addressOf(outputRows[i], program.outputValues[i]);
  if (run.count == programs[run.program].rows)
    return runAt(run.program);
  DLC_RETURN_IF_ERROR(runPadded(run));
  for (size_t i = 0; i != outputs.size(); ++i)
    if (const PortRows &rows = outputRows[i]; !rows.isShared && run.count)
      std::memcpy(addressOf(rows, program.outputValues[i]), outputs[i],
                  run.count * rows.bytes);
  return Status::ok();
}

Status BatchExecution::run(int64_t count, std::span<void *const> addresses) {
  auto isShared = [](const PortRows &rows) { return rows.isShared; };
  if (count == 0 && std::any_of(outputRows.begin(), outputRows.end(), isShared))
    return runOnce({uint32_t(programs.size() - 1), 0, 0}, addresses);
  // Examples without elements are as many as one likes.
  auto isEmpty = [](const PortRows &rows) {
    return rows.isShared || rows.bytes == 0;
  };
  if (std::all_of(inputRows.begin(), inputRows.end(), isEmpty) &&
      std::all_of(outputRows.begin(), outputRows.end(), isEmpty))
    count = std::min(count, programs.front().rows);
  for (int64_t done = 0; done < count;) {
    const BatchRun next = nextRun(programs, count, done);
    Status status = runOnce(next, addresses);
    done = next.first + next.count;
    if (!status.isOk()) [[unlikely]]
      return std::move(status).withContext(
          next.count == 1 ? "example " + std::to_string(next.first)
                          : "examples from " + std::to_string(next.first) +
                                " to " + std::to_string(done - 1));
  }
  return Status::ok();
}
