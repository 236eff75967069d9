// SPDX-License-Identifier: Apache-2.0

#include "LoopPlan.h"

#include "dlc/Analysis/Cost.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace dlc::codegen;

std::optional<int64_t> dlc::codegen::staticCount(const LoopPlan &plan,
                                                 ArrayRef<unsigned> dims) {
  int64_t count = 1;
  for (unsigned dim : dims) {
    std::optional<int64_t> extent = getConstantIntValue(plan.ranges[dim]);
    if (!extent)
      return std::nullopt;
    count *= *extent;
  }
  return count;
}

/// Adds `scale` times the linear expression `expr` to strides and constant.
static LogicalResult addLinear(AffineExpr expr, int64_t scale,
                               LoopOperand &operand) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    operand.strides[dim.getPosition()] += scale;
    return success();
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    operand.constant += scale * constant.getValue();
    return success();
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return failure();
  if (expr.getKind() == AffineExprKind::Add)
    return success(succeeded(addLinear(binary.getLHS(), scale, operand)) &&
                   succeeded(addLinear(binary.getRHS(), scale, operand)));
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() != AffineExprKind::Mul || !factor)
    return failure();
  return addLinear(binary.getLHS(), scale * factor.getValue(), operand);
}

static LogicalResult collectOperands(linalg::LinalgOp op, const ViewMap &views,
                                     LoopPlan &plan) {
  unsigned loops = op.getNumLoops();
  plan.ranges.resize(loops);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  Builder builder(op.getContext());
  for (unsigned dim = 0; dim < loops; ++dim)
    if (ShapedType::isStatic(ranges[dim]))
      plan.ranges[dim] = builder.getI64IntegerAttr(ranges[dim]);
  for (OpOperand &use : op->getOpOperands()) {
    LoopOperand operand;
    operand.strides.resize(loops);
    operand.argument = op.getMatchingBlockArgument(&use);
    operand.isOutput = op.isDpsInit(&use);
    operand.isRead = !operand.argument.use_empty();
    if (!isa<MemRefType>(use.get().getType())) {
      operand.scalar = use.get();
      plan.operands.push_back(std::move(operand));
      continue;
    }
    auto view = views.find(use.get());
    if (view == views.end())
      return op->emitOpError("expected memrefs of the kernel as operands");
    operand.view = &view->second;
    AffineMap map = op.getMatchingIndexingMap(&use);
    for (auto [index, expr] : llvm::enumerate(map.getResults())) {
      if (failed(addLinear(expr, operand.view->strides[index], operand)))
        return op->emitOpError("expected a linear indexing map, got ")
               << AffineMapAttr::get(map);
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (dim && !plan.ranges[dim.getPosition()])
        plan.ranges[dim.getPosition()] = operand.view->sizes[index];
    }
    plan.operands.push_back(std::move(operand));
  }
  if (!llvm::all_of(plan.ranges, [](OpFoldResult r) { return bool(r); }))
    return op->emitOpError("expected every loop's extent to be known");
  return success();
}

/// Operations whose terms may be combined in any order.
static bool isReorderable(Operation *op) {
  return isa<arith::AddFOp, arith::MulFOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::MaxNumFOp, arith::MinNumFOp, arith::AddIOp, arith::MulIOp,
             arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp,
             arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op);
}

static Operation *matchCombiner(Value yielded, BlockArgument old) {
  Operation *op = yielded.getDefiningOp();
  if (!op || !isReorderable(op) || !old.hasOneUse())
    return nullptr;
  return *old.getUsers().begin() == op ? op : nullptr;
}

