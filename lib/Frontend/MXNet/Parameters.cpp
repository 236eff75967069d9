// SPDX-License-Identifier: Apache-2.0

#include "Parameters.h"

#include "Structure.h"

#include "dlc/runtime/Base/Names.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Path.h"

#include <algorithm>

using namespace dlc;
using namespace dlc::mxnet;
using rt::Result;
using rt::Status;
using rt::StatusCode;

static bool contains(const std::vector<std::string> &names,
                     const std::string &name) {
  return std::ranges::find(names, name) != names.end();
}

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
  std::vector<std::string> arguments = symbol.listArguments();
  std::vector<std::string> states = symbol.listAuxiliaryStates();
  for (const rt::ParamsArray &array : parameters.list->arrays) {
    llvm::StringRef name = array.name;
    bool isArgument = name.consume_front("arg:");
    bool isState = !isArgument && name.consume_front("aux:");
    std::string variable = name.str();
    bool hasArgument = contains(arguments, variable);
    if (!hasArgument && !contains(states, variable))
      parameters.leftOver.push_back(array.name);
    else if (hasArgument ? isState : isArgument)
      addFault(parameters, variable,
               "expected '" + std::string(hasArgument ? "arg:" : "aux:") +
                   variable + "', got '" + rt::toPrintable(array.name) + "'");
    else
      addValue(parameters, variable, array);
  }
}

static Status addByStructure(Parameters &parameters,
                             const symbol::Symbol &symbol,
                             const symbol::KnownShapes &shapes,
                             const std::map<std::string, std::string> &layers) {
  Result<symbol::Inferred<symbol::Shape>> inferred =
      symbol::inferShapes(symbol, shapes, symbol::Completeness::Partial);
  if (!inferred.isOk()) {
    parameters.symbolFault = std::move(inferred.status());
    return Status::ok();
  }
  auto matched =
      matchByStructure(symbol, shapes, *inferred, layers, *parameters.list);
  if (!matched.isOk())
    return std::move(matched.status())
        .withContext("no array has the name of a variable ('" +
                     rt::toPrintable(parameters.leftOver.front()) +
                     "'), and by structure");
  for (const rt::ParamsArray &array : parameters.list->arrays)
    if (auto found = matched->variableOf.find(array.name);
        found != matched->variableOf.end())
      addValue(parameters, found->second, array);
  const auto &[first, variable] = *matched->variableOf.begin();
  parameters.note = std::to_string(matched->variableOf.size()) +
                    " arrays are matched by structure and shape, the first, '" +
                    rt::toPrintable(first) + "', with variable '" + variable +
                    "'";
  if (matched->guesses > 0)
    parameters.note += "; only numbers in names tell " +
                       std::to_string(matched->guesses) +
                       " layers from others with the same shapes";
  parameters.leftOver.clear();
  return Status::ok();
}

Result<Parameters> mxnet::readParameters(
    const symbol::Symbol &symbol, const symbol::KnownShapes &shapes,
    const std::string &path, const std::map<std::string, std::string> &layers) {
  Result<rt::ParamsList> file = rt::readParams(path);
  if (!file.isOk())
    return std::move(file.status());
  Parameters parameters;
  parameters.list = std::make_shared<rt::ParamsList>(std::move(*file));
  auto fail = [&](Status status) {
    return std::move(status).withContext(llvm::sys::path::filename(path).str());
  };
  if (!parameters.list->isNamed && !parameters.list->arrays.empty())
    return fail(Status(StatusCode::InvalidArgument,
                       "expected arrays with names, got a list without"));
  addByName(parameters, symbol);
  // Parameters that blocks saved have names by structure.
  if (parameters.byVariable.empty() && parameters.faults.empty() &&
      !parameters.leftOver.empty())
    if (Status status = addByStructure(parameters, symbol, shapes, layers);
        !status.isOk())
      return fail(std::move(status));
  for (symbol::NodeFault &fault : parameters.faults)
    fault.status = fail(std::move(fault.status));
  return parameters;
}
