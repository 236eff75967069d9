// SPDX-License-Identifier: Apache-2.0
//
// What stands between callers and the core of an engine: it notices a fork().

#ifndef DLC_RUNTIME_ENGINE_SHELL_H
#define DLC_RUNTIME_ENGINE_SHELL_H

#include "Check.h"
#include "TextTable.h"
#include "dlc/runtime/Base/ForkGuard.h"

namespace dlc::rt {

/// An engine that refuses all calls in the child of a fork() until start()
/// gives it a fresh core. The core of the parent cannot be destroyed there: the
/// threads that it would join do not exist, and its state may be torn.
///
/// `Core` has a constructor `Core(Engine &, const EngineOptions &)`, a function
/// `Status initialise()` to call once, and those of Engine.
template <typename Core> class EngineShell final : public Engine {
public:
  static Result<std::unique_ptr<Engine>> create(const EngineOptions &options) {
    std::unique_ptr<EngineShell> shell(new (std::nothrow) EngineShell(options));
    if (!shell)
      return makeError(StatusCode::OutOfMemory, "no memory for an engine");
    DLC_RETURN_IF_ERROR(shell->makeCore());
    return std::unique_ptr<Engine>(std::move(shell));
  }

  ~EngineShell() override {
    if (guard && guard->isChild()) {
      (void)core.release();
      (void)texts.release();
    } else if (core) {
      (void)core->close().isOk();
    }
  }

  Result<Variable> newVariable(VariableKind kind) override {
    if (guard->isChild())
      return refuseChild();
    return core->newVariable(kind);
  }
  Status deleteVariable(Task function, Context context,
                        Variable variable) override {
    if (guard->isChild())
      return refuseChild();
    return core->deleteVariable(std::move(function), context, variable);
  }
  Result<Operator> newOperator(Task function, bool isAsync, VariableList reads,
                               VariableList writes,
                               const PushOptions &options) override {
    if (guard->isChild())
      return refuseChild();
    return core->newOperator(std::move(function), isAsync, reads, writes,
                             options);
  }
  Status deleteOperator(Operator operation) override {
    if (guard->isChild())
      return refuseChild();
    return core->deleteOperator(operation);
  }
  Status push(Operator operation, Context context, int priority) override {
    if (guard->isChild())
      return refuseChild();
    return core->push(operation, context, priority);
  }
  Status push(Task function, bool isAsync, Context context, VariableList reads,
              VariableList writes, const PushOptions &options) override {
    if (guard->isChild())
      return refuseChild();
    return core->push(function, isAsync, context, reads, writes, options);
  }
  Result<unsigned> setBulkSize(unsigned operations) override {
    if (guard->isChild())
      return refuseChild();
    return core->setBulkSize(operations);
  }
  Status waitForVariable(Variable variable, VariableUse use) override {
    if (guard->isChild())
      return refuseChild();
    return core->waitForVariable(variable, use);
  }
  Status waitForAll() override {
    if (guard->isChild())
      return refuseChild();
    return core->waitForAll();
  }
  Status stop() override {
    if (guard->isChild())
      return refuseChild();
    return core->stop();
  }
  Status start() override {
    return guard->isChild() ? makeCore() : core->start();
  }
  Status close() override {
    if (guard->isChild())
      return refuseChild();
    return core->close();
  }
  Result<uint64_t> version(Variable variable) override {
    if (guard->isChild())
      return refuseChild();
    return core->version(variable);
  }
  std::string dump() override {
    if (guard->isChild())
      return refuseChild().message() + "\n";
    return core->dump();
  }
  EngineStatistics statistics() override {
    if (guard->isChild())
      return {};
    return core->statistics();
  }
  const char *keepText(std::string_view text) override {
    // Whose lock a thread of the parent may have held.
    if (guard->isChild())
      return nullptr;
    return texts->keep(text);
  }

private:
  explicit EngineShell(const EngineOptions &options) : options(options) {}

  /// Changes nothing when it fails: a child stays one.
  Status makeCore() {
    std::unique_ptr<ForkGuard> newGuard(new (std::nothrow) ForkGuard);
    std::unique_ptr<TextTable> newTexts(new (std::nothrow) TextTable);
    std::unique_ptr<Core> newCore(new (std::nothrow) Core(*this, options));
    if (!newGuard || !newTexts || !newCore)
      return makeError(StatusCode::OutOfMemory, "no memory for an engine");
    DLC_RETURN_IF_ERROR(newCore->initialise());
    // In a child those of the parent are abandoned: the state of the core may
    // be torn, and the texts may be in use.
    (void)core.release();
    (void)texts.release();
    guard = std::move(newGuard);
    texts = std::move(newTexts);
    core = std::move(newCore);
    return Status::ok();
  }

  EngineOptions options;
  std::unique_ptr<ForkGuard> guard;
  std::unique_ptr<TextTable> texts;
  std::unique_ptr<Core> core;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_ENGINE_SHELL_H
