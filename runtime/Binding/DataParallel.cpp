// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Binding/DataParallel.h"

#include "ExecutorState.h"

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
  if (workloads.empty() || !std::isfinite(total))
    return makeError(StatusCode::InvalidArgument,
                     "expected workloads of a finite sum, got %zu",
                     workloads.size());
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

namespace {
/// What one device computes.
struct Part {
  BatchRows rows;
  std::unique_ptr<Executor> executor;
  /// Where its gradients come in on the first device; null where they are
  /// written in place.
  std::vector<NDArray> received;
};
} // namespace

struct DataParallelExecutor::State {
  std::shared_ptr<const Network> network;
  std::shared_ptr<ArrayRuntime> runtime;
  DataParallelOptions options;
  std::vector<BatchRows> rows;
  Bindings whole; ///< Complete.
  std::vector<NDArray> outputs;
  std::vector<bool> isBatched; ///< One for each argument.
  std::vector<Part> parts;

  Result<int64_t> findBatch(const KnownVariables &known);
  Status makeWhole(const NetworkTypes &types);
  Status addPart(size_t index, const KnownVariables &known,
                 const NetworkTypes &types);
  Result<Bindings> makeBindings(size_t index, const NetworkTypes &types);
  Status checkPart(const Part &part, const NetworkTypes &types) const;

  /// Those of the argument in front are wanted first.
  int priorityOf(size_t argument) const {
    return static_cast<int>(whole.arguments.size() - argument);
  }
  Status scatter();
  Status gatherOutputs();
  Status sumGradients();
  Status sumGradient(Part &part, size_t argument);
  /// The rows of a part.
  static Result<NDArray> take(const NDArray &array, BatchRows rows) {
    return array.slice(rows.begin, rows.end);
  }
  Result<std::vector<NDArray>> headsOf(const Part &part,
                                       std::span<const NDArray> heads) const;
};

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

static Status bad(const char *what, const std::string &name,
                  const std::string &message) {
  return Status(StatusCode::InvalidArgument,
                std::string(what) + " '" + name + "': " + message);
}

Result<int64_t>
DataParallelExecutor::State::findBatch(const KnownVariables &known) {
  const std::vector<std::string> &names = network->arguments();
  isBatched.assign(names.size(), false);
  int64_t batch = -1;
  for (const std::string &name : options.batched) {
    auto at = std::ranges::find(names, name);
    if (at == names.end())
      return makeError(StatusCode::InvalidArgument,
                       "expected an argument (%s) with the batch, got '%s'",
                       joinNames(names).c_str(), name.c_str());
    isBatched[at - names.begin()] = true;
    auto shape = known.shapes.find(name);
    if (shape == known.shapes.end() || shape->second.empty() ||
        shape->second.front() < 0)
      return bad("argument", name,
                 "expected a known shape with the batch in front");
    if (batch >= 0 && shape->second.front() != batch)
      return bad("argument", name,
                 "expected a batch of " + std::to_string(batch) + ", got " +
                     std::to_string(shape->second.front()));
    batch = shape->second.front();
  }
  if (batch < 0)
    return makeError(StatusCode::InvalidArgument,
                     "expected arguments with the batch, got none");
  return batch;
}

/// Arrays of the whole, on the first device.
Status DataParallelExecutor::State::makeWhole(const NetworkTypes &types) {
  Context home = options.devices.front();
  auto make = [&](const TensorType &type, std::vector<NDArray> &arrays) {
    Result<NDArray> array = makeZeros(runtime, type, home);
    if (array.isOk())
      arrays.push_back(*array);
    return std::move(array.status());
  };
  const std::vector<std::string> &names = network->arguments();
  for (size_t i = 0; i != names.size(); ++i) {
    const TensorType &type = types.arguments[i];
    DLC_RETURN_IF_ERROR(make(type, whole.arguments));
    auto asked = options.requests.find(names[i]);
    whole.requests.push_back(asked != options.requests.end() ? asked->second
                             : isFloat(type.type) ? options.otherwise
                                                  : GradientRequest::Null);
    if (whole.requests.back() == GradientRequest::Null)
      whole.gradients.emplace_back();
    else
      DLC_RETURN_IF_ERROR(make(type, whole.gradients));
  }
  for (const TensorType &type : types.auxiliaryStates)
    DLC_RETURN_IF_ERROR(make(type, whole.auxiliaryStates));
  for (const TensorType &type : types.outputs)
    DLC_RETURN_IF_ERROR(make(type, outputs));
  return Status::ok();
}

