// SPDX-License-Identifier: Apache-2.0
//
// The gradients of random graphs: against differences in f64, and in two parts
// against in one.

#include "Generator.h"
#include "RandomGraphs.h"
#include "Shrink.h"

#include "dlc/Numerics/Comparison.h"
#include "dlc/Numerics/Inputs.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mlir;
using namespace dlc;
using namespace dlc::test;
using numerics::Tensor;

/// A copy that a pipeline has changed; null where it refuses, with reasons.
static RandomGraph transform(ModuleOp module, const std::string &pipeline) {
  ScopedDiagnosticHandler reasons(module.getContext(), [](Diagnostic &each) {
    llvm::errs() << each.str() << '\n';
    return success();
  });
  RandomGraph copy(module.clone());
  PassManager manager(module.getContext(), ModuleOp::getOperationName());
  if (failed(parsePassPipeline(pipeline, manager)) ||
      failed(manager.run(*copy)))
    return {};
  return copy;
}

/// The inputs, of which argument `number` is moved along `direction`.
static std::vector<Tensor> moved(std::vector<Tensor> inputs, unsigned number,
                                 const Tensor &direction, double step) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < inputs[number].size(); ++i)
    numbers.push_back(numerics::numberAt(inputs[number], i) +
                      step * numerics::numberAt(direction, i));
  Tensor tensor;
  EXPECT_TRUE(
      numerics::makeTensor(inputs[number].type, numbers, tensor).isOk());
  inputs[number] = tensor;
  return inputs;
}

/// The sum of products of all elements of floats, and that of their sizes.
static std::pair<double, double> product(const Tensor &a, const Tensor &b) {
  double sum = 0, size = 0;
  for (int64_t i = 0; i < a.size(); ++i) {
    double term = numerics::numberAt(a, i) * numerics::numberAt(b, i);
    sum += term;
    size += std::abs(term);
  }
  return {sum, size};
}

namespace {

/// A graph, its gradient and what both are run on.
struct Differentiated {
  func::FuncOp forward, backward;
  std::vector<Tensor> inputs; ///< Of `backward`; `forward` has the first.
  std::vector<Tensor> results;
};

} // namespace

/// The results, each times its head's gradient, summed.
static double weigh(Differentiated &d, const std::vector<Tensor> &results) {
  double sum = 0;
  size_t head = d.forward.getNumArguments();
  for (const Tensor &result : results)
    if (rt::isFloat(result.type.type))
      sum += product(result, d.inputs[head++]).first;
  return sum;
}

/// Directions that were compared, and those that lead along a corner.
static int compared, corners;

/// What is wrong with the gradient of argument `number`, which has result
/// `result`: along one direction, it lies between the difference quotients of
/// both sides.
static std::string compareDirection(Differentiated &d, unsigned number,
                                    const Tensor &gradient) {
  constexpr double step = 1e-6;
  Tensor direction;
  EXPECT_TRUE(numerics::makeInput(d.inputs[number].type, 99 + number,
                                  numerics::Integers::Small, direction)
                  .isOk());
  std::vector<Tensor> arguments(d.inputs.begin(),
                                d.inputs.begin() + d.forward.getNumArguments());
  auto at = [&](double side) {
    return weigh(d, resultsOf(d.forward, moved(arguments, number, direction,
                                               side * step)));
  };
  double here = at(0), left = (here - at(-1)) / step,
         right = (at(1) - here) / step;
  auto [found, size] = product(gradient, direction);
  double expected = (left + right) / 2;
  double scale = std::max({1.0, size, std::abs(here)});
  // At a tie or a corner the sides differ, or one is not defined, and rules
  // choose (corners.mlir).
  bool isCorner =
      !std::isfinite(found) || !(std::abs(right - left) <= 1e-3 * scale);
  ++(isCorner ? corners : compared);
  double allowed = std::abs(right - left) + 1e-6 * scale;
  if (isCorner || std::abs(found - expected) <= allowed)
    return "";
  return "the gradient of argument " + std::to_string(number) +
         " along a direction: expected " + std::to_string(expected) + ", got " +
         std::to_string(found) + "; " + std::to_string(allowed) + " is allowed";
}

