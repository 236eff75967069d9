// SPDX-License-Identifier: Apache-2.0
//
// Kernels written as linalg text, compiled for every kind of target that this
// machine can run, against plain loops.

#include "KernelRunner.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

using namespace dlc::test;
using dlc::codegen::TargetOptions;

namespace {

/// The targets that this machine runs.
std::vector<std::string> runnableTargets() {
  std::vector<std::string> names = {"host"};
  TargetOptions host = TargetOptions::host();
  for (const char *name : {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    TargetOptions target = *TargetOptions::get(name);
    if (std::all_of(target.features.begin(), target.features.end(),
                    [&](const std::string &f) { return host.has(f); }))
      names.push_back(name);
  }
  return names;
}

std::vector<float> ramp(size_t count, float scale = 0.37f) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = scale * static_cast<float>(static_cast<int>(i * 37 % 101) - 50);
  return values;
}

/// The names of a list of targets, in their order, or why there is none.
std::string namesOf(llvm::StringRef list) {
  std::string text;
  auto targets = TargetOptions::getList(list, text);
  if (!targets)
    return text;
  for (const TargetOptions &target : *targets)
    text += (text.empty() ? "" : " ") + target.name;
  return text;
}

TEST(TargetTest, ListsAreBestFirst) {
  EXPECT_EQ(namesOf("x86-64-v3"), "x86-64-v3");
  EXPECT_EQ(namesOf("x86-64-v2,x86-64-v4,x86-64,x86-64-v3"),
            "x86-64-v4 x86-64-v3 x86-64-v2 x86-64");
  // The host has every feature of the targets that it can run.
  std::string host = TargetOptions::host().features ==
                             TargetOptions::get("x86-64-v2")->features
                         ? "x86-64-v2"
                         : "host x86-64-v2";
  if (TargetOptions::host().has("sse4.2"))
    EXPECT_EQ(namesOf("x86-64-v2,host"), host);
}

TEST(TargetTest, RefusesLists) {
  const std::string expected =
      "expected target host, x86-64, x86-64-v2, x86-64-v3 or x86-64-v4, got ";
  EXPECT_EQ(namesOf(""), expected + "''");
  EXPECT_EQ(namesOf("x86-64-v3,"), expected + "''");
  EXPECT_EQ(namesOf("x86-64-v3,x86-64-v5"), expected + "'x86-64-v5'");
  EXPECT_EQ(namesOf("x86-64-v3, x86-64-v4"), expected + "' x86-64-v4'");
  EXPECT_EQ(namesOf("x86-64-v3,x86-64,x86-64-v3"),
            "expected each target once, got 'x86-64-v3' twice");
}

class CodegenTest : public testing::TestWithParam<std::string> {
protected:
  LoadedKernels compile(llvm::StringRef text) {
    return compileText(*context, text, *TargetOptions::get(GetParam()));
  }
  std::unique_ptr<mlir::MLIRContext> context = createContext();
};

std::string replaceAll(std::string text, const std::string &from,
                       const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

} // namespace

TEST_P(CodegenTest, ElementwiseOfEveryRemainder) {
  for (int n : {0, 1, 7, 8, 9, 31, 32, 33, 70}) {
    LoadedKernels kernels = compile(replaceAll(R"(
      func.func @add_relu(%a: memref<Nxf32>, %b: memref<Nxf32>,
                          %c: memref<Nxf32>) {
        linalg.generic {indexing_maps = [affine_map<(d) -> (d)>,
            affine_map<(d) -> (d)>, affine_map<(d) -> (d)>],
            iterator_types = ["parallel"]}
            ins(%a, %b : memref<Nxf32>, memref<Nxf32>)
            outs(%c : memref<Nxf32>) {
        ^bb0(%x: f32, %y: f32, %z: f32):
          %zero = arith.constant 0.0 : f32
          %s = arith.addf %x, %y : f32
          %r = arith.maximumf %s, %zero : f32
          linalg.yield %r : f32
        }
        return
      })",
                                               "N", std::to_string(n)));
    ASSERT_TRUE(kernels);
    std::vector<float> a = ramp(n), b = ramp(n, 0.11f), c(n + 1, -7);
    if (n > 3)
      a[3] = std::numeric_limits<float>::quiet_NaN();
    runKernel(kernels.lookup("add_relu"), {a.data(), b.data(), c.data()});
    for (int i = 0; i < n; ++i) {
      if (i == 3 && n > 3)
        EXPECT_TRUE(std::isnan(c[i])) << "the maximum drops NaN";
      else
        EXPECT_EQ(c[i], std::max(a[i] + b[i], 0.0f)) << "n = " << n;
    }
    EXPECT_EQ(c[n], -7) << "written past the end, n = " << n;
  }
}

