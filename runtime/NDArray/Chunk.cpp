// SPDX-License-Identifier: Apache-2.0

#include "Chunk.h"

#include "dlc/runtime/Base/Shared.h"

#include <algorithm>
#include <cstring>

using namespace dlc::rt;

static Status noMemory() {
  return makeError(StatusCode::OutOfMemory, "no memory for an array");
}

Status Chunk::adopt(const ForeignMemory &foreign) {
  memory = makeShared<ChunkMemory>();
  if (!memory)
    return noMemory();
  memory->foreign = foreign;
  locked = foreign.isReadOnly;
  noteSharing();
  start.store(static_cast<std::byte *>(foreign.data),
              std::memory_order_release);
  return Status::ok();
}

std::optional<uint64_t> Chunk::countHostWrites() const {
  if (shared.load(std::memory_order_relaxed))
    return std::nullopt;
  return hostWrites.load(std::memory_order_relaxed);
}

Status Chunk::pushEnd() {
  auto end = [this] { delete this; };
  Status status = engine.deleteVariable(end, context, variable);
  if (status.isOk() || status.code() == StatusCode::OutOfMemory)
    return status;
  // There are no threads for operations of its device. It ends on a processor,
  // for which there are always some.
  return engine.deleteVariable(end, Context::cpu(), variable);
}

void Chunk::release(ArrayRuntime &home) {
  // Release, so that what other threads did with their handles comes before
  // the push; acquire, so that it comes after it for whoever pushes.
  // In the child of a fork() operations of the parent will not end: there the
  // chunk stays.
  if (references.fetch_sub(1, std::memory_order_acq_rel) != 1 || isInherited())
    return;
  if (pushEnd().code() == StatusCode::OutOfMemory)
    home.keep(this);
}

void ArrayRuntime::keep(Chunk *chunk) {
  chunk->next = kept.load(std::memory_order_relaxed);
  // Release: whoever takes the list sees the link.
  while (!kept.compare_exchange_weak(
      chunk->next, chunk, std::memory_order_release, std::memory_order_relaxed))
    continue;
}

void ArrayRuntime::deleteKept() {
  if (!kept.load(std::memory_order_relaxed)) [[likely]]
    return;
  Chunk *list = kept.exchange(nullptr, std::memory_order_acquire);
  while (list) {
    Chunk *chunk = std::exchange(list, list->next);
    if (chunk->pushEnd().code() == StatusCode::OutOfMemory)
      keep(chunk);
  }
}

ArrayRuntime::~ArrayRuntime() { deleteKept(); }

Result<std::byte *> Chunk::readable() const {
  // Acquire: what writable() did before it stored the address comes before.
  std::byte *known = start.load(std::memory_order_acquire);
  if (!known && bytes != 0)
    return makeError(StatusCode::InvalidArgument,
                     "expected an array that was written, got one of %zu bytes "
                     "that never was",
                     bytes);
  return known;
}

Result<std::byte *> Chunk::writable(size_t part) {
  // Relaxed: operations that write come one after the other.
  if (std::byte *known = start.load(std::memory_order_relaxed);
      known || bytes == 0)
    return known;
  Result<Allocation> block = storage->allocate(context, bytes);
  if (!block.isOk())
    return std::move(block.status());
  auto *made = static_cast<std::byte *>(block->data());
  memory = makeShared<ChunkMemory>();
  if (!memory)
    return noMemory();
  memory->block = std::move(*block);
  if (holdsText) {
    // All of it is assigned to, never just written.
    memory->texts = {reinterpret_cast<Text *>(made), bytes / sizeof(Text)};
    std::ranges::uninitialized_value_construct(memory->texts);
  } else if (part != bytes) {
    std::memset(made, 0, bytes);
  }
  start.store(made, std::memory_order_release);
  return made;
}

std::shared_ptr<const void> Chunk::owner() const {
  // Acquire: as in readable(). Until then the other field is the writer's.
  if (start.load(std::memory_order_acquire))
    return memory;
  return nullptr;
}

Result<std::byte *> ArrayPiece::readable() const {
  Result<std::byte *> start = chunk->readable();
  if (start.isOk() && *start)
    *start += offset;
  return start;
}

std::optional<uint64_t> ArrayPiece::hostWrites() const {
  return chunk->countHostWrites();
}

Result<std::byte *> ArrayPiece::writable() const {
  Result<std::byte *> start = chunk->writable(bytes);
  if (start.isOk() && *start)
    *start += offset;
  return start;
}

Status dlc::rt::checkPresent(const NDArray &array) {
  if (array.isNull())
    return makeError(StatusCode::InvalidArgument,
                     "expected an array, got a null handle");
  if (array.isInherited())
    return makeError(StatusCode::Unavailable,
                     "the array belongs to another process, of which this is a "
                     "fork(); make one of its own");
  return Status::ok();
}

Status dlc::rt::checkWritable(const NDArray &array) {
  DLC_RETURN_IF_ERROR(checkPresent(array));
  if (!array.isReadOnly())
    return Status::ok();
  return makeError(StatusCode::InvalidArgument,
                   "expected an array to write, got read-only memory");
}

Status dlc::rt::checkHost(Context context) {
  if (context.isHost())
    return Status::ok();
  return makeError(StatusCode::Unsupported,
                   "expected memory of the host, got %s",
                   toString(context).c_str());
}

Status dlc::rt::checkComputable(const NDArray &array) {
  if (isComputable(array.type()))
    return Status::ok();
  return makeError(StatusCode::InvalidArgument,
                   "expected elements that are computed with, got %s",
                   toString(typeOf(array)).c_str());
}

Status dlc::rt::checkPlain(const NDArray &array) {
  if (array.type() != DLC_TEXT)
    return Status::ok();
  return makeError(StatusCode::Unsupported,
                   "expected elements without references, got %s",
                   toString(typeOf(array)).c_str());
}

Status dlc::rt::checkSameEngine(const NDArray &one, const NDArray &other) {
  if (&one.runtime()->engine() == &other.runtime()->engine())
    return Status::ok();
  return makeError(StatusCode::InvalidArgument,
                   "expected arrays of one engine, got them of two");
}

TensorType dlc::rt::typeOf(const NDArray &array) {
  return {array.type(), {array.shape().begin(), array.shape().end()}};
}

void dlc::rt::addVariable(std::vector<Variable> &list, Variable variable) {
  if (std::ranges::find(list, variable) == list.end())
    list.push_back(variable);
}
