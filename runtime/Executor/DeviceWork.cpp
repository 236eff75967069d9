// SPDX-License-Identifier: Apache-2.0
//
// What of a program is on devices with memory of their own: their code, the
// constants that they read, their queues, and what waits for what.

#include "ProgramState.h"

#include "dlc/abi/Artifact_generated.h"
#include "dlc/runtime/Base/Memory.h"
#include "dlc/runtime/Storage/DeviceSource.h"

#include <algorithm>
#include <map>

using namespace dlc;
using namespace dlc::rt;

static bool isGenerated(const Program::State &state, size_t launch) {
  return state.file->whole()
             .kernels()
             ->Get(state.plan.launches()->Get(launch)->kernel())
             ->kind() == abi::KernelKind::Generated;
}

//===----------------------------------------------------------------------===//
// Code and constants
//===----------------------------------------------------------------------===//

/// Why object `index` is not for `device`; empty when it may be.
static std::string misfitOf(const abi::ObjectVariant &variant,
                            const Device &device) {
  if (!variant.triple() || !device.isFor(variant.triple()->string_view()))
    return variant.triple() ? variant.triple()->str() : "no triple";
  if (variant.kernel_abi() != DLC_KERNEL_ABI_VERSION &&
      variant.kernel_abi() != DLC_KERNEL_ABI_OWN_GRIDS)
    return "kernel convention " + std::to_string(variant.kernel_abi());
  std::vector<std::string> features;
  if (variant.features())
    for (const flatbuffers::String *feature : *variant.features())
      features.push_back(feature->str());
  return device.misfitOf(features);
}

static void readGrids(const abi::ObjectVariant &variant, size_t kernels,
                      std::vector<DeviceGrid> &grids) {
  if (variant.kernel_abi() != DLC_KERNEL_ABI_OWN_GRIDS)
    return;
  grids.assign(kernels, {.blocks = 0});
  if (variant.grids())
    for (const abi::KernelGrid *own : *variant.grids())
      grids[own->kernel()] = {own->blocks(), own->threads(), own->shared()};
}

/// Loads the first object that fits and that the device takes, unless another
/// program of the file did.
static Status loadCode(Program::State &state, UsedDevice &used) {
  const Artifact &artifact = state.file->artifact;
  const abi::Program &whole = state.file->whole();
  FileOnDevice &loaded = *used.file;
  std::string reasons;
  auto refuse = [&](const std::string &reason) {
    reasons += (reasons.empty() ? "" : ", ") + reason;
  };
  for (size_t i = 0;
       !loaded.code && whole.objects() && i != whole.objects()->size(); ++i) {
    const abi::ObjectVariant &variant = *whole.objects()->Get(i);
    std::string misfit = misfitOf(variant, *used.device);
    if (!misfit.empty()) {
      refuse(misfit);
      continue;
    }
    DLC_RETURN_IF_ERROR(artifact.verifyObject(i));
    Result<std::unique_ptr<DeviceCode>> code =
        used.device->load(artifact.object(i));
    if (code.isOk()) {
      loaded.code = std::move(*code);
      loaded.object = i;
      readGrids(variant, whole.kernels()->size(), loaded.grids);
    } else if (code.status().code() != StatusCode::Unsupported) {
      return std::move(code.status());
    } else {
      refuse(code.status().message());
    }
  }
  if (!loaded.code)
    return makeError(StatusCode::Unsupported, "no object fits %s: expected %s",
                     used.device->name().c_str(), reasons.c_str());
  state.statistics.codeBytes += artifact.object(loaded.object).size();
  state.statistics.deviceObjects.push_back(loaded.object);
  return Status::ok();
}

/// Copies to a device what of the file's constants is in `pieces`, bytes by
/// offsets.
static Status upload(const Artifact &artifact, UsedDevice &used,
                     const std::map<uint64_t, uint64_t> &pieces) {
  uint64_t end = 0;
  for (auto [offset, bytes] : pieces)
    end = alignUp(end + bytes, DLC_ALIGNMENT);
  Result<Allocation> memory = used.file->memory->allocate(end);
  if (!memory.isOk())
    return std::move(memory.status()).withContext("constants");
  auto *next = static_cast<std::byte *>(memory->data());
  used.file->blocks.push_back(std::move(*memory));
  Result<std::unique_ptr<DeviceQueue>> queue = used.device->createQueue();
  if (!queue.isOk())
    return std::move(queue.status());
  Status status;
  for (auto [offset, bytes] : pieces) {
    if (status.isOk())
      status =
          (*queue)->copy(next, artifact.constants().data() + offset, bytes);
    used.file->constants[offset] = {next, bytes};
    next += alignUp(bytes, DLC_ALIGNMENT);
  }
  Status last = (*queue)->synchronize();
  DLC_RETURN_IF_ERROR(std::move(status));
  return last;
}

