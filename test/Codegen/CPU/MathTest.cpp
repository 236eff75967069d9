// SPDX-License-Identifier: Apache-2.0
//
// The functions that Codegen computes by polynomials of its own, against libm
// in double precision: a sample of all floats, or, with DLC_TEST_ALL_FLOATS
// set, every float. The bounds are the largest errors over all floats.

#include "KernelRunner.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Kernel/KernelDialect.h"
#include "dlc/passes/Conversion/KernelToLinalg.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <mutex>
#include <numbers>
#include <random>
#include <thread>

using namespace dlc;
using namespace dlc::test;

namespace {

/// Floats per call of a kernel, which has one tile of them.
constexpr int64_t kBlock = 4096;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A function of one float and how far its generated form is from it.
struct Function {
  const char *name;
  /// An operation on %x: of Graph on tensors, or of math on elements; or whole
  /// operations on elements that make %y of %x.
  const char *operation;
  double (*exact)(double);
  /// Largest errors with and without fused multiply-add, in units in the last
  /// place of the exact result.
  double fusedBound, plainBound;
  /// Results nearer to 0 are measured in units of this one.
  double unitOf = 0x1p-126;
  /// Results nearer to 0 may be 0.
  double zeroBelow = 0;
  /// Inputs above are not computed.
  float largestInput = std::numeric_limits<float>::infinity();
  /// No result is beyond, not by a rounding.
  float limit = std::numeric_limits<float>::infinity();
  /// The largest error where reciprocals stand for divisions, unless that is
  /// fusedBound.
  double reciprocalBound = fusedBound;
};

void PrintTo(const Function &function, std::ostream *stream) {
  *stream << function.name;
}

double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

double gelu(double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }

double geluByTanh(double x) {
  double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  // 1 + tanh(a) without cancellation.
  return x / (1 + std::exp(-2 * inner));
}

constexpr float kAnyInput = std::numeric_limits<float>::infinity();

const Function kFunctions[] = {
    {"exp", "graph.exp", [](double x) { return std::exp(x); }, 2.2, 2.5},
    // Of softmax: results that are denormal are 0.
    {"exp_of_negative", "math.exp fastmath<afn>",
     [](double x) { return std::exp(x); }, 2.2, 2.5, 0x1p-126, 0x1p-126, 0.0f},
    {"exp2", "math.exp2", [](double x) { return std::exp2(x); }, 2.1, 2.4},
    {"tanh", "graph.tanh", [](double x) { return std::tanh(x); }, 6, 6.5,
     0x1p-126, 0, kAnyInput, 1.0f, 6.5},
    {"erf", "graph.erf", [](double x) { return std::erf(x); }, 5.6, 6.7,
     0x1p-126, 0, kAnyInput, 1.0f, 6.1},
    {"log", "graph.log", [](double x) { return std::log(x); }, 0.9, 0.9},
    {"log2", "math.log2", [](double x) { return std::log2(x); }, 1.9, 1.9},
    {"log10", "math.log10", [](double x) { return std::log10(x); }, 2, 2},
    {"log1p", "math.log1p", [](double x) { return std::log1p(x); }, 3, 3},
    {"expm1", "math.expm1", [](double x) { return std::expm1(x); }, 2.2, 2.4},
    {"atan", "graph.atan", [](double x) { return std::atan(x); }, 2.9, 2.9},
    {"asin", "graph.asin", [](double x) { return std::asin(x); }, 3.3, 3.4},
    {"acos", "graph.acos", [](double x) { return std::acos(x); }, 2.1, 2.1},
    {"sin", "graph.sin", [](double x) { return std::sin(x); }, 1.6, 2.4},
    {"cos", "graph.cos", [](double x) { return std::cos(x); }, 1.6, 2.4},
    {"tan", "graph.tan", [](double x) { return std::tan(x); }, 3.1, 3.5},
    {"sinh", "graph.sinh", [](double x) { return std::sinh(x); }, 2.9, 3},
    {"cosh", "graph.cosh", [](double x) { return std::cosh(x); }, 2.7, 2.9},
    {"asinh", "graph.asinh", [](double x) { return std::asinh(x); }, 3.8, 3.8},
    {"acosh", "graph.acosh", [](double x) { return std::acosh(x); }, 2.4, 2.4},
    {"atanh", "graph.atanh", [](double x) { return std::atanh(x); }, 1.4, 1.4},
    {"pow_half", "%c = arith.constant 0.5 : f32 %y = math.powf %x, %c : f32",
     [](double x) { return std::pow(x, 0.5); }, 0.5, 0.5},
    {"pow_minus_one",
     "%c = arith.constant -1.0 : f32 %y = math.powf %x, %c : f32",
     [](double x) { return std::pow(x, -1); }, 0.5, 0.5},
    {"pow_four", "%c = arith.constant 4.0 : f32 %y = math.powf %x, %c : f32",
     [](double x) { return std::pow(x, 4); }, 2, 2},
    {"pow_five", "%c = arith.constant 5.0 : f32 %y = math.powf %x, %c : f32",
     [](double x) { return std::pow(x, 5); }, 0.55, 0.55},
    {"pow_gamma", "%c = arith.constant 0.45 : f32 %y = math.powf %x, %c : f32",
     [](double x) { return std::pow(x, double(0.45f)); }, 0.55, 0.55},
    {"exp_of_power",
     "%c = arith.constant 1.5 : f32 %y = math.powf %c, %x : f32",
     [](double x) { return std::pow(1.5, x); }, 0.55, 0.55},
    {"rsqrt", "graph.rsqrt", [](double x) { return 1 / std::sqrt(x); }, 1.5,
     1.5},
    // e^-x is infinite where the results are denormal.
    {"sigmoid", "graph.sigmoid",
     [](double x) { return 1 / (1 + std::exp(-x)); }, 4, 4, 0x1p-126, 0x1p-126,
     kAnyInput, 1.0f},
    {"silu", "graph.silu", [](double x) { return x / (1 + std::exp(-x)); }, 5,
     5, 0x1p-126, 0x1p-121},
    {"softplus", "graph.softplus", softplus, 5, 5},
    // Below the unit, tanh(softplus(x)) is denormal.
    {"mish", "graph.mish", [](double x) { return x * std::tanh(softplus(x)); },
     8, 8, 0x1p-119},
    // Their tails are differences of numbers near 1.
    {"gelu", "graph.gelu", gelu, 6.8, 8.4, 1, 0, kAnyInput, kAnyInput, 7.6},
    {"gelu_by_tanh", "graph.gelu {approximate = \"tanh\"}", geluByTanh, 6.6,
     7.1, 1, 0, kAnyInput, kAnyInput, 6.8},
};

/// All kernels, as text: those of Graph in value semantics.
std::string makeText() {
  std::string text, size = std::to_string(kBlock);
  for (const Function &function : kFunctions) {
    std::string name = function.name, operation = function.operation;
    if (operation.starts_with("graph.")) {
      std::string type = "tensor<" + size + "xf32>";
      size_t attributes = std::min(operation.find(" {"), operation.size());
      text += "kernel.func @k." + name + "(%x: " + type + ") -> (" + type +
              ") { %y = " + operation.substr(0, attributes) + " %x" +
              operation.substr(attributes) + " : " + type +
              " kernel.return %y : " + type + " }\n";
      continue;
    }
    std::string type = "memref<" + size + "xf32>";
    if (!operation.starts_with("%")) {
      size_t flags = std::min(operation.find(" fastmath"), operation.size());
      operation = "%y = " + operation.substr(0, flags) + " %x" +
                  operation.substr(flags) + " : f32";
    }
    text += "func.func @k." + name + "(%in: " + type + ", %out: " + type +
            ") { linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, "
            "affine_map<(d) -> (d)>], iterator_types = [\"parallel\"]} "
            "ins(%in : " +
            type + ") outs(%out : " + type +
            ") { ^bb0(%x: f32, %o: f32): " + operation +
            " linalg.yield %y : f32 } return }\n";
  }
  std::string type = "tensor<" + size + "xf32>";
  text += "kernel.func @k.pow(%x: " + type + ", %y: " + type + ") -> (" + type +
          ") { %z = graph.pow %x, %y : " + type +
          " kernel.return %z : " + type + " }\n";
  return text;
}

/// The kernels for one target.
struct Compiled {
  std::string target;
  bool hasFMA, hasReciprocal;
  LoadedKernels kernels;

