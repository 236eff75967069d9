// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/NDArray/File.h"
#include "Chunk.h"
#include "RunAndWait.h"
#include "dlc/runtime/Base/ByteReader.h"
#include "dlc/runtime/Base/Names.h"
#include "dlc/runtime/IO/Params.h"

#include <algorithm>
#include <new>

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// A block of the storage, whose cap and figures hold for arrays of files too.
static Result<AlignedBuffer> takeBlock(Storage &storage, Context context,
                                       size_t bytes) {
  Result<Allocation> block = storage.allocate(context, bytes);
  if (!block.isOk())
    return std::move(block.status());
  auto *owner = new (std::nothrow) Allocation(std::move(*block));
  if (!owner)
    return makeError(StatusCode::OutOfMemory, "no memory for an array");
  return AlignedBuffer::adopt(
      {static_cast<std::byte *>(owner->data()), bytes},
      [](void *block) { delete static_cast<Allocation *>(block); }, owner);
}

/// Who gives the memory of elements: for cpu devices where they stay, else
/// where they are copied from.
static BufferAllocator allocatorFor(const ArrayRuntime &runtime,
                                    Context context) {
  if (context.kind != DeviceKind::CPU)
    return AlignedBuffer::allocate;
  return [&storage = *runtime.storage(), context](size_t bytes) {
    return takeBlock(storage, context, bytes);
  };
}

/// An array of these elements: over them as they are on cpu devices, else a
/// copy. Texts are shared.
static Result<NDArray> makeArray(const std::shared_ptr<ArrayRuntime> &runtime,
                                 HostTensor tensor, Context context) {
  if (context.kind != DeviceKind::CPU || tensor.texts) {
    Result<NDArray> array =
        NDArray::create(runtime, tensor.type, tensor.shape, context);
    if (array.isOk())
      DLC_RETURN_IF_ERROR(tensor.texts
                              ? array->copyFromTexts(std::span<const Text>(
                                    tensor.texts.get(), size_t(array->size())))
                              : array->copyFromHost(std::span<const std::byte>(
                                    tensor.data.bytes())));
    return array;
  }
  auto *owner = new (std::nothrow) HostTensor(std::move(tensor));
  if (!owner)
    return makeError(StatusCode::OutOfMemory, "no memory for an array");
  auto release = [](void *memory) { delete static_cast<HostTensor *>(memory); };
  Result<NDArray> array =
      NDArray::adopt(runtime, owner->type, owner->shape,
                     {owner->data.data(), false, release, owner}, context);
  if (!array.isOk())
    delete owner;
  return array;
}

namespace {
/// The tensors of a file before they are arrays.
class Loader {
public:
  Loader(const std::shared_ptr<ArrayRuntime> &runtime,
         const LoadOptions &options)
      : runtime(runtime), options(options),
        allocate(allocatorFor(*runtime, options.context)) {}

  Status load(std::span<const std::byte> bytes);
  std::vector<NamedArray> arrays;

private:
  Status loadParams(std::span<const std::byte> bytes);
  Status add(std::string name, Result<HostTensor> tensor);

  const std::shared_ptr<ArrayRuntime> &runtime;
  const LoadOptions &options;
  const BufferAllocator allocate;
};
} // namespace

Status Loader::add(std::string name, Result<HostTensor> tensor) {
  Status status = std::move(tensor.status());
  if (status.isOk()) {
    Result<NDArray> array =
        makeArray(runtime, std::move(*tensor), options.context);
    status = std::move(array.status());
    if (status.isOk())
      arrays.push_back({name, std::move(*array)});
  }
  return name.empty() ? std::move(status)
                      : std::move(status).withContext(toPrintable(name));
}

Status Loader::loadParams(std::span<const std::byte> bytes) {
  Result<ParamsList> list = parseParams(bytes);
  if (!list.isOk())
    return std::move(list.status());
  for (const ParamsArray &array : list->arrays) {
    bool isDense = array.layout == ParamsLayout::Dense;
    if (!array.isDefined())
      arrays.push_back({array.name, NDArray()});
    else
      DLC_RETURN_IF_ERROR(
          add(array.name,
              toDense(array, isDense ? UINT64_MAX : options.sparseByteLimit,
                      allocate)));
  }
  return Status::ok();
}

