// SPDX-License-Identifier: Apache-2.0
//
// Pushing a pattern from one or several threads, and the clock around it.

#ifndef DLC_TOOLS_BENCHMARKS_ENGINE_PUSH_H
#define DLC_TOOLS_BENCHMARKS_ENGINE_PUSH_H

#include "Peer.h"

#include "dlc/runtime/Base/Wait.h"

#include <barrier>
#include <thread>

namespace dlc::bench {

/// Calls push(i) for each operation, operation i on thread i modulo
/// `pushers`, and then wait(). Threads start before the clock does.
template <typename Push, typename Wait>
Sample measurePushes(size_t operations, unsigned pushers, Push push,
                     Wait wait) {
  std::barrier start(pushers);
  std::vector<std::thread> threads;
  auto pushShare = [&](unsigned first) {
    for (size_t i = first; i < operations; i += pushers)
      push(i);
  };
  for (unsigned thread = 1; thread < pushers; ++thread)
    threads.emplace_back([&, thread] {
      start.arrive_and_wait();
      pushShare(thread);
    });
  start.arrive_and_wait();
  uint64_t begin = rt::nowNanoseconds();
  pushShare(0);
  for (std::thread &thread : threads)
    thread.join();
  uint64_t submitted = rt::nowNanoseconds();
  wait();
  uint64_t end = rt::nowNanoseconds();
  return {double(submitted - begin), double(end - begin)};
}

} // namespace dlc::bench

#endif // DLC_TOOLS_BENCHMARKS_ENGINE_PUSH_H
