// SPDX-License-Identifier: Apache-2.0
//
// Random operators: their distributions, with fixed seeds, what they refuse,
// and what they give where there is no distribution.

#include "RandomTesting.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace dlc;
using namespace dlc::test;

/// Of 10,000 numbers each: of an operator and of the one that is like data.
static void expectDistribution(const std::string &op,
                               const symbol::Attributes &attributes,
                               double mean, double variance, double kurtosis) {
  SCOPED_TRACE(op);
  symbol::Attributes shaped = attributes;
  shaped["shape"] = "(100, 100)";
  Symbol like = Symbol::apply("_random_" + op + "_like",
                              {Symbol::variable("d")}, attributes, "r");
  auto runtime = makeRuntime();
  std::unique_ptr<Executor> executors[] = {
      bindRandom(Symbol::apply("_random_" + op, {}, shaped, "r")),
      take(simpleBind(like, runtime,
                      {.shapes = {{"d", {100, 100}}}, .types = {}}))};
  for (auto &executor : executors) {
    ASSERT_TRUE(executor);
    Floats last;
    for (bool isTraining : {false, true}) {
      EXPECT_OK(executor->forward(isTraining));
      Floats numbers = read(executor->outputs()[0]);
      ASSERT_EQ(numbers.size(), 10000u);
      expectMoments(numbers, mean, variance, kurtosis);
      EXPECT_NE(numbers, last) << "other ones in each run";
      last = numbers;
    }
  }
}

TEST(RandomTest, DrawsFromDistributions) {
  expectDistribution("uniform", {{"low", "-1"}, {"high", "3"}}, 1, 16. / 12,
                     1.8);
  expectDistribution("normal", {{"loc", "2"}, {"scale", "0.5"}}, 2, 0.25, 3);
  expectDistribution("exponential", {{"lam", "4"}}, 0.25, 1. / 16, 9);
  expectDistribution("gamma", {{"alpha", "2"}, {"beta", "3"}}, 6, 18, 6);
  expectDistribution("gamma", {{"alpha", "0.5"}}, 0.5, 0.5, 15);
  expectDistribution("poisson", {{"lam", "3"}}, 3, 3, 3 + 1. / 3);
  expectDistribution("poisson", {{"lam", "50"}}, 50, 50, 3.02);
  expectDistribution("negative_binomial", {{"k", "3"}, {"p", "0.4"}}, 4.5,
                     11.25, 5.1);
  expectDistribution("generalized_negative_binomial",
                     {{"mu", "2"}, {"alpha", "0.5"}}, 2, 4, 6.25);
  expectDistribution("generalized_negative_binomial",
                     {{"mu", "2"}, {"alpha", "0"}}, 2, 2, 3.5);
}

TEST(RandomTest, DrawsIntegers) {
  Symbol dice =
      Symbol::apply("random_randint", {},
                    {{"low", "-2"}, {"high", "4"}, {"shape", "(600,)"}}, "d");
  auto executor =
      bindRandom(Symbol::apply("Cast", {dice}, {{"dtype", "float32"}}));
  ASSERT_TRUE(executor);
  EXPECT_OK(executor->forward());
  std::map<float, int> counts;
  for (float number : read(executor->outputs()[0]))
    ++counts[number];
  EXPECT_EQ(counts.size(), 6u);
  for (auto [number, count] : counts) {
    EXPECT_TRUE(number >= -2 && number <= 3) << number;
    EXPECT_NEAR(count, 100, 50) << number;
  }
}

/// What `op` draws, as f64.
static std::vector<double> draw(const char *op, symbol::Attributes attributes) {
  Symbol numbers = Symbol::apply(op, {}, attributes, "r");
  auto executor =
      bindRandom(Symbol::apply("Cast", {numbers}, {{"dtype", "float64"}}));
  if (!executor)
    return {};
  EXPECT_OK(executor->forward());
  const NDArray &output = executor->outputs()[0];
  std::vector<double> values(output.size());
  EXPECT_OK(output.copyToHost(std::span(values)));
  return values;
}

