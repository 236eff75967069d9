// SPDX-License-Identifier: Apache-2.0

#include "Training.h"

#include "ModelImporter.h"

#include "dlc/dialects/Graph/GraphDialect.h"
#include "dlc/dialects/Graph/Ports.h"
#include "dlc/dialects/Graph/Training.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace dlc::onnx;
using llvm::SmallVector;
using llvm::StringRef;
using mlir::Value;

using Operands = SmallVector<unsigned, 3>;

static bool isIn(const llvm::StringMap<Operands> &operands, StringRef type,
                 unsigned operand) {
  auto found = operands.find(type);
  return found != operands.end() && llvm::is_contained(found->second, operand);
}

/// Operands of floats that say how to compute.
static bool saysHow(StringRef type, unsigned operand) {
  static const llvm::StringMap<Operands> operands = {
      {"DequantizeLinear", {1}},
      {"Dropout", {1}},
      {"MaxRoiPool", {1}},
      {"NegativeLogLikelihoodLoss", {2}},
      {"OneHot", {1, 2}},
      {"QLinearConv", {1, 4, 6}},
      {"QLinearMatMul", {1, 4, 6}},
      {"QuantizeLinear", {1}},
      {"Resize", {1, 2}},
      {"RoiAlign", {1}},
      {"STFT", {2}},
      {"SoftmaxCrossEntropyLoss", {2}},
      {"Upsample", {1}}};
  return isIn(operands, type, operand);
}

/// Operands of floats that have no gradient because what depends on them is not
/// of floats.
static bool hasNoGradient(StringRef type, unsigned operand) {
  static const llvm::StringMap<Operands> operands = {
      {"Equal", {0, 1}},          {"Greater", {0, 1}},
      {"GreaterOrEqual", {0, 1}}, {"Less", {0, 1}},
      {"LessOrEqual", {0, 1}},    {"NonMaxSuppression", {0, 1}},
      {"QuantizeLinear", {0}}};
  return isIn(operands, type, operand);
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

using ReaderByName = llvm::DenseMap<StringRef, const Node *>;

/// Initializers, and what depends on nothing else.
static llvm::DenseSet<StringRef> findConstants(const Graph &graph) {
  llvm::DenseSet<StringRef> constants = {""}; // An operand that is left out.
  for (const Tensor &tensor : graph.initializers)
    constants.insert(tensor.name);
  for (const Node &node : graph.nodes)
    if (llvm::all_of(node.inputs, [&](std::string_view name) {
          return constants.contains(name);
        }))
      constants.insert(node.outputs.begin(), node.outputs.end());
  return constants;
}

/// What is no parameter, and a node that makes it none: one that takes it, or
/// a constant which depends on it, as the way to compute; or one that has no
/// gradient by it, where all its readers are such.
static ReaderByName findSettings(const Graph &graph) {
  const llvm::DenseSet<StringRef> constants = findConstants(graph);
  ReaderByName settings, unmoved;
  llvm::DenseSet<StringRef> computedWith;
  for (const Node &node : llvm::reverse(graph.nodes)) {
    const Node *by = nullptr;
    for (std::string_view output : node.outputs)
      if (!output.empty() && constants.contains(output) && !by)
        by = settings.lookup(output);
    for (auto [i, input] : llvm::enumerate(node.inputs))
      if (by || saysHow(node.type, i))
        settings.try_emplace(input, by ? by : &node);
      else if (hasNoGradient(node.type, i))
        unmoved.try_emplace(input, &node);
      else
        computedWith.insert(input);
  }
  for (auto [name, node] : unmoved)
    if (!computedWith.contains(name))
      settings.try_emplace(name, node);
  return settings;
}

namespace {
struct Parameters {
  llvm::DenseSet<StringRef> names;
  SmallVector<StringRef> numbers; ///< One element each, in no weight's place.
  ReaderByName settings; ///< What else may train, by the rule for weights.
};
} // namespace

static Parameters sortInitializers(const Graph &graph) {
  Parameters sorted;
  const llvm::DenseSet<StringRef> weights = findWeights(graph);
  const ReaderByName settings = findSettings(graph);
  for (const Tensor &tensor : graph.initializers) {
    const Node *setting = settings.lookup(tensor.name);
    if (!mayTrain(tensor, weights)) {
      if (!setting && isFloat(tensor) && !llvm::is_contained(tensor.dims, 0))
        sorted.numbers.push_back(tensor.name);
      continue;
    }
    if (setting)
      sorted.settings[tensor.name] = setting;
    else
      sorted.names.insert(tensor.name);
  }
  return sorted;
}

llvm::DenseSet<StringRef> dlc::onnx::findParameters(const Graph &graph) {
  return sortInitializers(graph).names;
}

/// Gives each parameter an argument, with its value in the file.
bool ModelImporter::addParameters(const Graph &graph, mlir::Block *body,
                                  Scope &scope,
                                  SmallVector<mlir::Attribute> &attributes) {
  mlir::OpBuilder &ops = builder.opBuilder();
  const Parameters parameters = sortInitializers(graph);
  if (options.isTraining && !parameters.numbers.empty())
    body->getParentOp()->setAttr(graph::kNumbersAttr,
                                 ops.getStrArrayAttr(parameters.numbers));
  for (const Tensor &tensor : graph.initializers) {
    if (const Node *node = parameters.settings.lookup(tensor.name))
      mlir::emitRemark(builder.location())
          << "initializer '" << StringRef(tensor.name)
          << "' is no parameter: it says how to compute "
          << StringRef(node->type) << ", or has no gradient there";
    if (!parameters.names.contains(tensor.name))
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
  llvm::SmallVector<graph::Update> updates;
  for (auto [argument, value] : training.updates)
    updates.emplace_back(llvm::cast<mlir::BlockArgument>(argument), value);
  graph::addUpdates(main, updates);
}
