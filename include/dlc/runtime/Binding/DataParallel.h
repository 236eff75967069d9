// SPDX-License-Identifier: Apache-2.0
//
// A network on several devices, each of which computes a part of the batch.
// After MXNet's DataParallelExecutorGroup (python/mxnet/module/
// executor_group.py): parts by workload, values of parameters go out, gradients
// come back and are summed.
//
//   auto executor = *DataParallelExecutor::simpleBind(
//       network, runtime, {.shapes = {{"data", {32, 10}}}, .types = {}},
//       {.devices = {Context::cpu(0), Context::cpu(1)}, .batched = {"data"}});
//   executor->argument("data")->copyFromHost(values);
//   executor->forwardBackward();
//   executor->gradient("weight")->copyToHost(sum);

#ifndef DLC_RUNTIME_BINDING_DATAPARALLEL_H
#define DLC_RUNTIME_BINDING_DATAPARALLEL_H

#include "dlc/runtime/Binding/Executor.h"

namespace dlc::rt {

/// Rows of a batch, `end` not included.
struct BatchRows {
  int64_t begin, end;

  bool operator==(const BatchRows &) const = default;
};

/// Divides a batch by workload: borders are the nearest rows. Errors:
/// InvalidArgument (no workload, one that is not above 0 or not finite, a part
/// without rows).
Result<std::vector<BatchRows>> splitBatch(int64_t rows,
                                          std::span<const double> workloads);

struct DataParallelOptions {
  /// Where the parts run, of the host; at least one. The first holds the arrays
  /// of the whole.
  std::vector<Context> devices;
  /// The share of each device, finite and above 0; none: equal ones.
  std::vector<double> workloads;
  /// The arguments that have the batch in their first dimension, each once.
  std::vector<std::string> batched;
  /// As ExecutorOptions; the executor of device i begins at `seed` + i.
  WorkerPool *workers = nullptr;
  uint64_t seed = 0;
  /// Of the programs of each device.
  int64_t memoryBudget = 0;
};

/// Its arrays are those of the whole, on the first device: callers write
/// arguments and read outputs, gradients and states as those of an Executor.
///
/// A run forward sends values to the other devices, those that were written
/// since the last time, and takes the rows of their outputs back. Nobody can
/// tell when memory is written that the arrays adopted or handed on (DLPack):
/// that is sent each time. A run backward sums gradients, each in one operation
/// and in the order of the devices, so that equal runs give equal bits. All
/// that is pushed and goes on while devices compute: a sum starts as soon as
/// its last term is there (ExecutorOptions::releasesEarly), in a per-device
/// engine's lane for urgent work. Among those that could, the one of the
/// argument in front starts first, for the next run forward needs that first
/// (as MXNet's priority=-index in python/mxnet/model.py).
///
/// Batch normalisation sees the parts, as in MXNet. Each part updates auxiliary
/// states from those of the whole, which then become the mean of what the parts
/// give, each part counted once: what DataParallelExecutorGroup.get_params()
/// reads out, computed after each run for training.
class DataParallelExecutor final : public BoundNetwork {
public:
  ~DataParallelExecutor() override;

  /// Binds arrays of the whole, all on the first device. Writes none of them.
  /// Errors: those of Executor::bind() and splitBatch(); InvalidArgument (no
  /// device, one that is none, workloads that are not one for each, `batched`
  /// arguments that are none, are named twice or differ in their first
  /// dimension, arrays on another device, another argument whose shape depends
  /// on the batch), Unsupported (devices that are not the host's, an output
  /// without a row for each of its part's, auxiliary states and gradients that
  /// cannot be added, a network on devices of its own).
  static Result<std::unique_ptr<DataParallelExecutor>>
  bind(std::shared_ptr<const Network> network, Bindings whole,
       const DataParallelOptions &options);

  /// Binds new arrays of zeros, as Executor::simpleBind(); `known` tells the
  /// types of the whole.
  static Result<std::unique_ptr<DataParallelExecutor>>
  simpleBind(std::shared_ptr<const Network> network,
             const std::shared_ptr<ArrayRuntime> &runtime,
             const KnownVariables &known, const DataParallelOptions &options,
             GradientRequest otherwise = GradientRequest::Write,
             const std::map<std::string, GradientRequest> &requests = {});

  /// The rows of each device.
  std::span<const BatchRows> rows() const;

  // Of the whole. Nothing is pushed when one of these fails to compile or its
  // heads do not fit.
  const Network &network() const override;
  Status forward(bool isTraining = false) override;
  Status backward(std::span<const NDArray> heads = {}) override;
  Status forwardBackward(std::span<const NDArray> heads = {}) override;
  std::span<const NDArray> outputs() const override;
  std::span<const NDArray> arguments() const override;
  std::span<const NDArray> gradients() const override;
  std::span<const NDArray> auxiliaryStates() const override;
  /// Tells of each part, in the order of the devices: arrays are those of the
  /// part, on its device. Each part tells of all its nodes before the next
  /// one's run is pushed.
  void setMonitor(Monitor monitor, bool tellsVariables = false) override;
  /// The network, and for each device its rows and programs.
  std::string describe() const override;

  /// An executor for other shapes of some variables, as Executor::reshape();
  /// the batch is divided anew by the same workloads. Arrays of the whole are
  /// kept, or become views, as there; so are those of the parts, which may
  /// always grow. Both executors are for one thread at a time. Errors: also
  /// those of bind().
  Result<std::unique_ptr<DataParallelExecutor>>
  reshape(const std::map<std::string, std::vector<int64_t>> &shapes,
          const ReshapeOptions &options = {}) const;

  /// Bytes of arguments and states that completed runs have sent to devices.
  uint64_t sentBytes() const;

private:
  struct State;
  explicit DataParallelExecutor(std::unique_ptr<State> state);
  static Result<std::unique_ptr<DataParallelExecutor>>
  make(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_BINDING_DATAPARALLEL_H