  double boundOf(const Function &function) const {
    return hasReciprocal ? function.reciprocalBound
           : hasFMA      ? function.fusedBound
                         : function.plainBound;
  }
};

LoadedKernels compileFor(const codegen::TargetOptions &target) {
  std::unique_ptr<mlir::MLIRContext> context = createContext();
  mlir::DialectRegistry registry;
  registry.insert<graph::GraphDialect, kernel::KernelDialect>();
  context->appendDialectRegistry(registry);
  context->loadAllAvailableDialects();
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(makeText(), context.get());
  if (!module)
    return {};
  for (auto kernel : module->getOps<kernel::FuncOp>()) {
    std::string reason;
    EXPECT_TRUE(succeeded(conversion::convertKernel(kernel, reason)))
        << kernel.getName().str() << ": " << reason;
  }
  auto object = codegen::compileKernels(*module, target, 2);
  if (failed(object))
    return {};
  std::string error;
  LoadedKernels kernels = LoadedKernels::load(object->bytes, error);
  EXPECT_TRUE(kernels) << error;
  return kernels;
}

/// For every kind of target that this machine runs.
const std::vector<Compiled> &compiledTargets() {
  static const std::vector<Compiled> all = [] {
    std::vector<Compiled> targets;
    codegen::TargetOptions host = codegen::TargetOptions::host();
    for (const char *name : {"x86-64", "x86-64-v3", "x86-64-v4"}) {
      codegen::TargetOptions target = *codegen::TargetOptions::get(name);
      if (llvm::all_of(target.features,
                       [&](const std::string &f) { return host.has(f); }))
        targets.push_back({name, target.has("fma"), target.has("avx512vl"),
                           compileFor(target)});
    }
    return targets;
  }();
  return all;
}

/// The distance of floats at `value`, which is not below 2^-126: its power of
/// two, 23 bits down.
double spacingAt(double value) {
  constexpr uint64_t kExponent = 0x7FF0000000000000;
  uint64_t power = std::bit_cast<uint64_t>(value) & kExponent;
  return std::bit_cast<double>(power) * 0x1p-23;
}

/// The error of `actual` in units in the last place; infinite where no error
/// is allowed: NaN, infinities, limits and the sign of zeros.
double errorOf(const Function &function, float actual, double exact) {
  if (std::isnan(exact) || std::isnan(actual))
    return std::isnan(exact) == std::isnan(actual) ? 0 : kInfinity;
  if (std::abs(actual) > function.limit)
    return kInfinity;
  if (actual == 0 && std::signbit(actual) != std::signbit(exact))
    return kInfinity;
  if (std::isinf(exact) || exact == 0)
    return actual == exact ? 0 : kInfinity;
  if (actual == 0 && std::abs(exact) < function.zeroBelow)
    return 0;
  // What rounds to infinity counts as 2^128, and what would too.
  double limit = 0x1p128;
  exact = std::clamp(exact, -limit, limit);
  double value = std::clamp<double>(actual, -limit, limit);
  double unit = std::clamp(std::abs(exact), function.unitOf, 0x1p127);
  return std::abs(value - exact) / spacingAt(unit);
}

struct Worst {
  double error = 0;
  float input = 0, actual = 0;
  double exact = 0;

