// SPDX-License-Identifier: Apache-2.0
//
// NumPy's random operators: their distributions, with fixed seeds, as MXNet
// 1.9.1 and NumPy have them; shapes, types and gradients of parameters that are
// operands; and what is refused.

#include "RandomTesting.h"

#include <algorithm>
#include <map>
#include <numbers>

using namespace dlc;
using namespace dlc::test;

namespace {
struct Distribution {
  const char *op;
  symbol::Attributes attributes;
  double mean, variance, kurtosis;
};
} // namespace

/// Of 10,000 numbers each, where all parameters are numbers.
TEST(NumpyRandomTest, DrawsFromDistributions) {
  constexpr double pi = std::numbers::pi;
  const double quarterGamma = std::sqrt(pi) / 2;
  for (const Distribution &each : std::initializer_list<Distribution>{
           {"normal", {{"loc", "2"}, {"scale", "0.5"}}, 2, 0.25, 3},
           {"normal_n", {{"loc", "2"}, {"scale", "0.5"}}, 2, 0.25, 3},
           {"uniform", {{"low", "-1"}, {"high", "3"}}, 1, 16. / 12, 1.8},
           {"uniform_n", {{"low", "3"}, {"high", "-1"}}, 1, 16. / 12, 1.8},
           {"gumbel",
            {{"loc", "1"}, {"scale", "2"}},
            1 + 2 * std::numbers::egamma,
            4 * pi * pi / 6,
            5.4},
           {"logistic",
            {{"loc", "1"}, {"scale", "2"}},
            1,
            4 * pi * pi / 3,
            4.2},
           {"exponential", {{"scale", "0.25"}}, 0.25, 1. / 16, 9},
           {"rayleigh",
            {{"scale", "2"}},
            2 * std::sqrt(pi / 2),
            4 * (2 - pi / 2),
            3.245},
           {"weibull",
            {{"a", "2"}},
            quarterGamma,
            1 - quarterGamma * quarterGamma,
            3.245},
           {"pareto", {{"a", "9"}}, 1. / 8, 9. / (64 * 7), 14.9},
           {"powerd", {{"a", "2"}}, 2. / 3, 1. / 18, 2.4},
           {"gamma", {{"shape", "2"}, {"scale", "3"}}, 6, 18, 6},
           {"bernoulli",
            {{"prob", "0.25"}, {"logit", "None"}, {"is_logit", "False"}},
            0.25,
            0.1875,
            7. / 3},
           {"bernoulli",
            {{"prob", "None"}, {"logit", "0"}, {"is_logit", "True"}},
            0.5,
            0.25,
            1},
           {"bernoulli", // MXNet takes the probability.
            {{"prob", "0.25"}, {"logit", "100"}, {"is_logit", "True"}},
            0.25,
            0.1875,
            7. / 3}}) {
    SCOPED_TRACE(each.op);
    symbol::Attributes attributes = each.attributes;
    attributes["size"] = "(100, 100)";
    auto executor = bindRandom(
        Symbol::apply(std::string("_npi_") + each.op, {}, attributes, "r"));
    ASSERT_TRUE(executor);
    Floats last;
    for (bool isTraining : {false, true}) {
      EXPECT_OK(executor->forward(isTraining));
      Floats numbers = read(executor->outputs()[0]);
      ASSERT_EQ(numbers.size(), 10000u);
      expectMoments(numbers, each.mean, each.variance, each.kurtosis);
      EXPECT_NE(numbers, last) << "other ones in each run";
      last = numbers;
    }
  }
}

namespace {
/// One run of an operator of operands, of which the gradient is the sum's.
struct Drawn {
  std::string type;
  Floats numbers;
  std::map<std::string, Floats> gradients;
};
} // namespace

