// SPDX-License-Identifier: Apache-2.0
//
// The table of operators: one row per operator and version with another
// meaning or signature. Families keep their rows beside their functions.

#ifndef DLC_LIB_FRONTEND_ONNX_OPERATORS_H
#define DLC_LIB_FRONTEND_ONNX_OPERATORS_H

#include "NodeContext.h"

namespace dlc::onnx {

/// The versions of ai.onnx that the tables cover.
inline constexpr int64_t kFirstOpset = 1, kLastOpset = 28;
/// The IR versions with the encoding that Reader.cpp knows.
inline constexpr int64_t kFirstIrVersion = 3, kLastIrVersion = 14;

/// Any number of operands or results.
inline constexpr uint8_t kAny = 255;

using ImportFunction = void (*)(NodeContext &);

/// One operator since one opset, until its next row.
struct Operator {
  llvm::StringLiteral name;
  uint8_t since;
  uint8_t minInputs, maxInputs; ///< The first minInputs must be present.
  uint8_t maxOutputs;
  /// Null: the operator was removed here, or is refused.
  ImportFunction import;
  /// What is unsupported, whatever a node is like; empty: nothing.
  llvm::StringLiteral refused = "";
};

/// The row of `name` in force in `opset`, or null. `known` tells whether any
/// version of the operator exists.
const Operator *findOperator(llvm::StringRef name, int64_t opset, bool &known);

/// That of an operator of com.microsoft, of which there is one version.
inline constexpr llvm::StringLiteral kMicrosoftDomain = "com.microsoft";
const Operator *findMicrosoftOperator(llvm::StringRef name);

/// "operator Conv", the one of a name like `name`, or "".
std::string nearestOperator(std::string_view name);

llvm::ArrayRef<Operator> microsoftOperators();

// The families of ai.onnx.
llvm::ArrayRef<Operator> attentionOperators();
llvm::ArrayRef<Operator> binaryOperators();
llvm::ArrayRef<Operator> constantOperators();
llvm::ArrayRef<Operator> contractionOperators();
llvm::ArrayRef<Operator> controlFlowOperators();
llvm::ArrayRef<Operator> imageOperators();
llvm::ArrayRef<Operator> indexingOperators();
llvm::ArrayRef<Operator> lossOperators();
llvm::ArrayRef<Operator> movementOperators();
llvm::ArrayRef<Operator> normalizationOperators();
llvm::ArrayRef<Operator> poolingOperators();
llvm::ArrayRef<Operator> quantizationOperators();
llvm::ArrayRef<Operator> recurrentOperators();
llvm::ArrayRef<Operator> reductionOperators();
llvm::ArrayRef<Operator> refusedOperators();
llvm::ArrayRef<Operator> signalOperators();
llvm::ArrayRef<Operator> unaryOperators();

} // namespace dlc::onnx

#endif // DLC_LIB_FRONTEND_ONNX_OPERATORS_H
