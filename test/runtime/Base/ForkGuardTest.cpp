// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Base/ForkGuard.h"
#include "../InChild.h"

#include <gtest/gtest.h>

using namespace dlc::rt;
using namespace dlc::rt::test;

TEST(ForkGuard, KnowsTheChild) {
  ForkGuard guard;
  EXPECT_FALSE(guard.isChild());
  EXPECT_EQ(inChild([&] { return guard.isChild() ? 0 : 1; }), 0);
  EXPECT_FALSE(guard.isChild());
}

TEST(ForkGuard, AChildAdoptsItOnce) {
  ForkGuard guard;
  int calls = 0;
  guard.adopt([&] { ++calls; }); // It is ours already.
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(inChild([&] {
              guard.adopt([&] { ++calls; });
              guard.adopt([&] { ++calls; });
              if (calls != 1 || guard.isChild())
                return 1;
              return inChild([&] { return guard.isChild() ? 0 : 1; });
            }),
            0);
}
