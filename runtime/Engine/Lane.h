// SPDX-License-Identifier: Apache-2.0
//
// A lane: operations that are ready, and the threads that run them.

#ifndef DLC_RUNTIME_ENGINE_LANE_H
#define DLC_RUNTIME_ENGINE_LANE_H

#include "Operation.h"

#include <pthread.h>

namespace dlc::rt {

/// Ready operations: the highest priority first, among equal ones the one that
/// became ready first. Priority 0 is a list, others a pairing heap (Fredman et
/// al. 1986) inside the operations, so that nothing is allocated.
class ReadyQueue {
public:
  void add(CoreOperation *operation) {
    operation->next = operation->child = nullptr;
    if (operation->priority == 0) {
      (last ? last->next : first) = operation;
      last = operation;
      return;
    }
    operation->mark = ++arrivals;
    heap = heap ? meld(heap, operation) : operation;
  }

  /// Null when it is empty.
  CoreOperation *take() {
    if (heap && (heap->priority > 0 || !first)) {
      CoreOperation *top = heap;
      heap = meldPairs(top->child);
      return top;
    }
    CoreOperation *operation = first;
    if (operation && !(first = operation->next))
      last = nullptr;
    return operation;
  }

  bool hasPriorities() const { return heap; }

  /// The operation after `skip` others of priority 0, for fuzzing.
  CoreOperation *takeLater(uint32_t skip) {
    CoreOperation **link = &first, *before = nullptr;
    while (skip-- && *link && (*link)->next) {
      before = *link;
      link = &before->next;
    }
    CoreOperation *operation = *link;
    if (!operation)
      return take();
    *link = operation->next;
    if (operation == last)
      last = before;
    return operation;
  }

private:
  static bool isBefore(const CoreOperation *a, const CoreOperation *b) {
    return a->priority != b->priority ? a->priority > b->priority
                                      : a->mark < b->mark;
  }
  static CoreOperation *meld(CoreOperation *a, CoreOperation *b) {
    if (isBefore(b, a))
      std::swap(a, b);
    b->next = a->child;
    a->child = b;
    return a;
  }
  static CoreOperation *meldPairs(CoreOperation *list) {
    CoreOperation *pairs = nullptr;
    while (list) { // In pairs from the front,
      CoreOperation *a = list, *b = a->next;
      list = b ? b->next : nullptr;
      CoreOperation *pair = a;
      a->next = nullptr;
      if (b) {
        b->next = nullptr;
        pair = meld(a, b);
      }
      pair->next = pairs;
      pairs = pair;
    }
    CoreOperation *result = nullptr;
    while (pairs) { // then all from the back.
      CoreOperation *next = pairs->next;
      pairs->next = nullptr;
      result = result ? meld(result, pairs) : pairs;
      pairs = next;
    }
    return result;
  }

  CoreOperation *first = nullptr, *last = nullptr;
  CoreOperation *heap = nullptr;
  uint64_t arrivals = 0;
};

/// The threads that run the operations of one device, or some of them.
struct alignas(64) Lane {
  uint32_t key = 0;
  uint8_t number = 0;
  bool isHelpable = false; ///< Threads of the application may run them.
  unsigned workers = 1;    ///< That run operations at a time.

  /// Guarded by the core's lock; the count is read without it. Not on the line
  /// of the key, which pushers read.
  alignas(64) ReadyQueue ready;
  std::atomic<uint32_t> readyCount = 0;
  uint64_t completed = 0; ///< Operations. Guarded by the core's lock.

  /// Threads that run operations hold a permit; one whose operation waits
  /// inside gives it back. Below 0: so many give theirs up when they can.
  /// Guarded by the core's lock, as are the spares.
  int permits = 0;
  unsigned threads = 0; ///< Started.
  unsigned spares = 0;  ///< Sleep without a permit.

  /// Workers that sleep, or are about to; and a bit while one of them is being
  /// woken. Those that look for work before they sleep.
  static constexpr uint32_t wakingBit = 1u << 31;
  alignas(64) std::atomic<uint32_t> sleepers = 0;
  std::atomic<uint32_t> searchers = 0;
  std::atomic<uint32_t> epoch = 0;      ///< What sleepers sleep on.
  std::atomic<uint32_t> spareEpoch = 0; ///< What spares sleep on.
};

/// A thread that runs operations: one of a lane, or one that an application
/// lends while it waits.
struct alignas(64) Worker {
  Worker *next = nullptr; ///< In the list of all, which only grows.
  Lane *lane = nullptr;   ///< Null for a lent one.
  unsigned number = 0;
  std::atomic<pthread_t> thread = {}; ///< 0 for none.
  std::atomic<bool> isUsed = true;
  pthread_t handle = {}; ///< To join it.
  void *core = nullptr;
  /// Written by its own thread, for each operation: not on the line that others
  /// go along to find themselves.
  alignas(64) CoreOperation *running = nullptr;
  CoreOperation *finished = nullptr; ///< Not yet retired. Its own.
  /// Found nothing to run since so many operations of its lane had completed,
  /// and since that time in nanoseconds. Its own.
  bool isVain = false;
  uint64_t vainSince = 0, vainFrom = 0;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_ENGINE_LANE_H
