// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Resource/Resource.h"

#include "dlc/runtime/Base/Shared.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

/// In the child of a fork() a thread that is not there may have been in the
/// middle of a change, or hold a lock.
static Status checkOwn(const ForkGuard &guard) {
  if (!guard.isChild()) [[likely]]
    return Status::ok();
  return makeError(StatusCode::Unavailable,
                   "the resource belongs to another process, of which this is "
                   "a fork(); ask for one here");
}

static Status noMemory() {
  return makeError(StatusCode::OutOfMemory, "no memory for resources");
}

/// Resources guarded by a variable are for operations that write it.
static Status checkWritten(Engine &engine, Variable variable) {
  if (engine.isWriting(variable)) [[likely]]
    return Status::ok();
  return makeError(StatusCode::InvalidArgument,
                   "expected an operation that writes the variable of the "
                   "resource that it uses, got another one or none");
}

/// A temporary space. What changes is touched only by operations that write
/// the variable.
struct detail::Space {
  Variable variable;
  Engine *engine;         ///< Of the variable.
  const ForkGuard *guard; ///< Its device's.
  StorageManager *device, *host;
  Allocation deviceMemory, hostMemory;
};

/// Sequences of a stream start far enough from each other to share nothing.
constexpr unsigned distanceBits = 40;
constexpr uint64_t distance = uint64_t(1) << distanceBits;
constexpr uint64_t maxSequences = uint64_t(1) << (64 - distanceBits);

/// A random sequence. Those with a variable are touched only by operations
/// that write it, but seeded like the others, so all have a lock.
struct detail::Sequence {
  Sequence(const RandomDraws &draws, const ForkGuard &guard)
      : guard(guard), start(draws.position), next(draws) {}

  const ForkGuard &guard;   ///< Its device's.
  Variable variable;        ///< None: drawn while pushing.
  Engine *engine = nullptr; ///< Of the variable.
  const uint64_t start;
  std::mutex mutex; ///< Guards `next`.
  RandomDraws next;

  Result<RandomDraws> take(uint64_t blocks) {
    DLC_RETURN_IF_ERROR(checkOwn(guard));
    DLC_RETURN_IF_ERROR(checkWritten(*engine, variable));
    std::lock_guard lock(mutex);
    if (blocks > UINT64_MAX - next.position)
      return makeError(StatusCode::InvalidArgument,
                       "expected at most 2^64 blocks of a sequence of random "
                       "numbers, got %llu after %llu",
                       static_cast<unsigned long long>(blocks),
                       static_cast<unsigned long long>(next.position));
    return takeLocked(blocks);
  }
  /// The same up to where the next sequence of the stream starts.
  Result<RandomDraws> takeOwn(uint64_t blocks) {
    DLC_RETURN_IF_ERROR(checkOwn(guard));
    std::lock_guard lock(mutex);
    uint64_t taken = next.position - start;
    if (blocks > distance - taken)
      return makeError(StatusCode::InvalidArgument,
                       "expected at most 2^40 blocks of a sequence of random "
                       "numbers, got %llu after %llu",
                       static_cast<unsigned long long>(blocks),
                       static_cast<unsigned long long>(taken));
    return takeLocked(blocks);
  }
  void seed(uint64_t seed) {
    std::lock_guard lock(mutex);
    next.seed = seed;
    next.position = start;
  }

private:
  RandomDraws takeLocked(uint64_t blocks) {
    RandomDraws draws = next;
    next.position += blocks;
    return draws;
  }
};

namespace {

enum SequenceKind { RandomKind, ParallelKind, DropoutKind, sequenceKinds };

/// The resources of one device. Deletions of its variables hold it, so that it
/// outlives the operations that use it.
struct Device {
  Device(Context context, std::shared_ptr<Storage> storage, uint64_t seed,
         std::shared_ptr<const ForkGuard> guard)
      : context(context), storage(std::move(storage)), guard(std::move(guard)),
        seed(seed) {}

