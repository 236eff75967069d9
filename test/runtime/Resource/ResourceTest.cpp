// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Resource/Resource.h"
#include "../Engine/EngineTesting.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

constexpr Context cpu = Context::cpu();

/// Resources over every engine. What is declared first ends last.
class AnyEngine : public testing::TestWithParam<EngineOptions> {
protected:
  void make(const ResourceOptions &options = {},
            const StorageOptions &storageOptions = {}) {
    resources.reset();
    engine.reset();
    storage = std::make_shared<Storage>(storageOptions);
    engine = makeEngine(GetParam());
    resources = std::make_unique<ResourceManager>(*engine, storage, options);
  }

  std::shared_ptr<Storage> storage;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<ResourceManager> resources;
};

std::vector<float> drawUniform(const RandomDraws &draws, size_t count) {
  std::vector<float> numbers(count);
  fillUniform(draws, 0, numbers);
  return numbers;
}

} // namespace

INSTANTIATE_TEST_SUITE_P(, AnyEngine, testing::ValuesIn(allEngines()),
                         [](const auto &info) {
                           return engineName(info.param);
                         });

//===----------------------------------------------------------------------===//
// Temporary space
//===----------------------------------------------------------------------===//

TEST_P(AnyEngine, SpacesBelongToOneOperationAtATime) {
  make({.hostSpaces = 2});
  std::atomic<int> running = 0, most = 0, broken = 0;
  for (int i = 0; i != 200; ++i) {
    TemporarySpace space = *resources->temporarySpace(cpu);
    EXPECT_OK(engine->pushSync(
        [&, space, i] {
          int now = ++running;
          for (int seen = most; now > seen;)
            if (most.compare_exchange_weak(seen, now))
              break;
          size_t bytes = 100 + size_t(i) * 37 % 5000;
          Result<void *> memory = space.reserve(bytes);
          Result<void *> again = space.reserve(bytes / 2);
          if (!memory.isOk() || !again.isOk() || *memory != *again) {
            ++broken;
          } else {
            auto *text = static_cast<unsigned char *>(*memory);
            std::memset(text, i & 0xff, bytes);
            std::this_thread::yield();
            for (size_t k = 0; k != bytes; ++k)
              broken += text[k] != (i & 0xff);
          }
          --running;
        },
        cpu, {}, {space.variable()}));
  }
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(broken, 0);
  EXPECT_LE(most, 2);
}

