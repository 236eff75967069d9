// SPDX-License-Identifier: Apache-2.0
//
// The custom directive of elementwise operations: one type when all are equal,
// a function type otherwise. Shared by the files of the families.

#ifndef DLC_DIALECTS_GRAPH_ASSEMBLY_H
#define DLC_DIALECTS_GRAPH_ASSEMBLY_H

#include "mlir/IR/OpImplementation.h"

namespace dlc::graph {

inline mlir::ParseResult parseElementwise(mlir::OpAsmParser &parser,
                                          llvm::ArrayRef<mlir::Type *> types) {
  llvm::SMLoc location = parser.getCurrentLocation();
  mlir::Type type;
  if (parser.parseType(type))
    return mlir::failure();
  auto function = llvm::dyn_cast<mlir::FunctionType>(type);
  if (!function) {
    for (mlir::Type *each : types)
      *each = type;
    return mlir::success();
  }
  if (function.getNumInputs() + 1 != types.size() ||
      function.getNumResults() != 1)
    return parser.emitError(location)
           << "expected " << types.size() - 1
           << " operand types and one result type, got " << type;
  for (auto [each, input] : llvm::zip(types, function.getInputs()))
    *each = input;
  *types.back() = function.getResult(0);
  return mlir::success();
}

template <typename... Types>
mlir::ParseResult parseElementwiseTypes(mlir::OpAsmParser &parser,
                                        Types &...types) {
  return parseElementwise(parser, {&types...});
}

template <typename... Types>
void printElementwiseTypes(mlir::OpAsmPrinter &printer, mlir::Operation *,
                           Types... types) {
  llvm::SmallVector<mlir::Type, 4> all{types...};
  if (llvm::all_equal(all)) {
    printer << all.back();
    return;
  }
  printer << mlir::FunctionType::get(
      all.back().getContext(), llvm::ArrayRef(all).drop_back(), all.back());
}

} // namespace dlc::graph

#endif // DLC_DIALECTS_GRAPH_ASSEMBLY_H
