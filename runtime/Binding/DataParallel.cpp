// SPDX-License-Identifier: Apache-2.0
//
// Making executors of parts.

#include "DataParallelState.h"

#include <algorithm>
#include <cmath>

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

Result<std::vector<BatchRows>>
dlc::rt::splitBatch(int64_t rows, std::span<const double> workloads) {
  double total = 0;
  for (double workload : workloads) {
    if (!(workload > 0) || !std::isfinite(workload))
      return makeError(StatusCode::InvalidArgument,
                       "expected workloads above 0, got %g", workload);
    total += workload;
  }
  if (workloads.empty())
    return makeError(StatusCode::InvalidArgument,
                     "expected at least one workload, got none");
  if (!std::isfinite(total))
    return makeError(StatusCode::InvalidArgument,
                     "expected workloads of a finite sum, got %g", total);
  std::vector<BatchRows> parts;
  double sum = 0;
  int64_t begin = 0;
  for (size_t i = 0; i != workloads.size(); ++i) {
    sum += workloads[i];
    bool isLast = i + 1 == workloads.size();
    int64_t end =
        isLast ? rows : std::llround(sum / total * static_cast<double>(rows));
    if (begin >= end)
      return makeError(StatusCode::InvalidArgument,
                       "expected a row for each of %zu devices, got none of "
                       "%lld for device %zu",
                       workloads.size(), static_cast<long long>(rows), i);
    parts.push_back({begin, end});
    begin = end;
  }
  return parts;
}

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

static Status checkOptions(const Network &network,
                           const DataParallelOptions &options) {
  const std::vector<Context> &devices = options.devices;
  if (devices.empty())
    return makeError(StatusCode::InvalidArgument,
                     "expected at least one device, got none");
  for (size_t i = 0; i != devices.size(); ++i) {
    if (!devices[i].isValid())
      return makeError(StatusCode::InvalidArgument,
                       "expected a device, got kind %d with number %d",
                       int(devices[i].kind), int(devices[i].index));
    if (Status status = checkHost(devices[i]); !status.isOk())
      return std::move(status).withContext("device " + std::to_string(i));
  }
  const std::vector<double> &workloads = options.workloads;
  if (!workloads.empty() && workloads.size() != devices.size())
    return makeError(StatusCode::InvalidArgument,
                     "expected a workload for each of %zu devices, got %zu",
                     devices.size(), workloads.size());
  if (network.isPlaced())
    return makeError(StatusCode::Unsupported,
                     "expected a network without groups on devices of their "
                     "own, for each part runs on one device");
  return Status::ok();
}

/// Finds the arguments with the batch, and its rows.
Result<int64_t> DataParallelExecutor::State::findBatch() {
  const std::vector<std::string> &names = network->arguments();
  isBatched.assign(names.size(), false);
  int64_t batch = -1;
  for (const std::string &name : options.batched) {
    auto at = std::ranges::find(names, name);
    if (at == names.end())
      return makeError(StatusCode::InvalidArgument,
                       "expected an argument (%s) with the batch, got '%s'",
                       joinNames(names).c_str(), name.c_str());
    size_t index = at - names.begin();
    if (isBatched[index])
      return badArray("argument", name,
                      "expected each argument with the batch once, got it "
                      "twice");
    isBatched[index] = true;
    const NDArray &array = whole.arguments[index];
    if (array.rank() == 0)
      return badArray("argument", name,
                      "expected the batch in front, got a scalar");
    int64_t count = array.shape().front();
    if (batch >= 0 && count != batch)
      return badArray("argument", name,
                      "expected a batch of " + std::to_string(batch) +
                          ", got " + std::to_string(count));
    batch = count;
  }
  if (batch < 0)
    return makeError(StatusCode::InvalidArgument,
                     "expected arguments with the batch, got none");
  return batch;
}

/// What the parts give can be added.
Status DataParallelExecutor::State::checkSums() const {
  auto check = [&](const char *what, const std::string &name,
                   const NDArray &array) {
    if (array.isNull() || isSummable(array.type()))
      return Status::ok();
    return makeError(StatusCode::Unsupported,
                     "%s '%s': expected floats of 16, 32 or 64 bits to add "
                     "those of %zu devices, got %s",
                     what, name.c_str(), options.devices.size(),
                     toString(typeOf(array)).c_str());
  };
  for (size_t i = 0; i != whole.gradients.size(); ++i)
    DLC_RETURN_IF_ERROR(check("gradient of argument", network->arguments()[i],
                              whole.gradients[i]));
  for (size_t i = 0; i != whole.auxiliaryStates.size(); ++i)
    DLC_RETURN_IF_ERROR(check("auxiliary state", network->auxiliaryStates()[i],
                              whole.auxiliaryStates[i]));
  return Status::ok();
}

/// One device's outputs are those of the whole.
Status DataParallelExecutor::State::addOutputs() {
  if (parts.size() == 1) {
    std::span<const NDArray> only = parts.front().executor->outputs();
    outputs.assign(only.begin(), only.end());
    return Status::ok();
  }
  for (const TensorType &type : outputTypes) {
    Result<NDArray> array =
        NDArray::create(whole.arguments.front().runtime(), type.type,
                        type.shape, options.devices.front());
    if (!array.isOk())
      return std::move(array.status());
    outputs.push_back(std::move(*array));
  }
  return Status::ok();
}