  void join(const Worst &other) {
    if (other.error > error)
      *this = other;
  }
};

/// The worst results of all targets for the floats at `inputs`.
void checkBlock(const Function &function, std::vector<float> &inputs,
                std::vector<Worst> &worst) {
  std::vector<double> exact(kBlock);
  for (int64_t i = 0; i < kBlock; ++i)
    exact[i] = function.exact(inputs[i]);
  std::vector<float> outputs(kBlock);
  std::string name = std::string("k.") + function.name;
  for (auto [target, found] : llvm::zip_equal(compiledTargets(), worst)) {
    runKernel(target.kernels.lookup(name.c_str()),
              {inputs.data(), outputs.data()});
    for (int64_t i = 0; i < kBlock; ++i) {
      double error = errorOf(function, outputs[i], exact[i]);
      if (error > found.error)
        found = {error, inputs[i], outputs[i], exact[i]};
    }
  }
}

/// Every `stride`-th bit pattern, by several threads.
std::vector<Worst> sweep(const Function &function, uint64_t stride) {
  size_t threads = std::max(std::thread::hardware_concurrency(), 1u);
  std::mutex mutex; // Guards total.
  std::vector<Worst> total(compiledTargets().size());
  auto work = [&](size_t thread) {
    std::vector<Worst> worst(total.size());
    std::vector<float> inputs(kBlock);
    uint64_t step = stride * kBlock;
    for (uint64_t first = thread * step; first < uint64_t(1) << 32;
         first += threads * step) {
      for (int64_t i = 0; i < kBlock; ++i) {
        auto pattern = static_cast<uint32_t>(first + i * stride);
        float input = std::bit_cast<float>(pattern);
        inputs[i] = input > function.largestInput ? -input : input;
      }
      checkBlock(function, inputs, worst);
    }
    std::lock_guard lock(mutex);
    for (auto [all, mine] : llvm::zip_equal(total, worst))
      all.join(mine);
  };
  std::vector<std::thread> others;
  for (size_t thread = 1; thread < threads; ++thread)
    others.emplace_back(work, thread);
  work(0);
  for (std::thread &other : others)
    other.join();
  return total;
}

class MathTest : public testing::TestWithParam<Function> {};

} // namespace

