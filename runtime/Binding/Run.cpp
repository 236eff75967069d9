// SPDX-License-Identifier: Apache-2.0
//
// Runs of an executor: its programs, and what the engine gets of them.

#include "ExecutorState.h"

#include <algorithm>
#include <cstring>

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

Result<std::shared_ptr<SharedMemory>>
SharedMemory::create(const std::shared_ptr<ArrayRuntime> &home) {
  // What a failed run leaves in the memory, the next one does not read.
  Result<Variable> variable =
      home->engine().newVariable(VariableKind::Resource);
  if (!variable.isOk())
    return std::move(variable.status());
  auto memory = makeShared<SharedMemory>(home, *variable);
  if (memory)
    return memory;
  (void)home->engine().deleteVariable(*variable).isOk();
  return noMemory();
}

/// An output that updates an input is what the input is.
static void addUpdates(LoadedProgram &loaded) {
  std::span<const Port> ports = loaded.program->outputs();
  for (size_t i = 0; i != ports.size(); ++i)
    if (ports[i].updates)
      loaded.outputs[i] = loaded.inputs[*ports[i].updates];
}

/// The rest of the ports of a part is what the parts hand on.
static void addSaved(std::vector<PortUse> &uses, size_t ports) {
  for (uint32_t i = 0; uses.size() < ports; ++i)
    uses.push_back({PortRole::Saved, i});
}

Result<std::shared_ptr<const LoadedProgram>>
ProgramCache::get(const Network &network, const ProgramRequest &request) {
  if (guard.isChild()) [[unlikely]]
    return makeError(StatusCode::Unavailable,
                     "the executor belongs to another process, of which this "
                     "is a fork(); bind one of its own");
  if (!cached)
    return noMemory();
  std::lock_guard lock(cached->mutex);
  std::shared_ptr<const LoadedProgram> &known = cached->programs[request.key()];
  if (known)
    return known;
  Result<NetworkProgram> compiled = network.compile(request);
  if (!compiled.isOk())
    return std::move(compiled.status());
  auto loaded = makeShared<LoadedProgram>();
  if (!loaded)
    return noMemory();
  loaded->bytes = std::move(compiled->bytes);
  loaded->inputs = std::move(compiled->inputs);
  loaded->outputs = std::move(compiled->outputs);
  loaded->internals = std::move(compiled->internals);
  Result<Artifact> artifact = Artifact::fromMemory(loaded->bytes.bytes());
  if (!artifact.isOk())
    return std::move(artifact.status());
  Result<std::unique_ptr<Program>> program =
      Program::create(std::move(*artifact));
  if (!program.isOk())
    return std::move(program.status());
  loaded->program = std::move(*program);
  if (request.form == ProgramForm::Forward)
    addSaved(loaded->outputs, loaded->program->outputs().size());
  if (request.form == ProgramForm::Backward)
    addSaved(loaded->inputs, loaded->program->inputs().size());
  if (loaded->inputs.size() != loaded->program->inputs().size() ||
      loaded->outputs.size() != loaded->program->outputs().size())
    return makeError(StatusCode::Internal,
                     "expected a program of %zu inputs and %zu outputs, got "
                     "%zu and %zu",
                     loaded->inputs.size(), loaded->outputs.size(),
                     loaded->program->inputs().size(),
                     loaded->program->outputs().size());
  addUpdates(*loaded);
  known = std::move(loaded);
  return known;
}

bool Executor::State::hasGradients() const {
  return std::ranges::any_of(bindings.requests, [](GradientRequest request) {
    return request != GradientRequest::Null;
  });
}

/// Those that can be written: others stay as they are, which nothing reads.
void Executor::State::findFixed() {
  for (size_t i : network->fixedArguments(bindings.requests))
    if (checkWritable(bindings.arguments[i]).isOk())
      fixed.push_back(bindings.arguments[i]);
}

Status Executor::State::fillFixed() const {
  for (const NDArray &array : fixed)
    DLC_RETURN_IF_ERROR(array.fill(1));
  return Status::ok();
}