  detail::Sequence &addSequence(SequenceKind kind);

  const Context context;
  const std::shared_ptr<Storage> storage; ///< The spaces' managers are its.
  const std::shared_ptr<const ForkGuard> guard; ///< Of what is given out.
  std::vector<std::unique_ptr<detail::Space>> spaces;
  size_t turn = 0; ///< The space for the next request.
  uint64_t seed;   ///< Of sequences yet to come.
  /// Of RandomKind one, with a variable; of the others one for each request.
  std::array<std::deque<detail::Sequence>, sequenceKinds> sequences;
};

} // namespace

struct ResourceManager::State {
  State(Engine &engine, std::shared_ptr<Storage> storage,
        const ResourceOptions &options)
      : engine(engine), storage(std::move(storage)), options(options),
        seed(options.seed) {}

  Result<std::shared_ptr<Device>> find(Context context,
                                       std::unique_lock<std::mutex> &lock);
  Result<detail::Sequence *> sequenceOf(Context context, SequenceKind kind);
  Status fill(Device &device);
  Status deleteVariables(const std::shared_ptr<Device> &device);
  Status reseed(const std::shared_ptr<Device> &device, uint64_t seed);

  Engine &engine;
  const std::shared_ptr<Storage> storage;
  /// Never adopts: in the child there is another state.
  const std::shared_ptr<const ForkGuard> guard = makeShared<const ForkGuard>();
  const ResourceOptions options;
  /// Guards everything below, and of the devices what requests change: `turn`,
  /// `seed` and which sequences there are.
  std::mutex mutex;
  std::map<Context, std::shared_ptr<Device>> devices;
  uint64_t seed;
  bool isClosed = false;
};

/// Sequences of one seed differ by their stream: device and kind.
static uint32_t streamOf(Context context, unsigned kind) {
  return kind << 24 | uint32_t(context.kind) << 16 | uint16_t(context.index);
}

/// The next sequence of a kind, of which there are less than maxSequences.
detail::Sequence &Device::addSequence(SequenceKind kind) {
  uint64_t number = sequences[kind].size();
  return sequences[kind].emplace_back(
      RandomDraws{seed, streamOf(context, kind), number << distanceBits},
      *guard);
}

/// Makes the variables of a device; on error some are made.
Status ResourceManager::State::fill(Device &device) {
  Result<StorageManager *> memory = storage->manager(device.context);
  if (!memory.isOk())
    return std::move(memory.status());
  Result<StorageManager *> host = storage->manager(Context::cpu());
  if (!host.isOk())
    return std::move(host.status());
  unsigned count =
      device.context.isHost() ? options.hostSpaces : options.deviceSpaces;
  for (unsigned i = 0; i != std::max(count, 1u); ++i) {
    Result<Variable> variable =
        engine.newVariable(VariableKind::Resource, VariableOwner::Runtime);
    if (!variable.isOk())
      return std::move(variable.status());
    std::unique_ptr<detail::Space> made(new (std::nothrow) detail::Space);
    if (!made) {
      (void)engine.deleteVariable(*variable).isOk();
      return noMemory();
    }
    detail::Space &space = *made;
    device.spaces.push_back(std::move(made));
    space.variable = *variable;
    space.engine = &engine;
    space.guard = device.guard.get();
    space.device = *memory;
    space.host = *host;
  }
  Result<Variable> variable =
      engine.newVariable(VariableKind::Resource, VariableOwner::Runtime);
  if (!variable.isOk())
    return std::move(variable.status());
  detail::Sequence &sequence = device.addSequence(RandomKind);
  sequence.variable = *variable;
  sequence.engine = &engine;
  return Status::ok();
}

