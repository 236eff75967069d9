// SPDX-License-Identifier: Apache-2.0
//
// Memory and bindings of an execution, and the loop over launches.

#include "ExecutionState.h"

#include "dlc/runtime/Base/Wait.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <climits>
#include <cstring>
#include <new>
#include <optional>

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Between the runs of a dynamic program its execution keeps at most this much.
static constexpr size_t keptPoolBytes = size_t(256) << 20;

Execution::State::State(const Program &program, WorkerPool *workers)
    : owner(program), program(program.implementation()), workers(workers) {}

/// Where arguments of each value stand, as compressed rows.
void Execution::State::indexSlots() {
  slotStart.assign(program.values.size() + 1, 0);
  for (int32_t argument : program.arguments)
    if (argument >= 0)
      ++slotStart[argument + 1];
  for (size_t i = 0; i != program.values.size(); ++i)
    slotStart[i + 1] += slotStart[i];
  slots.resize(slotStart.back());
  std::vector<uint32_t> next(slotStart.begin(), slotStart.end() - 1);
  for (size_t slot = 0; slot != program.arguments.size(); ++slot)
    if (int32_t argument = program.arguments[slot]; argument >= 0)
      slots[next[argument]++] = slot;
}

void Execution::State::setAddress(uint32_t value, void *address) {
  addresses[value] = address;
  for (uint32_t i = slotStart[value]; i != slotStart[value + 1]; ++i)
    arguments[slots[i]] = address;
}

/// Sets the addresses of all values that are, or look into, input or output
/// `index`.
void Execution::State::setPort(Place place, size_t index, void *address) {
  const auto &views = place == Place::Input ? inputViews : outputViews;
  for (uint32_t value : views[index]) {
    // Null stays null: nothing is bound.
    auto *base = static_cast<std::byte *>(address);
    setAddress(value, base ? base + program.values[value].offset : nullptr);
  }
}

/// New memory of an arena, see SharedArenas::arena().
static Result<std::shared_ptr<ArenaMemory>> makeArena(uint64_t bytes,
                                                      StorageManager *manager) {
  if (manager) {
    Result<Allocation> block = manager->allocate(bytes);
    if (!block.isOk())
      return std::move(block.status());
    return std::make_shared<ArenaMemory>(std::move(*block));
  }
  Result<PageBuffer> pages = PageBuffer::allocate(bytes);
  if (!pages.isOk())
    return std::move(pages.status());
  return std::make_shared<ArenaMemory>(std::move(*pages));
}

Result<std::shared_ptr<ArenaMemory>>
SharedArenas::arena(size_t device, uint64_t bytes, StorageManager *manager) {
  if (device >= arenas.size())
    arenas.resize(device + 1);
  std::shared_ptr<ArenaMemory> &known = arenas[device];
  const bool isOther = known && manager && !known->isOfManager();
  if (!known || known->size() < bytes || isOther) {
    if (isOther)
      bytes = std::max<uint64_t>(bytes, known->size());
    Result<std::shared_ptr<ArenaMemory>> memory = makeArena(bytes, manager);
    if (!memory.isOk())
      return std::move(memory.status());
    known = std::move(*memory);
  }
  return known;
}

Result<std::shared_ptr<WorkerPool>> SharedArenas::threads(unsigned count) {
  for (const std::shared_ptr<WorkerPool> &pool : pools)
    if (pool->threads() == count)
      return pool;
  Result<std::unique_ptr<WorkerPool>> made =
      WorkerPool::create({.threads = count});
  if (!made.isOk())
    return std::move(made.status());
  pools.push_back(std::move(*made));
  return pools.back();
}

/// Memory of the host that cannot be locked is taken as it is.
Status Execution::State::allocateArena(SharedArenas &from, uint32_t device) {
  const uint64_t bytes = program.arenaBytes[device];
  StorageManager *manager = program.work.arenaManager(device);
  Result<std::shared_ptr<ArenaMemory>> arena =
      from.arena(device, bytes, manager);
  if (!arena.isOk() && manager && program.devices[device].isHost()) {
    remarks.push_back("copies wait, as memory of " +
                      toString(program.devices[device]) +
                      " is not locked: " + arena.status().message());
    arena = from.arena(device, bytes);
  }
  if (!arena.isOk())
    return std::move(arena.status()).withContext("arena");
  arenas.push_back(std::move(*arena));
  return Status::ok();
}

