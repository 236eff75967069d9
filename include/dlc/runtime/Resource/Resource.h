// SPDX-License-Identifier: Apache-2.0
//
// What operations borrow while they run: temporary space and random numbers.
// Each is guarded by a variable of the engine, which an operation that uses it
// lists among those it writes; operations that share one then run one after
// the other, in the order of their pushes.
//
//   TemporarySpace space = *resources->temporarySpace(Context::cpu());
//   engine.pushSync([=] {
//     Result<void *> memory = space.reserve(bytes);
//     ...
//   }, Context::cpu(), {x}, {y, space.variable()});

#ifndef DLC_RUNTIME_RESOURCE_RESOURCE_H
#define DLC_RUNTIME_RESOURCE_RESOURCE_H

#include "dlc/runtime/Base/ForkGuard.h"
#include "dlc/runtime/Base/Random.h"
#include "dlc/runtime/Engine/Engine.h"
#include "dlc/runtime/Storage/Storage.h"

#include <cstdint>
#include <memory>
#include <span>

namespace dlc::rt {

namespace detail {
struct Space;
struct Sequence;
} // namespace detail

/// Memory for the time of one operation, kept for the next. A plain value, for
/// operations that are pushed while its manager is open.
class TemporarySpace {
public:
  Variable variable() const;

  /// At least `bytes` of the device, the same for all calls of one operation
  /// until one asks for more; the bytes are not initialised. Only in an
  /// operation that writes variable(), and valid until it has completed.
  /// Errors: those of StorageManager::allocate(), Unavailable (this process is
  /// a fork() of the one that asked for the space), InvalidArgument (an
  /// operation that does not write variable(), or none while no other does).
  Result<void *> reserve(size_t bytes) const;
  /// The same in memory of the host, for what goes to the device and back.
  Result<void *> reserveHost(size_t bytes) const;

private:
  friend class ResourceManager;
  detail::Space *space = nullptr;
};

/// A sequence of random numbers that operations draw while they run. The draws
/// of an operation depend on the seed and on the operations pushed before it,
/// and on nothing else.
class RandomResource {
public:
  Variable variable() const;
  /// The next `blocks` blocks (see blocksFor()). Only in an operation that
  /// writes variable(). The draws are a value: any number of threads of the
  /// operation may compute from them. Errors: Unavailable (this process is a
  /// fork() of the one that asked for the sequence), InvalidArgument as
  /// TemporarySpace::reserve().
  Result<RandomDraws> take(uint64_t blocks) const;

private:
  friend class ResourceManager;
  detail::Sequence *sequence = nullptr;
};

/// A sequence of random numbers that is drawn while operations are pushed, so
/// that they need not wait for each other. Each request for one gets another
/// sequence of its device: the draws depend on the seed, on how many requests
/// came before this one, and on the calls before. So threads that have one each
/// draw the same numbers in each run, if they got them in the same order.
class ParallelRandom {
public:
  /// The next `blocks` blocks, at any time and from any thread; copies of this
  /// share one sequence. Errors: InvalidArgument (more than 2^40 in all since
  /// the last seed), Unavailable as RandomResource::take().
  Result<RandomDraws> take(uint64_t blocks) const;

private:
  friend class ResourceManager;
  detail::Sequence *sequence = nullptr;
};

/// Which elements a dropout keeps, for the forward and the backward pass: not a
/// stored mask but where its bits are drawn from. A plain value.
struct DropoutMask {
  RandomDraws draws;
  double keepProbability = 1; ///< In (0, 1].

  /// out[i] = kept ? in[i] / keepProbability : 0 for elements `first` on of the
  /// whole tensor; `in` and `out` may be the same. Threads may share a tensor
  /// in any way.
  void apply(uint64_t first, std::span<const float> in,
             std::span<float> out) const;
};

/// Makes masks, from a sequence of its own as ParallelRandom has one.
class DropoutState {
public:
  /// The mask for the next tensor, of `count` elements. Errors: InvalidArgument
  /// (a probability that is not in (0, 1]), those of ParallelRandom::take().
  Result<DropoutMask> next(uint64_t count, double keepProbability) const;

private:
  friend class ResourceManager;
  detail::Sequence *sequence = nullptr;
};

struct ResourceOptions {
  /// Temporary spaces of each host device and of each other one. Requests get
  /// them in turn: more spaces let more operations run at once, and take more
  /// memory.
  unsigned hostSpaces = 4;
  unsigned deviceSpaces = 1;
  uint64_t seed = 0;
};

/// Hands out the resources of all devices. All functions may be called from any
/// thread.
///
/// In the child of a fork() it has none as at first, and gives out new ones of
/// the same seed; those that it gave out before refuse there.
class ResourceManager {
public:
  /// Borrows the engine, which outlives the manager. Shares the storage with
  /// the operations that use a resource, until the last of them is over.
  ResourceManager(Engine &engine, std::shared_ptr<Storage> storage,
                  const ResourceOptions &options = {});
  ~ResourceManager(); ///< Closes the manager.
  ResourceManager(const ResourceManager &) = delete;
  ResourceManager &operator=(const ResourceManager &) = delete;

  /// What these give out stays valid until the manager is closed, and takes
  /// memory until then. Errors of these: InvalidArgument (not a device),
  /// Unsupported (a device without storage), Unavailable (the manager is
  /// closed), OutOfMemory, those of Engine::newVariable().
  Result<TemporarySpace> temporarySpace(Context context);
  Result<RandomResource> random(Context context);
  Result<ParallelRandom> parallelRandom(Context context);
  Result<DropoutState> dropoutState(Context context);

  /// Starts the sequences of one device, or of all, and those yet to come there
  /// from the beginning of another seed. Operations pushed before keep theirs.
  /// Errors: those of Engine::pushSync().
  Status seed(Context context, uint64_t seed);
  Status seed(uint64_t seed);

  /// Gives the memory of all temporary spaces back to the storage, after the
  /// operations pushed before. Errors: those of Engine::pushSync().
  Status trim();

  /// Gives everything back after the operations pushed before; from then on
  /// requests are refused. Harmless when closed. Returns the first error of
  /// Engine::deleteVariable().
  Status close();

private:
  struct State;
  State *known();
  Result<detail::Sequence *> sequenceOf(Context context, int kind);
  template <typename Handle>
  static Result<Handle> handOut(Result<detail::Sequence *> sequence);
  ForkGuard guard;
  std::unique_ptr<State> state;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_RESOURCE_RESOURCE_H
