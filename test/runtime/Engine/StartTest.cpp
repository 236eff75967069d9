// SPDX-License-Identifier: Apache-2.0
//
// Engines where the system has no thread to give. A program of its own, because
// it replaces pthread_create().

#include "../InChild.h"
#include "EngineTesting.h"

#include <dlfcn.h>

using namespace dlc::rt;
using namespace dlc::rt::test;

/// Threads that can still be started; below 0: any number.
static std::atomic<int> threadsLeft = -1;

extern "C" int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                              void *(*function)(void *), void *argument) {
  using Create =
      int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  static const auto create =
      reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  int left = threadsLeft;
  while (left > 0 && !threadsLeft.compare_exchange_weak(left, left - 1))
    ;
  if (left == 0)
    return EAGAIN;
  return create(thread, attr, function, argument);
}

namespace {

class Starts : public testing::TestWithParam<EngineOptions> {
protected:
  void TearDown() override { threadsLeft = -1; }
  const Context cpu = Context::cpu();
};

INSTANTIATE_TEST_SUITE_P(, Starts, testing::ValuesIn(threadedEngines()),
                         [](auto &info) { return engineName(info.param); });

void expectWorks(Engine &engine) {
  Variable x = makeVariables(engine, 1)[0];
  int ran = 0;
  for (int i = 0; i != 100; ++i)
    EXPECT_OK(engine.pushSync([&] { ++ran; }, Context::cpu(), {}, {x}));
  EXPECT_OK(engine.waitForVariable(x));
  EXPECT_EQ(ran, 100);
  EXPECT_OK(engine.deleteVariable(x));
}

} // namespace

TEST_P(Starts, FailWithoutAThread) {
  threadsLeft = 0;
  EXPECT_ERROR(Engine::create(GetParam()).status(), Unavailable,
               "cannot start a thread");
}

TEST_P(Starts, FewerThreadsWillDo) {
  EngineOptions options = GetParam();
  options.callerHelp = CallerHelp::Never;
  threadsLeft = 1;
  auto engine = makeEngine(options);
  expectWorks(*engine);
  EXPECT_EQ(engine->statistics().threads, 1u);
  EXPECT_OK(engine->stop());
  threadsLeft = 1;
  EXPECT_OK(engine->start()); // As at first.
  expectWorks(*engine);
  EXPECT_OK(engine->stop());
  threadsLeft = 0;
  EXPECT_ERROR(engine->start(), Unavailable, "cannot start a thread");
  EXPECT_ERROR(engine->pushSync([] {}, cpu, {}, {}), Unavailable, "stopped");
  threadsLeft = -1;
  EXPECT_OK(engine->start());
  EXPECT_EQ(engine->statistics().threads, options.cpuWorkers);
  expectWorks(*engine);
}

TEST_P(Starts, EndTheirWatchdogWhenTheyFail) {
  EngineOptions options = GetParam();
  options.watchdogMilliseconds = 1;
  int workers = int(options.cpuWorkers);
  // The last one is for the watchdog, which an engine does not do without.
  for (int threads = 0; threads != workers + 2; ++threads) {
    threadsLeft = threads;
    Result<std::unique_ptr<Engine>> engine = Engine::create(options);
    EXPECT_EQ(engine.isOk(), threads > workers) << threads;
  }
  threadsLeft = -1;
  auto engine = makeEngine(options);
  expectWorks(*engine);
  EXPECT_OK(engine->stop());
  threadsLeft = workers;
  EXPECT_ERROR(engine->start(), Unavailable, "cannot start the watchdog");
  threadsLeft = -1;
  EXPECT_OK(engine->start());
  expectWorks(*engine);
}

TEST_P(Starts, DeletionsSayThatThereIsNoThread) {
  if (GetParam().kind == EngineKind::Threaded)
    GTEST_SKIP() << "one lane serves all devices";
  auto engine = makeEngine(GetParam());
  Variable x = makeVariables(*engine, 1)[0];
  int deleted = 0;
  threadsLeft = 0;
  auto remove = [&] {
    return engine->deleteVariable([&] { ++deleted; }, Context::null(), x);
  };
  EXPECT_ERROR(remove(), Unavailable, "cannot start a thread");
  EXPECT_ERROR(engine->pushSync([] {}, Context::null(), {}, {x}), Unavailable,
               "cannot start a thread");
  // Inside an operation, while the engine ends, too.
  EXPECT_OK(engine->pushSync(
      [&] {
        until([&] { return !engine->pushSync([] {}, cpu, {}, {}).isOk(); });
        EXPECT_ERROR(remove(), Unavailable, "cannot start a thread");
      },
      cpu, {}, {}));
  EXPECT_OK(engine->stop());
  EXPECT_OK(engine->waitForVariable(x)); // It exists.
  EXPECT_OK(remove());                   // At once, which needs no thread.
  EXPECT_EQ(deleted, 1);
  EXPECT_EQ(engine->statistics().variables, 0u);
}

TEST_P(Starts, AChildStaysOneWhenItCannotStart) {
  auto engine = makeEngine(GetParam());
  int result = inChild([&] {
    threadsLeft = 0;
    bool isRefused = !engine->start().isOk() &&
                     engine->newVariable().status().message().find("fork") !=
                         std::string::npos &&
                     !engine->stop().isOk();
    threadsLeft = -1;
    bool isStarted = engine->start().isOk() && engine->newVariable().isOk() &&
                     engine->close().isOk();
    return isRefused && isStarted ? 0 : 1;
  });
  EXPECT_EQ(result, 0);
}
