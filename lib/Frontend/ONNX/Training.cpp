// SPDX-License-Identifier: Apache-2.0

#include "Training.h"

#include "ModelImporter.h"

#include "dlc/dialects/Graph/GraphDialect.h"
#include "dlc/dialects/Graph/Ports.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace dlc::onnx;
using llvm::SmallVector;
using llvm::StringRef;
using mlir::Value;

/// Operands of floats that say how to compute, or have no gradient because what
/// depends on them is not of floats. All others are computed with.
static bool isSetting(StringRef type, unsigned operand) {
  using Operands = SmallVector<unsigned, 3>;
  static const llvm::StringMap<Operands> settings = {
      {"DequantizeLinear", {1}},
      {"Dropout", {1}},
      {"Equal", {0, 1}},
      {"Greater", {0, 1}},
      {"GreaterOrEqual", {0, 1}},
      {"Less", {0, 1}},
      {"LessOrEqual", {0, 1}},
      {"MaxRoiPool", {1}},
      {"NegativeLogLikelihoodLoss", {2}},
      {"NonMaxSuppression", {0, 1}},
      {"OneHot", {1, 2}},
      {"QLinearConv", {1, 4, 6}},
      {"QLinearMatMul", {1, 4, 6}},
      {"QuantizeLinear", {0, 1}},
      {"Resize", {1, 2}},
      {"RoiAlign", {1}},
      {"STFT", {2}},
      {"SoftmaxCrossEntropyLoss", {2}},
      {"Upsample", {1}}};
  auto found = settings.find(type);
  return found != settings.end() && llvm::is_contained(found->second, operand);
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
                                          "GRU",
                                          "Gemm",
                                          "GroupNormalization",
                                          "InstanceNormalization",
                                          "LSTM",
                                          "LayerNormalization",
                                          "MatMul",
                                          "PRelu",
                                          "RMSNormalization",
                                          "RNN",
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

/// Of an initializer: floats that are more than one number, or weights.
static bool mayTrain(const Tensor &tensor,
                     const llvm::DenseSet<StringRef> &weights) {
  bool isLarge = llvm::any_of(tensor.dims, [](int64_t dim) { return dim > 1; });
  return isFloat(tensor) && (isLarge || weights.contains(tensor.name)) &&
         !llvm::is_contained(tensor.dims, 0);
}

/// The first node of which an initializer is a setting, by its name.
static llvm::DenseMap<StringRef, const Node *>
findSettings(const Graph &graph) {
  llvm::DenseMap<StringRef, const Node *> settings;
  for (const Node &node : graph.nodes)
    for (auto [i, input] : llvm::enumerate(node.inputs))
      if (isSetting(node.type, i))
        settings.try_emplace(input, &node);
  return settings;
}

llvm::DenseSet<StringRef> dlc::onnx::findParameters(const Graph &graph) {
  llvm::DenseSet<StringRef> found, weights = findWeights(graph);
  llvm::DenseMap<StringRef, const Node *> settings = findSettings(graph);
  for (const Tensor &tensor : graph.initializers)
    if (mayTrain(tensor, weights) && !settings.contains(tensor.name))
      found.insert(tensor.name);
  return found;
}

/// Says which floats are no parameters, though more than one number.
static void remarkSettings(const Graph &graph, mlir::Location loc) {
  llvm::DenseSet<StringRef> weights = findWeights(graph);
  llvm::DenseMap<StringRef, const Node *> settings = findSettings(graph);
  for (const Tensor &tensor : graph.initializers)
    if (const Node *node = settings.lookup(tensor.name);
        node && mayTrain(tensor, weights))
      mlir::emitRemark(loc)
          << "initializer '" << StringRef(tensor.name)
          << "' is no parameter: it says how to compute "
          << StringRef(node->type) << ", or has no gradient there";
}

/// Gives each parameter an argument, with its value in the file.
bool ModelImporter::addParameters(const Graph &graph, mlir::Block *body,
                                  Scope &scope,
                                  SmallVector<mlir::Attribute> &attributes) {
  mlir::OpBuilder &ops = builder.opBuilder();
  llvm::DenseSet<StringRef> parameters = findParameters(graph);
  remarkSettings(graph, builder.location());
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