TEST(RandomTest, RandomNumbersStayInTheirInterval) {
  auto expectWithin = [](const char *op, symbol::Attributes attributes,
                         double low, double high) {
    auto values = draw(op, std::move(attributes));
    ASSERT_FALSE(values.empty());
    auto [least, most] = std::minmax_element(values.begin(), values.end());
    EXPECT_GE(*least, low);
    EXPECT_LT(*most, high);
  };
  expectWithin("uniform", {{"shape", "(100000,)"}, {"dtype", "float16"}}, 0, 1);
  expectWithin(
      "uniform",
      {{"low", "100000000"}, {"high", "100000008"}, {"shape", "(1000,)"}}, 1e8,
      100000008);
  // Doubles do not tell these apart.
  expectWithin("random_randint",
               {{"low", "1152921504606846977"},
                {"high", "1152921504606847233"},
                {"shape", "(1000,)"},
                {"dtype", "int64"}},
               0x1p60, 0x1p60 + 512);
}

TEST(RandomTest, RefusesRandomNumbersOfNoDistribution) {
  auto failure = [](const char *op, symbol::Attributes attributes) {
    attributes["shape"] = "(2,)";
    Symbol numbers = Symbol::apply(op, {}, attributes, "r");
    return std::move(simpleBind(numbers + Symbol::variable("zero"),
                                makeRuntime(), {.shapes = {}, .types = {}})
                         .status());
  };
  EXPECT_FAILS(failure("uniform", {{"low", "3"}, {"high", "2"}}),
               InvalidArgument,
               "node 'r' (_random_uniform): parameter 'high': expected at "
               "least 'low', 3, got 2");
  for (auto [low, high] : {std::pair("-3e38", "3e38"), {"0", "inf"}})
    EXPECT_FAILS(failure("uniform", {{"low", low}, {"high", high}}),
                 InvalidArgument,
                 "parameter 'high': expected a number of the type, as its "
                 "difference to 'low'");
  EXPECT_FAILS(failure("uniform", {{"low", "-inf"}}), InvalidArgument,
               "parameter 'low': expected a number of the type, got -inf");
  EXPECT_FAILS(failure("uniform", {{"high", "70000"}, {"dtype", "float16"}}),
               InvalidArgument, "parameter 'high': expected a number");
  EXPECT_FAILS(
      failure("random_randint", {{"low", "0"}, {"high", "2147483649"}}),
      InvalidArgument,
      "expected integers of int32, got those from 0 to 2147483649");
  EXPECT_FAILS(failure("normal", {{"scale", "0"}}), InvalidArgument,
               "parameter 'scale': expected more than 0, got 0");
  EXPECT_FAILS(failure("random_randint", {{"low", "3"}, {"high", "3"}}),
               InvalidArgument, "expected more than 'low', 3, got 3");
  for (auto [op, name, value, expected] :
       {std::tuple("random_gamma", "alpha", "0", "more than 0, got 0"),
        {"random_gamma", "beta", "-1", "more than 0, got -1"},
        {"random_exponential", "lam", "inf", "more than 0, got inf"},
        {"random_poisson", "lam", "-1", "at least 0, got -1"},
        {"random_negative_binomial", "p", "0", "more than 0 and at most 1"},
        {"random_negative_binomial", "p", "1.5", "more than 0 and at most 1"},
        {"random_generalized_negative_binomial", "mu", "-1", "at least 0"},
        {"random_generalized_negative_binomial", "alpha", "-1", "at least 0"},
        {"random_gamma", "alpha", "1e39", "a number in the range of f32"},
        {"random_gamma", "alpha", "1e-50", "a number in the range of f32"},
        {"random_poisson", "lam", "1e39", "a number in the range of f32"},
        {"random_negative_binomial", "p", "1e-39",
         "a number in the range of f32"},
        {"random_generalized_negative_binomial", "mu", "1e39",
         "a number in the range of f32"},
        {"random_generalized_negative_binomial", "alpha", "1e39",
         "a number in the range of f32"}})
    EXPECT_FAILS(failure(op, {{name, value}}), InvalidArgument,
                 "parameter '" + std::string(name) + "': expected " + expected);
  EXPECT_FAILS(failure("uniform", {{"dtype", "int32"}}), InvalidArgument,
               "parameter 'dtype': expected float16, float32 or float64, got "
               "int32");
}

/// Numbers of f64 are computed as such: 1e9 and those near it are one in f32.
TEST(RandomTest, WideNumbersAreWide) {
  auto draw = [](const char *op, symbol::Attributes attributes) {
    attributes.insert({{"shape", "(1000,)"}, {"dtype", "float64"}});
    Symbol zero = Symbol::variable("zero");
    auto executor = take(
        simpleBind(Symbol::apply(op, {}, attributes, "r") + zero, makeRuntime(),
                   {.shapes = {}, .types = {{"zero", DLC_F64}}}));
    std::vector<double> numbers(1000);
    EXPECT_OK(executor->forward(false));
    EXPECT_OK(executor->outputs()[0].copyToHost(
        std::as_writable_bytes(std::span(numbers))));
    return numbers;
  };
  std::vector<double> numbers =
      draw("_random_normal", {{"loc", "1e9"}, {"scale", "1"}});
  double squares = 0;
  for (double number : numbers)
    squares += (number - 1e9) * (number - 1e9);
  EXPECT_NEAR(squares / 1000, 1, 0.25);
  for (double number : draw("_random_exponential", {{"lam", "1e-40"}}))
    EXPECT_TRUE(std::isfinite(number));
  for (double number : draw("_random_gamma", {{"beta", "1e200"}}))
    EXPECT_TRUE(std::isfinite(number));
}

//===-- Distributions that are data ---------------------------------------===//

/// The outputs of one run of `op`, of operands of one dimension with these
/// elements.
static std::vector<Floats> sample(const char *op,
                                  const std::map<std::string, Floats> &inputs,
                                  const symbol::Attributes &attributes = {}) {
  symbol::NamedSymbols operands;
  rt::KnownVariables known;
  for (const auto &[name, values] : inputs) {
    operands.emplace_back(name, Symbol::variable(name));
    known.shapes[name] = {static_cast<int64_t>(values.size())};
  }
  Symbol symbol = Symbol::apply(op, {}, attributes, "s", operands);
  auto executor = take(simpleBind(symbol, makeRuntime(), known));
  if (!executor)
    return {};
  for (const auto &[name, values] : inputs)
    write(*executor->argument(name), values);
  EXPECT_OK(executor->forwardBackward());
  for (const auto &[name, values] : inputs)
    EXPECT_EQ(read(*executor->gradient(name)), Floats(values.size()));
  std::vector<Floats> outputs;
  for (const NDArray &output : executor->outputs())
    outputs.push_back(read(output));
  return outputs;
}

struct Moments {
  double mean, variance, kurtosis;
};

/// Of 10,000 numbers for each element of the operands.
static void expectSampled(const char *op,
                          const std::map<std::string, Floats> &inputs,
                          const std::vector<Moments> &expected) {
  SCOPED_TRACE(op);
  auto outputs = sample(op, inputs, {{"shape", "(100, 100)"}});
  ASSERT_EQ(outputs.size(), 1u);
  ASSERT_EQ(outputs[0].size(), expected.size() * 10000);
  for (size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE(i);
    expectMoments(std::span(outputs[0]).subspan(i * 10000, 10000),
                  expected[i].mean, expected[i].variance, expected[i].kurtosis);
  }
}

