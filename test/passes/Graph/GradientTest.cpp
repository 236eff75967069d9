// SPDX-License-Identifier: Apache-2.0
//
// The gradients of all operations that have one, against central differences
// in f64, and once more against those of the gradients. The functions are in
// Inputs/; an operation with a gradient that none of them has fails here.

#include "../../RunFunction.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

using namespace mlir;
using namespace dlc::graph;

using Tensor = Numbers;

namespace {

/// A function and where its arguments lie.
struct Subject {
  func::FuncOp function;
  double low = -2, high = 2, step = 1e-5, tolerance = 1e-6;
};

struct GradientFiles : testing::TestWithParam<const char *> {
  GradientFiles() {
    context.loadDialect<GraphDialect, func::FuncDialect>();
    context.allowUnregisteredDialects();
  }

  OwningOpRef<ModuleOp> read(const std::string &file) {
    return parseSourceFile<ModuleOp>(
        std::string(DLC_GRADIENT_INPUTS) + "/" + file, &context);
  }

  MLIRContext context;
};

} // namespace

static constexpr const char *files[] = {
    "gradients-contraction.mlir", "gradients-elementwise.mlir",
    "gradients-fold.mlir",        "gradients-movement.mlir",
    "gradients-recurrent.mlir",   "gradients-sampling.mlir",
    "gradients-matrix.mlir"};

static double numberOf(func::FuncOp function, StringRef name, double other) {
  auto attribute = function->getAttrOfType<FloatAttr>(name);
  return attribute ? attribute.getValueAsDouble() : other;
}

