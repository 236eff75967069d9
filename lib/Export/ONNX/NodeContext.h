// SPDX-License-Identifier: Apache-2.0
//
// What the export function of an operation sees: the operation, the names of
// its operands, and the model that it adds nodes to. Errors are told once for
// each operation.

#ifndef DLC_LIB_EXPORT_ONNX_NODECONTEXT_H
#define DLC_LIB_EXPORT_ONNX_NODECONTEXT_H

#include "ModelWriter.h"

#include "mlir/IR/Operation.h"

#include <functional>
#include <optional>
#include <set>

namespace dlc::exporter {

using Names = std::vector<std::string>;
using Attributes = std::vector<Attribute>;
using Ints = std::vector<int64_t>;

/// A model in the making and the names in it.
struct ModelState {
  ModelWriter writer;
  int64_t opset = 0;
  /// The opset that is needed, as far as it is known.
  int64_t neededOpset = 0;
  /// A newer opset may be taken.
  bool isFree = false;
  llvm::DenseMap<mlir::Value, std::string> names;
  /// Writes a constant and gives its name.
  std::function<std::string(mlir::Value)> nameConstant;
  std::set<std::string, std::less<>> usedNames, usedNodeNames;
  size_t constants = 0;

  /// The name of a value that was computed, or of a constant.
  const std::string &nameOf(mlir::Value value);

  /// `wish`, or one made of it that nothing has.
  static std::string unique(std::set<std::string, std::less<>> &used,
                            const std::string &wish);
};

class NodeContext {
public:
  /// `name` is that of the nodes; the first gets it, others one made of it.
  NodeContext(mlir::Operation *op, std::string name, ModelState &model)
      : op(op), model(model), name(std::move(name)) {}

  mlir::Operation *const op;
  int64_t opset() const { return model.opset; }
  bool failed() const { return hasFailed; }

  // Operands.

  unsigned inputCount() const { return op->getNumOperands(); }
  /// Neither left out nor none.
  bool has(unsigned index) const;
  mlir::Value value(unsigned index) const { return op->getOperand(index); }
  /// The name of an operand; "" where it is absent.
  std::string in(unsigned index) const;
  /// The name of a value that an operand was made of.
  std::string nameOf(mlir::Value value) const { return model.nameOf(value); }
  /// All, without absent ones at the end.
  Names inputs() const;
  mlir::Type elementOf(unsigned index) const;
  /// -1 where it is not known.
  int64_t rankOf(unsigned index) const;
  std::optional<Ints> constantInts(unsigned index) const;

  // Attributes. What an operation does not say has Graph's default, which is
  // ONNX's.

  Ints ints(llvm::StringRef attribute) const;
  int64_t getInt(llvm::StringRef attribute, int64_t fallback) const;
  bool getBool(llvm::StringRef attribute, bool fallback) const;
  float getFloat(llvm::StringRef attribute, float fallback) const;
  std::string getString(llvm::StringRef attribute,
                        llvm::StringRef fallback) const;
  /// Those of the operation under their names, but for lists without elements
  /// and for `except`.
  Attributes
  attributes(std::initializer_list<llvm::StringRef> except = {}) const;

  // Nodes.

  /// A node with one output that other nodes of this operation read.
  std::string node(llvm::StringRef type, Names inputs,
                   Attributes attributes = {});
  /// The node that gives the results, the first `outputs` of them.
  void result(llvm::StringRef type, Names inputs, Attributes attributes = {});
  /// Constants.
  std::string ints(llvm::ArrayRef<int64_t> values);
  std::string intScalar(int64_t value);
  /// A scalar of the element type of operand `index`.
  std::string scalarLike(unsigned index, double value);
  /// Floats of the element type of operand `index`.
  std::string floatsLike(unsigned index, llvm::ArrayRef<int64_t> shape,
                         llvm::ArrayRef<double> values);

  // Checks. After a failure nothing is written.

  /// The opset must be at least that, for `what`.
  bool needs(int64_t since, const llvm::Twine &what);
  void unsupported(const llvm::Twine &what);

private:
  std::string nodeName();
  std::string constant(mlir::DenseElementsAttr value);

  ModelState &model;
  std::string name;
  bool hasFailed = false;
};

} // namespace dlc::exporter

#endif // DLC_LIB_EXPORT_ONNX_NODECONTEXT_H
