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

std::vector<BatchExecution::PortRows>
BatchExecution::findRows(std::span<const Port> whole,
                         std::span<const Port> one) {
  std::vector<PortRows> rows;
  for (size_t i = 0; i != whole.size(); ++i) {
    const TensorType &type = one[i].type;
    const auto bytes = uint64_t(*byteCount(type.type, type.shape));
    const bool isShared = whole[i].type.isStatic();
    rows.push_back({type.shape, isShared, bytes, padBytes});
    // Of the largest program, for which the validator has counted the bytes.
    if (!isShared)
      padBytes = alignUp(padBytes + bytes * uint64_t(program.parts[0].rows),
                         DLC_ALIGNMENT);
  }
  return rows;
}

BatchExecution::BatchExecution(const Program::State &program)
    : program(program) {
  const Program &one = *program.parts.back().program;
  inputRows = findRows(program.inputs, one.inputs());
  outputRows = findRows(program.outputs, one.outputs());
  for (const SizedProgram &part : program.parts)
    programs.push_back({part.rows, modelTime(part.program->implementation())});
  observers.resize(programs.size());
  for (size_t i = 1; i != programs.size(); ++i)
    observers[i].first =
        observers[i - 1].first + program.parts[i - 1].program->launchCount();
}

Result<std::unique_ptr<BatchExecution>>
BatchExecution::create(const Program::State &program,
                       const ExecutionOptions &options) {
  std::unique_ptr<BatchExecution> batch(new (std::nothrow)
                                            BatchExecution(program));
  if (!batch)
    return makeError(StatusCode::OutOfMemory, "no memory for an execution");
  SharedArenas own;
  ExecutionOptions each = options;
  each.arenas = options.arenas ? options.arenas : &own;
  each.tellsPorts = false;
  for (const SizedProgram &part : program.parts) {
    Result<std::unique_ptr<Execution>> execution =
        Execution::create(*part.program, each);
    if (!execution.isOk())
      return std::move(execution.status());
    batch->executions.push_back(std::move(*execution));
  }
  Result<PageBuffer> pad = PageBuffer::allocate(batch->padBytes);
  if (!pad.isOk())
    return std::move(pad.status()).withContext("examples");
  batch->pad = std::move(*pad);
  return batch;
}

Result<int64_t> BatchExecution::countExamples(
    std::span<const std::vector<int64_t>> inputs) const {
  int64_t count = -1;
  for (size_t i = 0; i != inputs.size(); ++i) {
    if (inputRows[i].isShared)
      continue;
    const int64_t rows = inputs[i][0], each = inputRows[i].shape[0];
    if (each == 0 || rows % each != 0 || (count >= 0 && rows / each != count))
      return makeError(
          StatusCode::InvalidArgument,
          "input '%s': expected %" PRId64
          " rows for each example of the batch%s, got %" PRId64,
          program.inputs[i].name.c_str(), each,
          count < 0 ? "" : (" of " + std::to_string(count)).c_str(), rows);
    count = rows / each;
  }
  return count;
}

std::vector<int64_t> BatchExecution::shapeOfOutput(size_t index,
                                                   int64_t count) const {
  std::vector<int64_t> shape = outputRows[index].shape;
  if (!outputRows[index].isShared)
    shape[0] *= count;
  return shape;
}

