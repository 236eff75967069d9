// SPDX-License-Identifier: Apache-2.0
//
// Making executors: of what is bound, with new arrays, for other shapes.

#include "ExecutorState.h"

#include <algorithm>

using namespace dlc::rt;

Result<NDArray> dlc::rt::makeZeros(const std::shared_ptr<ArrayRuntime> &runtime,
                                   const TensorType &type, Context context) {
  Result<NDArray> array =
      NDArray::create(runtime, type.type, type.shape, context);
  if (array.isOk())
    DLC_RETURN_IF_ERROR(array->fill(0));
  return array;
}

//===----------------------------------------------------------------------===//
// Bind
//===----------------------------------------------------------------------===//

Executor::Executor(std::unique_ptr<State> state) : state(std::move(state)) {}
Executor::~Executor() = default;

/// Where the first argument is that is in no group, else the first of all.
static Context findContext(const Network &network, const Bindings &bindings) {
  for (size_t i = 0; i != bindings.arguments.size(); ++i)
    if (!network.groupContext(PortRole::Argument, i))
      return bindings.arguments[i].context();
  return firstOf(bindings)->context();
}

Result<std::unique_ptr<Executor>>
Executor::bind(std::shared_ptr<const Network> network, Bindings bindings,
               const ExecutorOptions &options) {
  return State::bind(std::move(network), std::move(bindings), options,
                     std::nullopt, nullptr);
}

Result<std::unique_ptr<Executor>>
Executor::State::bind(std::shared_ptr<const Network> network, Bindings bindings,
                      const ExecutorOptions &options,
                      std::optional<Context> context,
                      std::shared_ptr<ArrayRuntime> home) {
  DLC_RETURN_IF_ERROR(checkBindings(*network, bindings));
  const NDArray *first = firstOf(bindings);
  if (!home && !first)
    return makeError(StatusCode::InvalidArgument,
                     "expected an array to tell the engine, got a network "
                     "without variables: simpleBind is told of one");
  home = first ? first->runtime() : home;
  if (options.memoryBudget < 0)
    return makeError(StatusCode::InvalidArgument,
                     "expected a memory budget of at least 0 bytes, got %lld",
                     static_cast<long long>(options.memoryBudget));
  std::unique_ptr<State> state(new (std::nothrow) State);
  if (!state)
    return noMemory();
  state->network = std::move(network);
  state->bindings = std::move(bindings);
  state->context =
      context ? *context : findContext(*state->network, state->bindings);
  state->workers = options.workers;
  state->seed = options.seed;
  state->releasesEarly = options.releasesEarly;
  state->memoryBudget = options.memoryBudget;
  Result<NetworkTypes> types =
      state->network->infer(knownOf(*state->network, state->bindings));
  if (!types.isOk())
    return std::move(types.status());
  state->types = std::move(*types);
  return State::finish(std::move(state), home, options.shared,
                       options.programs ? options.programs : options.shared);
}

Result<std::unique_ptr<Executor>>
Executor::State::finish(std::unique_ptr<State> state,
                        const std::shared_ptr<ArrayRuntime> &home,
                        const Executor *shared, const Executor *programs) {
  DLC_RETURN_IF_ERROR(state->network->check(state->request(
      state->hasGradients() ? ProgramForm::Step : ProgramForm::Inference)));
  if (shared && &shared->state->memory->home->engine() != &home->engine())
    return makeError(StatusCode::InvalidArgument,
                     "expected an executor of the same engine to share "
                     "memory with");
  state->bases = state->bindings;
  state->findFixed();
  for (size_t i = 0; i != state->types.outputs.size(); ++i) {
    const TensorType &type = state->types.outputs[i];
    Context context = state->network->groupContext(PortRole::Output, i)
                          .value_or(state->context);
    Result<NDArray> array =
        NDArray::create(home, type.type, type.shape, context);
    if (!array.isOk())
      return std::move(array.status());
    state->outputs.push_back(std::move(*array));
  }
  state->memory = shared ? shared->state->memory : nullptr;
  if (!state->memory) {
    auto memory = SharedMemory::create(home);
    if (!memory.isOk())
      return std::move(memory.status());
    state->memory = std::move(*memory);
  }
  bool isSame = programs && programs->state->network == state->network;
  state->programs =
      isSame ? programs->state->programs : makeShared<ProgramCache>();
  if (!state->programs)
    return noMemory();
  return std::unique_ptr<Executor>(new Executor(std::move(state)));
}

