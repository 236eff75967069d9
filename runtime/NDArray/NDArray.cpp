// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/NDArray/NDArray.h"
#include "Chunk.h"
#include "dlc/runtime/Base/Memory.h"

#include <algorithm>
#include <cinttypes>
#include <new>

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

NDArray::NDArray(std::shared_ptr<ArrayRuntime> home, Chunk *chunk,
                 DataType type, std::span<const int64_t> shape,
                 int64_t elements, size_t offset)
    : home(std::move(home)), chunk(chunk), elementType(type),
      dims(shape.begin(), shape.end()), elements(elements), offset(offset) {}

NDArray::NDArray(const NDArray &other)
    : home(other.home), chunk(other.chunk), elementType(other.elementType),
      dims(other.dims), elements(other.elements), offset(other.offset) {
  if (chunk)
    chunk->retain();
}

NDArray::~NDArray() {
  if (chunk)
    chunk->release(*home);
}

void NDArray::swap(NDArray &other) {
  std::swap(home, other.home);
  std::swap(chunk, other.chunk);
  std::swap(elementType, other.elementType);
  std::swap(dims, other.dims);
  std::swap(elements, other.elements);
  std::swap(offset, other.offset);
}

Context NDArray::context() const { return chunk ? chunk->context : Context(); }

Variable NDArray::variable() const {
  return chunk ? chunk->variable : Variable();
}

bool NDArray::isInherited() const { return chunk && chunk->isInherited(); }

bool NDArray::isReadOnly() const { return chunk && chunk->isReadOnly(); }

std::shared_ptr<const void> NDArray::memory() const {
  if (!chunk)
    return nullptr;
  chunk->noteSharing();
  return chunk->owner();
}

bool NDArray::isView() const { return chunk && bytes() != chunk->bytes; }

/// Counts the elements and bytes of a new array.
static Status checkType(DataType type, std::span<const int64_t> shape,
                        int64_t &elements, int64_t &bytes) {
  if (type <= DLC_INVALID_TYPE || type > kLastType)
    return makeError(StatusCode::InvalidArgument,
                     "expected an element type, got %d", int(type));
  if (shape.size() > DLC_MAX_RANK)
    return makeError(StatusCode::InvalidArgument,
                     "expected at most %d dimensions, got %zu", DLC_MAX_RANK,
                     shape.size());
  for (int64_t dim : shape)
    if (dim < 0)
      return makeError(StatusCode::InvalidArgument,
                       "expected dimensions of 0 or more, got %" PRId64, dim);
  std::optional<int64_t> size = byteCount(type, shape);
  if (!size)
    return makeError(StatusCode::InvalidArgument,
                     "expected less than 2^63 bytes, got those of %s",
                     toString({type, {shape.begin(), shape.end()}}).c_str());
  elements = *elementCount(shape);
  bytes = *size;
  return Status::ok();
}

/// Elements of `type` may be on that device: texts refer to memory of this
/// process.
static Status checkPlace(DataType type, Context context) {
  if (type != DLC_TEXT || context.kind == DeviceKind::CPU ||
      context.kind == DeviceKind::CPUPinned)
    return Status::ok();
  return makeError(StatusCode::Unsupported,
                   "expected a cpu device for text, got %s",
                   toString(context).c_str());
}

/// Elements of `type` may be there.
static Status checkMemory(const ForeignMemory &memory, DataType type,
                          int64_t bytes) {
  size_t alignment = alignmentOf(type);
  if (bytes != 0 && !memory.data)
    return makeError(StatusCode::InvalidArgument,
                     "expected memory of %" PRId64 " bytes, got null", bytes);
  if (isAligned(memory.data, alignment))
    return Status::ok();
  return makeError(StatusCode::InvalidArgument,
                   "expected memory aligned to %zu bytes, got %p", alignment,
                   memory.data);
}

Result<NDArray> NDArray::make(const std::shared_ptr<ArrayRuntime> &runtime,
                              DataType type, std::span<const int64_t> shape,
                              const ForeignMemory *memory, Context context) {
  if (!runtime)
    return makeError(StatusCode::InvalidArgument,
                     "expected a runtime for arrays, got null");
  runtime->deleteKept();
  int64_t elements, bytes;
  DLC_RETURN_IF_ERROR(checkType(type, shape, elements, bytes));
  DLC_RETURN_IF_ERROR(checkPlace(type, context));
  DLC_RETURN_IF_ERROR(
      memory ? checkMemory(*memory, type, bytes)
             : std::move(runtime->storage()->manager(context).status()));
  Result<Variable> variable = runtime->engine().newVariable(
      VariableKind::Value, VariableOwner::Runtime);
  if (!variable.isOk())
    return std::move(variable.status());
  std::unique_ptr<Chunk> chunk(new (std::nothrow) Chunk(
      runtime->engine(), *variable, context, size_t(bytes), type == DLC_TEXT,
      runtime->storage()));
  Status status =
      !chunk   ? makeError(StatusCode::OutOfMemory, "no memory for an array")
      : memory ? chunk->adopt(*memory)
               : Status::ok();
  if (!status.isOk()) {
    (void)runtime->engine().deleteVariable(*variable).isOk();
    return status;
  }
  return NDArray(runtime, chunk.release(), type, shape, elements, 0);
}

