// SPDX-License-Identifier: Apache-2.0
//
// The products of warpgroups, wgmma: where they find operands in shared memory,
// what of that and of registers may be used while they are under way, and sums.
// Facts: PTX ISA 8.8, 9.7.15.

#ifndef DLC_TEST_RUNTIME_DEVICE_CUDA_FAKEDRIVER_PTXWARPGROUP_H
#define DLC_TEST_RUNTIME_DEVICE_CUDA_FAKEDRIVER_PTXWARPGROUP_H

#include "Ptx.h"

namespace fake {

inline constexpr uint32_t warpgroupThreads = 128;
/// Of wgmma on elements of 16 bits.
inline constexpr uint32_t productRows = 64, productDepth = 16,
                          mostProductColumns = 256;

/// An operand of 16-bit elements in shared memory: rows of `a` or columns of
/// `b`, both called lines, by 16 steps of k. Lines of memory have 128 bytes,
/// whose pieces of 16 are swizzled.
struct SharedMatrix {
  uint32_t start = 0, leading = 0, stride = 0; ///< Bytes.
  uint32_t lines = 0;
  bool isTransposed = false; ///< Lines are beside each other, not steps of k.

  uint32_t offsetOf(uint32_t line, uint32_t k) const;
};

/// What a descriptor says; none unless it is of 128-byte swizzle without an
/// offset of its base.
std::optional<SharedMatrix> matrixOf(uint64_t descriptor, bool isTransposed,
                                     uint32_t lines);

/// Calls `visit` with line, step of k and offset of the first of each eight
/// elements that are beside each other.
template <typename F> void forPieces(const SharedMatrix &matrix, F visit) {
  const uint32_t lineStep = matrix.isTransposed ? 8 : 1,
                 step = matrix.isTransposed ? 1 : 8;
  for (uint32_t k = 0; k != productDepth; k += step)
    for (uint32_t line = 0; line != matrix.lines; line += lineStep)
      visit(line, k, matrix.offsetOf(line, k));
}

/// Where gathered elements go: one of `line` and `k` to
/// `to[line * lineStep + k * step]`.
struct Gathered {
  float *to;
  uint32_t lineStep, step;
};
void gather(const SharedMatrix &matrix, const std::vector<uint8_t> &memory,
            bool isBrain, Gathered gathered);

/// `sums` (64 x columns) = `a` (64 x 16) * `b` (16 x columns).
void multiply(const float *a, const float *b, float *sums, uint32_t columns);

/// Which thread wrote an element of shared memory, and when. What threads
/// write is seen by wgmma once they have fenced it, and then met at a barrier.
class SharedWrites {
public:
  /// Nothing is noted before.
  void start(size_t bytes, size_t threadCount) {
    writes.resize((bytes + 1) / 2);
    threads.resize(threadCount);
  }
  void note(size_t offset, size_t bytes, uint32_t thread);
  void fence(uint32_t thread);
  void arrive(uint32_t thread);
  /// All threads have met; `hasArrived`: after what they did up to arrive().
  void meet(bool hasArrived = false);
  /// The time from which on writes are later than everything so far.
  uint32_t tick() { return ++now; }

  bool isOn() const { return !writes.empty(); }
  /// What is missing for wgmma to see the 16 bytes; null for nothing.
  const char *missing(size_t offset) const;
  bool isWritten(size_t offset, uint32_t since) const;

private:
  struct Write {
    uint32_t thread = 0, time = 0;
  };
  /// Times before which writes are fenced, were so at the arrival, are seen.
  struct Thread {
    uint32_t fenced = 1, arrived = 1, seen = 1;
  };
  uint32_t now = 1;
  std::vector<Write> writes; ///< By element of two bytes.
  std::vector<Thread> threads;
};

/// Of a thread.
struct Registers {
  /// A product that is not done writes it; another instruction than wgmma had
  /// it since the last wgmma.fence.
  enum Mark : uint8_t { InFlight = 1, Touched = 2 };
  std::vector<uint64_t> values;
  std::vector<uint8_t> marks; ///< Of kernels with wgmma.
  bool hasTouched = false;    ///< Any that is marked so.
};

/// The threads of four warps, which go through wgmma together. Products are
/// done as late as they may be: when somebody waits for them.
class Warpgroup {
public:
  Warpgroup(const Kernel &kernel, const std::vector<uint8_t> &shared,
            SharedWrites &writes)
      : kernel(kernel), shared(shared), writes(writes) {}
  /// One more thread.
  void add(Registers &registers) { threads.push_back(&registers); }
  bool isWhole() const { return threads.size() == warpgroupThreads; }

  void fence();
  void start(const Instruction &at, uint64_t a, uint64_t b, bool isAdded);
  void commit() { groups.emplace_back(); }
  /// For all groups but the `later` last ones.
  void wait(size_t later);

private:
  struct Product {
    const Instruction *at;
    SharedMatrix a, b;
    bool isAdded; ///< To what the registers have.
    uint32_t time;
    const std::vector<Operand> &sums() const { return at->operands[0].parts; }
  };
  void checkSums(const Instruction &at) const;
  SharedMatrix operandOf(const Instruction &at, uint64_t descriptor,
                         int operand) const;
  void mark(const Product &product);
  void finish(const Product &product);
  [[noreturn]] void fail(const std::string &what, const Instruction &at) const {
    throw what + " in " + at.text + " of " + kernel.name;
  }

  const Kernel &kernel;
  const std::vector<uint8_t> &shared;
  SharedWrites &writes;
  std::vector<Registers *> threads;
  bool isFenced = false;
  std::vector<std::vector<Product>> groups{1}; ///< The last one is open.
};

} // namespace fake

#endif // DLC_TEST_RUNTIME_DEVICE_CUDA_FAKEDRIVER_PTXWARPGROUP_H
