// SPDX-License-Identifier: Apache-2.0

#include "ParamsFormat.h"
#include "Record.h"

#include <algorithm>
#include <cinttypes>

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// What can be written
//===----------------------------------------------------------------------===//

/// A block as its user built it: a known type, a shape with a size, memory.
static Status checkBlock(const ParamsBlock &block) {
  std::optional<int64_t> size = byteCount(block.type, block.shape);
  if (!size || block.shape.size() > DLC_MAX_RANK)
    return makeError(StatusCode::InvalidArgument,
                     "expected a static type of at most %d dimensions, got %s",
                     DLC_MAX_RANK, toString({block.type, block.shape}).c_str());
  if (*size != 0 && !block.data)
    return makeError(StatusCode::InvalidArgument,
                     "expected the data of %s, got null",
                     toString({block.type, block.shape}).c_str());
  return Status::ok();
}

static Status checkDefined(const ParamsArray &array) {
  DLC_RETURN_IF_ERROR(checkBlock(array.values));
  for (const ParamsBlock &block : array.indices)
    DLC_RETURN_IF_ERROR(checkBlock(block));
  bool isDense = array.layout == ParamsLayout::Dense;
  if (!elementCount(array.type.shape) || !array.type.hasRank ||
      array.type.shape.size() > DLC_MAX_RANK ||
      array.values.type != array.type.type ||
      array.indices.size() != indexBlocksOf(array.layout) ||
      (isDense && array.values.shape != array.type.shape))
    return makeError(StatusCode::InvalidArgument,
                     "expected the blocks of %s, got %s and %zu",
                     toString(array.type).c_str(),
                     toString({array.values.type, array.values.shape}).c_str(),
                     array.indices.size());
  return checkBlocks(array, StatusCode::InvalidArgument);
}

/// An undefined array's shapes, as its record holds them.
static Status checkUndefined(const ParamsArray &array) {
  for (const std::vector<int64_t> *shape :
       {&array.type.shape, &array.values.shape})
    if (shape->size() > DLC_MAX_RANK ||
        std::ranges::any_of(*shape, [](int64_t d) { return d < kUnknownDim; }))
      return makeError(StatusCode::InvalidArgument,
                       "expected a shape of at most %d dimensions, got %s",
                       DLC_MAX_RANK, toString({DLC_F32, *shape}).c_str());
  if (!elementCount(array.values.shape))
    return makeError(StatusCode::InvalidArgument,
                     "expected the values to have a static shape");
  return Status::ok();
}

/// What the array's version of the format has no form for.
static Status checkVersion(const ParamsArray &array) {
  ParamsVersion version = array.version;
  auto refuse = [&](const char *what) {
    return makeError(StatusCode::Unsupported, "version %d cannot express %s",
                     static_cast<int>(version), what);
  };
  if (array.layout != ParamsLayout::Dense && version != ParamsVersion::V2)
    return refuse("sparse arrays");
  if (array.isDefined() && isUndefinedShape(version, array.type))
    return refuse("scalars");
  if (!array.isDefined() && !isUndefinedShape(version, array.type))
    return refuse("undefined arrays with a shape");
  if (version == ParamsVersion::V0 &&
      std::ranges::any_of(array.type.shape,
                          [](int64_t dim) { return dim > UINT32_MAX; }))
    return refuse("dimensions of more than 32 bits");
  return Status::ok();
}

static Status checkType(DataType type) {
  if (std::ranges::count(paramsTypes, type))
    return Status::ok();
  return makeError(StatusCode::Unsupported,
                   "expected elements that .params files have a type for, got "
                   "%s",
                   std::string(nameOf(type)).c_str());
}

static Status checkArray(const ParamsArray &array) {
  if (static_cast<int32_t>(array.layout) < 0 ||
      static_cast<int32_t>(array.layout) > 2)
    return makeError(StatusCode::InvalidArgument,
                     "expected a layout of 0 to 2, got %d",
                     static_cast<int>(array.layout));
  DLC_RETURN_IF_ERROR(checkVersion(array));
  if (!array.isDefined())
    return checkUndefined(array);
  DLC_RETURN_IF_ERROR(checkDefined(array));
  DLC_RETURN_IF_ERROR(checkType(array.type.type));
  for (const ParamsBlock &block : array.indices)
    DLC_RETURN_IF_ERROR(checkType(block.type));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

static void putShape(Record &record, std::span<const int64_t> shape) {
  record.put(shape.size(), 4);
  for (int64_t dim : shape)
    record.put(dim, 8);
}

static void putType(Record &record, DataType type) {
  record.put(std::ranges::find(paramsTypes, type) - paramsTypes, 4);
}

/// The magic number, the layout and the shapes.
static void putForm(Record &record, const ParamsArray &array) {
  const std::vector<int64_t> &shape = array.type.shape;
  switch (array.version) {
  case ParamsVersion::V0:
    record.put(shape.size(), 4);
    for (int64_t dim : shape)
      record.put(dim, 4);
    return;
  case ParamsVersion::V1:
    record.put(paramsMagicV1, 4);
    return putShape(record, shape);
  case ParamsVersion::V2:
  case ParamsVersion::V3:
    bool isV2 = array.version == ParamsVersion::V2;
    record.put(isV2 ? paramsMagicV2 : paramsMagicV3, 4);
    record.put(static_cast<int32_t>(array.layout), 4);
    if (array.layout != ParamsLayout::Dense)
      putShape(record, array.values.shape);
    if (!array.type.hasRank)
      record.put(UINT32_MAX, 4);
    else
      putShape(record, shape);
  }
}

static Status writeBlock(OutputFile &file, const ParamsBlock &block) {
  TensorView view = block.view();
  return file.write({view.as<const std::byte>(), view.bytes()});
}

static Status writeArray(OutputFile &file, const ParamsArray &array) {
  Record record;
  putForm(record, array);
  if (!array.isDefined())
    return file.write(record.all());
  record.put(array.device.kind, 4).put(array.device.index, 4);
  putType(record, array.type.type);
  for (const ParamsBlock &block : array.indices) {
    putType(record, block.type);
    putShape(record, block.shape);
  }
  DLC_RETURN_IF_ERROR(file.write(record.all()));
  DLC_RETURN_IF_ERROR(writeBlock(file, array.values));
  for (const ParamsBlock &block : array.indices)
    DLC_RETURN_IF_ERROR(writeBlock(file, block));
  return Status::ok();
}

Status dlc::rt::writeParams(const std::string &path,
                            std::span<const ParamsArray> arrays, bool isNamed) {
  if (isNamed)
    if (Status status = checkUniqueNames(arrays, StatusCode::InvalidArgument);
        !status.isOk())
      return std::move(status).withContext(path);
  Result<OutputFile> file = OutputFile::create(path);
  if (!file.isOk())
    return std::move(file.status());
  Record head;
  head.put(paramsListMagic, 8).put(0, 8).put(arrays.size(), 8);
  DLC_RETURN_IF_ERROR(file->write(head.all()));
  for (size_t i = 0; i != arrays.size(); ++i) {
    if (Status status = checkArray(arrays[i]); !status.isOk())
      return std::move(status).withContext(path + ": array " +
                                           std::to_string(i));
    DLC_RETURN_IF_ERROR(writeArray(*file, arrays[i]));
  }
  Record names;
  names.put(isNamed ? arrays.size() : 0, 8);
  for (const ParamsArray &array : arrays)
    if (isNamed)
      names.put(array.name.size(), 8).put(array.name);
  DLC_RETURN_IF_ERROR(file->write(names.all()));
  return file->commit();
}
