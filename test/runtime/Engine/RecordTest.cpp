// SPDX-License-Identifier: Apache-2.0
//
// Operations of every size that the queue knows: in one line, in two, with an
// origin or bytes beside the variables, and too large for any record.

#include "EngineTesting.h"

using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

class Records : public testing::TestWithParam<EngineOptions> {
protected:
  /// Two operations of `count` variables, one after the other in the queue of
  /// a busy engine, and what became of them.
  void check(Engine &engine, uint32_t count, const PushOptions &options,
             bool isOperator);
  const Context cpu = Context::cpu();
};

std::vector<EngineOptions> smallEngines() {
  std::vector<EngineOptions> all;
  for (EngineOptions options : allEngines()) {
    // The records lie in all places of the ring, the last one among them.
    options.queueSlots = options.maxOperations = 16;
    options.callerHelp = CallerHelp::Never;
    all.push_back(options);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(, Records, testing::ValuesIn(smallEngines()),
                         [](auto &info) { return engineName(info.param); });

/// The variables of an operation: of every three it writes one.
struct Lists {
  explicit Lists(const std::vector<Variable> &variables) {
    for (size_t i = 0; i != variables.size(); ++i)
      (i % 3 == 0 ? writes : reads).push_back(variables[i]);
  }
  std::vector<Variable> reads, writes;
};

} // namespace

void Records::check(Engine &engine, uint32_t count, const PushOptions &options,
                    bool isOperator) {
  std::vector<Variable> variables = makeVariables(engine, count);
  Lists lists(variables);
  int ran = 0;
  auto run = [&ran] { ++ran; };
  Operator made;
  if (isOperator)
    made = *engine.newOperator(run, lists.reads, lists.writes, options);
  // All threads are busy, so that the records stay in the queue.
  Gate gate;
  bool isNaive = GetParam().kind == EngineKind::Naive;
  for (unsigned i = 0; !isNaive && i != GetParam().cpuWorkers; ++i)
    EXPECT_OK(engine.pushSync([&] { gate.pass(); }, cpu, {}, {}));
  for (int i = 0; i != 2; ++i)
    if (isOperator)
      EXPECT_OK(engine.push(made, cpu));
    else
      EXPECT_OK(engine.pushSync(run, cpu, lists.reads, lists.writes, options));
  gate.open();
  EXPECT_OK(engine.waitForAll());
  EXPECT_EQ(ran, 2);
  for (uint32_t i = 0; i != count; ++i)
    EXPECT_EQ(*engine.version(variables[i]), i % 3 ? 0u : 2u) << i;
  if (isOperator)
    EXPECT_OK(engine.deleteOperator(made));
  for (Variable variable : variables)
    EXPECT_OK(engine.deleteVariable(variable));
  EXPECT_OK(engine.waitForAll());
}

TEST_P(Records, KeepEachVariable) {
  auto engine = makeEngine(GetParam());
  const PushOptions extensions[] = {
      {},
      {.name = "op", .origin = "net: 1"},
      {.bytes = 8},
      {.priority = 3, .name = "op", .origin = "net: 1", .bytes = 8}};
  for (bool isOperator : {false, true})
    for (const PushOptions &options : extensions)
      for (uint32_t count : {1, 3, 4, 5, 14, 15, 16, 17, 40}) {
        SCOPED_TRACE(std::to_string(count) + " variables" +
                     (options.origin ? ", an origin" : "") +
                     (options.bytes ? ", bytes" : "") +
                     (isOperator ? ", an operator" : ""));
        check(*engine, count, options, isOperator);
      }
  EngineStatistics numbers = engine->statistics();
  EXPECT_EQ(numbers.failed, 0u);
  EXPECT_EQ(numbers.skipped, 0u);
  EXPECT_EQ(numbers.bytesInFlight, 0u);
}
