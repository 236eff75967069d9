// SPDX-License-Identifier: Apache-2.0
//
// Arrays on devices whose operations run in the order of an engine. The model
// is MXNet's NDArray: an operation is pushed and returns at once, and its
// error arrives where somebody waits for what it wrote.
//
//   auto runtime = std::make_shared<ArrayRuntime>(std::move(engine));
//   NDArray x = *NDArray::create(runtime, DLC_F32, {2, 3});
//   float values[6] = {...};
//   Status status = x.copyFromHost(std::span(values));
//   NDArray y = *apply("exp", {x});
//   status = y.copyToHost(std::span(values));

#ifndef DLC_RUNTIME_NDARRAY_NDARRAY_H
#define DLC_RUNTIME_NDARRAY_NDARRAY_H

#include "dlc/runtime/Base/Attributes.h"
#include "dlc/runtime/Base/Tensor.h"
#include "dlc/runtime/Base/Text.h"
#include "dlc/runtime/Engine/Engine.h"
#include "dlc/runtime/Resource/Resource.h"
#include "dlc/runtime/Storage/Storage.h"

#include <atomic>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace dlc::rt {

namespace ref {
struct Operation;
}

class Chunk;

/// Where arrays live: an engine, the memory of its devices, and what operations
/// borrow there. Arrays share it.
class ArrayRuntime {
public:
  explicit ArrayRuntime(
      std::shared_ptr<Engine> engine,
      std::shared_ptr<Storage> storage = std::make_shared<Storage>(),
      const ResourceOptions &options = {})
      : sharedStorage(std::move(storage)), sharedEngine(std::move(engine)),
        lent(*sharedEngine, sharedStorage, options) {}
  ~ArrayRuntime();

  Engine &engine() const { return *sharedEngine; }
  const std::shared_ptr<Storage> &storage() const { return sharedStorage; }
  /// What operations of arrays take their temporary space and their random
  /// numbers from; its seed is that of the arrays' random numbers.
  ResourceManager &resources() { return lent; }

private:
  friend class Chunk;
  friend class NDArray;
  void keep(Chunk *chunk);
  void deleteKept();

  std::shared_ptr<Storage> sharedStorage;
  std::shared_ptr<Engine> sharedEngine;
  ResourceManager lent;
  /// Chunks that go when the engine has memory for that again: tried when the
  /// next array is made and at the end.
  std::atomic<Chunk *> kept = nullptr;
};

/// Memory of somebody else that becomes an array.
struct ForeignMemory {
  void *data = nullptr; ///< Aligned for the elements; may be null without any.
  bool isReadOnly = false;
  /// Called once with `owner` when the last operation on the array is over, by
  /// any thread. May be null.
  void (*release)(void *owner) = nullptr;
  void *owner = nullptr;
};

/// A dense row-major array, or a contiguous part of one: a handle that shares
/// memory with its copies and views. They share one variable of the engine, so
/// operations on parts that do not overlap wait for each other all the same.
///
/// Memory is taken when the first operation writes; what a view does not cover
/// is zero then. An operation that reads an array which none has written fails.
///
/// Elements that are not computable (Tensor.h) are copied and exchanged alone.
/// Packed ones lie as ONNX and DLPack have them: the first in the lowest bits.
/// Texts live on cpu and cpu_pinned devices; copies of arrays share them.
///
/// Distinct handles may be used by different threads at once, also when they
/// share memory: the order of the pushes defines what each operation sees. A
/// null handle has no elements and is refused by all functions that need some.
/// Handles may outlive a close() of the engine. The last owner of an
/// ArrayRuntime must not go inside an operation, where its engine cannot end:
/// operations hold no handles.
///
/// All functions that return a Status also have the errors of the engine. In
/// the child of a fork() they refuse the arrays of the parent (Unavailable),
/// whose handles can still go; with a started engine it makes its own.
class NDArray {
public:
  NDArray() = default;
  NDArray(const NDArray &other);
  NDArray(NDArray &&other) noexcept { swap(other); }
  NDArray &operator=(NDArray other) noexcept {
    swap(other);
    return *this;
  }
  ~NDArray();

