// SPDX-License-Identifier: Apache-2.0
//
// What memory costs: nanoseconds to allocate and release a block, and how much
// a manager holds beside what is live, next to the C library's malloc.
//
// usage: dlc-bench-storage [--json]

#include "dlc/abi/Tensor.h"
#include "dlc/runtime/Storage/Manager.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <malloc.h>
#include <random>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace dlc::rt;

namespace {

/// A block of either kind, released when it goes.
class Block {
public:
  Block() = default;
  explicit Block(Allocation memory) : memory(std::move(memory)) {}
  explicit Block(void *fromMalloc, size_t bytes)
      : fromMalloc(fromMalloc), mallocBytes(bytes) {}
  Block(Block &&other) noexcept
      : memory(std::move(other.memory)),
        fromMalloc(std::exchange(other.fromMalloc, nullptr)),
        mallocBytes(other.mallocBytes) {}
  Block &operator=(Block &&other) noexcept {
    std::swap(memory, other.memory);
    std::swap(fromMalloc, other.fromMalloc);
    std::swap(mallocBytes, other.mallocBytes);
    return *this;
  }
  ~Block() { std::free(fromMalloc); }

  void *data() const { return fromMalloc ? fromMalloc : memory.data(); }
  size_t bytes() const { return fromMalloc ? mallocBytes : memory.bytes(); }

private:
  Allocation memory;
  void *fromMalloc = nullptr;
  size_t mallocBytes = 0;
};

struct Allocator {
  const char *name;
  StorageManagerPtr manager; ///< Null: malloc.

  Block allocate(size_t bytes) const {
    if (manager) {
      Result<Allocation> block = manager->allocate(bytes);
      if (block.isOk())
        return Block(std::move(*block));
    } else {
      void *memory = nullptr;
      if (!posix_memalign(&memory, DLC_ALIGNMENT, bytes))
        return Block(memory, bytes);
    }
    std::fprintf(stderr, "no memory\n");
    std::exit(1);
  }
  void trim() const { manager ? manager->trim() : (void)malloc_trim(0); }
};

/// Sizes of 64 bytes to 1 MiB, each doubling as often as any other.
size_t anySize(std::mt19937_64 &random) {
  double u = double(random() >> 11) * 0x1p-53;
  return size_t(std::exp2(6 + 14 * u));
}

/// Replaces blocks at random, `live` at a time; an operation is one release and
/// one allocation.
void replace(const Allocator &allocator, const std::vector<size_t> &sizes,
             size_t live, size_t operations, unsigned seed) {
  std::minstd_rand random(seed + 1);
  std::vector<Block> blocks(live);
  for (size_t i = 0; i != operations; ++i) {
    Block &block = blocks[random() % live];
    block = Block();
    block = allocator.allocate(sizes[i % sizes.size()]);
    *static_cast<char *>(block.data()) = 1;
  }
}

double seconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

/// Nanoseconds of processor time for an operation, the least of some rounds: a
/// busy machine lengthens the others.
double measure(const Allocator &allocator, const std::vector<size_t> &sizes,
               size_t live, unsigned threads) {
  constexpr size_t operations = 200'000;
  double best = INFINITY;
  for (int round = 0; round != 5; ++round) {
    double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
    std::vector<std::thread> others;
    for (unsigned i = 1; i != threads; ++i)
      others.emplace_back(
          [&, i] { replace(allocator, sizes, live, operations, i); });
    replace(allocator, sizes, live, operations, 0);
    for (std::thread &thread : others)
      thread.join();
    double spent = seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
    best = std::min(best, spent / double(operations * threads));
  }
  return best * 1e9;
}

double residentBytes() {
  std::ifstream file("/proc/self/statm");
  double all = 0, resident = 0;
  file >> all >> resident;
  return resident * double(sysconf(_SC_PAGESIZE));
}

/// Resident over live bytes after a long use, with two of three blocks gone,
/// and at the end in MB.
struct Footprint {
  double full, third, endMegabytes;
};

Footprint measureFootprint(const Allocator &allocator) {
  double base = residentBytes(), live = 0, third = 0;
  std::mt19937_64 random(1);
  std::vector<Block> blocks(600);
  for (int i = 0; i != 100'000; ++i) {
    Block &block = blocks[random() % blocks.size()];
    block = Block();
    block = allocator.allocate(anySize(random));
  }
  Footprint result{};
  for (Block &block : blocks) {
    std::memset(block.data(), 1, block.bytes());
    live += double(block.bytes());
  }
  result.full = (residentBytes() - base) / live;
  for (size_t i = 0; i != blocks.size(); ++i) {
    if (i % 3)
      blocks[i] = Block();
    else
      third += double(blocks[i].bytes());
  }
  allocator.trim();
  result.third = (residentBytes() - base) / third;
  blocks.clear();
  allocator.trim();
  result.endMegabytes = (residentBytes() - base) / 1e6;
  return result;
}

} // namespace

int main(int argc, char **argv) {
  bool asJson = argc == 2 && !std::strcmp(argv[1], "--json");
  if (argc > 2 || (argc == 2 && !asJson)) {
    std::fprintf(stderr, "usage: %s [--json]\n", argv[0]);
    return 2;
  }
  std::mt19937_64 random(7);
  std::vector<size_t> mixed(4096);
  for (size_t &size : mixed)
    size = anySize(random);
  struct Pattern {
    const char *name;
    std::vector<size_t> sizes;
    size_t live;
  } patterns[] = {{"same-1000", {1000}, 1},
                  {"same-1000000", {1'000'000}, 1},
                  {"mixed", mixed, 200}};
  Allocator allocators[] = {
      {"pooled", createPooledManager(Context::cpu(), createHostSource())},
      {"naive", createNaiveManager(Context::cpu(), createMallocSource())},
      {"malloc", nullptr}};

  if (!asJson)
    std::printf("%-14s %-8s %12s %12s   (ns of processor time for a release "
                "and an allocation)\n",
                "pattern", "manager", "1 thread", "2 threads");
  for (const Pattern &pattern : patterns)
    for (const Allocator &allocator : allocators) {
      double one = measure(allocator, pattern.sizes, pattern.live, 1);
      double two = measure(allocator, pattern.sizes, pattern.live, 2);
      std::printf(asJson ? "{\"pattern\":\"%s\",\"manager\":\"%s\","
                           "\"ns_1_thread\":%.1f,\"ns_2_threads\":%.1f}\n"
                         : "%-14s %-8s %12.1f %12.1f\n",
                  pattern.name, allocator.name, one, two);
    }
  if (!asJson)
    std::printf("\n%-8s %18s %22s %14s\n", "manager", "resident / live",
                "with a third left", "at the end");
  for (const Allocator &allocator : allocators) {
    allocator.trim();
    Footprint footprint = measureFootprint(allocator);
    std::printf(asJson ? "{\"pattern\":\"footprint\",\"manager\":\"%s\","
                         "\"resident_over_live\":%.3f,"
                         "\"resident_over_third\":%.3f,\"end_mb\":%.2f}\n"
                       : "%-8s %18.3f %22.3f %11.2f MB\n",
                allocator.name, footprint.full, footprint.third,
                footprint.endMegabytes);
  }
}
