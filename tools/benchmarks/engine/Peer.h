// SPDX-License-Identifier: Apache-2.0
//
// What dlc-engine-bench measures: operations on variables, and whoever runs
// them.

#ifndef DLC_TOOLS_BENCHMARKS_ENGINE_PEER_H
#define DLC_TOOLS_BENCHMARKS_ENGINE_PEER_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dlc::bench {

/// Operations over variables 0 to variableCount - 1, each with distinct ones.
struct Pattern {
  static constexpr int variableCount = 100;

  std::string name;
  int readCount; ///< Variables that each operation reads; it writes one.
  std::vector<int> reads, writes;

  size_t size() const { return writes.size(); }
  const int *readsOf(size_t operation) const {
    return reads.data() + operation * readCount;
  }
};

Pattern independentWrites(size_t operations);
Pattern chain(size_t operations);
Pattern randomReads(size_t operations, int readCount);

/// How a pattern is run.
struct Mode {
  unsigned pushers = 1;
  unsigned bulk = 1; ///< Operations that may be handed over as one.
};

/// Nanoseconds of all operations: until the last is pushed, and done.
struct Sample {
  double submit, total;
};

/// One engine, kept over all passes.
class Peer {
public:
  virtual ~Peer() = default;
  virtual std::string name() const = 0;
  virtual bool supports(const Mode &mode) const { return true; }
  /// Runs task() for each operation.
  virtual Sample run(const Pattern &pattern, const Mode &mode) = 0;
};

/// The body of every operation: taskIterations turns of an empty loop.
extern long taskIterations;
inline void task() {
  for (long i = 0, count = taskIterations; i < count; ++i)
    __asm__ volatile("" ::: "memory");
}

/// All implementations of the runtime's Engine with `workers` threads.
std::vector<std::unique_ptr<Peer>> makeDLCPeers(unsigned workers);
/// MXNet's default engine; null, with the reason on stderr, without its
/// library. Sets the environment that MXNet reads, so call it first.
std::unique_ptr<Peer> makeMXNetPeer(const std::string &library,
                                    unsigned workers);
/// Whether the build has oneTBB and OpenMP; without, there is null from these.
bool hasFlowGraph();
bool hasOpenMP();
std::unique_ptr<Peer> makeFlowGraphPeer(unsigned workers);
std::unique_ptr<Peer> makeOpenMPPeer(unsigned workers);

/// Tasks with a fixed order.
struct Schedule {
  struct Edge {
    uint32_t before, after;
  };
  std::string name;
  uint32_t tasks;
  std::vector<Edge> edges;
};

/// Something that has recorded a schedule and runs it again and again.
class RecordedSchedule {
public:
  virtual ~RecordedSchedule() = default;
  virtual std::string name() const = 0;
  virtual void run() = 0;
  /// The share of tasks that other threads than the caller did in the last
  /// run; below 0 when it is not known.
  virtual double shared() const { return -1; }
};

std::unique_ptr<RecordedSchedule> recordTaskGraph(const Schedule &schedule,
                                                  unsigned threads);
/// Null when the build has no oneTBB.
std::unique_ptr<RecordedSchedule> recordFlowGraph(const Schedule &schedule,
                                                  unsigned threads);

} // namespace dlc::bench

#endif // DLC_TOOLS_BENCHMARKS_ENGINE_PEER_H