/// The resources of a device. `lock` holds the mutex; on error maybe no longer.
Result<std::shared_ptr<Device>>
ResourceManager::State::find(Context context,
                             std::unique_lock<std::mutex> &lock) {
  if (isClosed)
    return makeError(StatusCode::Unavailable, "the resources are closed");
  auto found = devices.find(context);
  if (found != devices.end())
    return found->second;
  auto device = makeShared<Device>(context, storage, seed, guard);
  if (!device)
    return noMemory();
  Status status = fill(*device);
  if (!status.isOk()) {
    lock.unlock(); // A push may wait, or run operations (Naive).
    (void)deleteVariables(device).isOk(); // The first error is the one to say.
    return status;
  }
  return devices[context] = std::move(device);
}

Result<detail::Sequence *>
ResourceManager::State::sequenceOf(Context context, SequenceKind kind) {
  std::unique_lock lock(mutex);
  Result<std::shared_ptr<Device>> device = find(context, lock);
  if (!device.isOk())
    return std::move(device.status());
  if (kind == RandomKind)
    return &(*device)->sequences[kind].front();
  if ((*device)->sequences[kind].size() == maxSequences)
    return makeError(StatusCode::Unavailable,
                     "expected at most %llu sequences of random numbers on %s: "
                     "ask once for each operation, not for each run",
                     static_cast<unsigned long long>(maxSequences),
                     toString(context).c_str());
  return &(*device)->addSequence(kind);
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
  for (const detail::Sequence &sequence : device->sequences[RandomKind])
    end(sequence.variable);
  return first;
}

Status ResourceManager::State::reseed(const std::shared_ptr<Device> &device,
                                      uint64_t seed) {
  {
    std::lock_guard lock(mutex);
    device->seed = seed;
    for (SequenceKind kind : {ParallelKind, DropoutKind})
      for (detail::Sequence &sequence : device->sequences[kind])
        sequence.seed(seed);
  }
  // Outside of the lock: a push may wait, or run operations (Naive).
  detail::Sequence &ordered = device->sequences[RandomKind].front();
  return engine.pushSync([device, &ordered, seed] { ordered.seed(seed); },
                         device->context, {}, {ordered.variable},
                         {.name = "seed random numbers"});
}

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

/// Grows `memory` to `bytes`. The old is given up first: it holds nothing.
static Result<void *> grow(const detail::Space &space, Allocation &memory,
                           StorageManager &manager, size_t bytes) {
  DLC_RETURN_IF_ERROR(checkOwn(*space.guard));
  DLC_RETURN_IF_ERROR(checkWritten(*space.engine, space.variable));
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
  return grow(*space, space->deviceMemory, *space->device, bytes);
}

Result<void *> TemporarySpace::reserveHost(size_t bytes) const {
  return grow(*space, space->hostMemory, *space->host, bytes);
}

Variable RandomResource::variable() const { return sequence->variable; }

Result<RandomDraws> RandomResource::take(uint64_t blocks) const {
  return sequence->take(blocks);
}

Result<RandomDraws> ParallelRandom::take(uint64_t blocks) const {
  return sequence->takeOwn(blocks);
}

