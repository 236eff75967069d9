// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Engine/Profiler.h"

#include "../JSON.h"
#include "../TemporaryFolder.h"
#include "dlc/runtime/Base/Wait.h"
#include "dlc/runtime/Storage/Storage.h"

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <set>
#include <thread>

using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

ProfileEvent event(Profiler &profiler, const char *name, uint64_t begin,
                   uint64_t end, Context device = Context::cpu()) {
  ProfileEvent event;
  event.begin = begin;
  event.end = end;
  event.device = device;
  event.name = profiler.textId(name);
  event.row = profiler.textId("row");
  return event;
}

std::vector<JSON> traceOf(const Profiler &profiler) {
  std::optional<JSON> trace = JSON::parse(profiler.toJSON());
  EXPECT_TRUE(trace) << profiler.toJSON();
  return trace ? (*trace)["traceEvents"].array : std::vector<JSON>();
}

std::unique_ptr<Engine> naiveEngine(EngineObserver *observer) {
  EngineOptions options;
  options.kind = EngineKind::Naive;
  options.observer = observer;
  return std::move(*Engine::create(options));
}

} // namespace

TEST(Profiler, StartsEmpty) {
  Profiler profiler;
  EXPECT_TRUE(traceOf(profiler).empty());
  EXPECT_TRUE(profiler.summarize().empty());
  EXPECT_EQ(profiler.dropped(), 0u);
}

TEST(Profiler, WritesMicrosecondsFromTheFirstEvent) {
  Profiler profiler;
  profiler.add(event(profiler, "late", 7'000'500, 7'002'000));
  profiler.add(event(profiler, "early", 7'000'000, 7'000'250));
  std::vector<JSON> trace = traceOf(profiler);
  ASSERT_EQ(trace.size(), 4u); // With the names of the device and the row.
  EXPECT_EQ(trace[0]["name"].string, "late");
  EXPECT_EQ(trace[0]["ts"].number, 0.5);
  EXPECT_EQ(trace[0]["dur"].number, 1.5);
  EXPECT_EQ(trace[1]["ts"].number, 0);
  EXPECT_EQ(trace[1]["dur"].number, 0.25);
  EXPECT_EQ(trace[0]["pid"].number, trace[1]["pid"].number);
  EXPECT_EQ(trace[0]["cat"].string, "operation");
}

TEST(Profiler, KeepsTextsAndCountsWhatFindsNoRoom) {
  Profiler profiler(2);
  EXPECT_EQ(profiler.textId(""), 0u);
  uint32_t id = profiler.textId("conv");
  EXPECT_NE(id, profiler.textId("relu"));
  EXPECT_EQ(id, profiler.textId("conv"));
  for (int i = 0; i != 5; ++i)
    profiler.add(event(profiler, "conv", i, i + 1));
  EXPECT_EQ(profiler.dropped(), 3u);
  EXPECT_EQ(profiler.summarize()[0].count, 2u);
  EXPECT_NE(profiler.toTable().find("3 events found no room"),
            std::string::npos);
}

TEST(Profiler, WritesALineForEachName) {
  Profiler profiler(1);
  profiler.add(event(profiler, "two\nlines", 1, 2));
  profiler.add(event(profiler, "x", 1, 2));
  std::string table = profiler.toTable();
  EXPECT_EQ(std::ranges::count(table, '\n'), 3) << table;
  EXPECT_NE(table.find("two\\x0alines\n1 event found no room\n"),
            std::string::npos)
      << table;
}

TEST(Profiler, SumsByNameKindAndDevice) {
  Profiler profiler;
  profiler.add(event(profiler, "a", 0, 10));
  profiler.add(event(profiler, "b", 0, 100));
  profiler.add(event(profiler, "a", 20, 50));
  profiler.add(event(profiler, "a", 0, 5, Context::null(1)));
  ProfileEvent copy = event(profiler, "a", 0, 7);
  copy.kind = ProfileKind::Copy;
  profiler.add(copy);
  std::vector<ProfileSummary> sums = profiler.summarize();
  ASSERT_EQ(sums.size(), 4u);
  EXPECT_EQ(sums[0].name, "b");
  EXPECT_EQ(sums[1].name, "a");
  EXPECT_EQ(sums[1].count, 2u);
  EXPECT_EQ(sums[1].totalNanoseconds, 40u);
  EXPECT_EQ(sums[1].least, 10u);
  EXPECT_EQ(sums[1].most, 30u);
  EXPECT_EQ(sums[2].kind, ProfileKind::Copy);
  EXPECT_EQ(sums[3].device, Context::null(1));
}

