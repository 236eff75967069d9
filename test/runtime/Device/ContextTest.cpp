// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Device/Context.h"

#include <gtest/gtest.h>
#include <unordered_set>

using namespace dlc::rt;

static const Context all[] = {Context::cpu(),        Context::cpu(3),
                              Context::cpuPinned(),  Context::cpuShared(1),
                              Context::cuda(32'767), Context::null(),
                              Context::cuda(0)};

TEST(Context, ReadsWhatItWrites) {
  for (Context context : all) {
    Result<Context> read = Context::parse(toString(context));
    ASSERT_TRUE(read.isOk()) << read.status().message();
    EXPECT_EQ(*read, context);
    EXPECT_TRUE(context.isValid());
  }
  EXPECT_EQ(toString(Context::cpuPinned(2)), "cpu_pinned:2");
  EXPECT_EQ(*Context::parse("cuda"), Context::cuda(0));
}

TEST(Context, RefusesOtherNames) {
  for (const char *text :
       {"", "gpu", "CPU", "cpu:", "cpu:-1", "cpu:1x", "cpu: 1", "cpu:+1",
        "cpu:32768", "cpu:99999999999999999999", ":0", "cpu:0:0", "cpu "}) {
    Result<Context> read = Context::parse(text);
    EXPECT_FALSE(read.isOk()) << text;
    EXPECT_EQ(read.status().code(), StatusCode::InvalidArgument);
  }
}

TEST(Context, ComparesAndHashes) {
  std::unordered_set<Context> set(std::begin(all), std::end(all));
  EXPECT_EQ(set.size(), std::size(all));
  EXPECT_TRUE(set.contains(Context::cpu(3)));
  EXPECT_FALSE(set.contains(Context::cpu(2)));
  EXPECT_NE(Context::cpu(), Context::cpuPinned());
  EXPECT_LT(Context::cpu(1), Context::cpu(2));
}

TEST(Context, KnowsWhatNamesNoDevice) {
  EXPECT_FALSE((Context{DeviceKind(deviceKindCount), 0}.isValid()));
  EXPECT_FALSE((Context{DeviceKind::CPU, -1}.isValid()));
  EXPECT_EQ(nameOf(DeviceKind(77)), "invalid");
  EXPECT_TRUE(Context::null().isHost());
  EXPECT_FALSE(Context::cuda().isHost());
}
