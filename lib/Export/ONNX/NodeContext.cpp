// SPDX-License-Identifier: Apache-2.0

#include "NodeContext.h"

#include "dlc/dialects/Graph/Plain.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

using namespace dlc;
using namespace dlc::exporter;
using llvm::StringRef;
using mlir::Type;

std::string ModelState::unique(std::set<std::string, std::less<>> &used,
                               const std::string &wish) {
  std::string name = wish;
  for (size_t i = 1; name.empty() || !used.insert(name).second; ++i)
    name = wish + "_" + std::to_string(i);
  return name;
}

const std::string &ModelState::nameOf(mlir::Value value) {
  auto known = names.find(value);
  if (known != names.end())
    return known->second;
  std::string name = nameConstant(value);
  return names[value] = std::move(name);
}

//===-- Operands ----------------------------------------------------------===//

bool NodeContext::has(unsigned index) const {
  return index < op->getNumOperands() &&
         llvm::isa<mlir::TensorType>(op->getOperand(index).getType());
}

std::string NodeContext::in(unsigned index) const {
  return has(index) ? model.nameOf(op->getOperand(index)) : std::string();
}

Names NodeContext::inputs() const {
  Names names;
  for (unsigned i = 0; i < inputCount(); ++i)
    names.push_back(in(i));
  while (!names.empty() && names.back().empty())
    names.pop_back();
  return names;
}

Type NodeContext::elementOf(unsigned index) const {
  return llvm::cast<mlir::TensorType>(op->getOperand(index).getType())
      .getElementType();
}

int64_t NodeContext::rankOf(unsigned index) const {
  auto type = llvm::cast<mlir::TensorType>(op->getOperand(index).getType());
  return type.hasRank() ? type.getRank() : -1;
}

std::optional<Ints> NodeContext::constantInts(unsigned index) const {
  if (!has(index))
    return std::nullopt;
  auto values = graph::getConstantInts(op->getOperand(index));
  if (!values)
    return std::nullopt;
  return Ints(values->begin(), values->end());
}

//===-- Attributes --------------------------------------------------------===//

Ints NodeContext::ints(StringRef attribute) const {
  auto values = op->getAttrOfType<mlir::DenseI64ArrayAttr>(attribute);
  return values ? Ints(values.asArrayRef().begin(), values.asArrayRef().end())
                : Ints();
}

int64_t NodeContext::getInt(StringRef attribute, int64_t fallback) const {
  auto value = op->getAttrOfType<mlir::IntegerAttr>(attribute);
  return value ? value.getInt() : fallback;
}

bool NodeContext::getBool(StringRef attribute, bool fallback) const {
  auto value = op->getAttrOfType<mlir::BoolAttr>(attribute);
  return value ? value.getValue() : fallback;
}

float NodeContext::getFloat(StringRef attribute, float fallback) const {
  auto value = op->getAttrOfType<mlir::FloatAttr>(attribute);
  return value ? static_cast<float>(value.getValueAsDouble()) : fallback;
}

std::string NodeContext::getString(StringRef attribute,
                                   StringRef fallback) const {
  auto value = op->getAttrOfType<mlir::StringAttr>(attribute);
  return value ? value.str() : fallback.str();
}

/// False for what ONNX says by leaving it out.
static bool convert(mlir::Attribute from, Attribute &to) {
  if (auto flag = llvm::dyn_cast<mlir::BoolAttr>(from))
    to.value = static_cast<int64_t>(flag.getValue());
  else if (auto number = llvm::dyn_cast<mlir::IntegerAttr>(from))
    to.value = number.getInt();
  else if (auto real = llvm::dyn_cast<mlir::FloatAttr>(from))
    to.value = static_cast<float>(real.getValueAsDouble());
  else if (auto text = llvm::dyn_cast<mlir::StringAttr>(from))
    to.value = text.str();
  else if (auto type = llvm::dyn_cast<mlir::TypeAttr>(from))
    to.value = static_cast<int64_t>(elementNumber(type.getValue()));
  else if (auto ints = llvm::dyn_cast<mlir::DenseI64ArrayAttr>(from))
    to.value = std::vector<int64_t>(ints.asArrayRef().begin(),
                                    ints.asArrayRef().end());
  else if (auto reals = llvm::dyn_cast<mlir::DenseF32ArrayAttr>(from))
    to.value = std::vector<float>(reals.asArrayRef().begin(),
                                  reals.asArrayRef().end());
  else
    return false;
  if (auto *list = std::get_if<std::vector<int64_t>>(&to.value))
    return !list->empty();
  if (auto *list = std::get_if<std::vector<float>>(&to.value))
    return !list->empty();
  return true;
}

