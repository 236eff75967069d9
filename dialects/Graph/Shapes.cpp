// SPDX-License-Identifier: Apache-2.0

#include "dlc/dialects/Graph/Shapes.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

bool dlc::graph::isStatic(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return isa<NoneType>(type) || (tensor && tensor.hasStaticShape());
}

bool dlc::graph::hasStaticTypes(Operation *op) {
  return llvm::all_of(op->getOperandTypes(), isStatic) &&
         llvm::all_of(op->getResultTypes(), isStatic);
}
