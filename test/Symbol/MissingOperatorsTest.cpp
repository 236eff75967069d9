// SPDX-License-Identifier: Apache-2.0
//
// Every name of an operator in MXNet 1.9.1 (names.txt, written by
// make_names.py) is one of an operator here or has a reason why not.

#include "dlc/Symbol/MissingOperators.h"
#include "dlc/Symbol/Operator.h"

#include "gtest/gtest.h"

#include <fstream>
#include <set>
#include <sstream>

using namespace dlc::symbol;

static std::set<std::string, std::less<>> readNames() {
  std::set<std::string, std::less<>> names;
  std::ifstream file(DLC_TEST_NAMES);
  for (std::string line; std::getline(file, line);)
    names.insert(line);
  return names;
}

TEST(MissingOperatorsTest, EveryNameOfMXNetHasAStatus) {
  auto names = readNames();
  ASSERT_GT(names.size(), 900u);
  for (const std::string &name : names)
    EXPECT_NE(findOperator(name) != nullptr, !reasonOfMissing(name).empty())
        << name;
}

TEST(MissingOperatorsTest, NothingElseIsInTheTable) {
  auto names = readNames();
  std::set<std::string_view> seen;
  for (const MissingOperators &group : missingOperators()) {
    EXPECT_FALSE(group.names.empty());
    for (std::string_view name : group.names) {
      EXPECT_TRUE(names.contains(name)) << name;
      EXPECT_TRUE(seen.insert(name).second) << name;
      EXPECT_EQ(reasonOfMissing(name), group.reason);
      EXPECT_EQ(alternativeTo(name), group.alternative);
    }
  }
  EXPECT_EQ(reasonOfMissing("Convolution"), "");
}

/// "operator X", "operators X, Y and Z": the names are of operators.
TEST(MissingOperatorsTest, AlternativesExist) {
  for (const MissingOperators &group : missingOperators()) {
    SCOPED_TRACE(std::string(group.alternative));
    EXPECT_FALSE(group.reason.empty());
    ASSERT_FALSE(group.alternative.empty());
    std::istringstream words{std::string(group.alternative)};
    std::string word;
    words >> word;
    if (word != "operator" && word != "operators")
      continue;
    for (bool isFirst = true; words >> word; isFirst = false) {
      bool isListed = isFirst || word.back() == ',';
      word.erase(word.find_last_not_of(",:") + 1);
      if (word == "and" || word == "or" || word.ends_with("*"))
        continue;
      if (!findOperator(word) && !isListed)
        break; // The sentence goes on.
      EXPECT_TRUE(findOperator(word)) << word;
    }
  }
}