Status Execution::State::allocateArenas(SharedArenas *shared) {
  SharedArenas own;
  for (uint32_t i = 0; i != program.arenaBytes.size(); ++i)
    DLC_RETURN_IF_ERROR(allocateArena(shared ? *shared : own, i));
  // Outputs of the execution's own: pages that a caller's memory replaces are
  // never touched and cost nothing.
  uint64_t end = 0;
  for (size_t i = 0; i != program.outputValues.size(); ++i) {
    uint32_t value = program.outputValues[i];
    ownedOffsets.push_back(end);
    if (program.outputs[i].updates)
      continue; // In the memory of the input.
    if (__builtin_add_overflow(end, program.values[value].bytes, &end) ||
        end > UINT64_MAX - DLC_ALIGNMENT)
      return makeError(StatusCode::OutOfMemory, "the outputs are too large");
    end = alignUp(end, DLC_ALIGNMENT);
  }
  Result<PageBuffer> owned = PageBuffer::allocate(end);
  if (!owned.isOk())
    return std::move(owned.status()).withContext("outputs");
  ownedOutputs = std::move(*owned);
  return Status::ok();
}

void Execution::State::placeValues() {
  std::byte *constants =
      const_cast<std::byte *>(program.file->artifact.constants().data());
  for (size_t i = 0; i != program.values.size(); ++i) {
    const ValueRecord &value = program.values[i];
    shapes[i] = value.type.shape;
    switch (value.place) {
    case Place::Input:
      inputViews[value.index].push_back(i);
      break;
    case Place::Output:
      outputViews[value.index].push_back(i);
      break;
    case Place::Constant:
      setAddress(i, constants + value.offset);
      break;
    case Place::Arena:
      setAddress(i, arenas[value.device]->data() + value.offset);
      break;
    case Place::Pool:
      break;
    }
  }
  for (size_t i = 0; i != program.outputs.size(); ++i)
    if (program.values[program.outputValues[i]].isStatic &&
        !program.outputs[i].updates)
      setPort(Place::Output, i, ownedOutputs.data() + ownedOffsets[i]);
}

/// The lanes, with threads when the program has several streams.
Status Execution::State::prepareLanes(const ExecutionOptions &options) {
  unsigned count = 1;
  if (!program.schedule.segments.empty())
    count = std::min(options.streamThreads ? options.streamThreads : UINT_MAX,
                     program.streamCount);
  lanes.resize(count);
  isSummed.assign(program.launches.size(), false);
  for (const auto &[launch, entry] : program.dynamicEntries) {
    dynamicCalls[launch];
    if (entry.sum)
      sumCalls[launch];
  }
  for (size_t i = 0; i != program.launches.size(); ++i)
    if (program.launches[i].kind == LaunchKind::AnyShape)
      dynamicCalls[i];
  for (Lane &lane : lanes) {
    lane.state = this;
    lane.index = &lane - lanes.data();
    lane.inputTensors.resize(program.mostArguments);
    lane.outputTensors.resize(program.mostArguments);
    lane.callArguments.reserve(program.mostArguments + 1);
    lane.allocateResult = [&lane](size_t index,
                                  std::span<const int64_t> shape) {
      return allocateForResult(lane, index, shape);
    };
    lane.share = [this, &lane](int64_t count, uint64_t nanoseconds,
                               const auto &part) {
      shareParts(count, nanoseconds, lane, part);
    };
  }
  if (program.schedule.segments.empty())
    return Status::ok();
  SharedArenas own;
  Result<std::shared_ptr<WorkerPool>> threads =
      (options.arenas ? options.arenas : &own)->threads(count);
  if (!threads.isOk())
    return std::move(threads.status());
  laneThreads = std::move(*threads);
  runner.reset(new (std::nothrow)
                   TaskGraphRunner(program.schedule.graph, laneThreads.get()));
  if (!runner || !runner->hasRoom())
    return makeError(StatusCode::OutOfMemory, "no memory for a schedule");
  return Status::ok();
}

