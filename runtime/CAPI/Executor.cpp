// SPDX-License-Identifier: Apache-2.0

#include "dlc-c/Executor.h"

#include "Handles.h"
#include "dlc/runtime/Binding/DataParallel.h"
#include "dlc/runtime/Binding/Executor.h"
#include "dlc/runtime/CAPI/Known.h"
#include "dlc/runtime/CAPI/Options.h"

using namespace dlc::rt;

struct DlcNetworkImpl {
  std::shared_ptr<const Network> network;
};

struct DlcExecutorImpl {
  std::unique_ptr<BoundNetwork> executor;
  /// What it is: one of the two.
  Executor *whole = nullptr;
  DataParallelExecutor *parallel = nullptr;
  std::string text = {}; ///< What was handed out last.
};

static_assert(DLC_GRADIENT_NULL == int(GradientRequest::Null) &&
              DLC_GRADIENT_WRITE == int(GradientRequest::Write) &&
              DLC_GRADIENT_ADD == int(GradientRequest::Add));

//===----------------------------------------------------------------------===//
// Arguments and results
//===----------------------------------------------------------------------===//

static DlcStatus handOut(Result<std::unique_ptr<Executor>> result,
                         DlcExecutor *executor) {
  if (!result.isOk())
    return wrap(std::move(result.status()));
  Executor *whole = result->get();
  return makeHandle(executor, std::move(*result), whole);
}

static DlcStatus handOut(Result<std::unique_ptr<DataParallelExecutor>> result,
                         DlcExecutor *executor) {
  if (!result.isOk())
    return wrap(std::move(result.status()));
  DataParallelExecutor *parallel = result->get();
  return makeHandle(executor, std::move(*result), nullptr, parallel);
}

/// For what an executor of parts does not do.
static Status checkWhole(DlcExecutor executor) {
  if (executor->whole)
    return Status::ok();
  return makeError(StatusCode::Unsupported,
                   "expected an executor of the whole batch, got one of parts");
}

static Status toRequest(DlcGradientRequest given, GradientRequest &request) {
  if (unsigned(given) > DLC_GRADIENT_ADD)
    return makeError(StatusCode::InvalidArgument,
                     "expected a gradient request of 0 to 2, got %d",
                     int(given));
  request = GradientRequest(given);
  return Status::ok();
}

static Status toOptions(const DlcExecutorOptions *given,
                        ExecutorOptions &options) {
  if (!given)
    return Status::ok();
  DlcExecutorOptions known = {sizeof(known), nullptr, nullptr, 0, 0, 0};
  DLC_RETURN_IF_ERROR(readOptions(*given, known));
  options.workers = known.pool ? known.pool->pool.get() : nullptr;
  if (known.shared)
    DLC_RETURN_IF_ERROR(checkWhole(known.shared));
  options.shared = known.shared ? known.shared->whole : nullptr;
  options.seed = known.seed;
  options.releasesEarly = known.releasesEarly != 0;
  options.memoryBudget = known.memoryBudget;
  return Status::ok();
}

static Status toOptions(const DlcParallelOptions *given,
                        DataParallelOptions &options) {
  if (!given)
    return missing("options with devices");
  DlcParallelOptions known = {sizeof(known), nullptr, 0, nullptr, nullptr, 0,
                              nullptr,       0,       0};
  DLC_RETURN_IF_ERROR(readOptions(*given, known));
  if ((known.deviceCount && !known.devices) ||
      (known.batchedCount && !known.batched))
    return missing("devices and names of arguments");
  for (size_t i = 0; i != known.deviceCount; ++i)
    DLC_RETURN_IF_ERROR(
        toContext(known.devices[i], options.devices.emplace_back()));
  if (known.workloads)
    options.workloads.assign(known.workloads,
                             known.workloads + known.deviceCount);
  for (size_t i = 0; i != known.batchedCount; ++i) {
    if (!known.batched[i])
      return missing("the name of an argument");
    options.batched.emplace_back(known.batched[i]);
  }
  options.workers = known.pool ? known.pool->pool.get() : nullptr;
  options.seed = known.seed;
  options.memoryBudget = known.memoryBudget;
  return Status::ok();
}

/// Adds what a caller knows of variables.
static Status toKnown(const DlcKnownVariable *given, size_t count,
                      KnownVariables &known) {
  if (count && !given)
    return missing("variables");
  for (size_t i = 0; i != count; ++i) {
    const DlcKnownVariable &variable = given[i];
    if (!variable.name)
      return missing("the name of a variable");
    if (variable.rank != -1) // Nothing is known of the shape.
      DLC_RETURN_IF_ERROR(
          noteShape(variable.name, variable.dims, variable.rank, known.shapes));
    if (numberOf(variable.type) != DLC_INVALID_TYPE)
      DLC_RETURN_IF_ERROR(noteType(variable.name, variable.type, known.types));
  }
  return Status::ok();
}

