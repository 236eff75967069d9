// SPDX-License-Identifier: Apache-2.0
//
// What ran where and when: operations of an engine, launches of programs,
// waits and memory, as a trace for chrome://tracing and Perfetto and as a
// table. The trace is in the "Trace Event Format" of Chromium's catapult.

#ifndef DLC_RUNTIME_ENGINE_PROFILER_H
#define DLC_RUNTIME_ENGINE_PROFILER_H

#include "dlc/runtime/Base/ForkGuard.h"
#include "dlc/runtime/Engine/Engine.h"
#include "dlc/runtime/Storage/Manager.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <new>
#include <span>
#include <unordered_map>

namespace dlc::rt {

/// What an event is; categories of a trace.
enum class ProfileKind : uint8_t { Operation, Launch, Copy, Wait };

/// The name of a kind in traces: "operation", "launch", "copy", "wait".
const char *nameOf(ProfileKind kind);

/// Of which memory a figure is; each is a counter of its own.
enum class MemoryKind : uint8_t {
  Program,  ///< Values that live within a run of a program.
  Storage,  ///< Blocks that a storage manager gave out.
  Reserved, ///< What a storage manager has taken from the system.
};

/// The name of a kind in traces: "memory", "storage", "reserved storage".
const char *nameOf(MemoryKind kind);

/// A span of time. `name` and `row` are numbers of Profiler::textId().
struct ProfileEvent {
  uint64_t begin = 0, end = 0; ///< Nanoseconds of the monotonic clock.
  ProfileKind kind = ProfileKind::Operation;
  bool hasFailed = false;
  Context device;
  uint32_t name = 0;
  uint32_t row = 0; ///< Events of one row do not overlap: "worker 1".
  /// Shown with the event where not 0 (Profiler::textId) and where not empty.
  uint32_t detail = 0;
  uint64_t flops = 0, bytes = 0;
};

/// All events of one name, kind and device.
struct ProfileSummary {
  std::string name;
  ProfileKind kind;
  Context device;
  uint64_t count = 0;
  uint64_t totalNanoseconds = 0, least = UINT64_MAX, most = 0;
};

/// Collects events of any number of threads: one atomic operation an event and
/// no allocation, in memory taken at the start. Whoever is not given a profiler
/// pays one branch and reads no clock. An engine takes it as its observer; each
/// of its operations then also takes the lock of the texts, and allocates for
/// names not seen before. A Storage and each StorageManager take it too, and a
/// program's Execution through a TraceRecorder, which has looked up all names
/// before, but for those of what computes shapes found while running.
///
/// In the child of a fork() it keeps nothing and has nothing: a thread that is
/// not there may have been in the middle of an event. The child makes one of
/// its own.
class Profiler : public EngineObserver, public StorageObserver {
public:
  /// Keeps at most `capacity` events, and as many figures of memory; later ones
  /// are counted, not kept.
  explicit Profiler(size_t capacity = 1 << 16);
  ~Profiler() override;
  /// False when the system had no memory for that many: then none is kept.
  bool hasRoom() const { return events.slots && memory.slots; }

  /// This process is a fork() of the one that made it.
  bool isInherited() const { return guard.isChild(); }

  /// From now on what happens is not kept, or is again, as at first. By any
  /// thread. Kept is what begins and ends between a start and the next stop; a
  /// stopped profiler reads no clock and takes no lock. Harmless when it is so.
  void stop() { keptFrom.store(never, std::memory_order_relaxed); }
  void start();

  /// The number of a text, the same for equal ones; 0 is the empty text. Takes
  /// a lock, so call it once for what is used often.
  uint32_t textId(std::string_view text);
  /// The text of a number of textId(); lives as long as the profiler.
  const char *text(uint32_t id) const;

  void add(const ProfileEvent &event);
  /// The same with texts that are looked up when the event is kept.
  void add(ProfileEvent event, std::string_view name, std::string_view row,
           std::string_view detail);
  /// `bytes` are in use on `device` from now on.
  void addMemory(Context device, uint64_t bytes,
                 MemoryKind kind = MemoryKind::Program);

  void onStorage(Context device, uint64_t liveBytes,
                 uint64_t reservedBytes) override;
  void onStart(const OperationInfo &operation) override;
  void onFinish(const OperationInfo &operation, const Status &status) override;

  /// Events that found no room.
  size_t dropped() const;

  // What follows is about all events: the threads that add them have been
  // waited for.

  size_t size() const { return keptEvents().size(); } ///< Events kept.
  /// Forgets them, with the figures of memory and what found no room.
  void clear();

  /// A JSON object with "traceEvents": a process for each device, a thread for
  /// each row, complete events ("X") in microseconds from the first, and
  /// counters ("C") of memory.
  std::string toJSON() const;
  /// Writes that to a file. Errors: Unavailable.
  Status write(const std::string &path) const;

  /// The longest total first; equal ones by device, kind and name.
  std::vector<ProfileSummary> summarize() const;
  /// The same as text, with the most memory in use of each device and kind.
  std::string toTable() const;

private:
  struct Memory {
    uint64_t time;
    Context device;
    uint64_t bytes;
    MemoryKind kind;
  };
  template <typename T> struct Store {
    explicit Store(size_t capacity)
        : slots(new (std::nothrow) T[capacity]), size(slots ? capacity : 0) {}
    std::unique_ptr<T[]> slots;
    size_t size;
    /// Places given out. Relaxed: readers have waited for the writers.
    std::atomic<size_t> next = 0;

    /// A place for one more; null when there is no room.
    T *take() {
      size_t place = next.fetch_add(1, std::memory_order_relaxed);
      return place < size ? &slots[place] : nullptr;
    }
    void add(const T &item) {
      if (T *place = take())
        *place = item;
    }
    std::span<const T> all() const {
      return {slots.get(),
              std::min(size, next.load(std::memory_order_relaxed))};
    }
    size_t excess() const {
      return next.load(std::memory_order_relaxed) - all().size();
    }
  };

  static constexpr uint64_t never = UINT64_MAX;

  bool isOff() const {
    return keptFrom.load(std::memory_order_relaxed) == never || isInherited();
  }
  bool keeps(const ProfileEvent &event) const {
    uint64_t from = keptFrom.load(std::memory_order_relaxed);
    return from != never && event.begin >= from && !isInherited();
  }
  std::span<const ProfileEvent> keptEvents() const {
    return isInherited() ? std::span<const ProfileEvent>() : events.all();
  }
  std::span<const Memory> keptMemory() const {
    return isInherited() ? std::span<const Memory>() : memory.all();
  }
  /// The texts' lock; in the child, where nobody looks at them, none.
  std::unique_lock<std::mutex> lockTexts() const {
    return isInherited() ? std::unique_lock<std::mutex>()
                         : std::unique_lock(texts.mutex);
  }
  uint32_t lockedTextId(std::string_view text);
  uint32_t rowOf(unsigned worker);
  uint64_t origin() const;

  /// Events that begin before are not kept: 0, the last start, or `never` while
  /// stopped. Relaxed: orders nothing.
  std::atomic<uint64_t> keptFrom = 0;
  const ForkGuard guard;
  Store<ProfileEvent> events;
  Store<Memory> memory;
  struct Texts {
    mutable std::mutex mutex; ///< Guards what follows; texts never move.
    std::deque<std::string> all;
    std::unordered_map<std::string_view, uint32_t> ids;
    std::vector<uint32_t> workerRows; ///< Texts; 0 for those not seen.
  };
  union {
    Texts texts; ///< Ended by the process that made it alone.
  };
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_ENGINE_PROFILER_H
