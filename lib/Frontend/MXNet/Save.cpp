// SPDX-License-Identifier: Apache-2.0

#include "dlc/Frontend/MXNet/Save.h"

#include "Parameters.h"

#include "dlc/Symbol/Json.h"
#include "dlc/runtime/Base/File.h"
#include "dlc/runtime/Base/Names.h"

#include "llvm/Support/Path.h"

using namespace dlc;
using namespace dlc::mxnet;
using rt::Result;
using rt::Status;

/// As MXNet 1.9.1 writes it: older forms of records have newer ones, and only
/// the newest has scalars.
static rt::ParamsArray renewed(const rt::ParamsArray &array, std::string name) {
  rt::ParamsArray result = array;
  result.name = std::move(name);
  if (array.version < rt::ParamsVersion::V2)
    result.version = rt::ParamsVersion::V2;
  return result;
}

Result<SavedNetwork> mxnet::readNetwork(const std::string &path,
                                        const ImportOptions &options) {
  Result<rt::MappedFile> file = rt::MappedFile::open(path);
  if (!file.isOk())
    return std::move(file.status());
  auto fail = [&](Status status) {
    return std::move(status).withContext(llvm::sys::path::filename(path).str());
  };
  std::span<const std::byte> bytes = file->bytes();
  Result<symbol::Symbol> symbol = symbol::fromJson(
      {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  if (!symbol.isOk())
    return fail(std::move(symbol.status()));
  SavedNetwork network;
  Result<std::string> json = symbol::toJson(*symbol);
  if (!json.isOk())
    return fail(std::move(json.status()));
  network.json = std::move(*json);
  if (options.params.empty())
    return network;
  symbol::KnownShapes shapes;
  for (const auto &[variable, shape] : options.inputShapes)
    shapes[variable] = shape;
  Result<Parameters> parameters =
      readParameters(*symbol, shapes, options.params, options.layers);
  if (!parameters.isOk())
    return std::move(parameters.status());
  if (!parameters->symbolFault.isOk())
    return fail(std::move(parameters->symbolFault));
  if (!parameters->faults.empty())
    return std::move(parameters->faults.front().status);
  auto add = [&](const char *prefix, const std::vector<std::string> &names) {
    for (const std::string &name : names)
      if (auto found = parameters->byVariable.find(name);
          found != parameters->byVariable.end())
        network.arrays.push_back(renewed(*found->second, prefix + name));
  };
  add("arg:", symbol->listArguments());
  add("aux:", symbol->listAuxiliaryStates());
  network.list = parameters->list;
  if (!parameters->note.empty())
    network.notes.push_back(parameters->note);
  for (const std::string &array : parameters->leftOver)
    network.notes.push_back("array '" + rt::toPrintable(array) +
                            "' belongs to no variable and is left out");
  return network;
}
