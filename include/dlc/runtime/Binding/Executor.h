// SPDX-License-Identifier: Apache-2.0
//
// An executor runs a network forward and backward on arrays that are bound to
// its variables. The model is MXNet's Executor: runs are pushed to the engine
// of the arrays and return at once, in order with all other operations on them.
//
//   auto executor = *Executor::bind(network, {.arguments = {a, b},
//                                             .gradients = {gradA, gradB}});
//   executor->forward(/*isTraining=*/true);
//   executor->backward();
//   executor->outputs()[0].copyToHost(values);

#ifndef DLC_RUNTIME_BINDING_EXECUTOR_H
#define DLC_RUNTIME_BINDING_EXECUTOR_H

#include "dlc/runtime/Binding/Network.h"
#include "dlc/runtime/NDArray/NDArray.h"

#include <functional>
#include <memory>
#include <span>

namespace dlc::rt {

class WorkerPool;

/// Arrays for a network's variables, in the order of their names.
struct Bindings {
  std::vector<NDArray> arguments;
  /// One for each argument, null for none; or no list at all.
  std::vector<NDArray> gradients;
  /// One for each argument, or none: Write where there is an array.
  std::vector<GradientRequest> requests;
  std::vector<NDArray> auxiliaryStates;
};

class Executor;

struct ExecutorOptions {
  /// Shares large kernels among its workers; borrowed, outlives the executor
  /// and what it pushed. Null: the engine's thread alone.
  WorkerPool *workers = nullptr;
  /// Another executor whose memory for transient values this one uses, too: its
  /// runs and those of this one then never overlap, and one thread at a time
  /// may use either. Null: memory of its own.
  const Executor *shared = nullptr;
  /// Another executor of the same network whose compiled programs this one
  /// uses, too; null: those of `shared`, or its own.
  const Executor *programs = nullptr;
  /// Where random numbers of runs for training begin: executors of one seed draw
  /// the same.
  uint64_t seed = 0;
};

struct ReshapeOptions {
  /// Allows that shapes of variables change that were not given.
  bool allowsOthers = false;
  /// Allows that an array grows; it is a new one then.
  bool allowsGrowth = false;
};

/// For one thread at a time, together with all that share memory with it, as
/// those that reshape() makes do. Arrays that it was given or gives out are handles:
/// what is done with them is ordered with its runs by the engine. May be
/// destroyed while its runs are under way.
///
/// Errors found by compiling or checking are returned; those of a run travel
/// with the arrays that it writes.
class Executor {
public:
  ~Executor();
  Executor(const Executor &) = delete;
  Executor &operator=(const Executor &) = delete;

  /// Binds arrays: the argument list has one array for each name, all of one
  /// engine and on one host device, or, for a network on several devices
  /// (Network::isPlaced()), on any of them. A gradient has type and shape of
  /// its argument. Auxiliary states overlap nothing else that is bound,
  /// gradients at most arguments: they are written when those have been read.
  /// Checks everything that can be without running, and writes no array.
  /// Errors: InvalidArgument (it names the variable, what was expected and
  /// found), Unsupported, those of Network::check().
  static Result<std::unique_ptr<Executor>>
  bind(std::shared_ptr<const Network> network, Bindings bindings,
       const ExecutorOptions &options = {});

  /// Binds new arrays of zeros: for arguments and states of the types that
  /// follow from `known`, and gradients where `requests` (by name; those that
  /// it does not name get `otherwise`) asks for them. Arguments that are not of
  /// floats have none. Arrays of variables in a group that has a device are on
  /// that, and so are outputs; all others are on `context`.
  static Result<std::unique_ptr<Executor>> simpleBind(
      std::shared_ptr<const Network> network,
      const std::shared_ptr<ArrayRuntime> &runtime, const KnownVariables &known,
      GradientRequest otherwise = GradientRequest::Write,
      const std::map<std::string, GradientRequest> &requests = {},
      Context context = Context::cpu(), const ExecutorOptions &options = {});

  const Network &network() const;

  /// Pushes a run forward. For training, auxiliary states are updated, and what
  /// backward() needs is saved. Errors: those of compiling a program, once.
  Status forward(bool isTraining = false);

  /// Pushes a run backward, from the last forward(true). `heads` are the
  /// gradients of the outputs, one each and null for those that are not of
  /// floats; none at all stand for ones. Outputs of loss layers do not read
  /// theirs. Errors: InvalidArgument (no forward(true) before, heads that do
  /// not fit).
  Status backward(std::span<const NDArray> heads = {});

  /// Both at once, as one program: it needs less memory and time.
  Status forwardBackward(std::span<const NDArray> heads = {});

  // The arrays; those of outputs stay the same from run to run.
  std::span<const NDArray> outputs() const;
  std::span<const NDArray> arguments() const;
  std::span<const NDArray> gradients() const; ///< Null where not requested.
  std::span<const NDArray> auxiliaryStates() const;
  /// By name. Errors: NotFound, which lists the names.
  Result<NDArray> output(const std::string &name) const;
  Result<NDArray> argument(const std::string &name) const;
  Result<NDArray> gradient(const std::string &name) const;
  Result<NDArray> auxiliaryState(const std::string &name) const;

  /// Copies values into the arrays of those names, which are all checked before
  /// one is written. Errors: InvalidArgument (another type or shape), NotFound
  /// (an unknown name, unless `allowsUnknown`).
  Status copyParameters(const std::map<std::string, NDArray> &arguments,
                        const std::map<std::string, NDArray> &states = {},
                        bool allowsUnknown = false);

  /// An executor for other shapes of some variables. Arrays whose shape stays
  /// are the same; those that fit their former memory are views of it; memory
  /// for transient values is shared, and so are compiled programs: back to a
  /// former shape nothing is compiled. Errors: InvalidArgument (a change that
  /// `options` does not allow), those of bind().
  Result<std::unique_ptr<Executor>>
  reshape(const std::map<std::string, std::vector<int64_t>> &shapes,
          const ReshapeOptions &options = {}) const;

  /// Is told of the outputs of every node, by name, in each forward() and
  /// forwardBackward(), as soon as they are pushed; of variables too when
  /// `tellsVariables`. They come from one more program, which computes as
  /// inference does, and is run as long as there is a monitor. An empty
  /// function ends that.
  using Monitor = std::function<void(const std::string &, const NDArray &)>;
  void setMonitor(Monitor monitor, bool tellsVariables = false);

  /// The network, and what is planned: bytes of each program compiled so far
  /// and of what they share, for people.
  std::string describe() const;

private:
  struct State;
  explicit Executor(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_BINDING_EXECUTOR_H