/// Those of `role`; what is in no group is on `context`.
static Result<std::vector<NDArray>>
makeAll(const Network &network, PortRole role,
        const std::shared_ptr<ArrayRuntime> &runtime,
        const std::vector<TensorType> &types, Context context) {
  std::vector<NDArray> arrays;
  for (size_t i = 0; i != types.size(); ++i) {
    Result<NDArray> array = makeZeros(
        runtime, types[i], network.groupContext(role, i).value_or(context));
    if (!array.isOk())
      return std::move(array.status());
    arrays.push_back(std::move(*array));
  }
  return arrays;
}

Result<Bindings> dlc::rt::makeBindings(
    const Network &network, const std::shared_ptr<ArrayRuntime> &runtime,
    const KnownVariables &known, GradientRequest otherwise,
    const std::map<std::string, GradientRequest> &requests, Context context) {
  const std::vector<std::string> &names = network.arguments();
  for (const auto &[name, request] : requests)
    if (std::ranges::count(names, name) == 0)
      return makeError(StatusCode::InvalidArgument,
                       "expected an argument (%s) to request the gradient of, "
                       "got '%s'",
                       joinNames(names).c_str(), name.c_str());
  Result<NetworkTypes> types = network.infer(known);
  if (!types.isOk())
    return std::move(types.status());
  Result<std::vector<NDArray>> arguments =
      makeAll(network, PortRole::Argument, runtime, types->arguments, context);
  if (!arguments.isOk())
    return std::move(arguments.status());
  Result<std::vector<NDArray>> states =
      makeAll(network, PortRole::AuxiliaryState, runtime,
              types->auxiliaryStates, context);
  if (!states.isOk())
    return std::move(states.status());
  Bindings bindings{std::move(*arguments), {}, {}, std::move(*states)};
  for (size_t i = 0; i != names.size(); ++i) {
    auto asked = requests.find(names[i]);
    const TensorType &type = types->arguments[i];
    GradientRequest request = asked != requests.end() ? asked->second
                              : isFloat(type.type)    ? otherwise
                                                      : GradientRequest::Null;
    bindings.requests.push_back(request);
    bindings.gradients.emplace_back();
    if (request == GradientRequest::Null)
      continue;
    Result<NDArray> gradient =
        makeZeros(runtime, type, bindings.arguments[i].context());
    if (!gradient.isOk())
      return std::move(gradient.status());
    bindings.gradients.back() = std::move(*gradient);
  }
  return bindings;
}

Result<std::unique_ptr<Executor>>
Executor::simpleBind(std::shared_ptr<const Network> network,
                     const std::shared_ptr<ArrayRuntime> &runtime,
                     const KnownVariables &known, GradientRequest otherwise,
                     const std::map<std::string, GradientRequest> &requests,
                     Context context, const ExecutorOptions &options) {
  Result<Bindings> bindings =
      makeBindings(*network, runtime, known, otherwise, requests, context);
  if (!bindings.isOk())
    return std::move(bindings.status());
  return State::bind(std::move(network), std::move(*bindings), options, context,
                     runtime);
}

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

namespace {
/// Puts arrays of other shapes in the place of those of an executor.
struct Reshaper {
  const std::map<std::string, std::vector<int64_t>> &shapes;
  const ReshapeOptions &options;

  /// Gives `array` the type, in the memory of `base` where it fits.
  Status change(const char *what, const std::string &name,
                const TensorType &type, NDArray &array, NDArray &base) const;

private:
  static Result<NDArray> viewOf(const NDArray &base, const TensorType &type);
};
} // namespace

