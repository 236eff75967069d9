// SPDX-License-Identifier: Apache-2.0
//
// What holds of every array of a list, read or to be written.

#include "dlc/runtime/IO/Params.h"
#include "Elements.h"
#include "ParamsFormat.h"
#include "dlc/runtime/Base/Names.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

using namespace dlc::rt;

bool dlc::rt::isUndefinedShape(ParamsVersion version, const TensorType &type) {
  if (version != ParamsVersion::V3)
    return type.shape.empty();
  return !type.hasRank || std::ranges::count(type.shape, kUnknownDim) != 0;
}

size_t dlc::rt::indexBlocksOf(ParamsLayout layout) {
  return static_cast<size_t>(layout);
}

Status dlc::rt::checkUniqueNames(std::span<const ParamsArray> arrays,
                                 StatusCode code) {
  std::vector<std::string_view> names;
  for (const ParamsArray &array : arrays)
    names.push_back(array.name);
  return checkDistinct(std::move(names), "arrays", code);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

static std::span<const int64_t> valuesOf(const ParamsBlock &block) {
  return {static_cast<const int64_t *>(block.data),
          static_cast<size_t>(block.shape[0])};
}

/// The type and shape of index block `number`.
static Status checkIndexBlock(const ParamsArray &array, size_t number,
                              int64_t count, StatusCode code) {
  const ParamsBlock &block = array.indices[number];
  if (block.type != DLC_I64)
    return makeError(StatusCode::Unsupported, "expected indices of i64, got %s",
                     std::string(nameOf(block.type)).c_str());
  if (block.shape.size() == 1 && block.shape[0] == count)
    return Status::ok();
  return makeError(code, "expected indices of %" PRId64 "xi64, got %s", count,
                   toString({block.type, block.shape}).c_str());
}

/// `indices` ascend, each below `limit` and none negative.
static Status checkAscending(std::span<const int64_t> indices, int64_t limit,
                             const char *what, StatusCode code) {
  int64_t last = -1;
  for (int64_t index : indices) {
    if (index <= last || index >= limit)
      return makeError(code,
                       "expected ascending %s below %" PRId64 ", got %" PRId64
                       " after %" PRId64,
                       what, limit, index, last);
    last = index;
  }
  return Status::ok();
}

static Status checkRowSparse(const ParamsArray &array, StatusCode code) {
  const std::vector<int64_t> &shape = array.type.shape;
  const std::vector<int64_t> &stored = array.values.shape;
  if (stored.size() != shape.size() ||
      !std::equal(stored.begin() + 1, stored.end(), shape.begin() + 1))
    return makeError(code, "expected rows of %s, got %s",
                     toString(array.type).c_str(),
                     toString({array.type.type, stored}).c_str());
  DLC_RETURN_IF_ERROR(checkIndexBlock(array, 0, stored[0], code));
  return checkAscending(valuesOf(array.indices[0]), shape[0], "rows", code);
}

static Status checkCsr(const ParamsArray &array, StatusCode code) {
  const std::vector<int64_t> &shape = array.type.shape;
  const std::vector<int64_t> &stored = array.values.shape;
  if (shape.size() != 2 || stored.size() != 1)
    return makeError(code,
                     "expected a matrix and a vector of its elements, got %s "
                     "and %s",
                     toString(array.type).c_str(),
                     toString({array.type.type, stored}).c_str());
  DLC_RETURN_IF_ERROR(checkIndexBlock(array, 1, stored[0], code));
  const ParamsBlock &startBlock = array.indices[0];
  if (stored[0] == 0 && startBlock.shape.size() == 1 &&
      startBlock.shape[0] == 0)
    return Status::ok(); // MXNet's form of a matrix that was never set.
  if (shape[0] == INT64_MAX)
    return makeError(code, "expected fewer rows than %" PRId64, shape[0]);
  DLC_RETURN_IF_ERROR(checkIndexBlock(array, 0, shape[0] + 1, code));
  std::span<const int64_t> starts = valuesOf(startBlock);
  if (starts.front() != 0 || starts.back() != stored[0])
    return makeError(code,
                     "expected rows from 0 to %" PRId64 ", got %" PRId64
                     " to %" PRId64,
                     stored[0], starts.front(), starts.back());
  if (auto drop = std::ranges::adjacent_find(starts, std::ranges::greater());
      drop != starts.end())
    return makeError(
        code, "expected rows to start in order, got %" PRId64 " after %" PRId64,
        drop[1], drop[0]);
  for (size_t row = 0; row + 1 != starts.size(); ++row)
    DLC_RETURN_IF_ERROR(
        checkAscending(valuesOf(array.indices[1])
                           .subspan(starts[row], starts[row + 1] - starts[row]),
                       shape[1], "columns", code));
  return Status::ok();
}

Status dlc::rt::checkBlocks(const ParamsArray &array, StatusCode code) {
  TensorView values = array.values.view();
  DLC_RETURN_IF_ERROR(checkElements(
      values.type, {values.as<const std::byte>(), values.bytes()}, code));
  switch (array.layout) {
  case ParamsLayout::Dense:
    return Status::ok();
  case ParamsLayout::RowSparse:
    return checkRowSparse(array, code);
  case ParamsLayout::Csr:
    return checkCsr(array, code);
  }
  return makeError(code, "expected a layout of 0 to 2, got %d",
                   static_cast<int>(array.layout));
}

//===----------------------------------------------------------------------===//
// Dense copies
//===----------------------------------------------------------------------===//

/// Copies the stored rows to their places.
static void scatterRows(const ParamsArray &array, std::byte *target) {
  size_t rows = array.values.shape[0];
  if (rows == 0)
    return;
  size_t row = array.values.view().bytes() / rows;
  const auto *source = static_cast<const std::byte *>(array.values.data);
  std::span<const int64_t> numbers = valuesOf(array.indices[0]);
  for (size_t i = 0; i != rows; ++i)
    std::memcpy(target + numbers[i] * row, source + i * row, row);
}

/// Copies the stored elements to their places.
static void scatterElements(const ParamsArray &array, std::byte *target) {
  size_t element = sizeOf(array.type.type);
  const auto *source = static_cast<const std::byte *>(array.values.data);
  std::span<const int64_t> starts = valuesOf(array.indices[0]);
  std::span<const int64_t> columns = valuesOf(array.indices[1]);
  size_t row = array.type.shape[1] * element;
  for (size_t i = 0; i + 1 < starts.size(); ++i, target += row)
    for (int64_t j = starts[i]; j != starts[i + 1]; ++j)
      std::memcpy(target + columns[j] * element, source + j * element, element);
}

Result<HostTensor> dlc::rt::toDense(const ParamsArray &array,
                                    uint64_t byteLimit,
                                    const BufferAllocator &allocate) {
  if (!array.isDefined())
    return makeError(StatusCode::InvalidArgument,
                     "expected an array with data, got an undefined one");
  std::optional<int64_t> known = byteCount(array.type.type, array.type.shape);
  uint64_t size = known.value_or(0);
  if (!known || size > byteLimit)
    return makeError(StatusCode::InvalidArgument,
                     "expected at most %" PRIu64 " bytes, got %s", byteLimit,
                     toString(array.type).c_str());
  Result<AlignedBuffer> buffer = allocate(size);
  if (!buffer.isOk())
    return std::move(buffer.status());
  if (array.layout == ParamsLayout::Dense && size != 0)
    std::memcpy(buffer->data(), array.values.data, size);
  if (array.layout != ParamsLayout::Dense)
    std::memset(buffer->data(), 0, size);
  if (array.layout == ParamsLayout::RowSparse)
    scatterRows(array, buffer->data());
  if (array.layout == ParamsLayout::Csr)
    scatterElements(array, buffer->data());
  return HostTensor{array.type.type, array.type.shape, std::move(*buffer)};
}
