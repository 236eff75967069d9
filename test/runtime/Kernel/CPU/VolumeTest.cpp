// SPDX-License-Identifier: Apache-2.0

#include "OperationTesting.h"

using namespace dlc::rt;
using namespace dlc::rt::cpu;
using namespace dlc::rt::cpu::testing;

using Ints = std::vector<int64_t>;

static Ints someOf(Random &random, int64_t count, int64_t least, int64_t most) {
  Ints values(count);
  for (int64_t &value : values)
    value = least + random.below(most - least + 1);
  return values;
}

TEST(VolumeTest, RandomConvolutions) {
  const LibraryEntry *entry = lookupLibraryEntry("cpu.conv_volume");
  ASSERT_NE(entry, nullptr);
  int plain = 0, packed = 0, wino = 0;
  for (uint64_t round = 0; round < 150; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Random random(round);
    const bool isEven = random.below(2);
    const int64_t group = isEven ? 1 : 1 + random.below(2);
    const int64_t channels = group * (1 + random.below(4));
    Shape x = {1 + random.below(2), channels},
          w = {group * (1 + random.below(12)), channels / group};
    for (int64_t most : {6, 9, 30}) {
      x.push_back(1 + random.below(most));
      w.push_back(isEven ? 3 : 1 + random.below(3));
    }
    Attributes given;
    given.set("group", group);
    given.set("strides", isEven ? Ints{1, 1, 1} : someOf(random, 3, 1, 2));
    given.set("dilations", isEven ? Ints{1, 1, 1} : someOf(random, 3, 1, 2));
    Ints pads = someOf(random, 6, 0, 2);
    if (random.below(2))
      pads[0] = pads[3] = 0;
    given.set("pads", pads);
    std::vector<Shape> shapes = {x, w};
    if (random.below(2))
      shapes.push_back({w[0]});
    OperationCall call("conv", shapes, given, round);
    const std::vector<double> expected = call.reference();
    if (expected.empty())
      continue;
    std::string why;
    if (call.readCall(*entry, why)) {
      ++plain;
      call.expectResults(prepareConvVolume, expected, 1e-5);
    } else {
      EXPECT_NE(why.find("packed weights"), std::string::npos) << why;
    }
    const GuardedBuffer weights = call.values[1];
    for (const char *algorithm : {"", "winograd"}) {
      call.attributes.set("algorithm", std::string(algorithm));
      call.attributes.set("packed_w", int64_t(1));
      call.workspace = {};
      if (!entry->isSupported(call.view(), why)) {
        EXPECT_EQ(algorithm, std::string("winograd")) << why;
        continue;
      }
      ++(*algorithm ? wino : packed);
      const size_t bytes = entry->packedBytes(call.view(), 1);
      ASSERT_GT(bytes, 0u);
      GuardedBuffer target(bytes / sizeof(float));
      GuardedBuffer source = weights;
      entry->pack(call.view(), 1, source.data(), target.data());
      EXPECT_TRUE(target.guardsIntact());
      call.values[1] = std::move(target);
      call.workspace = {
          DLC_I8, {static_cast<int64_t>(entry->workspaceBytes(call.view()))}};
      call.expectResults(prepareConvVolume, expected, *algorithm ? 1e-4 : 1e-5);
    }
  }
  EXPECT_GT(plain, 20);
  EXPECT_GT(packed, 60);
  EXPECT_GT(wino, 8);
}

// Some positions at once: of one image, or some whole images.
TEST(VolumeTest, Pieces) {
  for (const Shape &x : {Shape{2, 8, 9, 120, 130}, Shape{5, 16, 4, 64, 64}}) {
    Attributes given;
    given.set("pads", Ints{0, 1, 1, 0, 1, 1});
    OperationCall call("conv", {x, {3, x[1], 3, 3, 3}, {3}}, given, 5);
    call.expectSame("cpu.conv_volume", prepareConvVolume, 1e-5);
    EXPECT_LE(call.workspaceBytes(), size_t(30) << 20);
  }
}