Result<NDArray> Reshaper::viewOf(const NDArray &base, const TensorType &type) {
  Result<NDArray> flat = base.reshape({-1});
  if (!flat.isOk())
    return flat;
  Result<NDArray> part = flat->slice(0, *elementCount(type.shape));
  return part.isOk() ? part->reshape(type.shape) : std::move(part);
}

Status Reshaper::change(const char *what, const std::string &name,
                        const TensorType &type, NDArray &array,
                        NDArray &base) const {
  if (array.isNull() || sameType(typeOf(array), type))
    return Status::ok();
  if (!options.allowsOthers && !shapes.contains(name))
    return badArray(what, name,
                    "expected its shape to stay " + toString(typeOf(array)) +
                        " or to be given, got " + toString(type));
  if (*elementCount(type.shape) > base.size()) {
    if (!options.allowsGrowth)
      return badArray(what, name,
                      "expected at most the memory of " +
                          toString(typeOf(base)) + ", got " + toString(type));
    Result<NDArray> grown = makeZeros(base.runtime(), type, base.context());
    if (!grown.isOk())
      return std::move(grown.status());
    array = base = std::move(*grown);
    return Status::ok();
  }
  Result<NDArray> view = viewOf(base, type);
  if (!view.isOk())
    return std::move(view.status());
  array = std::move(*view);
  return Status::ok();
}

Result<NetworkTypes>
dlc::rt::inferWith(const Network &network, const Bindings &bindings,
                   const std::map<std::string, std::vector<int64_t>> &shapes) {
  KnownVariables known = knownOf(network, bindings);
  known.shapes = shapes;
  return network.infer(known);
}

Status dlc::rt::reshapeBindings(
    const Network &network, const NetworkTypes &types,
    const std::map<std::string, std::vector<int64_t>> &shapes,
    const ReshapeOptions &options, Bindings &bindings, Bindings &bases) {
  Reshaper reshaper{shapes, options};
  for (size_t i = 0; i != network.arguments().size(); ++i) {
    const std::string &name = network.arguments()[i];
    const TensorType &type = types.arguments[i];
    DLC_RETURN_IF_ERROR(reshaper.change(
        "argument", name, type, bindings.arguments[i], bases.arguments[i]));
    DLC_RETURN_IF_ERROR(reshaper.change("gradient of argument", name, type,
                                        bindings.gradients[i],
                                        bases.gradients[i]));
  }
  for (size_t i = 0; i != network.auxiliaryStates().size(); ++i)
    DLC_RETURN_IF_ERROR(
        reshaper.change("auxiliary state", network.auxiliaryStates()[i],
                        types.auxiliaryStates[i], bindings.auxiliaryStates[i],
                        bases.auxiliaryStates[i]));
  return Status::ok();
}

Result<std::unique_ptr<Executor>>
Executor::State::succeed(const Executor &former, Bindings bindings,
                         Bindings bases, NetworkTypes types) {
  const State &old = *former.state;
  std::unique_ptr<State> next(new (std::nothrow) State);
  if (!next)
    return noMemory();
  next->network = old.network;
  next->bindings = std::move(bindings);
  next->context = old.context;
  next->workers = old.workers;
  next->seed = old.seed;
  next->releasesEarly = old.releasesEarly;
  next->memoryBudget = old.memoryBudget;
  next->random = old.random;
  next->types = std::move(types);
  auto result =
      State::finish(std::move(next), old.memory->home, &former, &former);
  if (result.isOk())
    (*result)->state->bases = std::move(bases);
  return result;
}

Result<std::unique_ptr<Executor>>
Executor::reshape(const std::map<std::string, std::vector<int64_t>> &shapes,
                  const ReshapeOptions &options) const {
  const Network &network = *state->network;
  Result<NetworkTypes> types = inferWith(network, state->bindings, shapes);
  if (!types.isOk())
    return std::move(types.status());
  Bindings bindings = state->bindings, bases = state->bases;
  DLC_RETURN_IF_ERROR(
      reshapeBindings(network, *types, shapes, options, bindings, bases));
  return State::succeed(*this, std::move(bindings), std::move(bases),
                        std::move(*types));
}