static LogicalResult collectAccumulators(linalg::LinalgOp op, LoopPlan &plan) {
  unsigned loops = plan.ranges.size();
  std::optional<SmallVector<bool>> reduced;
  unsigned firstOutput = plan.operands.size() - op.getNumDpsInits();
  for (unsigned i = firstOutput; i < plan.operands.size(); ++i) {
    LoopOperand &operand = plan.operands[i];
    AffineMap map = op.getIndexingMapsArray()[i];
    SmallVector<bool> over(loops);
    for (unsigned dim = 0; dim < loops; ++dim)
      over[dim] = !map.isFunctionOfDim(dim);
    if (!operand.isRead || !llvm::is_contained(over, true))
      continue;
    if (reduced && *reduced != over)
      return op->emitOpError(
          "expected all accumulators over the same dimensions");
    reduced = over;
    Value yielded = op.getBlock()->getTerminator()->getOperand(i - firstOutput);
    plan.accumulators.push_back(
        {i, i - firstOutput, matchCombiner(yielded, operand.argument)});
  }
  for (unsigned dim = 0; dim < loops; ++dim)
    (reduced && (*reduced)[dim] ? plan.reduced : plan.parallel).push_back(dim);
  return success();
}

/// The parallel dimension with which `dim` makes squares, which `operand` walks
/// along the other way: they are turned round in registers. Not in reductions.
static std::optional<unsigned> findTileDim(const LoopPlan &plan,
                                           const LoopOperand &operand,
                                           unsigned dim, int64_t width) {
  const int64_t across = operand.strides[dim];
  if (!operand.isRead || operand.isOutput || across == 0 || across == 1 ||
      !plan.reduced.empty() || width < 2)
    return std::nullopt;
  auto isLong = [&](unsigned each) {
    std::optional<int64_t> extent = getConstantIntValue(plan.ranges[each]);
    return extent && *extent >= width;
  };
  for (unsigned other : plan.parallel)
    if (other != dim && operand.strides[other] == 1 && isLong(other) &&
        isLong(dim))
      return other;
  return std::nullopt;
}

/// Modelled cost of one element when `dim` is in vectors: neighbours are
/// cheap, squares less so, strides cost a scalar access each.
static double costOf(const LoopPlan &plan, unsigned dim, int64_t width) {
  constexpr double turning = 3;
  double cost = 0;
  for (const LoopOperand &operand : plan.operands) {
    if (!operand.isRead && !operand.isOutput)
      continue;
    int64_t stride = operand.strides[dim];
    double access = stride == 0                              ? 0.1
                    : stride == 1                            ? 1
                    : stride == 2                            ? 2
                    : findTileDim(plan, operand, dim, width) ? turning
                                                             : 8;
    cost += operand.isOutput ? 1.5 * access : access;
  }
  if (std::optional<int64_t> extent = getConstantIntValue(plan.ranges[dim]))
    if (*extent < width)
      cost *= static_cast<double>(width) / std::max<int64_t>(*extent, 1);
  return cost;
}

static void chooseVectorDim(LoopPlan &plan, int64_t width) {
  bool reorderable = llvm::all_of(plan.accumulators, [](const Accumulator &a) {
    return a.combiner != nullptr;
  });
  double best = 1e30;
  auto consider = [&](ArrayRef<unsigned> dims, bool isReduced) {
    for (unsigned dim : llvm::reverse(dims)) {
      double cost = costOf(plan, dim, width);
      if (cost >= best)
        continue;
      best = cost;
      plan.vectorDim = dim;
      plan.vectorIsReduced = isReduced;
    }
  };
  consider(plan.parallel, false);
  if (reorderable)
    consider(plan.reduced, true);
  if (!plan.vectorDim)
    return;
  std::optional<int64_t> extent =
      getConstantIntValue(plan.ranges[*plan.vectorDim]);
  if (extent && *extent < 2) {
    plan.vectorDim.reset();
    plan.vectorIsReduced = false;
    return;
  }
  auto &dims = plan.vectorIsReduced ? plan.reduced : plan.parallel;
  llvm::erase(dims, *plan.vectorDim);
  dims.push_back(*plan.vectorDim);
  plan.width = width;
}