/// A run with that memory.
Status BatchExecution::runAt(uint32_t program, std::span<void *const> inputs,
                             std::span<void *const> outputs) {
  Execution &execution = *executions[program];
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
Status BatchExecution::runPadded(const BatchRun &run,
                                 std::span<void *const> inputs,
                                 std::span<void *const> outputs) {
  std::vector<void *> ownInputs(inputs.begin(), inputs.end()),
      ownOutputs(outputs.begin(), outputs.end());
  for (size_t i = 0; i != inputs.size(); ++i) {
    const PortRows &rows = inputRows[i];
    if (rows.isShared)
      continue;
    std::byte *to = pad.data() + rows.padded;
    std::memcpy(to, inputs[i], run.count * rows.bytes);
    for (int64_t k = run.count; k != programs[run.program].rows; ++k)
      std::memcpy(to + k * rows.bytes, to + (run.count - 1) * rows.bytes,
                  rows.bytes);
    ownInputs[i] = to;
  }
  for (size_t i = 0; i != outputs.size(); ++i)
    if (!outputRows[i].isShared)
      ownOutputs[i] = pad.data() + outputRows[i].padded;
  DLC_RETURN_IF_ERROR(runAt(run.program, ownInputs, ownOutputs));
  for (size_t i = 0; i != outputs.size(); ++i)
    if (!outputRows[i].isShared)
      std::memcpy(outputs[i], ownOutputs[i], run.count * outputRows[i].bytes);
  return Status::ok();
}

/// What all examples share, where there is none: of one of zeros.
Status BatchExecution::runForShared(std::span<void *const> inputs,
                                    std::span<void *const> outputs) {
  std::vector<void *> ownInputs(inputs.begin(), inputs.end()),
      ownOutputs(outputs.begin(), outputs.end());
  for (size_t i = 0; i != inputs.size(); ++i)
    if (const PortRows &rows = inputRows[i]; !rows.isShared) {
      ownInputs[i] = pad.data() + rows.padded;
      std::memset(ownInputs[i], 0, rows.bytes);
    }
  for (size_t i = 0; i != outputs.size(); ++i)
    if (!outputRows[i].isShared)
      ownOutputs[i] = pad.data() + outputRows[i].padded;
  return runAt(uint32_t(programs.size() - 1), ownInputs, ownOutputs);
}

Status BatchExecution::run(int64_t count, std::span<void *const> inputs,
                           std::span<void *const> outputs) {
  auto isShared = [](const PortRows &rows) { return rows.isShared; };
  if (count == 0 && std::any_of(outputRows.begin(), outputRows.end(), isShared))
    return runForShared(inputs, outputs);
  // Examples without elements are as many as one likes.
  auto isEmpty = [](const PortRows &rows) {
    return rows.isShared || rows.bytes == 0;
  };
  if (std::all_of(inputRows.begin(), inputRows.end(), isEmpty) &&
      std::all_of(outputRows.begin(), outputRows.end(), isEmpty))
    count = std::min(count, programs.front().rows);
  std::vector<void *> ownInputs(inputs.size()), ownOutputs(outputs.size());
  auto addressOf = [](const PortRows &rows, void *data, int64_t first) {
    return rows.isShared ? data
                         : static_cast<std::byte *>(data) + first * rows.bytes;
  };
  for (int64_t done = 0; done < count;) {
    const BatchRun next = nextRun(programs, count, done);
    for (size_t i = 0; i != inputs.size(); ++i)
      ownInputs[i] = addressOf(inputRows[i], inputs[i], next.first);
    for (size_t i = 0; i != outputs.size(); ++i)
      ownOutputs[i] = addressOf(outputRows[i], outputs[i], next.first);
    Status status = next.count == programs[next.program].rows
                        ? runAt(next.program, ownInputs, ownOutputs)
                        : runPadded(next, ownInputs, ownOutputs);
    done = next.first + next.count;
    if (!status.isOk())
      return std::move(status).withContext("examples from " +
                                           std::to_string(next.first) + " to " +
                                           std::to_string(done - 1));
  }
  return Status::ok();
}

void BatchExecution::setObserver(LaunchObserver *observer) {
  for (size_t i = 0; i != executions.size(); ++i) {
    observers[i].observer = observer;
    executions[i]->setObserver(observer ? &observers[i] : nullptr);
  }
}

QueueTime BatchExecution::takeQueueTime() {
  QueueTime sum;
  for (const auto &execution : executions) {
    const QueueTime own = execution->takeQueueTime();
    sum.launches += own.launches;
    sum.nanoseconds += own.nanoseconds;
  }
  return sum;
}

const std::vector<std::string> &BatchExecution::remarks() const {
  return executions.front()->remarks();
}
