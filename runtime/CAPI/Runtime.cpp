// SPDX-License-Identifier: Apache-2.0

#include "dlc-c/Runtime.h"

#include "Push.h"
#include "dlc/runtime/Executor/Execution.h"
#include "dlc/runtime/Executor/Program.h"

using namespace dlc::rt;

struct DlcProgramImpl {
  std::unique_ptr<Program> program;
};

struct DlcExecutionImpl {
  std::unique_ptr<Execution> execution;
  std::shared_ptr<Profiler> profiler = nullptr;
  std::unique_ptr<TraceRecorder> recorder = nullptr;
};

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static Status toView(const DlcTensor &tensor, TensorView &view) {
  view = {tensor.type, {}, tensor.data};
  return toShape(tensor.shape, tensor.rank, view.shape);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// Moves the value of `result` into a new handle.
template <typename Handle, typename T>
static DlcStatus handOut(Result<std::unique_ptr<T>> result, Handle **handle) {
  if (!result.isOk())
    return wrap(std::move(result.status()));
  return makeHandle(handle, std::move(*result));
}

DlcStatus dlcProgramLoad(const char *path, DlcProgram *program) {
  if (!path || !program)
    return wrap(missing(path ? "a place for the program" : "a path"));
  return handOut(Program::load(path), program);
}

DlcStatus dlcProgramLoadMemory(const void *bytes, size_t size,
                               DlcProgram *program) {
  if (!bytes || !program)
    return wrap(missing(bytes ? "a place for the program" : "bytes"));
  Result<Artifact> artifact =
      Artifact::fromMemory({static_cast<const std::byte *>(bytes), size});
  if (!artifact.isOk())
    return wrap(std::move(artifact.status()));
  return handOut(Program::create(std::move(*artifact)), program);
}

void dlcProgramDestroy(DlcProgram program) { delete program; }

size_t dlcProgramInputCount(DlcProgram program) {
  return program ? program->program->inputs().size() : 0;
}

size_t dlcProgramOutputCount(DlcProgram program) {
  return program ? program->program->outputs().size() : 0;
}

static Status describePort(std::span<const Port> ports, size_t index,
                           DlcPort *out) {
  if (!out)
    return missing("a place for the description");
  DLC_RETURN_IF_ERROR(checkIndex(index, ports.size()));
  const Port &port = ports[index];
  int32_t rank = port.type.hasRank ? int32_t(port.type.rank()) : -1;
  return fillStruct(out, {sizeof(DlcPort), port.name.c_str(), port.type.type,
                          rank, port.type.shape.data()});
}

DlcStatus dlcProgramInput(DlcProgram program, size_t index, DlcPort *port) {
  if (!program)
    return wrap(missing("a program"));
  return wrap(describePort(program->program->inputs(), index, port));
}

DlcStatus dlcProgramOutput(DlcProgram program, size_t index, DlcPort *port) {
  if (!program)
    return wrap(missing("a program"));
  return wrap(describePort(program->program->outputs(), index, port));
}

static Status give(std::optional<size_t> found, const char *what,
                   const char *name, size_t *index) {
  if (!found)
    return makeError(StatusCode::NotFound, "the program has no %s '%s'", what,
                     name);
  *index = *found;
  return Status::ok();
}

DlcStatus dlcProgramFindInput(DlcProgram program, const char *name,
                              size_t *index) {
  if (!program || !name || !index)
    return wrap(missing("a program, a name and a place for the index"));
  return wrap(give(program->program->findInput(name), "input", name, index));
}

DlcStatus dlcProgramFindOutput(DlcProgram program, const char *name,
                               size_t *index) {
  if (!program || !name || !index)
    return wrap(missing("a program, a name and a place for the index"));
  return wrap(give(program->program->findOutput(name), "output", name, index));
}

DlcStatus dlcProgramGetStatistics(DlcProgram program,
                                  DlcProgramStatistics *statistics) {
  if (!program || !statistics)
    return wrap(missing("a program and a place for its statistics"));
  const ProgramStatistics &known = program->program->statistics();
  return wrap(
      fillStruct(statistics, {sizeof(DlcProgramStatistics), known.arenaBytes,
                              known.lowerBoundBytes, known.constantBytes,
                              known.codeBytes, known.launches}));
}

//===----------------------------------------------------------------------===//
// Worker pools
//===----------------------------------------------------------------------===//

DlcStatus dlcPoolCreate(const DlcPoolOptions *options, DlcPool *pool) {
  if (!pool)
    return wrap(missing("a place for the pool"));
  WorkerPoolOptions chosen;
  if (options) {
    DlcPoolOptions known = {sizeof(known), chosen.threads,
                            chosen.spinMicroseconds, chosen.pinsWorkers};
    if (Status status = readOptions(*options, known); !status.isOk())
      return wrap(std::move(status));
    chosen = {.threads = known.threads,
              .spinMicroseconds = known.spinMicroseconds,
              .pinsWorkers = known.pinsWorkers != 0};
  }
  return handOut(WorkerPool::create(chosen), pool);
}

void dlcPoolDestroy(DlcPool pool) { delete pool; }

//===----------------------------------------------------------------------===//
// Executions
//===----------------------------------------------------------------------===//

DlcStatus dlcExecutionCreate(DlcProgram program, DlcPool pool,
                             DlcExecution *execution) {
  if (!program || !execution)
    return wrap(missing("a program and a place for the execution"));
  ExecutionOptions options{.streamThreads = 1}; // The calling thread alone.
  if (pool)
    options = {pool->pool.get(), pool->pool->threads()};
  return handOut(Execution::create(*program->program, options), execution);
}

void dlcExecutionDestroy(DlcExecution execution) { delete execution; }

DlcStatus dlcExecutionBindInput(DlcExecution execution, size_t index,
                                const DlcTensor *tensor) {
  if (!execution || !tensor)
    return wrap(missing("an execution and a tensor"));
  TensorView view;
  if (Status status = toView(*tensor, view); !status.isOk())
    return wrap(std::move(status));
  return wrap(execution->execution->bindInput(index, view));
}

DlcStatus dlcExecutionBindOutput(DlcExecution execution, size_t index,
                                 const DlcTensor *tensor) {
  if (!execution)
    return wrap(missing("an execution"));
  TensorView view;
  if (tensor) {
    if (Status status = toView(*tensor, view); !status.isOk())
      return wrap(std::move(status));
    if (!view.data)
      return wrap(missing("the memory of the output"));
  }
  return wrap(execution->execution->bindOutput(index, view));
}

DlcStatus dlcExecutionRun(DlcExecution execution) {
  if (!execution)
    return wrap(missing("an execution"));
  return wrap(execution->execution->run());
}

DlcStatus dlcExecutionPush(DlcExecution execution, DlcEngine engine,
                           DlcContext context, const DlcVariable *reads,
                           int32_t readCount, const DlcVariable *writes,
                           int32_t writeCount, const DlcPushOptions *options) {
  if (!execution || !engine)
    return wrap(missing(execution ? "an engine" : "an execution"));
  PushArguments arguments;
  Status status = arguments.read(*engine->engine, context, reads, readCount,
                                 writes, writeCount, options);
  if (status.isOk())
    status = execution->execution->push(*engine->engine, arguments.context,
                                        arguments.reads, arguments.writes,
                                        arguments.options);
  return wrap(std::move(status));
}

DlcStatus dlcExecutionSetProfiler(DlcExecution execution,
                                  DlcProfiler profiler) {
  if (!execution)
    return wrap(missing("an execution"));
  if (profiler)
    if (Status status = checkProfiler(profiler); !status.isOk())
      return wrap(std::move(status));
  std::unique_ptr<TraceRecorder> recorder;
  if (profiler)
    recorder = std::make_unique<TraceRecorder>(execution->execution->program(),
                                               *profiler->profiler);
  execution->execution->setObserver(recorder.get());
  execution->recorder = std::move(recorder);
  execution->profiler = profiler ? profiler->profiler : nullptr;
  return nullptr;
}

DlcStatus dlcExecutionOutput(DlcExecution execution, size_t index,
                             DlcTensor *tensor) {
  if (!execution || !tensor)
    return wrap(missing("an execution and a place for the tensor"));
  size_t count = execution->execution->program().outputs().size();
  if (Status status = checkIndex(index, count); !status.isOk())
    return wrap(std::move(status));
  if (!execution->execution->hasRun())
    return wrap(makeError(StatusCode::InvalidArgument,
                          "expected an execution whose last run succeeded"));
  TensorView view = execution->execution->output(index);
  *tensor = {view.data, view.shape.data(), int32_t(view.rank()), view.type};
  return nullptr;
}
