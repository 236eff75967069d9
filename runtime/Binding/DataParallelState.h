// SPDX-License-Identifier: Apache-2.0
//
// What an executor of parts holds.

#ifndef DLC_RUNTIME_BINDING_DATAPARALLELSTATE_H
#define DLC_RUNTIME_BINDING_DATAPARALLELSTATE_H

#include "dlc/runtime/Base/Shared.h"
#include "dlc/runtime/Binding/DataParallel.h"

#include "Combine.h"
#include "ExecutorState.h"

namespace dlc::rt {

/// What one device computes.
struct BatchPart {
  BatchRows rows;
  std::unique_ptr<Executor> executor;
  /// What its arrays have of those of the whole, one each; none at all where
  /// they are the same.
  std::vector<std::shared_ptr<SentValues>> sentArguments, sentStates;

  int64_t count() const { return rows.end - rows.begin; }
  /// The rows of an array of the whole.
  Result<NDArray> take(const NDArray &array) const {
    return array.slice(rows.begin, rows.end);
  }
};

struct DataParallelExecutor::State {
  std::shared_ptr<const Network> network;
  DataParallelOptions options;
  std::vector<BatchRows> rows;
  Bindings whole; ///< Complete.
  Bindings bases; ///< What the arrays of `whole` are, or are views of.
  std::vector<TensorType> outputTypes;
  std::vector<NDArray> outputs;
  std::vector<bool> isBatched; ///< One for each argument.
  std::vector<BatchPart> parts;
  /// Bytes that went to parts: see DataParallelExecutor::sentBytes().
  std::shared_ptr<std::atomic<uint64_t>> sentBytes =
      makeShared<std::atomic<uint64_t>>(0);
  bool hasMonitor = false;

  Status checkSums() const;
  Result<int64_t> findBatch();
  Status addOutputs();
  /// Makes all that follows from `network`, `options` and `whole`; out of the
  /// parts of `former`, if given.
  Status addParts(const State *former);
  Status addPart(size_t index, const BatchPart *former);
  Result<std::unique_ptr<Executor>> bindPart(size_t index,
                                             const BatchPart &part,
                                             NetworkTypes types,
                                             const BatchPart *former);
  Result<Bindings> makeBindings(const BatchPart &part,
                                const NetworkTypes &types);
  Result<NetworkTypes> inferPart(const BatchPart &part) const;
  Status checkPart(const BatchPart &part, const NetworkTypes &types) const;

  bool hasGradients() const;
  Status compile(ProgramForm form);
  Status compileOne(ProgramForm form);
  /// Those of the argument in front are wanted first.
  int priorityOf(size_t argument) const {
    return static_cast<int>(whole.arguments.size() - argument);
  }
  Status scatter();
  Status gatherOutputs();
  Status sumGradients();
  Status joinRows(const BatchPart &part, size_t argument);
  Status averageStates();
  /// For each part, the rows of its gradients of outputs; checked.
  Result<std::vector<std::vector<NDArray>>>
  split(std::span<const NDArray> heads) const;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_BINDING_DATAPARALLELSTATE_H
