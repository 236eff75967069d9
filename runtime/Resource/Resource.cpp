// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Resource/Resource.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <vector>

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

/// A temporary space. What changes is touched only by operations that write
/// the variable.
struct detail::Space {
  Variable variable;
  StorageManager *device, *host;
  Allocation deviceMemory, hostMemory;
};

/// A random sequence. Those with a variable are touched only by operations
/// that write it, but seeded like the others, so all have a lock.
struct detail::Sequence {
  Variable variable; ///< None: drawn while pushing.
  std::mutex mutex;  ///< Guards `next`.
  RandomDraws next;

  RandomDraws take(uint64_t blocks) {
    std::lock_guard lock(mutex);
    RandomDraws draws = next;
    next.position += blocks;
    return draws;
  }
  void seed(uint64_t seed) {
    std::lock_guard lock(mutex);
    next.seed = seed;
    next.position = 0;
  }
};

namespace {

enum SequenceKind { RandomKind, ParallelKind, DropoutKind, sequenceKinds };

/// The resources of one device. Deletions of its variables hold it, so that it
/// outlives the operations that use it.
struct Device {
  explicit Device(Context context) : context(context) {}

  const Context context;
  std::vector<std::unique_ptr<detail::Space>> spaces;
  size_t turn = 0; ///< The space for the next request.
  std::array<detail::Sequence, sequenceKinds> sequences;
};

} // namespace

struct ResourceManager::State {
  State(Engine &engine, Storage &storage, const ResourceOptions &options)
      : engine(engine), storage(storage), options(options), seed(options.seed) {
  }

  Result<Device *> find(Context context);
  Status fill(Device &device);
  Status deleteVariables(const std::shared_ptr<Device> &device);
  Status reseed(const std::shared_ptr<Device> &device, uint64_t seed);

  Engine &engine;
  Storage &storage;
  const ResourceOptions options;
  std::mutex mutex; ///< Guards everything below, and `turn` of the devices.
  std::map<Context, std::shared_ptr<Device>> devices;
  uint64_t seed;
  bool isClosed = false;
};

/// Sequences of one seed differ by their stream: device and kind.
static uint32_t streamOf(Context context, unsigned kind) {
  return kind << 24 | uint32_t(context.kind) << 16 | uint16_t(context.index);
}

/// Makes the variables of a device; on error some are made.
Status ResourceManager::State::fill(Device &device) {
  Result<StorageManager *> memory = storage.manager(device.context);
  if (!memory.isOk())
    return std::move(memory.status());
  Result<StorageManager *> host = storage.manager(Context::cpu());
  if (!host.isOk())
    return std::move(host.status());
  unsigned count =
      device.context.isHost() ? options.hostSpaces : options.deviceSpaces;
  for (unsigned i = 0; i != std::max(count, 1u); ++i) {
    Result<Variable> variable = engine.newVariable(VariableKind::Resource);
    if (!variable.isOk())
      return std::move(variable.status());
    device.spaces.push_back(std::make_unique<detail::Space>());
    detail::Space &space = *device.spaces.back();
    space.variable = *variable;
    space.device = *memory;
    space.host = *host;
  }
  for (unsigned kind = 0; kind != sequenceKinds; ++kind)
    device.sequences[kind].next = {seed, streamOf(device.context, kind), 0};
  Result<Variable> variable = engine.newVariable(VariableKind::Resource);
  if (!variable.isOk())
    return std::move(variable.status());
  device.sequences[RandomKind].variable = *variable;
  return Status::ok();
}

/// The resources of a device. The mutex is held.
Result<Device *> ResourceManager::State::find(Context context) {
  if (isClosed)
    return makeError(StatusCode::Unavailable, "the resources are closed");
  auto found = devices.find(context);
  if (found != devices.end())
    return found->second.get();
  if (!context.isValid())
    return makeError(StatusCode::InvalidArgument,
                     "expected a device, got kind %u with number %d",
                     unsigned(context.kind), context.index);
  auto device = std::make_shared<Device>(context);
  Status status = fill(*device);
  if (!status.isOk()) {
    (void)deleteVariables(device).isOk(); // The first error is the one to say.
    return status;
  }
  return (devices[context] = std::move(device)).get();
}

/// Ends the variables of a device after their last operations. Each deletion
/// holds the device. Returns the first error.
Status
ResourceManager::State::deleteVariables(const std::shared_ptr<Device> &device) {
  Status first;
  auto end = [&](Variable variable) {
    if (!variable)
      return;
    Status status =
        engine.deleteVariable([keep = device] {}, device->context, variable);
    if (first.isOk())
      first = std::move(status);
  };
  for (const auto &space : device->spaces)
    end(space->variable);
  end(device->sequences[RandomKind].variable);
  return first;
}

Status ResourceManager::State::reseed(const std::shared_ptr<Device> &device,
                                      uint64_t seed) {
  device->sequences[ParallelKind].seed(seed);
  device->sequences[DropoutKind].seed(seed);
  return engine.pushSync(
      [device, seed] { device->sequences[RandomKind].seed(seed); },
      device->context, {}, {device->sequences[RandomKind].variable},
      {.name = "seed random numbers"});
}

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

/// Grows `memory` to `bytes`. The old is given up first: it holds nothing.
static Result<void *> grow(Allocation &memory, StorageManager &manager,
                           size_t bytes) {
  if (!memory || memory.bytes() < bytes) {
    memory.reset();
    Result<Allocation> larger = manager.allocate(bytes);
    if (!larger.isOk())
      return std::move(larger.status()).withContext("temporary space");
    memory = std::move(*larger);
  }
  return memory.data();
}