/// Finds the constants that kernels on device `index` read, and brings those
/// there that no other program of the file did.
static Status uploadConstants(Program::State &state, uint32_t index,
                              UsedDevice &used) {
  const abi::Program &plan = state.plan;
  std::map<uint64_t, uint64_t> pieces; // By offset, which equal ones share.
  std::vector<uint32_t> values;
  for (size_t i = 0; plan.launches() && i != plan.launches()->size(); ++i) {
    const abi::Launch &launch = *plan.launches()->Get(i);
    if (launch.device() != index || !isGenerated(state, i))
      continue;
    for (int32_t argument : *launch.arguments()) {
      if (argument < 0 || state.values[argument].place != Place::Constant)
        continue;
      const ValueRecord &value = state.values[argument];
      values.push_back(argument);
      auto known = used.file->constants.find(value.offset);
      if (known != used.file->constants.end() &&
          known->second.bytes >= value.bytes)
        continue;
      uint64_t &bytes = pieces[value.offset];
      bytes = std::max(bytes, value.bytes);
    }
  }
  if (!pieces.empty())
    DLC_RETURN_IF_ERROR(upload(state.file->artifact, used, pieces));
  for (uint32_t value : values)
    used.constantAddresses[value] =
        used.file->constants[state.values[value].offset].address;
  return Status::ok();
}

/// Opens a device for the programs of a file.
static Status openFor(Context context, std::shared_ptr<FileOnDevice> &file) {
  Result<std::shared_ptr<Device>> device = openDevice(context);
  if (!device.isOk())
    return std::move(device.status());
  auto opened = std::make_shared<FileOnDevice>();
  opened->device = std::move(*device);
  opened->memory =
      createNaiveManager(context, createDeviceSource(opened->device));
  if (!opened->memory)
    return makeError(StatusCode::OutOfMemory, "no memory for a storage");
  file = std::move(opened);
  return Status::ok();
}

