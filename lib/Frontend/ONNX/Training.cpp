// SPDX-License-Identifier: Apache-2.0

#include "Training.h"

#include "ModelImporter.h"

#include "dlc/dialects/Graph/GraphDialect.h"
#include "dlc/dialects/Graph/Ports.h"

#include "llvm/ADT/StringSet.h"

using namespace dlc::onnx;
using llvm::SmallVector;
using llvm::StringRef;
using mlir::Value;

/// Operators that compute with all their operands of floats, and those that
/// only move them.
static bool computesWithOperands(StringRef type) {
  static const llvm::StringSet<> types = {"Add",
                                          "BatchNormalization",
                                          "Cast",
                                          "Conv",
                                          "ConvTranspose",
                                          "Div",
                                          "Einsum",
                                          "Expand",
                                          "Gather",
                                          "Gemm",
                                          "GroupNormalization",
                                          "Identity",
                                          "MatMul",
                                          "InstanceNormalization",
                                          "LayerNormalization",
                                          "Mul",
                                          "PRelu",
                                          "RMSNormalization",
                                          "Reshape",
                                          "SimplifiedLayerNormalization",
                                          "Squeeze",
                                          "Sub",
                                          "Transpose",
                                          "Unsqueeze"};
  return types.contains(type);
}

static bool isFloat(const Tensor &tensor) {
  return tensor.type == ElementType::Float ||
         tensor.type == ElementType::Double ||
         tensor.type == ElementType::Float16 ||
         tensor.type == ElementType::BFloat16;
}

/// Operators whose operands of floats are weights however few elements they
/// have.
static bool takesWeights(StringRef type) {
  static const llvm::StringSet<> types = {"BatchNormalization",
                                          "Conv",
                                          "ConvTranspose",
                                          "Gemm",
                                          "GroupNormalization",
                                          "InstanceNormalization",
                                          "LayerNormalization",
                                          "MatMul",
                                          "PRelu",
                                          "RMSNormalization",
                                          "SimplifiedLayerNormalization"};
  return types.contains(type);
}

/// Names of what is a weight by what reads it: also what is added to a product
/// with one column, as the bias of a layer with one output.
static llvm::DenseSet<StringRef> findWeights(const Graph &graph) {
  llvm::DenseSet<StringRef> columns, products, found;
  for (const Tensor &tensor : graph.initializers)
    if (tensor.dims.size() > 1 && tensor.dims.back() == 1)
      columns.insert(tensor.name);
  auto isOneOf = [](const llvm::DenseSet<StringRef> &names) {
    return [&](std::string_view name) { return names.contains(name); };
  };
  for (const Node &node : graph.nodes) {
    if (takesWeights(node.type) ||
        (node.type == "Add" && llvm::any_of(node.inputs, isOneOf(products))))
      found.insert(node.inputs.begin(), node.inputs.end());
    if (node.type == "MatMul" && llvm::any_of(node.inputs, isOneOf(columns)))
      products.insert(node.outputs.begin(), node.outputs.end());
  }
  return found;
}

llvm::DenseSet<StringRef> dlc::onnx::findParameters(const Graph &graph) {
  llvm::DenseSet<StringRef> found, weights = findWeights(graph);
  for (const Tensor &tensor : graph.initializers) {
    bool isLarge =
        llvm::any_of(tensor.dims, [](int64_t dim) { return dim > 1; });
    if (isFloat(tensor) && (isLarge || weights.contains(tensor.name)) &&
        !llvm::is_contained(tensor.dims, 0))
      found.insert(tensor.name);
  }
  for (const Node &node : graph.nodes)
    if (!computesWithOperands(node.type))
      for (std::string_view input : node.inputs)
        found.erase(input);
  return found;
}

/// Gives each parameter an argument, with its value in the file.
bool ModelImporter::addParameters(const Graph &graph, mlir::Block *body,
                                  Scope &scope,
                                  SmallVector<mlir::Attribute> &attributes) {
  mlir::OpBuilder &ops = builder.opBuilder();
  llvm::DenseSet<StringRef> parameters = findParameters(graph);
  for (const Tensor &tensor : graph.initializers) {
    if (!parameters.contains(tensor.name))
      continue;
    // What stands for it may be another.
    Value constant = importTensor(*scope.initializers.lookup(tensor.name));
    if (builder.failed())
      return false;
    mlir::ElementsAttr value = GraphBuilder::constantOf(constant);
    attributes.push_back(ops.getDictionaryAttr(
        {ops.getNamedAttr(graph::GraphDialect::kNameAttr,
                          ops.getStringAttr(tensor.name)),
         ops.getNamedAttr(graph::GraphDialect::kInitialAttr, value)}));
    scope.initializers.erase(tensor.name);
    Value argument = body->addArgument(constant.getType(), constant.getLoc());
    constant.getDefiningOp()->erase();
    if (!define(tensor.name, argument, scope))
      return false;
  }
  return true;
}

/// A result for each argument that has a new value.
void ModelImporter::addUpdates(mlir::func::FuncOp main) {
  if (training.random)
    training.updates[training.random] =
        builder.add(training.random, builder.ints({0, 1}));
  for (auto [argument, value] : training.updates)
    graph::addUpdate(main, llvm::cast<mlir::BlockArgument>(argument), value);
}
