// SPDX-License-Identifier: Apache-2.0

#include "dlc/Analysis/IndexedGraph.h"

#include "mlir/IR/Region.h"

#include <algorithm>

using namespace mlir;
using namespace dlc::analysis;

IndexedGraph::IndexedGraph(Block &block) {
  auto add = [&](Value value) {
    ids.try_emplace(value, values.size());
    values.push_back(value);
  };
  for (Value argument : block.getArguments())
    add(argument);
  resultRows.push_back(values.size());
  for (Operation &op : block.without_terminator()) {
    operations.push_back(&op);
    for (Value result : op.getResults())
      add(result);
    resultRows.push_back(values.size());
  }
  for (Operation *op : operations) {
    addOperands(op, block);
    operandRows.push_back(operandEdges.size());
  }
  for (Value value : block.getTerminator()->getOperands())
    outputEdges.push_back(entryId(value));
  addReaders();
}

void IndexedGraph::addOperands(Operation *op, Block &block) {
  for (Value operand : op->getOperands())
    operandEdges.push_back(entryId(operand));
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (operand.getParentBlock() == &block)
          operandEdges.push_back(entryId(operand));
    });
}

void IndexedGraph::addReaders() {
  references.resize(values.size());
  for (EntryId entry : operandEdges)
    ++references[entry];
  readerRows.assign(1, 0);
  for (uint32_t count : references)
    readerRows.push_back(readerRows.back() + count);
  std::vector<uint32_t> next(readerRows.begin(), readerRows.end() - 1);
  readerEdges.resize(operandEdges.size());
  for (NodeId node = 0; node < nodeCount(); ++node)
    for (auto [i, entry] : llvm::enumerate(operands(node)))
      readerEdges[next[entry]++] = {node, static_cast<uint32_t>(i)};
  for (EntryId entry : outputEdges)
    ++references[entry];
}

std::optional<IndexedGraph::NodeId> IndexedGraph::maker(EntryId entry) const {
  if (entry < argumentCount())
    return std::nullopt;
  auto after = std::upper_bound(resultRows.begin(), resultRows.end(), entry);
  return after - resultRows.begin() - 1;
}