static Drawn runOn(const char *op, const symbol::Attributes &attributes,
                   const std::map<std::string, Floats> &inputs,
                   const rt::KnownVariables &known) {
  std::vector<Symbol> operands;
  for (const auto &[name, values] : inputs)
    operands.push_back(Symbol::variable(name));
  auto executor = take(simpleBind(Symbol::apply(op, operands, attributes, "r"),
                                  makeRuntime(), known));
  if (!executor)
    return {};
  for (const auto &[name, values] : inputs)
    write(*executor->argument(name), values);
  Drawn run;
  EXPECT_OK(executor->forwardBackward());
  const NDArray &output = executor->outputs()[0];
  run.type = rt::toString(rt::TensorType{
      output.type(), {output.shape().begin(), output.shape().end()}});
  if (output.type() == DLC_F32)
    run.numbers = read(output);
  for (const auto &[name, values] : inputs)
    run.gradients[name] = read(*executor->gradient(name));
  return run;
}

static std::vector<int64_t> drawIntegers(const char *op,
                                         const symbol::Attributes &attributes,
                                         const Floats &weights = {}) {
  std::vector<Symbol> operands;
  rt::KnownVariables known;
  if (!weights.empty()) {
    operands.push_back(Symbol::variable("w"));
    known.shapes["w"] = {static_cast<int64_t>(weights.size())};
  }
  Symbol y =
      Symbol::apply("Cast", {Symbol::apply(op, operands, attributes, "r")},
                    {{"dtype", "float32"}});
  auto executor =
      take(simpleBind(y + Symbol::variable("zero"), makeRuntime(), known));
  if (!executor)
    return {};
  if (!weights.empty())
    write(*executor->argument("w"), weights);
  EXPECT_OK(executor->forward());
  Floats numbers = read(executor->outputs()[0]);
  return {numbers.begin(), numbers.end()};
}

/// Within five standard deviations of as many as expected.
static void expectCounts(const std::vector<int64_t> &numbers,
                         const std::vector<double> &chances) {
  std::vector<int64_t> counts(chances.size());
  for (int64_t number : numbers) {
    ASSERT_TRUE(number >= 0 && number < int64_t(counts.size())) << number;
    ++counts[number];
  }
  auto size = static_cast<double>(numbers.size());
  for (size_t i = 0; i < counts.size(); ++i)
    EXPECT_NEAR(double(counts[i]), size * chances[i],
                5 * std::sqrt(size * chances[i] * (1 - chances[i])))
        << i;
}

TEST(NumpyRandomTest, DrawsOtherTypes) {
  for (const char *type : {"float16", "float64"})
    for (auto [op, attributes, mean, variance, kurtosis] :
         {Distribution{"normal", {{"loc", "2"}, {"scale", "0.5"}}, 2, 0.25, 3},
          {"uniform", {{"low", "-1"}, {"high", "3"}}, 1, 16. / 12, 1.8},
          {"gamma", {{"shape", "2"}, {"scale", "3"}}, 6, 18, 6}}) {
      SCOPED_TRACE(op + (" " + std::string(type)));
      symbol::Attributes all = attributes;
      all["size"] = "(100, 100)";
      all["dtype"] = type;
      Symbol numbers = Symbol::apply(std::string("_npi_") + op, {}, all, "r");
      auto plain = take(simpleBind(
          Symbol::group({numbers, Symbol::variable("unused")}), makeRuntime(),
          {.shapes = {{"unused", {1}}}, .types = {}}));
      ASSERT_TRUE(plain);
      EXPECT_OK(plain->forward());
      EXPECT_EQ(plain->outputs()[0].type(),
                std::string_view(type) == "float16" ? DLC_F16 : DLC_F64);
      auto executor =
          bindRandom(Symbol::apply("Cast", {numbers}, {{"dtype", "float32"}}));
      ASSERT_TRUE(executor);
      EXPECT_OK(executor->forward());
      expectMoments(read(executor->outputs()[0]), mean, variance, kurtosis);
    }
  for (const char *type : {"uint8", "int32", "bool", "float64"})
    expectCounts(drawIntegers("_npi_bernoulli", {{"prob", "0.25"},
                                                 {"logit", "None"},
                                                 {"is_logit", "False"},
                                                 {"size", "(4000,)"},
                                                 {"dtype", type}}),
                 {0.75, 0.25});
}