Attributes
NodeContext::attributes(std::initializer_list<llvm::StringRef> except) const {
  Attributes result;
  for (mlir::NamedAttribute each : op->getAttrs()) {
    StringRef attribute = each.getName();
    // Those with a dot are of other dialects, "device" says where it runs.
    if (attribute.contains('.') || attribute == "device" ||
        llvm::is_contained(except, attribute))
      continue;
    Attribute converted{attribute.str(), int64_t(0)};
    if (convert(each.getValue(), converted))
      result.push_back(std::move(converted));
  }
  return result;
}

//===-- Nodes -------------------------------------------------------------===//

std::string NodeContext::nodeName() {
  return name.empty() ? "" : ModelState::unique(model.usedNodeNames, name);
}

std::string NodeContext::node(StringRef type, Names inputs,
                              Attributes attributes) {
  if (hasFailed)
    return {};
  std::string output =
      ModelState::unique(model.usedNames, name.empty() ? type.str() : name);
  model.writer.addNode(type, nodeName(), inputs, {output}, attributes);
  return output;
}

void NodeContext::result(StringRef type, Names inputs, Attributes attributes) {
  if (hasFailed)
    return;
  Names outputs;
  for (mlir::Value value : op->getResults())
    outputs.push_back(model.names.lookup(value));
  model.writer.addNode(type, nodeName(), inputs, outputs, attributes);
}

std::string NodeContext::constant(mlir::DenseElementsAttr value) {
  if (hasFailed)
    return {};
  std::string output = ModelState::unique(
      model.usedNames, "constant_" + std::to_string(model.constants++));
  graph::RawElements raw = graph::RawElements::get(value);
  model.writer.addInitializer(
      output, llvm::cast<mlir::RankedTensorType>(value.getType()),
      {raw.data().data(), raw.data().size()});
  return output;
}

std::string NodeContext::ints(llvm::ArrayRef<int64_t> values) {
  return constant(graph::makeInts(op->getContext(), values));
}

std::string NodeContext::intScalar(int64_t value) {
  return constant(graph::makeInt(op->getContext(), value));
}

std::string NodeContext::scalarLike(unsigned index, double value) {
  return constant(graph::makeSplat(
      mlir::RankedTensorType::get({}, elementOf(index)), value));
}

std::string NodeContext::floatsLike(unsigned index,
                                    llvm::ArrayRef<int64_t> shape,
                                    llvm::ArrayRef<double> values) {
  auto element = llvm::cast<mlir::FloatType>(elementOf(index));
  std::vector<llvm::APFloat> rounded;
  for (double value : values) {
    bool losesInfo;
    rounded.emplace_back(value).convert(element.getFloatSemantics(),
                                        llvm::APFloat::rmNearestTiesToEven,
                                        &losesInfo);
  }
  return constant(mlir::DenseElementsAttr::get(
      mlir::RankedTensorType::get(shape, element), rounded));
}

//===-- Checks ------------------------------------------------------------===//

bool NodeContext::needs(int64_t since, const llvm::Twine &what) {
  if (since <= model.opset)
    return true;
  if (model.isFree) {
    model.neededOpset = std::max(model.neededOpset, since);
    hasFailed = true; // This model is thrown away.
    return false;
  }
  unsupported(what + " before opset " + llvm::Twine(since));
  return false;
}

void NodeContext::unsupported(const llvm::Twine &what) {
  if (!hasFailed)
    mlir::emitError(op->getLoc()) << "unsupported: " << what;
  hasFailed = true;
}
