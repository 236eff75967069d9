// SPDX-License-Identifier: Apache-2.0

#include "ParamsFormat.h"
#include "dlc/runtime/Base/ByteReader.h"
#include "dlc/runtime/Base/Names.h"

#include <algorithm>
#include <cinttypes>

using namespace dlc::rt;

namespace {

class ListReader {
public:
  ListReader(std::span<const std::byte> bytes, ParamsList &list)
      : in(bytes), list(list) {}

  Status readList();
  Status readDictionary();

private:
  Status readTensor(ParamsArray &array);
  Status readTensorType(DataType &type);
  Status readName(std::string &name);
  Status readArray(ParamsArray &array);
  Status readForm(ParamsArray &array, uint32_t &rankV0);
  Status readShape(bool allowsUnknown, std::vector<int64_t> &shape,
                   bool &hasRank);
  Status readShape(std::vector<int64_t> &shape);
  Status readShapeV0(uint32_t rank, std::vector<int64_t> &shape);
  Status readType(DataType &type);
  Status readData(ParamsBlock &block);
  Status readNames();

  /// The bytes end inside of `what`.
  Status truncated(const char *what) const {
    return makeError(StatusCode::DataLoss,
                     "expected %s at byte %zu, found %zu bytes", what,
                     in.offset(), in.remaining());
  }

  ByteReader in;
  ParamsList &list;
};

} // namespace

//===----------------------------------------------------------------------===//
// Shapes and types
//===----------------------------------------------------------------------===//

static Status checkRank(int64_t rank) {
  // MXNet's own limit is 32: above, this is no shape.
  if (rank < 0 || rank > 32)
    return makeError(StatusCode::DataLoss,
                     "expected a rank of 0 to 32, got %" PRId64, rank);
  if (rank > DLC_MAX_RANK)
    return makeError(StatusCode::Unsupported,
                     "expected at most %d dimensions, got %" PRId64,
                     DLC_MAX_RANK, rank);
  return Status::ok();
}

Status ListReader::readShape(bool allowsUnknown, std::vector<int64_t> &shape,
                             bool &hasRank) {
  int32_t rank;
  if (!in.read(rank))
    return truncated("a shape");
  hasRank = !(allowsUnknown && rank == -1);
  if (!hasRank)
    return Status::ok();
  DLC_RETURN_IF_ERROR(checkRank(rank));
  shape.resize(rank);
  for (int64_t &dim : shape) {
    if (!in.read(dim))
      return truncated("a dimension");
    if (dim < 0 && !(allowsUnknown && dim == kUnknownDim))
      return makeError(StatusCode::DataLoss,
                       "expected a dimension of at least 0, got %" PRId64, dim);
  }
  return Status::ok();
}

Status ListReader::readShape(std::vector<int64_t> &shape) {
  bool hasRank;
  return readShape(/*allowsUnknown=*/false, shape, hasRank);
}

Status ListReader::readShapeV0(uint32_t rank, std::vector<int64_t> &shape) {
  DLC_RETURN_IF_ERROR(checkRank(rank));
  shape.resize(rank);
  for (int64_t &dim : shape) {
    uint32_t value;
    if (!in.read(value))
      return truncated("a dimension");
    dim = value;
  }
  return Status::ok();
}

