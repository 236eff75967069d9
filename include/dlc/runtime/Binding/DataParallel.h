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
  /// The share of each device; none: equal ones.
  std::vector<double> workloads;
  /// The arguments that have the batch in their first dimension.
  std::vector<std::string> batched;
  /// By the names of arguments, as in Executor::simpleBind().
  GradientRequest otherwise = GradientRequest::Write;
  std::map<std::string, GradientRequest> requests;
  /// As ExecutorOptions; the executor of device i begins at `seed` + i.
  WorkerPool *workers = nullptr;
  uint64_t seed = 0;
};

/// For one thread at a time. Its arrays are those of the whole, on the first
/// device: callers write arguments and read outputs, gradients and states as
/// those of an Executor.
///
/// Everything is pushed: values go to the other devices before each run
/// forward, and what a device gives comes back as soon as it has run. Those
/// copies and sums go before runs that wait on the same device, those of
/// arguments in front before others. Gradients are summed in the order of the
/// devices, so that equal runs give equal bits.
///
/// Batch normalisation sees the parts, as in MXNet; auxiliary states are those
/// that the first device's part gives.
class DataParallelExecutor {
public:
  ~DataParallelExecutor();
  DataParallelExecutor(const DataParallelExecutor &) = delete;
  DataParallelExecutor &operator=(const DataParallelExecutor &) = delete;

  /// Binds new arrays of zeros. `known` tells the shapes of the whole. Errors:
  /// those of Executor::simpleBind() and splitBatch(); InvalidArgument (no
  /// device, workloads that are not one for each, `batched` arguments that are
  /// none, differ in their first dimension or have no shape in `known`,
  /// another argument whose shape depends on the batch), Unsupported (an output
  /// that has no row for each of its part's).
  static Result<std::unique_ptr<DataParallelExecutor>>
  simpleBind(std::shared_ptr<const Network> network,
             const std::shared_ptr<ArrayRuntime> &runtime,
             const KnownVariables &known, const DataParallelOptions &options);

  const Network &network() const;
  /// The rows of each device.
  std::span<const BatchRows> rows() const;

  // As those of Executor; heads are gradients of the whole outputs.
  Status forward(bool isTraining = false);
  Status backward(std::span<const NDArray> heads = {});
  Status forwardBackward(std::span<const NDArray> heads = {});

  std::span<const NDArray> outputs() const;
  std::span<const NDArray> arguments() const;
  std::span<const NDArray> gradients() const; ///< Null where not requested.
  std::span<const NDArray> auxiliaryStates() const;
  /// By name. Errors: NotFound.
  Result<NDArray> argument(const std::string &name) const;
  Result<NDArray> gradient(const std::string &name) const;

private:
  struct State;
  explicit DataParallelExecutor(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_BINDING_DATAPARALLEL_H