TEST_P(AnyEngine, SpacesTakeTurnsAndGrow) {
  make({.hostSpaces = 3});
  TemporarySpace spaces[4];
  for (TemporarySpace &space : spaces)
    space = *resources->temporarySpace(cpu);
  EXPECT_EQ(spaces[0].variable(), spaces[3].variable());
  EXPECT_NE(spaces[0].variable(), spaces[1].variable());
  EXPECT_NE(spaces[1].variable(), spaces[2].variable());
  // Each device has its own; a device that is not the host's has one.
  make({.hostSpaces = 3, .deviceSpaces = 1});
  StorageManager &memory = **storage->manager(cpu);
  auto use = [&](size_t bytes) {
    TemporarySpace space = *resources->temporarySpace(cpu);
    EXPECT_OK(engine->pushSync(
        [=] { return std::move(space.reserve(bytes).status()); }, cpu, {},
        {space.variable()}));
    EXPECT_OK(engine->waitForAll());
  };
  use(1000);
  EXPECT_EQ(memory.statistics().liveBytes, 1000u);
  use(3000);
  use(500);
  EXPECT_EQ(memory.statistics().liveBytes, 4500u);
  use(9000); // The first again: instead of its 1,000.
  EXPECT_EQ(memory.statistics().liveBytes, 12'500u);
  use(10); // Smaller ones keep what there is.
  EXPECT_EQ(memory.statistics().liveBytes, 12'500u);
  EXPECT_OK(resources->trim());
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(memory.statistics().liveBytes, 0u);
}

TEST_P(AnyEngine, HostSpaceIsOnTheHost) {
  make();
  TemporarySpace space = *resources->temporarySpace(Context::null(1));
  EXPECT_OK(engine->pushSync(
      [=] {
        Result<void *> device = space.reserve(100),
                       host = space.reserveHost(50);
        return device.isOk() && host.isOk() && *device != *host
                   ? Status::ok()
                   : Status(StatusCode::Internal, "no space");
      },
      Context::null(1), {}, {space.variable()}));
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ((*storage->manager(Context::null(1)))->statistics().liveBytes,
            100u);
  EXPECT_EQ((*storage->manager(cpu))->statistics().liveBytes, 50u);
}

TEST_P(AnyEngine, AFailureStaysWithItsOperation) {
  // The space that could not grow serves the next operation as before.
  make({.hostSpaces = 1}, {.pool = {.byteCap = 1'000'000}});
  std::vector<Variable> results = makeVariables(*engine, 2);
  for (int i = 0; i != 2; ++i) {
    TemporarySpace space = *resources->temporarySpace(cpu);
    size_t bytes = i ? 1000 : 2'000'000;
    EXPECT_OK(engine->pushSync(
        [=] { return std::move(space.reserve(bytes).status()); }, cpu, {},
        {results[i], space.variable()}, {.name = "needs space"}));
  }
  EXPECT_OK(engine->waitForVariable(results[1]));
  EXPECT_ERROR(engine->waitForVariable(results[0]), OutOfMemory,
               "temporary space: cannot allocate 2000000 bytes on cpu:0");
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

/// What `count` operations draw, one number each, with a seed in the middle.
static std::vector<float>
drawInOperations(Engine &engine, ResourceManager &resources, size_t count) {
  std::vector<float> numbers(count);
  RandomResource random = *resources.random(cpu);
  for (size_t i = 0; i != count; ++i) {
    if (i == count / 2)
      EXPECT_OK(resources.seed(cpu, 99));
    EXPECT_OK(engine.pushSync(
        [random, out = &numbers[i]] {
          fillNormal(*random.take(blocksFor(1)), 0, std::span(out, 1));
        },
        cpu, {}, {random.variable()}));
  }
  EXPECT_OK(engine.waitForAll());
  return numbers;
}

TEST_P(AnyEngine, TheSameNumbersWhateverTheThreads) {
  make({.seed = 5});
  std::vector<float> numbers = drawInOperations(*engine, *resources, 100);
  auto naive = makeEngine({.kind = EngineKind::Naive});
  ResourceManager serial(*naive, storage, {.seed = 5});
  EXPECT_EQ(numbers, drawInOperations(*naive, serial, 100));
  // And the seed counts.
  ResourceManager other(*naive, storage, {.seed = 6});
  std::vector<float> different = drawInOperations(*naive, other, 100);
  EXPECT_FALSE(
      std::equal(numbers.begin(), numbers.begin() + 5, different.begin()));
  EXPECT_TRUE(
      std::equal(numbers.begin() + 50, numbers.end(), different.begin() + 50));
}

TEST_P(AnyEngine, SeedsStartSequencesAnew) {
  make({.seed = 1});
  ParallelRandom host = *resources->parallelRandom(cpu),
                 device = *resources->parallelRandom(Context::null());
  auto take = [](ParallelRandom &random) {
    return drawUniform(*random.take(10), 10);
  };
  std::vector<float> first = take(host), second = take(host);
  EXPECT_NE(first, second);
  EXPECT_NE(first, take(device)); // Devices differ, with the same seed too.
  EXPECT_OK(resources->seed(1));
  EXPECT_EQ(take(host), first);
  EXPECT_EQ(take(host), second);
  EXPECT_OK(resources->seed(cpu, 2));
  EXPECT_NE(take(host), first);
  // A device that comes later has the last seed for all.
  EXPECT_OK(resources->seed(77));
  ParallelRandom late = *resources->parallelRandom(Context::null(2));
  ResourceManager again(*engine, storage, {.seed = 77});
  ParallelRandom same = *again.parallelRandom(Context::null(2));
  EXPECT_EQ(take(late), take(same));
}

TEST_P(AnyEngine, SeedsOfADeviceReachLaterSequences) {
  make({.seed = 1});
  EXPECT_OK(resources->seed(cpu, 7));
  EXPECT_EQ(resources->parallelRandom(cpu)->take(1)->seed, 7u);
  EXPECT_EQ(resources->dropoutState(cpu)->next(1, 0.5)->draws.seed, 7u);
  EXPECT_EQ(resources->parallelRandom(Context::null())->take(1)->seed, 1u);
  EXPECT_OK(resources->seed(9));
  EXPECT_EQ(resources->parallelRandom(cpu)->take(1)->seed, 9u);
}

// Of a device as well, where that takes long: no number comes twice.
TEST_P(AnyEngine, SequencesOfDevicesEnd) {
  make();
  RandomResource random = *resources->random(cpu);
  EXPECT_OK(engine->pushSync(
      [&] {
        uint64_t begin = random.take(0)->position;
        EXPECT_EQ(random.take(10)->position, begin);
        EXPECT_ERROR(random.take(UINT64_MAX).status(), InvalidArgument,
                     "at most 2^64 blocks");
        EXPECT_EQ(random.take(UINT64_MAX - begin - 10)->position, begin + 10);
        EXPECT_ERROR(random.take(1).status(), InvalidArgument, "got 1 after");
      },
      cpu, {}, {random.variable()}));
  EXPECT_OK(engine->waitForAll());
  EXPECT_OK(resources->seed(5));
  EXPECT_OK(engine->pushSync([&] { EXPECT_OK(take(random.take(1).status())); },
                             cpu, {}, {random.variable()}));
  EXPECT_OK(engine->waitForAll());
}

TEST_P(AnyEngine, SequencesEndBeforeTheNext) {
  make();
  constexpr uint64_t most = uint64_t(1) << 40;
  ParallelRandom first = *resources->parallelRandom(cpu),
                 second = *resources->parallelRandom(cpu);
  uint64_t begin = first.take(10)->position;
  EXPECT_ERROR(first.take(UINT64_MAX).status(), InvalidArgument, "after 10");
  EXPECT_ERROR(first.take(most - 9).status(), InvalidArgument,
               "at most 2^40 blocks");
  EXPECT_EQ(first.take(most - 10)->position, begin + 10);
  EXPECT_ERROR(first.take(1).status(), InvalidArgument, "got 1 after");
  EXPECT_TRUE(first.take(0).isOk());
  EXPECT_EQ(second.take(1)->position, begin + most);
  EXPECT_OK(resources->seed(5));
  EXPECT_EQ(first.take(1)->position, begin);
  DropoutState state = *resources->dropoutState(cpu);
  EXPECT_TRUE(state.next(most, 0.5).isOk());
  EXPECT_ERROR(state.next(1, 0.5).status(), InvalidArgument, "got 1 after");
}

TEST_P(AnyEngine, EachRequestHasASequenceOfItsOwn) {
  constexpr int count = 4;
  std::vector<float> drawn[2][2 * count];
  // On threads whose order is any, and on one.
  for (bool isThreaded : {true, false}) {
    make({.seed = 3});
    auto &mine = drawn[isThreaded];
    std::vector<std::thread> threads;
    for (int i = 0; i != count; ++i) {
      auto run = [&, i, random = *resources->parallelRandom(cpu),
                  state = *resources->dropoutState(cpu)] {
        for (int k = 0; k != 50; ++k) {
          std::vector<float> next = drawUniform(*random.take(7), 7);
          mine[i].insert(mine[i].end(), next.begin(), next.end());
          next = drawUniform(state.next(7, 0.5)->draws, 7);
          mine[count + i].insert(mine[count + i].end(), next.begin(),
                                 next.end());
        }
      };
      if (isThreaded)
        threads.emplace_back(run);
      else
        run();
    }
    for (std::thread &thread : threads)
      thread.join();
  }
  for (int i = 0; i != 2 * count; ++i) {
    EXPECT_EQ(drawn[0][i], drawn[1][i]);
    for (int k = 0; k != i; ++k)
      EXPECT_NE(drawn[0][i], drawn[0][k]);
  }
}

TEST_P(AnyEngine, ParallelDrawsNeedNoOrder) {
  make();
  ParallelRandom random = *resources->parallelRandom(cpu);
  std::vector<std::vector<float>> drawn(50);
  for (auto &numbers : drawn)
    EXPECT_OK(engine->pushSync(
        [&numbers, draws = *random.take(100)] {
          numbers = drawUniform(draws, 100);
        },
        cpu, {}, {}));
  EXPECT_OK(engine->waitForAll());
  EXPECT_OK(resources->seed(0));
  for (const auto &numbers : drawn)
    EXPECT_EQ(numbers, drawUniform(*random.take(100), 100));
}

TEST_P(AnyEngine, BackwardDropsWhatForwardDropped) {
  make();
  DropoutState state = *resources->dropoutState(cpu);
  constexpr size_t count = 10'000;
  DropoutMask mask = *state.next(count, 0.75), other = *state.next(count, 0.75);
  std::vector<float> x(count, 3), y(count), dy(count, 1), dx(count), z(count);
  mask.apply(0, x, y);
  // In two parts, in any order, and in place.
  dx = dy;
  std::span<float> whole(dx);
  mask.apply(3333, whole.subspan(3333), whole.subspan(3333));
  mask.apply(0, whole.first(3333), whole.first(3333));
  size_t kept = 0;
  for (size_t i = 0; i != count; ++i) {
    ASSERT_EQ(y[i] == 0, dx[i] == 0);
    ASSERT_TRUE(y[i] == 0 || y[i] == 4);
    kept += y[i] != 0;
  }
  EXPECT_NEAR(double(kept), 7500, 5 * std::sqrt(count * 0.75 * 0.25));
  other.apply(0, x, z);
  EXPECT_NE(y, z);
  for (double p : {0.0, -0.5, 1.5, double(NAN)})
    EXPECT_ERROR(state.next(1, p).status(), InvalidArgument, "probability");
}

//===----------------------------------------------------------------------===//
// Life
//===----------------------------------------------------------------------===//

TEST_P(AnyEngine, ClosesWhileOperationsRun) {
  make();
  std::atomic<int> done = 0;
  for (int i = 0; i != 50; ++i) {
    TemporarySpace space = *resources->temporarySpace(cpu);
    RandomResource random = *resources->random(cpu);
    EXPECT_OK(engine->pushSync(
        [&done, space, random] {
          Result<void *> memory = space.reserve(1000);
          fillUniform(*random.take(250), 0,
                      std::span(static_cast<float *>(*memory), 250));
          ++done;
        },
        cpu, {}, {space.variable(), random.variable()}));
  }
  EXPECT_OK(resources->close());
  EXPECT_ERROR(resources->temporarySpace(cpu).status(), Unavailable, "closed");
  EXPECT_ERROR(resources->seed(3), Unavailable, "closed");
  EXPECT_OK(resources->close());
  resources.reset();
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(done, 50);
  EXPECT_EQ((*storage->manager(cpu))->statistics().liveBytes, 0u);
  EXPECT_EQ(engine->statistics().variables, 0u);
}

TEST_P(AnyEngine, TheStorageLastsAsLongAsItsOperations) {
  make();
  TemporarySpace space = *resources->temporarySpace(cpu);
  Gate gate;
  std::atomic<int> done = 0;
  if (GetParam().kind == EngineKind::Naive)
    gate.open();
  for (int i = 0; i != 10; ++i)
    EXPECT_OK(engine->pushSync(
        [&, space] {
          gate.pass();
          std::memset(*space.reserve(1000), 1, 1000);
          ++done;
        },
        cpu, {}, {space.variable()}));
  std::weak_ptr<Storage> watched = storage;
  storage.reset();
  resources.reset();
  EXPECT_EQ(watched.expired(), GetParam().kind == EngineKind::Naive);
  gate.open();
  EXPECT_OK(engine->waitForAll());
  EXPECT_EQ(done, 10);
  EXPECT_OK(engine->stop()); // Its functions are destroyed.
  EXPECT_TRUE(watched.expired());
}

TEST_P(AnyEngine, AClosedEngineRefuses) {
  make();
  EXPECT_OK(resources->temporarySpace(cpu).status());
  EXPECT_OK(engine->close());
  EXPECT_ERROR(resources->trim(), Unavailable, "");
  EXPECT_ERROR(resources->random(Context::null()).status(), Unavailable, "");
  // Closing works nonetheless, and frees the memory.
  EXPECT_OK(resources->close());
}

TEST_P(AnyEngine, RefusesWhatIsNoDevice) {
  make();
  EXPECT_ERROR(resources->temporarySpace({DeviceKind(50), 0}).status(),
               InvalidArgument, "expected a device");
  EXPECT_ERROR(resources->random(Context::cpu(-1)).status(), InvalidArgument,
               "expected a device");
  EXPECT_ERROR(resources->dropoutState(Context::cuda()).status(), Unsupported,
               "cuda:0");
  EXPECT_EQ(engine->statistics().variables, 0u);
}