  /// An array without memory yet. Errors: InvalidArgument (no such type, a
  /// negative dimension, more than DLC_MAX_RANK of them, a size beyond 63
  /// bits), Unsupported (a device without memory; text that is not on a cpu or
  /// cpu_pinned device).
  static Result<NDArray> create(const std::shared_ptr<ArrayRuntime> &runtime,
                                DataType type, std::span<const int64_t> shape,
                                Context context = Context::cpu());
  static Result<NDArray> create(const std::shared_ptr<ArrayRuntime> &runtime,
                                DataType type,
                                std::initializer_list<int64_t> shape,
                                Context context = Context::cpu()) {
    return create(runtime, type, std::span(shape.begin(), shape.size()),
                  context);
  }
  /// An array over memory that stays where it is. On failure the memory stays
  /// the caller's: `release` is not called. Errors: also InvalidArgument (null
  /// or misaligned memory), Unsupported (a device that is not the host's,
  /// text).
  static Result<NDArray> adopt(const std::shared_ptr<ArrayRuntime> &runtime,
                               DataType type, std::span<const int64_t> shape,
                               const ForeignMemory &memory,
                               Context context = Context::cpu());

  bool isNull() const { return !chunk; }
  DataType type() const { return elementType; }
  std::span<const int64_t> shape() const { return dims; }
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  int64_t size() const { return elements; } ///< Number of elements.
  /// Of all elements; a last byte that packed ones fill in part counts.
  size_t bytes() const { return byteCount(elementType, elements).value_or(0); }
  Context context() const;
  Variable variable() const; ///< Of the engine; {} for a null handle.
  const std::shared_ptr<ArrayRuntime> &runtime() const { return home; }
  bool isReadOnly() const;
  /// This process is a fork() of the one that made it: then the functions below
  /// refuse it.
  bool isInherited() const;
  /// Covers less than the memory that it shares.
  bool isView() const;
  bool sharesMemoryWith(const NDArray &other) const {
    return chunk && chunk == other.chunk;
  }

  //===--------------------------------------------------------------------===//
  // Views; nothing waits
  //===--------------------------------------------------------------------===//

  /// Rows `begin` to `end` (not included) along dimension 0. Errors:
  /// InvalidArgument (a scalar, rows outside, packed elements that share a byte
  /// with others).
  Result<NDArray> slice(int64_t begin, int64_t end) const;
  /// Row `index`, with one dimension less.
  Result<NDArray> at(int64_t index) const;
  /// The same elements in another shape, one dimension of which may be -1: what
  /// is left for it. Errors: InvalidArgument (another number of elements).
  Result<NDArray> reshape(std::span<const int64_t> shape) const;
  Result<NDArray> reshape(std::initializer_list<int64_t> shape) const {
    return reshape(std::span(shape.begin(), shape.size()));
  }

  //===--------------------------------------------------------------------===//
  // Operations; pushed, and returned from at once
  //===--------------------------------------------------------------------===//

  /// Copies all elements into `target`, of the same type, shape and engine, on
  /// any device. Overlapping parts of one array copy as through a third place.
  Status copyTo(const NDArray &target, int priority = 0) const;
  /// A copy on a device.
  Result<NDArray> copy(Context context) const;
  /// Sets all elements to `value`, converted as the cast operation does.
  /// Errors: also InvalidArgument (elements that are not computable).
  Status fill(double value, int priority = 0) const;
  /// Fills floats with random numbers: uniform in [low, high), or normal. They
  /// are the next ones of the device's sequence (ArrayRuntime::resources()), so
  /// the same for the same seed and order of pushes; what lies beyond the range
  /// of the type is its largest number. Types other than f64 take the
  /// parameters rounded to f32. Errors: also InvalidArgument (elements that are
  /// not floats; a range without numbers of the type, a deviation below 0, or
  /// not finite).
  Status fillUniform(double low = 0, double high = 1, int priority = 0) const;
  Status fillNormal(double mean = 0, double deviation = 1,
                    int priority = 0) const;

  //===--------------------------------------------------------------------===//
  // Waiting
  //===--------------------------------------------------------------------===//