ProgramRequest Executor::State::request(ProgramForm form) const {
  // What a monitor is told of is all kept.
  int64_t budget = isOfInternals(form) ? 0 : memoryBudget;
  return {form, types.arguments, types.auxiliaryStates, bindings.requests,
          budget};
}

/// Arrays of `home` for those outputs of a program that have `role`.
static Status makeArrays(const LoadedProgram &loaded, PortRole role,
                         const std::shared_ptr<ArrayRuntime> &home,
                         Context context, std::vector<NDArray> &arrays) {
  for (size_t i = 0; i != loaded.outputs.size(); ++i) {
    const Port &port = loaded.program->outputs()[i];
    if (!port.type.isStatic())
      return makeError(StatusCode::Unsupported,
                       "output '%s': expected a static shape, got %s",
                       port.name.c_str(), toString(port.type).c_str());
    if (loaded.outputs[i].role != role)
      continue;
    Result<NDArray> array =
        NDArray::create(home, port.type.type, port.type.shape, context);
    if (!array.isOk())
      return std::move(array.status());
    if (loaded.outputs[i].index >= arrays.size())
      arrays.resize(loaded.outputs[i].index + 1);
    arrays[loaded.outputs[i].index] = std::move(*array);
  }
  return Status::ok();
}

/// Gives the random numbers a state when a program first draws some: a seed and
/// the number of the run.
Status Executor::State::makeRandom(const LoadedProgram &loaded) {
  bool draws = std::ranges::any_of(
      loaded.inputs, [](PortUse use) { return use.role == PortRole::Random; });
  if (!draws || !random.isNull())
    return Status::ok();
  Result<NDArray> array = NDArray::create(memory->home, DLC_I64, {2}, context);
  if (!array.isOk())
    return std::move(array.status());
  const int64_t start[] = {static_cast<int64_t>(seed), 0};
  DLC_RETURN_IF_ERROR(array->copyFromHost(std::span(start)));
  random = std::move(*array);
  return Status::ok();
}

Result<PreparedProgram *> Executor::State::prepare(ProgramForm form) {
  if (auto known = prepared.find(form); known != prepared.end())
    return &known->second;
  Result<std::shared_ptr<const LoadedProgram>> loaded =
      programs->get(*network, request(form));
  if (!loaded.isOk())
    return std::move(loaded.status());
  PreparedProgram program;
  program.loaded = std::move(*loaded);
  DLC_RETURN_IF_ERROR(makeArrays(*program.loaded, PortRole::Saved, memory->home,
                                 context, program.saved));
  DLC_RETURN_IF_ERROR(makeArrays(*program.loaded, PortRole::Internal,
                                 memory->home, context, program.internals));
  DLC_RETURN_IF_ERROR(makeRandom(*program.loaded));
  ExecutionOptions options;
  options.workers = workers;
  options.arenas = &memory->arenas;
  options.tellsPorts = releasesEarly;
  Result<std::unique_ptr<Execution>> execution =
      Execution::create(*program.loaded->program, options);
  if (!execution.isOk())
    return std::move(execution.status());
  program.execution = std::move(*execution);
  return &prepared.emplace(form, std::move(program)).first->second;
}