Result<NDArray> NDArray::create(const std::shared_ptr<ArrayRuntime> &runtime,
                                DataType type, std::span<const int64_t> shape,
                                Context context) {
  return make(runtime, type, shape, nullptr, context);
}

Result<NDArray> NDArray::adopt(const std::shared_ptr<ArrayRuntime> &runtime,
                               DataType type, std::span<const int64_t> shape,
                               const ForeignMemory &memory, Context context) {
  DLC_RETURN_IF_ERROR(checkHost(context));
  if (type == DLC_TEXT)
    return makeError(StatusCode::Unsupported,
                     "expected memory of elements without references, got "
                     "text");
  return make(runtime, type, shape, &memory, context);
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// Elements `begin` to `end` of so many share no byte with others: a view has
/// an address, and writes of it leave its neighbours alone.
static Status checkBytes(DataType type, int64_t begin, int64_t end,
                         int64_t elements) {
  if (!isPacked(type) || begin == end)
    return Status::ok();
  auto each = static_cast<int64_t>(8 / bitsOf(type));
  if (begin % each == 0 && (end % each == 0 || end == elements))
    return Status::ok();
  return makeError(StatusCode::InvalidArgument,
                   "expected a view of whole bytes, of %" PRId64
                   " elements of %s each, got elements %" PRId64 " to %" PRId64,
                   each, std::string(nameOf(type)).c_str(), begin, end);
}

Result<NDArray> NDArray::slice(int64_t begin, int64_t end) const {
  DLC_RETURN_IF_ERROR(checkPresent(*this));
  if (dims.empty())
    return makeError(StatusCode::InvalidArgument,
                     "expected an array with rows, got a scalar");
  if (begin > end)
    return makeError(StatusCode::InvalidArgument,
                     "expected rows that begin before or at their end, got "
                     "%" PRId64 " to %" PRId64,
                     begin, end);
  if (begin < 0 || end > dims[0])
    return makeError(StatusCode::InvalidArgument,
                     "expected rows within 0 to %" PRId64 ", got %" PRId64
                     " to %" PRId64,
                     dims[0], begin, end);
  int64_t row = dims[0] ? elements / dims[0] : 0;
  DLC_RETURN_IF_ERROR(
      checkBytes(elementType, row * begin, row * end, elements));
  NDArray view(*this);
  view.dims[0] = end - begin;
  view.elements = row * (end - begin);
  view.offset += *byteCount(elementType, row * begin);
  return view;
}

Result<NDArray> NDArray::at(int64_t index) const {
  if (chunk && !dims.empty() && (index < 0 || index >= dims[0]))
    return makeError(StatusCode::InvalidArgument,
                     "expected a row from 0 to below %" PRId64 ", got %" PRId64,
                     dims[0], index);
  Result<NDArray> row = slice(index, index + 1);
  if (row.isOk())
    row->dims.erase(row->dims.begin());
  return row;
}

Result<NDArray> NDArray::reshape(std::span<const int64_t> shape) const {
  DLC_RETURN_IF_ERROR(checkPresent(*this));
  std::vector<int64_t> wanted(shape.begin(), shape.end());
  for (int64_t dim : shape)
    if (dim < -1)
      return makeError(StatusCode::InvalidArgument,
                       "expected dimensions of -1 or more, got %" PRId64, dim);
  if (size_t count = std::ranges::count(wanted, -1); count > 1)
    return makeError(StatusCode::InvalidArgument,
                     "expected one dimension of -1 at most, got %zu in %s",
                     count, toString({elementType, wanted}).c_str());
  auto open = std::ranges::find(wanted, -1);
  if (open != wanted.end()) {
    *open = 1;
    std::optional<int64_t> rest = elementCount(wanted);
    *open = rest && *rest && elements % *rest == 0 ? elements / *rest : -1;
  }
  if (elementCount(wanted) != elements || wanted.size() > DLC_MAX_RANK)
    return makeError(
        StatusCode::InvalidArgument,
        "expected a shape of %" PRId64 " elements, got %s", elements,
        toString({elementType, {shape.begin(), shape.end()}}).c_str());
  NDArray view(*this);
  view.dims = std::move(wanted);
  return view;
}