TEST(NumpyRandomTest, OperandsAreBroadcast) {
  rt::KnownVariables known = {.shapes = {{"a", {2}}, {"b", {2, 1}}},
                              .types = {}};
  const std::map<std::string, Floats> inputs = {{"a", {0, 10}}, {"b", {1, 2}}};
  symbol::Attributes two = {{"loc", "None"}, {"scale", "None"}};
  EXPECT_EQ(runOn("_npi_normal", two, inputs, known).type, "2x2xf32");
  two["size"] = "(3, 2, 2)";
  EXPECT_EQ(runOn("_npi_normal", two, inputs, known).type, "3x2x2xf32");
  two["size"] = "(3,)";
  EXPECT_EQ(runOn("_npi_normal_n", two, inputs, known).type, "3x2x2xf32");
  EXPECT_EQ(runOn("_npi_normal_n", {{"loc", "None"}, {"scale", "2"}},
                  {{"a", {0, 10}}}, {.shapes = {{"a", {2}}}, .types = {}})
                .type,
            "2xf32");
  // Each operand is of the numbers in its places.
  Drawn run = runOn("_npi_normal",
                    {{"loc", "None"}, {"scale", "1"}, {"size", "(10000, 2)"}},
                    {{"a", {0, 10}}}, {.shapes = {{"a", {2}}}, .types = {}});
  ASSERT_EQ(run.numbers.size(), 20000u);
  Floats columns[2];
  for (size_t i = 0; i < run.numbers.size(); ++i)
    columns[i % 2].push_back(run.numbers[i]);
  expectMoments(columns[0], 0, 1, 3);
  expectMoments(columns[1], 10, 1, 3);
  EXPECT_EQ(run.gradients["a"], Floats({10000, 10000}));
}

/// With the number y that a parameter gave, its gradient is known.
TEST(NumpyRandomTest, GradientsComeBackToParameters) {
  rt::KnownVariables known = {.shapes = {{"a", {4}}}, .types = {}};
  const Floats values = {0.5f, 1, 2, 3};
  auto expect = [&](const char *op, const symbol::Attributes &attributes,
                    auto &&gradient) {
    SCOPED_TRACE(op);
    Drawn run = runOn(op, attributes, {{"a", values}}, known);
    ASSERT_EQ(run.numbers.size(), 4u);
    for (size_t i = 0; i < 4; ++i) {
      double wanted = gradient(double(run.numbers[i]), double(values[i]));
      EXPECT_NEAR(run.gradients["a"][i], wanted,
                  1e-3 * std::max(1.0, std::abs(wanted)));
    }
  };
  auto byScale = [](double y, double scale) { return y / scale; };
  expect("_npi_normal", {{"loc", "0"}, {"scale", "None"}}, byScale);
  expect("_npi_gumbel", {{"loc", "0"}, {"scale", "None"}}, byScale);
  expect("_npi_logistic", {{"loc", "0"}, {"scale", "None"}}, byScale);
  expect("_npi_exponential", {{"scale", "None"}}, byScale);
  expect("_npi_rayleigh", {{"scale", "None"}}, byScale);
  expect("_npi_gamma", {{"shape", "2"}, {"scale", "None"}}, byScale);
  expect("_npi_logistic", {{"loc", "None"}, {"scale", "1"}},
         [](double, double) { return 1; });
  expect("_npi_weibull", {{"a", "None"}},
         [](double y, double a) { return -y * std::log(y) / a; });
  expect("_npi_pareto", {{"a", "None"}},
         [](double y, double a) { return -(1 + y) * std::log1p(y) / a; });
  // As in MXNet.
  auto none = [](double, double) { return 0; };
  expect("_npi_uniform", {{"low", "0"}, {"high", "None"}}, none);
  expect("_npi_powerd", {{"a", "None"}}, none);
  expect("_npi_bernoulli",
         {{"prob", "None"}, {"logit", "None"}, {"is_logit", "True"}}, none);
}

TEST(NumpyRandomTest, WhatIsNoDistributionIsNan) {
  rt::KnownVariables known = {.shapes = {{"a", {3}}}, .types = {}};
  for (auto [op, attributes, isNan] :
       {std::tuple<const char *, symbol::Attributes, std::array<bool, 3>>(
            "_npi_normal", {{"loc", "0"}, {"scale", "None"}},
            {true, false, false}),
        {"_npi_exponential", {{"scale", "None"}}, {true, false, false}},
        {"_npi_weibull", {{"a", "None"}}, {true, true, false}},
        {"_npi_pareto", {{"a", "None"}}, {true, true, false}},
        {"_npi_bernoulli",
         {{"prob", "None"}, {"logit", "None"}, {"is_logit", "False"}},
         {true, false, true}}}) {
    SCOPED_TRACE(op);
    Drawn run = runOn(op, attributes, {{"a", {-1, 0, 2}}}, known);
    ASSERT_EQ(run.numbers.size(), 3u);
    for (size_t i = 0; i < 3; ++i)
      EXPECT_EQ(std::isnan(run.numbers[i]), isNan[i]) << run.numbers[i];
  }
}