static bool hasFloats(ModuleOp module) {
  return llvm::any_of(mainOf(module).getResultTypes(), [](Type type) {
    return isa<FloatType>(getElementTypeOrSelf(type));
  });
}

static std::string compareGradient(ModuleOp module) {
  if (!hasFloats(module))
    return "";
  RandomGraph backward = transform(module, "func.func(graph-gradient)");
  if (!backward)
    return "it has no gradient";
  Differentiated d{mainOf(module), mainOf(*backward), {}, {}};
  d.inputs = inputsOf(d.backward);
  d.results = resultsOf(d.backward, d.inputs);
  size_t result = d.forward.getNumResults();
  for (unsigned i = 0; i < d.forward.getNumArguments(); ++i)
    if (rt::isFloat(d.inputs[i].type.type))
      if (std::string failure = compareDirection(d, i, d.results[result++]);
          !failure.empty())
        return failure;
  return "";
}

/// Both parts of a split gradient, one after the other, give what it gives.
static std::string compareParts(ModuleOp module) {
  if (!hasFloats(module))
    return "";
  func::FuncOp main = mainOf(module);
  unsigned arguments = main.getNumArguments(), results = main.getNumResults();
  auto part = [&](StringRef name) {
    return transform(module, "func.func(graph-gradient,graph-split-gradient{"
                             "part=" +
                                 name.str() +
                                 " arguments=" + std::to_string(arguments) +
                                 " results=" + std::to_string(results) + "})");
  };
  RandomGraph whole = transform(module, "func.func(graph-gradient)");
  RandomGraph forward = part("forward"), backward = part("backward");
  if (!whole || !forward || !backward)
    return "it has no gradient";
  std::vector<Tensor> inputs = inputsOf(mainOf(*whole));
  std::vector<Tensor> expected = resultsOf(mainOf(*whole), inputs);
  std::vector<Tensor> found =
      resultsOf(mainOf(*forward), {inputs.begin(), inputs.begin() + arguments});
  std::vector<Tensor> both = inputs;
  both.insert(both.end(), found.begin() + results, found.end());
  found.resize(results);
  for (const Tensor &gradient : resultsOf(mainOf(*backward), both))
    found.push_back(gradient);
  if (found.size() != expected.size())
    return "the parts have other results";
  for (size_t i = 0; i < found.size(); ++i)
    if (auto difference = numerics::findDifference(expected[i], found[i]))
      return "result " + std::to_string(i) + ": " + *difference;
  return "";
}

TEST_F(RandomGraphs, HaveGradientsThatAgreeWithDifferences) {
  std::vector<uint64_t> all = seeds(150);
  compared = corners = 0;
  for (uint64_t seed : all) {
    Workplace place;
    RandomGraph graph = Generator(place.context, seed, true).generate();
    expectGood(graph, seed, "differentiated", compareGradient);
  }
  // One graph alone may have nothing but corners.
  if (all.size() >= 100)
    EXPECT_GT(compared, 4 * corners);
}

TEST_F(RandomGraphs, HaveGradientsInTwoParts) {
  for (uint64_t seed : seeds(150)) {
    Workplace place;
    RandomGraph graph = Generator(place.context, seed, true).generate();
    expectGood(graph, seed, "differentiated in two parts", compareParts);
  }
}

/// Differentiated graphs have many values that several stages of a kernel read.
TEST_F(RandomGraphs, HaveGradientsThatAreProgramsToo) {
  for (uint64_t seed : seeds(100)) {
    Workplace place;
    RandomGraph graph = Generator(place.context, seed, true).generate();
    if (!hasFloats(*graph))
      continue;
    RandomGraph gradient = transform(*graph, "func.func(graph-gradient)");
    ASSERT_TRUE(gradient) << "seed " << seed;
    // Gradients of sums that cancel keep fewer digits.
    expectGood(gradient, seed, "differentiated, as a program",
               [](ModuleOp module) { return compareProgram(module, 1000); });
  }
}