Status Execution::State::prepare(const ExecutionOptions &options) {
  size_t count = program.values.size();
  addresses.assign(count, nullptr);
  shapes.resize(count);
  blocks.resize(count);
  arguments.assign(program.arguments.size(), nullptr);
  inputViews.resize(program.inputs.size());
  outputViews.resize(program.outputs.size());
  dynamicOutputs.resize(program.outputs.size());
  isBoundElsewhere.resize(program.outputs.size());
  unboundInputs = program.inputs.size();
  const bool usesPool =
      program.statistics.dynamicValues || !program.dynamicEntries.empty();
  if (usesPool && program.parts.empty()) {
    pool = createPooledManager(
        Context::cpu(), createHostSource(),
        {.keptBytes = keptPoolBytes, .repeats = true, .caches = 1});
    if (!pool)
      return makeError(StatusCode::OutOfMemory, "no memory for a pool");
  }
  DLC_RETURN_IF_ERROR(prepareParts(options));
  indexSlots();
  DLC_RETURN_IF_ERROR(allocateArenas(options.arenas));
  placeValues();
  DLC_RETURN_IF_ERROR(
      deviceRun.prepare(program, arguments, options.recordsLaunches));
  if (options.tellsPorts)
    portEnds.find(program);
  return prepareLanes(options);
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

Execution::Execution(std::unique_ptr<State> state) : state(std::move(state)) {}
Execution::~Execution() = default;

Result<std::unique_ptr<Execution>>
Execution::create(const Program &program, const ExecutionOptions &options) {
  if (!program.implementation().hasCode)
    return makeError(StatusCode::InvalidArgument,
                     "the program was loaded without its code");
  std::unique_ptr<State> state(new (std::nothrow)
                                   State(program, options.workers));
  if (!state)
    return makeError(StatusCode::OutOfMemory, "no memory for an execution");
  DLC_RETURN_IF_ERROR(state->prepare(options));
  std::unique_ptr<Execution> execution(new (std::nothrow)
                                           Execution(std::move(state)));
  if (!execution)
    return makeError(StatusCode::OutOfMemory, "no memory for an execution");
  return execution;
}

static std::string describe(const TensorView &tensor) {
  TensorType type;
  type.type = tensor.type;
  type.shape.assign(tensor.shape.begin(), tensor.shape.end());
  return toString(type);
}

/// Whether `tensor` can stand for `port`.
static Status checkBinding(const char *what, const Port &port,
                           const TensorView &tensor) {
  if (tensor.type != port.type.type || !elementCount(tensor.shape) ||
      !shapeMatches(port.type, tensor.shape))
    return makeError(StatusCode::InvalidArgument,
                     "%s '%s': expected %s, got %s", what, port.name.c_str(),
                     toString(port.type).c_str(), describe(tensor).c_str());
  size_t element = sizeOf(tensor.type);
  std::optional<int64_t> bytes = byteCount(tensor.type, tensor.shape);
  if (!bytes)
    return makeError(StatusCode::InvalidArgument, "%s '%s': its size overflows",
                     what, port.name.c_str());
  if (!tensor.data && *bytes)
    return makeError(StatusCode::InvalidArgument,
                     "%s '%s': expected memory of %" PRId64 " bytes, got null",
                     what, port.name.c_str(), *bytes);
  if (!isAligned(tensor.data, element))
    return makeError(StatusCode::InvalidArgument,
                     "%s '%s': expected memory aligned to %zu bytes, got %p",
                     what, port.name.c_str(), element, tensor.data);
  return Status::ok();
}

/// An address for tensors without elements: null means nothing is bound.
static void *nonNull(void *data) {
  alignas(DLC_ALIGNMENT) static std::byte empty[DLC_ALIGNMENT];
  return data ? data : empty;
}

/// Memory of [data, data + bytes) that a run writes, although it is that of an
/// input, shares no byte with that of `other`.
static bool isApart(const void *data, size_t bytes, const void *other,
                    size_t otherBytes) {
  auto begin = reinterpret_cast<uintptr_t>(data);
  auto otherBegin = reinterpret_cast<uintptr_t>(other);
  return !bytes || !otherBytes || begin + bytes <= otherBegin ||
         otherBegin + otherBytes <= begin;
}

/// Checks memory for input (or output) `index` against all that is bound: what
/// an update writes is of use to nobody else. Costs nothing without updates.
Status Execution::State::checkApart(Place place, size_t index,
                                    const TensorView &tensor) const {
  const void *data = tensor.data;
  size_t bytes = tensor.bytes();
  bool isInput = place == Place::Input;
  bool isWritten = !isInput || program.updatedBy[index];
  for (size_t i = 0; i != program.inputs.size(); ++i) {
    uint32_t value = program.inputValues[i];
    bool isSame = isInput ? i == index : program.outputs[index].updates == i;
    if (isSame || !addresses[value] ||
        (!program.updatedBy[i] && (!isWritten || !isInput)))
      continue;
    if (!isApart(data, bytes, addresses[value], bytesOf(value)))
      return makeError(
          StatusCode::InvalidArgument,
          "%s '%s': expected memory apart from that of input "
          "'%s', as a run updates one of them",
          isInput ? "input" : "output",
          (isInput ? program.inputs : program.outputs)[index].name.c_str(),
          program.inputs[i].name.c_str());
  }
  for (size_t i = 0; i != program.outputs.size(); ++i) {
    uint32_t value = program.outputValues[i];
    bool isUpdate = isInput && program.updatedBy[index];
    if (!isUpdate || !isBoundElsewhere[i] || program.updatedBy[index] == i)
      continue;
    if (!isApart(data, bytes, addresses[value], bytesOf(value)))
      return makeError(StatusCode::InvalidArgument,
                       "input '%s': expected memory apart from that of output "
                       "'%s', as a run updates it",
                       program.inputs[index].name.c_str(),
                       program.outputs[i].name.c_str());
  }
  return Status::ok();
}

Status Execution::bindInput(size_t index, const TensorView &tensor) {
  const Program::State &program = state->program;
  if (index >= program.inputs.size())
    return makeError(StatusCode::InvalidArgument,
                     "input %zu does not exist: there are %zu", index,
                     program.inputs.size());
  DLC_RETURN_IF_ERROR(checkBinding("input", program.inputs[index], tensor));
  if (program.hasUpdates)
    DLC_RETURN_IF_ERROR(state->checkApart(Place::Input, index, tensor));
  uint32_t value = program.inputValues[index];
  if (!state->addresses[value])
    --state->unboundInputs;
  state->shapes[value].assign(tensor.shape.begin(), tensor.shape.end());
  state->setPort(Place::Input, index, nonNull(tensor.data));
  if (std::optional<size_t> output = program.updatedBy[index];
      output && !state->isBoundElsewhere[*output])
    state->setPort(Place::Output, *output, nonNull(tensor.data));
  return Status::ok();
}

Status Execution::bindOutput(size_t index, const TensorView &tensor) {
  const Program::State &program = state->program;
  if (index >= program.outputs.size())
    return makeError(StatusCode::InvalidArgument,
                     "output %zu does not exist: there are %zu", index,
                     program.outputs.size());
  const Port &port = program.outputs[index];
  uint32_t value = program.outputValues[index];
  if (!program.values[value].isStatic && !state->parts.size())
    return makeError(StatusCode::Unsupported,
                     "output '%s': its shape %s is known only after the run",
                     port.name.c_str(), toString(port.type).c_str());
  void *address = state->ownedOutputs.data() + state->ownedOffsets[index];
  if (port.updates)
    address = state->addresses[program.inputValues[*port.updates]];
  if (tensor.data) {
    DLC_RETURN_IF_ERROR(checkBinding("output", port, tensor));
    if (program.hasUpdates)
      DLC_RETURN_IF_ERROR(state->checkApart(Place::Output, index, tensor));
    address = tensor.data;
  }
  state->isBoundElsewhere[index] = tensor.data != nullptr;
  if (!program.values[value].isStatic) {
    // The execution's own memory is made by a run.
    state->hasRun = false;
    if (tensor.data)
      state->shapes[value].assign(tensor.shape.begin(), tensor.shape.end());
    else
      address = nullptr;
  }
  state->setPort(Place::Output, index, address);
  return Status::ok();
}

TensorView Execution::output(size_t index) const {
  uint32_t value = state->program.outputValues[index];
  return {state->program.values[value].type.type, state->shapes[value],
          state->addresses[value]};
}

void Execution::setObserver(LaunchObserver *observer) {
  state->observer = observer;
  state->parts.setObserver(observer);
}

const std::vector<std::string> &Execution::remarks() const {
  return state->parts.size() ? state->parts.remarks() : state->remarks;
}

bool Execution::hasRun() const { return state->hasRun; }

const Program &Execution::program() const { return state->owner; }

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Calls `tile` over the grid of `launch`, on the workers when that pays.
template <typename Function>
void Execution::State::overTiles(int64_t tiles, uint64_t nanoseconds,
                                 const Lane &lane, Function &&tile) {
  if (!workers || nanoseconds < WorkerPool::shareAbove || tiles <= 1)
    return tile(int64_t(0), tiles);
  uint64_t idleFrom = 0;
  workers->parallelFor(tiles, nanoseconds, tile,
                       observer ? &idleFrom : nullptr);
  if (idleFrom) [[unlikely]]
    observer->onWait(lane.index, idleFrom, nowNanoseconds());
}

/// Who observes is told of what the lane's own thread waits for, not of parts
/// of parts, which other threads may share out.
void Execution::State::shareParts(
    int64_t count, uint64_t nanoseconds, Lane &lane,
    const std::function<void(int64_t, int64_t)> &part) {
  if (lane.isSharing) {
    if (workers)
      return workers->parallelFor(count, nanoseconds, part);
    return part(0, count);
  }
  lane.isSharing = true;
  overTiles(count, nanoseconds, lane, part);
  lane.isSharing = false;
}

void Execution::State::runChain(const PreparedKernel *kernel,
                                void *const *arguments, uint64_t nanoseconds,
                                const Lane &lane) {
  const unsigned threads = workers ? workers->threads() : 1;
  for (; kernel; kernel = kernel->next()) {
    const int64_t ranges = kernel->ranges(threads);
    overTiles(ranges, nanoseconds, lane, [&](int64_t begin, int64_t end) {
      kernel->runRanges(arguments, begin, end, ranges);
    });
  }
}

void Execution::State::copyBytes(void *target, const void *source, size_t bytes,
                                 const Lane &lane) {
  constexpr size_t piece = 256 << 10;
  auto copyPieces = [&](int64_t begin, int64_t end) {
    size_t first = begin * piece;
    size_t last = std::min<size_t>(end * piece, bytes);
    std::memmove(static_cast<std::byte *>(target) + first,
                 static_cast<const std::byte *>(source) + first, last - first);
  };
  // Memory of one thread moves about 10 bytes in a nanosecond.
  if (bytes)
    overTiles((bytes + piece - 1) / piece, bytes / 10, lane, copyPieces);
}

Status Execution::State::perform(const LaunchRecord &record, Lane &lane) {
  void *const *values = arguments.data() + record.firstArgument;
  if (record.allocates && record.kind != LaunchKind::Dynamic &&
      record.kind != LaunchKind::AnyShape)
    DLC_RETURN_IF_ERROR(allocateOutputs(record));
  switch (record.kind) {
  case LaunchKind::Generated:
    overTiles(record.tiles, record.nanoseconds, lane,
              [&](int64_t begin, int64_t end) {
                record.function(values, begin, end);
              });
    break;
  case LaunchKind::Library:
    DLC_RETURN_IF_ERROR(record.library->check(values));
    runChain(record.library, values, record.nanoseconds / record.steps, lane);
    break;
  case LaunchKind::Copy:
    copyBytes(values[1], values[0],
              bytesOf(program.arguments[record.firstArgument]), lane);
    break;
  case LaunchKind::Queued:
    DLC_RETURN_IF_ERROR(deviceRun.launch(record, observer != nullptr));
    break;
  case LaunchKind::Reference:
    DLC_RETURN_IF_ERROR(computeReference(record, lane));
    break;
  case LaunchKind::Dynamic:
    DLC_RETURN_IF_ERROR(computeDynamic(record, lane));
    break;
  case LaunchKind::AnyShape:
    DLC_RETURN_IF_ERROR(computeAnyShape(record, lane));
    break;
  }
  if (record.releasedCount)
    releaseAfter(record);
  return Status::ok();
}

namespace {

/// A launch among some that are computed as one grid: the step that it is at.
struct JoinedLaunch {
  void *const *values;
  DlcKernelFunction function;   ///< Generated; null for one of the library.
  const PreparedKernel *kernel; ///< Library; null for a generated one.
  int64_t ranges;               ///< Of a generated one its tiles.
  uint64_t nanoseconds;

  void run(int64_t begin, int64_t end) const {
    if (function)
      return function(values, begin, end);
    kernel->runRanges(values, begin, end, ranges);
  }

  /// False after the last step.
  bool advance(unsigned threads) {
    kernel = kernel ? kernel->next() : nullptr;
    if (kernel)
      ranges = kernel->ranges(threads);
    return kernel;
  }
};

} // namespace

/// A part of the grid is as large a part of each launch, so that threads share
/// all of them alike, whatever a tile of one takes beside a tile of another.
/// What is left over of each begins elsewhere: of two launches with one tile
/// two threads compute one each.
template <typename LaunchAt>
Status Execution::State::performAtOnce(uint32_t count, const Lane &lane,
                                       LaunchAt launchAt) {
  const unsigned threads = workers ? workers->threads() : 1;
  std::array<JoinedLaunch, mostAtOnce> joined;
  for (uint32_t i = 0; i != count; ++i) {
    const LaunchRecord &record = program.launches[launchAt(i)];
    void *const *values = arguments.data() + record.firstArgument;
    if (record.kind == LaunchKind::Generated) {
      joined[i] = {values, record.function, nullptr, record.tiles,
                   record.nanoseconds};
      continue;
    }
    Status status = record.library->check(values);
    if (!status.isOk()) [[unlikely]]
      return std::move(status).withContext(
          describeLaunch(program, launchAt(i)));
    joined[i] = {values, nullptr, record.library,
                 record.library->ranges(threads),
                 record.nanoseconds / record.steps};
  }
  for (uint32_t left = count; left;) {
    int64_t tiles = 0;
    uint64_t nanoseconds = 0;
    for (const JoinedLaunch &launch : std::span(joined).first(left)) {
      tiles += launch.ranges;
      nanoseconds += launch.nanoseconds;
    }
    auto tile = [&](int64_t begin, int64_t end) {
      for (uint32_t i = 0; i != left; ++i) {
        const JoinedLaunch &launch = joined[i];
        int64_t shift = tiles * i / left;
        int64_t first = (begin * launch.ranges + shift) / tiles;
        int64_t last = (end * launch.ranges + shift) / tiles;
        if (first != last)
          launch.run(first, last);
      }
    };
    if (tiles)
      overTiles(tiles, nanoseconds, lane, tile);
    uint32_t stay = 0;
    for (uint32_t i = 0; i != left; ++i)
      if (joined[i].advance(threads))
        joined[stay++] = joined[i];
    left = stay;
  }
  return Status::ok();
}

template <bool isObserved, bool tells>
Status Execution::State::launch(size_t index, Lane &lane) {
  uint64_t begin = isObserved ? nowNanoseconds() : 0, spent = 0;
  Status status = perform(program.launches[index], lane);
  // Who is told of a launch is told when it is over.
  if constexpr (isObserved || tells)
    if (status.isOk() && program.launches[index].kind == LaunchKind::Queued)
      status = deviceRun.finish(program.launches[index], spent);
  if (!status.isOk()) [[unlikely]]
    return std::move(status).withContext(describeLaunch(program, index));
  if (isObserved) {
    const uint64_t end = nowNanoseconds();
    observer->onLaunch(index, lane.index, spent ? end - spent : begin, end);
  }
  if constexpr (tells)
    portEnds.tell(index, *listener);
  return Status::ok();
}

/// Launches one by one are for those who look at them, and for one thread.
template <bool isObserved, bool tells, typename LaunchAt>
Status Execution::State::launchAll(size_t count, Lane &lane,
                                   LaunchAt launchAt) {
  for (size_t i = 0; i != count;) {
    uint32_t atOnce = program.launches[launchAt(i)].atOnce;
    if (isObserved || atOnce == 1 || !workers) {
      DLC_RETURN_IF_ERROR((launch<isObserved, tells>(launchAt(i++), lane)));
      continue;
    }
    DLC_RETURN_IF_ERROR(performAtOnce(
        atOnce, lane, [&](uint32_t k) { return launchAt(i + k); }));
    for (size_t end = i + atOnce; i != end; ++i)
      if constexpr (tells)
        portEnds.tell(launchAt(i), *listener);
  }
  return Status::ok();
}

template <bool isObserved, bool tells> Status Execution::State::runInOrder() {
  return launchAll<isObserved, tells>(program.launches.size(), lanes[0],
                                      [](size_t i) { return i; });
}

template <bool isObserved, bool tells>
Status Execution::State::runSegment(void *context, uint32_t task,
                                    unsigned lane) {
  State &state = *static_cast<State *>(context);
  const Segment &segment = state.program.schedule.segments[task];
  const uint32_t *launches =
      state.program.schedule.order.data() + segment.firstLaunch;
  auto runAll = [&] {
    return state.launchAll<isObserved, tells>(
        segment.launchCount, state.lanes[lane],
        [&](size_t i) { return launches[i]; });
  };
  if (!state.deviceRun.isUsed())
    return runAll();
  return state.deviceRun.runSegment(task, runAll, isObserved || tells);
}

/// Arenas belong to the execution for its life, blocks of the pool, which is
/// on the first device, come and go.
void Execution::State::observeMemory(uint32_t device) {
  uint64_t bytes = program.arenaBytes[device];
  if (device == 0 && pool)
    bytes += pool->statistics().liveBytes;
  observer->onMemory(program.devices[device], bytes);
}

template <bool isObserved, bool tells> Status Execution::State::runLaunches() {
  if (!runner)
    return runInOrder<isObserved, tells>();
  if (!isObserved)
    return runner->run(runSegment<isObserved, tells>, this);
  return runner->run(
      runSegment<isObserved, tells>, this,
      [](void *context, unsigned lane, uint64_t begin, uint64_t end) {
        static_cast<State *>(context)->observer->onWait(lane, begin, end);
      });
}

Status Execution::run(PortListener *listener) {
  state->hasRun = false;
  DLC_RETURN_IF_ERROR(state->deviceRun.checkProcess());
  if (listener && !state->portEnds.isKnown())
    return makeError(StatusCode::InvalidArgument,
                     "expected an execution that tells of its ports");
  if (state->unboundInputs) {
    for (size_t i = 0; i != state->program.inputs.size(); ++i)
      if (!state->addresses[state->program.inputValues[i]])
        return makeError(StatusCode::InvalidArgument, "input '%s' is not bound",
                         state->program.inputs[i].name.c_str());
  }
  if (state->parts.size()) {
    Status status = state->runParts(listener);
    state->hasRun = status.isOk();
    return status;
  }
  // Who waits for devices or other streams computes in its calls alone.
  std::optional<WorkerPool::Caller> caller;
  if (state->workers && !state->runner && !state->deviceRun.isUsed())
    caller.emplace(*state->workers);
  // Once for all launches that are too small to wake workers for.
  if (state->workers &&
      state->program.sharedNanoseconds >= 4 * WorkerPool::wakeAbove)
    state->workers->wake();
  if (state->observer)
    for (uint32_t i = 0; i != state->program.devices.size(); ++i)
      state->observeMemory(i);
  Status status;
  if (listener) {
    state->listener = listener;
    state->portEnds.reset();
    status = state->observer ? state->runLaunches<true, true>()
                             : state->runLaunches<false, true>();
  } else {
    status = state->observer ? state->runLaunches<true, false>()
                             : state->runLaunches<false, false>();
  }
  if (state->deviceRun.isUsed()) {
    Status end = state->deviceRun.finishAll();
    if (status.isOk())
      status = std::move(end);
  }
  state->hasRun = status.isOk();
  if (!status.isOk()) [[unlikely]]
    state->releasePool();
  return status;
}

QueueTime Execution::takeQueueTime() {
  if (state->parts.size())
    return state->parts.takeQueueTime();
  return state->deviceRun.takeQueueTime();
}

Status Execution::push(Engine &engine, Context context, VariableList reads,
                       VariableList writes, const PushOptions &options) {
  return engine.pushSync([this] { return run(); }, context, reads, writes,
                         options);
}
