// SPDX-License-Identifier: Apache-2.0
//
// What the tests of engines share.

#ifndef DLC_TEST_RUNTIME_ENGINE_ENGINETESTING_H
#define DLC_TEST_RUNTIME_ENGINE_ENGINETESTING_H

#include "dlc/runtime/Engine/Engine.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

namespace dlc::rt::test {

inline std::unique_ptr<Engine> makeEngine(const EngineOptions &options) {
  auto engine = Engine::create(options);
  EXPECT_TRUE(engine.isOk()) << engine.status().message();
  return engine.isOk() ? std::move(*engine) : nullptr;
}

inline std::vector<Variable> makeVariables(Engine &engine, size_t count) {
  std::vector<Variable> variables(count);
  for (Variable &variable : variables) {
    auto result = engine.newVariable();
    EXPECT_TRUE(result.isOk()) << result.status().message();
    variable = *result;
  }
  return variables;
}

/// The status of a call, from wherever it is.
inline Status take(Status &&status) { return std::move(status); }
inline Status take(Status &status) { return std::move(status); }

#define EXPECT_OK(call)                                                        \
  do {                                                                         \
    const ::dlc::rt::Status okStatus = ::dlc::rt::test::take(call);            \
    EXPECT_TRUE(okStatus.isOk()) << okStatus.message();                        \
  } while (false)

#define EXPECT_ERROR(call, expectedCode, expectedText)                         \
  do {                                                                         \
    const ::dlc::rt::Status errorStatus = ::dlc::rt::test::take(call);         \
    EXPECT_EQ(errorStatus.code(), ::dlc::rt::StatusCode::expectedCode);        \
    EXPECT_NE(errorStatus.message().find(expectedText), std::string::npos)     \
        << errorStatus.message();                                              \
  } while (false)

/// A door that operations wait at.
class Gate {
public:
  void open() {
    isOpen.store(true, std::memory_order_release);
    isOpen.notify_all();
  }
  void pass() const { isOpen.wait(false, std::memory_order_acquire); }

private:
  std::atomic<bool> isOpen = false;
};

/// Every engine with several numbers of threads; for value-parameterized tests.
inline std::vector<EngineOptions> allEngines() {
  std::vector<EngineOptions> all = {{.kind = EngineKind::Naive}};
  for (EngineKind kind : {EngineKind::Threaded, EngineKind::PerDevice})
    for (unsigned workers : {1, 2, 4})
      all.push_back({.kind = kind, .cpuWorkers = workers});
  return all;
}

/// Those of them that have threads.
inline std::vector<EngineOptions> threadedEngines() {
  std::vector<EngineOptions> all = allEngines();
  all.erase(all.begin());
  return all;
}

template <typename Condition> void until(Condition condition) {
  while (!condition())
    std::this_thread::yield();
}

/// Waits until all that was pushed has completed, and leaves alone what threads
/// collect in bulks.
inline void waitElsewhere(Engine &engine) {
  until([&] { return engine.statistics().inFlight == 0; });
}

inline std::string engineName(const EngineOptions &options) {
  static constexpr const char *kinds[] = {"Naive", "Threaded", "PerDevice"};
  return kinds[int(options.kind)] +
         (options.cpuWorkers ? std::to_string(options.cpuWorkers) : "");
}

} // namespace dlc::rt::test

namespace dlc::rt {
inline void PrintTo(const EngineOptions &options, std::ostream *out) {
  *out << test::engineName(options);
}
} // namespace dlc::rt

#endif // DLC_TEST_RUNTIME_ENGINE_ENGINETESTING_H
