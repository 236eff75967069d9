// SPDX-License-Identifier: Apache-2.0
//
// Memory of the engines: none taken while operations of usual size come and go,
// and no harm done where there is none. A program of its own, because it
// replaces the allocator.

#include "EngineTesting.h"

#include <cstdlib>
#include <malloc.h>
#include <new>

using namespace dlc::rt;
using namespace dlc::rt::test;

// Engines take their memory from the operators that return null; the others
// serve texts of errors and the tests.
static std::atomic<size_t> allocations = 0;
static std::atomic<long> liveBytes = 0;
static std::atomic<long> failAt = -1, failCount = 0;

static void *allocate(size_t bytes, size_t alignment = 16) {
  ++allocations;
  void *memory = std::aligned_alloc(alignment, (bytes + alignment - 1) /
                                                   alignment * alignment);
  liveBytes += long(malloc_usable_size(memory));
  return memory;
}
static void release(void *memory) {
  liveBytes -= long(malloc_usable_size(memory));
  std::free(memory);
}
static bool mustFail() {
  if (failAt < 0)
    return false;
  long turn = failAt.fetch_sub(1);
  if (turn > 0)
    return false;
  failAt = 0; // Stays at the failing turn while failures are left.
  if (failCount.fetch_sub(1) > 0)
    return true;
  failAt = -1;
  return false;
}
void *operator new(size_t bytes) {
  if (void *memory = allocate(bytes))
    return memory;
  std::abort();
}
void *operator new(size_t bytes, const std::nothrow_t &) noexcept {
  return mustFail() ? nullptr : allocate(bytes);
}
void *operator new[](size_t bytes, const std::nothrow_t &tag) noexcept {
  return operator new(bytes, tag);
}
void *operator new(size_t bytes, std::align_val_t alignment,
                   const std::nothrow_t &) noexcept {
  return mustFail() ? nullptr : allocate(bytes, size_t(alignment));
}
void *operator new[](size_t bytes, std::align_val_t alignment,
                     const std::nothrow_t &tag) noexcept {
  return operator new(bytes, alignment, tag);
}
void operator delete(void *memory) noexcept { release(memory); }
void operator delete(void *memory, size_t) noexcept { release(memory); }
void operator delete[](void *memory) noexcept { release(memory); }
void operator delete[](void *memory, size_t) noexcept { release(memory); }
void operator delete(void *memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete(void *memory, size_t, std::align_val_t) noexcept {
  release(memory);
}
void operator delete[](void *memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete[](void *memory, size_t, std::align_val_t) noexcept {
  release(memory);
}

TEST(Memory, SteadyPushesTakeNone) {
  auto engine = makeEngine({.kind = EngineKind::PerDevice, .cpuWorkers = 2});
  std::vector<Variable> v = makeVariables(*engine, 40);
  std::vector<Variable> many(v.begin() + 3, v.end());
  auto op = engine->newOperator([] {}, {v[0]}, {v[1]});
  auto round = [&] {
    for (int i = 0; i != 2000; ++i) {
      (void)engine->pushSync([] {}, Context::cpu(), {v[0], v[1]}, {v[2]})
          .isOk();
      (void)engine->push(*op, Context::cpu(), i % 3).isOk();
      (void)engine
          ->pushAsync([](Completion done) { (void)done.complete(); },
                      Context::cpu(), {v[i % 20]}, {})
          .isOk();
      (void)engine->pushSync([] {}, Context::cpu(), many, {v[0]}).isOk();
      (void)engine->waitForVariable(v[2]).isOk();
      (void)engine->waitForAll().isOk(); // The next needs as much again.
    }
  };
  round();
  size_t before = allocations;
  round();
  EXPECT_EQ(allocations, before);
}

TEST(Memory, SteadyBulksTakeNone) {
  auto engine = makeEngine({.kind = EngineKind::PerDevice, .cpuWorkers = 2});
  std::vector<Variable> v = makeVariables(*engine, 200);
  BulkScope bulk(*engine, 50);
  // All of them at a time in flight, each time.
  auto round = [&] {
    Gate gate;
    (void)engine
        ->pushSync([&] { gate.pass(); }, Context::cpu(), {}, v, {.priority = 1})
        .isOk();
    for (int i = 0; i != 5000; ++i)
      (void)engine
          ->pushSync([] {}, Context::cpu(), {v[i % 200]}, {v[(i + 1) % 200]})
          .isOk();
    gate.open();
    (void)engine->waitForAll().isOk();
  };
  round();
  round();
  size_t before = allocations;
  round();
  EXPECT_EQ(allocations, before);
}

// What large operations have left is for large ones.
TEST(Memory, SmallOperationsTakeNoLargeBlocks) {
  // Who waits here does not take the operation that waits for it.
  auto engine = makeEngine({.kind = EngineKind::PerDevice,
                            .cpuWorkers = 2,
                            .callerHelp = CallerHelp::Never});
  std::vector<Variable> v = makeVariables(*engine, 20'021);
  Gate gate;
  (void)engine->pushSync([&] { gate.pass(); }, Context::cpu(), {}, {v[20'020]})
      .isOk();
  VariableList many(v.data(), 20'000), some(v.data() + 20'000, 21);
  long before = liveBytes;
  for (int i = 0; i != 50; ++i) {
    (void)engine->pushSync([] {}, Context::cpu(), {}, many).isOk();
    (void)engine->waitForVariable(v[0]).isOk();
    until([&] { return engine->statistics().inFlight == 1u + i; });
    (void)engine->pushSync([] {}, Context::cpu(), {}, some).isOk();
  }
  // One large block of 32,768 variables of 24 to 32 bytes.
  EXPECT_LT(liveBytes - before, 2 << 20);
  gate.open();
  (void)engine->waitForAll().isOk();
}

//===----------------------------------------------------------------------===//
// Failing allocations
//===----------------------------------------------------------------------===//

namespace {

/// Every part of an engine that takes memory. Each call succeeds, or says that
/// there is no memory; nothing that a function holds is lost.
class Everything {
public:
  explicit Everything(EngineKind kind) : kind(kind) {}

  void run() {
    auto made = Engine::create({.kind = kind,
                                .cpuWorkers = 2,
                                .queueSlots = 64,
                                .spinMicroseconds = 0});
    if (!accept(take(made.status())) || !made.isOk())
      return;
    engine = std::move(*made);
    for (int i = 0; i != 1030; ++i) // More than one chunk.
      if (auto x = engine->newVariable(); x.isOk())
        v.push_back(*x);
      else
        accept(take(x.status()));
    if (v.size() > 40) {
      pushAll();
      accept(engine->waitForAll());
      accept(engine->stop());
      accept(engine->start());
      accept(engine->waitForAll());
    }
    failAt = -1; // Closing needs nothing, so that this is not needed either.
    EXPECT_OK(engine->close());
    engine.reset();
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_EQ(deleted, deletions);
  }

private:
  /// True for success.
  bool accept(Status status) {
    EXPECT_TRUE(status.isOk() || status.code() == StatusCode::OutOfMemory ||
                status.message().find("no memory") != std::string::npos ||
                status.message().find("boom") != std::string::npos ||
                status.message().find("dropped") != std::string::npos)
        << status.message();
    return status.isOk();
  }

  void pushAll() {
    auto h = held;
    Context cpu = Context::cpu();
    std::vector<Variable> many(v.begin(), v.begin() + 30);
    for (int i = 0; i != 200; ++i)
      accept(engine->pushSync([h, i] { (void)i; }, cpu, {v[i % 7]}, {v[20]}));
    accept(engine->pushSync([h] {}, cpu, many, {v[31]}));
    accept(engine->pushSync([h] {}, Context::null(), {}, many));
    accept(engine->pushAsync([h](Completion done) { (void)done.complete(); },
                             cpu, {}, {v[3]}));
    if (auto op = engine->newOperator([h] {}, {v[1]}, {v[2]}); op.isOk()) {
      accept(engine->push(*op, cpu));
      accept(engine->deleteOperator(*op));
    } else {
      accept(take(op.status()));
    }
    {
      BulkScope bulk(*engine, 4);
      for (int i = 0; i != 10; ++i)
        accept(engine->pushSync([h] {}, cpu, {v[i]}, {v[15]}));
      accept(bulk.end());
    }
    // Waits inside, which needs spare threads.
    accept(engine->pushSync(
        [this, h] {
          accept(engine->pushSync([h] {}, Context::cpu(), {}, {v[33]}));
          accept(engine->waitForVariable(v[33]));
        },
        cpu, {}, {v[34]}));
    // Errors, which are written down.
    accept(engine->pushSync(
        [h] { return makeError(StatusCode::DataLoss, "boom"); }, cpu, {},
        {v[4]}));
    for (int i = 5; i != 12; ++i)
      accept(engine->pushSync([h] {}, cpu, {v[i - 1]}, {v[i]}));
    if (accept(engine->deleteVariable([this, h] { ++deleted; }, cpu, v[8])))
      ++deletions;
    accept(engine->waitForVariable(v[11]));
  }

  EngineKind kind;
  std::shared_ptr<int> held = std::make_shared<int>(0);
  std::atomic<int> deleted = 0;
  int deletions = 0;
  std::vector<Variable> v;
  std::unique_ptr<Engine> engine;
};

void failEverywhere(EngineKind kind, long failuresInARow) {
  long turn = 0;
  for (bool hasFailed = true; hasFailed; ++turn) {
    failCount = failuresInARow;
    failAt = turn;
    SCOPED_TRACE("allocation " + std::to_string(turn));
    Everything(kind).run();
    hasFailed = failCount < failuresInARow;
    failAt = -1;
    // Steps grow: most turns are the same push.
    turn += turn / 20;
  }
  EXPECT_GT(turn, 20);
}

} // namespace

TEST(Memory, NaiveSurvivesItsLack) { failEverywhere(EngineKind::Naive, 1); }
TEST(Memory, ThreadedSurvivesItsLack) {
  failEverywhere(EngineKind::Threaded, 1);
}
TEST(Memory, PerDeviceSurvivesItsLack) {
  failEverywhere(EngineKind::PerDevice, 1);
}
TEST(Memory, PerDeviceSurvivesItsLongLack) {
  failEverywhere(EngineKind::PerDevice, 50);
}

TEST(Memory, ABulkSizeThatFailsIsAsBefore) {
  auto engine = makeEngine(
      {.kind = EngineKind::PerDevice, .cpuWorkers = 1, .queueSlots = 16});
  std::vector<Variable> v = makeVariables(*engine, 4000);
  Variable own = makeVariables(*engine, 1)[0];
  int ran = 0;
  std::atomic<bool> isOver = false;
  EXPECT_OK(engine->pushSync(
      [&] {
        EXPECT_EQ(*engine->setBulkSize(10), 0u);
        for (int i = 0; i != 5; ++i)
          EXPECT_OK(
              engine->pushSync([&] { ++ran; }, Context::cpu(), {}, {own}));
        // Deletions, which wait for nothing, fill the queue.
        std::thread([&] {
          failCount = 1 << 20;
          failAt = 0;
          // One that fails may have made room.
          int refused = 0;
          for (Variable variable : v)
            refused = engine->deleteVariable(variable).isOk() ? 0 : refused + 1;
          EXPECT_GT(refused, 1);
        }).join();
        EXPECT_ERROR(engine->setBulkSize(3).status(), OutOfMemory, "no memory");
        EXPECT_ERROR(engine->setBulkSize(0).status(), OutOfMemory, "no memory");
        failAt = -1;
        EXPECT_EQ(*engine->setBulkSize(20), 10u);
        isOver = true;
      },
      Context::cpu(), {}, {}));
  // A wait for all before would push the bulk.
  until([&] { return isOver.load(); });
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(ran, 5);
}
