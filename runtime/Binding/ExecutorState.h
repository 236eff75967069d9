// SPDX-License-Identifier: Apache-2.0
//
// What an executor holds, and what it shares with others of its network.

#ifndef DLC_RUNTIME_BINDING_EXECUTORSTATE_H
#define DLC_RUNTIME_BINDING_EXECUTORSTATE_H

#include "dlc/runtime/Base/ForkGuard.h"
#include "dlc/runtime/Base/Shared.h"
#include "dlc/runtime/Binding/Executor.h"
#include "dlc/runtime/Executor/Execution.h"
#include "dlc/runtime/Executor/Program.h"
#include "dlc/runtime/NDArray/Access.h"

#include <mutex>
#include <new>
#include <optional>

namespace dlc::rt {

inline Status noMemory() {
  return makeError(StatusCode::OutOfMemory, "no memory for an executor");
}

/// A compiled program and what its ports are.
struct LoadedProgram {
  AlignedBuffer bytes; ///< What the program lives in.
  std::vector<PortUse> inputs, outputs;
  std::vector<std::string> internals; ///< Names.
  std::unique_ptr<Program> program;
};

/// Programs of one network, each compiled once. Thread-safe. Refuses in the
/// child of a fork(), where another thread may have been compiling; the arrays
/// of the executor's runs are not known there either.
class ProgramCache {
public:
  ~ProgramCache() {
    if (guard.isChild()) [[unlikely]]
      (void)cached.release(); // Maybe in the middle of a change.
  }

  Result<std::shared_ptr<const LoadedProgram>>
  get(const Network &network, const ProgramRequest &request);

private:
  const ForkGuard guard;
  struct Cached {
    std::mutex mutex; ///< Guards `programs`, also while one is compiled.
    std::map<std::string, std::shared_ptr<const LoadedProgram>> programs;
  };
  std::unique_ptr<Cached> cached{new (std::nothrow) Cached};
};

/// Memory that executors share, with the variable that keeps their runs apart.
struct SharedMemory {
  explicit SharedMemory(std::shared_ptr<ArrayRuntime> home, Variable variable)
      : home(std::move(home)), variable(variable) {}
  SharedMemory(const SharedMemory &) = delete;
  /// Pushed after the runs that use it; the engine refuses only where there
  /// will be none.
  ~SharedMemory() { (void)home->engine().deleteVariable(variable).isOk(); }

  static Result<std::shared_ptr<SharedMemory>>
  create(const std::shared_ptr<ArrayRuntime> &home);

  std::shared_ptr<ArrayRuntime> home;
  Variable variable;
  SharedArenas arenas;
};

/// A program of an executor that is ready to run. Runs that were pushed keep
/// program and execution.
struct PreparedProgram {
  std::shared_ptr<const LoadedProgram> loaded;
  std::shared_ptr<Execution> execution; ///< Ends before `loaded`.
  std::vector<NDArray> saved;     ///< By Forward; one for each of its ports.
  std::vector<NDArray> internals; ///< Likewise.
};

struct Executor::State {
  std::shared_ptr<const Network> network;
  Bindings bindings; ///< Complete: one gradient and request per argument.
  Bindings bases;    ///< What the arrays of `bindings` are, or are views of.
  NetworkTypes types;
  Context context; ///< Where is what belongs to no group.
  std::vector<NDArray> outputs;
  WorkerPool *workers = nullptr;
  std::shared_ptr<ProgramCache> programs;
  std::shared_ptr<SharedMemory> memory;

  std::map<ProgramForm, PreparedProgram> prepared;
  std::vector<NDArray> ones; ///< Gradients of outputs that nobody gives.
  /// Arguments that each run forward fills with ones.
  std::vector<NDArray> fixed;
  uint64_t seed = 0;
  NDArray random; ///< The state of random numbers, where a program has one.
  bool hasForward = false; ///< backward() may follow.
  Monitor monitor;
  bool tellsVariables = false;
  bool releasesEarly = false;
  int64_t memoryBudget = 0;

  /// Executor::bind(), with what belongs to no group on `context` and new
  /// arrays of `home`, if given.
  static Result<std::unique_ptr<Executor>>
  bind(std::shared_ptr<const Network> network, Bindings bindings,
       const ExecutorOptions &options, std::optional<Context> context,
       std::shared_ptr<ArrayRuntime> home);
  /// An executor of other arrays, of the network's `types`, which goes on where
  /// `former` is: with its memory, programs and random numbers.
  static Result<std::unique_ptr<Executor>> succeed(const Executor &former,
                                                   Bindings bindings,
                                                   Bindings bases,
                                                   NetworkTypes types);
  /// Makes what is still missing of an executor.
  static Result<std::unique_ptr<Executor>>
  finish(std::unique_ptr<State> state,
         const std::shared_ptr<ArrayRuntime> &home, const Executor *shared,
         const Executor *programs);

  bool hasGradients() const;
  void findFixed();
  Status fillFixed() const;
  ProgramRequest request(ProgramForm form) const;
  Result<PreparedProgram *> prepare(ProgramForm form);
  Status makeRandom(const LoadedProgram &loaded);
  /// The array of a port; null where there is none.
  NDArray arrayOf(const PreparedProgram &program, PortUse use,
                  std::span<const NDArray> heads) const;
  Status push(const PreparedProgram &program, ProgramForm form,
              std::span<const NDArray> heads);
  Status run(ProgramForm form, std::span<const NDArray> heads = {});
  /// Of what the run that follows computes.
  Status tellMonitor(bool isTraining);
  /// `heads`, or ones where there are none; checked.
  Result<std::vector<NDArray>> completeHeads(std::span<const NDArray> heads);
};

/// "a, b, c".
std::string joinNames(const std::vector<std::string> &names);
bool sameType(const TensorType &one, const TensorType &other);
/// "argument 'x': message".
Status badArray(const char *what, const std::string &name,
                const std::string &message);
/// The array that others are measured against; null where none is bound.
const NDArray *firstOf(const Bindings &bindings);
/// That the arrays can be bound; completes what says nothing of gradients.
Status checkBindings(const Network &network, Bindings &bindings);
/// That these are gradients of the outputs: one for each, of the same type, and
/// maybe null for one that is not of floats.
Status checkHeads(const Network &network, std::span<const NDArray> outputs,
                  std::span<const NDArray> heads);
/// Types of all variables that have arrays.
KnownVariables knownOf(const Network &network, const Bindings &bindings);
/// New arrays of zeros, as Executor::simpleBind() binds them.
Result<Bindings> makeBindings(
    const Network &network, const std::shared_ptr<ArrayRuntime> &runtime,
    const KnownVariables &known, GradientRequest otherwise,
    const std::map<std::string, GradientRequest> &requests, Context context);
/// Gives bound arrays the types that follow from other `shapes`, in the memory
/// of their bases where they fit: reshape().
Status
reshapeBindings(const Network &network, const NetworkTypes &types,
                const std::map<std::string, std::vector<int64_t>> &shapes,
                const ReshapeOptions &options, Bindings &bindings,
                Bindings &bases);
/// The types that follow from other `shapes` of some variables and the element
/// types of all.
Result<NetworkTypes>
inferWith(const Network &network, const Bindings &bindings,
          const std::map<std::string, std::vector<int64_t>> &shapes);
/// An array of zeros.
Result<NDArray> makeZeros(const std::shared_ptr<ArrayRuntime> &runtime,
                          const TensorType &type, Context context);

} // namespace dlc::rt

#endif // DLC_RUNTIME_BINDING_EXECUTORSTATE_H