/// Arrays of a part of those types. The first device's are those of the whole,
/// or rows of them.
Result<Bindings>
DataParallelExecutor::State::makeBindings(size_t index,
                                          const NetworkTypes &types) {
  Bindings bindings;
  bindings.requests = whole.requests;
  auto add = [&](const NDArray &array, bool isPart, const TensorType &type,
                 std::vector<NDArray> &arrays) -> Status {
    Result<NDArray> made =
        array.isNull() ? NDArray()
        : index        ? makeZeros(runtime, type, options.devices[index])
        : isPart       ? take(array, rows[index])
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

Status DataParallelExecutor::State::checkPart(const Part &part,
                                              const NetworkTypes &types) const {
  for (size_t i = 0; i != types.arguments.size(); ++i)
    if (!isBatched[i] &&
        !sameType(types.arguments[i], typeOf(whole.arguments[i])))
      return bad("argument", network->arguments()[i],
                 "expected a shape without the batch, got " +
                     toString(typeOf(whole.arguments[i])) + " for the whole, " +
                     toString(types.arguments[i]) + " for a part");
  for (size_t i = 0; i != types.outputs.size(); ++i) {
    TensorType type = typeOf(outputs[i]);
    int64_t count = part.rows.end - part.rows.begin;
    bool hasBatch = !type.shape.empty() && type.shape[0] == rows.back().end;
    if (hasBatch)
      type.shape[0] = count;
    if (!hasBatch || !sameType(type, types.outputs[i]))
      return makeError(StatusCode::Unsupported,
                       "output '%s': expected a row for each of the batch, got "
                       "%s for %lld of them",
                       network->outputs()[i].c_str(),
                       toString(types.outputs[i]).c_str(),
                       static_cast<long long>(count));
  }
  return Status::ok();
}

Status DataParallelExecutor::State::addPart(size_t index,
                                            const KnownVariables &known,
                                            const NetworkTypes &types) {
  Part part{rows[index], nullptr, {}};
  KnownVariables mine = known;
  for (const std::string &name : options.batched)
    mine.shapes[name].front() = part.rows.end - part.rows.begin;
  for (size_t i = 0; i != types.arguments.size(); ++i)
    mine.types[network->arguments()[i]] = types.arguments[i].type;
  Result<NetworkTypes> inferred = network->infer(mine);
  if (!inferred.isOk())
    return std::move(inferred.status());
  DLC_RETURN_IF_ERROR(checkPart(part, *inferred));
  Result<Bindings> bindings = makeBindings(index, *inferred);
  if (!bindings.isOk())
    return std::move(bindings.status());
  for (size_t i = 0; index && i != whole.gradients.size(); ++i) {
    part.received.emplace_back();
    bool isCopied = isBatched[i] && whole.requests[i] == GradientRequest::Write;
    if (whole.gradients[i].isNull() || isCopied)
      continue;
    Result<NDArray> array =
        NDArray::create(runtime, inferred->arguments[i].type,
                        inferred->arguments[i].shape, options.devices.front());
    if (!array.isOk())
      return std::move(array.status());
    part.received.back() = std::move(*array);
  }
  ExecutorOptions bound;
  bound.workers = options.workers;
  bound.seed = options.seed + index;
  bound.programs = index ? parts.front().executor.get() : nullptr;
  auto executor = Executor::bind(network, std::move(*bindings), bound);
  if (!executor.isOk())
    return std::move(executor.status());
  part.executor = std::move(*executor);
  parts.push_back(std::move(part));
  return Status::ok();
}

DataParallelExecutor::DataParallelExecutor(std::unique_ptr<State> state)
    : state(std::move(state)) {}
DataParallelExecutor::~DataParallelExecutor() = default;

Result<std::unique_ptr<DataParallelExecutor>>
DataParallelExecutor::simpleBind(std::shared_ptr<const Network> network,
                                 const std::shared_ptr<ArrayRuntime> &runtime,
                                 const KnownVariables &known,
                                 const DataParallelOptions &options) {
  auto state = std::make_unique<State>();
  state->network = std::move(network);
  state->runtime = runtime;
  state->options = options;
  std::vector<double> &workloads = state->options.workloads;
  if (workloads.empty())
    workloads.assign(options.devices.size(), 1);
  if (options.devices.empty() || workloads.size() != options.devices.size())
    return makeError(StatusCode::InvalidArgument,
                     "expected a workload for each of %zu devices, got %zu",
                     std::max<size_t>(options.devices.size(), 1),
                     workloads.size());
  const std::vector<std::string> &names = state->network->arguments();
  for (const auto &[name, request] : options.requests)
    if (std::ranges::count(names, name) == 0)
      return makeError(StatusCode::InvalidArgument,
                       "expected an argument (%s) to request the gradient of, "
                       "got '%s'",
                       joinNames(names).c_str(), name.c_str());
  Result<int64_t> batch = state->findBatch(known);
  if (!batch.isOk())
    return std::move(batch.status());
  Result<std::vector<BatchRows>> rows = splitBatch(*batch, workloads);
  if (!rows.isOk())
    return std::move(rows.status());
  state->rows = std::move(*rows);
  Result<NetworkTypes> types = state->network->infer(known);
  if (!types.isOk())
    return std::move(types.status());
  DLC_RETURN_IF_ERROR(state->makeWhole(*types));
  for (size_t i = 0; i != options.devices.size(); ++i)
    DLC_RETURN_IF_ERROR(state->addPart(i, known, *types));
  return std::unique_ptr<DataParallelExecutor>(
      new DataParallelExecutor(std::move(state)));
}

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

/// Sends values to all devices but the first, whose they are.
Status DataParallelExecutor::State::scatter() {
  for (size_t i = 0; i != whole.arguments.size(); ++i)
    for (size_t p = 1; p < parts.size(); ++p) {
      Result<NDArray> source = isBatched[i]
                                   ? take(whole.arguments[i], parts[p].rows)
                                   : whole.arguments[i];
      if (!source.isOk())
        return std::move(source.status());
      DLC_RETURN_IF_ERROR(
          source->copyTo(parts[p].executor->arguments()[i], priorityOf(i)));
    }
  for (size_t i = 0; i != whole.auxiliaryStates.size(); ++i)
    for (size_t p = 1; p < parts.size(); ++p)
      DLC_RETURN_IF_ERROR(whole.auxiliaryStates[i].copyTo(
          parts[p].executor->auxiliaryStates()[i], priorityOf(0)));
  return Status::ok();
}

Status DataParallelExecutor::State::gatherOutputs() {
  for (Part &part : parts)
    for (size_t i = 0; i != outputs.size(); ++i) {
      Result<NDArray> target = take(outputs[i], part.rows);
      if (!target.isOk())
        return std::move(target.status());
      DLC_RETURN_IF_ERROR(
          part.executor->outputs()[i].copyTo(*target, priorityOf(0)));
    }
  return Status::ok();
}

/// Adds the gradient of a part to that of the whole, or puts it into its rows.
Status DataParallelExecutor::State::sumGradient(Part &part, size_t argument) {
  NDArray sum = whole.gradients[argument];
  if (isBatched[argument]) {
    Result<NDArray> target = take(sum, part.rows);
    if (!target.isOk())
      return std::move(target.status());
    sum = std::move(*target);
  }
  const NDArray &term = part.executor->gradients()[argument];
  const NDArray &received = part.received[argument];
  int priority = priorityOf(argument);
  if (received.isNull())
    return term.copyTo(sum, priority);
  DLC_RETURN_IF_ERROR(term.copyTo(received, priority));
  const NDArray terms[] = {sum, received};
  return apply("add", terms, {}, {&sum, 1}, priority);
}

Status DataParallelExecutor::State::sumGradients() {
  for (size_t i = 0; i != whole.gradients.size(); ++i)
    for (size_t p = 1; p < parts.size(); ++p)
      if (!whole.gradients[i].isNull())
        DLC_RETURN_IF_ERROR(sumGradient(parts[p], i));
  return Status::ok();
}

Result<std::vector<NDArray>>
DataParallelExecutor::State::headsOf(const Part &part,
                                     std::span<const NDArray> heads) const {
  if (!heads.empty() && heads.size() != outputs.size())
    return makeError(StatusCode::InvalidArgument,
                     "expected a gradient for each of the %zu outputs (%s), "
                     "got %zu",
                     outputs.size(), joinNames(network->outputs()).c_str(),
                     heads.size());
  std::vector<NDArray> mine;
  for (size_t i = 0; i != heads.size(); ++i) {
    mine.emplace_back();
    if (heads[i].isNull())
      continue;
    if (!sameType(typeOf(heads[i]), typeOf(outputs[i])))
      return bad("output", network->outputs()[i],
                 "expected a gradient of " + toString(typeOf(outputs[i])) +
                     ", got " + toString(typeOf(heads[i])));
    Result<NDArray> rows = take(heads[i], part.rows);
    if (!rows.isOk())
      return std::move(rows.status());
    mine.back() = std::move(*rows);
  }
  return mine;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Status DataParallelExecutor::forward(bool isTraining) {
  DLC_RETURN_IF_ERROR(state->scatter());
  for (Part &part : state->parts)
    DLC_RETURN_IF_ERROR(part.executor->forward(isTraining));
  return state->gatherOutputs();
}

Status DataParallelExecutor::backward(std::span<const NDArray> heads) {
  for (Part &part : state->parts) {
    Result<std::vector<NDArray>> mine = state->headsOf(part, heads);
    if (!mine.isOk())
      return std::move(mine.status());
    DLC_RETURN_IF_ERROR(part.executor->backward(*mine));
  }
  return state->sumGradients();
}

Status DataParallelExecutor::forwardBackward(std::span<const NDArray> heads) {
  DLC_RETURN_IF_ERROR(state->scatter());
  for (Part &part : state->parts) {
    Result<std::vector<NDArray>> mine = state->headsOf(part, heads);
    if (!mine.isOk())
      return std::move(mine.status());
    DLC_RETURN_IF_ERROR(part.executor->forwardBackward(*mine));
  }
  DLC_RETURN_IF_ERROR(state->sumGradients());
  return state->gatherOutputs();
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

const Network &DataParallelExecutor::network() const { return *state->network; }
std::span<const BatchRows> DataParallelExecutor::rows() const {
  return state->rows;
}
std::span<const NDArray> DataParallelExecutor::outputs() const {
  return state->outputs;
}
std::span<const NDArray> DataParallelExecutor::arguments() const {
  return state->whole.arguments;
}
std::span<const NDArray> DataParallelExecutor::gradients() const {
  return state->whole.gradients;
}
std::span<const NDArray> DataParallelExecutor::auxiliaryStates() const {
  return state->whole.auxiliaryStates;
}

static Result<NDArray> find(const std::vector<std::string> &names,
                            std::span<const NDArray> arrays,
                            const std::string &name) {
  auto at = std::ranges::find(names, name);
  if (at == names.end() || arrays[at - names.begin()].isNull())
    return makeError(StatusCode::NotFound, "expected one of %s, got '%s'",
                     joinNames(names).c_str(), name.c_str());
  return arrays[at - names.begin()];
}

Result<NDArray> DataParallelExecutor::argument(const std::string &name) const {
  return find(state->network->arguments(), state->whole.arguments, name);
}
Result<NDArray> DataParallelExecutor::gradient(const std::string &name) const {
  return find(state->network->arguments(), state->whole.gradients, name);
}