TEST_P(CodegenTest, RowsOfSoftmaxOnAGrid) {
  for (int n : {1, 5, 8, 40, 133}) {
    LoadedKernels kernels = compile(replaceAll(R"(
      func.func @softmax(%x: memref<6xNxf32>, %y: memref<6xNxf32>) {
        %lowest = arith.constant 0xFF800000 : f32
        %zero = arith.constant 0.0 : f32
        scf.forall (%i) in (6) {
          %xr = memref.subview %x[%i, 0] [1, N] [1, 1]
            : memref<6xNxf32> to memref<Nxf32, strided<[1], offset: ?>>
          %yr = memref.subview %y[%i, 0] [1, N] [1, 1]
            : memref<6xNxf32> to memref<Nxf32, strided<[1], offset: ?>>
          %max = memref.alloca() : memref<f32>
          %sum = memref.alloca() : memref<f32>
          %row = memref.alloca() : memref<Nxf32>
          linalg.fill ins(%lowest : f32) outs(%max : memref<f32>)
          linalg.generic {indexing_maps = [affine_map<(d) -> (d)>,
              affine_map<(d) -> ()>], iterator_types = ["reduction"]}
              ins(%xr : memref<Nxf32, strided<[1], offset: ?>>)
              outs(%max : memref<f32>) {
          ^bb0(%v: f32, %m: f32):
            %r = arith.maximumf %m, %v : f32
            linalg.yield %r : f32
          }
          linalg.fill ins(%zero : f32) outs(%sum : memref<f32>)
          linalg.generic {indexing_maps = [affine_map<(d) -> (d)>,
              affine_map<(d) -> ()>, affine_map<(d) -> (d)>,
              affine_map<(d) -> ()>], iterator_types = ["reduction"]}
              ins(%xr, %max : memref<Nxf32, strided<[1], offset: ?>>,
                  memref<f32>)
              outs(%row, %sum : memref<Nxf32>, memref<f32>) {
          ^bb0(%v: f32, %m: f32, %e: f32, %s: f32):
            %d = arith.subf %v, %m : f32
            %p = math.exp %d : f32
            %t = arith.addf %s, %p : f32
            linalg.yield %p, %t : f32, f32
          }
          linalg.generic {indexing_maps = [affine_map<(d) -> (d)>,
              affine_map<(d) -> ()>, affine_map<(d) -> (d)>],
              iterator_types = ["parallel"]}
              ins(%row, %sum : memref<Nxf32>, memref<f32>)
              outs(%yr : memref<Nxf32, strided<[1], offset: ?>>) {
          ^bb0(%p: f32, %s: f32, %o: f32):
            %q = arith.divf %p, %s : f32
            linalg.yield %q : f32
          }
        }
        return
      })",
                                               "N", std::to_string(n)));
    ASSERT_TRUE(kernels);
    std::vector<float> x = ramp(6 * n), y(6 * n);
    // Tiles are independent: two calls.
    std::vector<void *> arguments = {x.data(), y.data()};
    kernels.lookup("softmax")(arguments.data(), 2, 6);
    kernels.lookup("softmax")(arguments.data(), 0, 2);
    for (int row = 0; row < 6; ++row) {
      const float *in = &x[row * n];
      double largest = *std::max_element(in, in + n), sum = 0;
      for (int i = 0; i < n; ++i)
        sum += std::exp(in[i] - largest);
      for (int i = 0; i < n; ++i)
        EXPECT_NEAR(y[row * n + i], std::exp(in[i] - largest) / sum, 1e-6);
    }
  }
}

