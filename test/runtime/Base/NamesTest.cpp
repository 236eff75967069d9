// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Base/Names.h"

#include <gtest/gtest.h>

using namespace dlc::rt;

TEST(Names, AreToldApart) {
  EXPECT_TRUE(checkDistinct({}, "inputs", StatusCode::DataLoss).isOk());
  EXPECT_TRUE(
      checkDistinct({"b", "a", "", "ab"}, "inputs", StatusCode::DataLoss)
          .isOk());
  Status status = checkDistinct({"x", "b", "a", "b", "x"}, "inputs",
                                StatusCode::InvalidArgument);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(status.message(), "two inputs are named 'b'");
}
