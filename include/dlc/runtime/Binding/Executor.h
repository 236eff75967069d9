// SPDX-License-Identifier: Apache-2.0
//
// An executor runs a network forward and backward on arrays that are bound to
// its variables. The model is MXNet's Executor.
//
//   auto executor = *Executor::bind(network, {.arguments = {a, b},
//                                             .gradients = {gradA, gradB}});
//   executor->forward(/*isTraining=*/true);
//   executor->backward();
//   executor->outputs()[0].copyToHost(values);

#ifndef DLC_RUNTIME_BINDING_EXECUTOR_H
#define DLC_RUNTIME_BINDING_EXECUTOR_H

#include "dlc/runtime/Binding/BoundNetwork.h"

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
  /// and what it pushed. Null: one thread for each device and stream.
  WorkerPool *workers = nullptr;
  /// Another executor whose memory for transient values this one uses, too: its
  /// runs and those of this one then never overlap, and one thread at a time
  /// may use either. Null: memory of its own.
  const Executor *shared = nullptr;
  /// Another executor of the same network whose compiled programs this one
  /// uses, too; null: those of `shared`, or its own.
  const Executor *programs = nullptr;
  /// Where random numbers of runs for training begin: executors of one seed
  /// draw the same.
  uint64_t seed = 0;
  /// A run gives each array back to the engine when it is over with it, not
  /// all at its end: what waits for one, as the sum of a gradient with those of
  /// other devices, starts while the run goes on. Takes the engine's lock once
  /// for each array. Not arrays that share memory with others of the run.
  bool releasesEarly = false;
  /// Bytes that each program may keep transient values in, at least 0: what
  /// does not fit is computed again, so that runs take longer; 0: no limit. The
  /// program that tells a monitor of every value keeps all, so it has none. A
  /// step (forwardBackward()) is planned as one and needs least; what forward()
  /// saves for backward() counts for both. A run that has
  /// no program within it fails and names the least budget that has one;
  /// compile() finds that out before. Compiling takes longer.
  int64_t memoryBudget = 0;
};

struct ReshapeOptions {
  /// Allows that shapes of variables change that were not given.
  bool allowsOthers = false;
  /// Allows that an array grows; it is a new one then.
  bool allowsGrowth = false;
};

/// For one thread at a time, together with all that share memory with it, as
/// those that reshape() makes do. Arrays that it was given or gives out are
/// handles: what is done with them is ordered with its runs by the engine.
///
/// With gradients, a run forward fills arguments with ones that the network
/// takes as such (Network::fixedArguments()): a `gamma` that `fix_gamma` fixes,
/// where MXNet writes it too. Those in memory that is only read keep what they
/// hold, which changes no result.
class Executor final : public BoundNetwork {
public:
  ~Executor() override;

  /// Binds arrays: the argument list has one array for each name (at least one,
  /// for they tell the engine; simpleBind() takes any network), all of one
  /// engine and on one host device, or, for a network on several devices
  /// (Network::isPlaced()), on any of them. A gradient has type and shape of
  /// its argument. Auxiliary states and gradients that are added to overlap
  /// nothing else that is bound, other gradients at most arguments: they are
  /// written when those have been read.
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

  const Network &network() const override;
  Status forward(bool isTraining = false) override;
  Status backward(std::span<const NDArray> heads = {}) override;
  Status forwardBackward(std::span<const NDArray> heads = {}) override;
  std::span<const NDArray> outputs() const override;
  std::span<const NDArray> arguments() const override;
  std::span<const NDArray> gradients() const override;
  std::span<const NDArray> auxiliaryStates() const override;
  /// The network, and bytes of each program compiled so far and of what they
  /// share.
  std::string describe() const override;
  /// The second part of that.
  std::string describePrograms() const;

  /// Compiles a program now and not in its first run. Errors: those of
  /// compiling it (Network::compile()).
  Status compile(ProgramForm form);

  /// An executor for other shapes of some variables. Arrays whose shape stays
  /// are the same; those that fit their former memory are views of it; memory
  /// for transient values is shared, and so are compiled programs: back to a
  /// former shape nothing is compiled. Errors: InvalidArgument (a change that
  /// `options` does not allow), those of bind().
  Result<std::unique_ptr<Executor>>
  reshape(const std::map<std::string, std::vector<int64_t>> &shapes,
          const ReshapeOptions &options = {}) const;

  void setMonitor(Monitor monitor, bool tellsVariables = false) override;

private:
  friend class DataParallelExecutor; // Makes executors of parts again.
  struct State;
  explicit Executor(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_BINDING_EXECUTOR_H
