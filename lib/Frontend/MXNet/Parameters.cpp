// SPDX-License-Identifier: Apache-2.0

#include "Parameters.h"

#include "Structure.h"

#include "dlc/runtime/Base/Names.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Path.h"

#include <unordered_set>

using namespace dlc;
using namespace dlc::mxnet;
using rt::Result;
using rt::Status;
using rt::StatusCode;

static void addFault(Parameters &parameters, const std::string &variable,
                     std::string message) {
  parameters.faults.push_back(
      {variable, "null",
       Status(StatusCode::InvalidArgument, std::move(message)), ""});
}

static void addValue(Parameters &parameters, const std::string &variable,
                     const rt::ParamsArray &array) {
  if (!parameters.byVariable.emplace(variable, &array).second)
    addFault(parameters, variable,
             "array '" + rt::toPrintable(array.name) +
                 "': expected one value of variable '" + variable +
                 "', got two");
}

/// "arg:fc_weight", "aux:bn_moving_mean", or the name alone.
static void addByName(Parameters &parameters, const symbol::Symbol &symbol) {
  auto namesOf = [](const std::vector<std::string> &names) {
    return std::unordered_set<std::string>(names.begin(), names.end());
  };
  auto arguments = namesOf(symbol.listArguments());
  auto states = namesOf(symbol.listAuxiliaryStates());
  for (const rt::ParamsArray &array : parameters.list->arrays) {
    llvm::StringRef name = array.name;
    bool isArgument = name.consume_front("arg:");
    bool isState = !isArgument && name.consume_front("aux:");
    std::string variable = name.str();
    bool hasArgument = arguments.contains(variable);
    if (!hasArgument && !states.contains(variable))
      parameters.leftOver.push_back(array.name);
    else if (hasArgument ? isState : isArgument)
      addFault(parameters, variable,
               "expected '" + std::string(hasArgument ? "arg:" : "aux:") +
                   variable + "', got '" + rt::toPrintable(array.name) + "'");
    else
      addValue(parameters, variable, array);
  }
}

/// Names by structure have no groups.
static Status checkStructure(const Parameters &parameters,
                             const symbol::Symbol &symbol) {
  for (const std::string &name : parameters.leftOver)
    if (llvm::StringRef(name).starts_with("arg:") ||
        llvm::StringRef(name).starts_with("aux:"))
      return Status(StatusCode::InvalidArgument,
                    "expected values of variables of this network (" +
                        rt::listSome(symbol.listInputs(), 3) + "), got '" +
                        rt::toPrintable(name) + "' and others of another one");
  return Status::ok();
}

static Status addByStructure(Parameters &parameters,
                             const symbol::Symbol &symbol,
                             const symbol::KnownShapes &shapes,
                             const LayerHints &hints) {
  DLC_RETURN_IF_ERROR(checkStructure(parameters, symbol));
  Result<symbol::Inferred<symbol::Shape>> inferred =
      symbol::inferShapes(symbol, shapes, symbol::Completeness::Partial);
  if (!inferred.isOk()) {
    parameters.symbolFault = std::move(inferred.status());
    return Status::ok();
  }
  auto matched =
      matchByStructure(symbol, shapes, *inferred, hints, *parameters.list);
  if (!matched.isOk())
    return std::move(matched.status())
        .withContext("no array has the name of a variable ('" +
                     rt::toPrintable(parameters.leftOver.front()) +
                     "'), and by structure");
  for (const rt::ParamsArray &array : parameters.list->arrays)
    if (auto found = matched->variableOf.find(array.name);
        found != matched->variableOf.end())
      addValue(parameters, found->second, array);
  if (!matched->guessed.empty())
    parameters.note = "layers are guessed: " + rt::listSome(matched->guessed);
  parameters.leftOver = std::move(matched->leftOver);
  return Status::ok();
}

static Status ofFile(const std::string &path, Status status) {
  return std::move(status).withContext(llvm::sys::path::filename(path).str());
}

Result<Parameters> mxnet::readNamedParameters(const symbol::Symbol &symbol,
                                              const std::string &path) {
  Result<rt::ParamsList> file = rt::readParams(path);
  if (!file.isOk())
    return std::move(file.status());
  Parameters parameters;
  parameters.list = std::make_shared<rt::ParamsList>(std::move(*file));
  if (!parameters.list->isNamed && !parameters.list->arrays.empty())
    return ofFile(path,
                  Status(StatusCode::InvalidArgument,
                         "expected arrays with names, got a list without"));
  addByName(parameters, symbol);
  for (symbol::NodeFault &fault : parameters.faults)
    fault.status = ofFile(path, std::move(fault.status));
  return parameters;
}

Result<Parameters> mxnet::readParameters(const symbol::Symbol &symbol,
                                         const symbol::KnownShapes &shapes,
                                         const std::string &path,
                                         const LayerHints &layers) {
  Result<Parameters> parameters = readNamedParameters(symbol, path);
  if (!parameters.isOk())
    return parameters;
  // Parameters that blocks saved have names by structure.
  if (parameters->byVariable.empty() && parameters->faults.empty() &&
      !parameters->leftOver.empty()) {
    if (Status status = addByStructure(*parameters, symbol, shapes, layers);
        !status.isOk())
      return ofFile(path, std::move(status));
  } else if (!layers.scopeOf.empty()) {
    return ofFile(path, Status(StatusCode::InvalidArgument,
                               "expected no --layer for arrays with the names "
                               "of variables, got '" +
                                   layers.scopeOf.begin()->first + "'"));
  }
  return parameters;
}
