// SPDX-License-Identifier: Apache-2.0
//
// Builds Graph operations by name, for all front ends. They depend on the
// dialect through names and interfaces only, so that their tables read like the
// specification of what they import.
//
// Failures stick: after the first one (always diagnosed) operations are no
// longer built, null values go in and come out, and failed() is true. A
// decomposition may therefore be written as one expression.

#ifndef DLC_FRONTEND_GRAPHBUILDER_H
#define DLC_FRONTEND_GRAPHBUILDER_H

#include "dlc/runtime/Base/Tensor.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <variant>

namespace dlc::frontend {

using Ints = llvm::SmallVector<int64_t>;

/// A named attribute from a plain C++ value; floats become F32Attr.
struct NamedValue {
  NamedValue(llvm::StringRef name, int value) : name(name), value(value) {}
  NamedValue(llvm::StringRef name, int64_t value) : name(name), value(value) {}
  NamedValue(llvm::StringRef name, bool value) : name(name), value(value) {}
  NamedValue(llvm::StringRef name, float value) : name(name), value(value) {}
  NamedValue(llvm::StringRef name, const char *value)
      : name(name), value(llvm::StringRef(value)) {}
  NamedValue(llvm::StringRef name, llvm::StringRef value)
      : name(name), value(value) {}
  NamedValue(llvm::StringRef name, llvm::ArrayRef<int64_t> value)
      : name(name), value(value) {}
  NamedValue(llvm::StringRef name, llvm::ArrayRef<float> value)
      : name(name), value(value) {}
  NamedValue(llvm::StringRef name, mlir::Type value)
      : name(name), value(value) {}

  llvm::StringRef name;
  std::variant<int64_t, bool, float, llvm::StringRef, llvm::ArrayRef<int64_t>,
               llvm::ArrayRef<float>, mlir::Type>
      value;
};

class GraphBuilder {
public:
  explicit GraphBuilder(mlir::OpBuilder builder)
      : builder(builder), loc(builder.getUnknownLoc()) {}

  void setLocation(mlir::Location location) { loc = location; }
  mlir::Location location() const { return loc; }
  mlir::MLIRContext *context() const { return builder.getContext(); }

  bool failed() const { return hasFailed; }
  /// Reports an error at the current location, once; `alternative` says what is
  /// supported instead, in a note.
  mlir::Value fail(const llvm::Twine &message,
                   llvm::StringRef alternative = {});
  /// Fails without an error: what this depends on was reported.
  void failAgain() { hasFailed = true; }
  /// Goes on behind a failure, with what does not depend on it.
  void recover() { hasFailed = false; }

  // Operations.

  /// Builds `graph.<mnemonic>` with inferred types; folds it when its operands
  /// are small constants.
  llvm::SmallVector<mlir::Value>
  ops(llvm::StringRef mnemonic, mlir::ValueRange operands,
      llvm::ArrayRef<NamedValue> attributes = {});
  /// The same for an operation with one result (or its first result).
  mlir::Value op(llvm::StringRef mnemonic, mlir::ValueRange operands,
                 llvm::ArrayRef<NamedValue> attributes = {});
  mlir::Value none();
  mlir::Value orNone(mlir::Value value) { return value ? value : none(); }

  // Constants.

  mlir::Value constant(mlir::ElementsAttr value);
  /// Small tensors inline, others as a resource over the same bytes, which
  /// `owner` keeps alive as long as the context; with a null owner they must
  /// outlive it. The type is static; the bytes are row-major, as many as it
  /// says, and aligned for its elements.
  mlir::Value constant(const rt::TensorType &type,
                       std::span<const std::byte> bytes,
                       std::shared_ptr<const void> owner, llvm::StringRef name);
  mlir::Value ints(llvm::ArrayRef<int64_t> values); ///< i64 vector.
  mlir::Value intScalar(int64_t value);             ///< i64 scalar.
  /// A scalar of the element type nearest to `value`.
  mlir::Value scalar(mlir::Type element, double value);
  /// A scalar of `like`'s element type.
  mlir::Value scalarLike(mlir::Value like, double value);
  mlir::Value splat(llvm::ArrayRef<int64_t> shape, mlir::Type element,
                    double value);

  // Movement and reductions, with parameters known at import.

  /// As ONNX says it: 0 copies the dimension of `x` at that place.
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  /// To these extents, of which 0 is one.
  mlir::Value reshapeTo(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value unsqueeze(mlir::Value x, llvm::ArrayRef<int64_t> axes);
  mlir::Value squeeze(mlir::Value x, llvm::ArrayRef<int64_t> axes);
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> perm);
  mlir::Value slice(mlir::Value x, int64_t axis, int64_t begin, int64_t end,
                    int64_t step = 1);
  mlir::Value concat(mlir::ValueRange parts, int64_t axis);
  mlir::Value reduce(llvm::StringRef mnemonic, mlir::Value x,
                     llvm::ArrayRef<int64_t> axes, bool keepDims);
  mlir::Value cast(mlir::Value x, mlir::Type element);
  mlir::Value castLike(mlir::Value x, mlir::Value like);
  /// f16 and bf16 as f32, for what one operation computes of several: no value in
  /// between is rounded, or too large. Other types stay.
  mlir::Value widen(mlir::Value x);
  /// The dimensions [begin, end) of x as an i64 vector; a constant when known.
  mlir::Value shapeOf(mlir::Value x, int64_t begin = 0,
                      int64_t end = INT64_MAX);
  /// The element type of float computations that f16 and bf16 are too short
  /// for: f32, or f64 for f64.
  mlir::Type wideFloat(mlir::Value x);

  mlir::Value add(mlir::Value a, mlir::Value b) { return op("add", {a, b}); }
  mlir::Value sub(mlir::Value a, mlir::Value b) { return op("sub", {a, b}); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return op("mul", {a, b}); }
  mlir::Value div(mlir::Value a, mlir::Value b) { return op("div", {a, b}); }

  // What is known of values; all accept null.

  static mlir::TensorType typeOf(mlir::Value value);
  static mlir::Type elementOf(mlir::Value value);
  static std::optional<int64_t> rankOf(mlir::Value value);
  /// kDynamic where unknown or when there is no such dimension.
  static int64_t dimOf(mlir::Value value, int64_t axis);
  /// All dimensions, when all are known.
  static std::optional<Ints> shapeIfStatic(mlir::Value value);
  /// The elements of a constant of integers or bool as int64_t.
  static std::optional<Ints> intsOf(mlir::Value value);
  /// The elements of a float constant.
  static std::optional<llvm::SmallVector<double>> floatsOf(mlir::Value value);
  static mlir::ElementsAttr constantOf(mlir::Value value);

  /// The MLIR type of an element type.
  mlir::Type elementType(rt::DataType type);
  mlir::Type i64() { return builder.getI64Type(); }
  mlir::Type f32() { return builder.getF32Type(); }
  mlir::Type boolean() { return builder.getI1Type(); }
  mlir::OpBuilder &opBuilder() { return builder; }

private:
  mlir::NamedAttribute convert(const NamedValue &attribute);
  llvm::SmallVector<mlir::Value> fold(mlir::Operation *op);

  mlir::OpBuilder builder;
  mlir::Location loc;
  bool hasFailed = false;
};

} // namespace dlc::frontend

#endif // DLC_FRONTEND_GRAPHBUILDER_H