/// Element types that are given with other shapes are those that are bound.
static Status checkTypesStay(const BoundNetwork &executor,
                             const std::map<std::string, DataType> &types) {
  for (const auto &[name, type] : types) {
    Result<NDArray> array = executor.argument(name);
    if (!array.isOk())
      array = executor.auxiliaryState(name);
    if (!array.isOk())
      return makeError(StatusCode::NotFound,
                       "expected the name of a variable, got '%s'",
                       name.c_str());
    if (array->type() != type)
      return makeError(StatusCode::InvalidArgument,
                       "variable '%s': expected its element type to stay %s, "
                       "got %s",
                       name.c_str(), std::string(nameOf(array->type())).c_str(),
                       std::string(nameOf(type)).c_str());
  }
  return Status::ok();
}

static Status toBindings(const DlcBindings &given, Bindings &bindings) {
  DlcBindings known = {sizeof(known), nullptr, 0, nullptr, nullptr, nullptr, 0};
  DLC_RETURN_IF_ERROR(readOptions(given, known));
  size_t count = known.argumentCount;
  DLC_RETURN_IF_ERROR(toArrays(known.arguments, count, bindings.arguments));
  if (known.gradients)
    DLC_RETURN_IF_ERROR(toArrays(known.gradients, count, bindings.gradients));
  for (size_t i = 0; known.requests && i != count; ++i)
    DLC_RETURN_IF_ERROR(
        toRequest(known.requests[i], bindings.requests.emplace_back()));
  return toArrays(known.auxiliaryStates, known.auxiliaryStateCount,
                  bindings.auxiliaryStates);
}

//===----------------------------------------------------------------------===//
// Networks and binding
//===----------------------------------------------------------------------===//

DlcStatus dlcNetworkAdopt(const void *network, const char *version,
                          DlcNetwork *handle) {
  if (!network || !version || !handle)
    return wrap(missing("a network, a version and a place for the handle"));
  // The two libraries share C++ types, which no two versions promise.
  if (std::string_view(version) != dlcVersion())
    return wrap(makeError(StatusCode::Unsupported,
                          "expected a network of version %s, got one of %s",
                          dlcVersion(), version));
  return makeHandle(
      handle, *static_cast<const std::shared_ptr<const Network> *>(network));
}

void dlcNetworkDestroy(DlcNetwork network) { delete network; }

DlcStatus dlcExecutorBind(DlcNetwork network, const DlcBindings *bindings,
                          const DlcExecutorOptions *options,
                          DlcExecutor *executor) {
  if (!network || !bindings || !executor)
    return wrap(missing("a network, bindings and a place for the executor"));
  Bindings known;
  ExecutorOptions chosen;
  Status status = toBindings(*bindings, known);
  if (status.isOk())
    status = toOptions(options, chosen);
  if (!status.isOk())
    return wrap(std::move(status));
  return handOut(Executor::bind(network->network, std::move(known), chosen),
                 executor);
}

namespace {
/// What is known and asked of new arrays.
struct ArrayRequests {
  KnownVariables known;
  GradientRequest otherwise = GradientRequest::Null;
  std::map<std::string, GradientRequest> asked;

  Status read(const DlcKnownVariable *variables, size_t count,
              DlcGradientRequest usual, const char *const *names,
              const DlcGradientRequest *requests, size_t requestCount) {
    if (requestCount && (!names || !requests))
      return missing("names and requests");
    DLC_RETURN_IF_ERROR(toKnown(variables, count, known));
    DLC_RETURN_IF_ERROR(toRequest(usual, otherwise));
    for (size_t i = 0; i != requestCount; ++i) {
      if (!names[i])
        return missing("the name of an argument");
      DLC_RETURN_IF_ERROR(toRequest(requests[i], asked[names[i]]));
    }
    return Status::ok();
  }
};
} // namespace

DlcStatus dlcExecutorSimpleBind(
    DlcNetwork network, DlcArrayRuntime runtime, DlcContext context,
    const DlcKnownVariable *known, size_t knownCount,
    DlcGradientRequest otherwise, const char *const *names,
    const DlcGradientRequest *requests, size_t requestCount,
    const DlcExecutorOptions *options, DlcExecutor *executor) {
  if (!network || !runtime || !executor)
    return wrap(missing("a network, a runtime and a place for the executor"));
  ArrayRequests arrays;
  ExecutorOptions chosen;
  Context place;
  Status status =
      arrays.read(known, knownCount, otherwise, names, requests, requestCount);
  if (status.isOk())
    status = toOptions(options, chosen);
  if (status.isOk())
    status = toContext(context, place);
  if (!status.isOk())
    return wrap(std::move(status));
  return handOut(Executor::simpleBind(network->network, runtime->runtime,
                                      arrays.known, arrays.otherwise,
                                      arrays.asked, place, chosen),
                 executor);
}