TEST_P(MathTest, StaysWithinItsBound) {
  const Function &function = GetParam();
  bool all = std::getenv("DLC_TEST_ALL_FLOATS");
  std::vector<Worst> worst = sweep(function, all ? 1 : 257);
  for (auto [target, found] : llvm::zip_equal(compiledTargets(), worst)) {
    double bound = target.boundOf(function);
    printf("%-16s %-10s %9.4f ulp at %a: %a, exactly %a\n", function.name,
           target.target.c_str(), found.error, found.input, found.actual,
           found.exact);
    EXPECT_LE(found.error, bound)
        << target.target << " at " << found.input << ": expected "
        << found.exact << ", got " << found.actual;
    // A bound that is never met says nothing.
    if (all)
      EXPECT_GT(found.error, bound - 0.1) << target.target;
  }
}

TEST_P(MathTest, SpecialValues) {
  const Function &function = GetParam();
  using Limits = std::numeric_limits<float>;
  std::vector<float> positive = {0,
                                 Limits::denorm_min(),
                                 0x1p-127f,
                                 Limits::min(),
                                 1,
                                 0x1p-64f,
                                 Limits::max() / 2,
                                 Limits::max(),
                                 88.7f,
                                 88.8f,
                                 Limits::infinity(),
                                 Limits::quiet_NaN(),
                                 103,
                                 104,
                                 Limits::signaling_NaN()};
  std::vector<float> inputs;
  for (float value : positive)
    for (float input : {value, -value})
      if (!(input > function.largestInput))
        inputs.push_back(input);
  inputs.resize(kBlock, function.largestInput);
  std::vector<Worst> worst(compiledTargets().size());
  checkBlock(function, inputs, worst);
  for (auto [target, found] : llvm::zip_equal(compiledTargets(), worst))
    EXPECT_LE(found.error, target.boundOf(function))
        << target.target << " at " << found.input << ": expected "
        << found.exact << ", got " << found.actual;
}

/// Powers of any float to any float, of numbers near 1, whose powers are
/// floats, too, and of whole numbers.
TEST(PowTest, StaysWithinItsBound) {
  constexpr Function kPow = {"pow", "", nullptr, 0.6, 0.6};
  constexpr int kBlocks = 300;
  std::vector<float> special = {0,
                                0x1p-149f,
                                0x1p-126f,
                                0.5f,
                                1,
                                1.5f,
                                2,
                                3,
                                0x1.fffffep23f,
                                0x1p24f,
                                0x1p31f,
                                0x1.fffffep127f,
                                std::numeric_limits<float>::infinity(),
                                std::numeric_limits<float>::quiet_NaN()};
  for (size_t i = special.size(); i-- > 0;)
    special.push_back(-special[i]);
  std::mt19937 random(7);
  auto anyFloat = [&] { return std::bit_cast<float>(uint32_t(random())); };
  auto within = [&](double low, double high) {
    return static_cast<float>(
        std::uniform_real_distribution<double>(low, high)(random));
  };
  for (int block = 0; block < kBlocks; ++block) {
    std::vector<float> x(kBlock), y(kBlock), actual(kBlock);
    for (int64_t i = 0; i < kBlock; ++i)
      switch (block % 4) {
      case 0:
        x[i] = special[i % special.size()];
        y[i] = block == 0 ? special[i / special.size() % special.size()]
                          : anyFloat();
        break;
      case 1:
        x[i] = anyFloat();
        y[i] = anyFloat();
        break;
      case 2:
        x[i] = std::exp2(within(-8, 8));
        y[i] = within(-16, 16);
        break;
      default:
        x[i] = std::round(within(-30, 30));
        y[i] = std::round(within(-30, 30)) / (1 + i % 2);
      }
    for (const Compiled &target : compiledTargets()) {
      runKernel(target.kernels.lookup("k.pow"),
                {x.data(), y.data(), actual.data()});
      for (int64_t i = 0; i < kBlock; ++i) {
        double exact = std::pow(double(x[i]), double(y[i]));
        // What f64 cannot have, f32 cannot either.
        exact = std::clamp(exact, -0x1p200, 0x1p200);
        EXPECT_LE(errorOf(kPow, actual[i], exact), kPow.fusedBound)
            << target.target << ": " << x[i] << " to the power of " << y[i]
            << ": expected " << exact << ", got " << actual[i];
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, MathTest, testing::ValuesIn(kFunctions),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });
