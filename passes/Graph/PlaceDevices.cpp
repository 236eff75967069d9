// SPDX-License-Identifier: Apache-2.0
//
// graph-place-devices: which operation runs where. The decision is
// Planning/Placement's; here groups get their devices, and operations what was
// decided.

#include "Placement.h"

#include "dlc/dialects/Base/Devices.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace dlc::graph {
#define GEN_PASS_DEF_PLACEDEVICESPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;
namespace placement = dlc::planning::placement;

namespace {

/// The devices that a caller gives to groups.
struct Groups {
  llvm::StringMap<DeviceAttr> devices;
  llvm::StringMap<bool> isUsed;

  LogicalResult read(func::FuncOp function, ArrayRef<std::string> texts);
  /// The device that `group` (null: none) asks for, null for none; `what`
  /// begins the message when there is none for it.
  FailureOr<DeviceAttr> find(StringAttr group,
                             function_ref<InFlightDiagnostic()> what);
  std::string known() const;
};

struct PlaceDevices : graph::impl::PlaceDevicesPassBase<PlaceDevices> {
  using PlaceDevicesPassBase::PlaceDevicesPassBase;
  void runOnOperation() override;
};

} // namespace

//===----------------------------------------------------------------------===//
// Collect: who asks for what
//===----------------------------------------------------------------------===//

LogicalResult Groups::read(func::FuncOp function, ArrayRef<std::string> texts) {
  for (StringRef text : texts) {
    auto [name, device] = text.rsplit('=');
    DeviceAttr parsed = parseDevice(function.getContext(), device);
    if (name.empty() || !parsed || !isCompiledFor(parsed))
      return function.emitError("expected the device of a group like "
                                "head=cpu:1, of kind cpu or null, got '")
             << text << "'";
    if (!devices.try_emplace(name, parsed).second)
      return function.emitError("expected one device of group '")
             << name << "', got two";
  }
  return success();
}

std::string Groups::known() const {
  SmallVector<StringRef> names(devices.keys());
  llvm::sort(names);
  return llvm::join(names, ", ");
}

FailureOr<DeviceAttr> Groups::find(StringAttr group,
                                   function_ref<InFlightDiagnostic()> what) {
  if (!group || devices.empty())
    return DeviceAttr();
  DeviceAttr device = devices.lookup(group);
  if (!device)
    return what() << "expected a group with a device (" << known()
                  << "), got group '" << group.getValue() << "'";
  isUsed[group] = true;
  return device;
}

/// Puts what operations and arguments ask for into the problem.
static LogicalResult collect(PlacedFunction &placed, Groups &groups) {
  func::FuncOp function = placed.function;
  for (uint32_t i : llvm::seq(placed.graph.argumentCount())) {
    auto asked = function.getArgAttrOfType<DeviceAttr>(i, kArgumentDeviceAttr);
    auto grouped =
        groups.find(function.getArgAttrOfType<StringAttr>(i, kGroupAttr), [&] {
          return emitError(function.getArgument(i).getLoc());
        });
    if (failed(grouped))
      return failure();
    if (DeviceAttr device = asked ? asked : *grouped)
      placed.problem.operations[i].device = placed.numberOf(device);
  }
  for (uint32_t i : llvm::seq(placed.graph.nodeCount())) {
    Operation *op = placed.graph.node(i);
    auto asked =
        dyn_cast_or_null<DeviceAttr>(op->getDiscardableAttr(kDeviceAttr));
    auto grouped = groups.find(
        dyn_cast_or_null<StringAttr>(op->getDiscardableAttr(kGroupAttr)),
        [&] { return op->emitOpError(); });
    if (failed(grouped))
      return failure();
    if (DeviceAttr device = asked ? asked : *grouped)
      placed.operation(i).device = placed.numberOf(device);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Rewrite
//===----------------------------------------------------------------------===//

/// Writes the devices down: all of them, or none where all is on cpu:0.
static void rewrite(PlacedFunction &placed, ArrayRef<uint32_t> devices) {
  bool isSpread = llvm::any_of(devices, [](uint32_t id) { return id != 0; });
  func::FuncOp function = placed.function;
  uint32_t arguments = placed.graph.argumentCount();
  for (uint32_t i : llvm::seq(arguments)) {
    function.removeArgAttr(i, kGroupAttr);
    function.removeArgAttr(i, kArgumentDeviceAttr);
    if (isSpread)
      function.setArgAttr(i, kArgumentDeviceAttr, placed.devices[devices[i]]);
  }
  for (uint32_t i : llvm::seq(placed.graph.nodeCount())) {
    Operation *op = placed.graph.node(i);
    op->removeDiscardableAttr(kGroupAttr);
    op->removeDiscardableAttr(kDeviceAttr);
    if (isSpread)
      op->setDiscardableAttr(kDeviceAttr,
                             placed.devices[devices[arguments + i]]);
  }
}

void PlaceDevices::runOnOperation() {
  func::FuncOp function = getOperation();
  Groups known;
  if (failed(known.read(function, llvm::to_vector(groups))))
    return signalPassFailure();
  if (function.isExternal())
    return;
  PlacedFunction placed(function);
  if (failed(collect(placed, known)))
    return signalPassFailure();
  for (const std::string &text : groups)
    if (StringRef name = StringRef(text).rsplit('=').first;
        !known.isUsed.contains(name))
      function.emitWarning("no operation is in group '") << name << "'";
  std::vector<uint32_t> devices = placement::place(placed.problem);
  rewrite(placed, devices);
  remark::passed(function.getLoc(), remark::RemarkOpts::name("PlaceDevices")
                                        .category("graph-place-devices")
                                        .function(function.getName()))
      << remark::add("placed")
      << remark::metric("Devices", placed.devices.size())
      << remark::metric("Operations", placed.graph.nodeCount());
}
