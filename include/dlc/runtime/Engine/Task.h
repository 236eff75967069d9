// SPDX-License-Identifier: Apache-2.0
//
// What an engine runs: names of variables and operators, the function of an
// operation, and the way in which an asynchronous one reports that it is done.

#ifndef DLC_RUNTIME_ENGINE_TASK_H
#define DLC_RUNTIME_ENGINE_TASK_H

#include "dlc/runtime/Base/Status.h"
#include "dlc/runtime/Device/Context.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

namespace dlc::rt {

class Engine;

/// Names a variable of one engine. A plain value that owns nothing; an engine
/// refuses those of other engines and those that were deleted (a foreign one
/// passes for its own with a chance of 2^-32).
struct Variable {
  uint32_t index = 0;
  uint32_t stamp = 0; ///< 0 names no variable.

  explicit operator bool() const { return stamp != 0; }
  friend bool operator==(Variable, Variable) = default;
};

/// Names an operator of one engine; as Variable.
struct Operator {
  uint32_t index = 0;
  uint32_t stamp = 0;

  explicit operator bool() const { return stamp != 0; }
  friend bool operator==(Operator, Operator) = default;
};

/// Variables for the time of one call, from a list in braces, a vector, an
/// array or a span.
class VariableList {
public:
  constexpr VariableList() = default;
#if defined(__GNUC__) && !defined(__clang__)
  // g++ warns that the list must outlive this: it does, for one call.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
  VariableList(std::initializer_list<Variable> list)
      : first(list.begin()), count(list.size()) {}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
  VariableList(const std::vector<Variable> &list)
      : first(list.data()), count(list.size()) {}
  VariableList(std::span<const Variable> list)
      : first(list.data()), count(list.size()) {}
  VariableList(const Variable *first, size_t count)
      : first(first), count(count) {}

  const Variable *begin() const { return first; }
  const Variable *end() const { return first + count; }
  size_t size() const { return count; }
  const Variable &operator[](size_t i) const { return first[i]; }

private:
  const Variable *first = nullptr;
  size_t count = 0;
};

/// Where a function runs. Valid during the call.
struct RunContext {
  Engine *engine = nullptr;
  Context context;
  /// Tells the threads of one engine apart; those that an application lends
  /// while it waits come after the engine's own.
  unsigned worker = 0;
  void *operation = nullptr; ///< The engine's affair: see Engine::release().
};

/// Receives the end of asynchronous operations; an engine's affair. Counts its
/// references, because a callback may come after its engine is gone.
class CompletionSink {
public:
  virtual void retain() = 0;
  virtual void release() = 0;
  virtual Status complete(void *operation, uint64_t run, Status result) = 0;

protected:
  ~CompletionSink() = default;
};

/// The duty to say that an asynchronous operation is done, once, from any
/// thread. Dropping it completes the operation with an error, so that nothing
/// waits for ever. May outlive the engine: then complete() is refused.
class Completion {
public:
  Completion() = default;
  Completion(CompletionSink &sink, void *operation, uint64_t run)
      : sink(&sink), operation(operation), run(run) {
    sink.retain();
  }
  Completion(Completion &&other) noexcept { swap(other); }
  Completion &operator=(Completion &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Completion();

  /// Ends the operation with `result`, which poisons what it writes unless it
  /// is OK. The calling thread runs nothing of the engine's. Errors:
  /// InvalidArgument when it was completed before, Unavailable when the engine
  /// gave the operation up as it closed.
  Status complete(Status result = Status::ok());

private:
  void swap(Completion &other) {
    std::swap(sink, other.sink);
    std::swap(operation, other.operation);
    std::swap(run, other.run);
    bool mine = isAnswered.load(std::memory_order_relaxed);
    isAnswered.store(other.isAnswered.load(std::memory_order_relaxed),
                     std::memory_order_relaxed);
    other.isAnswered.store(mine, std::memory_order_relaxed);
  }
  CompletionSink *sink = nullptr;
  void *operation = nullptr;
  uint64_t run = 0;
  /// Spares the destructor the attempt. Relaxed: who destroys it has the other
  /// calls behind it.
  std::atomic<bool> isAnswered = false;
};

/// What is asked of the function inside a Task.
enum class TaskAction : uint8_t {
  Run = 1,           ///< Call it; it will be called again.
  Discard = 2,       ///< Destroy it.
  RunAndDiscard = 3, ///< Call it for the last time and destroy it.
};

/// One call of the function inside a Task.
struct TaskCall {
  TaskAction action;
  const RunContext *context = nullptr;
  /// Of an asynchronous operation, for the function to take.
  Completion *completion = nullptr;
  Status status = {}; ///< Set by the function.