TEST(Profiler, TakesEventsOfManyThreads) {
  Profiler profiler;
  std::vector<std::thread> threads;
  for (int thread = 0; thread != 4; ++thread)
    threads.emplace_back([&, thread] {
      std::string name = "thread " + std::to_string(thread);
      for (uint64_t i = 0; i != 1000; ++i) {
        profiler.add(event(profiler, name.c_str(), i, i + 1));
        profiler.addMemory(Context::cpu(), i);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  std::vector<ProfileSummary> sums = profiler.summarize();
  ASSERT_EQ(sums.size(), 4u);
  for (const ProfileSummary &sum : sums)
    EXPECT_EQ(sum.count, 1000u);
  EXPECT_NE(profiler.toTable().find("memory of cpu:0: at most 999 bytes"),
            std::string::npos);
}

TEST(Profiler, ObservesAStorage) {
  Profiler profiler;
  Storage storage({.kind = StorageKind::Naive});
  storage.setObserver(&profiler);
  Allocation cpu = std::move(*storage.allocate(Context::cpu(), 1000));
  Allocation device = std::move(*storage.allocate(Context::null(), 500));
  std::move(*storage.allocate(Context::cpu(), 300)).reset();
  cpu.reset();
  storage.setObserver(nullptr);
  device.reset();
  std::map<double, std::string> devices;
  for (const JSON &event : traceOf(profiler))
    if (event["name"].string == "process_name")
      devices[event["pid"].number] = event["args"]["name"].string;
  std::map<std::string, std::vector<double>> counters;
  for (const JSON &event : traceOf(profiler))
    if (event["ph"].string == "C")
      counters[devices[event["pid"].number] + " " + event["name"].string]
          .push_back(event["args"]["bytes"].number);
  using Values = std::vector<double>;
  EXPECT_EQ(counters["cpu:0 storage"], (Values{1000, 1300, 1000, 0}));
  // A release is told of before its end.
  EXPECT_EQ(counters["cpu:0 reserved storage"],
            (Values{1000, 1300, 1300, 1000}));
  EXPECT_EQ(counters["null:0 storage"], Values{500});
  EXPECT_NE(profiler.toTable().find("storage of cpu:0: at most 1300 bytes"),
            std::string::npos);
}

// A trace is UTF-8, whatever applications call their operations.
TEST(Profiler, WritesTextThatIsUTF8) {
  const std::pair<std::string, std::string> names[] = {
      {"plain", "plain"},
      {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", // Two, three and four bytes.
       "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
      {"a\xff", "a\xef\xbf\xbd"},
      {"\xc3", "\xef\xbf\xbd"}, // Ends too early.
      {"\xc3(", "\xef\xbf\xbd("},
      {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"}, // Longer than it needs.
      {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
      {"\"\\\x01", "\"\\\x01"}};
  Profiler profiler;
  ProfileEvent event;
  event.begin = 1;
  event.end = 2;
  for (auto &[name, shown] : names)
    profiler.add(event, name, "row \xff", "\xfe");
  std::set<std::string> found;
  for (const JSON &event : traceOf(profiler))
    found.insert(event["name"].string);
  for (auto &[name, shown] : names)
    EXPECT_TRUE(found.count(shown)) << shown;
  EXPECT_EQ(profiler.toJSON().find('\xff'), std::string::npos);
  EXPECT_EQ(profiler.toJSON().find('\xfe'), std::string::npos);
}

TEST(Profiler, KeepsNothingWhileStopped) {
  Profiler profiler(3);
  Storage storage({.kind = StorageKind::Naive});
  storage.setObserver(&profiler);
  std::unique_ptr<Engine> engine = naiveEngine(&profiler);
  auto runAll = [&] {
    uint64_t now = nowNanoseconds();
    profiler.add(event(profiler, "a", now, now + 1));
    profiler.addMemory(Context::cpu(), 1);
    std::move(*storage.allocate(Context::cpu(), 10)).reset();
    EXPECT_TRUE(engine->pushSync([] {}, Context::cpu(), {}, {}).isOk());
  };
  profiler.stop();
  runAll();
  EXPECT_EQ(profiler.size() + profiler.dropped(), 0u);
  // An operation that it did not see the begin or the end of.
  for (bool starts : {true, false})
    EXPECT_TRUE(
        engine
            ->pushSync([&] { starts ? profiler.start() : profiler.stop(); },
                       Context::cpu(), {}, {})
            .isOk());
  EXPECT_EQ(profiler.size(), 0u);
  profiler.start();
  // Nor what began before the last start.
  EXPECT_TRUE(engine
                  ->pushSync(
                      [&] {
                        profiler.stop();
                        profiler.start();
                      },
                      Context::cpu(), {}, {})
                  .isOk());
  profiler.add(event(profiler, "a", 1, nowNanoseconds()));
  EXPECT_EQ(profiler.size() + profiler.dropped(), 0u);
  runAll();
  runAll();
  EXPECT_EQ(profiler.size(), 3u);
  EXPECT_EQ(profiler.dropped(), 1u + 7u); // Of 4 events and 10 figures.
  profiler.clear();
  EXPECT_EQ(profiler.size() + profiler.dropped(), 0u);
  EXPECT_EQ(profiler.toTable().find("memory"), std::string::npos);
  runAll();
  EXPECT_EQ(profiler.size(), 2u);
}

TEST(Profiler, LooksUpTextsOfWhatItKeepsAlone) {
  Profiler profiler(1);
  uint32_t first = profiler.textId("first");
  profiler.stop();
  profiler.add({}, "stopped", "row", "detail");
  EXPECT_EQ(profiler.textId("second"), first + 1);
  profiler.start();
  ProfileEvent event;
  event.begin = event.end = nowNanoseconds();
  profiler.add(event, "kept", "first", "");
  profiler.add(event, "no room", "row", "detail");
  EXPECT_EQ(profiler.size(), 1u);
  EXPECT_EQ(profiler.dropped(), 1u);
  EXPECT_EQ(profiler.summarize()[0].name, "kept");
  std::unique_ptr<Engine> engine = naiveEngine(&profiler);
  EXPECT_TRUE(
      engine
          ->pushSync([] {}, Context::cpu(), {}, {}, {.name = "no room either"})
          .isOk());
  EXPECT_EQ(profiler.textId("third"), first + 3);
}

TEST(Profiler, SaysWhenItHasNoRoom) {
  Profiler large(SIZE_MAX);
  EXPECT_FALSE(large.hasRoom());
  large.add(event(large, "a", 1, 2));
  EXPECT_EQ(large.size(), 0u);
  EXPECT_TRUE(Profiler(1).hasRoom());
}

TEST(Profiler, SaysWhenItCannotWrite) {
  EXPECT_EQ(Profiler().write("/no/such/folder/t.json").code(),
            StatusCode::Unavailable);
}

TEST(Profiler, ObservesAnEngine) {
  Profiler profiler;
  std::unique_ptr<Engine> engine = naiveEngine(&profiler);
  Variable x = *engine->newVariable();
  PushOptions options;
  options.name = "produce";
  options.origin = "net.onnx: conv1";
  ASSERT_TRUE(
      engine->pushSync([] {}, Context::null(2), {}, {x}, options).isOk());
  options = {};
  options.property = OperationProperty::CopyFromDevice;
  ASSERT_TRUE(
      engine
          ->pushSync([] { return makeError(StatusCode::Internal, "bad"); },
                     Context::cpu(), {x}, {}, options)
          .isOk());
  (void)engine->waitForAll().isOk();
  std::vector<JSON> trace = traceOf(profiler);
  ASSERT_GE(trace.size(), 2u);
  EXPECT_EQ(trace[0]["name"].string, "produce");
  EXPECT_EQ(trace[0]["args"]["detail"].string, "net.onnx: conv1");
  EXPECT_EQ(trace[0]["args"]["failed"].kind, JSON::Null);
  EXPECT_EQ(trace[1]["name"].string, "operation");
  EXPECT_EQ(trace[1]["cat"].string, "copy");
  EXPECT_EQ(trace[1]["args"]["failed"].number, 1);
  EXPECT_NE(trace[0]["pid"].number, trace[1]["pid"].number);
}

// Naive engines run what is pushed at once, also into another one.
TEST(Profiler, ObservesOperationsInsideOthers) {
  constexpr int depth = 100;
  Profiler profiler;
  std::vector<std::unique_ptr<Engine>> engines;
  for (int i = 0; i != depth; ++i)
    engines.push_back(naiveEngine(&profiler));
  std::function<void(int)> nest = [&](int level) {
    if (level == depth)
      return;
    EXPECT_TRUE(engines[level]
                    ->pushSync([&] { nest(level + 1); }, Context::cpu(), {}, {})
                    .isOk());
  };
  for (int round = 0; round != 2; ++round) {
    profiler.clear();
    nest(0);
    std::vector<JSON> trace = traceOf(profiler);
    ASSERT_GE(trace.size(), size_t(depth));
    double begin = 1e300;
    for (int i = 0; i != depth; ++i) { // The innermost first.
      EXPECT_LE(trace[i]["ts"].number, begin);
      begin = trace[i]["ts"].number;
    }
    EXPECT_EQ(begin, 0);
  }
}

// Some write 0,5 for a half.
TEST(Profiler, WritesNumbersThatNoLocaleChanges) {
  TemporaryFolder folder;
  std::string make = "localedef -c -i de_DE -f UTF-8 '" +
                     (folder / "de_DE.UTF-8").string() + "' >/dev/null 2>&1";
  (void)std::system(make.c_str());
  setenv("LOCPATH", (folder / ".").c_str(), /*overwrite=*/1);
  bool isOther = setlocale(LC_NUMERIC, "de_DE.UTF-8");
  Profiler profiler;
  profiler.add(event(profiler, "x", 7'000'500, 7'002'000));
  profiler.onStorage(Context::cpu(), 1, 2);
  std::string text = profiler.toJSON();
  setlocale(LC_NUMERIC, "C");
  unsetenv("LOCPATH");
  if (!isOther)
    GTEST_SKIP() << "there is no locale with a comma";
  EXPECT_NE(text.find("\"ts\":0.000,\"dur\":1.500,"), std::string::npos)
      << text;
  EXPECT_TRUE(JSON::parse(text)) << text;
}