DlcStatus dlcExecutorBindParallel(DlcNetwork network,
                                  const DlcBindings *bindings,
                                  const DlcParallelOptions *options,
                                  DlcExecutor *executor) {
  if (!network || !bindings || !executor)
    return wrap(missing("a network, bindings and a place for the executor"));
  Bindings known;
  DataParallelOptions chosen;
  Status status = toBindings(*bindings, known);
  if (status.isOk())
    status = toOptions(options, chosen);
  if (!status.isOk())
    return wrap(std::move(status));
  return handOut(
      DataParallelExecutor::bind(network->network, std::move(known), chosen),
      executor);
}

DlcStatus dlcExecutorSimpleBindParallel(
    DlcNetwork network, DlcArrayRuntime runtime, const DlcKnownVariable *known,
    size_t knownCount, DlcGradientRequest otherwise, const char *const *names,
    const DlcGradientRequest *requests, size_t requestCount,
    const DlcParallelOptions *options, DlcExecutor *executor) {
  if (!network || !runtime || !executor)
    return wrap(missing("a network, a runtime and a place for the executor"));
  ArrayRequests arrays;
  DataParallelOptions chosen;
  Status status =
      arrays.read(known, knownCount, otherwise, names, requests, requestCount);
  if (status.isOk())
    status = toOptions(options, chosen);
  if (!status.isOk())
    return wrap(std::move(status));
  return handOut(DataParallelExecutor::simpleBind(
                     network->network, runtime->runtime, arrays.known, chosen,
                     arrays.otherwise, arrays.asked),
                 executor);
}

DlcStatus dlcExecutorPartRows(DlcExecutor executor, size_t device,
                              int64_t *begin, int64_t *end) {
  if (!executor || !begin || !end)
    return wrap(missing("an executor and places for the rows"));
  if (!executor->parallel)
    return wrap(makeError(StatusCode::Unsupported,
                          "expected an executor of parts, got one of the whole "
                          "batch"));
  std::span<const BatchRows> rows = executor->parallel->rows();
  if (Status status = checkIndex(device, rows.size()); !status.isOk())
    return wrap(std::move(status));
  *begin = rows[device].begin;
  *end = rows[device].end;
  return nullptr;
}

DlcStatus dlcExecutorReshape(DlcExecutor executor,
                             const DlcKnownVariable *shapes, size_t count,
                             const DlcReshapeOptions *options,
                             DlcExecutor *reshaped) {
  if (!executor || !reshaped)
    return wrap(missing("an executor and a place for the new one"));
  KnownVariables known;
  DlcReshapeOptions chosen = {sizeof(chosen), 0, 0};
  Status status = toKnown(shapes, count, known);
  if (status.isOk())
    status = checkTypesStay(*executor->executor, known.types);
  if (status.isOk() && options)
    status = readOptions(*options, chosen);
  if (!status.isOk())
    return wrap(std::move(status));
  ReshapeOptions allowed{chosen.allowsOthers != 0, chosen.allowsGrowth != 0};
  return executor->whole
             ? handOut(executor->whole->reshape(known.shapes, allowed),
                       reshaped)
             : handOut(executor->parallel->reshape(known.shapes, allowed),
                       reshaped);
}

void dlcExecutorDestroy(DlcExecutor executor) { delete executor; }

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

DlcStatus dlcExecutorForward(DlcExecutor executor, int isTraining) {
  if (!executor)
    return wrap(missing("an executor"));
  return wrap(executor->executor->forward(isTraining != 0));
}

DlcStatus dlcExecutorBackward(DlcExecutor executor, const DlcNDArray *heads,
                              size_t count) {
  if (!executor)
    return wrap(missing("an executor"));
  std::vector<NDArray> given;
  Status status = toArrays(heads, count, given);
  if (status.isOk())
    status = executor->executor->backward(given);
  return wrap(std::move(status));
}

