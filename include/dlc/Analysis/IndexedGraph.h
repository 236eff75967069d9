// SPDX-License-Identifier: Apache-2.0
//
// A block of operations in arrays: operations (nodes) and values (entries) have
// dense numbers, and edges are compressed rows, so that a pass describes its
// problem to lib/Planning as plain data. A snapshot: it does not see later
// changes of the block.

#ifndef DLC_ANALYSIS_INDEXEDGRAPH_H
#define DLC_ANALYSIS_INDEXEDGRAPH_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Sequence.h"

#include <optional>

namespace dlc::analysis {

class IndexedGraph {
public:
  using NodeId = uint32_t;
  using EntryId = uint32_t;

  /// Operand `operand` of `node` is the entry. What the regions of an operation
  /// read of the block counts as operands after its own.
  struct Reader {
    NodeId node;
    uint32_t operand;
  };

  /// `block` ends in a terminator, which is no node.
  explicit IndexedGraph(mlir::Block &block);

  // Nodes, in the order of the block.

  NodeId nodeCount() const { return operations.size(); }
  mlir::Operation *node(NodeId id) const { return operations[id]; }

  // Entries: the block's arguments, then the results of nodes in order.

  EntryId entryCount() const { return values.size(); }
  mlir::Value entry(EntryId id) const { return values[id]; }
  EntryId entryId(mlir::Value value) const { return ids.at(value); }
  EntryId argumentCount() const { return resultRows.front(); }
  /// The node that makes an entry; nullopt for an argument.
  std::optional<NodeId> maker(EntryId entry) const;

  // Edges.

  llvm::ArrayRef<EntryId> operands(NodeId node) const {
    return row<EntryId>(operandEdges, operandRows, node);
  }
  /// The results of a node: consecutive numbers.
  llvm::iota_range<EntryId> results(NodeId node) const {
    return llvm::seq(resultRows[node], resultRows[node + 1]);
  }
  llvm::ArrayRef<Reader> readers(EntryId entry) const {
    return row<Reader>(readerEdges, readerRows, entry);
  }
  /// What the terminator reads, in order.
  llvm::ArrayRef<EntryId> outputs() const { return outputEdges; }
  /// How many operands of nodes and of the terminator an entry is.
  uint32_t referenceCount(EntryId entry) const { return references[entry]; }

private:
  template <typename T>
  static llvm::ArrayRef<T> row(llvm::ArrayRef<T> edges,
                               llvm::ArrayRef<uint32_t> rows, uint32_t i) {
    return edges.slice(rows[i], rows[i + 1] - rows[i]);
  }
  void addOperands(mlir::Operation *op, mlir::Block &block);
  void addReaders();

  std::vector<mlir::Operation *> operations;
  std::vector<mlir::Value> values;
  llvm::DenseMap<mlir::Value, EntryId> ids;
  std::vector<EntryId> operandEdges, outputEdges;
  std::vector<Reader> readerEdges;
  /// Where each row begins, and the end of the last.
  std::vector<uint32_t> operandRows{0}, readerRows, resultRows;
  std::vector<uint32_t> references;
};

} // namespace dlc::analysis

#endif // DLC_ANALYSIS_INDEXEDGRAPH_H
