// SPDX-License-Identifier: Apache-2.0

#include "Neighbours.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace dlc::codegen;
using namespace dlc::codegen::gpu;

int64_t gpu::evenWidth(const LoopPlan &loops, unsigned dim, int64_t most) {
  std::optional<int64_t> extent = getConstantIntValue(loops.ranges[dim]);
  int64_t width = most;
  while (width > 1 && (!extent || *extent % width))
    width /= 2;
  return width;
}

Dims Neighbours::dimsOf(Value value) const {
  Dims dims(loops.ranges.size());
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != block)
      return dims;
    for (auto [dim, stride] :
         llvm::enumerate(loops.operands[argument.getArgNumber()].strides))
      if (stride)
        dims.set(dim);
    return dims;
  }
  Operation *defined = value.getDefiningOp();
  if (defined->getBlock() != block)
    return dims;
  if (auto index = dyn_cast<linalg::IndexOp>(defined)) {
    dims.set(index.getDim());
    return dims;
  }
  for (Value operand : defined->getOperands())
    dims |= dimsOf(operand);
  return dims;
}

const LoopOperand *Neighbours::operandOf(Value value) const {
  auto argument = dyn_cast_or_null<BlockArgument>(value);
  return argument && argument.getOwner() == block
             ? &loops.operands[argument.getArgNumber()]
             : nullptr;
}

/// Whether `index` is a multiple of `width` at all points.
static bool isMultiple(Value index, int64_t width) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return *constant % width == 0;
  Operation *defined = index.getDefiningOp();
  if (!defined)
    return false;
  if (auto apply = dyn_cast<affine::AffineApplyOp>(defined))
    return apply.getAffineMap().getResult(0).getLargestKnownDivisor() % width ==
           0;
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(defined))
    return false;
  bool first = isMultiple(defined->getOperand(0), width),
       second = isMultiple(defined->getOperand(1), width);
  return isa<arith::MulIOp>(defined) ? first || second : first && second;
}

/// Whether `index` grows by one with `dim`, from a multiple of `width`.
bool Neighbours::isStep(Value index, unsigned dim, int64_t width) const {
  if (auto own = index.getDefiningOp<linalg::IndexOp>())
    return own.getDim() == dim;
  auto sum = index.getDefiningOp<arith::AddIOp>();
  if (!sum)
    return false;
  for (auto [step, rest] : {std::pair(sum.getLhs(), sum.getRhs()),
                            std::pair(sum.getRhs(), sum.getLhs())})
    if (!dimsOf(rest).test(dim) && isMultiple(rest, width) &&
        isStep(step, dim, width))
      return true;
  return false;
}

int64_t Neighbours::widthAlong(Value element, unsigned dim,
                               int64_t most) const {
  int64_t width = evenWidth(loops, dim, most);
  const View *view = nullptr;
  SmallVector<Value> indices;
  if (const LoopOperand *operand = operandOf(element)) {
    view = operand->view;
    if (!view || operand->strides[dim] != 1)
      return 1;
    auto isOff = [&](int64_t wanted) {
      for (unsigned other = 0; other < loops.ranges.size(); ++other)
        if (other != dim && getConstantIntValue(loops.ranges[other]) != 1 &&
            operand->strides[other] % wanted)
          return true;
      return operand->constant % wanted != 0;
    };
    while (width > 1 && isOff(width))
      width /= 2;
  } else {
    auto load = element.getDefiningOp<memref::LoadOp>();
    view = &views.find(load.getMemRef())->second;
    auto isOff = [&](int64_t wanted) {
      bool isAlong = false;
      for (auto [index, stride] :
           llvm::zip_equal(load.getIndices(), view->strides)) {
        if (!dimsOf(index).test(dim)) {
          if (stride % wanted && !isMultiple(index, wanted))
            return true;
          continue;
        }
        if (stride != 1 || !isStep(index, dim, wanted))
          return true;
        isAlong = true;
      }
      return !isAlong;
    };
    while (width > 1 && isOff(width))
      width /= 2;
  }
  while (width > 1 && view->offset && !isMultiple(view->offset, width))
    width /= 2;
  return width;
}
