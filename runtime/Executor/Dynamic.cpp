// SPDX-License-Identifier: Apache-2.0
//
// Operations computed by their definition, and values whose memory or shape is
// found while running.

#include "ElementRuns.h"
#include "ExecutionState.h"

#include <algorithm>

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// Memory of values
//===----------------------------------------------------------------------===//

/// Bytes of a value whose shape is known by now.
size_t Execution::State::bytesOf(uint32_t value) const {
  const ValueRecord &record = program.values[value];
  if (record.isStatic)
    return record.bytes;
  return rt::byteCount(record.type.type, shapes[value]).value_or(0);
}

/// Gives `value` the memory of an output of any shape.
Status Execution::State::allocateOutput(uint32_t value, uint32_t output,
                                        size_t bytes) {
  AlignedBuffer &buffer = dynamicOutputs[program.values[output].index];
  if (!buffer.data() || buffer.size() < bytes) {
    Result<AlignedBuffer> larger = AlignedBuffer::allocate(bytes);
    if (!larger.isOk())
      return std::move(larger.status());
    buffer = std::move(*larger);
  }
  setAddress(value, buffer.data());
  if (value != output) // What is read after a failure is still there.
    setAddress(output, buffer.data());
  return Status::ok();
}

/// Gives `value` its shape, which fits the declared one, and memory.
Status Execution::State::allocateValue(uint32_t value,
                                       std::span<const int64_t> shape) {
  const ValueRecord &record = program.values[value];
  std::optional<int64_t> size = rt::byteCount(record.type.type, shape);
  if (!size)
    return makeError(StatusCode::OutOfMemory, "the size of a result overflows");
  size_t bytes = *size;
  if (!record.isStatic)
    shapes[value].assign(shape.begin(), shape.end());
  if (record.place == Place::Pool) {
    releaseValue(value);
    if (const int32_t output = program.madeOutputs[value]; output >= 0)
      return allocateOutput(value, output, bytes);
    Result<Allocation> block = pool->allocate(bytes);
    if (!block.isOk())
      return std::move(block.status());
    blocks[value] = std::move(*block);
    setAddress(value, blocks[value].data());
    if (observer) [[unlikely]]
      observeMemory(0);
    return Status::ok();
  }
  if (record.isStatic) // Arena or a static output: placed at creation.
    return Status::ok();
  return allocateOutput(value, value, bytes);
}

/// Memory for the outputs of a copy or of a kernel with static shapes.
Status Execution::State::allocateOutputs(const LaunchRecord &record) {
  std::span<const int32_t> values = program.argumentsOf(record);
  for (uint32_t value : values.subspan(record.inputCount)) {
    bool takesShape = !program.values[value].isStatic;
    // Only a copy may write a dynamic value here: it takes its input's shape.
    const std::vector<int64_t> &shape =
        shapes[takesShape ? uint32_t(values[0]) : value];
    if (!shapeMatches(program.values[value].type, shape))
      return makeError(StatusCode::InvalidArgument,
                       "the shape of the input does not fit the result");
    DLC_RETURN_IF_ERROR(allocateValue(value, shape));
  }
  return Status::ok();
}

void Execution::State::releaseValue(uint32_t value) {
  if (!addresses[value])
    return;
  blocks[value].reset();
  if (observer) [[unlikely]]
    observeMemory(0);
  setAddress(value, nullptr);
}

void Execution::State::releaseAfter(const LaunchRecord &record) {
  for (uint32_t value :
       std::span(program.released)
           .subspan(record.firstReleased, record.releasedCount))
    releaseValue(value);
}

void Execution::State::releasePool() {
  for (uint32_t value : program.released)
    releaseValue(value);
}

//===----------------------------------------------------------------------===//
// Computations
//===----------------------------------------------------------------------===//

/// The tensors of a launch as the values stand now.
void Execution::State::fillTensors(const LaunchRecord &record, Lane &lane) {
  std::span<const int32_t> values = program.argumentsOf(record);
  for (size_t i = 0; i != values.size(); ++i) {
    TensorView view;
    if (values[i] >= 0)
      view = {program.values[values[i]].type.type, shapes[values[i]],
              addresses[values[i]]};
    if (i < record.inputCount)
      lane.inputTensors[i] = view;
    else
      lane.outputTensors[i - record.inputCount] = view;
  }
}

Status Execution::State::compute(const LaunchRecord &record, Lane &lane) {
  lane.computing = &record;
  lane.allocationStatus = Status::ok();
  // Named: g++ 12 refuses to deduce std::span among a constructor's arguments.
  std::span<const TensorView> inputs(lane.inputTensors.data(),
                                     record.inputCount);
  std::span<TensorView> outputs(lane.outputTensors.data(),
                                record.argumentCount - record.inputCount);
  ref::ComputeContext context(inputs, outputs, *record.attributes,
                              &lane.allocateResult, &lane.share);
  Status status = record.operation->run(context);
  // The allocator can only say "no memory"; this is the reason.
  if (!lane.allocationStatus.isOk())
    return std::move(lane.allocationStatus);
  return status;
}

Status Execution::State::computeReference(const LaunchRecord &record,
                                          Lane &lane) {
  fillTensors(record, lane);
  return compute(record, lane);
}

/// Memory for result `index` of the lane's computation in progress.
void *Execution::State::allocateForResult(Lane &lane, size_t index,
                                          std::span<const int64_t> shape) {
  State &state = *lane.state;
  const LaunchRecord &record = *lane.computing;
  std::span<const int32_t> values =
      state.program.argumentsOf(record).subspan(record.inputCount);
  if (index >= values.size()) {
    lane.allocationStatus =
        makeError(StatusCode::Internal, "result %zu does not exist", index);
    return nullptr;
  }
  uint32_t value = values[index];
  const TensorType &declared = state.program.values[value].type;
  if (!shapeMatches(declared, shape)) {
    TensorType actual{declared.type, {shape.begin(), shape.end()}};
    lane.allocationStatus = makeError(
        StatusCode::InvalidArgument, "result %zu: expected %s, got %s", index,
        toString(declared).c_str(), toString(actual).c_str());
    return nullptr;
  }
  lane.allocationStatus = state.allocateValue(value, shape);
  return lane.allocationStatus.isOk() ? state.addresses[value] : nullptr;
}

Status Execution::State::inferResults(const LaunchRecord &record,
                                      std::vector<TensorType> &results) {
  std::span<const int32_t> values = program.argumentsOf(record);
  std::vector<ref::Operand> operands;
  for (int32_t value : values.first(record.inputCount)) {
    operands.emplace_back();
    if (value >= 0)
      operands.back() = {{program.values[value].type.type, shapes[value]},
                         addresses[value]};
  }
  size_t resultCount = record.argumentCount - record.inputCount;
  ref::InferContext context(operands, *record.attributes, resultCount);
  DLC_RETURN_IF_ERROR(record.operation->infer(context, results));
  if (results.size() != resultCount)
    return makeError(StatusCode::Internal, "expected %zu results, got %zu",
                     resultCount, results.size());
  return Status::ok();
}

/// Memory for a result of the inferred type; left to the computation when the
/// shape depends on its data.
Status Execution::State::prepareResult(uint32_t value,
                                       const TensorType &inferred) {
  const ValueRecord &record = program.values[value];
  bool fits =
      inferred.type == record.type.type &&
      (!inferred.isStatic() || shapeMatches(record.type, inferred.shape));
  if (!fits)
    return makeError(StatusCode::InvalidArgument, "expected %s, got %s",
                     toString(record.type).c_str(), toString(inferred).c_str());
  if (inferred.isStatic())
    return allocateValue(value, inferred.shape);
  if (record.isStatic)
    return allocateValue(value, record.type.shape);
  setAddress(value, nullptr);
  return Status::ok();
}

/// Every result has memory once the computation is over.
Status Execution::State::checkAllocated(const LaunchRecord &record) {
  for (uint32_t value : program.argumentsOf(record).subspan(record.inputCount))
    if (!addresses[value])
      return makeError(StatusCode::Internal,
                       "the operation '%.*s' left a result without a shape",
                       int(record.operation->name.size()),
                       record.operation->name.data());
  return Status::ok();
}

size_t Execution::State::numberOf(const LaunchRecord &record) const {
  return &record - program.launches.data();
}

/// The call of a library that computes the launch in the lane's tensors; null
/// where there is none, or shapes of results depend on data.
const DynamicCall *Execution::State::findCall(const LaunchRecord &record,
                                              const DynamicEntry &entry,
                                              const Lane &lane) {
  if (!checkAllocated(record).isOk())
    return nullptr;
  const auto inputs = std::span(lane.inputTensors).first(record.inputCount);
  return dynamicCalls.at(numberOf(record)).find(inputs, [&] {
    return makeCall(entry, inputs,
                    std::span(lane.outputTensors)
                        .first(record.argumentCount - record.inputCount),
                    *program.packedConstants);
  });
}

/// Tells who watches what computes `record`, with the sum behind it, if any.
void Execution::State::tellOfCall(const LaunchRecord &record,
                                  const DynamicCall &call,
                                  std::optional<size_t> sum) const {
  if (observer) [[unlikely]]
    observer->onCall(numberOf(record),
                     {call.entry, call.algorithm, call.channelBlock,
                      call.cost.flops, call.cost.bytes, sum});
}

/// Runs the call on `values`, of which -1 is absent.
Status Execution::State::runCall(const DynamicCall &call,
                                 std::span<const int32_t> values, Lane &lane) {
  lane.callArguments.clear();
  for (int32_t value : values)
    lane.callArguments.push_back(value < 0 ? nullptr : addresses[value]);
  for (const PackedOperand &constant : call.packed)
    lane.callArguments[constant.operand] = constant.packed->data();
  Allocation workspace;
  if (call.workspaceBytes) {
    Result<Allocation> block = pool->allocate(call.workspaceBytes);
    if (!block.isOk())
      return std::move(block.status());
    workspace = std::move(*block);
    lane.callArguments.push_back(workspace.data());
  }
  void *const *arguments = lane.callArguments.data();
  DLC_RETURN_IF_ERROR(call.kernel->check(arguments));
  runChain(call.kernel.get(), arguments, call.nanoseconds, lane);
  return Status::ok();
}

/// The result has the shape to which the inputs broadcast.
Status Execution::State::computeAnyShape(const LaunchRecord &record,
                                         Lane &lane) {
  const size_t launch = numberOf(record);
  if (isSummed[launch])
    return Status::ok();
  std::span<const int32_t> values = program.argumentsOf(record);
  const int32_t result = values.back();
  TensorType type{program.values[result].type.type, {}};
  for (int32_t value : values.first(record.inputCount))
    DLC_RETURN_IF_ERROR(ref::broadcastInto(
        type, {program.values[value].type.type, shapes[value]}));
  Status status = prepareResult(result, type);
  if (!status.isOk())
    return std::move(status).withContext("result 0");
  fillTensors(record, lane);
  const TensorView &output = lane.outputTensors[0];
  const int64_t elements = output.size();
  if (elements == 0)
    return Status::ok();
  const auto inputs = std::span(lane.inputTensors).first(record.inputCount);
  const DynamicCall *call = dynamicCalls.at(launch).find(inputs, [&] {
    DynamicCall made;
    made.kernel = std::make_unique<ElementRuns>(record.function, record.tiles,
                                                inputs, output);
    const uint64_t tiles = 1 + elements / record.tiles;
    made.cost = {program.names[launch].flops * tiles, output.bytes()};
    for (const TensorView &input : inputs)
      made.cost.bytes += input.bytes();
    made.nanoseconds = nanosecondsOf(made.cost);
    return made;
  });
  tellOfCall(record, *call, std::nullopt);
  return runCall(*call, values, lane);
}

/// Whether the result of `record` is one of the pool and may have this type.
bool Execution::State::fitsPool(const LaunchRecord &record,
                                const TensorType &result) const {
  const ValueRecord &target =
      program.values[program.argumentsOf(record).back()];
  return result.isStatic() && target.place == Place::Pool &&
         result.type == target.type.type &&
         shapeMatches(target.type, result.shape);
}

/// The result of `record`, which keeps bytes, is where they are if those of an
/// input are.
bool Execution::State::showInput(const LaunchRecord &record,
                                 const TensorType &result) {
  const uint32_t from = program.argumentsOf(record).front();
  const uint32_t to = program.argumentsOf(record).back();
  if (program.shownInputs[to] < 0 || blocks[from].data() ||
      !fitsPool(record, result))
    return false;
  if (!program.values[to].isStatic)
    shapes[to] = result.shape;
  setAddress(to, addresses[from]);
  return true;
}

/// The result of `record`, which keeps bytes, is an output in whose memory they
/// were made.
bool Execution::State::useMadeOutput(const LaunchRecord &record,
                                     const TensorType &result) {
  const uint32_t from = program.argumentsOf(record).front();
  const uint32_t to = program.argumentsOf(record).back();
  const ValueRecord &output = program.values[to];
  if (program.madeOutputs[from] != static_cast<int32_t>(to) ||
      blocks[from].data() || !result.isStatic() ||
      !shapeMatches(output.type, result.shape))
    return false;
  shapes[to] = result.shape;
  setAddress(to, addresses[from]);
  return true;
}

/// Gives the result of `record` the memory of value `from`, which has as many
/// bytes, where both have some of the pool and nothing needs that value behind
/// the launch.
bool Execution::State::takeMemory(uint32_t from, const LaunchRecord &record,
                                  const TensorType &result) {
  const uint32_t to = program.argumentsOf(record).back();
  auto released = std::span(program.released)
                      .subspan(record.firstReleased, record.releasedCount);
  // An input that is shown has no block.
  if (!blocks[from].data() ||
      std::ranges::find(released, from) == released.end() ||
      !fitsPool(record, result))
    return false;
  if (!program.values[to].isStatic)
    shapes[to] = result.shape;
  releaseValue(to);
  blocks[to] = std::move(blocks[from]);
  setAddress(to, blocks[to].data());
  setAddress(from, nullptr);
  return true;
}

