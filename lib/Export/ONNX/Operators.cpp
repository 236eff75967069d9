// SPDX-License-Identifier: Apache-2.0

#include "Operators.h"

#include "llvm/ADT/StringMap.h"

using namespace dlc::exporter;

const Row *dlc::exporter::findRow(llvm::StringRef mnemonic) {
  // Built once, on first use; rows live in constant tables.
  static const auto index = [] {
    llvm::StringMap<const Row *> map;
    for (Rows *family :
         {binaryRows, contractionRows, imageRows, indexingRows, movementRows,
          normalizationRows, poolingRows, quantizationRows, recurrentRows,
          reductionRows, refusedRows, signalRows, unaryRows})
      for (const Row &row : family())
        map[row.operation] = &row;
    return map;
  }();
  return index.lookup(mnemonic);
}