  bool runs() const { return int(action) & int(TaskAction::Run); }
  bool discards() const { return int(action) & int(TaskAction::Discard); }
};

/// A function with what it captured: up to sixteen bytes that can be copied as
/// bytes are held inside, others on the heap. Moves; runs once or, in an
/// operator, many times, then also by several threads at once.
class Task {
public:
  using Thunk = void (*)(void *payload, TaskCall &call);
  static constexpr size_t payloadSize = 16;

  Task() = default;
  Task(Task &&other) noexcept { take(other); }
  Task &operator=(Task &&other) noexcept {
    if (this != &other) {
      discard();
      take(other);
    }
    return *this;
  }
  ~Task() { discard(); }

  /// From a callable that takes nothing or a `const RunContext &`, and returns
  /// nothing or a Status; it must not throw. Empty when there is no memory.
  template <typename Function> static Task sync(Function &&function) {
    return make<false>(std::forward<Function>(function));
  }
  /// From a callable that takes a Completion, or a `const RunContext &` and a
  /// Completion, and returns nothing; it must not throw.
  template <typename Function> static Task async(Function &&function) {
    return make<true>(std::forward<Function>(function));
  }

  bool isEmpty() const { return !thunk; }

  /// Gives the function to whoever copies it: this task no longer owns it.
  void release() { thunk = nullptr; }

  Thunk thunk = nullptr;
  alignas(8) std::byte payload[payloadSize] = {};

private:
  template <bool isAsync, typename Function>
  static void call(Function &function, TaskCall &call) {
    if constexpr (isAsync) {
      if constexpr (std::is_invocable_v<Function &, const RunContext &,
                                        Completion>)
        function(*call.context, std::move(*call.completion));
      else
        function(std::move(*call.completion));
    } else if constexpr (std::is_invocable_r_v<Status, Function &,
                                               const RunContext &>) {
      call.status = function(*call.context);
    } else if constexpr (std::is_invocable_r_v<Status, Function &>) {
      call.status = function();
    } else if constexpr (std::is_invocable_v<Function &, const RunContext &>) {
      function(*call.context);
    } else {
      function();
    }
  }

  template <bool isAsync, typename Function>
  static Task make(Function &&function) {
    using F = std::decay_t<Function>;
    Task task;
    if constexpr (sizeof(F) <= payloadSize && alignof(F) <= 8 &&
                  std::is_trivially_copyable_v<F>) {
      new (task.payload) F(std::forward<Function>(function));
      task.thunk = [](void *payload, TaskCall &taskCall) {
        if (taskCall.runs())
          call<isAsync>(*std::launder(static_cast<F *>(payload)), taskCall);
      };
    } else {
      F *box = new (std::nothrow) F(std::forward<Function>(function));
      if (!box)
        return task;
      std::memcpy(task.payload, &box, sizeof(box));
      task.thunk = [](void *payload, TaskCall &taskCall) {
        F *box;
        std::memcpy(&box, payload, sizeof(box));
        if (taskCall.runs())
          call<isAsync>(*box, taskCall);
        if (taskCall.discards())
          delete box;
      };
    }
    return task;
  }

  void take(Task &other) {
    thunk = other.thunk;
    std::memcpy(payload, other.payload, payloadSize);
    other.thunk = nullptr;
  }
  void discard() {
    if (!thunk)
      return;
    TaskCall taskCall = {TaskAction::Discard};
    thunk(payload, taskCall);
    thunk = nullptr;
  }
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_ENGINE_TASK_H
