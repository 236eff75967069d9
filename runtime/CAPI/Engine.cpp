// SPDX-License-Identifier: Apache-2.0

#include "dlc-c/Engine.h"

#include "Push.h"
#include "dlc/runtime/CAPI/Status.h"
#include "dlc/runtime/Engine/Engine.h"

using namespace dlc::rt;

struct DlcCompletionImpl {
  Completion completion;
};

static_assert(DLC_DEVICE_NULL == int(DeviceKind::Null) &&
              DLC_DEVICE_CPU == int(DeviceKind::CPU) &&
              DLC_DEVICE_CUDA == int(DeviceKind::CUDA) &&
              DLC_DEVICE_CPU_PINNED == int(DeviceKind::CPUPinned) &&
              DLC_DEVICE_CPU_SHARED == int(DeviceKind::CPUShared));
static_assert(DLC_OPERATION_CPU_PRIORITIZED ==
                  int(OperationProperty::CPUPrioritized) &&
              DLC_OPERATION_NO_SKIP == int(OperationProperty::NoSkip));

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static Variable toVariable(DlcVariable variable) {
  return {variable.index, variable.stamp};
}

namespace {

/// Data of the caller with the function that ends it.
class OwnedData {
public:
  OwnedData(void *data, DlcDataDestroy destroy)
      : data(data), destroy(destroy) {}
  OwnedData(OwnedData &&other) noexcept
      : data(other.data), destroy(std::exchange(other.destroy, nullptr)) {}
  ~OwnedData() {
    if (destroy)
      destroy(data);
  }
  void *get() const { return data; }

private:
  void *data;
  DlcDataDestroy destroy;
};

/// The run whose function this thread is in, for dlcRunCurrent().
thread_local const RunContext *currentRun = nullptr;

class RunScope {
public:
  explicit RunScope(const RunContext &run)
      : outer(std::exchange(currentRun, &run)) {}
  ~RunScope() { currentRun = outer; }
  RunScope(const RunScope &) = delete;

private:
  const RunContext *outer; ///< The naive engine runs pushes at once.
};

struct SyncFunction {
  DlcFunction function;
  OwnedData data;
  Status operator()(const RunContext &run) noexcept {
    RunScope scope(run);
    return unwrap(function(data.get(), fromContext(run.context)));
  }
};

struct AsyncFunction {
  DlcAsyncFunction function;
  OwnedData data;
  void operator()(const RunContext &run, Completion completion) noexcept {
    RunScope scope(run);
    auto *handle = new (std::nothrow) DlcCompletionImpl{std::move(completion)};
    if (handle) // Otherwise the completion ends with an error.
      function(data.get(), fromContext(run.context), handle);
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Observers
//===----------------------------------------------------------------------===//

namespace {

/// Tells a profiler and functions of the caller, each of which may be null.
class Observers : public EngineObserver {
public:
  explicit Observers(const DlcEngineOptions &options)
      : profiler(options.profiler ? options.profiler->profiler : nullptr),
        start(options.onStart), finish(options.onFinish),
        data(options.observerData) {}
  bool areNone() const { return !profiler && !start && !finish; }

  void onStart(const OperationInfo &operation) noexcept override {
    if (start) {
      DlcOperationInfo info = describe(operation);
      start(data, &info);
    }
    if (profiler)
      profiler->onStart(operation);
  }
  void onFinish(const OperationInfo &operation,
                const Status &status) noexcept override {
    if (profiler)
      profiler->onFinish(operation, status);
    if (finish) {
      DlcOperationInfo info = describe(operation);
      finish(data, &info, DlcStatusCode(status.code()),
             status.message().c_str());
    }
  }

private:
  static DlcOperationInfo describe(const OperationInfo &operation) {
    return {operation.id,
            operation.name,
            operation.origin,
            fromContext(operation.context),
            DlcOperationProperty(operation.property),
            operation.priority,
            operation.worker};
  }

  const std::shared_ptr<Profiler> profiler;
  void (*const start)(void *, const DlcOperationInfo *);
  void (*const finish)(void *, const DlcOperationInfo *, DlcStatusCode,
                       const char *);
  void *const data;
};

/// An engine with those that it tells.
struct ObservedEngine {
  Observers observers;
  std::unique_ptr<Engine> engine;
};

} // namespace

//===----------------------------------------------------------------------===//
// Life
//===----------------------------------------------------------------------===//

/// `known` becomes what the caller gave.
static Status readEngineOptions(const DlcEngineOptions &given,
                                DlcEngineOptions &known,
                                EngineOptions &options) {
  DLC_RETURN_IF_ERROR(readOptions(given, known));
  if (known.profiler)
    DLC_RETURN_IF_ERROR(checkProfiler(known.profiler));
  if (unsigned(known.kind) > DLC_ENGINE_NAIVE)
    return outOfRange("a kind of engine", known.kind);
  if (unsigned(known.callerHelp) > DLC_HELP_WAITING_AND_PUSHING)
    return outOfRange("a way to help", known.callerHelp);
  static constexpr EngineKind kinds[] = {
      EngineKind::PerDevice, EngineKind::Threaded, EngineKind::Naive};
  static constexpr CallerHelp helps[] = {CallerHelp::Waiting, CallerHelp::Never,
                                         CallerHelp::WaitingAndPushing};
  options.kind = kinds[known.kind];
  options.callerHelp = helps[known.callerHelp];
  options.cpuWorkers = known.cpuWorkers;
  options.maxBytes = known.maxBytes;
  options.fuzzSeed = known.fuzzSeed;
  options.closePatienceMilliseconds = known.closePatienceMilliseconds;
  options.watchdogMilliseconds = known.watchdogMilliseconds;
  for (auto [value, option] :
       {std::pair(known.deviceWorkers, &options.deviceWorkers),
        std::pair(known.copyWorkers, &options.copyWorkers),
        std::pair(known.maxOperations, &options.maxOperations),
        std::pair(known.priorityWorkers, &options.priorityWorkers),
        std::pair(known.maxSpareWorkers, &options.maxSpareWorkers),
        std::pair(known.queueSlots, &options.queueSlots),
        std::pair(known.spinMicroseconds, &options.spinMicroseconds)})
    if (value)
      *option = value;
  if (known.onStall)
    options.onStall = [function = known.onStall, data = known.stallData](
                          const std::string &report) noexcept {
      function(data, report.c_str());
    };
  return Status::ok();
}

DlcStatus dlcEngineCreate(const DlcEngineOptions *options, DlcEngine *engine) {
  if (!engine)
    return wrap(missing("a place for the engine"));
  DlcEngineOptions given = {};
  EngineOptions known;
  if (options)
    if (Status status = readEngineOptions(*options, given, known);
        !status.isOk())
      return wrap(std::move(status));
  auto observed = makeShared<ObservedEngine>(Observers(given));
  if (!observed)
    return wrap(noMemory("an engine"));
  if (!observed->observers.areNone())
    known.observer = &observed->observers;
  auto result = Engine::create(known);
  if (!result.isOk())
    return wrap(std::move(result.status()));
  observed->engine = std::move(*result);
  Engine *inside = observed->engine.get();
  return makeHandle(engine,
                    std::shared_ptr<Engine>(std::move(observed), inside));
}

void dlcEngineDestroy(DlcEngine engine) {
  if (engine)
    engine->engine->closeUntold(); // Arrays may keep it, closed.
  delete engine;
}

DlcStatus dlcEngineClose(DlcEngine engine) {
  return wrap(engine ? engine->engine->close() : missing("an engine"));
}

DlcStatus dlcEngineStop(DlcEngine engine) {
  return wrap(engine ? engine->engine->stop() : missing("an engine"));
}

DlcStatus dlcEngineStart(DlcEngine engine) {
  return wrap(engine ? engine->engine->start() : missing("an engine"));
}

//===----------------------------------------------------------------------===//
// Variables and operators
//===----------------------------------------------------------------------===//

DlcStatus dlcEngineNewVariable(DlcEngine engine, DlcVariable *variable) {
  return dlcEngineNewVariableOfKind(engine, DLC_VARIABLE_VALUE, variable);
}

DlcStatus dlcEngineNewVariableOfKind(DlcEngine engine, DlcVariableKind kind,
                                     DlcVariable *variable) {
  if (!engine || !variable)
    return wrap(missing("an engine and a place for the variable"));
  if (unsigned(kind) > DLC_VARIABLE_RESOURCE)
    return wrap(outOfRange("a kind of variable", kind));
  auto result = engine->engine->newVariable(kind == DLC_VARIABLE_VALUE
                                                ? VariableKind::Value
                                                : VariableKind::Resource);
  if (!result.isOk())
    return wrap(std::move(result.status()));
  *variable = fromVariable(*result);
  return nullptr;
}

DlcStatus dlcEngineDeleteVariable(DlcEngine engine, DlcFunction function,
                                  void *data, DlcContext context,
                                  DlcVariable variable) {
  if (!engine)
    return wrap(missing("an engine"));
  Context where;
  if (Status status = toContext(context, where); !status.isOk())
    return wrap(std::move(status));
  if (engine->engine->isOfRuntime(toVariable(variable)))
    return wrap(makeError(StatusCode::InvalidArgument,
                          "expected a variable that the caller made, got that "
                          "of an array or a resource"));
  if (!function)
    return wrap(
        engine->engine->deleteVariable([] {}, where, toVariable(variable)));
  return wrap(engine->engine->deleteVariable(
      SyncFunction{function, {data, nullptr}}, where, toVariable(variable)));
}

DlcStatus dlcEngineVersion(DlcEngine engine, DlcVariable variable,
                           uint64_t *version) {
  if (!engine || !version)
    return wrap(missing("an engine and a place for the version"));
  auto result = engine->engine->version(toVariable(variable));
  if (!result.isOk())
    return wrap(std::move(result.status()));
  *version = *result;
  return nullptr;
}

/// `function` is a SyncFunction or an AsyncFunction.
template <typename Function>
static DlcStatus
newOperator(DlcEngine engine, Function function, const DlcVariable *reads,
            int32_t readCount, const DlcVariable *writes, int32_t writeCount,
            const DlcPushOptions *options, DlcOperator *operation) {
  if (!engine || !function.function || !operation)
    return wrap(missing("an engine, a function and a place for the operator"));
  PushArguments arguments;
  if (Status status = arguments.read(*engine->engine, reads, readCount, writes,
                                     writeCount, options);
      !status.isOk())
    return wrap(std::move(status));
  constexpr bool isAsync = std::is_same_v<Function, AsyncFunction>;
  Task task;
  if constexpr (isAsync)
    task = Task::async(std::move(function));
  else
    task = Task::sync(std::move(function));
  auto result =
      engine->engine->newOperator(std::move(task), isAsync, arguments.reads,
                                  arguments.writes, arguments.options);
  if (!result.isOk())
    return wrap(std::move(result.status()));
  *operation = {result->index, result->stamp};
  return nullptr;
}

DlcStatus dlcEngineNewOperator(DlcEngine engine, DlcFunction function,
                               void *data, DlcDataDestroy destroy,
                               const DlcVariable *reads, int32_t readCount,
                               const DlcVariable *writes, int32_t writeCount,
                               const DlcPushOptions *options,
                               DlcOperator *operation) {
  return newOperator(engine, SyncFunction{function, {data, destroy}}, reads,
                     readCount, writes, writeCount, options, operation);
}

DlcStatus dlcEngineNewAsyncOperator(DlcEngine engine, DlcAsyncFunction function,
                                    void *data, DlcDataDestroy destroy,
                                    const DlcVariable *reads, int32_t readCount,
                                    const DlcVariable *writes,
                                    int32_t writeCount,
                                    const DlcPushOptions *options,
                                    DlcOperator *operation) {
  return newOperator(engine, AsyncFunction{function, {data, destroy}}, reads,
                     readCount, writes, writeCount, options, operation);
}

DlcStatus dlcEngineDeleteOperator(DlcEngine engine, DlcOperator operation) {
  if (!engine)
    return wrap(missing("an engine"));
  return wrap(
      engine->engine->deleteOperator({operation.index, operation.stamp}));
}

//===----------------------------------------------------------------------===//
// Pushing
//===----------------------------------------------------------------------===//

DlcStatus dlcEnginePush(DlcEngine engine, DlcOperator operation,
                        DlcContext context, int32_t priority) {
  if (!engine)
    return wrap(missing("an engine"));
  Context where;
  if (Status status = toContext(context, where); !status.isOk())
    return wrap(std::move(status));
  return wrap(engine->engine->push(Operator{operation.index, operation.stamp},
                                   where, priority));
}

DlcStatus dlcEnginePushSync(DlcEngine engine, DlcFunction function, void *data,
                            DlcDataDestroy destroy, DlcContext context,
                            const DlcVariable *reads, int32_t readCount,
                            const DlcVariable *writes, int32_t writeCount,
                            const DlcPushOptions *options) {
  OwnedData owned(data, destroy);
  if (!engine || !function)
    return wrap(missing("an engine and a function"));
  PushArguments arguments;
  Status status = arguments.read(*engine->engine, context, reads, readCount,
                                 writes, writeCount, options);
  if (status.isOk())
    status = engine->engine->pushSync(SyncFunction{function, std::move(owned)},
                                      arguments.context, arguments.reads,
                                      arguments.writes, arguments.options);
  return wrap(std::move(status));
}

DlcStatus dlcEnginePushAsync(DlcEngine engine, DlcAsyncFunction function,
                             void *data, DlcDataDestroy destroy,
                             DlcContext context, const DlcVariable *reads,
                             int32_t readCount, const DlcVariable *writes,
                             int32_t writeCount,
                             const DlcPushOptions *options) {
  OwnedData owned(data, destroy);
  if (!engine || !function)
    return wrap(missing("an engine and a function"));
  PushArguments arguments;
  Status status = arguments.read(*engine->engine, context, reads, readCount,
                                 writes, writeCount, options);
  if (status.isOk())
    status = engine->engine->pushAsync(
        AsyncFunction{function, std::move(owned)}, arguments.context,
        arguments.reads, arguments.writes, arguments.options);
  return wrap(std::move(status));
}

DlcStatus dlcCompletionComplete(DlcCompletion completion, DlcStatus result) {
  Status status = unwrap(result);
  if (!completion)
    return wrap(missing("a completion"));
  return wrap(completion->completion.complete(std::move(status)));
}

void dlcCompletionDestroy(DlcCompletion completion) { delete completion; }

/// A run is known by the context that its function was given.
static const RunContext *toRun(DlcRun run) {
  return reinterpret_cast<const RunContext *>(run);
}

DlcRun dlcRunCurrent(void) { return reinterpret_cast<DlcRun>(currentRun); }

uint32_t dlcRunWorker(DlcRun run) { return run ? toRun(run)->worker : 0; }

DlcStatus dlcRunRelease(DlcRun run, DlcVariable variable) {
  if (!run)
    return wrap(missing("a run of an operation"));
  const RunContext &known = *toRun(run);
  return wrap(known.engine->release(known, toVariable(variable)));
}

DlcStatus dlcEngineSetBulkSize(DlcEngine engine, uint32_t operations,
                               uint32_t *previous) {
  if (!engine)
    return wrap(missing("an engine"));
  auto result = engine->engine->setBulkSize(operations);
  if (!result.isOk())
    return wrap(std::move(result.status()));
  if (previous)
    *previous = *result;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Waiting and looking
//===----------------------------------------------------------------------===//

DlcStatus dlcEngineWaitForVariable(DlcEngine engine, DlcVariable variable,
                                   DlcVariableUse use) {
  if (!engine)
    return wrap(missing("an engine"));
  VariableUse known;
  if (Status status = toUse(use, known); !status.isOk())
    return wrap(std::move(status));
  return wrap(engine->engine->waitForVariable(toVariable(variable), known));
}

DlcStatus dlcEngineWaitForAll(DlcEngine engine) {
  return wrap(engine ? engine->engine->waitForAll() : missing("an engine"));
}

DlcStatus dlcEngineDump(DlcEngine engine,
                        void (*write)(void *data, const char *text),
                        void *data) {
  if (!engine || !write)
    return wrap(missing("an engine and a function"));
  write(data, engine->engine->dump().c_str());
  return nullptr;
}

DlcStatus dlcEngineGetStatistics(DlcEngine engine,
                                 DlcEngineStatistics *statistics) {
  if (!engine || !statistics)
    return wrap(missing("an engine and a place for its statistics"));
  EngineStatistics now = engine->engine->statistics();
  return wrap(fillStruct(
      statistics, {sizeof(DlcEngineStatistics), now.completed, now.failed,
                   now.skipped, now.inFlight, now.bytesInFlight, now.variables,
                   now.operators, now.threads}));
}
