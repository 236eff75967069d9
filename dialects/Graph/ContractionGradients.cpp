// SPDX-License-Identifier: Apache-2.0
//
// Gradients of matrix products and convolutions.

#include "Correlation.h"

using namespace mlir;
using namespace dlc::graph;

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// All matrices of `x` one below the other.
static Value stacked(Formula &f, Value x) {
  auto type = Formula::typeOf(x);
  int64_t rows = 1;
  for (int64_t extent : type.getShape().drop_back())
    rows *= extent;
  return f.reshape(x, {rows, type.getShape().back()});
}

LogicalResult MatmulOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  Formula f(gradients);
  Value g = gradients.ofResult(), a = getA(), b = getB();
  gradients.give(0, [&] { return f.make<MatmulOp>(g, f.turned(b)); });
  gradients.give(1, [&] {
    // One product sums over the batch, too.
    if (Formula::typeOf(b).getRank() == 2)
      return f.make<MatmulOp>(f.turned(stacked(f, a)), stacked(f, g));
    return f.make<MatmulOp>(f.turned(a), g);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// One number per channel, dimension 1.
static Value sumPerChannel(Formula &f, Value x) {
  SmallVector<int64_t> axes = {0};
  for (int64_t axis = 2; axis < Formula::typeOf(x).getRank(); ++axis)
    axes.push_back(axis);
  return f.sumOver(x, axes, /*keepdims=*/false);
}

LogicalResult ConvOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  std::optional<Correlation> correlation = correlationOf(*this);
  if (!correlation)
    return gradients.fail("expected channels that are not in blocks");
  Formula f(gradients);
  Value g = gradients.ofResult();
  // Without elements, the image counts for nothing.
  if (Formula::typeOf(getX()).getNumElements() > 0) {
    gradients.give(0, [&] { return correlation->spread(f, g, getW()); });
    gradients.give(1,
                   [&] { return correlation->weightGradient(f, getX(), g); });
  }
  if (getBias())
    gradients.give(2, [&] { return sumPerChannel(f, g); });
  return success();
}

/// The sums are of products of both operands and the weights' gradient.
LogicalResult ConvWeightGradientOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  std::optional<Correlation> correlation = correlationOf(*this);
  if (!correlation)
    return gradients.fail("expected channels that are not in blocks");
  Formula f(gradients);
  Value g = gradients.ofResult();
  gradients.give(0, [&] { return correlation->spread(f, getG(), g); });
  gradients.give(1, [&] { return correlation->correlate(f, getX(), g); });
  return success();
}

LogicalResult ConvTransposeOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  std::optional<Correlation> correlation = correlationOf(*this);
  if (!correlation)
    return gradients.fail("expected no output_padding beside output_shape or "
                          "automatic padding");
  Formula f(gradients);
  Value g = gradients.ofResult();
  if (Formula::typeOf(getX()).getNumElements() > 0) {
    gradients.give(0, [&] { return correlation->correlate(f, g, getW()); });
    gradients.give(1,
                   [&] { return correlation->weightGradient(f, g, getX()); });
  }
  if (getBias())
    gradients.give(2, [&] { return sumPerChannel(f, g); });
  return success();
}