Status ListReader::readType(DataType &type) {
  int32_t number;
  if (!in.read(number))
    return truncated("an element type");
  if (number < 0 || static_cast<size_t>(number) >= std::size(paramsTypes))
    return makeError(StatusCode::DataLoss,
                     "expected an element type of 0 to %zu, got %d",
                     std::size(paramsTypes) - 1, number);
  type = paramsTypes[number];
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// Takes the bytes of a block: as they lie in the file, or as a copy when its
/// elements would not be aligned there.
Status ListReader::readData(ParamsBlock &block) {
  std::optional<int64_t> size = byteCount(block.type, block.shape);
  std::span<const std::byte> data;
  if (!size || !in.take(*size, data))
    return makeError(StatusCode::DataLoss,
                     "expected the data of %s at byte %zu, found %zu bytes",
                     toString({block.type, block.shape}).c_str(), in.offset(),
                     in.remaining());
  block.data = data.data();
  if (isAligned(data.data(), sizeOf(block.type)))
    return Status::ok();
  Result<AlignedBuffer> copy = AlignedBuffer::allocate(*size);
  if (!copy.isOk())
    return std::move(copy.status());
  std::ranges::copy(data, copy->data());
  block.data = copy->data();
  list.copies.push_back(std::move(*copy));
  return Status::ok();
}

/// Undefined arrays have no data that would show that a shape is too large.
static Status checkCount(std::span<const int64_t> shape) {
  if (elementCount(shape))
    return Status::ok();
  std::string dims;
  for (int64_t dim : shape)
    dims += (dims.empty() ? "" : "x") + std::to_string(dim);
  return makeError(StatusCode::DataLoss,
                   "expected a number of elements within 64 bits, got dims %s",
                   dims.c_str());
}

/// Reads what stands before an array's shape. The first word of a V0 record
/// is its rank.
Status ListReader::readForm(ParamsArray &array, uint32_t &rankV0) {
  uint32_t magic;
  if (!in.read(magic))
    return truncated("an array");
  switch (magic) {
  case paramsMagicV1:
    array.version = ParamsVersion::V1;
    return Status::ok();
  case paramsMagicV2:
    array.version = ParamsVersion::V2;
    break;
  case paramsMagicV3:
    array.version = ParamsVersion::V3;
    break;
  default:
    array.version = ParamsVersion::V0;
    rankV0 = magic;
    if (magic <= 32)
      return Status::ok();
    return makeError(StatusCode::DataLoss,
                     "expected the magic number of an array at byte %zu, got "
                     "0x%08" PRIx32,
                     in.offset() - sizeof(magic), magic);
  }
  int32_t layout;
  if (!in.read(layout))
    return truncated("a layout");
  int32_t last = array.version == ParamsVersion::V3 ? 0 : 2;
  if (layout < 0 || layout > last)
    return makeError(StatusCode::DataLoss,
                     "expected a layout of 0 to %d, got %d", last, layout);
  array.layout = static_cast<ParamsLayout>(layout);
  return Status::ok();
}

Status ListReader::readArray(ParamsArray &array) {
  uint32_t rankV0 = 0;
  DLC_RETURN_IF_ERROR(readForm(array, rankV0));
  size_t indexBlocks = indexBlocksOf(array.layout);
  if (indexBlocks) {
    DLC_RETURN_IF_ERROR(readShape(array.values.shape));
    DLC_RETURN_IF_ERROR(checkCount(array.values.shape));
  }
  if (array.version == ParamsVersion::V0)
    DLC_RETURN_IF_ERROR(readShapeV0(rankV0, array.type.shape));
  else
    DLC_RETURN_IF_ERROR(readShape(array.version == ParamsVersion::V3,
                                  array.type.shape, array.type.hasRank));
  if (isUndefinedShape(array.version, array.type))
    return Status::ok();
  if (!in.read(array.device.kind, array.device.index))
    return truncated("a device");
  DLC_RETURN_IF_ERROR(readType(array.type.type));
  array.values.type = array.type.type;
  if (!indexBlocks)
    array.values.shape = array.type.shape;
  array.indices.resize(indexBlocks);
  for (ParamsBlock &block : array.indices) {
    DLC_RETURN_IF_ERROR(readType(block.type));
    DLC_RETURN_IF_ERROR(readShape(block.shape));
  }
  DLC_RETURN_IF_ERROR(checkCount(array.type.shape));
  DLC_RETURN_IF_ERROR(readData(array.values));
  for (ParamsBlock &block : array.indices)
    DLC_RETURN_IF_ERROR(readData(block));
  return checkBlocks(array, StatusCode::DataLoss);
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

Status ListReader::readName(std::string &name) {
  uint64_t length;
  std::string_view text;
  if (!in.read(length))
    return truncated("the length of a name");
  if (!in.take(length, text))
    return makeError(StatusCode::DataLoss,
                     "expected a name of %" PRIu64
                     " bytes at byte %zu, found %zu bytes",
                     length, in.offset(), in.remaining());
  name = text;
  return Status::ok();
}

Status ListReader::readNames() {
  uint64_t count;
  if (!in.read(count))
    return truncated("the number of names");
  if (count != 0 && count != list.arrays.size())
    return makeError(StatusCode::DataLoss,
                     "expected no names or %zu, got %" PRIu64,
                     list.arrays.size(), count);
  list.isNamed = count != 0;
  for (ParamsArray &array : list.arrays)
    if (list.isNamed)
      DLC_RETURN_IF_ERROR(readName(array.name));
  if (list.isNamed)
    DLC_RETURN_IF_ERROR(checkUniqueNames(list.arrays, StatusCode::DataLoss));
  if (!in.isAtEnd())
    return makeError(StatusCode::DataLoss,
                     "expected the end after the names, found %zu more bytes",
                     in.remaining());
  return Status::ok();
}

Status ListReader::readList() {
  uint64_t magic, reserved, count;
  if (!in.read(magic, reserved) || magic != paramsListMagic || reserved != 0)
    return makeError(StatusCode::DataLoss,
                     "not a list of MXNet's arrays: the magic bytes differ");
  if (!in.read(count))
    return truncated("the number of arrays");
  // The shortest record is an undefined array of V0.
  if (!in.canHold(count, sizeof(uint32_t)))
    return makeError(StatusCode::DataLoss,
                     "expected %" PRIu64 " arrays, found %zu bytes", count,
                     in.remaining());
  for (uint64_t i = 0; i != count; ++i) {
    ParamsArray array;
    if (Status status = readArray(array); !status.isOk())
      return std::move(status).withContext("array " + std::to_string(i));
    list.arrays.push_back(std::move(array));
  }
  return readNames();
}

//===----------------------------------------------------------------------===//
// Dictionaries of NNVM and TVM
//===----------------------------------------------------------------------===//

namespace {
/// DLPack's DLDataType: kinds 0 int, 1 uint, 2 float, 4 bfloat, 6 bool.
struct ElementKind {
  DataType type;
  uint8_t kind, bits;
};
} // namespace

static constexpr ElementKind elementKinds[] = {
    {DLC_I8, 0, 8},    {DLC_I16, 0, 16}, {DLC_I32, 0, 32}, {DLC_I64, 0, 64},
    {DLC_BOOL, 1, 1},  {DLC_U8, 1, 8},   {DLC_U16, 1, 16}, {DLC_U32, 1, 32},
    {DLC_U64, 1, 64},  {DLC_F16, 2, 16}, {DLC_F32, 2, 32}, {DLC_F64, 2, 64},
    {DLC_BF16, 4, 16}, {DLC_BOOL, 6, 8},
};

Status ListReader::readTensorType(DataType &type) {
  uint8_t kind, bits;
  uint16_t lanes;
  if (!in.read(kind, bits, lanes))
    return truncated("an element type");
  for (const ElementKind &each : elementKinds)
    if (each.kind == kind && each.bits == bits && lanes == 1) {
      type = each.type;
      return Status::ok();
    }
  return makeError(StatusCode::Unsupported,
                   "expected elements of integers or floats, got kind %u of "
                   "%u bits and %u lanes",
                   kind, bits, lanes);
}

Status ListReader::readTensor(ParamsArray &array) {
  uint64_t magic, reserved;
  if (!in.read(magic, reserved))
    return truncated("a tensor");
  if (magic != tensorMagic || reserved != 0)
    return makeError(StatusCode::DataLoss,
                     "expected the magic number of a tensor at byte %zu, got "
                     "0x%016" PRIx64,
                     in.offset() - 2 * sizeof(magic), magic);
  int32_t rank;
  if (!in.read(array.device.kind, array.device.index, rank))
    return truncated("a device and a rank");
  DLC_RETURN_IF_ERROR(checkRank(rank));
  DLC_RETURN_IF_ERROR(readTensorType(array.type.type));
  array.version = rank == 0 ? ParamsVersion::V3 : ParamsVersion::V2;
  array.type.shape.resize(rank);
  for (int64_t &dim : array.type.shape) {
    if (!in.read(dim))
      return truncated("a dimension");
    if (dim < 0)
      return makeError(StatusCode::DataLoss,
                       "expected a dimension of at least 0, got %" PRId64, dim);
  }
  DLC_RETURN_IF_ERROR(checkCount(array.type.shape));
  array.values.type = array.type.type;
  array.values.shape = array.type.shape;
  int64_t size;
  if (!in.read(size))
    return truncated("a number of bytes");
  if (size != byteCount(array.type.type, array.type.shape))
    return makeError(StatusCode::DataLoss,
                     "expected as many bytes as %s has, got %" PRId64,
                     toString(array.type).c_str(), size);
  DLC_RETURN_IF_ERROR(readData(array.values));
  return checkBlocks(array, StatusCode::DataLoss);
}

Status ListReader::readDictionary() {
  uint64_t magic, reserved, names, count;
  if (!in.read(magic, reserved) || reserved != 0)
    return makeError(StatusCode::DataLoss,
                     "expected a dictionary of tensors, got other reserved "
                     "bytes than 0");
  if (!in.read(names))
    return truncated("the number of names");
  // The shortest name has its length.
  if (!in.canHold(names, sizeof(uint64_t)))
    return makeError(StatusCode::DataLoss,
                     "expected %" PRIu64 " names, found %zu bytes", names,
                     in.remaining());
  list.isNamed = true;
  for (uint64_t i = 0; i != names; ++i)
    DLC_RETURN_IF_ERROR(readName(list.arrays.emplace_back().name));
  DLC_RETURN_IF_ERROR(checkUniqueNames(list.arrays, StatusCode::DataLoss));
  if (!in.read(count))
    return truncated("the number of tensors");
  if (count != names)
    return makeError(StatusCode::DataLoss,
                     "expected %" PRIu64 " tensors, got %" PRIu64, names,
                     count);
  for (ParamsArray &array : list.arrays)
    if (Status status = readTensor(array); !status.isOk())
      return std::move(status).withContext("tensor '" +
                                           toPrintable(array.name) + "'");
  if (!in.isAtEnd())
    return makeError(StatusCode::DataLoss,
                     "expected the end after the tensors, found %zu more bytes",
                     in.remaining());
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static bool isDictionary(std::span<const std::byte> bytes) {
  uint64_t magic;
  return ByteReader(bytes).read(magic) && magic == dictionaryMagic;
}

bool dlc::rt::isParams(std::span<const std::byte> bytes) {
  uint64_t magic;
  return isDictionary(bytes) ||
         (ByteReader(bytes).read(magic) && magic == paramsListMagic);
}

Result<ParamsList> dlc::rt::parseParams(std::span<const std::byte> bytes) {
  ParamsList list;
  ListReader reader(bytes, list);
  DLC_RETURN_IF_ERROR(isDictionary(bytes) ? reader.readDictionary()
                                          : reader.readList());
  return list;
}

/// Arrays that NumPy saved, each with memory of its own.
static Result<ParamsList> parseArchive(std::span<const std::byte> bytes) {
  Result<std::vector<NamedTensor>> tensors = parseNpz(bytes);
  if (!tensors.isOk())
    return std::move(tensors.status());
  ParamsList list;
  list.isNamed = true;
  for (NamedTensor &each : *tensors) {
    ParamsArray array;
    array.name = std::move(each.name);
    if (each.tensor.shape.empty())
      array.version = ParamsVersion::V3;
    array.type = {each.tensor.type, each.tensor.shape};
    array.values = {each.tensor.type, each.tensor.shape,
                    each.tensor.data.data()};
    list.copies.push_back(std::move(each.tensor.data));
    list.arrays.push_back(std::move(array));
  }
  DLC_RETURN_IF_ERROR(checkUniqueNames(list.arrays, StatusCode::DataLoss));
  return list;
}

Result<ParamsList> dlc::rt::readParams(const std::string &path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file.isOk())
    return std::move(file.status());
  Result<ParamsList> list = isNpz(file->bytes()) ? parseArchive(file->bytes())
                                                 : parseParams(file->bytes());
  if (!list.isOk())
    return std::move(list.status()).withContext(path);
  list->file = std::move(*file);
  return list;
}

const ParamsArray *ParamsList::find(std::string_view name) const {
  auto found = std::ranges::find(arrays, name, &ParamsArray::name);
  return isNamed && found != arrays.end() ? &*found : nullptr;
}
