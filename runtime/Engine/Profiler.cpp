// SPDX-License-Identifier: Apache-2.0
//
// Collecting events, and their sums.

#include "dlc/runtime/Engine/Profiler.h"

#include "dlc/runtime/Base/Wait.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>
#include <type_traits>

using namespace dlc::rt;

const char *dlc::rt::nameOf(ProfileKind kind) {
  switch (kind) {
  case ProfileKind::Operation:
    return "operation";
  case ProfileKind::Launch:
    return "launch";
  case ProfileKind::Copy:
    return "copy";
  case ProfileKind::Wait:
    break;
  }
  return "wait";
}

const char *dlc::rt::nameOf(MemoryKind kind) {
  switch (kind) {
  case MemoryKind::Program:
    return "memory";
  case MemoryKind::Storage:
    return "storage";
  case MemoryKind::Reserved:
    break;
  }
  return "reserved storage";
}

Profiler::Profiler(size_t capacity)
    : events(capacity), memory(capacity), texts() {
  textId("");
}

Profiler::~Profiler() {
  // A thread that is not in the child may have been in the middle of a change.
  if (!isInherited()) [[likely]]
    texts.~Texts();
}

uint32_t Profiler::textId(std::string_view text) {
  if (isInherited()) [[unlikely]]
    return 0;
  std::lock_guard<std::mutex> lock(texts.mutex);
  return lockedTextId(text);
}

const char *Profiler::text(uint32_t id) const {
  if (isInherited()) [[unlikely]]
    return "";
  std::lock_guard<std::mutex> lock(texts.mutex);
  return texts.all[id].c_str();
}

uint32_t Profiler::lockedTextId(std::string_view text) {
  if (auto found = texts.ids.find(text); found != texts.ids.end())
    return found->second;
  uint32_t id = texts.all.size();
  texts.ids.emplace(texts.all.emplace_back(text), id);
  return id;
}

void Profiler::start() {
  uint64_t stopped = never;
  keptFrom.compare_exchange_strong(stopped, nowNanoseconds(),
                                   std::memory_order_relaxed);
}

void Profiler::add(const ProfileEvent &event) {
  if (keeps(event))
    events.add(event);
}

void Profiler::add(ProfileEvent event, std::string_view name,
                   std::string_view row, std::string_view detail) {
  ProfileEvent *place = keeps(event) ? events.take() : nullptr;
  if (!place)
    return;
  std::lock_guard<std::mutex> lock(texts.mutex);
  event.name = lockedTextId(name);
  event.row = lockedTextId(row);
  event.detail = lockedTextId(detail);
  *place = event;
}

void Profiler::addMemory(Context device, uint64_t bytes, MemoryKind kind) {
  if (!isOff())
    memory.add({nowNanoseconds(), device, bytes, kind});
}

void Profiler::onStorage(Context device, uint64_t liveBytes,
                         uint64_t reservedBytes) {
  if (isOff())
    return;
  uint64_t now = nowNanoseconds();
  memory.add({now, device, liveBytes, MemoryKind::Storage});
  memory.add({now, device, reservedBytes, MemoryKind::Reserved});
}

size_t Profiler::dropped() const {
  return isInherited() ? 0 : events.excess() + memory.excess();
}

void Profiler::clear() {
  // Relaxed: as for the readers, who added has been waited for.
  events.next.store(0, std::memory_order_relaxed);
  memory.next.store(0, std::memory_order_relaxed);
}

//===----------------------------------------------------------------------===//
// Operations of an engine
//===----------------------------------------------------------------------===//

namespace {

/// When the operations began that a thread is in: several when one pushes into
/// another engine, which runs it at once, or waits. 0: while the profiler was
/// stopped, and where there was no memory to keep it.
class Begins {
public:
  void push(uint64_t time) {
    if (uint64_t *place = placeOf(count++))
      *place = time;
  }
  uint64_t pop() {
    uint64_t *place = placeOf(--count);
    uint64_t time = place ? *place : 0;
    if (count == ownCount) {
      std::free(std::exchange(more, nullptr));
      capacity = 0;
    }
    return time;
  }

private:
  static constexpr size_t ownCount = 16;

