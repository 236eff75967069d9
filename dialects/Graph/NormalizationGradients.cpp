// SPDX-License-Identifier: Apache-2.0
//
// Gradients of normalisations that are simpler than those of the operations
// that they decompose into. The others have the gradients of those.

#include "Formula.h"

using namespace mlir;
using namespace dlc::graph;

LogicalResult SoftmaxOp::buildGradients(Gradients &gradients) {
  gradients.give(0, [&] {
    Formula f(gradients);
    Value g = gradients.ofResult();
    Value mean = f.sum(f.mul(g, getY()), getAxis());
    return f.mul(f.sub(g, mean), getY());
  });
  return success();
}

LogicalResult LogSoftmaxOp::buildGradients(Gradients &gradients) {
  gradients.give(0, [&] {
    Formula f(gradients);
    Value g = gradients.ofResult();
    Value sum = f.sum(g, getAxis());
    return f.sub(g, f.mul(f.exp(getY()), sum));
  });
  return success();
}

/// Steps: zero almost everywhere.
LogicalResult HardmaxOp::buildGradients(Gradients &) { return success(); }