/// Arrays of a part of those types. The first device's are those of the whole,
/// or rows of them.
Result<Bindings>
DataParallelExecutor::State::makeBindings(const BatchPart &part,
                                          const NetworkTypes &types) {
  size_t index = parts.size();
  Bindings bindings;
  bindings.requests = whole.requests;
  auto add = [&](const NDArray &array, bool hasRows, const TensorType &type,
                 std::vector<NDArray> &arrays) -> Status {
    Result<NDArray> made =
        array.isNull() ? NDArray()
        : index   ? makeZeros(array.runtime(), type, options.devices[index])
        : hasRows ? part.take(array)
                  : array;
    if (made.isOk())
      arrays.push_back(*made);
    return std::move(made.status());
  };
  for (size_t i = 0; i != whole.arguments.size(); ++i) {
    const TensorType &type = types.arguments[i];
    DLC_RETURN_IF_ERROR(
        add(whole.arguments[i], isBatched[i], type, bindings.arguments));
    DLC_RETURN_IF_ERROR(
        add(whole.gradients[i], isBatched[i], type, bindings.gradients));
    // The sum is the first device's; the others' are added to it.
    if (index && whole.requests[i] == GradientRequest::Add)
      bindings.requests[i] = GradientRequest::Write;
  }
  for (size_t i = 0; i != whole.auxiliaryStates.size(); ++i)
    DLC_RETURN_IF_ERROR(add(whole.auxiliaryStates[i], false,
                            types.auxiliaryStates[i],
                            bindings.auxiliaryStates));
  return bindings;
}

Status DataParallelExecutor::State::checkPart(const BatchPart &part,
                                              const NetworkTypes &types) const {
  for (size_t i = 0; i != types.arguments.size(); ++i)
    if (!isBatched[i] &&
        !sameType(types.arguments[i], typeOf(whole.arguments[i])))
      return badArray("argument", network->arguments()[i],
                      "expected a shape without the batch, got " +
                          toString(typeOf(whole.arguments[i])) +
                          " for the whole, " + toString(types.arguments[i]) +
                          " for a part");
  for (size_t i = 0; i != types.outputs.size(); ++i) {
    TensorType type = outputTypes[i];
    bool hasBatch = !type.shape.empty() && type.shape[0] == rows.back().end;
    if (hasBatch)
      type.shape[0] = part.count();
    if (!hasBatch || !sameType(type, types.outputs[i]))
      return makeError(StatusCode::Unsupported,
                       "output '%s': expected a row for each of the batch, got "
                       "%s for %lld of them",
                       network->outputs()[i].c_str(),
                       toString(types.outputs[i]).c_str(),
                       static_cast<long long>(part.count()));
  }
  return Status::ok();
}

/// What follows from the rows of a part and the shapes of all else. When those
/// contradict each other because some shape depends on the batch, that is said.
Result<NetworkTypes>
DataParallelExecutor::State::inferPart(const BatchPart &part) const {
  KnownVariables known = knownOf(*network, whole);
  for (size_t i = 0; i != isBatched.size(); ++i)
    if (isBatched[i])
      known.shapes[network->arguments()[i]].front() = part.count();
  Result<NetworkTypes> types = network->infer(known);
  if (types.isOk()) {
    DLC_RETURN_IF_ERROR(checkPart(part, *types));
    return types;
  }
  for (size_t i = 0; i != isBatched.size(); ++i)
    if (!isBatched[i])
      known.shapes.erase(network->arguments()[i]);
  if (Result<NetworkTypes> others = network->infer(known); others.isOk())
    DLC_RETURN_IF_ERROR(checkPart(part, *others));
  return std::move(types.status())
      .withContext("rows " + std::to_string(part.rows.begin) + " to " +
                   std::to_string(part.rows.end));
}

/// A first executor of the part, or one that goes on where that of `former` is:
/// its arrays are its own affair, so they may all change and grow.
Result<std::unique_ptr<Executor>>
DataParallelExecutor::State::bindPart(size_t index, const BatchPart &part,
                                      NetworkTypes types,
                                      const BatchPart *former) {
  if (former && index) {
    Bindings bindings = former->executor->state->bindings;
    Bindings bases = former->executor->state->bases;
    DLC_RETURN_IF_ERROR(reshapeBindings(
        *network, types, {}, {.allowsOthers = true, .allowsGrowth = true},
        bindings, bases));
    return Executor::State::succeed(*former->executor, std::move(bindings),
                                    std::move(bases), std::move(types));
  }
  Result<Bindings> bindings = makeBindings(part, types);
  if (!bindings.isOk())
    return std::move(bindings.status());
  if (former) {
    Bindings bases = *bindings; // Those of the whole are what lasts.
    return Executor::State::succeed(*former->executor, std::move(*bindings),
                                    std::move(bases), std::move(types));
  }
  ExecutorOptions bound;
  bound.workers = options.workers;
  bound.seed = options.seed + index;
  bound.programs = index ? parts.front().executor.get() : nullptr;
  bound.releasesEarly = rows.size() > 1;
  bound.memoryBudget = options.memoryBudget;
  return Executor::bind(network, std::move(*bindings), bound);
}

