// SPDX-License-Identifier: Apache-2.0

#include "dlc/dialects/Graph/Shapes.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

bool dlc::graph::isStatic(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return isa<NoneType>(type) || (tensor && tensor.hasStaticShape());
}

bool dlc::graph::hasStaticTypes(Operation *op) {
  return llvm::all_of(op->getOperandTypes(), isStatic) &&
         llvm::all_of(op->getResultTypes(), isStatic);
}

bool dlc::graph::hasElements(Operation *op) {
  auto isFilled = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || tensor.getNumElements() > 0;
  };
  return hasStaticTypes(op) && llvm::all_of(op->getOperandTypes(), isFilled) &&
         llvm::all_of(op->getResultTypes(), isFilled);
}

int64_t dlc::graph::bytesOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() ||
      !tensor.getElementType().isIntOrFloat())
    return 0;
  auto bytes = static_cast<int64_t>(
      llvm::divideCeil(tensor.getElementTypeBitWidth(), 8));
  for (int64_t extent : tensor.getShape())
    if (llvm::MulOverflow(bytes, extent, bytes))
      return 0;
  return bytes;
}
