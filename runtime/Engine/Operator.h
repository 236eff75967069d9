// SPDX-License-Identifier: Apache-2.0
//
// Operators inside the threaded engines: how pushers look at one without a
// lock while another thread deletes it, or gives its place to a new one.

#ifndef DLC_RUNTIME_ENGINE_OPERATOR_H
#define DLC_RUNTIME_ENGINE_OPERATOR_H

#include "dlc/runtime/Engine/Engine.h"

#include <atomic>
#include <bit>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace dlc::rt {

struct CoreOperation;

/// A plain value that threads may read while one writes it, in words. What they
/// get may then be of both values; they find out by looking at a stamp once
/// more (a sequence lock; Boehm, "Can seqlocks get along with programming
/// language memory models?", MSPC 2012). Acquire and release: who has read a
/// word of the new value sees that the stamp has changed.
template <typename T> class SharedValue {
  static_assert(std::is_trivially_copyable_v<T>);
  static constexpr size_t wordCount = (sizeof(T) + 7) / 8;

public:
  void store(const T &value) {
    uint64_t copy[wordCount] = {};
    std::memcpy(copy, &value, sizeof(T));
    for (size_t i = 0; i != wordCount; ++i)
      words[i].store(copy[i], std::memory_order_release);
  }
  T load() const {
    uint64_t copy[wordCount];
    for (size_t i = 0; i != wordCount; ++i)
      copy[i] = words[i].load(std::memory_order_acquire);
    T value;
    std::memcpy(&value, copy, sizeof(T));
    return value;
  }

private:
  std::atomic<uint64_t> words[wordCount] = {};
};

/// Room for the variables of an operator; they follow it.
struct OperatorVariables {
  OperatorVariables *smaller = nullptr; ///< What the place had before.
  uint32_t capacity = 0;

  /// Null when there is no memory.
  static OperatorVariables *make(size_t count) {
    uint32_t capacity = std::bit_ceil(uint32_t(count));
    void *memory = ::operator new(sizeof(OperatorVariables) +
                                      capacity * sizeof(SharedValue<Variable>),
                                  std::nothrow);
    if (!memory)
      return nullptr;
    auto *made = new (memory) OperatorVariables;
    made->capacity = capacity;
    std::uninitialized_default_construct_n(made->begin(), capacity);
    return made;
  }
  static void end(OperatorVariables *variables) {
    while (variables)
      ::operator delete(std::exchange(variables, variables->smaller));
  }

  SharedValue<Variable> *begin() {
    return reinterpret_cast<SharedValue<Variable> *>(this + 1);
  }
};
static_assert(sizeof(OperatorVariables) % alignof(SharedValue<Variable>) == 0);

/// An operator of an engine, or a place where one was: its memory lasts as long
/// as the engine, since pushers may look at it.
struct CoreOperator {
  uint32_t stamp = 0, nextFree = 0;
  /// Guarded by the engine's lock, and called outside of it while there are
  /// runs.
  Task task;
  uint32_t runs = 0;                 ///< Registered and not completed.
  CoreOperation *deletion = nullptr; ///< Waits for the runs.

  /// What a push needs. Written under the lock, while the stamp is another's.
  struct Shape {
    OperatorVariables *variables = nullptr; ///< The written ones first.
    uint32_t count = 0, writeCount = 0;
    bool isAsync = false;
    PushOptions options = {};
  };
  SharedValue<Shape> shape;

  CoreOperator() = default;
  CoreOperator(const CoreOperator &) = delete;
  CoreOperator &operator=(const CoreOperator &) = delete;
  ~CoreOperator() { OperatorVariables::end(shape.load().variables); }

  /// Fills the place; returns the memory that it does not need of `room`, which
  /// is for all variables.
  OperatorVariables *fill(OperatorVariables *room, Task &&function,
                          bool isAsync, VariableList reads, VariableList writes,
                          const PushOptions &options) {
    uint32_t count = uint32_t(reads.size() + writes.size());
    OperatorVariables *variables = shape.load().variables;
    if (!variables || variables->capacity < count) {
      // Each is at most half of the next: together they are not much.
      room->smaller = std::exchange(variables, room);
      room = nullptr;
    }
    SharedValue<Variable> *next = variables->begin();
    for (const VariableList &list : {writes, reads})
      for (const Variable &variable : list)
        (next++)->store(variable);
    task = std::move(function);
    shape.store({variables, count, uint32_t(writes.size()), isAsync, options});
    return room;
  }
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_ENGINE_OPERATOR_H
