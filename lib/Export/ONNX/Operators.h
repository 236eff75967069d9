// SPDX-License-Identifier: Apache-2.0
//
// The table of operations: one row for each of Graph, with the operator of ONNX
// that it becomes. Families keep their rows beside their functions.

#ifndef DLC_LIB_EXPORT_ONNX_OPERATORS_H
#define DLC_LIB_EXPORT_ONNX_OPERATORS_H

#include "NodeContext.h"

namespace dlc::exporter {

struct Row {
  llvm::StringLiteral operation; ///< Without "graph.".
  /// The operator that it becomes, of the same operands, attributes and
  /// results, or what `write` is about.
  llvm::StringLiteral node;
  /// The opset that it needs, at least. An older one gets a composition, where
  /// the operation has one.
  uint8_t since = 17;
  /// Null: one node with the same operands, attributes and results.
  void (*write)(NodeContext &) = nullptr;
};

/// The row of an operation, by its mnemonic, or null.
const Row *findRow(llvm::StringRef mnemonic);

using Rows = llvm::ArrayRef<Row>();

Rows binaryRows;
Rows contractionRows;
Rows imageRows;
Rows indexingRows;
Rows movementRows;
Rows normalizationRows;
Rows poolingRows;
Rows quantizationRows;
Rows recurrentRows;
Rows reductionRows;
Rows refusedRows;
Rows signalRows;
Rows unaryRows;

} // namespace dlc::exporter

#endif // DLC_LIB_EXPORT_ONNX_OPERATORS_H
