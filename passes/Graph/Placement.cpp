// SPDX-License-Identifier: Apache-2.0

#include "Placement.h"

#include "dlc/dialects/Graph/GraphOps.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

PlacedFunction::PlacedFunction(func::FuncOp function)
    : function(function), graph(function.getBody().front()) {
  devices.insert(getDefaultDevice(function.getContext()));
  problem.valueCount = graph.entryCount();
  for (uint32_t argument : llvm::seq(graph.argumentCount()))
    problem.operations.push_back({{}, {argument}});
  for (uint32_t node : llvm::seq(graph.nodeCount())) {
    planning::placement::Operation op;
    llvm::append_range(op.operands, graph.operands(node));
    llvm::append_range(op.results, graph.results(node));
    op.isConstant = isa<ConstantOp, NoneOp>(graph.node(node));
    problem.operations.push_back(std::move(op));
  }
}

uint32_t PlacedFunction::numberOf(DeviceAttr device) {
  devices.insert(device);
  return llvm::find(devices, device) - devices.begin();
}
