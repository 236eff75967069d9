// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Base/Names.h"

#include <gtest/gtest.h>

using namespace dlc::rt;

static std::string questionFor(std::string_view name) {
  NearName near(name);
  for (std::string_view known :
       {"add", "average", "conv", "conv_transpose", "exp", "matmul", "max",
        "elu", "atan", "reduce_mean", "sub", "Reduce_Sum", "logical_or", "pow"})
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
  EXPECT_EQ(questionFor("power"), ": did you mean 'pow'?");
  EXPECT_EQ(questionFor("ADD"), ": did you mean 'add'?");
  EXPECT_EQ(questionFor("softmax"), "");
  // Half of another name is no mistake in writing.
  EXPECT_EQ(questionFor("plus"), "");
  EXPECT_EQ(questionFor("x"), "");
  EXPECT_EQ(questionFor("_"), "");
  // A word of a name is.
  EXPECT_EQ(questionFor("mean"), ": did you mean 'reduce_mean'?");
  EXPECT_EQ(questionFor("sum"), ": did you mean 'Reduce_Sum'?");
  EXPECT_EQ(questionFor("Or"), ": did you mean 'logical_or'?");
  EXPECT_EQ(questionFor("transpose"), ": did you mean 'conv_transpose'?");
  EXPECT_EQ(questionFor(""), "");
  EXPECT_EQ(questionFor(std::string(100'000, 'e')), "");
}

TEST(Names, AreShownAsText) {
  EXPECT_EQ(toPrintable(""), "");
  EXPECT_EQ(toPrintable("a'b\\c \xc3\xa4\xe2\x82\xac"),
            "a'b\\c \xc3\xa4\xe2\x82\xac");
  // Control characters, also of Latin-1; what is no UTF-8.
  EXPECT_EQ(toPrintable(std::string_view("\0\n\x7f", 3)), "\\x00\\x0a\\x7f");
  EXPECT_EQ(toPrintable("\xc2\x9b\xc2\xa0"), "\\xc2\\x9b\xc2\xa0");
  EXPECT_EQ(toPrintable("\xc3("), "\\xc3(");
  // No part of a character, or of an escape, at the end.
  std::string most(100, 'x');
  EXPECT_EQ(toPrintable(most), most);
  EXPECT_EQ(toPrintable(most + "y"), most + "...");
  EXPECT_EQ(toPrintable(most.substr(1) + "\xc3\xa4"), most.substr(1) + "...");
  EXPECT_EQ(toPrintable(most.substr(3) + "\n"), most.substr(3) + "...");
}

TEST(Names, AreMadeDistinct) {
  using Strings = std::vector<std::string>;
  EXPECT_EQ(makeDistinct({"a", "b"}), (Strings{"a", "b"}));
  EXPECT_EQ(makeDistinct({"y", "y", "y_1", "y"}),
            (Strings{"y", "y_2", "y_1", "y_3"}));
  Strings inputs = {"x", "x_2"};
  EXPECT_EQ(makeDistinct({"x", "x", "x_1"}, inputs),
            (Strings{"x_3", "x_4", "x_1"}));
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
