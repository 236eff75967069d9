// SPDX-License-Identifier: Apache-2.0

#include "dlc/Tuning/Tuner.h"

#include <gtest/gtest.h>

using namespace dlc::tuning;
using namespace dlc::rt;

namespace {

const LibraryEntry &conv() { return *lookupLibraryEntry("cpu.conv"); }

/// 16 channels of 12x12, 3x3 taps.
Call makeConv(std::string_view algorithm, bool isPacked = true) {
  Call call{&conv(),
            {{DLC_F32, {1, 16, 12, 12}}, {DLC_F32, {16, 16, 3, 3}}},
            {{DLC_F32, {1, 16, 12, 12}}},
            {},
            {}};
  call.attributes.set("pads", std::vector<int64_t>{1, 1, 1, 1});
  if (isPacked) {
    call.packed = {1};
    call.attributes.set("packed_w", int64_t{1});
  }
  if (!algorithm.empty())
    call.attributes.set("algorithm", std::string(algorithm));
  return call;
}

Result<uint64_t> measureOne(const Call &call) {
  return std::move(measure({&call, 1}).front());
}

constexpr Tuner::Options kMeasures{.measures = true};

} // namespace

TEST(Tuner, KeysTellCallsApart) {
  std::string key = keyOf(makeConv(""));
  EXPECT_EQ(key, "cpu.conv f32[1,16,12,12] f32[16,16,3,3] -> f32[1,16,12,12] "
                 "packed_w=1 pads=[1,1,1,1]");
  EXPECT_NE(key, keyOf(makeConv("winograd")));
  EXPECT_NE(key, keyOf(makeConv("", false)));
}

TEST(Tuner, KeysDoNotDependOnTheOrderOfAttributes) {
  Call a = makeConv(""), b = a;
  a.attributes = {};
  a.attributes.set("packed_w", int64_t{1});
  a.attributes.set("pads", std::vector<int64_t>{1, 1, 1, 1});
  EXPECT_EQ(keyOf(a), keyOf(b));
}

TEST(Tuner, MeasuresEveryWay) {
  for (bool isPacked : {true, false}) {
    Result<uint64_t> time = measureOne(makeConv("", isPacked));
    ASSERT_TRUE(time.isOk()) << time.status().message();
    EXPECT_GT(*time, 0u);
  }
  // Has a workspace and two steps.
  Result<uint64_t> time = measureOne(makeConv("winograd"));
  ASSERT_TRUE(time.isOk()) << time.status().message();
  EXPECT_GT(*time, 0u);
}

TEST(Tuner, RefusesWhatCannotBeMeasured) {
  Call wrong = makeConv("");
  wrong.inputs[1].shape = {16, 15, 3, 3};
  EXPECT_EQ(measureOne(wrong).status().code(), StatusCode::InvalidArgument);
  Call large = makeConv("");
  large.inputs[0].shape = large.outputs[0].shape = {1 << 20, 16, 12, 12};
  EXPECT_EQ(measureOne(large).status().code(), StatusCode::Unsupported);
  Call open = makeConv("");
  open.inputs[0].shape[0] = kUnknownDim;
  EXPECT_EQ(measureOne(open).status().code(), StatusCode::Unsupported);
}

TEST(Tuner, TellsWhatIsKnownAndMeasuresTheRest) {
  Call known = makeConv(""), other = makeConv("winograd");
  Tuner tuner({{keyOf(known), 5}}, kMeasures);
  Call calls[] = {known, other, other};
  auto times = tuner.timesOf(calls);
  ASSERT_TRUE(times[1]);
  EXPECT_EQ(times[0], 5u);
  EXPECT_EQ(times[1], times[2]);
  EXPECT_EQ(tuner.timesOf(calls), times);
  EXPECT_EQ(tuner.counts().known, 1u);
  EXPECT_EQ(tuner.counts().measured, 1u);
  EXPECT_EQ(tuner.counts().missing, 0u);
  EXPECT_EQ(tuner.measuredTimes(), Times({{keyOf(other), *times[1]}}));
}

TEST(Tuner, TellsWhatHasNoTime) {
  Call known = makeConv(""), other = makeConv("winograd");
  Call both[] = {known, other};
  for (Tuner::Options options :
       {Tuner::Options{}, Tuner::Options{.measures = true, .budget = {}}}) {
    Tuner tuner({{keyOf(known), 5}}, options);
    EXPECT_EQ(tuner.timesOf(both),
              (std::vector<std::optional<uint64_t>>{5, std::nullopt}));
    EXPECT_EQ(tuner.counts().known, 1u);
    EXPECT_EQ(tuner.counts().missing, 1u);
  }
}

// What cannot be measured keeps nothing else from it.
TEST(Tuner, MeasuresInTurn) {
  Call calls[] = {makeConv(""), makeConv(""), makeConv("winograd")};
  calls[1].inputs[1].shape = {16, 15, 3, 3};
  std::vector<Result<uint64_t>> times = measure(calls);
  ASSERT_EQ(times.size(), 3u);
  EXPECT_TRUE(times[0].isOk() && !times[1].isOk() && times[2].isOk());
}

TEST(Tuner, KeepsToItsBudget) {
  // 20 calls of 20 ms each and more; a launch of each takes microseconds.
  std::vector<Call> calls;
  for (int64_t dilation = 1; dilation <= 20; ++dilation) {
    calls.push_back(makeConv(""));
    calls.back().attributes.set("dilations",
                                std::vector<int64_t>{dilation, dilation});
    calls.back().attributes.set(
        "pads", std::vector<int64_t>{dilation, dilation, dilation, dilation});
  }
  Tuner tuner({}, {.measures = true, .budget = std::chrono::milliseconds(50)});
  (void)tuner.timesOf({calls.data(), calls.size() - 1});
  // Nothing is left for the last one.
  EXPECT_FALSE(tuner.timesOf(calls).back());
  EXPECT_EQ(tuner.counts().missing, 1u);
  // Launches of seconds are not begun.
  Call large = makeConv("");
  large.inputs[0].shape = large.outputs[0].shape = {1, 16, 2048, 2048};
  Tuner brief({}, {.measures = true, .budget = std::chrono::milliseconds(1)});
  EXPECT_FALSE(brief.timesOf({&large, 1}).front());
  EXPECT_EQ(brief.counts().missing, 1u);
}