/// Makes one loop of two neighbours that every operand walks as one.
static void collapseLoops(linalg::LinalgOp op, LoopPlan &plan) {
  for (Operation &inner : op.getBlock()->without_terminator())
    if (isa<linalg::IndexOp>(inner))
      return;
  auto collapse = [&](SmallVector<unsigned> &dims) {
    for (size_t i = dims.size(); i-- > 1;) {
      unsigned outer = dims[i - 1], inner = dims[i];
      auto outerExtent = getConstantIntValue(plan.ranges[outer]);
      auto innerExtent = getConstantIntValue(plan.ranges[inner]);
      if (!outerExtent || !innerExtent ||
          !llvm::all_of(plan.operands, [&](const LoopOperand &operand) {
            return operand.strides[outer] ==
                   operand.strides[inner] * *innerExtent;
          }))
        continue;
      Builder builder(op.getContext());
      plan.ranges[inner] =
          builder.getI64IntegerAttr(*outerExtent * *innerExtent);
      dims.erase(dims.begin() + i - 1);
    }
  };
  collapse(plan.parallel);
  collapse(plan.reduced);
}

/// Chooses the dimension of square blocks when an operand is read across the
/// vectors but along another parallel dimension.
static void chooseTileDim(LoopPlan &plan) {
  if (!plan.vectorDim || plan.vectorIsReduced)
    return;
  for (const LoopOperand &operand : plan.operands) {
    std::optional<unsigned> dim =
        findTileDim(plan, operand, *plan.vectorDim, plan.width);
    if (!dim)
      continue;
    plan.tileDim = dim;
    llvm::erase(plan.parallel, *dim);
    plan.parallel.insert(plan.parallel.end() - 1, *dim);
    return;
  }
}

/// A masked access needs lanes of 4 or 8 bytes that are neighbours.
static bool canMaskOperand(const LoopOperand &operand, unsigned dim) {
  if (!operand.view)
    return true;
  if (operand.strides[dim] == 0)
    return !operand.isOutput || operand.isRead;
  Type type = getComputeType(operand.view->element);
  if (operand.view->element.isF16() || operand.view->element.isBF16())
    return false;
  return operand.strides[dim] == 1 && type.getIntOrFloatBitWidth() >= 32;
}

/// An input may share memory with an output only where both are walked alike
/// (`inPlace` of the kernel): then elements must not be computed twice.
static bool canOverlap(const LoopPlan &plan) {
  for (const LoopOperand &output : plan.operands)
    for (const LoopOperand &operand : plan.operands)
      if (output.isOutput && operand.isRead && operand.view &&
          operand.strides == output.strides)
        return false;
  return plan.accumulators.empty();
}

/// Where vectors are longer than the dimension and no lanes can be left out,
/// shorter ones are better than single elements.
static void fitWidth(LoopPlan &plan) {
  constexpr int64_t shortest = 4;
  std::optional<int64_t> extent =
      getConstantIntValue(plan.ranges[*plan.vectorDim]);
  if (!extent || plan.tileDim || plan.vectorIsReduced)
    return;
  while (plan.width > *extent && plan.width > shortest)
    plan.width /= 2;
}

FailureOr<LoopPlan> dlc::codegen::planLoops(linalg::LinalgOp op,
                                            const TargetOptions &target,
                                            const ViewMap &views) {
  LoopPlan plan;
  if (failed(collectOperands(op, views, plan)) ||
      failed(collectAccumulators(op, plan)))
    return failure();
  collapseLoops(op, plan);
  chooseVectorDim(plan, target.vectorBytes() / 4);
  chooseTileDim(plan);
  if (!plan.vectorDim)
    return plan;
  plan.canOverlap = canOverlap(plan);
  int64_t cost = analysis::costOf(*op.getBlock());
  // Two chains of dependent operations hide each other's latency; with 16
  // registers long ones would be in memory.
  const int64_t longest = target.has("avx512f") ? 200 : 45;
  plan.unroll = cost <= 8 ? 4 : cost <= longest ? 2 : 1;
  // Without masked memory instructions LLVM branches on each lane.
  plan.canMask = target.has("avx2") && plan.width > 1;
  for (const LoopOperand &operand : plan.operands)
    if (operand.isRead || operand.isOutput)
      plan.canMask &= canMaskOperand(operand, *plan.vectorDim);
  // A load that the body itself indexes is not masked.
  for (Operation &inner : op.getBlock()->without_terminator())
    plan.canMask &= !isa<memref::LoadOp>(inner);
  if (!plan.canMask)
    fitWidth(plan);
  return plan;
}