TEST(RandomTest, DrawsForEachElement) {
  expectSampled("sample_uniform", {{"low", {-1, 0}}, {"high", {3, 0.5f}}},
                {{1, 16. / 12, 1.8}, {0.25, 0.25 / 12, 1.8}});
  expectSampled("sample_normal", {{"mu", {2, -3}}, {"sigma", {0.5f, 4}}},
                {{2, 0.25, 3}, {-3, 16, 3}});
  expectSampled("sample_exponential", {{"lam", {4, 0.5f}}},
                {{0.25, 1. / 16, 9}, {2, 4, 9}});
  expectSampled("sample_gamma", {{"alpha", {2, 0.5f}}, {"beta", {3, 1}}},
                {{6, 18, 6}, {0.5, 0.5, 15}});
  expectSampled("sample_poisson", {{"lam", {3, 50}}},
                {{3, 3, 3 + 1. / 3}, {50, 50, 3.02}});
  expectSampled("sample_negative_binomial",
                {{"k", {3, 3}}, {"p", {0.4f, 0.4f}}},
                {{4.5, 11.25, 5.1}, {4.5, 11.25, 5.1}});
  expectSampled("sample_generalized_negative_binomial",
                {{"mu", {2, 2}}, {"alpha", {0.5f, 0}}},
                {{2, 4, 6.25}, {2, 2, 3.5}});
}

