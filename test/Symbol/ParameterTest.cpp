// SPDX-License-Identifier: Apache-2.0

#include "dlc/Symbol/Operator.h"

#include "gtest/gtest.h"

using namespace dlc;
using namespace dlc::symbol;

namespace {

/// The value of `text` printed again, or the error.
std::string reread(const Parameter &parameter, std::string_view text) {
  rt::Result<ParameterValue> value = parseValue(parameter, text);
  return value.isOk() ? toText(*value) : value.status().message();
}

std::string reread(ParameterKind kind, std::string_view text) {
  return reread(required("p", kind, ""), text);
}

} // namespace

TEST(ParameterTest, ReadsBool) {
  for (const char *text : {"True", "true", "TRUE", "1", " true "})
    EXPECT_EQ(reread(ParameterKind::Bool, text), "True") << text;
  for (const char *text : {"False", "false", "0"})
    EXPECT_EQ(reread(ParameterKind::Bool, text), "False") << text;
  for (const char *text : {"", "yes", "2", "None", "True False"})
    EXPECT_EQ(reread(ParameterKind::Bool, text),
              "expected True or False, got '" + std::string(text) + "'");
}

TEST(ParameterTest, ReadsInt) {
  EXPECT_EQ(reread(ParameterKind::Int, "12"), "12");
  EXPECT_EQ(reread(ParameterKind::Int, " -3 "), "-3");
  EXPECT_EQ(reread(ParameterKind::Int, "+3"), "3");
  EXPECT_EQ(reread(ParameterKind::Int, "12L"), "12");
  EXPECT_EQ(reread(ParameterKind::Int, "9223372036854775807"),
            "9223372036854775807");
  for (const char *text : {"", "L", "1.0", "1e3", "0x10", "1 2", "+-3",
                           "9223372036854775808", "None"})
    EXPECT_EQ(reread(ParameterKind::Int, text),
              "expected an integer, got '" + std::string(text) + "'");
}

TEST(ParameterTest, HoldsIntsAgainstBounds) {
  Parameter least = required("p", ParameterKind::Int, "").atLeast(1);
  EXPECT_EQ(reread(least, "1"), "1");
  EXPECT_EQ(reread(least, "0"), "expected an integer of at least 1, got '0'");
  Parameter both = required("p", ParameterKind::Ints, "").within(0, 9);
  EXPECT_EQ(reread(both, "(0, 9)"), "(0, 9)");
  EXPECT_EQ(reread(both, "(0, 10)"),
            "expected integers such as (2, 2) from 0 to 9, got '(0, 10)'");
}

TEST(ParameterTest, ReadsFloat) {
  EXPECT_EQ(reread(ParameterKind::Float, "1e-05"), "1e-05");
  EXPECT_EQ(reread(ParameterKind::Float, "0.9"), "0.9");
  EXPECT_EQ(reread(ParameterKind::Float, "2"), "2");
  EXPECT_EQ(reread(ParameterKind::Float, "-inf"), "-inf");
  for (const char *text : {"", "1.0f", "a", "1,5", "None"})
    EXPECT_EQ(reread(ParameterKind::Float, text),
              "expected a number, got '" + std::string(text) + "'");
}

TEST(ParameterTest, ReadsLists) {
  for (const char *text :
       {"(2, 3)", "[2,3]", "( 2 ,3 )", "(2L, 3L)", "(2, 3,)", " (2,3) "})
    EXPECT_EQ(reread(ParameterKind::Ints, text), "(2, 3)") << text;
  EXPECT_EQ(reread(ParameterKind::Ints, "()"), "()");
  EXPECT_EQ(reread(ParameterKind::Ints, "[]"), "()");
  EXPECT_EQ(reread(ParameterKind::Ints, "7"), "(7,)");
  for (const char *text : {"", "(2", "2)", "(2]", "2, 3", "(2,,3)", "(,)",
                           "((2))", "(2 3)", "(a)", "None", "(None)"})
    EXPECT_EQ(reread(ParameterKind::Ints, text),
              "expected integers such as (2, 2), got '" + std::string(text) +
                  "'");
  EXPECT_EQ(reread(ParameterKind::OptionalInts, "(None, -2)"), "(None, -2)");
  EXPECT_EQ(reread(ParameterKind::OptionalInts, "None"), "(None,)");
  EXPECT_EQ(reread(ParameterKind::Floats, "(0.5, 1)"), "(0.5, 1)");
}

TEST(ParameterTest, ReadsChoicesTypesAndNone) {
  Parameter one = choice("p", {"max", "avg"}, "max", "");
  EXPECT_EQ(reread(one, "avg"), "avg");
  EXPECT_EQ(reread(one, "Avg"), "expected one of max, avg, got 'Avg'");
  EXPECT_EQ(reread(one, "None"), "expected one of max, avg, got 'None'");
  Parameter maybe = optional("p", ParameterKind::Int, "None", "");
  EXPECT_EQ(reread(maybe, "None"), "None");
  EXPECT_EQ(reread(maybe, "x"), "expected an integer, or None, got 'x'");
  EXPECT_EQ(reread(ParameterKind::Type, "float16"), "float16");
  EXPECT_EQ(reread(ParameterKind::Type, "f16"),
            "expected an element type such as float32, got 'f16'");
}

TEST(ParameterTest, NumbersTypesAsMXNet) {
  EXPECT_EQ(typeOfNumber(0), DLC_F32);
  EXPECT_EQ(typeOfNumber(12), DLC_BF16);
  EXPECT_EQ(typeOfNumber(6), DLC_I64);
  EXPECT_EQ(typeOfNumber(13), DLC_INVALID_TYPE);
  EXPECT_EQ(typeOfNumber(-1), DLC_INVALID_TYPE);
  EXPECT_EQ(typeOfName("bool"), DLC_BOOL);
  EXPECT_EQ(typeOfName(""), DLC_INVALID_TYPE);
}

TEST(ParameterTest, ReadsAllOfAnOperator) {
  const Operator *op = findOperator("Convolution");
  ASSERT_TRUE(op);
  rt::Result<Parameters> read = Parameters::parse(
      *op, {{"kernel", "(3, 3)"}, {"num_filter", "8"}, {"__mood__", "x"}});
  ASSERT_TRUE(read.isOk()) << read.status().message();
  EXPECT_EQ(read->getInts("kernel"), (std::vector<int64_t>{3, 3}));
  EXPECT_EQ(read->getInt("num_group"), 1);
  EXPECT_TRUE(read->isGiven("kernel"));
  EXPECT_FALSE(read->isGiven("num_group"));
  EXPECT_TRUE(read->isNone("layout"));

  auto error = [&](const Attributes &attributes) {
    return Parameters::parse(*op, attributes).status().message();
  };
  EXPECT_EQ(error({{"kernel", "(3, 3)"}}),
            "expected parameter 'num_filter', an integer, got none");
  EXPECT_EQ(error({{"kernel", "(3, 3)"}, {"num_filter", "many"}}),
            "parameter 'num_filter': expected an integer from 1 to 2147483647, "
            "got 'many'");
  EXPECT_EQ(error({{"kernel", "3"}, {"num_filter", "1"}, {"size", "1"}}),
            "expected a parameter out of kernel, stride, dilate, pad, "
            "num_filter, num_group, no_bias, layout, workspace, cudnn_tune, "
            "cudnn_off, got parameter 'size'");
}
