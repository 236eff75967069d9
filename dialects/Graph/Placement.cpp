// SPDX-License-Identifier: Apache-2.0

#include "dlc/dialects/Graph/Placement.h"

#include "dlc/dialects/Graph/Gradients.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

#define GET_OP_CLASSES
#include "dlc/dialects/Graph/GraphPlacement.cpp.inc"

DeviceAttr dlc::graph::getDevice(Operation *op) {
  auto device =
      dyn_cast_or_null<DeviceAttr>(op->getDiscardableAttr(kDeviceAttr));
  return device ? device : getDefaultDevice(op->getContext());
}

DeviceAttr dlc::graph::getDevice(Value value) {
  if (Operation *op = value.getDefiningOp())
    return getDevice(op);
  auto argument = cast<BlockArgument>(value);
  DeviceAttr device;
  if (auto function = dyn_cast_or_null<FunctionOpInterface>(
          argument.getOwner()->getParentOp()))
    device = function.getArgAttrOfType<DeviceAttr>(argument.getArgNumber(),
                                                   kArgumentDeviceAttr);
  return device ? device : getDefaultDevice(value.getContext());
}

void dlc::graph::copyPlacement(Operation *op, Operation *built) {
  if (built->getDiscardableAttr(kDeviceAttr) ||
      built->getDiscardableAttr(kGroupAttr) ||
      built->getDiscardableAttr(kPartAttr))
    return;
  for (StringRef name : {kDeviceAttr, kGroupAttr, kPartAttr})
    if (Attribute value = op->getDiscardableAttr(name))
      built->setDiscardableAttr(name, value);
}

void graph::copyPlacement(Operation *op, Operation *before,
                          OpBuilder &builder) {
  auto begin =
      before ? std::next(before->getIterator()) : op->getBlock()->begin();
  for (Operation &built : llvm::make_range(begin, builder.getInsertionPoint()))
    if (isComputed(&built))
      copyPlacement(op, &built);
}

LogicalResult CopyOp::buildGradients(Gradients &gradients) {
  gradients.give(0, gradients.ofResult());
  return success();
}
