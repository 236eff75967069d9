// SPDX-License-Identifier: Apache-2.0
//
// Initializers whose values another file has: a checkpoint of the model.

#include "ModelImporter.h"

#include "dlc/runtime/Base/Names.h"
#include "dlc/runtime/IO/Params.h"

#include "llvm/Support/Path.h"

using namespace dlc::onnx;
using llvm::StringRef;
using llvm::Twine;
namespace rt = dlc::rt;

namespace dlc::onnx {
/// A file of arrays, and the memory that tensors made of it refer to.
struct ParameterFile {
  std::string name;
  rt::ParamsList list;
  std::vector<rt::HostTensor> dense; ///< Of sparse arrays.
  std::shared_ptr<const void> model; ///< Kept alive, too.
};
} // namespace dlc::onnx

/// The tensor whose elements are `bytes`, which has the other's name and type.
static Tensor withElements(const Tensor &other,
                           std::span<const std::byte> bytes) {
  Tensor tensor;
  tensor.name = other.name;
  tensor.type = other.type;
  tensor.dims = other.dims;
  tensor.hasRaw = true;
  tensor.raw = {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
  return tensor;
}

bool ModelImporter::replaceInitializer(const rt::ParamsArray &array,
                                       Scope &scope) {
  auto bad = [&](const Twine &message) {
    return fail(Twine(parameters->name) + ": array '" +
                rt::toPrintable(array.name) + "': " + message);
  };
  StringRef name = array.name;
  if (!name.consume_front("arg:"))
    name.consume_front("aux:");
  auto known = scope.initializers.find(name);
  if (known == scope.initializers.end())
    return bad("expected the name of an initializer");
  const Tensor &old = *known->second;
  for (const Tensor &other : replaced)
    if (&other == &old)
      return bad("expected one array for initializer '" +
                 rt::toPrintable(name) + "', got two");
  rt::Result<rt::TensorType> type = typeOf(old);
  if (!type.isOk())
    return bad(type.status().message());
  std::string wanted = rt::toString(*type);
  if (!array.isDefined() || rt::toString(array.type) != wanted)
    return bad("expected " + wanted + ", as the initializer is, got " +
               (array.isDefined() ? rt::toString(array.type)
                                  : std::string("no value")));
  rt::TensorView values = array.values.view();
  if (array.layout != rt::ParamsLayout::Dense) {
    // No larger than what it replaces, which is in a file.
    rt::Result<rt::HostTensor> dense = rt::toDense(array, UINT64_MAX);
    if (!dense.isOk())
      return bad(dense.status().message());
    values = parameters->dense.emplace_back(std::move(*dense)).view();
  }
  replaced.push_back(withElements(
      old, {static_cast<const std::byte *>(values.data), values.bytes()}));
  known->second = &replaced.back();
  return true;
}

/// All or nothing, unless asked otherwise: a model with some values of another
/// training is none.
bool ModelImporter::replaceInitializers(const Graph &graph, Scope &scope) {
  if (options.params.empty())
    return true;
  rt::Result<rt::ParamsList> list = rt::readParams(options.params);
  if (!list.isOk())
    return fail(list.status().message());
  parameters = std::make_shared<ParameterFile>();
  parameters->name = llvm::sys::path::filename(options.params).str();
  parameters->list = std::move(*list);
  parameters->model = std::move(owner);
  owner = parameters;
  if (!parameters->list.isNamed && !parameters->list.arrays.empty())
    return fail(Twine(parameters->name) +
                ": expected arrays with names, got a list without");
  for (const rt::ParamsArray &array : parameters->list.arrays)
    if (!replaceInitializer(array, scope))
      return false;
  if (options.takesSomeParams)
    return true;
  llvm::DenseSet<StringRef> wanted = findParameters(graph);
  for (const Tensor &tensor : graph.initializers)
    if (wanted.contains(tensor.name) &&
        scope.initializers.lookup(tensor.name) == &tensor)
      return fail(Twine(parameters->name) +
                  ": expected an array of parameter '" +
                  rt::toPrintable(tensor.name) + "', got none");
  return true;
}
