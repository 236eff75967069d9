// SPDX-License-Identifier: Apache-2.0

#include "Operators.h"

#include "dlc/Frontend/Faults.h"

using namespace dlc::onnx;

using Rows = llvm::ArrayRef<Operator>();

static constexpr Rows *families[] = {
    attentionOperators,     binaryOperators,      constantOperators,
    contractionOperators,   controlFlowOperators, imageOperators,
    indexingOperators,      lossOperators,        movementOperators,
    normalizationOperators, poolingOperators,     quantizationOperators,
    recurrentOperators,     reductionOperators,   refusedOperators,
    signalOperators,        unaryOperators};

const Operator *dlc::onnx::findOperator(llvm::StringRef name, int64_t opset,
                                        bool &known) {
  // Built once, on first use; rows live in constant tables.
  static const auto index = [] {
    llvm::DenseMap<llvm::StringRef, llvm::SmallVector<const Operator *>> map;
    for (Rows *family : families)
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

const Operator *dlc::onnx::findMicrosoftOperator(llvm::StringRef name) {
  for (const Operator &row : microsoftOperators())
    if (row.name == name)
      return &row;
  return nullptr;
}

std::string dlc::onnx::nearestOperator(std::string_view name) {
  std::vector<std::string_view> names;
  for (Rows *family : families)
    if (family != refusedOperators)
      for (const Operator &row : family())
        if (row.import)
          names.emplace_back(row.name.data(), row.name.size());
  std::string_view nearest = frontend::nearestName(name, names);
  return nearest.empty() ? "" : "operator " + std::string(nearest);
}
