// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Base/Names.h"

#include <gtest/gtest.h>

using namespace dlc::rt;

static std::string questionFor(std::string_view name) {
  NearName near(name);
  for (std::string_view known :
       {"add", "average", "conv", "conv_transpose", "exp", "matmul", "max"})
    near.offer(known);
  return near.question();
}

TEST(Names, TheNearestIsFound) {
  EXPECT_EQ(questionFor("epx"), ": did you mean 'exp'?");
  EXPECT_EQ(questionFor("Matmul"), ": did you mean 'matmul'?");
  EXPECT_EQ(questionFor("mat_mul"), ": did you mean 'matmul'?");
  EXPECT_EQ(questionFor("convtranspse"), ": did you mean 'conv_transpose'?");
  EXPECT_EQ(questionFor("mat"), ": did you mean 'max'?");
  EXPECT_EQ(questionFor("ad"), ": did you mean 'add'?");
  EXPECT_EQ(questionFor("softmax"), "");
  EXPECT_EQ(questionFor(""), "");
  EXPECT_EQ(questionFor(std::string(100'000, 'e')), "");
}

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
