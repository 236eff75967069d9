// SPDX-License-Identifier: Apache-2.0
//
// What an operator's import function sees: one node, its operands as values,
// its attributes, and the builder. Errors stick in the builder.

#ifndef DLC_LIB_FRONTEND_ONNX_NODECONTEXT_H
#define DLC_LIB_FRONTEND_ONNX_NODECONTEXT_H

#include "Training.h"

#include "dlc/Frontend/GraphBuilder.h"
#include "dlc/Frontend/ONNX/Reader.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace dlc::onnx {

using frontend::GraphBuilder;
using frontend::Ints;
using frontend::NamedValue;

class NodeContext {
public:
  /// Imports an encoded subgraph in place, with values for its inputs, and
  /// gives its outputs.
  using SubgraphImporter = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      std::string_view, llvm::ArrayRef<mlir::Value>)>;
  /// Turns a tensor into a constant.
  using TensorImporter = llvm::function_ref<mlir::Value(const Tensor &)>;

  NodeContext(GraphBuilder &b, const Node &node, int64_t opset,
              llvm::ArrayRef<mlir::Value> operands,
              llvm::ArrayRef<const Attribute *> attributes,
              TensorImporter importTensor, SubgraphImporter importSubgraph,
              TrainingState *training)
      : b(b), node(node), opset(opset), operands(operands),
        attributes(attributes), importTensor(importTensor),
        importSubgraph(importSubgraph), training(training),
        results(node.outputs.size()) {}

  GraphBuilder &b;
  const Node &node;
  const int64_t opset; ///< Version of ai.onnx in force.

  // Operands and results.

  size_t inputCount() const { return operands.size(); }
  bool has(size_t index) const {
    return index < operands.size() && operands[index];
  }
  /// Operand `index`, or null when absent.
  mlir::Value in(size_t index) const {
    return has(index) ? operands[index] : mlir::Value();
  }
  /// True when the node names result `index`.
  bool wants(size_t index) const {
    return index < node.outputs.size() && !node.outputs[index].empty();
  }
  void set(size_t index, mlir::Value value) {
    if (index < results.size())
      results[index] = value;
  }
  /// Sets results 0, 1, ...
  void setAll(llvm::ArrayRef<mlir::Value> values) {
    for (auto [index, value] : llvm::enumerate(values))
      set(index, value);
  }
  llvm::ArrayRef<mlir::Value> outputs() const { return results; }

  /// The import is for training, whatever the node says of modes.
  bool isTraining() const { return training != nullptr; }
  /// When training: operand `index`, an argument of the model, has another
  /// value in the next run. Warns where it is none, and keeps its value.
  void update(size_t index, mlir::Value value);
  /// When training: numbers of [0, 1), f32, other ones in each run.
  mlir::Value randomUniform(llvm::ArrayRef<int64_t> shape);

  // Attributes. An attribute of another kind than asked for is an error, and
  // so is one that nobody asked for.

  bool hasAttr(llvm::StringRef name) { return find(name) != nullptr; }
  int64_t getInt(llvm::StringRef name, int64_t defaultValue);
  bool getBool(llvm::StringRef name, bool defaultValue) {
    return getInt(name, defaultValue) != 0;
  }
  float getFloat(llvm::StringRef name, float defaultValue);
  /// A finite float of at least 0, and at most `most`.
  float getSize(llvm::StringRef name, float defaultValue,
                float most = std::numeric_limits<float>::max());
  llvm::StringRef getString(llvm::StringRef name, llvm::StringRef defaultValue);
  /// A string out of a closed set.
  llvm::StringRef getChoice(llvm::StringRef name, llvm::StringRef defaultValue,
                            llvm::ArrayRef<llvm::StringRef> choices);
  Ints getInts(llvm::StringRef name);
  llvm::SmallVector<float> getFloats(llvm::StringRef name);
  llvm::SmallVector<llvm::StringRef> getStrings(llvm::StringRef name);
  /// Null when absent.
  mlir::Value getTensor(llvm::StringRef name);
  /// The Graph element type that an integer attribute names; null when absent.
  mlir::Type getElementType(llvm::StringRef name);
  /// The encoded subgraph of an attribute.
  std::string_view getGraph(llvm::StringRef name);
  /// Names attributes that have no meaning for inference.
  void ignore(std::initializer_list<llvm::StringRef> names);
  /// Reports the first attribute that was never asked for.
  void checkAllAttributesRead();

  llvm::SmallVector<mlir::Value>
  importGraph(std::string_view encoded, llvm::ArrayRef<mlir::Value> inputs) {
    return importSubgraph(encoded, inputs);
  }

  // Checks that fail the node.

  void fail(const llvm::Twine &message) { b.fail(message); }
  /// `unsupported: <what>`.
  void unsupported(const llvm::Twine &what) { b.fail("unsupported: " + what); }
  /// The rank of a value, or a failure and 0.
  int64_t rank(mlir::Value value);
  /// An axis in [-rank, rank) made positive.
  int64_t axis(int64_t axis, int64_t rank);
  Ints axes(llvm::ArrayRef<int64_t> axes, int64_t rank);
  /// The value of a parameter operand that must be known at import.
  Ints constantInts(size_t index, const char *what);
  /// Operand as an i64 tensor.
  mlir::Value asI64(mlir::Value value) { return b.cast(value, b.i64()); }
  /// The number of elements of a static vector, or -1.
  static int64_t lengthOf(mlir::Value value);

private:
  const Attribute *find(llvm::StringRef name);
  const Attribute *find(llvm::StringRef name, AttributeKind kind);

  llvm::ArrayRef<mlir::Value> operands;
  llvm::ArrayRef<const Attribute *> attributes;
  TensorImporter importTensor;
  SubgraphImporter importSubgraph;
  TrainingState *training;
  llvm::SmallVector<mlir::Value> results;
  llvm::SmallPtrSet<const Attribute *, 8> read;
};

} // namespace dlc::onnx

#endif // DLC_LIB_FRONTEND_ONNX_NODECONTEXT_H
