// SPDX-License-Identifier: Apache-2.0

#include "Operators.h"

using namespace dlc::onnx;

const Operator *dlc::onnx::findOperator(llvm::StringRef name, int64_t opset,
                                        bool &known) {
  // Built once, on first use; rows live in constant tables.
  static const auto index = [] {
    llvm::DenseMap<llvm::StringRef, llvm::SmallVector<const Operator *>> map;
    for (auto family :
         {attentionOperators, binaryOperators, constantOperators,
          contractionOperators, controlFlowOperators, imageOperators,
          indexingOperators, lossOperators, movementOperators,
          normalizationOperators, poolingOperators, quantizationOperators,
          recurrentOperators, reductionOperators, refusedOperators,
          signalOperators, unaryOperators})
      for (const Operator &row : family())
        map[row.name].push_back(&row);
    return map;
  }();
  auto rows = index.find(name);
  known = rows != index.end();
  const Operator *best = nullptr;
  if (known)
    for (const Operator *row : rows->second)
      if (row->since <= opset && (!best || row->since > best->since))
        best = row;
  return best;
}
