// SPDX-License-Identifier: Apache-2.0

#include "Placement.h"

#include "dlc/dialects/Base/Devices.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Ports.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

std::pair<StringRef, dlc::DeviceAttr>
dlc::graph::readGroup(MLIRContext *context, StringRef text) {
  auto [name, device] = text.rsplit('=');
  return {name, parseDevice(context, device)};
}

PlacedFunction::PlacedFunction(func::FuncOp function)
    : function(function), graph(function.getBody().front()) {
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
  for (auto [argument, entry] :
       llvm::zip_equal(findUpdates(function), graph.outputs()))
    if (argument) {
      updated.push_back(argument.getArgNumber());
      problem.operations.push_back({{graph.entryId(argument), entry}, {}});
    }
}