DlcStatus dlcExecutorForwardBackward(DlcExecutor executor,
                                     const DlcNDArray *heads, size_t count) {
  if (!executor)
    return wrap(missing("an executor"));
  std::vector<NDArray> given;
  Status status = toArrays(heads, count, given);
  if (status.isOk())
    status = executor->executor->forwardBackward(given);
  return wrap(std::move(status));
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

namespace {
/// Arrays of a kind with their names.
struct NamedList {
  const std::vector<std::string> *names = nullptr;
  std::span<const NDArray> arrays;
};
} // namespace

static NamedList listOf(const BoundNetwork &executor, DlcExecutorArrays kind) {
  const Network &network = executor.network();
  switch (kind) {
  case DLC_ARRAYS_OUTPUT:
    return {&network.outputs(), executor.outputs()};
  case DLC_ARRAYS_ARGUMENT:
    return {&network.arguments(), executor.arguments()};
  case DLC_ARRAYS_GRADIENT:
    return {&network.arguments(), executor.gradients()};
  case DLC_ARRAYS_AUXILIARY_STATE:
    return {&network.auxiliaryStates(), executor.auxiliaryStates()};
  default:
    return {};
  }
}

size_t dlcExecutorArrayCount(DlcExecutor executor, DlcExecutorArrays kind) {
  return executor ? listOf(*executor->executor, kind).arrays.size() : 0;
}

const char *dlcExecutorArrayName(DlcExecutor executor, DlcExecutorArrays kind,
                                 size_t index) {
  if (index >= dlcExecutorArrayCount(executor, kind))
    return "";
  return (*listOf(*executor->executor, kind).names)[index].c_str();
}

DlcStatus dlcExecutorArray(DlcExecutor executor, DlcExecutorArrays kind,
                           size_t index, DlcNDArray *array) {
  if (!executor || !array)
    return wrap(missing("an executor and a place for the array"));
  NamedList list = listOf(*executor->executor, kind);
  if (Status status = checkIndex(index, list.arrays.size()); !status.isOk())
    return wrap(std::move(status));
  if (list.arrays[index].isNull())
    return wrap(makeError(StatusCode::NotFound,
                          "the gradient of argument '%s' was not requested",
                          (*list.names)[index].c_str()));
  return makeHandle(array, list.arrays[index]);
}

DlcStatus dlcExecutorFind(DlcExecutor executor, DlcExecutorArrays kind,
                          const char *name, DlcNDArray *array) {
  if (!executor || !name || !array)
    return wrap(missing("an executor, a name and a place for the array"));
  const BoundNetwork &known = *executor->executor;
  switch (kind) {
  case DLC_ARRAYS_OUTPUT:
    return handOut(known.output(name), array);
  case DLC_ARRAYS_ARGUMENT:
    return handOut(known.argument(name), array);
  case DLC_ARRAYS_GRADIENT:
    return handOut(known.gradient(name), array);
  case DLC_ARRAYS_AUXILIARY_STATE:
    return handOut(known.auxiliaryState(name), array);
  default:
    return wrap(makeError(StatusCode::InvalidArgument,
                          "expected a kind of 0 to 3, got %d", int(kind)));
  }
}

DlcStatus dlcExecutorCopyParameters(DlcExecutor executor,
                                    DlcExecutorArrays kind,
                                    const char *const *names,
                                    const DlcNDArray *values, size_t count,
                                    int allowsUnknown) {
  if (!executor || (count && (!names || !values)))
    return wrap(missing("an executor, names and values"));
  if (kind != DLC_ARRAYS_ARGUMENT && kind != DLC_ARRAYS_AUXILIARY_STATE)
    return wrap(makeError(StatusCode::InvalidArgument,
                          "expected arguments or auxiliary states, got kind %d",
                          int(kind)));
  std::map<std::string, NDArray> named;
  for (size_t i = 0; i != count; ++i) {
    if (!names[i])
      return wrap(missing("a name"));
    named[names[i]] = toArray(values[i]);
  }
  BoundNetwork &known = *executor->executor;
  bool allows = allowsUnknown != 0;
  return wrap(kind == DLC_ARRAYS_ARGUMENT
                  ? known.copyParameters(named, {}, allows)
                  : known.copyParameters({}, named, allows));
}

//===----------------------------------------------------------------------===//
// Looking inside
//===----------------------------------------------------------------------===//

DlcStatus dlcExecutorSetMonitor(DlcExecutor executor, DlcMonitor monitor,
                                void *data, int tellsVariables) {
  if (!executor)
    return wrap(missing("an executor"));
  BoundNetwork::Monitor function;
  if (monitor)
    function = [monitor, data](const std::string &name, const NDArray &array) {
      DlcNDArrayImpl handle{array};
      monitor(data, name.c_str(), &handle);
    };
  executor->executor->setMonitor(std::move(function), tellsVariables != 0);
  return nullptr;
}

DlcStatus dlcExecutorDescribe(DlcExecutor executor, const char **text) {
  if (!executor || !text)
    return wrap(missing("an executor and a place for the text"));
  executor->text = executor->executor->describe();
  *text = executor->text.c_str();
  return nullptr;
}
