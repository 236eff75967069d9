// SPDX-License-Identifier: Apache-2.0

#include "OperationTesting.h"

using namespace dlc::rt;
using namespace dlc::rt::cpu;
using namespace dlc::rt::cpu::testing;

namespace {

/// A convolution by chance, and what its operation is told.
struct RandomCase {
  std::vector<Shape> shapes;
  Attributes given;
};

} // namespace

static RandomCase randomCase(uint64_t round) {
  Random random(round);
  const int64_t rank = 1 + random.below(3);
  const int64_t group = 1 + random.below(3);
  const int64_t channels = group * (1 + random.below(5));
  const int64_t perGroup = 1 + random.below(5);
  Shape x = {1 + random.below(2), channels}, w = {channels, perGroup};
  std::vector<int64_t> strides, dilations, pads, more;
  for (int64_t d = 0; d < rank; ++d) {
    x.push_back(1 + random.below(d + 1 == rank ? 40 : 7));
    w.push_back(1 + random.below(4));
    strides.push_back(1 + random.below(3));
    dilations.push_back(1 + random.below(2));
    more.push_back(random.below(strides.back()));
  }
  for (int64_t d = 0; d < 2 * rank; ++d)
    pads.push_back(random.below(3));
  RandomCase made = {{x, w}, {}};
  if (random.below(2))
    made.shapes.push_back({group * perGroup});
  made.given.set("group", group);
  made.given.set("strides", strides);
  made.given.set("dilations", dilations);
  constexpr const char *paddings[] = {"NOTSET", "NOTSET", "SAME_UPPER",
                                      "SAME_LOWER"};
  const std::string padding = paddings[random.below(4)];
  made.given.set("auto_pad", padding);
  if (padding == "NOTSET") {
    made.given.set("pads", pads);
    made.given.set("output_padding", more);
  }
  return made;
}

/// Both with weights as they are and with packed ones. False where the
/// operation refuses the attributes.
static bool check(OperationCall &call) {
  const std::vector<double> expected = call.reference();
  if (expected.empty())
    return false;
  const LibraryEntry *entry = lookupLibraryEntry("cpu.conv_transpose");
  std::string why;
  EXPECT_TRUE(call.readCall(*entry, why)) << why;
  call.expectResults(prepareConvTranspose, expected, 1e-5);
  const size_t bytes = entry->packedBytes(call.view(), 1);
  EXPECT_GT(bytes, 0u);
  GuardedBuffer packed(bytes / sizeof(float));
  entry->pack(call.view(), 1, call.values[1].data(), packed.data());
  EXPECT_TRUE(packed.guardsIntact());
  call.values[1] = std::move(packed);
  call.attributes.set("packed_w", int64_t(1));
  call.workspace = {DLC_I8,
                    {static_cast<int64_t>(entry->workspaceBytes(call.view()))}};
  call.expectResults(prepareConvTranspose, expected, 1e-5);
  return true;
}

TEST(ConvTransposeTest, RandomConvolutions) {
  int computed = 0;
  for (uint64_t round = 0; round < 200; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    RandomCase test = randomCase(round);
    OperationCall call("conv_transpose", test.shapes, test.given, round);
    computed += check(call);
  }
  EXPECT_GT(computed, 120);
}

// Products are made in pieces: of some images, groups, or channels. What lies
// between them does not grow with these.
TEST(ConvTransposeTest, Pieces) {
  struct {
    Shape x, w;
    int64_t group;
  } cases[] = {
      {{5, 2, 64, 64}, {2, 8, 5, 5}, 1},
      {{2, 7, 128, 128}, {7, 2, 5, 5}, 7},
      {{1, 2, 128, 128}, {2, 19, 5, 5}, 1},
      {{1, 2, 400, 400}, {2, 3, 5, 5}, 1},
  };
  for (const auto &test : cases) {
    SCOPED_TRACE(test.group);
    Attributes given;
    given.set("group", test.group);
    given.set("strides", std::vector<int64_t>{2, 1});
    OperationCall call("conv_transpose",
                       {test.x, test.w, {test.group * test.w[1]}}, given, 7);
    EXPECT_TRUE(check(call));
    EXPECT_LE(call.workspaceBytes(), size_t(50) << 20);
  }
}

TEST(ConvTransposeTest, RefusesMalformedCalls) {
  const LibraryEntry *entry = lookupLibraryEntry("cpu.conv_transpose");
  ASSERT_NE(entry, nullptr);
  auto refuses = [&](auto change, const char *fragment) {
    OperationCall call("conv_transpose", {{1, 4, 5, 6}, {4, 3, 2, 2}, {3}}, {},
                       1);
    call.output = f32({1, 3, 6, 7});
    std::string why;
    EXPECT_TRUE(call.readCall(*entry, why)) << why;
    change(call);
    EXPECT_FALSE(entry->isSupported(call.view(), why));
    EXPECT_NE(why.find(fragment), std::string::npos) << why;
    EXPECT_EQ(entry->packedBytes(call.view(), 1), 0u);
    EXPECT_EQ(entry->workspaceBytes(call.view()), 0u);
    std::unique_ptr<PreparedKernel> kernel;
    EXPECT_FALSE(
        prepareConvTranspose(call.view(), Isa::Baseline, kernel).isOk());
  };
  using Ints = std::vector<int64_t>;
  refuses([](auto &call) { call.output = f32({1, 3, 6, 8}); }, "an output");
  refuses([](auto &call) { call.output = f32({1, 3, 6}); }, "an output");
  refuses(
      [](auto &call) {
        call.inputs[1] = f32({5, 3, 2, 2});
      },
      "input channels");
  refuses([](auto &call) { call.inputs[2] = f32({4}); }, "output channel");
  refuses([](auto &call) { call.inputs[0] = f32({0, 4, 5, 6}); }, "elements");
  refuses([](auto &call) { call.inputs[0].type = DLC_F16; }, "f32");
  refuses([](auto &call) { call.inputs.pop_back(), call.inputs.pop_back(); },
          "two or three inputs");
  refuses([](auto &call) { call.attributes.set("strides", Ints{1}); },
          "strides");
  refuses(
      [](auto &call) {
        call.attributes.set("strides", Ints{0, 1});
      },
      "strides");
  refuses([](auto &call) { call.attributes.set("group", int64_t(3)); },
          "equal groups");
  refuses([](auto &call) { call.attributes.set("packed_w", int64_t(2)); },
          "packed_w");
  refuses([](auto &call) { call.attributes.set("other", int64_t(2)); },
          "other");
}
