// SPDX-License-Identifier: Apache-2.0
//
// The gradient of dequantisation, by its scale. Quantisation has none
// (RoundsToIntegers).

#include "Formula.h"

using namespace mlir;
using namespace dlc::graph;

/// The sums of `x` over `block` neighbours each along `axis`; the last block
/// may have fewer.
static Value sumBlocks(Formula &f, Value x, int64_t axis, int64_t block) {
  SmallVector<int64_t> shape(Formula::typeOf(x).getShape());
  block = std::min(block, std::max<int64_t>(shape[axis], 1));
  int64_t count = (shape[axis] + block - 1) / block;
  if (int64_t more = count * block - shape[axis])
    x = f.make<PadOp>(x, f.ints({0, more}), f.number(x, 0), f.ints(axis));
  shape[axis] = block;
  shape.insert(shape.begin() + axis, count);
  return f.sumOver(f.reshape(x, shape), axis + 1, /*keepdims=*/false);
}

/// y = (x - zero_point) * scale, so that x with a scale of 1 is the factor.
LogicalResult DequantizeLinearOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  gradients.give(1, [&] {
    Formula f(gradients);
    auto scale = Formula::typeOf(getScale());
    Value ones = f.full(scale, 1);
    Value factor =
        DequantizeLinearOp::create(f.builder, f.loc, getX(), ones,
                                   getZeroPoint(), getAxis(), getBlockSize());
    Value each = f.mul(gradients.ofResult(), factor);
    int64_t rank = Formula::typeOf(each).getRank();
    if (int64_t block = getBlockSize())
      return sumBlocks(f, each, wrapAxis(getAxis(), rank), block);
    SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(rank));
    if (scale.getNumElements() > 1)
      axes.erase(axes.begin() + wrapAxis(getAxis(), rank));
    return f.reshape(f.sumOver(each, axes, /*keepdims=*/false),
                     scale.getShape());
  });
  return success();
}