TEST_P(CodegenTest, ReducesAnOuterDimension) {
  LoadedKernels kernels = compile(R"(
    func.func @columns(%x: memref<9x21xf32>, %y: memref<21xf32>) {
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%y : memref<21xf32>)
      linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
          affine_map<(i, j) -> (j)>],
          iterator_types = ["reduction", "parallel"]}
          ins(%x : memref<9x21xf32>) outs(%y : memref<21xf32>) {
      ^bb0(%v: f32, %s: f32):
        %t = arith.addf %s, %v : f32
        linalg.yield %t : f32
      }
      return
    })");
  ASSERT_TRUE(kernels);
  std::vector<float> x = ramp(9 * 21, 1), y(21, -1);
  runKernel(kernels.lookup("columns"), {x.data(), y.data()});
  for (int j = 0; j < 21; ++j) {
    float sum = 0;
    for (int i = 0; i < 9; ++i)
      sum += x[i * 21 + j];
    EXPECT_EQ(y[j], sum);
  }
}

TEST_P(CodegenTest, TransposesAndStridesByTwo) {
  LoadedKernels kernels = compile(R"(
    func.func @gather(%x: memref<19x40xf32>, %t: memref<40x19xf32>,
                      %s: memref<19x20xf32>) {
      linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>,
          affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}
          ins(%x : memref<19x40xf32>) outs(%t : memref<40x19xf32>) {
      ^bb0(%v: f32, %o: f32):
        linalg.yield %v : f32
      }
      linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j * 2 + 1)>,
          affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}
          ins(%x : memref<19x40xf32>) outs(%s : memref<19x20xf32>) {
      ^bb0(%v: f32, %o: f32):
        linalg.yield %v : f32
      }
      return
    })");
  ASSERT_TRUE(kernels);
  std::vector<float> x(19 * 40), t(40 * 19), s(19 * 20);
  std::iota(x.begin(), x.end(), 0.0f);
  runKernel(kernels.lookup("gather"), {x.data(), t.data(), s.data()});
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 19; ++j)
      EXPECT_EQ(t[i * 19 + j], x[j * 40 + i]);
  for (int i = 0; i < 19; ++i)
    for (int j = 0; j < 20; ++j)
      EXPECT_EQ(s[i * 20 + j], x[i * 40 + j * 2 + 1]);
}

/// A kernel whose grid alone is another has the same code, and so have more
/// kernels than a process may have files.
TEST_P(CodegenTest, EqualCodeIsMadeOnce) {
  const std::string kernel = R"(
    func.func @NAME(%x: memref<ROWSx5xf32>, %y: memref<ROWSx5xf32>) {
      scf.forall (%i) in (ROWS) {
        %xr = memref.subview %x[%i, 0] [1, 5] [1, 1]
          : memref<ROWSx5xf32> to memref<5xf32, strided<[1], offset: ?>>
        %yr = memref.subview %y[%i, 0] [1, 5] [1, 1]
          : memref<ROWSx5xf32> to memref<5xf32, strided<[1], offset: ?>>
        linalg.generic {indexing_maps = [affine_map<(d) -> (d)>,
            affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
            ins(%xr : memref<5xf32, strided<[1], offset: ?>>)
            outs(%yr : memref<5xf32, strided<[1], offset: ?>>) {
        ^bb0(%v: f32, %o: f32):
          %r = arith.OPf %v, %v : f32
          linalg.yield %r : f32
        }
      }
      return
    })";
  std::string text;
  auto add = [&](const std::string &name, int rows, const char *op) {
    text += replaceAll(replaceAll(replaceAll(kernel, "NAME", name), "ROWS",
                                  std::to_string(rows)),
                       "OP", op);
  };
  add("few", 3, "add");
  add("many", 7, "add");
  add("others", 7, "mul");
  for (int i = 0; i < 1100; ++i)
    add("more" + std::to_string(i), i + 8, "add");
  LoadedKernels kernels = compile(text);
  ASSERT_TRUE(kernels);
  EXPECT_EQ(kernels.lookup("few"), kernels.lookup("many"));
  EXPECT_EQ(kernels.lookup("few"), kernels.lookup("more1099"));
  EXPECT_NE(kernels.lookup("few"), kernels.lookup("others"));
  std::vector<float> x = ramp(35), y(35), z(35);
  runKernel(kernels.lookup("many"), {x.data(), y.data()}, 7);
  runKernel(kernels.lookup("others"), {x.data(), z.data()}, 7);
  for (int i = 0; i < 35; ++i) {
    EXPECT_EQ(y[i], x[i] + x[i]);
    EXPECT_EQ(z[i], x[i] * x[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, CodegenTest,
                         testing::ValuesIn(runnableTargets()),
                         [](const auto &info) {
                           return replaceAll(info.param, "-", "_");
                         });