/// The call for the operation and the sum behind it, of which the former has a
/// result of this type; null where the library has none.
const DynamicCall *Execution::State::findSumCall(const LaunchRecord &record,
                                                 const DynamicEntry &entry,
                                                 const TensorType &type,
                                                 Lane &lane) {
  const LaunchRecord &sum = program.launches[entry.sum->launch];
  std::span<const int32_t> values = program.argumentsOf(record);
  const TensorType &declared = program.values[values.back()].type,
                   &following =
                       program.values[program.argumentsOf(sum).back()].type;
  if (!type.isStatic() || declared.type != type.type ||
      !shapeMatches(declared, type.shape) ||
      !shapeMatches(following, type.shape))
    return nullptr;
  lane.sumTensors.clear();
  for (int32_t value : values.first(record.inputCount))
    lane.sumTensors.push_back(value < 0 ? TensorView() : viewOf(value));
  for (const FollowingSum::Added &added : entry.sum->added)
    lane.sumTensors.push_back(viewOf(added.value));
  // Of what is rounded another type than that of the sums; the library knows.
  const TensorView result{following.type, type.shape, nullptr};
  return sumCalls.at(numberOf(record)).find(lane.sumTensors, [&] {
    return makeSumCall(entry, lane.sumTensors, {&result, 1},
                       *program.packedConstants);
  });
}

/// Computes the operation and the sum behind it.
Status Execution::State::runSumCall(const DynamicCall &call,
                                    const LaunchRecord &record,
                                    const DynamicEntry &entry,
                                    const TensorType &type, Lane &lane) {
  const FollowingSum &following = *entry.sum;
  const LaunchRecord &sum = program.launches[following.launch];
  std::span<const int32_t> inputs =
      program.argumentsOf(record).first(record.inputCount);
  const auto residual = static_cast<size_t>(entry.entry->epilogue->residual);
  bool hasMemory = false;
  lane.sumValues.clear();
  for (size_t i = 0; i != call.operands.size(); ++i) {
    const int32_t operand = call.operands[i];
    const bool isAdded = operand >= static_cast<int32_t>(inputs.size());
    if (!isAdded) {
      lane.sumValues.push_back(operand < 0 ? -1 : inputs[operand]);
      continue;
    }
    const FollowingSum::Added &added = following.added[operand - inputs.size()];
    const uint32_t result = program.argumentsOf(sum).back();
    hasMemory |=
        i == residual && added.isLast && takeMemory(added.value, sum, type);
    lane.sumValues.push_back(hasMemory && i == residual ? result : added.value);
  }
  lane.sumValues.push_back(program.argumentsOf(sum).back());
  if (!hasMemory)
    DLC_RETURN_IF_ERROR(allocateValue(lane.sumValues.back(), type.shape));
  return runCall(call, lane.sumValues, lane);
}

Status Execution::State::computeDynamic(const LaunchRecord &record,
                                        Lane &lane) {
  std::vector<TensorType> results;
  DLC_RETURN_IF_ERROR(inferResults(record, results));
  if (record.operation->keepsBytes &&
      (showInput(record, results.front()) ||
       useMadeOutput(record, results.front()) ||
       takeMemory(program.argumentsOf(record).front(), record,
                  results.front())))
    return Status::ok();
  auto known = program.dynamicEntries.find(numberOf(record));
  const DynamicEntry *entry =
      known == program.dynamicEntries.end() ? nullptr : &known->second;
  if (entry && entry->sum) {
    const DynamicCall *call = findSumCall(record, *entry, results[0], lane);
    isSummed[entry->sum->launch] = call != nullptr;
    if (call) {
      tellOfCall(record, *call, entry->sum->launch);
      return runSumCall(*call, record, *entry, results[0], lane);
    }
  }
  std::span<const int32_t> outputs =
      program.argumentsOf(record).subspan(record.inputCount);
  for (size_t i = 0; i != outputs.size(); ++i) {
    Status status = prepareResult(outputs[i], results[i]);
    if (!status.isOk())
      return std::move(status).withContext("result " + std::to_string(i));
  }
  fillTensors(record, lane);
  if (const DynamicCall *call =
          entry ? findCall(record, *entry, lane) : nullptr) {
    tellOfCall(record, *call, std::nullopt);
    return runCall(*call, program.argumentsOf(record), lane);
  }
  DLC_RETURN_IF_ERROR(compute(record, lane));
  return checkAllocated(record);
}
