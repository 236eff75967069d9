// SPDX-License-Identifier: Apache-2.0
//
// Which processors a process may compute on, and how many threads that is
// worth.

#ifndef DLC_RUNTIME_DEVICE_CPU_PROCESSORS_H
#define DLC_RUNTIME_DEVICE_CPU_PROCESSORS_H

#include <optional>
#include <sched.h>
#include <span>
#include <string>
#include <vector>

namespace dlc::rt {

/// A processor as Linux numbers them: one hardware thread.
struct Processor {
  unsigned number;
  /// The least number among the hardware threads of its core: these share the
  /// units that multiply, so that dense kernels gain nothing from the second.
  unsigned core;
  /// The memory node that it is near to.
  unsigned node;

  bool operator==(const Processor &) const = default;
};

/// Describes `numbers` as the files of Linux below `root` do (/sys/devices/
/// system/cpu and node). Without them each is a core of node 0.
std::vector<Processor> describeProcessors(std::span<const unsigned> numbers,
                                          const std::string &root = {});

/// The numbers that the calling thread may run on, as `get` says, which is
/// asked with larger sets until it accepts one; at least one.
std::vector<unsigned>
allowedProcessors(int (*get)(pid_t, size_t, cpu_set_t *) = sched_getaffinity);

/// A set of processors, of the size that the largest of them needs.
class ProcessorSet {
public:
  /// Empty, with room for `processors`. Null when there is no memory.
  explicit ProcessorSet(size_t processors)
      : bytes(CPU_ALLOC_SIZE(processors)), set(CPU_ALLOC(processors)) {
    if (set)
      CPU_ZERO_S(bytes, set);
  }
  ProcessorSet(const ProcessorSet &) = delete;
  ~ProcessorSet() { CPU_FREE(set); }
  void add(unsigned processor) { CPU_SET_S(processor, bytes, set); }
  bool contains(unsigned processor) const {
    return CPU_ISSET_S(processor, bytes, set);
  }

  const size_t bytes;
  cpu_set_t *const set;
};

/// How many processors' worth of time the control groups of this process grant
/// it (cpu.max, or cpu.cfs_quota_us of version 1), by the files below `root`:
/// the least of its group and those above. Rounded down, as threads beyond the
/// quota stop all of them for the rest of a period; at least 1. Nothing where
/// there is no limit.
std::optional<unsigned> processorQuota(const std::string &root = {});

/// Where the threads of a pool belong.
struct ThreadPlacement {
  /// Processors in the order in which threads should get them: the cores of
  /// the caller's memory node, those of other nodes, then further hardware
  /// threads of cores.
  std::vector<unsigned> order;
  /// The cores of the caller's node, at most as many as the quota: how many
  /// threads dense kernels can use without waiting for each other or for
  /// another node's memory. At least 1.
  unsigned threads = 1;
  /// The processors of the caller's node, where there are others.
  std::vector<unsigned> node;
};

/// Places threads on `usable`, for a caller on processor `current`.
ThreadPlacement placeThreads(std::span<const Processor> usable,
                             unsigned current, std::optional<unsigned> quota);

/// The placement for the calling thread on this machine.
ThreadPlacement placeThreads();

/// How many processors the calling thread may run on, and has the time of, at
/// least 1.
unsigned usableProcessors();

} // namespace dlc::rt

#endif // DLC_RUNTIME_DEVICE_CPU_PROCESSORS_H