Status Loader::load(std::span<const std::byte> bytes) {
  uint32_t magic = 0;
  (void)ByteReader(bytes).read(magic); // Without four bytes: no format at all.
  if (magic == 0x4d554e93)             // "\x93NUM"
    return add("", parseNpy(bytes, ElementKinds::All, allocate));
  if (!isNpz(bytes)) {
    if (!isParams(bytes))
      return makeError(StatusCode::DataLoss,
                       "expected an .npy, .npz or .params file, got %zu bytes "
                       "that start as none of them",
                       bytes.size());
    return loadParams(bytes);
  }
  Result<std::vector<NamedTensor>> tensors =
      parseNpz(bytes, ElementKinds::All, allocate);
  if (!tensors.isOk())
    return std::move(tensors.status());
  for (NamedTensor &tensor : *tensors)
    DLC_RETURN_IF_ERROR(add(tensor.name, std::move(tensor.tensor)));
  return Status::ok();
}

Result<std::vector<NamedArray>>
dlc::rt::loadArrays(const std::shared_ptr<ArrayRuntime> &runtime,
                    const std::string &path, const LoadOptions &options) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file.isOk())
    return std::move(file.status());
  Loader loader(runtime, options);
  if (Status status = loader.load(file->bytes()); !status.isOk())
    return std::move(status).withContext(path);
  return std::move(loader.arrays);
}

//===----------------------------------------------------------------------===//
// Saving
//===----------------------------------------------------------------------===//

namespace {
/// What the operation that saves holds.
struct Saving {
  std::string path;
  ArrayFormat format;
  std::vector<std::string> names;
  std::vector<ArrayPiece> pieces;

  Status run() const;

private:
  Status writeAsParams(std::span<const TensorView> views) const;
};
} // namespace

Status Saving::writeAsParams(std::span<const TensorView> views) const {
  // MXNet reads a file of V3 under NumPy's shape rules alone, so all of it is.
  bool needsV3 = std::ranges::any_of(
      views, [](const TensorView &view) { return view.rank() == 0; });
  bool isNamed = !std::ranges::all_of(names, &std::string::empty);
  std::vector<ParamsArray> arrays(views.size());
  for (size_t i = 0; i != arrays.size(); ++i) {
    arrays[i].name = names[i];
    arrays[i].version = needsV3 ? ParamsVersion::V3 : ParamsVersion::V2;
    arrays[i].type = {pieces[i].type, pieces[i].shape};
    arrays[i].values = {pieces[i].type, pieces[i].shape, views[i].data};
  }
  return writeParams(path, arrays, isNamed);
}

Status Saving::run() const {
  std::vector<TensorView> views;
  for (size_t i = 0; i != pieces.size(); ++i) {
    Result<std::byte *> start = pieces[i].readable();
    if (!start.isOk())
      return std::move(start.status())
          .withContext(path + ": array " +
                       (names[i].empty() ? std::to_string(i)
                                         : "'" + toPrintable(names[i]) + "'"));
    views.push_back(pieces[i].view(*start));
  }
  if (format == ArrayFormat::Npy)
    return writeNpy(path, views[0]);
  if (format == ArrayFormat::Params)
    return writeAsParams(views);
  std::vector<NamedView> named;
  for (size_t i = 0; i != views.size(); ++i)
    named.push_back({names[i], views[i]});
  return writeNpz(path, named);
}

Status dlc::rt::saveArrays(const std::string &path,
                           std::span<const NamedArray> arrays,
                           ArrayFormat format) {
  if (format == ArrayFormat::Npy && arrays.size() != 1)
    return makeError(StatusCode::InvalidArgument,
                     "expected one array for an .npy file, got %zu",
                     arrays.size());
  Saving saving{path, format, {}, {}};
  std::vector<Variable> reads;
  for (const NamedArray &named : arrays) {
    DLC_RETURN_IF_ERROR(checkPresent(named.array));
    DLC_RETURN_IF_ERROR(checkHost(named.array.context()));
    DLC_RETURN_IF_ERROR(checkSameEngine(arrays[0].array, named.array));
    saving.names.push_back(named.name);
    saving.pieces.emplace_back(named.array);
    addVariable(reads, named.array.variable());
  }
  if (arrays.empty())
    return saving.run();
  const NDArray &first = arrays[0].array;
  return runAndWait(
      first.runtime()->engine(),
      [saving = std::move(saving)] { return saving.run(); }, first.context(),
      reads, {}, "save");
}