// They would meet zeros in front of the image, where there are no terms.
TEST(VolumeTest, WeightsBesidePaddingAreFinite) {
  const LibraryEntry *entry = lookupLibraryEntry("cpu.conv_volume");
  ASSERT_NE(entry, nullptr);
  auto isFinite = [&](Ints pads) {
    Attributes given;
    given.set("pads", std::move(pads));
    OperationCall call("conv", {{1, 2, 4, 5, 6}, {3, 2, 2, 1, 1}}, given, 1);
    EXPECT_FALSE(call.reference().empty());
    std::string why;
    const bool isPlain = call.readCall(*entry, why);
    call.attributes.set("packed_w", int64_t(1));
    const bool packsFinite = entry->packsFinite(call.view(), 1);
    EXPECT_NE(isPlain, packsFinite) << why;
    return packsFinite;
  };
  EXPECT_FALSE(isFinite({0, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(isFinite({1, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(isFinite({0, 0, 0, 1, 0, 0}));
}

TEST(VolumeTest, RandomPooling) {
  int computed = 0;
  for (uint64_t round = 0; round < 200; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Random random(round);
    Shape x = {1 + random.below(2), 1 + random.below(3)};
    for (int64_t most : {7, 9, 40})
      x.push_back(1 + random.below(most));
    Attributes given;
    given.set("kernel_shape", someOf(random, 3, 1, 4));
    given.set("strides", someOf(random, 3, 1, 3));
    given.set("dilations", someOf(random, 3, 1, 2));
    given.set("pads", someOf(random, 6, 0, 2));
    given.set("ceil_mode", random.below(2));
    const bool isMean = random.below(2);
    if (isMean)
      given.set("count_include_pad", random.below(2));
    OperationCall call(isMean ? "avg_pool" : "max_pool", {x}, given, round);
    if (round % 3 == 0)
      call.values[0].data()[call.values[0].size() / 2] =
          round % 2 ? std::nanf("1") : -std::numeric_limits<float>::infinity();
    computed += !call.reference().empty();
    call.expectSame("cpu.pool_volume", preparePoolVolume, 2e-6);
  }
  EXPECT_GT(computed, 60);
}

TEST(VolumeTest, RefusesMalformedCalls) {
  auto refuses = [](const char *entryName, auto change, const char *fragment) {
    const LibraryEntry *entry = lookupLibraryEntry(entryName);
    ASSERT_NE(entry, nullptr);
    const bool isConv = entryName == std::string("cpu.conv_volume");
    Attributes given;
    if (!isConv)
      given.set("kernel_shape", Ints{2, 2, 2});
    std::vector<Shape> shapes = {{1, 3, 5, 6, 7}};
    if (isConv)
      shapes.push_back({3, 3, 2, 2, 2});
    OperationCall call(isConv ? "conv" : "max_pool", shapes, given, 1);
    call.output = f32({1, 3, 4, 5, 6});
    std::string why;
    EXPECT_TRUE(call.readCall(*entry, why)) << why;
    change(call);
    EXPECT_FALSE(entry->isSupported(call.view(), why));
    EXPECT_NE(why.find(fragment), std::string::npos) << why;
    EXPECT_EQ(entry->workspaceBytes(call.view()), 0u);
    std::unique_ptr<PreparedKernel> kernel;
    EXPECT_FALSE(entry->prepare(call.view(), kernel).isOk());
  };
  for (const char *entry : {"cpu.conv_volume", "cpu.pool_volume"}) {
    SCOPED_TRACE(entry);
    refuses(
        entry,
        [](auto &call) {
          call.output = f32({1, 3, 4, 5});
        },
        "rank");
    refuses(
        entry,
        [](auto &call) {
          call.output = f32({1, 2, 4, 5, 6});
        },
        "");
    refuses(
        entry, [](auto &call) { call.inputs[0].type = DLC_F64; }, "f32");
    refuses(
        entry,
        [](auto &call) {
          call.inputs[0] = f32({0, 3, 5, 6, 7});
        },
        "elements");
    refuses(
        entry, [](auto &call) { call.inputs.clear(); }, "input");
    refuses(
        entry,
        [](auto &call) {
          call.attributes.set("strides", Ints{1, 1});
        },
        "strides");
    refuses(
        entry, [](auto &call) { call.attributes.set("other", int64_t(1)); },
        "other");
  }
  refuses(
      "cpu.conv_volume",
      [](auto &call) {
        call.output = f32({1, 3, 4, 5, 7});
      },
      "an output");
}
