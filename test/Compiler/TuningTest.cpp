// SPDX-License-Identifier: Apache-2.0
//
// What measured times decide, with times that nobody measured.

#include "dlc/Compiler/Compiler.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace dlc;
namespace fs = std::filesystem;

namespace {

class TuningTest : public ::testing::Test {
protected:
  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "dlc-tuning-XXXXXX";
    folder = mkdtemp(pattern.data());
    cache = folder / "times";
  }
  void TearDown() override { fs::remove_all(folder); }

  struct Result {
    std::string text, messages;
    tuning::Tuner::Counts counts;
    size_t count(std::string_view part) const {
      size_t found = 0;
      for (size_t at = text.find(part); at != std::string::npos;
           at = text.find(part, at + 1))
        ++found;
      return found;
    }
  };

  Result compile(double seconds) {
    CompileOptions options;
    options.tuning = {cache, seconds};
    Compilation compilation(options);
    EXPECT_TRUE(succeeded(compilation.import(DLC_CONVOLUTIONS)));
    EXPECT_TRUE(succeeded(compilation.runTo(Phase::Kernel)))
        << compilation.messages();
    Result result{"", compilation.messages(), compilation.tunedCalls()};
    llvm::raw_string_ostream os(result.text);
    compilation.print(os);
    return result;
  }

  /// Writes times of all known calls.
  template <typename TimeFn> void setTimes(TimeFn timeOf) {
    auto table = tuning::readTable(cache);
    ASSERT_TRUE(table.isOk()) << table.status().message();
    for (auto &[call, time] : (*table)[tuning::thisMachine()])
      time = timeOf(call);
    ASSERT_TRUE(tuning::writeTable(cache, *table).isOk());
  }

  fs::path folder;
  std::string cache;
};

bool has(const std::string &call, std::string_view part) {
  return call.find(part) != std::string::npos;
}

constexpr double kLong = 600;

} // namespace

TEST_F(TuningTest, MeasuresOnceAndKeepsTimes) {
  Result first = compile(kLong);
  EXPECT_GT(first.counts.measured, 2u);
  EXPECT_EQ(first.counts.known + first.counts.missing, 0u);
  Result second = compile(kLong);
  EXPECT_EQ(second.counts.measured + second.counts.missing, 0u);
  EXPECT_EQ(second.counts.known, first.counts.measured);
  EXPECT_EQ(second.text, first.text);
  EXPECT_EQ(compile(0).text, first.text);
}

TEST_F(TuningTest, TimesDecide) {
  (void)compile(kLong);
  setTimes([](const std::string &call) {
    return has(call, "algorithm=winograd") ? 10 : 1000;
  });
  Result result = compile(0);
  EXPECT_EQ(result.count("algorithm = \"winograd\""), 2u) << result.text;
  EXPECT_EQ(result.count(", measured: direct 1.0 us, winograd 0.0 us"), 2u)
      << result.text;
  // Blocks that take long are not worth their moves, and those that gain are.
  for (bool isBlockedFast : {false, true}) {
    setTimes([&](const std::string &call) {
      bool isBlocked = has(call, "channel_block=16");
      return isBlocked == isBlockedFast ? 1'000 : 1'000'000'000;
    });
    result = compile(0);
    EXPECT_EQ(result.count("channel_block = 16") > 0, isBlockedFast)
        << result.text;
  }
}

// By the model, Winograd's algorithm is the faster one here.
TEST_F(TuningTest, LittleIsNoise) {
  (void)compile(kLong);
  for (auto [time, count] : {std::pair(1020, 2u), std::pair(1040, 0u)}) {
    setTimes([time = time](const std::string &call) {
      if (has(call, "channel_block") || has(call, "16] "))
        return 1'000'000'000;
      return has(call, "algorithm=winograd") ? time : 1000;
    });
    EXPECT_EQ(compile(0).count("algorithm"), count) << time;
  }
}

TEST_F(TuningTest, ModelsWhereTimesAreMissing) {
  Result untuned = compile(1e-9);
  EXPECT_EQ(untuned.counts.measured, 0u);
  EXPECT_GT(untuned.counts.missing, 0u);
  cache.clear();
  EXPECT_EQ(untuned.text, compile(0).text);
}

// What nobody measured is as slow as the slowest beside it: blocks remain where
// only what goes from blocks to plain tensors, which the model likes, has no
// time.
TEST_F(TuningTest, PrefersNothingForNotBeingMeasured) {
  (void)compile(kLong);
  setTimes([](const std::string &call) {
    return has(call, "channel_block=16") ? 1'000 : 1'000'000'000;
  });
  const Result all = compile(0);
  ASSERT_GT(all.count("channel_block = 16"), 0u);
  auto table = tuning::readTable(cache);
  ASSERT_TRUE(table.isOk());
  const size_t erased =
      std::erase_if((*table)[tuning::thisMachine()], [](const auto &entry) {
        return has(entry.first, ",16] ") &&
               !has(entry.first, "channel_block=16");
      });
  ASSERT_GT(erased, 0u);
  ASSERT_TRUE(tuning::writeTable(cache, *table).isOk());
  const Result some = compile(0);
  EXPECT_GT(some.counts.missing, 0u);
  EXPECT_EQ(some.count("channel_block = 16"), all.count("channel_block = 16"))
      << some.text;
}

TEST_F(TuningTest, LeavesOutFilesOfSomethingElse) {
  std::ofstream(cache) << "nothing of the kind\n";
  Result result = compile(0);
  EXPECT_EQ(result.messages,
            "warning: times of calls left out: " + cache +
                ": expected 'dlc-tuning 1' in the first line, got 'nothing of "
                "the kind'\n");
  EXPECT_EQ(result.counts.known, 0u);
  // It may be anybody's: it stays.
  EXPECT_NE(compile(kLong).messages.find("times of calls not kept: " + cache),
            std::string::npos);
  EXPECT_FALSE(tuning::readTable(cache).isOk());
  fs::remove(cache);
  EXPECT_NE(compile(0).messages.find("times of calls left out: "),
            std::string::npos);
  EXPECT_EQ(compile(kLong).messages, "");
}

TEST_F(TuningTest, TimesOfThisMachineAreNoneOfAnother) {
  (void)compile(kLong);
  CompileOptions options;
  options.target = "x86-64";
  options.tuning = {cache, 0};
  Compilation compilation(options);
  EXPECT_EQ(compilation.messages(),
            "warning: times of calls left out: expected those of the target "
            "x86-64, got those of this machine\n");
  ASSERT_TRUE(succeeded(compilation.import(DLC_CONVOLUTIONS)));
  ASSERT_TRUE(succeeded(compilation.runTo(Phase::Kernel)));
  EXPECT_EQ(compilation.tunedCalls().known, 0u);
}

TEST_F(TuningTest, TimesOfOtherMachinesStayAndDoNotCount) {
  ASSERT_TRUE(
      tuning::writeTable(cache, {{"Another-6-1 mmx", {{"call", 7}}}}).isOk());
  Result result = compile(kLong);
  EXPECT_EQ(result.counts.known, 0u);
  auto table = tuning::readTable(cache);
  ASSERT_TRUE(table.isOk());
  EXPECT_EQ(table->size(), 2u);
  EXPECT_EQ((*table)["Another-6-1 mmx"]["call"], 7u);
}

TEST_F(TuningTest, FilesThatCannotBeWrittenAreSaid) {
  cache = folder / "none" / "times";
  Result result = compile(kLong);
  EXPECT_NE(result.messages.find("warning: times of calls not kept: "),
            std::string::npos)
      << result.messages;
}