Variable TemporarySpace::variable() const { return space->variable; }

Result<void *> TemporarySpace::reserve(size_t bytes) const {
  return grow(space->deviceMemory, *space->device, bytes);
}

Result<void *> TemporarySpace::reserveHost(size_t bytes) const {
  return grow(space->hostMemory, *space->host, bytes);
}

Variable RandomResource::variable() const { return sequence->variable; }

RandomDraws RandomResource::take(uint64_t blocks) const {
  return sequence->take(blocks);
}

RandomDraws ParallelRandom::take(uint64_t blocks) const {
  return sequence->take(blocks);
}

Result<DropoutMask> DropoutState::next(uint64_t count,
                                       double keepProbability) const {
  if (!(keepProbability > 0 && keepProbability <= 1))
    return makeError(StatusCode::InvalidArgument,
                     "expected a probability in (0, 1], got %g",
                     keepProbability);
  return DropoutMask{sequence->take(blocksFor(count)), keepProbability};
}

void DropoutMask::apply(uint64_t first, std::span<const float> in,
                        std::span<float> out) const {
  std::array<uint8_t, 512> kept;
  float scale = float(1 / keepProbability);
  for (size_t begin = 0; begin < out.size(); begin += kept.size()) {
    size_t count = std::min(kept.size(), out.size() - begin);
    fillBernoulli(draws, first + begin, std::span(kept).first(count),
                  keepProbability);
    for (size_t i = 0; i != count; ++i)
      out[begin + i] = kept[i] ? in[begin + i] * scale : 0;
  }
}

//===----------------------------------------------------------------------===//
// The manager
//===----------------------------------------------------------------------===//

ResourceManager::ResourceManager(std::unique_ptr<State> state)
    : state(std::move(state)) {}
ResourceManager::~ResourceManager() { (void)close().isOk(); }

Result<std::unique_ptr<ResourceManager>>
ResourceManager::create(Engine &engine, Storage &storage,
                        const ResourceOptions &options) {
  return std::unique_ptr<ResourceManager>(
      new ResourceManager(std::make_unique<State>(engine, storage, options)));
}

Result<TemporarySpace> ResourceManager::temporarySpace(Context context) {
  std::lock_guard lock(state->mutex);
  Result<Device *> device = state->find(context);
  if (!device.isOk())
    return std::move(device.status());
  auto &spaces = (*device)->spaces;
  TemporarySpace handle;
  handle.space = spaces[(*device)->turn++ % spaces.size()].get();
  return handle;
}

Result<RandomResource> ResourceManager::random(Context context) {
  std::lock_guard lock(state->mutex);
  Result<Device *> device = state->find(context);
  if (!device.isOk())
    return std::move(device.status());
  RandomResource handle;
  handle.sequence = &(*device)->sequences[RandomKind];
  return handle;
}

Result<ParallelRandom> ResourceManager::parallelRandom(Context context) {
  std::lock_guard lock(state->mutex);
  Result<Device *> device = state->find(context);
  if (!device.isOk())
    return std::move(device.status());
  ParallelRandom handle;
  handle.sequence = &(*device)->sequences[ParallelKind];
  return handle;
}

Result<DropoutState> ResourceManager::dropoutState(Context context) {
  std::lock_guard lock(state->mutex);
  Result<Device *> device = state->find(context);
  if (!device.isOk())
    return std::move(device.status());
  DropoutState handle;
  handle.sequence = &(*device)->sequences[DropoutKind];
  return handle;
}

Status ResourceManager::seed(Context context, uint64_t seed) {
  std::shared_ptr<Device> device;
  {
    std::lock_guard lock(state->mutex);
    Result<Device *> found = state->find(context);
    if (!found.isOk())
      return std::move(found.status());
    device = state->devices[context];
  }
  // Outside of the lock: a push may wait, or run operations (Naive).
  return state->reseed(device, seed);
}

Status ResourceManager::seed(uint64_t seed) {
  std::vector<std::shared_ptr<Device>> devices;
  {
    std::lock_guard lock(state->mutex);
    if (state->isClosed)
      return makeError(StatusCode::Unavailable, "the resources are closed");
    state->seed = seed;
    for (auto &[context, device] : state->devices)
      devices.push_back(device);
  }
  for (const auto &device : devices)
    DLC_RETURN_IF_ERROR(state->reseed(device, seed));
  return Status::ok();
}

Status ResourceManager::trim() {
  std::vector<std::shared_ptr<Device>> devices;
  {
    std::lock_guard lock(state->mutex);
    for (auto &[context, device] : state->devices)
      devices.push_back(device);
  }
  for (const auto &device : devices)
    for (const auto &space : device->spaces)
      DLC_RETURN_IF_ERROR(state->engine.pushSync(
          [device, space = space.get()] {
            space->deviceMemory.reset();
            space->hostMemory.reset();
          },
          device->context, {}, {space->variable},
          {.name = "release temporary space"}));
  return Status::ok();
}

Status ResourceManager::close() {
  std::map<Context, std::shared_ptr<Device>> devices;
  {
    std::lock_guard lock(state->mutex);
    state->isClosed = true;
    devices.swap(state->devices);
  }
  Status first;
  for (auto &[context, device] : devices) {
    Status status = state->deleteVariables(device);
    if (first.isOk())
      first = std::move(status);
  }
  return first;
}
