// SPDX-License-Identifier: Apache-2.0

#include "dlc/Analysis/Cost.h"

#include "../Codegen/CPU/KernelRunner.h"

#include "dlc/dialects/Kernel/KernelDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using dlc::analysis::costOf;
using dlc::analysis::countFlops;

namespace {

class CostTest : public testing::Test {
protected:
  func::FuncOp parse(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, context.get());
    return module ? *module->getOps<func::FuncOp>().begin() : func::FuncOp();
  }
  /// The cost of the operations of a body.
  int64_t cost(const std::string &operations) {
    func::FuncOp function =
        parse("func.func @f(%x: f32, %y: f64, %i: i64, %m: memref<4xf32>, "
              "%n: index) {\n" +
              operations + "\nreturn }");
    return function ? costOf(function.getBody().front()) : -1;
  }

  std::unique_ptr<MLIRContext> context = dlc::test::createContext();
  OwningOpRef<ModuleOp> module;
};

/// b = a * b + 1 over `rank` dimensions of memrefs of type `type`: two
/// operations an element.
std::string multiplyAdd(const std::string &a, const std::string &b,
                        const std::string &type, int rank = 1) {
  std::string dims = rank == 1 ? "d" : "d, e",
              map = "affine_map<(" + dims + ") -> (" + dims + ")>";
  std::string loops = rank == 1 ? "\"parallel\"" : "\"parallel\", \"parallel\"";
  return "linalg.generic {indexing_maps = [" + map + ", " + map +
         "], iterator_types = [" + loops + "]} ins(" + a + " : " + type +
         ") outs(" + b + " : " + type + R"() {
         ^bb0(%v: f32, %o: f32):
           %one = arith.constant 1.0 : f32
           %p = arith.mulf %v, %o : f32
           %s = arith.addf %p, %one : f32
           linalg.yield %s : f32
         }
  )";
}

} // namespace

TEST_F(CostTest, OfScalars) {
  EXPECT_EQ(cost(""), 0);
  EXPECT_EQ(cost("%c = arith.constant 1.0 : f32"), 0);
  EXPECT_EQ(cost("%v = memref.load %m[%n] : memref<4xf32>"), 0);
  EXPECT_EQ(cost("%0 = arith.addf %x, %x : f32\n%1 = arith.mulf %0, %x : f32"),
            2);
  EXPECT_EQ(cost("%0 = math.absf %x : f32"), 1);
  EXPECT_EQ(cost("%0 = arith.divf %x, %x : f32"),
            cost("%0 = arith.remsi %i, %i : i64"));
  EXPECT_GT(cost("%0 = arith.divf %x, %x : f32"), 1);
  EXPECT_GT(cost("%0 = math.exp %x : f32"),
            cost("%0 = arith.divf %x, %x : f32"));
  // Calls of libm.
  EXPECT_GT(cost("%0 = math.exp %y : f64"), 4 * cost("%0 = math.log %x : f32"));
  EXPECT_EQ(cost("%0 = math.sin %y : f64"), cost("%0 = math.exp %y : f64"));
  EXPECT_LT(cost("%0 = math.sin %x : f32"), cost("%0 = math.log %x : f32"));
}

TEST_F(CostTest, OfPowersThatAreProducts) {
  auto power = [&](const char *exponent) {
    return cost(std::string("%c = arith.constant ") + exponent +
                " : f32\n%0 = math.powf %x, %c : f32");
  };
  EXPECT_LE(power("2.0"), 2);
  EXPECT_LE(power("0.5"), 5);
  EXPECT_GT(power("2.5"), 100);
}

TEST_F(CostTest, OfKernelsCountsTilesTimesLoops) {
  std::string type = "memref<6x33xf32>";
  func::FuncOp kernel = parse("func.func @k(%a: " + type + ", %b: " + type +
                              ") { scf.forall (%i) in (5) {" +
                              multiplyAdd("%a", "%b", type, 2) + "} return }");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(countFlops(kernel), 5u * 6 * 33 * 2);
}

TEST_F(CostTest, OfKernelsCountsShortTilesAsWhole) {
  // 1000 elements in tiles of 300; the last one holds 100.
  func::FuncOp kernel = parse(R"(
    func.func @k(%a: memref<1000xf32>, %b: memref<1000xf32>) {
      scf.forall (%i) in (4) {
        %size = arith.constant 300 : index
        %all = arith.constant 1000 : index
        %first = arith.muli %i, %size : index
        %left = arith.subi %all, %first : index
        %count = arith.minsi %left, %size : index
        %x = memref.subview %a[%first] [%count] [1]
          : memref<1000xf32> to memref<?xf32, strided<[1], offset: ?>>
        %y = memref.subview %b[%first] [%count] [1]
          : memref<1000xf32> to memref<?xf32, strided<[1], offset: ?>>
  )" + multiplyAdd("%x", "%y", "memref<?xf32, strided<[1], offset: ?>>") +
                              "} return }");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(countFlops(kernel), 4u * 300 * 2);
}

TEST_F(CostTest, OfAttentionsCountsRowsTimesKeys) {
  context->loadDialect<dlc::BaseDialect, dlc::kernel::KernelDialect>();
  auto attention = [&](int keys) {
    const std::string k = "memref<" + std::to_string(keys) + "x32xf16>";
    func::FuncOp kernel =
        parse("func.func @k(%q: memref<?x32xf16>, %k: " + k +
              R"(, %y: memref<?x32xf16>) { scf.forall (%i) in (5) {
        kernel.attention %q, %k, %k into %y from %i {rows = 16 : i64, scale = 1.0 : f32}
          : memref<?x32xf16>, )" +
              k + ", " + k + " into memref<?x32xf16> } return }");
    EXPECT_TRUE(kernel);
    return kernel ? countFlops(kernel) : 0;
  };
  EXPECT_GE(attention(100), 5u * 16 * 100 * 2 * (32 + 32));
  EXPECT_EQ(attention(200), 2 * attention(100));
}

TEST_F(CostTest, OfKernelsThatOnlyMoveIsNothing) {
  func::FuncOp kernel = parse(R"(
    func.func @k(%a: memref<4x8xf32>, %b: memref<8x4xf32>) {
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%b : memref<8x4xf32>)
      linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>,
          affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}
          ins(%a : memref<4x8xf32>) outs(%b : memref<8x4xf32>) {
      ^bb0(%v: f32, %o: f32):
        linalg.yield %v : f32
      }
      return
    })");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(countFlops(kernel), 0u);
}

TEST_F(CostTest, OfKernelsCountsTripsOfLoops) {
  std::string type = "memref<16xf32>";
  func::FuncOp kernel =
      parse("func.func @k(%a: " + type + ", %b: " + type + R"() {
        %low = arith.constant 1 : index
        %high = arith.constant 8 : index
        %step = arith.constant 2 : index
        scf.for %i = %low to %high step %step {)" +
            multiplyAdd("%a", "%b", type) + "} return }");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(countFlops(kernel), 4u * 16 * 2);
}
