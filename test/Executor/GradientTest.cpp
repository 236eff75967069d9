// SPDX-License-Identifier: Apache-2.0
//
// Gradients that are symbols: Symbol::gradient().

#include "ExecutorTesting.h"

using namespace dlc;
using namespace dlc::test;

/// The gradients as a symbol, which is compiled to a function.
TEST(GradientTest, ComputesGradientsThatAreSymbols) {
  Symbol a = Symbol::variable("A"), b = Symbol::variable("B");
  Symbol c = b * a, d = c + 1.0;
  Symbol gradients = d.gradient({a, b}, "g");
  auto runtime = makeRuntime();
  auto executor = take(simpleBind(
      gradients, runtime, {.shapes = {{"A", {3}}, {"B", {3}}}, .types = {}}));
  ASSERT_TRUE(executor);
  EXPECT_EQ(executor->network().outputs(),
            (std::vector<std::string>{"g_output0", "g_output1"}));
  write(*executor->argument("A"), {1, 2, 3});
  write(*executor->argument("B"), {4, 5, 6});
  EXPECT_OK(executor->forward());
  EXPECT_EQ(read(executor->outputs()[0]), (Floats{4, 5, 6}));
  EXPECT_EQ(read(executor->outputs()[1]), (Floats{1, 2, 3}));
}

/// y = x^3: of its gradient, and of the gradient of that.
TEST(GradientTest, DifferentiatesGradientsAgain) {
  Symbol x = Symbol::variable("x");
  Symbol y = x * x * x;
  Symbol first = y.gradient({x}), second = first.gradient({x});
  auto runtime = makeRuntime();
  auto executor = take(simpleBind(Symbol::group({y, first, second}), runtime,
                                  {.shapes = {{"x", {2}}}, .types = {}}));
  ASSERT_TRUE(executor);
  write(*executor->argument("x"), {2, 3});
  EXPECT_OK(executor->forwardBackward());
  EXPECT_EQ(read(executor->outputs()[0]), (Floats{8, 27}));
  EXPECT_EQ(read(executor->outputs()[1]), (Floats{12, 27}));
  EXPECT_EQ(read(executor->outputs()[2]), (Floats{12, 18}));
  // 3x^2 + 6x + 6.
  EXPECT_EQ(read(*executor->gradient("x")), (Floats{30, 51}));
}

/// By something between variables and outputs, and by what the outputs do not
/// depend on but through what has no gradient.
TEST(GradientTest, DifferentiatesByAnyOutputOfTheNetwork) {
  Symbol x = Symbol::variable("x"), other = Symbol::variable("other");
  Symbol s = Symbol::apply("sin", {x}, {}, "s"), y = s * s;
  Symbol blocked = Symbol::apply("BlockGrad", {other}, {}, "blocked");
  Symbol gradients = Symbol::group({y, x, blocked}).gradient({s, x, other});
  auto runtime = makeRuntime();
  auto executor =
      take(simpleBind(gradients, runtime,
                      {.shapes = {{"x", {2}}, {"other", {1}}}, .types = {}}));
  ASSERT_TRUE(executor);
  write(*executor->argument("x"), {0, 1});
  EXPECT_OK(executor->forward());
  Floats byS = read(executor->outputs()[0]), byX = read(executor->outputs()[1]);
  EXPECT_NEAR(byS[1], 2 * std::sin(1.f), 1e-6);
  EXPECT_NEAR(byX[0], 1, 1e-6);
  EXPECT_NEAR(byX[1], 1 + 2 * std::sin(1.f) * std::cos(1.f), 1e-6);
  EXPECT_EQ(read(executor->outputs()[2]), Floats{0});
}

TEST(GradientTest, RefusesNothing) {
  Symbol x = Symbol::variable("x");
  EXPECT_FAILS(x.gradient({}).status(), InvalidArgument,
               "expected outputs to differentiate and something to "
               "differentiate them by");
  EXPECT_FAILS(Symbol().gradient({x}).status(), InvalidArgument,
               "expected outputs to differentiate");
  EXPECT_FAILS(x.gradient({Symbol::group({x, x})}).status(), InvalidArgument,
               "");
  // A variable of the same name is another one.
  EXPECT_FAILS((x * x).gradient({x, Symbol::variable("x")}).status(),
               InvalidArgument,
               "expected outputs of the network to differentiate by, got 'x', "
               "which is not in it");
  Symbol failed = Symbol::apply("no such", {x});
  EXPECT_FAILS(failed.gradient({x}).status(), NotFound, "no such");
}

TEST(GradientTest, RefusesIntegers) {
  Symbol x = Symbol::variable("x");
  auto runtime = makeRuntime();
  Symbol square = Symbol::apply("elemwise_mul", {x, x}, {}, "s");
  EXPECT_FAILS(simpleBind(square.gradient({x}, "g"), runtime,
                          {.shapes = {{"x", {2}}}, .types = {{"x", DLC_I32}}})
                   .status(),
               InvalidArgument,
               "node 'g' (_gradient): expected operands of floats, got "
               "node 's' (elemwise_mul) of i32");
}
