// SPDX-License-Identifier: Apache-2.0
//
// Import functions for operators that a Graph operation expresses directly.

#ifndef DLC_LIB_FRONTEND_ONNX_OPERATORS_SIMPLE_H
#define DLC_LIB_FRONTEND_ONNX_OPERATORS_SIMPLE_H

#include "../Operators.h"

#include <algorithm>

namespace dlc::onnx {

/// A string as a template argument: the mnemonic of a Graph operation.
template <size_t N> struct Mnemonic {
  constexpr Mnemonic(const char (&text)[N]) { std::copy_n(text, N, chars); }
  llvm::StringRef str() const { return llvm::StringRef(chars, N - 1); }
  char chars[N];
};

/// Every present operand in order, no attributes, one result.
template <Mnemonic name> void importSimple(NodeContext &n) {
  llvm::SmallVector<mlir::Value> operands;
  for (size_t i = 0; i < n.inputCount(); ++i)
    operands.push_back(n.in(i));
  if (n.opset < 6)
    n.ignore({"consumed_inputs"});
  n.set(0, n.b.op(name.str(), operands));
}

/// Makes an operand that may be a scalar or a vector of one element a scalar.
inline mlir::Value asScalar(NodeContext &n, mlir::Value value) {
  if (GraphBuilder::rankOf(value).value_or(0) == 0)
    return value;
  return n.b.reshape(value, {});
}

/// 0, 1, ..., count - 1.
inline Ints firstInts(int64_t count, int64_t begin = 0) {
  Ints values;
  for (int64_t i = begin; i < count; ++i)
    values.push_back(i);
  return values;
}

} // namespace dlc::onnx

#endif // DLC_LIB_FRONTEND_ONNX_OPERATORS_SIMPLE_H
