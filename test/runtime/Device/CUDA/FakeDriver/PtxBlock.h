// SPDX-License-Identifier: Apache-2.0
//
// A block of threads that carries out a kernel.

#ifndef DLC_TEST_RUNTIME_DEVICE_CUDA_FAKEDRIVER_PTXBLOCK_H
#define DLC_TEST_RUNTIME_DEVICE_CUDA_FAKEDRIVER_PTXBLOCK_H

#include "Ptx.h"
#include "PtxWarpgroup.h"

#include <memory>

namespace fake {

/// cp.async, of every second thread: done when somebody waits for it, as late
/// as it may be. Others do it at once.
struct Copy {
  const Instruction *at;
  uint64_t to, from;
  unsigned bytes, read; ///< The rest are zeros.
};

struct Thread {
  /// AtWarp, AtWarpgroup: at what a warp or four of them do together.
  enum State : uint8_t {
    Ready,
    AtBarrier,
    AtCluster,
    AtWarp,
    AtWarpgroup,
    Done
  } state = Ready;
  uint32_t arrivals = 0; ///< At the barrier of the cluster.
  uint32_t index = 0;
  uint32_t next = 0; ///< Instruction.
  Registers registers;
  std::vector<uint8_t> local;
  std::vector<std::vector<Copy>> copies{1}; ///< By group; the last one is open.
};

/// The work of one block: threads run one after the other, up to a barrier or a
/// shuffle, forwards and backwards in turn, so that what relies on an order is
/// found.
class Block {
public:
  using Cluster = std::vector<std::unique_ptr<Block>>;
  Block(const Launch &launch, uint32_t index, Cluster &cluster);
  /// Up to where nothing moves on without other blocks; false when nothing did.
  bool advance();
  bool isDone() const;

private:
  void advance(Thread &thread);
  bool step(Thread &thread, const Instruction &at);
  void reduceAtBarrier();
  bool isTogether(uint32_t begin, uint32_t count, Thread::State state);
  void advanceWarp(uint32_t warp);
  void shuffle(const Instruction &at, uint32_t begin, uint32_t end);
  void loadMatrices(const Instruction &at, uint32_t begin);
  void multiplyRounded(const Instruction &at, uint32_t begin);
  void multiplyMatrices(const Instruction &at, uint32_t begin);
  void advanceWarpgroup(uint32_t index);
  void startProduct(uint32_t index, const Instruction &at);
  void touch(Thread &thread, uint32_t index);
  void noteWrite(const Thread &thread, const uint8_t *place, size_t bytes);
  void copyLater(Thread &thread, const Instruction &at);
  void finishCopy(Thread &thread, const Copy &copy);
  void finishCopies(Thread &thread, size_t later);
  uint8_t *memory(Thread &thread, const Instruction &at, Space space,
                  uint64_t address, unsigned bytes);
  uint64_t read(Thread &thread, const Operand &operand);
  void write(Thread &thread, const Operand &operand, uint64_t value);
  void access(Thread &thread, const Instruction &at);
  void move(Thread &thread, const Instruction &at);
  uint64_t compute(const Instruction &at, const uint64_t *values);
  uint64_t convert(const Instruction &at, uint64_t value);
  bool compare(const Instruction &at, uint64_t a, uint64_t b);
  [[noreturn]] void fail(const std::string &what, const Instruction &at) {
    throw what + " in " + at.text + " of " + launch.kernel->name;
  }

  bool releaseCluster();

  const Launch &launch;
  const uint32_t block;
  Cluster &cluster;
  std::vector<Thread> threads;
  std::vector<uint8_t> shared;
  std::vector<Warpgroup> warpgroups;
  SharedWrites writes; ///< Of kernels with wgmma.
  uint64_t budget = uint64_t(1) << 33;
};

} // namespace fake

#endif // DLC_TEST_RUNTIME_DEVICE_CUDA_FAKEDRIVER_PTXBLOCK_H