Result<DropoutMask> DropoutState::next(uint64_t count,
                                       double keepProbability) const {
  if (!(keepProbability > 0 && keepProbability <= 1))
    return makeError(StatusCode::InvalidArgument,
                     "expected a probability in (0, 1], got %.15g",
                     keepProbability);
  Result<RandomDraws> draws = sequence->takeOwn(blocksFor(count));
  if (!draws.isOk())
    return std::move(draws.status());
  return DropoutMask{*draws, keepProbability};
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

ResourceManager::ResourceManager(Engine &engine,
                                 std::shared_ptr<Storage> storage,
                                 const ResourceOptions &options)
    : state(new (std::nothrow) State(engine, std::move(storage), options)) {}
ResourceManager::~ResourceManager() { (void)close().isOk(); }

/// The state; in the child of a fork() a fresh one, since a thread that is not
/// there may hold the lock of the parent's, and the engine of the child does
/// not know its variables. Null when there is no memory.
ResourceManager::State *ResourceManager::known() {
  if (state && guard.isChild()) [[unlikely]]
    guard.adopt([this] {
      std::unique_ptr<State> fresh(new (std::nothrow) State(
          state->engine, state->storage, state->options));
      if (fresh) {
        fresh->seed = state->seed;
        fresh->isClosed = state->isClosed;
      }
      state.swap(fresh);     // At once, should another thread fork here.
      (void)fresh.release(); // Stays, for those who hold parts.
    });
  return state && state->guard ? state.get() : nullptr;
}

Result<TemporarySpace> ResourceManager::temporarySpace(Context context) {
  State *now = known();
  if (!now)
    return noMemory();
  std::unique_lock lock(now->mutex);
  Result<std::shared_ptr<Device>> device = now->find(context, lock);
  if (!device.isOk())
    return std::move(device.status());
  auto &spaces = (*device)->spaces;
  TemporarySpace handle;
  handle.space = spaces[(*device)->turn++ % spaces.size()].get();
  return handle;
}

/// A handle of `sequence`, or why there is none.
template <typename Handle>
Result<Handle> ResourceManager::handOut(Result<detail::Sequence *> sequence) {
  if (!sequence.isOk())
    return std::move(sequence.status());
  Handle handle;
  handle.sequence = *sequence;
  return handle;
}

Result<detail::Sequence *> ResourceManager::sequenceOf(Context context,
                                                       int kind) {
  State *now = known();
  if (!now)
    return noMemory();
  return now->sequenceOf(context, SequenceKind(kind));
}

Result<RandomResource> ResourceManager::random(Context context) {
  return handOut<RandomResource>(sequenceOf(context, RandomKind));
}

Result<ParallelRandom> ResourceManager::parallelRandom(Context context) {
  return handOut<ParallelRandom>(sequenceOf(context, ParallelKind));
}

Result<DropoutState> ResourceManager::dropoutState(Context context) {
  return handOut<DropoutState>(sequenceOf(context, DropoutKind));
}

Status ResourceManager::seed(Context context, uint64_t seed) {
  State *now = known();
  if (!now)
    return noMemory();
  std::shared_ptr<Device> device;
  {
    std::unique_lock lock(now->mutex);
    Result<std::shared_ptr<Device>> found = now->find(context, lock);
    if (!found.isOk())
      return std::move(found.status());
    device = std::move(*found);
  }
  return now->reseed(device, seed);
}

Status ResourceManager::seed(uint64_t seed) {
  State *now = known();
  if (!now)
    return noMemory();
  std::vector<std::shared_ptr<Device>> devices;
  {
    std::lock_guard lock(now->mutex);
    if (now->isClosed)
      return makeError(StatusCode::Unavailable, "the resources are closed");
    now->seed = seed;
    for (auto &[context, device] : now->devices)
      devices.push_back(device);
  }
  for (const auto &device : devices)
    DLC_RETURN_IF_ERROR(now->reseed(device, seed));
  return Status::ok();
}

Status ResourceManager::trim() {
  State *now = known();
  if (!now)
    return noMemory();
  std::vector<std::shared_ptr<Device>> devices;
  {
    std::lock_guard lock(now->mutex);
    for (auto &[context, device] : now->devices)
      devices.push_back(device);
  }
  for (const auto &device : devices)
    for (const auto &space : device->spaces)
      DLC_RETURN_IF_ERROR(now->engine.pushSync(
          [device, space = space.get()] {
            space->deviceMemory.reset();
            space->hostMemory.reset();
          },
          device->context, {}, {space->variable},
          {.name = "release temporary space"}));
  return Status::ok();
}

Status ResourceManager::close() {
  State *now = known();
  if (!now)
    return Status::ok(); // It has nothing to give back.
  std::map<Context, std::shared_ptr<Device>> devices;
  {
    std::lock_guard lock(now->mutex);
    now->isClosed = true;
    devices.swap(now->devices);
  }
  Status first;
  for (auto &[context, device] : devices) {
    Status status = now->deleteVariables(device);
    if (first.isOk())
      first = std::move(status);
  }
  return first;
}
