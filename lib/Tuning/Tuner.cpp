// SPDX-License-Identifier: Apache-2.0

#include "dlc/Tuning/Tuner.h"

#include "dlc/runtime/Base/Memory.h"
#include "dlc/runtime/Base/Random.h"

#include <algorithm>
#include <cstring>

using namespace dlc::tuning;
using namespace dlc::rt;
using Clock = std::chrono::steady_clock;

/// Launches behind the first one are timed for at least that long.
static constexpr std::chrono::milliseconds kLeastTime(20);
/// What one launch may touch; those that take turns, half as much more.
static constexpr uint64_t kMostBytes = uint64_t(1) << 30;

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

template <typename T> static std::string join(const std::vector<T> &values) {
  std::string text;
  for (const T &value : values)
    text += (text.empty() ? "" : ",") + std::to_string(value);
  return "[" + text + "]";
}

static std::string toText(const AttributeValue &value) {
  if (const auto *number = std::get_if<int64_t>(&value))
    return std::to_string(*number);
  if (const auto *number = std::get_if<double>(&value))
    return std::to_string(*number);
  if (const auto *text = std::get_if<std::string>(&value))
    return *text;
  if (const auto *numbers = std::get_if<std::vector<int64_t>>(&value))
    return join(*numbers);
  return join(std::get<std::vector<double>>(value));
}

static std::string toText(const TensorType &type) {
  if (type.type == DLC_INVALID_TYPE)
    return "-";
  return std::string(nameOf(type.type)) + join(type.shape);
}

std::string dlc::tuning::keyOf(const Call &call) {
  std::string text(call.entry->name);
  for (const TensorType &type : call.inputs)
    text += " " + toText(type);
  text += " ->";
  for (const TensorType &type : call.outputs)
    text += " " + toText(type);
  std::vector<std::string> attributes;
  for (const Attribute &attribute : call.attributes)
    attributes.push_back(attribute.name + "=" + toText(attribute.value));
  std::ranges::sort(attributes);
  for (const std::string &attribute : attributes)
    text += " " + attribute;
  return text;
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

namespace {
/// A call that is ready to be launched, with memory for all that it touches.
class Launch {
public:
  Status prepare(const Call &call);
  std::chrono::nanoseconds run() const;
  uint64_t size() const { return bytes; }

private:
  Status addMemory(uint64_t bytes);
  Status addOperand(const TensorType &type);
  Status addPacked(const Call &call, size_t operand, TensorType &type);

  std::unique_ptr<PreparedKernel> kernel;
  std::vector<AlignedBuffer> memory;
  std::vector<void *> arguments; ///< Null for operands that are not there.
  uint64_t bytes = 0;
};
} // namespace

Status Launch::addMemory(uint64_t size) {
  if (size > kMostBytes - bytes)
    return makeError(StatusCode::Unsupported,
                     "expected operands of at most %llu bytes",
                     static_cast<unsigned long long>(kMostBytes));
  bytes += size;
  Result<AlignedBuffer> buffer = AlignedBuffer::allocate(size);
  if (!buffer.isOk())
    return std::move(buffer.status());
  std::memset(buffer->data(), 0, size);
  arguments.push_back(buffer->data());
  memory.push_back(std::move(*buffer));
  return Status::ok();
}

/// Zeros may take another time than numbers do.
static void fill(std::span<std::byte> bytes) {
  fillUniform({}, 0,
              std::span(reinterpret_cast<float *>(bytes.data()),
                        bytes.size() / sizeof(float)),
              -0.5f, 0.5f);
}

Status Launch::addOperand(const TensorType &type) {
  if (type.type == DLC_INVALID_TYPE) {
    arguments.push_back(nullptr);
    return Status::ok();
  }
  std::optional<int64_t> size = byteCount(type.type, type.shape);
  if (!size)
    return makeError(StatusCode::Unsupported,
                     "expected an operand of a known size, got %s",
                     toString(type).c_str());
  DLC_RETURN_IF_ERROR(addMemory(static_cast<uint64_t>(*size)));
  if (type.type == DLC_F32)
    fill(memory.back().bytes());
  return Status::ok();
}

/// In place of the operand its packed form, as a program passes it.
Status Launch::addPacked(const Call &call, size_t operand, TensorType &type) {
  DLC_RETURN_IF_ERROR(addOperand(type));
  AlignedBuffer source = std::move(memory.back());
  memory.pop_back();
  arguments.pop_back();
  size_t size = call.entry->packedBytes(call.view(), operand);
  DLC_RETURN_IF_ERROR(addMemory(size));
  call.entry->pack(call.view(), operand, source.data(), memory.back().data());
  type.shape = {static_cast<int64_t>(size / sizeof(float))};
  return Status::ok();
}

Status Launch::prepare(const Call &call) {
  const LibraryEntry &entry = *call.entry;
  std::vector<TensorType> inputs = call.inputs, outputs = call.outputs;
  Attributes attributes = call.attributes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (std::ranges::find(call.packed, i) == call.packed.end()) {
      DLC_RETURN_IF_ERROR(addOperand(inputs[i]));
      continue;
    }
    attributes.set(packedShapeName(i), inputs[i].shape);
    DLC_RETURN_IF_ERROR(addPacked(call, i, inputs[i]));
  }
  for (const TensorType &type : outputs)
    DLC_RETURN_IF_ERROR(addOperand(type));
  if (size_t size =
          entry.workspaceBytes ? entry.workspaceBytes(call.view()) : 0) {
    outputs.push_back({DLC_I8, {static_cast<int64_t>(size)}});
    DLC_RETURN_IF_ERROR(addMemory(size));
  }
  return entry.prepare({inputs, outputs, attributes}, kernel);
}

std::chrono::nanoseconds Launch::run() const {
  Clock::time_point begin = Clock::now();
  for (const PreparedKernel *step = kernel.get(); step; step = step->next())
    step->run(arguments.data(), 0, step->tiles());
  return Clock::now() - begin;
}

namespace {
struct Measurement {
  Launch launch;
  Status status = Status::ok();
  std::chrono::nanoseconds best{}, sum{};
  bool isDone() const { return !status.isOk() || sum >= kLeastTime; }
};
} // namespace

/// Has calls that are ready take turns, until all are done or it is `end`.
static void takeTurns(std::span<Measurement> all, Clock::time_point end) {
  while (!std::ranges::all_of(all, &Measurement::isDone))
    for (Measurement &own : all) {
      if (Clock::now() > end)
        return;
      if (own.isDone())
        continue;
      const std::chrono::nanoseconds time = own.launch.run();
      own.best = std::min(own.best, time);
      own.sum += std::max(time, std::chrono::nanoseconds(1000));
    }
}

std::vector<Result<uint64_t>>
dlc::tuning::measure(std::span<const Call> calls,
                     std::chrono::nanoseconds most) {
  const Clock::time_point end = Clock::now() + most;
  std::vector<Result<uint64_t>> times;
  while (times.size() < calls.size()) {
    // As many as have memory together, or one.
    std::vector<Measurement> together;
    uint64_t bytes = 0;
    while (times.size() + together.size() < calls.size() &&
           (together.empty() || bytes < kMostBytes / 2)) {
      Measurement &own = together.emplace_back();
      own.status =
          own.launch.prepare(calls[times.size() + together.size() - 1]);
      if (own.status.isOk())
        own.best = own.launch.run();
      bytes += own.launch.size();
    }
    takeTurns(together, end);
    for (Measurement &own : together)
      if (own.status.isOk())
        times.push_back(std::max<uint64_t>(own.best.count(), 1));
      else
        times.push_back(std::move(own.status));
  }
  return times;
}

//===----------------------------------------------------------------------===//
// Tuner
//===----------------------------------------------------------------------===//

void Tuner::measureUnknown(std::span<const Call> calls) {
  std::vector<Call> unknown;
  std::vector<std::string> keys;
  std::chrono::nanoseconds rest = options.budget - spent;
  for (const Call &call : calls) {
    std::string key = keyOf(call);
    if (known.count(key) != 0 || std::ranges::find(keys, key) != keys.end())
      continue;
    // A launch that the rest of the budget has no time for is not begun.
    const std::chrono::nanoseconds modelled(
        call.entry->cost ? nanosecondsOf(call.entry->cost(call.view())) : 0);
    if (!options.measures || rest <= modelled)
      continue;
    rest -= modelled;
    unknown.push_back(call);
    keys.push_back(std::move(key));
  }
  if (unknown.empty())
    return;
  const Clock::time_point begin = Clock::now();
  std::vector<Result<uint64_t>> times =
      measure(unknown, options.budget - spent);
  spent += Clock::now() - begin;
  for (size_t i = 0; i < keys.size(); ++i)
    if (times[i].isOk()) {
      asked[keys[i]] = true;
      known[keys[i]] = *times[i];
    }
}

std::vector<std::optional<uint64_t>>
Tuner::timesOf(std::span<const Call> calls) {
  std::scoped_lock lock(mutex);
  measureUnknown(calls);
  std::vector<std::optional<uint64_t>> times;
  for (const Call &call : calls) {
    std::string key = keyOf(call);
    auto time = known.find(key);
    times.push_back(time == known.end() ? std::nullopt
                                        : std::optional(time->second));
    asked.try_emplace(std::move(key), false);
  }
  return times;
}

Times Tuner::measuredTimes() const {
  std::scoped_lock lock(mutex);
  Times times;
  for (const auto &[key, isMeasured] : asked)
    if (isMeasured)
      times[key] = known.find(key)->second;
  return times;
}

Tuner::Counts Tuner::counts() const {
  std::scoped_lock lock(mutex);
  Counts counts;
  for (const auto &[key, isMeasured] : asked)
    ++(isMeasured         ? counts.measured
       : known.count(key) ? counts.known
                          : counts.missing);
  return counts;
}
