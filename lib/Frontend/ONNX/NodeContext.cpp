// SPDX-License-Identifier: Apache-2.0

#include "NodeContext.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace dlc::onnx;
using namespace mlir;
using llvm::StringRef;
using llvm::Twine;
using OnnxAttribute = dlc::onnx::Attribute;

static const char *kindName(AttributeKind kind) {
  switch (kind) {
  case AttributeKind::Float:
    return "FLOAT";
  case AttributeKind::Int:
    return "INT";
  case AttributeKind::String:
    return "STRING";
  case AttributeKind::Tensor:
    return "TENSOR";
  case AttributeKind::Graph:
    return "GRAPH";
  case AttributeKind::Floats:
    return "FLOATS";
  case AttributeKind::Ints:
    return "INTS";
  case AttributeKind::Strings:
    return "STRINGS";
  default:
    return "another kind";
  }
}

const OnnxAttribute *NodeContext::find(StringRef name) {
  for (const OnnxAttribute *attribute : attributes) {
    if (StringRef(attribute->name) == name) {
      read.insert(attribute);
      return attribute;
    }
  }
  return nullptr;
}

/// Empty lists are written without elements, and then without a kind by
/// writers of IR version 1 and 2.
static bool isEmptyList(const OnnxAttribute &attribute, AttributeKind wanted) {
  return attribute.kind == AttributeKind::Undefined &&
         (wanted == AttributeKind::Ints || wanted == AttributeKind::Floats ||
          wanted == AttributeKind::Strings);
}

const OnnxAttribute *NodeContext::find(StringRef name, AttributeKind kind) {
  const OnnxAttribute *attribute = find(name);
  if (!attribute || attribute->kind == kind || isEmptyList(*attribute, kind))
    return attribute;
  fail("expected attribute '" + name + "' of kind " + kindName(kind) +
       ", got " + kindName(attribute->kind));
  return nullptr;
}

int64_t NodeContext::getInt(StringRef name, int64_t defaultValue) {
  const OnnxAttribute *attribute = find(name, AttributeKind::Int);
  return attribute ? attribute->i : defaultValue;
}

float NodeContext::getFloat(StringRef name, float defaultValue) {
  const OnnxAttribute *attribute = find(name, AttributeKind::Float);
  return attribute ? attribute->f : defaultValue;
}

float NodeContext::getSize(StringRef name, float defaultValue, float most) {
  float value = getFloat(name, defaultValue);
  if (!(value >= 0 && value <= most))
    fail(llvm::formatv(
        "expected attribute '{0}' to be a number of at least 0{1}, got {2}",
        name,
        most < std::numeric_limits<float>::max()
            ? llvm::formatv(" and at most {0}", most).str()
            : "",
        value));
  return value;
}

StringRef NodeContext::getString(StringRef name, StringRef defaultValue) {
  const OnnxAttribute *attribute = find(name, AttributeKind::String);
  return attribute ? StringRef(attribute->s) : defaultValue;
}

StringRef NodeContext::getChoice(StringRef name, StringRef defaultValue,
                                 ArrayRef<StringRef> choices) {
  StringRef value = getString(name, defaultValue);
  if (!llvm::is_contained(choices, value))
    fail("expected attribute '" + name + "' to be one of " +
         llvm::join(choices, ", ") + ", got '" + value + "'");
  return value;
}

Ints NodeContext::getInts(StringRef name) {
  const OnnxAttribute *attribute = find(name, AttributeKind::Ints);
  if (!attribute)
    return {};
  return Ints(attribute->ints.begin(), attribute->ints.end());
}

SmallVector<float> NodeContext::getFloats(StringRef name) {
  const OnnxAttribute *attribute = find(name, AttributeKind::Floats);
  if (!attribute)
    return {};
  return SmallVector<float>(attribute->floats.begin(), attribute->floats.end());
}

SmallVector<StringRef> NodeContext::getStrings(StringRef name) {
  const OnnxAttribute *attribute = find(name, AttributeKind::Strings);
  if (!attribute)
    return {};
  return SmallVector<StringRef>(attribute->strings.begin(),
                                attribute->strings.end());
}

Value NodeContext::getTensor(StringRef name) {
  const OnnxAttribute *attribute = find(name, AttributeKind::Tensor);
  if (!attribute)
    return {};
  if (attribute->tensors.size() != 1) {
    fail("expected one tensor in attribute '" + name + "', got " +
         Twine(attribute->tensors.size()));
    return {};
  }
  return importTensor(attribute->tensors.front());
}

Type NodeContext::getElementType(StringRef name) {
  const OnnxAttribute *attribute = find(name, AttributeKind::Int);
  if (!attribute)
    return {};
  auto element = static_cast<ElementType>(
      attribute->i >= 0 && attribute->i < INT32_MAX ? attribute->i : -1);
  Type type = b.elementType(dataTypeOf(element));
  if (!type)
    unsupported("element type " + dlc::onnx::nameOf(element));
  return type;
}

std::string_view NodeContext::getGraph(StringRef name) {
  const OnnxAttribute *attribute = find(name, AttributeKind::Graph);
  if (!attribute)
    fail("expected attribute '" + name + "'");
  return attribute ? attribute->graph : std::string_view();
}

void NodeContext::ignore(std::initializer_list<StringRef> names) {
  for (StringRef name : names)
    find(name);
}

void NodeContext::checkAllAttributesRead() {
  for (const OnnxAttribute *attribute : attributes)
    if (!read.contains(attribute))
      return fail("unexpected attribute '" + StringRef(attribute->name) +
                  "' in opset " + Twine(opset));
}

int64_t NodeContext::rank(Value value) {
  if (std::optional<int64_t> rank = GraphBuilder::rankOf(value))
    return *rank;
  unsupported("operand of unknown rank");
  return 0;
}

int64_t NodeContext::axis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  fail("expected an axis from " + Twine(-rank) + " to " + Twine(rank - 1) +
       ", got " + Twine(axis));
  return 0;
}

Ints NodeContext::axes(ArrayRef<int64_t> axes, int64_t rank) {
  Ints result;
  for (int64_t each : axes)
    result.push_back(axis(each, rank));
  return result;
}

Ints NodeContext::constantInts(size_t index, const char *what) {
  if (std::optional<Ints> values = GraphBuilder::intsOf(in(index)))
    return *values;
  unsupported(Twine(what) + " that is not constant");
  return {};
}

int64_t NodeContext::lengthOf(Value value) {
  if (GraphBuilder::rankOf(value) != 1)
    return -1;
  int64_t length = GraphBuilder::dimOf(value, 0);
  return ShapedType::isDynamic(length) ? -1 : length;
}

//===-- Training ----------------------------------------------------------===//

void NodeContext::update(size_t index, Value value) {
  auto argument = llvm::dyn_cast_or_null<mlir::BlockArgument>(in(index));
  if (b.failed())
    return;
  if (argument && argument.getType() == value.getType())
    training->updates[argument] = value;
  else
    mlir::emitWarning(b.location())
        << "input " << index
        << " keeps its value in training: expected an initializer or an input "
           "of the model of type "
        << value.getType();
}

Value NodeContext::randomUniform(ArrayRef<int64_t> shape) {
  if (!training->random)
    training->random = training->addRandom();
  return b.op("random_uniform", {training->random, b.ints(shape)},
              {{"stream", training->randomStreams++}});
}
