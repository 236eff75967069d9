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
    auto [name, device] = readGroup(function.getContext(), text);
    if (name.empty() || !device)
      return function.emitError("expected the device of a group like "
                                "head=cpu:1, of kind cpu, cuda or null, got '")
             << text << "'";
    if (!devices.try_emplace(name, device).second)
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
    return what() << "expected a device of group '" << group.getValue()
                  << "', got those of " << known();
  isUsed[group] = true;
  return device;
}

namespace {
/// Where something is: in a group, if any, and on a device.
using Place = std::pair<StringAttr, DeviceAttr>;

/// Places by number; the first is that of what nobody asks a place for.
struct Places : Numbering<Place> {
  explicit Places(MLIRContext *context)
      : Numbering({StringAttr(), getDefaultDevice(context)}) {}

  /// The number of what is asked for, by its attributes; `grouped` is the
  /// device of the group.
  uint32_t ask(Attribute group, Attribute device, DeviceAttr grouped);
};
} // namespace

/// A group is a place of its own wherever it runs: kernels keep within it, so
/// that what they compute depends on the groups alone and not on devices.
uint32_t Places::ask(Attribute group, Attribute device, DeviceAttr grouped) {
  auto name = dyn_cast_or_null<StringAttr>(group);
  auto asked = dyn_cast_or_null<DeviceAttr>(device);
  if (!asked)
    asked = grouped ? grouped : (*this)[0].second;
  return name || device ? numberOf({name, asked}) : placement::kAnyDevice;
}

/// Puts what operations and arguments ask for into the problem.
static LogicalResult collect(PlacedFunction &placed, Groups &groups,
                             Places &places) {
  auto ask = [&](planning::placement::Operation &op, Attribute group,
                 Attribute device,
                 function_ref<InFlightDiagnostic()> what) -> LogicalResult {
    auto grouped = groups.find(dyn_cast_or_null<StringAttr>(group), what);
    if (succeeded(grouped))
      op.device = places.ask(group, device, *grouped);
    return grouped;
  };
  func::FuncOp function = placed.function;
  for (uint32_t i : llvm::seq(placed.graph.argumentCount()))
    if (failed(ask(
            placed.problem.operations[i], function.getArgAttr(i, kGroupAttr),
            function.getArgAttr(i, kArgumentDeviceAttr),
            [&] { return emitError(function.getArgument(i).getLoc()); })))
      return failure();
  for (uint32_t i : llvm::seq(placed.graph.nodeCount())) {
    Operation *op = placed.graph.node(i);
    if (failed(ask(placed.operation(i), op->getDiscardableAttr(kGroupAttr),
                   op->getDiscardableAttr(kDeviceAttr),
                   [&] { return op->emitOpError(); })))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Rewrite
//===----------------------------------------------------------------------===//

/// Writes the places down: all of them, or none where nothing is in a group and
/// all is on cpu:0. So functions that differ in devices only have the same
/// attributes, and passes find the same operations equal.
static void rewrite(PlacedFunction &placed, const Places &places,
                    ArrayRef<uint32_t> numbers, bool isOfGroups) {
  bool isPlaced = llvm::any_of(numbers, [](uint32_t id) { return id != 0; });
  if (!isPlaced)
    return;
  func::FuncOp function = placed.function;
  uint32_t arguments = placed.graph.argumentCount();
  for (uint32_t i : llvm::seq(arguments)) {
    auto [group, device] = places[numbers[i]];
    if (isOfGroups && !group)
      continue;
    // Who follows others stays in the caller's memory.
    if (!hasHostMemory(device) && !function.getArgAttr(i, kArgumentDeviceAttr))
      device = places[0].second;
    function.setArgAttr(i, kArgumentDeviceAttr, device);
    if (group)
      function.setArgAttr(i, kGroupAttr, group);
  }
  for (uint32_t i : llvm::seq(placed.graph.nodeCount())) {
    Operation *op = placed.graph.node(i);
    auto [group, device] = places[numbers[arguments + i]];
    if (isOfGroups && !group)
      continue;
    op->setDiscardableAttr(kDeviceAttr, device);
    // Constants are in every group that reads them.
    if (group && !placed.operation(i).isConstant)
      op->setDiscardableAttr(kGroupAttr, group);
  }
}

void PlaceDevices::runOnOperation() {
  func::FuncOp function = getOperation();
  Groups known;
  if (failed(known.read(function, llvm::to_vector(groups))))
    return signalPassFailure();
  if (!function.getBody().hasOneBlock())
    return;
  PlacedFunction placed(function);
  Places places(&getContext());
  if (failed(collect(placed, known, places)))
    return signalPassFailure();
  for (const std::string &text : groups)
    if (StringRef name = StringRef(text).rsplit('=').first;
        !known.isUsed.contains(name))
      function.emitWarning("no operation is in group '") << name << "'";
  std::vector<uint32_t> numbers = placement::place(placed.problem);
  rewrite(placed, places, numbers, isOfGroups);
  llvm::SmallDenseSet<DeviceAttr> devices;
  for (uint32_t number : numbers)
    devices.insert(places[number].second);
  remark::passed(function.getLoc(), remark::RemarkOpts::name("PlaceDevices")
                                        .category("graph-place-devices")
                                        .function(function.getName()))
      << remark::add("placed") << remark::metric("Devices", devices.size())
      << remark::metric("Operations", placed.graph.nodeCount());
}
