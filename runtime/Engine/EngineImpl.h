// SPDX-License-Identifier: Apache-2.0
//
// What stands behind an Engine: the threaded core or the naive one.

#ifndef DLC_RUNTIME_ENGINE_ENGINEIMPL_H
#define DLC_RUNTIME_ENGINE_ENGINEIMPL_H

#include "dlc/runtime/Engine/Engine.h"

namespace dlc::rt {

/// The functions mean what those of Engine do, but know nothing of fork(): the
/// Engine notices it and calls none of them then. What a push does not take of
/// its function is left to the caller, who destroys it. close() leaves errors
/// of operations to waits.
class EngineImpl {
public:
  virtual ~EngineImpl() = default;

  /// Starts it; called once, before all others.
  virtual Status initialise() = 0;

  virtual Result<Variable> newVariable(VariableKind kind,
                                       VariableOwner owner) = 0;
  virtual bool isOfRuntime(Variable variable) = 0;
  virtual Status deleteVariable(Task function, Context context,
                                Variable variable) = 0;
  virtual Result<Operator> newOperator(Task function, bool isAsync,
                                       VariableList reads, VariableList writes,
                                       const PushOptions &options) = 0;
  virtual Status deleteOperator(Operator operation) = 0;
  virtual Status push(Operator operation, Context context, int priority) = 0;
  virtual Status push(Task &function, bool isAsync, Context context,
                      const VariableList &reads, const VariableList &writes,
                      const PushOptions &options) = 0;
  virtual Status release(const RunContext &run, Variable variable) = 0;
  virtual Result<unsigned> setBulkSize(unsigned operations) = 0;
  virtual Status waitForVariable(Variable variable, VariableUse use) = 0;
  virtual Status waitForAll() = 0;
  virtual Status stop() = 0;
  virtual Status start() = 0;
  virtual Status close() = 0;
  /// The caller was told what close() gave up: waits do not tell it again.
  virtual void forgetGivenUp() = 0;
  virtual Result<uint64_t> version(Variable variable) = 0;
  virtual bool isCalledInside() = 0;
  /// The operation that the calling thread is in, for people.
  virtual std::string describeInside() = 0;
  virtual bool isWriting(Variable variable) = 0;
  virtual bool isHolding(Variable variable, VariableUse use) = 0;
  virtual std::string dump() = 0;
  virtual EngineStatistics statistics() = 0;
};

/// Null when there is no memory. `engine` is what functions are told of.
std::unique_ptr<EngineImpl> makeThreadedImpl(Engine &engine,
                                             const EngineOptions &options);
std::unique_ptr<EngineImpl> makeNaiveImpl(Engine &engine,
                                          const EngineOptions &options);

} // namespace dlc::rt

#endif // DLC_RUNTIME_ENGINE_ENGINEIMPL_H
