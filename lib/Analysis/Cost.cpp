// SPDX-License-Identifier: Apache-2.0

#include "dlc/Analysis/Cost.h"

#include "dlc/dialects/Kernel/KernelDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dlc;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// Division and square root: a result every five cycles or so.
static constexpr int64_t kDivision = 5;
/// A call of libm for each element of a vector.
static constexpr int64_t kCall = 300;

std::optional<double> dlc::analysis::plainExponentOf(math::PowFOp pow) {
  FloatAttr exponent;
  if (!matchPattern(pow.getRhs(), m_Constant(&exponent)))
    return std::nullopt;
  double value = exponent.getValueAsDouble();
  bool isPlain = llvm::is_contained({-1.0, 0.5, 1.0, 2.0, 3.0, 4.0}, value);
  return isPlain ? std::optional(value) : std::nullopt;
}

/// Functions of f32, from the measured throughput of their polynomials: a
/// thread does 100 additions in a nanosecond. Of f64 there are none.
static int64_t costOfFunction(Operation &op) {
  bool hasPolynomial = !getElementTypeOrSelf(op.getOperand(0)).isF64();
  auto polynomial = [&](int64_t cost) { return hasPolynomial ? cost : kCall; };
  return TypeSwitch<Operation *, int64_t>(&op)
      .Case<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
            math::FloorOp, math::FmaOp, math::RoundEvenOp, math::TruncOp>(
          [](auto) { return 1; })
      .Case([](math::SqrtOp) { return kDivision; })
      .Case([](math::RsqrtOp) { return 2 * kDivision; })
      .Case<math::ExpOp, math::Exp2Op>([&](auto) { return polynomial(15); })
      .Case<math::AcosOp, math::AsinOp, math::AtanOp, math::ExpM1Op,
            math::SinOp>([&](auto) { return polynomial(20); })
      .Case([&](math::TanhOp) { return polynomial(22); })
      .Case<math::CosOp, math::CoshOp>([&](auto) { return polynomial(25); })
      .Case([&](math::ErfOp) { return polynomial(25); })
      .Case<math::LogOp, math::Log2Op, math::Log10Op>(
          [&](auto) { return polynomial(30); })
      .Case<math::Log1pOp, math::TanOp>([&](auto) { return polynomial(40); })
      .Case<math::AcoshOp, math::AsinhOp, math::AtanhOp, math::SinhOp>(
          [&](auto) { return polynomial(50); })
      .Case([&](math::PowFOp pow) {
        std::optional<double> exponent = analysis::plainExponentOf(pow);
        return polynomial(!exponent ? 120 : *exponent < 1 ? kDivision : 2);
      })
      .Default(kCall);
}

int64_t dlc::analysis::costOf(Operation &op) {
  if (op.getNumRegions()) {
    int64_t cost = 0;
    for (Region &region : op.getRegions())
      for (Block &block : region)
        cost += costOf(block);
    return cost;
  }
  if (isa<math::MathDialect>(op.getDialect()))
    return costOfFunction(op);
  if (isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp,
          arith::RemUIOp, arith::RemFOp>(op))
    return kDivision;
  return isa<arith::ArithDialect>(op.getDialect()) &&
         !op.hasTrait<OpTrait::ConstantLike>();
}

int64_t dlc::analysis::costOf(Block &block) {
  int64_t cost = 0;
  for (Operation &op : block)
    cost += costOf(op);
  return cost;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The largest value of an extent: the last tile of a grid may be shorter.
static uint64_t largestOf(OpFoldResult extent) {
  if (std::optional<int64_t> constant = getConstantIntValue(extent))
    return std::max<int64_t>(*constant, 0);
  auto value = dyn_cast<Value>(extent);
  auto least = value ? value.getDefiningOp<arith::MinSIOp>() : nullptr;
  if (!least)
    return 1;
  uint64_t largest = UINT64_MAX;
  for (Value operand : least->getOperands())
    if (std::optional<int64_t> constant = getConstantIntValue(operand))
      largest = std::min(largest, uint64_t(std::max<int64_t>(*constant, 0)));
  return largest == UINT64_MAX ? 1 : largest;
}

/// The largest number of iterations of a structured operation.
static uint64_t iterationsOf(linalg::LinalgOp op) {
  SmallVector<uint64_t> extents(op.getNumLoops(), 1);
  for (OpOperand &use : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(use.get().getType());
    if (!type)
      continue;
    auto view = use.get().getDefiningOp<memref::SubViewOp>();
    AffineMap map = op.getMatchingIndexingMap(&use);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        continue;
      uint64_t &extent = extents[loop.getPosition()];
      if (!type.isDynamicDim(dim))
        extent = type.getDimSize(dim);
      else if (view && view.getDroppedDims().none())
        extent = largestOf(view.getMixedSizes()[dim]);
    }
  }
  uint64_t iterations = 1;
  for (uint64_t extent : extents)
    iterations *= extent;
  return iterations;
}

static uint64_t countFlops(Block &block);

/// Of one iteration, without what says where elements are, whether they are
/// there and of which type.
static uint64_t flopsOf(Block &block) {
  uint64_t flops = 0;
  for (Operation &op : block) {
    const bool isPlace =
        llvm::any_of(op.getOperandTypes(), llvm::IsaPred<IndexType>) ||
        llvm::any_of(op.getResultTypes(), llvm::IsaPred<IndexType>);
    const bool isChoice =
        isa<arith::SelectOp>(op) || (isa<arith::AndIOp, arith::OrIOp>(op) &&
                                     op.getResult(0).getType().isInteger(1));
    if (!isPlace && !isChoice && !isa<CastOpInterface>(op))
      flops += static_cast<uint64_t>(dlc::analysis::costOf(op));
  }
  return flops;
}

static uint64_t countFlops(Operation &op) {
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return iterationsOf(structured) * flopsOf(*structured.getBlock());
  if (auto attention = dyn_cast<dlc::kernel::AttentionOp>(op)) {
    auto shapeOf = [](Value memref) {
      return cast<MemRefType>(memref.getType()).getShape();
    };
    constexpr uint64_t exponential = 16; // Of a score.
    ArrayRef<int64_t> keys = shapeOf(attention.getK());
    return attention.getRows() * static_cast<uint64_t>(keys[0]) *
           (2 * static_cast<uint64_t>(keys[1] + shapeOf(attention.getV())[1]) +
            exponential);
  }
  uint64_t times = 1;
  if (auto grid = dyn_cast<scf::ForallOp>(op)) {
    for (OpFoldResult bound : grid.getMixedUpperBound())
      times *= largestOf(bound);
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    if (std::optional<APInt> trips = loop.getStaticTripCount())
      times = trips->getZExtValue();
  }
  uint64_t flops = 0;
  for (Region &region : op.getRegions())
    for (Block &block : region)
      flops += countFlops(block);
  // Scalars outside of structured operations do not count.
  return times * flops;
}

static uint64_t countFlops(Block &block) {
  uint64_t flops = 0;
  for (Operation &op : block)
    flops += countFlops(op);
  return flops;
}

uint64_t dlc::analysis::countFlops(FunctionOpInterface kernel) {
  uint64_t flops = 0;
  for (Block &block : kernel.getFunctionBody())
    flops += ::countFlops(block);
  return flops;
}