  /// Waits until all operations pushed so far that write this memory have
  /// completed, and returns the error that poisons it.
  Status waitToRead() const;
  /// Also for those that read it.
  Status waitToWrite() const;
  /// Counts the completed writes of this memory.
  Result<uint64_t> version() const;

  /// Copies from or to host memory of exactly this size, in the order of the
  /// engine, and waits until that is done; then the memory is not touched any
  /// more, also after an error. Errors: also InvalidArgument (another size),
  /// and the error that poisons this memory.
  Status copyFromHost(std::span<const std::byte> source) const;
  Status copyToHost(std::span<std::byte> target) const;
  template <typename T, size_t n>
  Status copyFromHost(std::span<T, n> source) const {
    return copyFromHost(std::span<const std::byte>(std::as_bytes(source)));
  }
  template <typename T, size_t n>
  Status copyToHost(std::span<T, n> target) const {
    return copyToHost(std::span<std::byte>(std::as_writable_bytes(target)));
  }

  /// The same for arrays of text, which copyFromHost(), copyToHost() and
  /// hostAccess() refuse. The texts are shared, or their bytes copied.
  Status copyFromTexts(std::span<const Text> source) const;
  Status copyFromTexts(std::span<const std::string_view> source) const;
  Status copyToTexts(std::span<Text> target) const;
  /// The same to memory that is taken when it is known that there are texts.
  Result<std::unique_ptr<Text[]>> copyToTexts() const;

  /// Waits as waitToRead() or waitToWrite() does and gives the elements'
  /// address, which stays as long as a handle does. Until the next operation is
  /// pushed the caller may read or write there. In the function of an operation
  /// that holds variable() (for a write: writes it), nothing is waited for, and
  /// it may do so until the operation is over. Errors: also InvalidArgument (a
  /// read of what was never written, a write of read-only memory), Unsupported
  /// (memory of a device, text), OutOfMemory.
  Result<void *> hostAccess(VariableUse use) const;
  /// Keeps that address when all handles are gone, without keeping the engine;
  /// null while there is no memory.
  std::shared_ptr<const void> memory() const;

private:
  friend struct ArrayPiece;
  NDArray(std::shared_ptr<ArrayRuntime> home, Chunk *chunk, DataType type,
          std::span<const int64_t> shape, int64_t elements, size_t offset);
  static Result<NDArray> make(const std::shared_ptr<ArrayRuntime> &runtime,
                              DataType type, std::span<const int64_t> shape,
                              const ForeignMemory *memory, Context context);
  void swap(NDArray &other);

  std::shared_ptr<ArrayRuntime> home;
  Chunk *chunk = nullptr; ///< One of its references is ours.
  DataType elementType = DLC_INVALID_TYPE;
  std::vector<int64_t> dims;
  int64_t elements = 0;
  size_t offset = 0; ///< Of the first element, in bytes.
};

/// The operation of that name. Errors: NotFound, with the nearest name.
Result<const ref::Operation *> findOperation(std::string_view name);

/// Pushes `outputs = operation(inputs)`: any operation of Reference.h whose
/// results' shapes follow from those of its operands; the computation is that
/// of its Reference kernel. An absent operand is a null handle. Outputs may
/// share memory with inputs, but not with each other; all arrays are of one
/// engine and on one host device. Errors, found before anything is pushed:
/// NotFound (no such operation), InvalidArgument (operands, or outputs of
/// another type or shape, that do not fit), Unsupported.
Status apply(std::string_view operation, std::span<const NDArray> inputs,
             const Attributes &attributes, std::span<const NDArray> outputs,
             int priority = 0);

/// The same into `outputCount` new arrays.
Result<std::vector<NDArray>> applyToNew(std::string_view operation,
                                        std::span<const NDArray> inputs,
                                        const Attributes &attributes = {},
                                        size_t outputCount = 1,
                                        int priority = 0);

/// The same for operations of one result.
Result<NDArray> apply(std::string_view operation,
                      std::initializer_list<NDArray> inputs,
                      const Attributes &attributes = {});

} // namespace dlc::rt

#endif // DLC_RUNTIME_NDARRAY_NDARRAY_H
