// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing problems as text.

#include "Generators.h"

#include "dlc/Planning/Memory/Csv.h"

#include <gtest/gtest.h>

namespace dlc::planning {
namespace {

TEST(CsvTest, ReadsTheFormatOfMiniMalloc) {
  Problem problem;
  ASSERT_FALSE(readCsv("id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\n", problem));
  const Problem expected{
      {{"b1", 0, 3, 4, 1, {}}, {"b2", 3, 9, 4, 1, {}}}, {}, {}};
  EXPECT_EQ(problem, expected);
}

TEST(CsvTest, ReadsColumnsByName) {
  Problem problem;
  ASSERT_FALSE(readCsv("size,offset,id,alignment,upper,lower,alias_delta,"
                       "alias_of\r\n"
                       "8,,v,4,9,1,4,base\r\n"
                       "64,128,base,64,9,0,,\r\n\r\n",
                       problem));
  const Problem expected{
      {{"v", 1, 9, 8, 4, {}}, {"base", 0, 9, 64, 64, 128}}, {{0, 1, 4}}, {}};
  EXPECT_EQ(problem, expected);
}

TEST(CsvTest, HeaderAloneIsAnEmptyProblem) {
  Problem problem;
  EXPECT_FALSE(readCsv("id,lower,upper,size", problem));
  EXPECT_TRUE(problem.buffers.empty());
}

struct BadText {
  std::string text, message;
};

class BadCsvTest : public ::testing::TestWithParam<BadText> {};

TEST_P(BadCsvTest, IsRefusedWithLineAndReason) {
  Problem problem{{{"kept", 0, 1, 1, 1, {}}}, {}, {}};
  const Problem before = problem;
  const Error error = readCsv(GetParam().text, problem);
  ASSERT_TRUE(error);
  EXPECT_EQ(*error, GetParam().message);
  EXPECT_EQ(problem, before);
}

std::string row(const std::string &text) {
  return "id,lower,upper,size\na,0,1,1\n" + text;
}
std::string wideRow(const std::string &text) {
  return "id,lower,upper,size,alignment,offset,alias_of,alias_delta\n" + text;
}

INSTANTIATE_TEST_SUITE_P(
    Header, BadCsvTest,
    ::testing::Values(
        BadText{"", "line 1: expected a header, got nothing"},
        BadText{"id,lower,upper\n",
                "line 1: expected a column 'size', got none"},
        BadText{"0,1,2,3\n", "line 1: expected a known column, got '0'"},
        BadText{"id,lower,upper,size,gaps\n",
                "line 1: expected a known column, got 'gaps'"},
        BadText{"id,id,lower,upper,size\n",
                "line 1: expected column 'id' once, got it twice"},
        BadText{"id,lower,upper,size,alias_delta\n",
                "line 1: expected a column 'alias_of' beside 'alias_delta', "
                "got none"},
        BadText{"\x01" + std::string(50, 'x'),
                "line 1: expected a known column, got '?" +
                    std::string(39, 'x') + "...'"}));

INSTANTIATE_TEST_SUITE_P(
    Rows, BadCsvTest,
    ::testing::Values(
        BadText{row("b,0,1"), "line 3: expected 4 columns, got 3"},
        BadText{row("b,0,1,1,"), "line 3: expected 4 columns, got 5"},
        BadText{row("\nb,0,1,1"), "line 3: expected a row, got an empty line"},
        BadText{row(",0,1,1"), "line 3: expected an id, got an empty field"},
        BadText{row("b,zero,1,1"),
                "line 3: expected a number in column 'lower', got 'zero'"},
        BadText{row("b,0,1 ,1"),
                "line 3: expected a number in column 'upper', got '1 '"},
        BadText{row("b,0,1,"),
                "line 3: expected a number in column 'size', got ''"},
        BadText{row("b,0,1,1.5"),
                "line 3: expected a number in column 'size', got '1.5'"},
        BadText{row("b,-1,1,1"),
                "line 3: expected a number >= 0 in column 'lower', got -1"},
        BadText{row("b,0,1,-5"),
                "line 3: expected a number >= 0 in column 'size', got -5"},
        BadText{row("b,5,5,1"), "line 3: expected upper > lower 5, got 5"},
        BadText{row("b,5,4,1"), "line 3: expected upper > lower 5, got 4"},
        BadText{row("b,0,1,9223372036854775808"),
                "line 3: expected a number below 2^63 in column 'size', got "
                "'9223372036854775808'"},
        BadText{row("b,0,1,9223372036854775807"),
                "sizes, alignments, pins and aliases overflow: expected a sum "
                "below 2^60"},
        BadText{row("b,0,1,1\na,0,1,1"),
                "line 4: expected a unique id, got 'a' as on line 2"}));

INSTANTIATE_TEST_SUITE_P(
    OptionalColumns, BadCsvTest,
    ::testing::Values(
        BadText{wideRow("a,0,1,8,3,,,"),
                "line 2: expected an alignment that is a power of two, got 3"},
        BadText{wideRow("a,0,1,8,4,6,,"),
                "line 2: expected an offset aligned to 4, got 6"},
        BadText{wideRow("a,0,1,8,4,,b,"),
                "line 2: expected the id of a row in column 'alias_of', got "
                "'b'"},
        BadText{wideRow("a,0,1,8,4,,,4"),
                "line 2: expected an id in column 'alias_of' beside a delta, "
                "got an empty field"},
        BadText{wideRow("a,0,1,8,4,,b,2\nb,0,1,8,4,,,"),
                "aliases place buffer 'b' off its alignment of 4"}));

TEST(CsvTest, WhatIsWrittenReadsBack) {
  for (testing::Tiny kind : {testing::Tiny::Plain, testing::Tiny::Aligned,
                             testing::Tiny::Pinned, testing::Tiny::Views}) {
    for (uint64_t seed = 0; seed < 50; ++seed) {
      const Problem problem = testing::tinyProblem(kind, seed);
      if (checkProblem(problem))
        continue;
      Problem again;
      ASSERT_FALSE(readCsv(writeCsv(problem), again));
      EXPECT_EQ(again, problem);
    }
  }
}

// A row has room for one alias; the same ties are written another way.
TEST(CsvTest, WritesSeveralAliasesOfOneView) {
  const Problem problem{
      {{"a", 0, 1, 8, 1, {}}, {"b", 0, 1, 8, 1, {}}, {"c", 0, 1, 8, 1, {}}},
      {{2, 0, 4}, {2, 1, 1}},
      {}};
  EXPECT_EQ(writeCsv(problem), "id,lower,upper,size,alias_of,alias_delta\n"
                               "a,0,1,8,,\n"
                               "b,0,1,8,a,3\n"
                               "c,0,1,8,a,4\n");
}

TEST(CsvTest, PlansText) {
  std::string output;
  PlanReport report;
  const Error error = planCsv("id,lower,upper,size\na,0,2,8\nb,2,4,4\n",
                              std::nullopt, {}, output, report);
  ASSERT_FALSE(error) << *error;
  EXPECT_EQ(output, "id,lower,upper,size,offset\na,0,2,8,0\nb,2,4,4,0\n");
  EXPECT_EQ(report.summary().rfind("arena=8 lower_bound=8 ms=", 0), 0u);
}

TEST(CsvTest, PlanReportsWhatDoesNotFit) {
  std::string output = "untouched";
  PlanReport report;
  const Error error = planCsv("id,lower,upper,size\na,0,2,8\nb,1,4,4\n", 11, {},
                              output, report);
  ASSERT_TRUE(error);
  EXPECT_EQ(*error, "expected an arena of at most 11 bytes, got 12");
  EXPECT_EQ(report.solution.arenaBytes, 12);
  EXPECT_EQ(output, "untouched");
}

} // namespace
} // namespace dlc::planning