Status DataParallelExecutor::State::addPart(size_t index,
                                            const BatchPart *former) {
  BatchPart part{rows[index], nullptr, {}, {}};
  Result<NetworkTypes> types = inferPart(part);
  if (!types.isOk())
    return std::move(types.status());
  auto executor = bindPart(index, part, std::move(*types), former);
  if (!executor.isOk())
    return std::move(executor.status());
  part.executor = std::move(*executor);
  auto addSent = [&](size_t count, auto &list) {
    for (size_t i = 0; index && i != count; ++i) {
      auto sent = makeShared<SentValues>();
      if (!sent)
        return noMemory();
      sent->bytes = sentBytes;
      list.push_back(std::move(sent));
    }
    return Status::ok();
  };
  DLC_RETURN_IF_ERROR(addSent(whole.arguments.size(), part.sentArguments));
  DLC_RETURN_IF_ERROR(addSent(whole.auxiliaryStates.size(), part.sentStates));
  parts.push_back(std::move(part));
  return Status::ok();
}

Status DataParallelExecutor::State::addParts(const State *former) {
  if (options.devices.size() > 1)
    DLC_RETURN_IF_ERROR(checkSums());
  Result<int64_t> batch = findBatch();
  if (!batch.isOk())
    return std::move(batch.status());
  Result<std::vector<BatchRows>> split = splitBatch(*batch, options.workloads);
  if (!split.isOk())
    return std::move(split.status());
  rows = std::move(*split);
  Result<NetworkTypes> types = network->infer(knownOf(*network, whole));
  if (!types.isOk())
    return std::move(types.status());
  outputTypes = std::move(types->outputs);
  for (size_t i = 0; i != options.devices.size(); ++i)
    DLC_RETURN_IF_ERROR(addPart(i, former ? &former->parts[i] : nullptr));
  return addOutputs();
}

DataParallelExecutor::DataParallelExecutor(std::unique_ptr<State> state)
    : state(std::move(state)) {}
DataParallelExecutor::~DataParallelExecutor() = default;

Result<std::unique_ptr<DataParallelExecutor>>
DataParallelExecutor::make(std::unique_ptr<State> state) {
  std::unique_ptr<DataParallelExecutor> executor(
      new (std::nothrow) DataParallelExecutor(std::move(state)));
  if (!executor)
    return noMemory();
  return executor;
}

Result<std::unique_ptr<DataParallelExecutor>>
DataParallelExecutor::bind(std::shared_ptr<const Network> network,
                           Bindings whole, const DataParallelOptions &options) {
  std::unique_ptr<State> state(new (std::nothrow) State);
  if (!state || !state->sentBytes)
    return noMemory();
  DLC_RETURN_IF_ERROR(checkOptions(*network, options));
  DLC_RETURN_IF_ERROR(checkBindings(*network, whole));
  state->network = std::move(network);
  state->options = options;
  if (options.workloads.empty())
    state->options.workloads.assign(options.devices.size(), 1);
  Context home = whole.arguments.front().context();
  if (home != options.devices.front())
    return makeError(StatusCode::InvalidArgument,
                     "expected arrays on the first device, %s, got them on %s",
                     toString(options.devices.front()).c_str(),
                     toString(home).c_str());
  state->bases = whole;
  state->whole = std::move(whole);
  DLC_RETURN_IF_ERROR(state->addParts(nullptr));
  return make(std::move(state));
}

Result<std::unique_ptr<DataParallelExecutor>> DataParallelExecutor::simpleBind(
    std::shared_ptr<const Network> network,
    const std::shared_ptr<ArrayRuntime> &runtime, const KnownVariables &known,
    const DataParallelOptions &options, GradientRequest otherwise,
    const std::map<std::string, GradientRequest> &requests) {
  DLC_RETURN_IF_ERROR(checkOptions(*network, options));
  Result<Bindings> whole = makeBindings(*network, runtime, known, otherwise,
                                        requests, options.devices.front());
  if (!whole.isOk())
    return std::move(whole.status());
  return bind(std::move(network), std::move(*whole), options);
}

Result<std::unique_ptr<DataParallelExecutor>> DataParallelExecutor::reshape(
    const std::map<std::string, std::vector<int64_t>> &shapes,
    const ReshapeOptions &options) const {
  Result<NetworkTypes> types = inferWith(*state->network, state->whole, shapes);
  if (!types.isOk())
    return std::move(types.status());
  std::unique_ptr<State> next(new (std::nothrow) State);
  if (!next || !next->sentBytes)
    return noMemory();
  next->network = state->network;
  next->options = state->options;
  next->whole = state->whole;
  next->bases = state->bases;
  DLC_RETURN_IF_ERROR(reshapeBindings(*next->network, *types, shapes, options,
                                      next->whole, next->bases));
  DLC_RETURN_IF_ERROR(next->addParts(state.get()));
  return make(std::move(next));
}