//===-- Classes -----------------------------------------------------------===//

TEST(NumpyRandomTest, ChoosesPlaces) {
  expectCounts(drawIntegers("_npi_choice", {{"a", "4"}, {"size", "(4000,)"}}),
               {0.25, 0.25, 0.25, 0.25});
  expectCounts(
      drawIntegers("_npi_choice",
                   {{"a", "3"}, {"size", "(40, 100)"}, {"weighted", "True"}},
                   {0.5f, 0, 1.5f}),
      {0.25, 0, 0.75});
  // All of them, in some order.
  auto all = drawIntegers(
      "_npi_choice", {{"a", "None"}, {"size", "(50,)"}, {"replace", "False"}},
      Floats(50));
  ASSERT_EQ(all.size(), 50u);
  EXPECT_FALSE(std::ranges::is_sorted(all));
  std::ranges::sort(all);
  for (int64_t i = 0; i < 50; ++i)
    EXPECT_EQ(all[i], i);
  auto two = drawIntegers("_npi_choice",
                          {{"a", "4"},
                           {"size", "(2,)"},
                           {"replace", "False"},
                           {"weighted", "True"}},
                          {0, 0.5f, 0, 0.5f});
  std::ranges::sort(two);
  EXPECT_EQ(two, (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(drawIntegers("_npi_choice", {{"a", "1"}, {"size", "None"}}),
            std::vector<int64_t>{0});
  for (const char *replaces : {"True", "False"})
    EXPECT_TRUE(
        drawIntegers("_npi_choice",
                     {{"a", "4"}, {"size", "(2, 0)"}, {"replace", replaces}})
            .empty());
}

TEST(NumpyRandomTest, CountsClasses) {
  auto counts = drawIntegers(
      "_npi_multinomial",
      {{"n", "10"}, {"pvals", "(0.25, 0, 0.5)"}, {"size", "(20, 20)"}});
  ASSERT_EQ(counts.size(), 1200u);
  int64_t sums[3] = {};
  for (size_t i = 0; i < counts.size(); i += 3) {
    EXPECT_EQ(counts[i] + counts[i + 1] + counts[i + 2], 10);
    for (size_t k : {0, 1, 2})
      sums[k] += counts[i + k];
  }
  EXPECT_NEAR(double(sums[0]), 1000, 5 * std::sqrt(750));
  EXPECT_EQ(sums[1], 0);
  auto one = drawIntegers("_npi_multinomial", {{"n", "7"}, {"size", "None"}},
                          {0, 1, 0});
  EXPECT_EQ(one, (std::vector<int64_t>{0, 7, 0}));
}

TEST(NumpyRandomTest, DrawsIntegersOfNumpysShapes) {
  auto integers = drawIntegers(
      "_npi_random_randint", {{"low", "0"}, {"high", "4"}, {"shape", "4000"}});
  expectCounts(integers, {0.25, 0.25, 0.25, 0.25});
}

//===-- What is refused ---------------------------------------------------===//

TEST(NumpyRandomTest, RefusesWhatIsNoDistribution) {
  auto failure = [](const char *op, const symbol::Attributes &attributes,
                    std::vector<std::vector<int64_t>> shapes = {}) {
    std::vector<Symbol> operands;
    rt::KnownVariables known;
    for (const auto &shape : shapes) {
      std::string name(1, char('a' + operands.size()));
      operands.push_back(Symbol::variable(name));
      known.shapes[name] = shape;
    }
    Symbol numbers = Symbol::apply(op, operands, attributes, "r");
    return std::move(
        simpleBind(Symbol::apply("Cast", {numbers}, {{"dtype", "float32"}}) +
                       Symbol::variable("zero"),
                   makeRuntime(), known)
            .status());
  };
  EXPECT_FAILS(failure("_npi_normal", {{"loc", "0"}, {"scale", "-1"}}),
               InvalidArgument,
               "node 'r' (_npi_normal): parameter 'scale': expected at least "
               "0, got -1");
  EXPECT_FAILS(failure("_npi_gumbel", {{"loc", "inf"}, {"scale", "1"}}),
               InvalidArgument, "expected a finite number, got inf");
  EXPECT_FAILS(failure("_npi_pareto", {{"a", "0"}}), InvalidArgument,
               "parameter 'a': expected more than 0, got 0");
  EXPECT_FAILS(failure("_npi_gamma", {{"shape", "1e39"}, {"scale", "1"}}),
               InvalidArgument, "expected a number in the range of f32");
  // What f32 does not hold; 0 is a place, and a width where it may be 0.
  for (auto [op, attributes] :
       {std::pair<const char *, symbol::Attributes>(
            "normal", {{"loc", "1e39"}, {"scale", "1"}}),
        {"uniform", {{"low", "-1e39"}, {"high", "1e39"}}},
        {"gamma", {{"shape", "1"}, {"scale", "1e-60"}}},
        {"weibull", {{"a", "1e-60"}}},
        {"pareto", {{"a", "1e-60"}}}})
    EXPECT_FAILS(failure((std::string("_npi_") + op).c_str(), attributes),
                 InvalidArgument, "expected a number in the range of f32");
  EXPECT_OK(failure("_npi_uniform", {{"low", "1e-60"}, {"high", "1"}}));
  EXPECT_OK(failure("_npi_normal", {{"loc", "0"}, {"scale", "1e-60"}}));
  EXPECT_OK(failure("_npi_normal",
                    {{"loc", "1e39"}, {"scale", "1"}, {"dtype", "float64"}}));
  EXPECT_FAILS(
      failure("_npi_bernoulli",
              {{"prob", "None"}, {"logit", "nan"}, {"is_logit", "True"}}),
      InvalidArgument, "parameter 'logit': expected a finite number, got nan");
  EXPECT_FAILS(
      failure("_npi_bernoulli",
              {{"prob", "1.5"}, {"logit", "None"}, {"is_logit", "False"}}),
      InvalidArgument,
      "parameter 'prob': expected at least 0 and at most 1, got 1.5");
  EXPECT_FAILS(failure("_npi_normal",
                       {{"loc", "None"}, {"scale", "1"}, {"size", "(2, 3)"}},
                       {{2}}),
               InvalidArgument, "parameter 'size': expected a shape");
  EXPECT_FAILS(
      failure("_npi_normal", {{"loc", "None"}, {"scale", "None"}}, {{2}, {3}}),
      InvalidArgument, "input 'input2': expected dimensions of 2 or 1, got 3");
  EXPECT_FAILS(
      failure("_npi_choice", {{"a", "2"}, {"size", "3"}, {"replace", "False"}}),
      InvalidArgument,
      "parameter 'size': expected at most 2 different classes, got 3");
  for (const char *count : {"0", "2147483648"})
    EXPECT_FAILS(failure("_npi_choice", {{"a", count}, {"size", "3"}}),
                 InvalidArgument,
                 "parameter 'a': expected an integer from 1 to 2147483647");
  EXPECT_FAILS(failure("_npi_choice", {{"a", "None"}, {"size", "3"}}, {{0}}),
               InvalidArgument,
               "input 'input1': expected at least 1 place, got none");
  EXPECT_FAILS(failure("_npi_multinomial", {{"n", "3"}, {"pvals", "(1, 1)"}}),
               InvalidArgument,
               "parameter 'pvals': expected probabilities of at most 1");
  // MXNet has one, by an implicit function that has no operation here.
  EXPECT_FAILS(
      std::move(
          simpleBind(Symbol::apply("_npi_gamma", {Symbol::variable("a")},
                                   {{"shape", "None"}, {"scale", "1"}}, "r"),
                     makeRuntime(), {.shapes = {{"a", {2}}}, .types = {}})
              .status()),
      InvalidArgument, "node 'r' (_npi_gamma): has no gradient");
}
