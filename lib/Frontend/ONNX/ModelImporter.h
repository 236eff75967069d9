// SPDX-License-Identifier: Apache-2.0
//
// The state of one import, and the walk over graphs and functions.

#ifndef DLC_LIB_FRONTEND_ONNX_MODELIMPORTER_H
#define DLC_LIB_FRONTEND_ONNX_MODELIMPORTER_H

#include "dlc/Frontend/ONNX/ExternalData.h"
#include "dlc/Frontend/ONNX/Import.h"

#include "Operators.h"
#include "Training.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

#include <deque>

namespace dlc::rt {
struct ParamsArray;
} // namespace dlc::rt

namespace dlc::onnx {

struct ParameterFile;

/// The names of one graph or function body.
struct Scope {
  /// Null: a parameter of a function that the call leaves out.
  llvm::DenseMap<llvm::StringRef, mlir::Value> values;
  /// Turned into constants at their first use.
  llvm::DenseMap<llvm::StringRef, const Tensor *> initializers;
  /// What a node that failed would have given.
  llvm::DenseSet<llvm::StringRef> missing;
  /// Names that some node of this body produces, for messages.
  llvm::DenseSet<llvm::StringRef> produced;
  llvm::ArrayRef<OpsetImport> opsets;
  /// Of a function body: the attributes of the call, defaults included.
  llvm::DenseMap<llvm::StringRef, const Attribute *> callAttributes;
  /// Of a subgraph: the graph around it.
  Scope *parent = nullptr;
};

class ModelImporter {
public:
  ModelImporter(mlir::MLIRContext &context, const Model &model,
                const ImportOptions &options, llvm::StringRef file,
                std::shared_ptr<const void> owner, ModelFolder *folder);

  mlir::OwningOpRef<mlir::ModuleOp> import();

private:
  // The main graph (ModelImporter.cpp).
  bool checkModel();
  bool checkOpsets(llvm::ArrayRef<OpsetImport> opsets, const llvm::Twine &of);
  bool readFunctions();
  const Function *findFunction(const Node &node) const;
  bool importMain(mlir::ModuleOp module);
  bool addInitializers(const Graph &graph, Scope &scope);
  bool findInputs(const Graph &graph, const Scope &scope,
                  llvm::SmallVectorImpl<const ValueInfo *> &inputs);
  bool bindShape(const ValueInfo &input, llvm::ArrayRef<int64_t> shape);
  bool bindShapes(llvm::ArrayRef<const ValueInfo *> inputs);
  std::optional<Ints> inputShape(const ValueInfo &input);
  mlir::Value inputConstant(const ValueInfo &input, mlir::Type type,
                            double number);
  mlir::Type inputType(const ValueInfo &input);
  mlir::DictionaryAttr inputAttributes(const ValueInfo &input, mlir::Type type);
  bool checkOutput(const ValueInfo &output, mlir::Value value);

  // Values from another file (Parameters.cpp).
  bool replaceInitializers(const Graph &graph, Scope &scope);
  bool replaceInitializer(const rt::ParamsArray &array, Scope &scope);

  // For training (Training.cpp).
  bool addParameters(const Graph &graph, mlir::Block *body, Scope &scope,
                     llvm::SmallVector<mlir::Attribute> &attributes);
  void addUpdates(mlir::func::FuncOp main);

  // Bodies (NodeImport.cpp).
  bool importNodes(llvm::ArrayRef<Node> nodes, Scope &scope);
  bool importNode(const Node &node, size_t index, Scope &scope);
  const Operator *findRow(const Node &node, const Scope &scope);
  bool importOperator(const Node &node, Scope &scope,
                      llvm::ArrayRef<mlir::Value> operands,
                      llvm::ArrayRef<const Attribute *> attributes,
                      llvm::SmallVectorImpl<mlir::Value> &results);
  bool importCall(const Node &node, const Function &function,
                  llvm::ArrayRef<mlir::Value> operands,
                  llvm::ArrayRef<const Attribute *> attributes,
                  llvm::SmallVectorImpl<mlir::Value> &results);
  llvm::SmallVector<mlir::Value>
  importSubgraph(std::string_view encoded, llvm::ArrayRef<mlir::Value> inputs,
                 Scope &scope);
  bool isMissing(llvm::StringRef name, const Scope &scope) const;
  bool resolve(llvm::StringRef name, Scope &scope, mlir::Value &value);
  bool define(llvm::StringRef name, mlir::Value value, Scope &scope);
  llvm::SmallVector<const Attribute *> resolveAttributes(const Node &node,
                                                         Scope &scope);
  mlir::Value importTensor(const Tensor &tensor);
  mlir::Location locate(const Node &node, size_t index);
  bool fail(const llvm::Twine &message, llvm::StringRef alternative = {}) {
    builder.fail(message, alternative);
    return false;
  }

  bool giveUp(const llvm::Twine &message) {
    hasGivenUp = true;
    return fail(message);
  }

  mlir::MLIRContext &context;
  const Model &model;
  const ImportOptions &options;
  llvm::StringRef file;
  std::shared_ptr<const void> owner;
  ModelFolder *folder;
  GraphBuilder builder;
  llvm::DenseMap<llvm::StringRef, int64_t> symbols;
  /// By "domain\0name\0overload".
  llvm::DenseMap<llvm::StringRef, const Function *> functions;
  llvm::SmallVector<std::string> functionKeys;
  /// Functions being inlined, outermost first.
  llvm::SmallVector<const Function *> callStack;
  /// Calls nest; the innermost call site, for locations.
  std::optional<mlir::Location> callSite;
  /// Attributes that a function takes from its call under another name, and
  /// decoded subgraphs: values refer to them until the import ends.
  llvm::SmallVector<std::unique_ptr<Attribute>> renamed;
  llvm::SmallVector<std::unique_ptr<Graph>> subgraphs;
  /// What replaces initializers, and the file that it is in.
  std::deque<Tensor> replaced;
  std::shared_ptr<ParameterFile> parameters;
  TrainingState training;
  size_t nodeBudget;
  unsigned depth = 0;
  size_t faults = 0;
  /// Nodes that depend on what failed, of which only the operator was looked
  /// at.
  size_t unseenNodes = 0;
  /// Nothing more is looked at: what was found may be without end.
  bool hasGivenUp = false;
};

} // namespace dlc::onnx

#endif // DLC_LIB_FRONTEND_ONNX_MODELIMPORTER_H
