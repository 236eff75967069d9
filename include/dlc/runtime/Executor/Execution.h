// SPDX-License-Identifier: Apache-2.0
//
// One thread's means to run a program: memory for its transient values and the
// bound inputs and outputs.

#ifndef DLC_RUNTIME_EXECUTOR_EXECUTION_H
#define DLC_RUNTIME_EXECUTOR_EXECUTION_H

#include "dlc/runtime/Base/Memory.h"
#include "dlc/runtime/Base/Status.h"
#include "dlc/runtime/Base/Tensor.h"
#include "dlc/runtime/Engine/Engine.h"
#include "dlc/runtime/Executor/Observer.h"
#include "dlc/runtime/Executor/Program.h"
#include "dlc/runtime/Storage/Manager.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace dlc::rt {

class WorkerPool;

/// Memory of an arena: of the host, or of a device.
class ArenaMemory {
public:
  ArenaMemory(PageBuffer pages) : pages(std::move(pages)) {}
  ArenaMemory(Allocation block) : block(std::move(block)) {}
  std::byte *data() const {
    return block ? static_cast<std::byte *>(block.data()) : pages.data();
  }
  size_t size() const { return block ? block.bytes() : pages.size(); }
  bool isOfManager() const { return bool(block); }

private:
  PageBuffer pages;
  Allocation block;
};

/// Memory for the transient values of several executions whose runs never
/// overlap in time: as much for each device as the largest of them needs; and
/// the threads of their streams. Not thread-safe.
class SharedArenas {
public:
  /// Memory of at least that size, from `manager` or, where that is null, of
  /// the host, in whatever way. What is larger than all before is new, or of a
  /// manager where that was not, and replaces it for those to come. Errors:
  /// OutOfMemory, Unavailable.
  Result<std::shared_ptr<ArenaMemory>> arena(size_t device, uint64_t bytes,
                                             StorageManager *manager = nullptr);

  /// So many threads, the caller of a run among them. Errors: those of
  /// WorkerPool::create().
  Result<std::shared_ptr<WorkerPool>> threads(unsigned count);

private:
  std::vector<std::shared_ptr<ArenaMemory>> arenas;
  std::vector<std::shared_ptr<WorkerPool>> pools;
};

struct ExecutionOptions {
  /// Shares large kernels among its workers; several executions may use one
  /// pool. Borrowed, outlives the execution. Null: the calling thread alone.
  WorkerPool *workers = nullptr;
  /// At most this many threads, the caller of run() among them, run what a
  /// program has on several devices and streams; 0: one for each stream, which
  /// is also the most. A program with one stream has none of them.
  unsigned streamThreads = 0;
  /// Where its transient values are, and its threads; null: its own. Used by
  /// create() only.
  SharedArenas *arenas = nullptr;
  /// What devices with queues do in every run is recorded and replayed as one
  /// piece of work; without, each launch is queued by itself.
  bool recordsLaunches = true;
  /// Runs can tell a PortListener: create() finds out what it is told when.
  bool tellsPorts = false;
};

/// Is told by a run that it is over with the memory of an input or output: no
/// later launch of it reads or writes there, and an output is complete. By the
/// thread that ran the last one; by several at once in a program of several
/// streams. What no launch uses, and what a failed run did not come to, is not
/// told of. An input that an output updates is that output.
class PortListener {
public:
  virtual void onInputDone(size_t index) = 0;
  virtual void onOutputDone(size_t index) = 0;

protected:
  ~PortListener() = default;
};

/// What it took the host to queue launches of kernels on devices, or what was
/// recorded of them; without copies and waiting.
struct QueueTime {
  uint64_t launches = 0;
  uint64_t nanoseconds = 0;
};

/// For one thread at a time. A static program (no value from the pool)
/// allocates here and never in run(), but for what libraries of devices do when
/// they are called. Launches of a program with one stream run in their order,
/// but workers may compute those at once that follow each other and of which
/// none uses memory of the plan that another one writes; those of several
/// streams, and copies between devices, as a TaskGraph that was recorded when
/// the program was loaded. In the child of a fork() the calling thread runs
/// all, and values of the pool find none: run() fails with Unavailable where
/// the program has some.
class Execution {
public:
  ~Execution();

  /// `program` is borrowed and outlives the execution. Errors: OutOfMemory,
  /// InvalidArgument (a program loaded without its code), Unavailable (the
  /// system has no thread).
  static Result<std::unique_ptr<Execution>>
  create(const Program &program, const ExecutionOptions &options = {});

  /// Sets the memory of input `index` for this and later runs: borrowed,
  /// aligned for its element type, read by run() and not written, unless an
  /// output updates it (Port::updates): then it is where that is written too,
  /// and disjoint from everything else that is bound. The shape must match the
  /// known dimensions. Errors: InvalidArgument.
  Status bindInput(size_t index, const TensorView &tensor);

  /// Sets the memory of output `index`, whose type must be static, or open in
  /// a program for any batch or for several shapes (Program::batches(),
  /// shapes()): then run() expects the shape there that it comes to. Borrowed,
  /// disjoint from everything else that is bound. A null `data` goes back to
  /// memory of the execution, or to that of the input that the output updates,
  /// which is the state at first. Errors:
  /// InvalidArgument, Unsupported (a dynamic output).
  Status bindOutput(size_t index, const TensorView &tensor);

  /// Runs the program once, and tells `listener` unless it is null. After a
  /// failure the outputs hold nothing of use, but those told of, and another
  /// run may follow. Errors: InvalidArgument (an input is not bound; data that
  /// an operation refuses; a listener without ExecutionOptions::tellsPorts),
  /// OutOfMemory, Unavailable (a device failed; the child of a fork(), of a
  /// program with devices).
  Status run(PortListener *listener = nullptr);

  /// Of all runs since the last call.
  QueueTime takeQueueTime();

  /// Pushes one run(): a single operation of `engine`, however many launches
  /// and streams it has. `reads` and `writes` stand for what is bound, and one
  /// of `writes` for this execution, so that its runs follow each other; until
  /// they have, nothing else is done with it. A failure of run() travels along
  /// `writes`. Errors: those of Engine::push().
  Status push(Engine &engine, Context context, VariableList reads,
              VariableList writes, const PushOptions &options = {});

  /// Whether there was a run and the last one succeeded.
  bool hasRun() const;

  /// Output `index` of the last successful run; its memory is the bound one
  /// or stays valid until the next run, its shape likewise.
  TensorView output(size_t index) const;

  /// Calls `observer` around each launch of later runs; null stops that.
  /// Borrowed. Without an observer run() reads no clock, and workers compute
  /// launches that follow each other and do not wait for each other as one
  /// grid; with one they come one by one.
  void setObserver(LaunchObserver *observer);

  /// What making it would tell people, in words: memory of the host that copies
  /// with devices touch and that cannot be locked.
  const std::vector<std::string> &remarks() const;

  const Program &program() const;

private:
  struct State;
  explicit Execution(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_EXECUTOR_EXECUTION_H
