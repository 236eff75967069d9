// SPDX-License-Identifier: Apache-2.0

#include "dlc-c/NDArray.h"

#include "Handles.h"
#include "dlc/runtime/Kernel/Reference/Reference.h"
#include "dlc/runtime/NDArray/DLPack.h"
#include "dlc/runtime/NDArray/File.h"

using namespace dlc::rt;

struct DlcNDArrayListImpl {
  std::vector<NamedArray> arrays;
};

struct DlcTextListImpl {
  std::unique_ptr<Text[]> texts;
  size_t size;
};

static_assert(DLC_ARRAY_NPY == int(ArrayFormat::Npy) &&
              DLC_ARRAY_NPZ == int(ArrayFormat::Npz) &&
              DLC_ARRAY_PARAMS == int(ArrayFormat::Params));

//===----------------------------------------------------------------------===//
// Arguments and results
//===----------------------------------------------------------------------===//

/// Moves another kind of result to its place.
template <typename Value, typename Place>
static DlcStatus handOut(Result<Value> result, Place *place) {
  if (!result.isOk())
    return wrap(std::move(result.status()));
  *place = (Place)*result;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Life
//===----------------------------------------------------------------------===//

DlcStatus dlcArrayRuntimeCreate(DlcEngine engine, DlcArrayRuntime *runtime) {
  return dlcArrayRuntimeCreateWith(engine, nullptr, nullptr, runtime);
}

DlcStatus dlcArrayRuntimeCreateWith(DlcEngine engine, DlcStorage storage,
                                    const DlcResourceOptions *options,
                                    DlcArrayRuntime *runtime) {
  if (!engine || !runtime)
    return wrap(missing(engine ? "a place for the runtime" : "an engine"));
  ResourceOptions known;
  if (Status status = readResourceOptions(options, known); !status.isOk())
    return wrap(std::move(status));
  std::shared_ptr<ProfiledStorage> shared =
      storage ? storage->shared : makeShared<ProfiledStorage>();
  auto made = shared ? makeShared<ArrayRuntime>(engine->engine,
                                                storageOf(shared), known)
                     : nullptr;
  if (!made)
    return wrap(noMemory("a runtime for arrays"));
  return makeHandle(runtime, std::move(made), std::move(shared));
}

DlcStatus dlcArrayRuntimeGetStorage(DlcArrayRuntime runtime,
                                    DlcStorage *storage) {
  if (!runtime || !storage)
    return wrap(missing("a runtime for arrays and a place for its storage"));
  return makeHandle(storage, runtime->storage);
}

DlcStatus dlcArrayRuntimeGetResources(DlcArrayRuntime runtime,
                                      DlcResources *resources) {
  if (!runtime || !resources)
    return wrap(missing("a runtime for arrays and a place for its resources"));
  return makeHandle(resources,
                    std::shared_ptr<ResourceManager>(
                        runtime->runtime, &runtime->runtime->resources()));
}

void dlcArrayRuntimeDestroy(DlcArrayRuntime runtime) { delete runtime; }

DlcStatus dlcArrayRuntimeSeed(DlcArrayRuntime runtime, uint64_t seed) {
  if (!runtime)
    return wrap(missing("a runtime for arrays"));
  return wrap(runtime->runtime->resources().seed(seed));
}

DlcStatus dlcNDArrayCreate(DlcArrayRuntime runtime, DlcDataType type,
                           const int64_t *shape, int32_t rank,
                           DlcContext context, DlcNDArray *array) {
  if (!runtime || !array)
    return wrap(missing(runtime ? "a place for the array" : "a runtime"));
  std::span<const int64_t> dims;
  Context place;
  Status status = checkElementType(type);
  if (status.isOk())
    status = toShape(shape, rank, dims);
  if (status.isOk())
    status = toContext(context, place);
  if (!status.isOk())
    return wrap(std::move(status));
  return handOut(NDArray::create(runtime->runtime, type, dims, place), array);
}

void dlcNDArrayDestroy(DlcNDArray array) { delete array; }

DlcStatus dlcNDArrayDescribe(DlcNDArray array, DlcTensor *tensor) {
  if (!array || !tensor)
    return wrap(missing("an array and a place for its description"));
  *tensor = {nullptr, array->array.shape().data(), int32_t(array->array.rank()),
             array->array.type()};
  return nullptr;
}

DlcStatus dlcNDArrayGetContext(DlcNDArray array, DlcContext *context) {
  if (!array || !context)
    return wrap(missing("an array and a place for its device"));
  *context = fromContext(array->array.context());
  return nullptr;
}

DlcStatus dlcNDArrayGetVariable(DlcNDArray array, DlcVariable *variable) {
  if (!array || !variable)
    return wrap(missing("an array and a place for its variable"));
  Variable known = array->array.variable();
  *variable = fromVariable(known);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Views and operations
//===----------------------------------------------------------------------===//

DlcStatus dlcNDArraySlice(DlcNDArray array, int64_t begin, int64_t end,
                          DlcNDArray *view) {
  if (!view)
    return wrap(missing("a place for the view"));
  return handOut(toArray(array).slice(begin, end), view);
}

DlcStatus dlcNDArrayAt(DlcNDArray array, int64_t index, DlcNDArray *view) {
  if (!view)
    return wrap(missing("a place for the view"));
  return handOut(toArray(array).at(index), view);
}

DlcStatus dlcNDArrayReshape(DlcNDArray array, const int64_t *shape,
                            int32_t rank, DlcNDArray *view) {
  if (!view)
    return wrap(missing("a place for the view"));
  std::span<const int64_t> dims;
  if (Status status = toShape(shape, rank, dims); !status.isOk())
    return wrap(std::move(status));
  return handOut(toArray(array).reshape(dims), view);
}

DlcStatus dlcNDArrayCopyTo(DlcNDArray array, DlcNDArray target) {
  return wrap(toArray(array).copyTo(toArray(target)));
}

DlcStatus dlcNDArrayFill(DlcNDArray array, double value) {
  return wrap(toArray(array).fill(value));
}

DlcStatus dlcNDArrayFillUniform(DlcNDArray array, double low, double high) {
  return wrap(toArray(array).fillUniform(low, high));
}

DlcStatus dlcNDArrayFillNormal(DlcNDArray array, double mean,
                               double deviation) {
  return wrap(toArray(array).fillNormal(mean, deviation));
}

DlcStatus dlcNDArrayApply(const char *operation, const DlcNDArray *inputs,
                          size_t inputCount, const DlcNDArray *outputs,
                          size_t outputCount) {
  return dlcNDArrayApplyWith(operation, nullptr, 0, 0, inputs, inputCount,
                             outputs, outputCount);
}

size_t dlcOperationCount(void) { return ref::operations().size(); }

// The names are literals: they end in a zero.

const char *dlcOperationName(size_t index) {
  std::span<const ref::Operation> all = ref::operations();
  return index < all.size() ? all[index].name.data() : nullptr;
}

DlcStatus dlcOperationAttributes(const char *operation, const char **names) {
  if (!operation || !names)
    return wrap(missing("the name of an operation and a place for those of its "
                        "attributes"));
  Result<const ref::Operation *> found = findOperation(operation);
  if (!found.isOk())
    return wrap(std::move(found.status()));
  std::string_view known = ref::attributeNames((*found)->name);
  *names = known.empty() ? "" : known.data();
  return nullptr;
}

static Status toValue(const DlcAttribute &given, AttributeValue &value) {
  if (!given.value && (given.kind < DLC_ATTRIBUTE_INTS || given.count != 0))
    return missing("the value of an attribute");
  if (given.kind >= DLC_ATTRIBUTE_INTS && given.count > INT32_MAX)
    return makeError(StatusCode::InvalidArgument,
                     "expected less than 2^31 elements of attribute '%s', got "
                     "%zu",
                     given.name, given.count);
  const auto *ints = static_cast<const int64_t *>(given.value);
  const auto *floats = static_cast<const double *>(given.value);
  switch (given.kind) {
  case DLC_ATTRIBUTE_INT:
    value = *ints;
    break;
  case DLC_ATTRIBUTE_FLOAT:
    value = *floats;
    break;
  case DLC_ATTRIBUTE_TEXT:
    value = std::string(static_cast<const char *>(given.value));
    break;
  case DLC_ATTRIBUTE_INTS:
    value = std::vector<int64_t>(ints, ints + given.count);
    break;
  case DLC_ATTRIBUTE_FLOATS:
    value = std::vector<double>(floats, floats + given.count);
    break;
  default:
    return outOfRange("a kind of attribute", given.kind);
  }
  return Status::ok();
}

static Status toAttributes(const DlcAttribute *given, size_t count,
                           Attributes &attributes) {
  if (count && !given)
    return missing("attributes");
  for (size_t i = 0; i != count; ++i) {
    if (!given[i].name)
      return missing("the name of an attribute");
    if (attributes.has(given[i].name))
      return makeError(StatusCode::InvalidArgument,
                       "expected one attribute '%s', got two", given[i].name);
    AttributeValue value;
    DLC_RETURN_IF_ERROR(toValue(given[i], value));
    attributes.set(given[i].name, std::move(value));
  }
  return Status::ok();
}

DlcStatus dlcNDArrayApplyWith(const char *operation,
                              const DlcAttribute *attributes,
                              size_t attributeCount, int32_t priority,
                              const DlcNDArray *inputs, size_t inputCount,
                              const DlcNDArray *outputs, size_t outputCount) {
  if (!operation)
    return wrap(missing("the name of an operation"));
  std::vector<NDArray> from, to;
  Attributes known;
  Status status = toAttributes(attributes, attributeCount, known);
  if (status.isOk())
    status = toArrays(inputs, inputCount, from);
  if (status.isOk())
    status = toArrays(outputs, outputCount, to);
  if (status.isOk())
    status = apply(operation, from, known, to, priority);
  return wrap(std::move(status));
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

DlcStatus dlcNDArrayWait(DlcNDArray array, DlcVariableUse use) {
  VariableUse known;
  if (Status status = toUse(use, known); !status.isOk())
    return wrap(std::move(status));
  const NDArray &given = toArray(array);
  return wrap(known == VariableUse::Read ? given.waitToRead()
                                         : given.waitToWrite());
}

DlcStatus dlcNDArrayVersion(DlcNDArray array, uint64_t *version) {
  if (!version)
    return wrap(missing("a place for the version"));
  return handOut(toArray(array).version(), version);
}

DlcStatus dlcNDArrayCopyFromHost(DlcNDArray array, const void *bytes,
                                 size_t size) {
  if (size && !bytes)
    return wrap(missing("host memory"));
  return wrap(toArray(array).copyFromHost(
      std::span(static_cast<const std::byte *>(bytes), size)));
}

DlcStatus dlcNDArrayCopyToHost(DlcNDArray array, void *bytes, size_t size) {
  if (size && !bytes)
    return wrap(missing("host memory"));
  return wrap(toArray(array).copyToHost(
      std::span(static_cast<std::byte *>(bytes), size)));
}

DlcStatus dlcNDArrayCopyFromTexts(DlcNDArray array, const DlcText *texts,
                                  size_t count) {
  if (count && !texts)
    return wrap(missing("texts"));
  std::unique_ptr<std::string_view[]> views(new (std::nothrow)
                                                std::string_view[count]);
  if (!views)
    return wrap(noMemory("texts"));
  for (size_t i = 0; i != count; ++i) {
    if (!texts[i].bytes && texts[i].length)
      return wrap(missing("the bytes of a text"));
    if (texts[i].length)
      views[i] = {texts[i].bytes, texts[i].length};
  }
  return wrap(toArray(array).copyFromTexts(
      std::span<const std::string_view>(views.get(), count)));
}

DlcStatus dlcNDArrayCopyToTexts(DlcNDArray array, DlcTextList *list) {
  if (!list)
    return wrap(missing("a place for the list"));
  const NDArray &given = toArray(array);
  Result<std::unique_ptr<Text[]>> texts = given.copyToTexts();
  if (!texts.isOk())
    return wrap(std::move(texts.status()));
  auto *made = new (std::nothrow)
      DlcTextListImpl{std::move(*texts), size_t(given.size())};
  if (!made)
    return wrap(noMemory("texts"));
  *list = made;
  return nullptr;
}

size_t dlcTextListSize(DlcTextList list) { return list ? list->size : 0; }

DlcStatus dlcTextListGet(DlcTextList list, size_t index, DlcText *text) {
  if (!list || !text)
    return wrap(missing("a list and a place for the text"));
  if (Status status = checkIndex(index, list->size); !status.isOk())
    return wrap(std::move(status));
  std::string_view view = list->texts[index].view();
  *text = {view.data(), view.size()};
  return nullptr;
}

void dlcTextListDestroy(DlcTextList list) { delete list; }

DlcStatus dlcNDArrayHostAccess(DlcNDArray array, DlcVariableUse use,
                               void **data) {
  if (!data)
    return wrap(missing("a place for the address"));
  VariableUse known;
  if (Status status = toUse(use, known); !status.isOk())
    return wrap(std::move(status));
  return handOut(toArray(array).hostAccess(known), data);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

DlcStatus dlcNDArrayLoad(DlcArrayRuntime runtime, const char *path,
                         DlcContext context, DlcNDArrayList *list) {
  if (!runtime || !path || !list)
    return wrap(missing("a runtime, a path and a place for the list"));
  LoadOptions options;
  if (Status status = toContext(context, options.context); !status.isOk())
    return wrap(std::move(status));
  auto arrays = loadArrays(runtime->runtime, path, options);
  if (!arrays.isOk())
    return wrap(std::move(arrays.status()));
  return makeHandle(list, std::move(*arrays));
}

size_t dlcNDArrayListSize(DlcNDArrayList list) {
  return list ? list->arrays.size() : 0;
}

const char *dlcNDArrayListName(DlcNDArrayList list, size_t index) {
  return index < dlcNDArrayListSize(list) ? list->arrays[index].name.c_str()
                                          : "";
}

DlcStatus dlcNDArrayListGet(DlcNDArrayList list, size_t index,
                            DlcNDArray *array) {
  if (!list || !array)
    return wrap(missing("a list and a place for the array"));
  if (Status status = checkIndex(index, list->arrays.size()); !status.isOk())
    return wrap(std::move(status));
  const NamedArray &found = list->arrays[index];
  if (found.array.isNull())
    return wrap(makeError(StatusCode::NotFound,
                          "array %zu was saved without a shape", index));
  return makeHandle(array, found.array);
}

void dlcNDArrayListDestroy(DlcNDArrayList list) { delete list; }

DlcStatus dlcNDArraySave(const char *path, DlcArrayFormat format,
                         const char *const *names, const DlcNDArray *arrays,
                         size_t count) {
  if (!path || (count && !arrays))
    return wrap(missing(path ? "arrays" : "a path"));
  if (unsigned(format) > DLC_ARRAY_PARAMS)
    return wrap(makeError(StatusCode::InvalidArgument,
                          "expected a format of 0 to 2, got %d", int(format)));
  if (Status status = checkArrayCount(count); !status.isOk())
    return wrap(std::move(status));
  std::vector<NamedArray> named;
  for (size_t i = 0; i != count; ++i) {
    if (names && !names[i])
      return wrap(missing("a name"));
    named.push_back({names ? names[i] : "", toArray(arrays[i])});
  }
  return wrap(saveArrays(path, named, ArrayFormat(format)));
}

//===----------------------------------------------------------------------===//
// DLPack
//===----------------------------------------------------------------------===//

DlcStatus dlcNDArrayToDLPack(DlcNDArray array, DlcVariableUse use,
                             DLManagedTensorVersioned **tensor) {
  VariableUse known;
  if (!tensor)
    return wrap(missing("a place for the tensor"));
  if (Status status = toUse(use, known); !status.isOk())
    return wrap(std::move(status));
  return handOut(toDLPackVersioned(toArray(array), known), tensor);
}

DlcStatus dlcNDArrayToOldDLPack(DlcNDArray array, DlcVariableUse use,
                                DLManagedTensor **tensor) {
  VariableUse known;
  if (!tensor)
    return wrap(missing("a place for the tensor"));
  if (Status status = toUse(use, known); !status.isOk())
    return wrap(std::move(status));
  return handOut(toDLPack(toArray(array), known), tensor);
}

DlcStatus dlcNDArrayFromDLPack(DlcArrayRuntime runtime,
                               DLManagedTensorVersioned *tensor,
                               DlcNDArray *array) {
  if (!runtime || !array)
    return wrap(missing(runtime ? "a place for the array" : "a runtime"));
  auto *known = reinterpret_cast<dlpack::ManagedTensorVersioned *>(tensor);
  return handOut(fromDLPack(runtime->runtime, known), array);
}

DlcStatus dlcNDArrayFromOldDLPack(DlcArrayRuntime runtime,
                                  DLManagedTensor *tensor, DlcNDArray *array) {
  if (!runtime || !array)
    return wrap(missing(runtime ? "a place for the array" : "a runtime"));
  auto *known = reinterpret_cast<dlpack::ManagedTensor *>(tensor);
  return handOut(fromDLPack(runtime->runtime, known), array);
}