  uint64_t *placeOf(size_t index) {
    if (index < ownCount)
      return own + index;
    index -= ownCount;
    if (index >= capacity && !grow(index))
      return nullptr;
    return more + index;
  }
  bool grow(size_t index) {
    size_t wanted = 2 * std::max(index, ownCount);
    void *grown = std::realloc(more, wanted * sizeof(uint64_t));
    if (!grown)
      return false;
    more = static_cast<uint64_t *>(grown);
    std::fill(more + capacity, more + wanted, 0);
    capacity = wanted;
    return true;
  }

  uint64_t own[ownCount] = {};
  uint64_t *more = nullptr; ///< What goes beyond; null when nothing does.
  size_t capacity = 0, count = 0;
};

} // namespace

/// Without a destructor: what is destroyed as the thread ends may still run
/// operations.
static constinit thread_local Begins begins;
static_assert(std::is_trivially_destructible_v<Begins>);

static bool isCopy(OperationProperty property) {
  return property == OperationProperty::CopyFromDevice ||
         property == OperationProperty::CopyToDevice;
}

void Profiler::onStart(const OperationInfo &) {
  begins.push(isOff() ? 0 : nowNanoseconds());
}

/// The texts of an operation last as long as that, so that their numbers must
/// be found now.
void Profiler::onFinish(const OperationInfo &operation, const Status &status) {
  ProfileEvent event;
  event.begin = begins.pop();
  ProfileEvent *place = event.begin && keeps(event) ? events.take() : nullptr;
  if (!place)
    return;
  event.end = nowNanoseconds();
  event.kind =
      isCopy(operation.property) ? ProfileKind::Copy : ProfileKind::Operation;
  event.hasFailed = !status.isOk();
  event.device = operation.context;
  std::lock_guard<std::mutex> lock(texts.mutex);
  event.name = lockedTextId(operation.name ? operation.name : "operation");
  event.detail = lockedTextId(operation.origin ? operation.origin : "");
  event.row = rowOf(operation.worker);
  *place = event;
}

/// With the lock held.
uint32_t Profiler::rowOf(unsigned worker) {
  std::vector<uint32_t> &rows = texts.workerRows;
  if (worker >= rows.size())
    rows.resize(worker + 1);
  uint32_t &row = rows[worker];
  if (!row)
    row = lockedTextId("worker " + std::to_string(worker));
  return row;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

std::vector<ProfileSummary> Profiler::summarize() const {
  std::map<std::tuple<Context, ProfileKind, uint32_t>, ProfileSummary> sums;
  std::unique_lock lock = lockTexts();
  for (const ProfileEvent &event : keptEvents()) {
    ProfileSummary &sum = sums[{event.device, event.kind, event.name}];
    uint64_t time = event.end - event.begin;
    if (!sum.count++) {
      sum.name = texts.all[event.name];
      sum.kind = event.kind;
      sum.device = event.device;
    }
    sum.totalNanoseconds += time;
    sum.least = std::min(sum.least, time);
    sum.most = std::max(sum.most, time);
  }
  std::vector<ProfileSummary> result;
  for (auto &[key, sum] : sums)
    result.push_back(std::move(sum));
  auto keyOf = [](const ProfileSummary &sum) {
    return std::make_tuple(UINT64_MAX - sum.totalNanoseconds, sum.device,
                           sum.kind, std::string_view(sum.name));
  };
  std::sort(result.begin(), result.end(),
            [&](const ProfileSummary &a, const ProfileSummary &b) {
              return keyOf(a) < keyOf(b);
            });
  return result;
}

/// The begin of the first event; later ones are told from it.
uint64_t Profiler::origin() const {
  uint64_t first = UINT64_MAX;
  for (const ProfileEvent &event : keptEvents())
    first = std::min(first, event.begin);
  for (const Memory &change : keptMemory())
    first = std::min(first, change.time);
  return first == UINT64_MAX ? 0 : first;
}
