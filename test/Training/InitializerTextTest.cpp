// SPDX-License-Identifier: Apache-2.0

#include "dlc/Training/InitializerText.h"

#include <gtest/gtest.h>

using namespace dlc::training;

/// "name scale", or the problem.
static std::string read(const std::string &text) {
  std::string problem;
  std::optional<InitializerOptions> options = parseInitializer(text, problem);
  if (!options)
    return problem;
  return options->name +
         (options->scale ? " " + std::to_string(*options->scale) : "");
}

TEST(InitializerText, KnowsMXNetsClasses) {
  EXPECT_EQ(read("zeros"), "zero");
  EXPECT_EQ(read("Xavier"), "xavier");
  EXPECT_EQ(read(R"(["one", {}])"), "one");
  EXPECT_EQ(read(R"(["constant", {"value": 0.25}])"), "constant 0.250000");
  EXPECT_EQ(read(R"(["uniform", {"scale": 0.5}])"), "uniform 0.500000");
  EXPECT_EQ(read(R"(["normal", {"sigma": 2}])"), "normal 2.000000");
  EXPECT_EQ(read(R"(["orthogonal", {"scale": 1, "rand_type": "normal"}])"),
            "orthogonal 1.000000");
  EXPECT_EQ(read(R"(["xavier", {"rnd_type": "uniform", "factor_type": "avg",
                                "magnitude": 3}])"),
            "xavier 3.000000");
  EXPECT_EQ(read(R"(["msraprelu", {"factor_type": "avg", "slope": 0.25}])"),
            "msra 0.250000");
}

TEST(InitializerText, RefusesOthers) {
  EXPECT_EQ(read(R"(["fusedrnn", {}])"),
            "expected an initializer of zero, zeros, one, ones, constant, "
            "uniform, normal, orthogonal, xavier, msraprelu, bilinear, "
            "lstmbias, got '[\"fusedrnn\", {}]'");
  EXPECT_EQ(read(R"(["xavier", {"rnd_type": "gaussian"}])"),
            "expected 'rnd_type' of initializer 'xavier' to be 'uniform', got "
            "'[\"xavier\", {\"rnd_type\": \"gaussian\"}]'");
  EXPECT_EQ(read(R"(["constant", {"value": [1, 2]}])"),
            "expected 'value' of initializer 'constant' to be a number, got "
            "'[\"constant\", {\"value\": [1, 2]}]'");
  EXPECT_EQ(read(R"(["zero", {"value": 1}])"),
            "expected no 'value' of initializer 'zero', got "
            "'[\"zero\", {\"value\": 1}]'");
  for (std::string text : {"[", "[]", "[1]", R"(["zero", {}, 1])"})
    EXPECT_EQ(read(text),
              "expected an initializer like [\"normal\", {\"sigma\": 0.1}], "
              "got '" +
                  text + "'");
  EXPECT_EQ(read(R"(["zero", 1])"),
            "expected an object of the initializer's options, got "
            "'[\"zero\", 1]'");
  EXPECT_EQ(read(R"(["normal", {"sigma": -1}])"),
            "expected a scale of at least 0 for initializer 'normal', got -1");
}