NDArray Executor::State::arrayOf(const PreparedProgram &program, PortUse use,
                                 std::span<const NDArray> heads) const {
  auto at = [&](std::span<const NDArray> arrays) {
    return use.index < arrays.size() ? arrays[use.index] : NDArray();
  };
  switch (use.role) {
  case PortRole::Argument:
    return at(bindings.arguments);
  case PortRole::AuxiliaryState:
    return at(bindings.auxiliaryStates);
  case PortRole::Output:
    return at(outputs);
  case PortRole::HeadGradient:
    return at(heads);
  case PortRole::Gradient:
    return at(bindings.gradients);
  case PortRole::Internal:
    return at(program.internals);
  case PortRole::Random:
    return random;
  case PortRole::Saved:
    break;
  }
  auto forward = prepared.find(ProgramForm::Forward);
  return forward == prepared.end() ? NDArray() : at(forward->second.saved);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

namespace {
/// One run, as the engine holds it.
struct Run {
  std::shared_ptr<const LoadedProgram> loaded;
  std::shared_ptr<Execution> execution;
  std::vector<ArrayPiece> inputs, outputs;
  /// Outputs over an input, which the program may read after it wrote them:
  /// they are computed in memory of the execution and copied. Not updates: the
  /// program looks after the input.
  std::vector<bool> isAside;
  /// Of each port: the variable that it alone uses, to give back early; none at
  /// all where that is not wanted.
  std::vector<Variable> inputVariables, outputVariables;

  Status run(const RunContext &context) const;

private:
  Status bind() const;
};
} // namespace

Status Run::bind() const {
  const Program &program = *loaded->program;
  for (size_t i = 0; i != inputs.size(); ++i) {
    Result<std::byte *> start = inputs[i].readable();
    if (!start.isOk())
      return std::move(start.status())
          .withContext("'" + program.inputs()[i].name + "'");
    DLC_RETURN_IF_ERROR(execution->bindInput(i, inputs[i].view(*start)));
  }
  for (size_t i = 0; i != outputs.size(); ++i) {
    if (program.outputs()[i].updates)
      continue; // Where the input is.
    Result<std::byte *> start = outputs[i].writable();
    if (!start.isOk())
      return std::move(start.status())
          .withContext("'" + program.outputs()[i].name + "'");
    TensorView view = outputs[i].view(isAside[i] ? nullptr : *start);
    DLC_RETURN_IF_ERROR(execution->bindOutput(i, view));
  }
  return Status::ok();
}

namespace {
/// Gives variables back as a run is over with what they stand for.
struct EarlyReleases final : PortListener {
  EarlyReleases(const Run &run, const RunContext &context)
      : run(run), context(context) {}
  void onInputDone(size_t index) override { end(run.inputVariables[index]); }
  void onOutputDone(size_t index) override { end(run.outputVariables[index]); }

private:
  /// The operation holds it: what could be refused is given back at the end.
  void end(Variable variable) const {
    if (variable)
      (void)context.engine->release(context, variable).isOk();
  }

  const Run &run;
  const RunContext &context;
};
} // namespace

Status Run::run(const RunContext &context) const {
  DLC_RETURN_IF_ERROR(bind());
  EarlyReleases releases(*this, context);
  DLC_RETURN_IF_ERROR(
      execution->run(outputVariables.empty() ? nullptr : &releases));
  // What is aside was not given back: an input is in the same array.
  for (size_t i = 0; i != outputs.size(); ++i)
    if (isAside[i] && outputs[i].bytes)
      std::memcpy(*outputs[i].writable(), execution->output(i).data,
                  outputs[i].bytes);
  return Status::ok();
}

/// What a run updates is of use to no other input: the gradients of outputs are
/// bound now, all else was checked when it was bound.
static Status checkHeadsApart(const LoadedProgram &loaded,
                              std::span<const ArrayPiece> inputs) {
  const Program &program = *loaded.program;
  for (size_t i = 0; i != inputs.size(); ++i) {
    if (loaded.inputs[i].role != PortRole::HeadGradient)
      continue;
    for (const Port &output : program.outputs())
      if (output.updates && inputs[i].overlaps(inputs[*output.updates]))
        return makeError(StatusCode::InvalidArgument,
                         "'%s': expected memory apart from that of '%s', which "
                         "the run updates",
                         program.inputs()[i].name.c_str(),
                         program.inputs()[*output.updates].name.c_str());
  }
  return Status::ok();
}

/// Finds the variables that one port alone uses. An input that an output
/// updates is that output's. What only the next run uses is left out: nobody
/// waits.
static void findReleases(const LoadedProgram &loaded,
                         std::span<const Variable> inputs,
                         std::span<const Variable> outputs, Run &run) {
  auto isAwaited = [](PortRole role) {
    return role == PortRole::Argument || role == PortRole::Gradient ||
           role == PortRole::Output || role == PortRole::HeadGradient;
  };
  std::span<const Port> ports = loaded.program->outputs();
  std::vector<bool> isUpdated(inputs.size());
  for (const Port &port : ports)
    if (port.updates)
      isUpdated[*port.updates] = true;
  std::vector<uint32_t> uses; // The variable of each, in ascending order.
  for (Variable variable : outputs)
    uses.push_back(variable.index);
  for (size_t i = 0; i != inputs.size(); ++i)
    if (!isUpdated[i])
      uses.push_back(inputs[i].index);
  std::ranges::sort(uses);
  auto isAlone = [&](Variable variable) {
    return std::ranges::equal_range(uses, variable.index).size() == 1;
  };
  run.inputVariables.resize(inputs.size());
  run.outputVariables.resize(outputs.size());
  for (size_t i = 0; i != inputs.size(); ++i)
    if (isAwaited(loaded.inputs[i].role) && isAlone(inputs[i]))
      run.inputVariables[i] = inputs[i];
  for (size_t i = 0; i != outputs.size(); ++i)
    if (isAwaited(loaded.outputs[i].role) && isAlone(outputs[i]))
      run.outputVariables[i] = outputs[i];
}

Status Executor::State::push(const PreparedProgram &program, ProgramForm form,
                             std::span<const NDArray> heads) {
  Run run{program.loaded, program.execution, {}, {}, {}, {}, {}};
  std::vector<Variable> reads, writes, ofInputs, ofOutputs;
  auto find = [&](PortUse use, const Port &port, NDArray &array) -> Status {
    array = arrayOf(program, use, heads);
    if (array.isNull() || !sameType(typeOf(array), port.type))
      return makeError(StatusCode::Internal, "'%s': expected %s, got %s",
                       port.name.c_str(), toString(port.type).c_str(),
                       array.isNull() ? "no array"
                                      : toString(typeOf(array)).c_str());
    return Status::ok();
  };
  NDArray array;
  const LoadedProgram &loaded = *program.loaded;
  for (size_t i = 0; i != loaded.outputs.size(); ++i) {
    DLC_RETURN_IF_ERROR(
        find(loaded.outputs[i], loaded.program->outputs()[i], array));
    run.outputs.emplace_back(array);
    ofOutputs.push_back(array.variable());
    addVariable(writes, array.variable());
  }
  for (size_t i = 0; i != loaded.inputs.size(); ++i) {
    DLC_RETURN_IF_ERROR(
        find(loaded.inputs[i], loaded.program->inputs()[i], array));
    run.inputs.emplace_back(array);
    ofInputs.push_back(array.variable());
    if (std::ranges::count(writes, array.variable()) == 0)
      addVariable(reads, array.variable());
  }
  DLC_RETURN_IF_ERROR(checkHeadsApart(loaded, run.inputs));
  std::span<const Port> ports = loaded.program->outputs();
  for (size_t i = 0; i != run.outputs.size(); ++i)
    run.isAside.push_back(
        !ports[i].updates &&
        std::ranges::any_of(run.inputs, [&](const ArrayPiece &input) {
          return input.overlaps(run.outputs[i]);
        }));
  if (releasesEarly)
    findReleases(loaded, ofInputs, ofOutputs, run);
  addVariable(writes, memory->variable);
  PushOptions options;
  options.name = nameOf(form);
  return memory->home->engine().pushSync(
      [run = std::move(run)](const RunContext &context) {
        return run.run(context);
      },
      context, reads, writes, options);
}

Status Executor::compile(ProgramForm form) {
  return std::move(state->prepare(form).status());
}

Status Executor::State::run(ProgramForm form, std::span<const NDArray> heads) {
  Result<PreparedProgram *> program = prepare(form);
  if (!program.isOk())
    return std::move(program.status());
  if (form != ProgramForm::Backward)
    DLC_RETURN_IF_ERROR(fillFixed());
  return push(**program, form, heads);
}

Status Executor::State::tellMonitor(bool isTraining) {
  if (!monitor)
    return Status::ok();
  ProgramForm form =
      isTraining ? ProgramForm::TrainingInternals : ProgramForm::Internals;
  DLC_RETURN_IF_ERROR(run(form));
  // Copies: a monitor may end itself.
  const Monitor listener = monitor;
  const bool tellsAll = tellsVariables;
  auto tell = [&](const std::vector<std::string> &names,
                  const std::vector<NDArray> &arrays) {
    for (size_t i = 0; i != names.size(); ++i)
      listener(names[i], arrays[i]);
  };
  if (tellsAll) {
    tell(network->arguments(), bindings.arguments);
    tell(network->auxiliaryStates(), bindings.auxiliaryStates);
  }
  tell(prepared[form].loaded->internals, prepared[form].internals);
  return Status::ok();
}

Status Executor::forward(bool isTraining) {
  DLC_RETURN_IF_ERROR(state->tellMonitor(isTraining));
  state->hasForward = false;
  DLC_RETURN_IF_ERROR(
      state->run(isTraining ? ProgramForm::Forward : ProgramForm::Inference));
  state->hasForward = isTraining;
  return Status::ok();
}

Status Executor::backward(std::span<const NDArray> heads) {
  if (!state->hasForward)
    return makeError(StatusCode::InvalidArgument,
                     "expected a forward run for training before backward");
  Result<std::vector<NDArray>> complete = state->completeHeads(heads);
  if (!complete.isOk())
    return std::move(complete.status());
  if (!state->hasGradients())
    return Status::ok();
  return state->run(ProgramForm::Backward, *complete);
}

Status Executor::forwardBackward(std::span<const NDArray> heads) {
  Result<std::vector<NDArray>> complete = state->completeHeads(heads);
  if (!complete.isOk())
    return std::move(complete.status());
  DLC_RETURN_IF_ERROR(state->tellMonitor(/*isTraining=*/true));
  state->hasForward = false; // Nothing is saved.
  return state->run(state->hasGradients() ? ProgramForm::Step
                                          : ProgramForm::Forward,
                    *complete);
}

//===----------------------------------------------------------------------===//
// Gradients of outputs
//===----------------------------------------------------------------------===//

static Status checkHead(const NDArray &head, const TensorType &type,
                        const std::string &name) {
  if (head.isNull() || !sameType(typeOf(head), type))
    return makeError(StatusCode::InvalidArgument,
                     "output '%s': expected a gradient of %s, got %s",
                     name.c_str(), toString(type).c_str(),
                     head.isNull() ? "null" : toString(typeOf(head)).c_str());
  return Status::ok();
}

Status dlc::rt::checkHeads(const Network &network,
                           std::span<const NDArray> outputs,
                           std::span<const NDArray> heads) {
  if (heads.size() != outputs.size())
    return makeError(StatusCode::InvalidArgument,
                     "expected a gradient for each of the %zu outputs (%s), "
                     "got %zu",
                     outputs.size(), joinNames(network.outputs()).c_str(),
                     heads.size());
  for (size_t i = 0; i != outputs.size(); ++i)
    if (isFloat(outputs[i].type())) {
      DLC_RETURN_IF_ERROR(
          checkHead(heads[i], typeOf(outputs[i]), network.outputs()[i]));
      DLC_RETURN_IF_ERROR(checkSameEngine(outputs[i], heads[i]));
      DLC_RETURN_IF_ERROR(checkHost(heads[i].context()));
    }
  return Status::ok();
}

Result<std::vector<NDArray>>
Executor::State::completeHeads(std::span<const NDArray> heads) {
  size_t count = outputs.size();
  if (heads.empty() && ones.empty()) {
    std::vector<NDArray> made(count);
    for (size_t i = 0; i != count; ++i) {
      if (!isFloat(types.outputs[i].type))
        continue;
      Result<NDArray> array = NDArray::create(
          memory->home, types.outputs[i].type, types.outputs[i].shape, context);
      if (!array.isOk())
        return std::move(array.status());
      DLC_RETURN_IF_ERROR(array->fill(1));
      made[i] = std::move(*array);
    }
    ones = std::move(made);
  }
  if (heads.empty())
    return ones;
  DLC_RETURN_IF_ERROR(checkHeads(*network, outputs, heads));
  return std::vector<NDArray>(heads.begin(), heads.end());
}