Status dlc::rt::openDevices(Program::State &state, bool loadsCode) {
  const abi::Program &plan = state.plan;
  bool isUsed = std::any_of(state.devices.begin(), state.devices.end(),
                            [](Context context) { return !context.isHost(); });
  if (!isUsed)
    return Status::ok();
  state.work.devices.resize(state.devices.size());
  if (!loadsCode)
    return Status::ok();
  for (uint32_t i = 0; i != state.devices.size(); ++i) {
    if (state.devices[i].isHost())
      continue;
    UsedDevice &used = state.work.devices[i];
    std::shared_ptr<FileOnDevice> &file =
        state.file->devices[{state.devices[i].kind, state.devices[i].index}];
    if (!file)
      DLC_RETURN_IF_ERROR(openFor(state.devices[i], file));
    used.file = file;
    used.device = file->device;
    bool hasKernels = false;
    for (size_t k = 0; plan.launches() && k != plan.launches()->size(); ++k)
      hasKernels |=
          plan.launches()->Get(k)->device() == i && isGenerated(state, k);
    if (hasKernels)
      DLC_RETURN_IF_ERROR(loadCode(state, used));
    DLC_RETURN_IF_ERROR(uploadConstants(state, i, used));
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// The device that has the memory of a value; null for the host's.
static const UsedDevice *deviceOf(const Program::State &state, int32_t value) {
  const ValueRecord &record = state.values[value];
  bool hasDevice = record.place == Place::Arena || record.place == Place::Pool;
  return hasDevice ? state.work.find(record.device) : nullptr;
}

/// The queue of a device for the launches of one stream.
static uint32_t queueOf(Program::State &state, uint32_t device,
                        uint32_t streamDevice, uint32_t stream) {
  DeviceWork &work = state.work;
  auto [entry, isNew] = work.queueOfStream.try_emplace(
      {device, streamDevice, stream}, work.queues.size());
  if (isNew)
    work.queues.push_back(device);
  return entry->second;
}

/// A kernel on a device: what it touches is there.
static Status checkPlaces(const Program::State &state,
                          const LaunchRecord &record,
                          const UsedDevice &device) {
  for (int32_t argument : state.argumentsOf(record)) {
    if (argument < 0)
      return makeError(StatusCode::Unsupported,
                       "expected all operands of a kernel on %s",
                       device.device->name().c_str());
    const ValueRecord &value = state.values[argument];
    bool isThere =
        value.place == Place::Constant ||
        (value.place == Place::Arena && deviceOf(state, argument) == &device);
    if (!isThere)
      return makeError(StatusCode::Unsupported,
                       "expected value %d in the memory of %s", argument,
                       device.device->name().c_str());
    if (value.offset % DLC_ALIGNMENT)
      return makeError(StatusCode::Unsupported,
                       "expected value %d aligned to %d, got offset %llu",
                       argument, DLC_ALIGNMENT,
                       static_cast<unsigned long long>(value.offset));
  }
  return Status::ok();
}

/// That no output of a call lies where an operand does, but the first one where
/// all of operand `shared` is.
static Status checkApart(const Program::State &state,
                         std::span<const int32_t> arguments,
                         std::span<const int32_t> operands, size_t inputs,
                         int shared) {
  for (size_t out = inputs; out != operands.size(); ++out)
    for (size_t in = 0; in != out; ++in) {
      if (operands[in] < 0)
        continue;
      const ValueRecord &a = state.values[arguments[operands[out]]],
                        &b = state.values[arguments[operands[in]]];
      const bool overlap = a.place == Place::Arena && b.place == a.place &&
                           a.device == b.device &&
                           a.offset < b.offset + b.bytes &&
                           b.offset < a.offset + a.bytes;
      const bool isSame = int64_t(in) == shared && out == inputs &&
                          a.offset == b.offset && a.bytes == b.bytes;
      if (overlap && !isSame)
        return makeError(StatusCode::Unsupported,
                         "expected output %zu apart from operand %zu",
                         out - inputs, in);
    }
  return Status::ok();
}

/// Makes the call of the entry that a kernel names. Errors: that there is none
/// of it here; generated code computes the kernel then.
static Status queueEntry(Program::State &state, const ProgramOptions &options,
                         const abi::Kernel &kernel, UsedDevice &device,
                         const LaunchRecord &record, QueuedLaunch &queued) {
  const std::string name = kernel.entry()->str();
  const LibraryEntry *entry = options.findLibraryEntry(name);
  if (!entry || !entry->prepareOn)
    return makeError(StatusCode::Unsupported,
                     "this runtime has no such library");
  std::span<const int32_t> arguments = state.argumentsOf(record);
  std::vector<int32_t> operands;
  std::vector<TensorType> types;
  auto add = [&](int32_t operand) {
    operands.push_back(operand);
    types.push_back(operand < 0 ? TensorType()
                                : state.values[arguments[operand]].type);
  };
  const size_t inputs =
      kernel.entry_operands() ? kernel.entry_operands()->size() : 0;
  for (size_t i = 0; i != inputs; ++i)
    add(kernel.entry_operands()->Get(i));
  for (uint32_t i = record.inputCount; i != record.argumentCount; ++i)
    add(int32_t(i));
  DLC_RETURN_IF_ERROR(
      checkApart(state, arguments, operands, inputs, entry->inPlaceOperand));
  const Attributes attributes = entryAttributesOf(kernel);
  const std::span<const TensorType> all(types);
  OpenLibrary &library = device.libraries[name.substr(0, name.find('.'))];
  if (!library.missing.empty()) // Once is enough.
    return Status(StatusCode::Unavailable, library.missing);
  Status status = entry->prepareOn(
      *device.device, {all.first(inputs), all.subspan(inputs), attributes},
      library.session, queued.call);
  if (status.code() == StatusCode::Unavailable && !library.session)
    library.missing = status.message();
  DLC_RETURN_IF_ERROR(std::move(status));
  queued.operands = std::move(operands);
  queued.firstOperand = state.work.operandCount;
  state.work.operandCount += queued.operands.size();
  return Status::ok();
}

/// How a kernel is launched on `device`. Errors: Unsupported (not at all).
static Status findGrid(const UsedDevice &device, const LaunchRecord &record,
                       uint32_t index, const abi::Kernel &kernel,
                       DeviceGrid &grid) {
  int64_t blocks = kernel.tiles();
  int64_t threads = record.attributes->getInt("threads");
  int64_t shared = record.attributes->getInt("shared");
  if (const auto &grids = device.file->grids; !grids.empty()) {
    blocks = grids[index].blocks;
    threads = grids[index].threads;
    shared = grids[index].sharedBytes;
  }
  if (threads < 1 || threads > INT32_MAX || shared < 0 || shared > INT32_MAX ||
      blocks < 1 || blocks > INT32_MAX)
    return makeError(StatusCode::Unsupported,
                     "expected a grid of blocks, got %lld of %lld threads with "
                     "%lld bytes",
                     static_cast<long long>(blocks),
                     static_cast<long long>(threads),
                     static_cast<long long>(shared));
  grid = {uint32_t(blocks), uint32_t(threads), uint32_t(shared)};
  return Status::ok();
}

static Status queueKernel(Program::State &state, const ProgramOptions &options,
                          size_t index, UsedDevice &device,
                          LaunchRecord &record) {
  const abi::Launch &launch = *state.plan.launches()->Get(index);
  const abi::Kernel &kernel =
      *state.file->whole().kernels()->Get(launch.kernel());
  if (kernel.kind() != abi::KernelKind::Generated)
    return makeError(StatusCode::Unsupported,
                     "%s computes generated kernels alone, got '%s'",
                     device.device->name().c_str(), kernel.name()->c_str());
  DLC_RETURN_IF_ERROR(checkPlaces(state, record, device));
  QueuedLaunch queued{
      queueOf(state, launch.device(), launch.device(), launch.stream())};
  DLC_RETURN_IF_ERROR(
      findGrid(device, record, launch.kernel(), kernel, queued.grid));
  Result<void *> function =
      device.file->code->find(kernel.name()->str(), queued.grid);
  if (!function.isOk())
    return std::move(function.status());
  Status called = kernel.entry() ? queueEntry(state, options, kernel, device,
                                              record, queued)
                                 : Status::ok();
  if (!called.isOk())
    ++state.work
          .remarks[kernel.entry()->str() + " is not used: " + called.message()];
  if (queued.call)
    state.names[index].kernel = kernel.entry()->str();
  else
    queued.function = *function;
  record.kind = LaunchKind::Queued;
  record.queued = &state.work.launches.emplace_back(std::move(queued));
  return Status::ok();
}

/// Lets device `to` read the memory of `from`, once for both, before there are
/// arenas, and says so where copies go through the host all the same.
static Status openBetween(Program::State &state, uint32_t from, uint32_t to) {
  UsedDevice &owner = state.work.devices[from];
  auto [known, isNew] = owner.readers.try_emplace(to, false);
  if (isNew) {
    Result<bool> isOpen = owner.device->openTo(*state.work.devices[to].device);
    if (!isOpen.isOk())
      return std::move(isOpen.status());
    known->second = *isOpen;
  }
  if (!known->second)
    ++state.work
          .remarks["copies from " + toString(state.devices[from]) + " to " +
                   toString(state.devices[to]) + " go through the host"];
  return Status::ok();
}

/// Arenas of the host at the other end of a copy are to be locked.
static Status findHostEnds(Program::State &state, const UsedDevice &device,
                           std::span<const int32_t> arguments) {
  DeviceWork &work = state.work;
  for (int32_t argument : arguments)
    if (state.values[argument].place == Place::Arena &&
        !deviceOf(state, argument))
      work.hostEnds.insert(state.values[argument].device);
  if (work.hostEnds.empty() || work.locked)
    return Status::ok();
  work.locked = createNaiveManager(Context::cpuPinned(),
                                   createLockedSource(device.device));
  return work.locked
             ? Status::ok()
             : makeError(StatusCode::OutOfMemory, "no memory for a storage");
}

/// A copy from or to a device goes through a queue of the device that is
/// written to, or else of the one that is read.
static Status queueCopy(Program::State &state, size_t index,
                        LaunchRecord &record, bool &isQueued) {
  const abi::Launch &launch = *state.plan.launches()->Get(index);
  std::span<const int32_t> arguments = state.argumentsOf(record);
  const UsedDevice *from = deviceOf(state, arguments[0]);
  const UsedDevice *to = deviceOf(state, arguments[1]);
  isQueued = from || to;
  if (!isQueued)
    return Status::ok();
  for (int32_t argument : arguments)
    if (!state.values[argument].isStatic ||
        state.values[argument].place == Place::Pool)
      return makeError(StatusCode::Unsupported,
                       "copies of values whose size is found while running "
                       "are not supported with %s",
                       (to ? to : from)->device->name().c_str());
  const UsedDevice *first = state.work.devices.data();
  auto device = uint32_t((to ? to : from) - first);
  const bool isOfHost = state.devices[launch.device()].isHost();
  if (!isOfHost && launch.device() != device)
    return makeError(StatusCode::Unsupported,
                     "expected a copy of %s, or of the host, got one of %s",
                     toString(state.devices[device]).c_str(),
                     toString(state.devices[launch.device()]).c_str());
  DLC_RETURN_IF_ERROR(findHostEnds(state, first[device], arguments));
  QueuedLaunch queued{queueOf(state, device, launch.device(), launch.stream())};
  queued.isAwaited = isOfHost;
  if (from && to && from != to) {
    DLC_RETURN_IF_ERROR(openBetween(state, uint32_t(from - first), device));
    queued.owner = from->device.get();
  }
  record.kind = LaunchKind::Queued;
  record.queued = &state.work.launches.emplace_back(std::move(queued));
  return Status::ok();
}

Status dlc::rt::queueLaunch(Program::State &state,
                            const ProgramOptions &options, size_t index,
                            bool &isQueued) {
  const abi::Launch &launch = *state.plan.launches()->Get(index);
  LaunchRecord &record = state.launches[index];
  isQueued = false;
  if (state.work.devices.empty())
    return Status::ok();
  if (state.file->whole().kernels()->Get(launch.kernel())->kind() ==
      abi::KernelKind::Copy)
    return queueCopy(state, index, record, isQueued);
  if (!state.work.find(launch.device()))
    return Status::ok();
  isQueued = true;
  return queueKernel(state, options, index, state.work.devices[launch.device()],
                     record);
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// The queue that does all of a segment; none where the host has a part in it.
static std::optional<uint32_t>
queueOfSegment(const Program::State &state,
               std::span<const uint32_t> launches) {
  std::optional<uint32_t> queue;
  for (uint32_t index : launches) {
    const LaunchRecord &launch = state.launches[index];
    if (launch.kind != LaunchKind::Queued ||
        (queue && *queue != launch.queued->queue))
      return std::nullopt;
    queue = launch.queued->queue;
  }
  return queue;
}

void dlc::rt::findBorders(Program::State &state) {
  const Schedule &schedule = state.schedule;
  DeviceWork &work = state.work;
  if (!work.isUsed())
    return;
  work.borders.resize(schedule.segments.size());
  for (uint32_t i = 0; i != schedule.segments.size(); ++i) {
    const Segment &segment = schedule.segments[i];
    std::span<const uint32_t> launches =
        std::span(schedule.order)
            .subspan(segment.firstLaunch, segment.launchCount);
    DeviceWork::Border &border = work.borders[i];
    border.queue = queueOfSegment(state, launches);
    if (!border.queue)
      continue;
    // One launch alone is one call as it is.
    border.isRecorded = launches.size() > 1;
    for (uint32_t index : launches) {
      QueuedLaunch &queued = *state.launches[index].queued;
      // Copies to the host: who reads them waits, not the stream.
      queued.isAwaited = false;
      border.isRecorded &= !queued.isCopy();
    }
  }
  for (uint32_t i = 0; i != schedule.segments.size(); ++i) {
    DeviceWork::Border &before = work.borders[i];
    if (!before.queue)
      continue; // The host has done it when it goes on.
    for (uint32_t next : schedule.graph.successorsOf(i)) {
      if (work.borders[next].queue == before.queue)
        continue; // In order as they are.
      before.isAwaited = true;
      work.borders[next].awaits.push_back(i);
    }
  }
}