/// What is certain is so, and what is no distribution gives NaN.
TEST(RandomTest, ParametersMayBeAtTheEndOrPastIt) {
  constexpr float nan = NAN, inf = INFINITY;
  auto expect = [](const char *op, const std::map<std::string, Floats> &inputs,
                   const Floats &expected) {
    SCOPED_TRACE(op);
    auto outputs = sample(op, inputs);
    ASSERT_EQ(outputs.size(), 1u);
    ASSERT_EQ(outputs[0].size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      if (std::isnan(expected[i]))
        EXPECT_TRUE(std::isnan(outputs[0][i])) << i << ": " << outputs[0][i];
      else
        EXPECT_EQ(outputs[0][i], expected[i]) << i;
  };
  expect("sample_uniform", {{"low", {2, 3, nan}}, {"high", {2, 1, 1}}},
         {2, nan, nan});
  expect("sample_normal", {{"mu", {2, 3}}, {"sigma", {0, -1}}}, {2, nan});
  expect("sample_exponential", {{"lam", {0, -1, nan}}}, {nan, nan, nan});
  expect("sample_gamma",
         {{"alpha", {0, -1, 1, 1, inf}}, {"beta", {1, 1, 0, -1, 1}}},
         {nan, nan, nan, nan, nan});
  expect("sample_poisson", {{"lam", {0, -1, nan, inf}}}, {0, nan, nan, nan});
  expect("sample_negative_binomial",
         {{"k", {3, 0, -1, 3, 3}}, {"p", {1, 0.5f, 0.5f, 0, 1.5f}}},
         {0, 0, nan, nan, nan});
  expect("sample_generalized_negative_binomial",
         {{"mu", {0, 0, -1, 2, -1}}, {"alpha", {1, 0, 1, -1, 1e3f}}},
         {0, 0, nan, nan, nan});
  // Nearly always 0: products of what is large and what is small stay finite.
  expect("sample_generalized_negative_binomial",
         {{"mu", {1e10f}}, {"alpha", {1e29f}}}, {0});
  expect("sample_negative_binomial",
         {{"k", {0.01f, 0.01f, 0.01f}}, {"p", {2, 2, 2}}}, {nan, nan, nan});
}

/// Where half of what is drawn rounds up to the end, which MXNet then gives.
TEST(RandomTest, IntervalsLackTheirEnd) {
  const float next = std::nextafterf(1, 2);
  auto outputs = sample("sample_uniform", {{"low", {1}}, {"high", {next}}},
                        {{"shape", "(1000,)"}});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(std::ranges::count(outputs[0], 1.0f), 1000);
}

TEST(RandomTest, IntervalsMayBeWiderThanAnyNumber) {
  auto outputs =
      sample("sample_uniform", {{"low", {-3e38f}}, {"high", {3e38f}}},
             {{"shape", "(1000,)"}});
  ASSERT_EQ(outputs.size(), 1u);
  auto [least, most] = std::ranges::minmax(outputs[0]);
  EXPECT_LT(least, -2e38f);
  EXPECT_GT(most, 2e38f);
}

TEST(RandomTest, InfersTypesOfSamples) {
  auto typeOf = [](rt::DataType type, symbol::Attributes attributes) {
    Symbol s = Symbol::apply("sample_uniform",
                             {Symbol::variable("a"), Symbol::variable("b")},
                             std::move(attributes), "s");
    auto executor = take(simpleBind(
        s, makeRuntime(), {.shapes = {{"a", {2, 3}}}, .types = {{"a", type}}}));
    EXPECT_TRUE(executor);
    return executor ? rt::toString(rt::TensorType{
                          executor->outputs()[0].type(),
                          {executor->outputs()[0].shape().begin(),
                           executor->outputs()[0].shape().end()}})
                    : "";
  };
  EXPECT_EQ(typeOf(DLC_F16, {}), "2x3xf16");
  EXPECT_EQ(typeOf(DLC_I32, {{"shape", "4"}}), "2x3x4xf32");
  EXPECT_EQ(typeOf(DLC_F32, {{"shape", "(4, 1)"}, {"dtype", "float64"}}),
            "2x3x4x1xf64");
  auto failure = [](const char *op, symbol::Attributes attributes,
                    rt::DataType type) {
    Symbol s =
        Symbol::apply(op, {Symbol::variable("a")}, std::move(attributes), "s");
    return std::move(
        simpleBind(s, makeRuntime(),
                   {.shapes = {{"a", {2}}}, .types = {{"a", type}}})
            .status());
  };
  EXPECT_FAILS(failure("_random_normal_like", {}, DLC_I32), InvalidArgument,
               "expected data of floats, got int32");
  EXPECT_FAILS(failure("sample_multinomial", {}, DLC_I32), InvalidArgument,
               "expected data of floats, got int32");
  EXPECT_FAILS(failure("sample_poisson", {{"dtype", "int32"}}, DLC_F32),
               InvalidArgument,
               "parameter 'dtype': expected float16, float32 or float64, got "
               "int32");
  EXPECT_FAILS(failure("_random_gamma_like", {{"alpha", "-1"}}, DLC_F32),
               InvalidArgument, "parameter 'alpha': expected more than 0");
}

/// Whole numbers up to the last class.
TEST(RandomTest, ClassesFitTheirType) {
  auto bind = [](const char *type, int64_t classes) {
    Symbol s = Symbol::apply("sample_multinomial", {Symbol::variable("p")},
                             {{"dtype", type}, {"get_prob", "True"}}, "s");
    return std::move(simpleBind(s, makeRuntime(),
                                {.shapes = {{"p", {classes}}}, .types = {}})
                         .status());
  };
  for (auto [type, most] : {std::pair("uint8", 256), {"float16", 2049}}) {
    EXPECT_OK(bind(type, most));
    EXPECT_FAILS(bind(type, most + 1), InvalidArgument,
                 "parameter 'dtype': expected a type for " +
                     std::to_string(most + 1) + " classes, got " + type);
  }
}

/// Rows need not add up to 1. Chi-square of 2 degrees of freedom: above 20 in
/// one of 20,000.
TEST(RandomTest, DrawsClasses) {
  Symbol s =
      Symbol::apply("sample_multinomial", {Symbol::variable("p")},
                    {{"shape", "(100, 100)"}, {"get_prob", "True"}}, "s");
  EXPECT_EQ(s.listOutputs(),
            (std::vector<std::string>{"s_output0", "s_output1"}));
  auto executor = take(
      simpleBind(s, makeRuntime(), {.shapes = {{"p", {3, 4}}}, .types = {}}));
  ASSERT_TRUE(executor);
  const Floats weights = {0.3f, 0, 0.6f, 2.1f, 0, 0, 5, 0, 0, 0, 0, 0};
  write(*executor->argument("p"), weights);
  EXPECT_OK(executor->forward(true));
  const NDArray &output = executor->outputs()[0];
  EXPECT_EQ(output.type(), DLC_I32);
  ASSERT_EQ(output.size(), 30000);
  std::vector<int32_t> classes(output.size());
  EXPECT_OK(output.copyToHost(std::span(classes)));
  Floats logarithms = read(executor->outputs()[1]);
  std::vector<double> counts(12);
  for (size_t i = 0; i < classes.size(); ++i) {
    ASSERT_TRUE(classes[i] >= 0 && classes[i] < 4) << classes[i];
    size_t at = i / 10000 * 4 + classes[i];
    ++counts[at];
    EXPECT_FLOAT_EQ(logarithms[i], std::log(weights[at]));
  }
  double square = 0;
  for (auto [at, part] : {std::pair(0, 0.1), {2, 0.2}, {3, 0.7}})
    square += std::pow(counts[at] - part * 10000, 2) / (part * 10000);
  EXPECT_LT(square, 20);
  EXPECT_EQ(counts[1], 0);
  EXPECT_EQ(counts[6], 10000);
  EXPECT_EQ(counts[11], 10000) << "a row of zeros";

  // The logarithm of a weight moves with it.
  NDArray heads[] = {NDArray(),
                     *NDArray::create(executor->outputs()[1].runtime(), DLC_F32,
                                      {3, 100, 100})};
  EXPECT_OK(heads[1].fill(1));
  EXPECT_OK(executor->backward(heads));
  Floats gradient = read(*executor->gradient("p"));
  for (int at : {0, 1, 2, 3, 6})
    EXPECT_NEAR(gradient[at], counts[at] ? counts[at] / weights[at] : 0,
                1e-3 * counts[at])
        << at;
}

TEST(RandomTest, DrawsOneClassWithoutAShape) {
  auto outputs = [](std::vector<int64_t> shape, const Floats &values) {
    Symbol s = Symbol::apply("sample_multinomial", {Symbol::variable("p")},
                             {{"dtype", "float32"}}, "s");
    auto executor = take(
        simpleBind(s, makeRuntime(), {.shapes = {{"p", shape}}, .types = {}}));
    write(*executor->argument("p"), values);
    EXPECT_OK(executor->forward());
    return read(executor->outputs()[0]);
  };
  EXPECT_EQ(outputs({3}, {0, 1, 0}), (Floats{1}));
  EXPECT_EQ(outputs({2, 2}, {0, 1, 1, 0}), (Floats{1, 0}));
}

/// Each order of four rows comes as often. Chi-square of 23 degrees of freedom:
/// above 60 in one of 20,000.
TEST(RandomTest, ShufflesRows) {
  Symbol s = Symbol::apply("shuffle", {Symbol::variable("a")}, {}, "s");
  auto executor = take(
      simpleBind(s, makeRuntime(), {.shapes = {{"a", {4, 2}}}, .types = {}}));
  ASSERT_TRUE(executor);
  write(*executor->argument("a"), {0, 10, 1, 11, 2, 12, 3, 13});
  std::map<Floats, double> counts;
  constexpr int runs = 2400;
  for (int i = 0; i < runs; ++i) {
    EXPECT_OK(executor->forward());
    Floats rows = read(executor->outputs()[0]);
    Floats firsts;
    for (size_t row = 0; row < 4; ++row) {
      firsts.push_back(rows[2 * row]);
      ASSERT_EQ(rows[2 * row + 1], rows[2 * row] + 10);
    }
    ++counts[firsts];
  }
  ASSERT_EQ(counts.size(), 24u);
  double square = 0;
  for (const auto &[order, count] : counts) {
    Floats sorted = order;
    std::ranges::sort(sorted);
    EXPECT_EQ(sorted, (Floats{0, 1, 2, 3}));
    square += std::pow(count - runs / 24., 2) / (runs / 24.);
  }
  EXPECT_LT(square, 60);
}