static Subject makeSubject(func::FuncOp function) {
  Subject subject{function};
  subject.low = numberOf(function, "test.low", subject.low);
  subject.high = numberOf(function, "test.high", subject.high);
  subject.step = numberOf(function, "test.step", subject.step);
  subject.tolerance = numberOf(function, "test.tolerance", subject.tolerance);
  return subject;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Distinct numbers across the range, in no order, and other ones for each
/// argument: no two are equal, none is round.
static Tensor makeNumbers(const Subject &subject, unsigned argument) {
  func::FuncOp function = subject.function;
  auto type = cast<RankedTensorType>(function.getArgumentTypes()[argument]);
  int64_t count = type.getNumElements(), step = 7;
  while (std::gcd(step, count) != 1)
    ++step;
  Tensor numbers;
  for (int64_t i = 0; i < count; ++i) {
    double place = static_cast<double>((i * step + 3 * argument + 1) % count);
    double part =
        (place + 0.37 + 0.061 * (argument % 8)) / static_cast<double>(count);
    numbers.push_back(subject.low + (subject.high - subject.low) * part);
  }
  return numbers;
}

/// The results of a function; empty ones for those that are not of floats.
static std::vector<Tensor> evaluate(func::FuncOp function,
                                    const std::vector<Tensor> &arguments) {
  std::vector<Tensor> results = runFunction(function, arguments);
  for (auto [type, numbers] : llvm::zip(function.getResultTypes(), results))
    if (!isa<FloatType>(getElementTypeOrSelf(type)))
      numbers.clear();
  return results;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// The sum over all results, times `weights`, as element `i` of argument
/// `argument` moves by one.
static double differenceQuotient(const Subject &subject,
                                 std::vector<Tensor> arguments,
                                 const std::vector<Tensor> &weights,
                                 unsigned argument, size_t i) {
  double at = arguments[argument][i], sum = 0;
  for (int side : {1, -1}) {
    arguments[argument][i] = at + side * subject.step;
    std::vector<Tensor> results = evaluate(subject.function, arguments);
    for (size_t r = 0; r < results.size(); ++r)
      for (size_t k = 0; k < results[r].size(); ++k)
        sum += side * weights[r][k] * results[r][k];
  }
  return sum / (2 * subject.step);
}

static func::FuncOp differentiate(func::FuncOp function) {
  OpBuilder builder(function);
  auto copy = cast<func::FuncOp>(builder.clone(*function));
  copy.setName((function.getName() + "_gradient").str());
  PassManager manager(function.getContext(), func::FuncOp::getOperationName());
  manager.addPass(createGradientPass());
  return succeeded(manager.run(copy)) ? copy : func::FuncOp();
}

/// Compares all gradients of a function, then those of its gradients.
static void check(const Subject &subject, int order) {
  func::FuncOp function = subject.function;
  SCOPED_TRACE(function.getName().str());
  func::FuncOp backward = differentiate(function);
  ASSERT_TRUE(backward);
  unsigned inputs = function.getNumArguments();
  unsigned outputs = function.getNumResults();
  ASSERT_EQ(backward.getNumArguments(), inputs + outputs);
  ASSERT_EQ(backward.getNumResults(), inputs + outputs);

  Subject next = subject;
  next.function = backward;
  std::vector<Tensor> all;
  for (unsigned i = 0; i < inputs + outputs; ++i)
    all.push_back(makeNumbers(next, i));
  std::vector<Tensor> arguments(all.begin(), all.begin() + inputs);
  std::vector<Tensor> weights(all.begin() + inputs, all.end());
  std::vector<Tensor> found = evaluate(backward, all);
  ASSERT_EQ(found.size(), inputs + outputs);
  for (unsigned a = 0; a < inputs; ++a)
    for (size_t i = 0; i < arguments[a].size(); ++i) {
      double expected = differenceQuotient(subject, arguments, weights, a, i);
      ASSERT_NEAR(found[outputs + a][i], expected,
                  subject.tolerance * std::max(1.0, std::abs(expected)))
          << "argument " << a << " element " << i;
    }
  if (order > 1)
    check(next, order - 1);
  backward.erase();
}

TEST_P(GradientFiles, AgreeWithDifferences) {
  OwningOpRef<ModuleOp> module = read(GetParam());
  ASSERT_TRUE(module);
  auto functions = llvm::to_vector(module->getOps<func::FuncOp>());
  for (func::FuncOp function : functions)
    check(makeSubject(function), /*order=*/2);
}

INSTANTIATE_TEST_SUITE_P(Gradient, GradientFiles, testing::ValuesIn(files),
                         [](const auto &info) {
                           StringRef name = info.param;
                           return name.drop_front(sizeof("gradients-") - 1)
                               .drop_back(sizeof(".mlir") - 1)
                               .str();
                         });

//===----------------------------------------------------------------------===//
// Where there is no derivative
//===----------------------------------------------------------------------===//

static std::vector<Tensor> tensorsOf(func::FuncOp function, StringRef name) {
  std::vector<Tensor> tensors;
  for (Attribute each : function->getAttrOfType<ArrayAttr>(name))
    tensors.push_back(numbersOf(cast<ElementsAttr>(each)));
  return tensors;
}

/// The gradients of all arguments at `test.at`, of the order that `test.order`
/// says, where those of the results are 1, 2, 3, ...
static std::vector<Tensor> gradientsAt(func::FuncOp function) {
  std::vector<Tensor> arguments = tensorsOf(function, "test.at");
  size_t wanted = arguments.size();
  auto order = function->getAttrOfType<IntegerAttr>("test.order");
  func::FuncOp backward = function;
  unsigned outputs = 0;
  for (int64_t i = 0; i < (order ? order.getInt() : 1); ++i) {
    outputs = backward.getNumResults();
    backward = differentiate(backward);
    if (!backward)
      return {};
  }
  while (arguments.size() < backward.getNumArguments()) {
    auto type =
        cast<RankedTensorType>(backward.getArgumentTypes()[arguments.size()]);
    arguments.emplace_back(type.getNumElements());
    std::iota(arguments.back().begin(), arguments.back().end(), 1.0);
  }
  std::vector<Tensor> results = evaluate(backward, arguments);
  return {results.begin() + outputs, results.begin() + outputs + wanted};
}

/// Functions whose arguments lie at corners and ties, or where a branch that is
/// not taken overflows; what is expected is text.
TEST_F(GradientFiles, ChooseAtCorners) {
  OwningOpRef<ModuleOp> module = read("corners.mlir");
  ASSERT_TRUE(module);
  auto functions = llvm::to_vector(module->getOps<func::FuncOp>());
  EXPECT_GE(functions.size(), 20u);
  for (func::FuncOp function : functions) {
    SCOPED_TRACE(function.getName().str());
    std::vector<Tensor> expected = tensorsOf(function, "test.expected");
    std::vector<Tensor> found = gradientsAt(function);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t a = 0; a < found.size(); ++a) {
      ASSERT_EQ(found[a].size(), expected[a].size());
      for (size_t i = 0; i < found[a].size(); ++i)
        EXPECT_NEAR(found[a][i], expected[a][i], 1e-6)
            << "argument " << a << " element " << i;
    }
  }
}

/// Their gradients are not the derivatives, so there is no difference to
/// compare with: they are tested in gradient.mlir.
static const std::set<std::string> exempt = {"graph.replace_gradient",
                                             "graph.stop_gradient"};

TEST_F(GradientFiles, HaveAllOperationsWithAGradient) {
  std::set<std::string> seen = exempt;
  for (const char *file : files) {
    OwningOpRef<ModuleOp> module = read(file);
    ASSERT_TRUE(module);
    module->walk([&](Operation *op) {
      seen.insert(op->getName().getStringRef().str());
    });
  }
  size_t count = 0;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (!name.hasInterface<GradientOpInterface>())
      continue;
    ++count;
    EXPECT_TRUE(seen.count(name.getStringRef().str()))
        << name.getStringRef().str() << " has a gradient and no test";
  }
  EXPECT_GT(count, 80u);
}
