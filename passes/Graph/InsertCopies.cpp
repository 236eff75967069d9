// SPDX-License-Identifier: Apache-2.0
//
// graph-insert-copies: values that are needed on several devices. Which copies
// there are decides Planning/Placement.

#include "Placement.h"

#include "dlc/dialects/Base/Devices.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Ports.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/IR/Remarks.h"

namespace dlc::graph {
#define GEN_PASS_DEF_INSERTCOPIESPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;
namespace placement = dlc::planning::placement;

/// Where everything is, as attributes say; what updates an argument is written
/// where that is. Copies read on any device: to their problem they are values
/// of their own.
static std::vector<uint32_t> collect(PlacedFunction &placed,
                                     Numbering<DeviceAttr> &numbering) {
  std::vector<uint32_t> devices;
  for (uint32_t i : llvm::seq(placed.graph.argumentCount()))
    devices.push_back(numbering.numberOf(getDevice(placed.graph.entry(i))));
  for (uint32_t i : llvm::seq(placed.graph.nodeCount())) {
    devices.push_back(numbering.numberOf(getDevice(placed.graph.node(i))));
    if (isa<CopyOp>(placed.graph.node(i)))
      placed.operation(i).operands.clear();
  }
  for (unsigned argument : placed.updated)
    devices.push_back(devices[argument]);
  DeviceAttr host = getDefaultDevice(placed.function.getContext());
  // Results are the caller's, in memory of the host.
  for (auto [argument, entry] :
       llvm::zip_equal(findUpdates(placed.function), placed.graph.outputs()))
    if (!argument && !hasHostMemory(getDevice(placed.graph.entry(entry)))) {
      placed.problem.operations.push_back({{entry}, {}});
      devices.push_back(numbering.numberOf(host));
    }
  return devices;
}

/// True if `use` is to be served on `device`. `updates`: what results update.
static bool isServedOn(Block &body, ArrayRef<BlockArgument> updates,
                       OpOperand &use, DeviceAttr device) {
  Operation *user = body.findAncestorOpInBlock(*use.getOwner());
  if (isa<func::ReturnOp>(user)) {
    BlockArgument updated = updates[use.getOperandNumber()];
    if (!updated)
      return device == getDefaultDevice(device.getContext()) &&
             !hasHostMemory(getDevice(use.get()));
    return getDevice(Value(updated)) == device;
  }
  return !isa<CopyOp>(user) && getDevice(user) == device;
}

/// The value on another device, behind the value itself.
static Value build(OpBuilder &builder, Value value, bool isConstant,
                   DeviceAttr device) {
  builder.setInsertionPointAfterValue(value);
  Operation *built = isConstant
                         ? builder.clone(*value.getDefiningOp())
                         : CopyOp::create(builder, value.getLoc(), value);
  built->setDiscardableAttr(kDeviceAttr, device);
  return built->getResult(0);
}

namespace {
struct InsertCopies : graph::impl::InsertCopiesPassBase<InsertCopies> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function.getBody().hasOneBlock())
      return;
    PlacedFunction placed(function);
    Numbering<DeviceAttr> numbering(getDefaultDevice(&getContext()));
    std::vector<uint32_t> devices = collect(placed, numbering);
    std::vector<placement::Copy> copies =
        placement::planCopies(placed.problem, devices);
    OpBuilder builder(&getContext());
    SmallVector<BlockArgument> updates = findUpdates(function);
    int64_t constants = 0;
    for (const placement::Copy &copy : copies) {
      Value value = placed.graph.entry(copy.value);
      std::optional<uint32_t> maker = placed.graph.maker(copy.value);
      bool isConstant = maker && placed.operation(*maker).isConstant;
      DeviceAttr device = numbering[copy.device];
      Value there = build(builder, value, isConstant, device);
      value.replaceUsesWithIf(there, [&](OpOperand &use) {
        return isServedOn(function.getBody().front(), updates, use, device);
      });
      constants += isConstant;
    }
    remark::passed(function.getLoc(), remark::RemarkOpts::name("InsertCopies")
                                          .category("graph-insert-copies")
                                          .function(function.getName()))
        << remark::add("inserted")
        << remark::metric("Copies", copies.size() - constants)
        << remark::metric("Constants", constants);
  }
};
} // namespace
