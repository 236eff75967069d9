// SPDX-License-Identifier: Apache-2.0
//
// Bodies: nodes in order, calls of functions, subgraphs.

#include "ModelImporter.h"

#include "dlc/Frontend/Faults.h"

using namespace dlc::onnx;
using namespace mlir;
using llvm::StringRef;
using llvm::Twine;
using OnnxAttribute = dlc::onnx::Attribute;
namespace rt = dlc::rt;

/// Enough to see what a model needs.
static constexpr size_t kMaxFaults = 1000;

/// Calls and subgraphs recurse on the stack.
static constexpr unsigned kMaxDepth = 64;

//===-- Names -------------------------------------------------------------===//

bool ModelImporter::define(StringRef name, Value value, Scope &scope) {
  if (name.empty())
    return fail("expected a name, got an empty one");
  if (scope.initializers.contains(name) ||
      !scope.values.insert({name, value}).second)
    return fail("value '" + name + "' is defined twice");
  return true;
}

bool ModelImporter::isMissing(StringRef name, const Scope &scope) const {
  for (const Scope *each = &scope; each; each = each->parent) {
    if (each->values.contains(name) || each->initializers.contains(name))
      return false;
    if (each->missing.contains(name))
      return true;
  }
  return false;
}

bool ModelImporter::resolve(StringRef name, Scope &scope, Value &value) {
  for (Scope *each = &scope; each; each = each->parent) {
    auto known = each->values.find(name);
    if (known != each->values.end()) {
      value = known->second;
      return true;
    }
    auto initializer = each->initializers.find(name);
    if (initializer != each->initializers.end()) {
      value = importTensor(*initializer->second);
      // Operations come in order, so the first use dominates the others,
      // except those of a graph around this one; none is left behind there.
      if (each == &scope)
        scope.values.insert({name, value});
      return !builder.failed();
    }
    if (each->missing.contains(name)) {
      builder.failAgain();
      return false;
    }
    if (each->produced.contains(name))
      return fail("value '" + name +
                  "' is used before a node produces it, "
                  "expected nodes in topological order");
  }
  return fail("unknown value '" + name + "'");
}

Value ModelImporter::importTensor(const Tensor &tensor) {
  if (builder.failed())
    return {};
  if (tensor.isExternal && !folder) {
    fail("tensor '" + StringRef(tensor.name) +
         "' refers to a file, but the model has no folder");
    return {};
  }
  rt::Result<TensorContents> contents =
      tensor.isExternal ? folder->load(tensor) : decodeTensor(tensor, owner);
  if (!contents.isOk()) {
    fail(contents.status().message());
    return {};
  }
  StringRef name = tensor.name;
  return builder.constant(contents->type, contents->data,
                          std::move(contents->owner),
                          name.empty() ? "constant" : name);
}

/// `model.onnx: node 'Conv_12' (Conv)`, or the position of a nameless node.
Location ModelImporter::locate(const Node &node, size_t index) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << file << ": node ";
  if (node.name.empty())
    stream << '#' << index;
  else
    stream << '\'' << StringRef(node.name) << '\'';
  stream << " (" << StringRef(node.type) << ')';
  Location loc = NameLoc::get(StringAttr::get(&context, text));
  return callSite ? Location(CallSiteLoc::get(loc, *callSite)) : loc;
}

//===-- Nodes -------------------------------------------------------------===//

bool ModelImporter::importNodes(ArrayRef<Node> nodes, Scope &scope) {
  if (nodes.size() > nodeBudget)
    return giveUp("unsupported: functions that expand to more than " +
                  Twine(options.inlinedNodes) + " nodes");
  nodeBudget -= nodes.size();
  for (const Node &node : nodes)
    for (StringRef output : node.outputs)
      if (!output.empty())
        scope.produced.insert(output);
  bool isComplete = true;
  unsigned depthHere = depth;
  size_t callsHere = callStack.size();
  std::optional<Location> site = callSite;
  for (auto [index, node] : llvm::enumerate(nodes)) {
    const size_t unseenBefore = unseenNodes;
    if (importNode(node, index, scope))
      continue;
    // What does not depend on it may have faults of its own.
    isComplete = false;
    const bool isFault = unseenNodes == unseenBefore;
    if (hasGivenUp || (isFault && ++faults == kMaxFaults))
      return !(hasGivenUp = true);
    builder.recover();
    depth = depthHere;
    callStack.resize(callsHere);
    callSite = site;
    for (StringRef output : node.outputs)
      if (!output.empty() && !scope.values.contains(output))
        scope.missing.insert(output);
  }
  if (!isComplete)
    builder.failAgain();
  return isComplete;
}

/// In a function, `reference` names an attribute of the call; when the call
/// has none, the node has none either.
SmallVector<const OnnxAttribute *>
ModelImporter::resolveAttributes(const Node &node, Scope &scope) {
  SmallVector<const OnnxAttribute *> result;
  for (const OnnxAttribute &attribute : node.attributes) {
    const OnnxAttribute *resolved = &attribute;
    if (!attribute.reference.empty()) {
      resolved = scope.callAttributes.lookup(attribute.reference);
      if (!resolved)
        continue;
      if (attribute.name != attribute.reference) {
        renamed.push_back(std::make_unique<OnnxAttribute>(*resolved));
        renamed.back()->name = attribute.name;
        resolved = renamed.back().get();
      }
    }
    for (const OnnxAttribute *other : result)
      if (other->name == attribute.name)
        fail("attribute '" + StringRef(attribute.name) + "' is given twice");
    result.push_back(resolved);
  }
  return result;
}

static std::string describe(const Node &node) {
  std::string name(node.domain);
  return (name.empty() ? "" : name + ".") + std::string(node.type);
}

bool ModelImporter::importNode(const Node &node, size_t index, Scope &scope) {
  builder.setLocation(locate(node, index));
  frontend::NodeScope faults(context,
                             node.name.empty() ? "#" + std::to_string(index)
                                               : std::string(node.name),
                             describe(node));
  const Function *function = findFunction(node);
  if (llvm::any_of(node.inputs, [&](std::string_view name) {
        return isMissing(name, scope);
      })) {
    if (function || findRow(node, scope)) {
      ++unseenNodes;
      builder.failAgain();
    }
    return false;
  }
  SmallVector<Value> operands;
  for (StringRef name : node.inputs) {
    Value value;
    if (!name.empty() && !resolve(name, scope, value))
      return false;
    operands.push_back(value);
  }
  SmallVector<const OnnxAttribute *> attributes =
      resolveAttributes(node, scope);
  if (builder.failed())
    return false;

  SmallVector<Value> results;
  bool done = function
                  ? importCall(node, *function, operands, attributes, results)
                  : importOperator(node, scope, operands, attributes, results);
  if (!done)
    return false;
  for (auto [position, name] : llvm::enumerate(node.outputs)) {
    if (name.empty())
      continue;
    if (position >= results.size() || !results[position])
      return fail("operator does not produce output " + Twine(position));
    if (!define(name, results[position], scope))
      return false;
  }
  return true;
}

/// The version of ai.onnx in force, or 0.
static int64_t standardOpset(ArrayRef<OpsetImport> opsets) {
  for (const OpsetImport &opset : opsets)
    if (opset.domain.empty() || opset.domain == "ai.onnx")
      return opset.version;
  return 0;
}

/// The row of the table for a node, whatever its operands are like. Null, and
/// an error, where there is none or one that is refused.
const Operator *ModelImporter::findRow(const Node &node, const Scope &scope) {
  auto refuse = [&](const Twine &message, StringRef alternative = {}) {
    fail(message, alternative);
    return nullptr;
  };
  const bool isStandard = node.domain.empty() || node.domain == "ai.onnx";
  const Operator *ofMicrosoft = StringRef(node.domain) == kMicrosoftDomain
                                    ? findMicrosoftOperator(node.type)
                                    : nullptr;
  if (!isStandard && !ofMicrosoft)
    return refuse("unsupported: operator " + describe(node) +
                      ", expected one of ai.onnx, some of com.microsoft, or "
                      "a function of the model",
                  nearestOperator(node.type));
  int64_t opset = standardOpset(scope.opsets);
  if (opset == 0)
    return refuse("expected an opset import of ai.onnx");
  if (ofMicrosoft)
    return ofMicrosoft;
  bool known = false;
  const Operator *row = findOperator(node.type, opset, known);
  if (!known)
    return refuse("unknown operator " + describe(node),
                  nearestOperator(node.type));
  if (!row)
    return refuse("operator " + describe(node) + " does not exist in opset " +
                  Twine(opset));
  if (!row->refused.empty())
    return refuse("unsupported: " + row->refused);
  if (!row->import)
    return refuse("operator " + describe(node) + " was removed in opset " +
                  Twine(unsigned(row->since)));
  return row;
}

bool ModelImporter::importOperator(const Node &node, Scope &scope,
                                   ArrayRef<Value> operands,
                                   ArrayRef<const OnnxAttribute *> attributes,
                                   SmallVectorImpl<Value> &results) {
  const Operator *row = findRow(node, scope);
  if (!row)
    return false;
  int64_t opset = standardOpset(scope.opsets);
  size_t present = operands.size();
  for (size_t i = 0; i < row->minInputs; ++i)
    if (i >= operands.size() || !operands[i])
      return fail("expected at least " + Twine(unsigned(row->minInputs)) +
                  " inputs, input " + Twine(i) + " is missing");
  while (present > 0 && !operands[present - 1])
    --present;
  if (row->maxInputs != kAny && present > row->maxInputs)
    return fail("expected at most " + Twine(unsigned(row->maxInputs)) +
                " inputs in opset " + Twine(opset) + ", got " + Twine(present));
  if (row->maxOutputs != kAny && node.outputs.size() > row->maxOutputs)
    return fail("expected at most " + Twine(unsigned(row->maxOutputs)) +
                " outputs in opset " + Twine(opset) + ", got " +
                Twine(node.outputs.size()));

  auto tensors = [this](const Tensor &tensor) { return importTensor(tensor); };
  auto subgraphs = [&](std::string_view encoded, ArrayRef<Value> inputs) {
    return importSubgraph(encoded, inputs, scope);
  };
  NodeContext nodeContext(builder, node, opset, operands.take_front(present),
                          attributes, tensors, subgraphs,
                          options.isTraining ? &training : nullptr);
  row->import(nodeContext);
  if (!builder.failed())
    nodeContext.checkAllAttributesRead();
  results.assign(nodeContext.outputs().begin(), nodeContext.outputs().end());
  return !builder.failed();
}

//===-- Functions and subgraphs -------------------------------------------===//

bool ModelImporter::importCall(const Node &node, const Function &function,
                               ArrayRef<Value> operands,
                               ArrayRef<const OnnxAttribute *> attributes,
                               SmallVectorImpl<Value> &results) {
  StringRef name = function.name;
  if (llvm::is_contained(callStack, &function))
    return giveUp("function '" + name + "' calls itself");
  if (++depth > kMaxDepth)
    return giveUp("unsupported: functions nested deeper than " +
                  Twine(kMaxDepth));
  if (operands.size() > function.inputs.size())
    return fail("expected at most " + Twine(function.inputs.size()) +
                " inputs of function '" + name + "', got " +
                Twine(operands.size()));
  if (node.outputs.size() > function.outputs.size())
    return fail("expected at most " + Twine(function.outputs.size()) +
                " outputs of function '" + name + "', got " +
                Twine(node.outputs.size()));
  Scope scope;
  scope.opsets = function.opsets;
  for (auto [index, input] : llvm::enumerate(function.inputs)) {
    Value operand = index < operands.size() ? operands[index] : Value();
    if (!define(input, operand, scope))
      return false;
  }
  for (const OnnxAttribute &value : function.defaults)
    scope.callAttributes[value.name] = &value;
  for (const OnnxAttribute *value : attributes)
    scope.callAttributes[value->name] = value;

  std::optional<Location> outerSite = callSite;
  Location here = builder.location();
  callSite = here;
  callStack.push_back(&function);
  if (!importNodes(function.nodes, scope))
    return false;
  callStack.pop_back();
  callSite = outerSite;
  builder.setLocation(here);
  --depth;

  for (size_t i = 0; i < node.outputs.size(); ++i) {
    Value value;
    if (!node.outputs[i].empty() && !resolve(function.outputs[i], scope, value))
      return false;
    results.push_back(value);
  }
  return true;
}

SmallVector<Value> ModelImporter::importSubgraph(std::string_view encoded,
                                                 ArrayRef<Value> inputs,
                                                 Scope &scope) {
  if (builder.failed())
    return {};
  if (++depth > kMaxDepth) {
    giveUp("unsupported: graphs nested deeper than " + Twine(kMaxDepth));
    return {};
  }
  rt::Result<Graph> graph = readGraph(encoded);
  if (!graph.isOk()) {
    fail(graph.status().message());
    return {};
  }
  // Names and tensors point into the encoded bytes, not into this copy, but
  // the scope refers to its nodes and tensors.
  subgraphs.push_back(std::make_unique<Graph>(std::move(*graph)));
  const Graph &body = *subgraphs.back();
  Scope inner;
  inner.parent = &scope;
  inner.opsets = scope.opsets;
  inner.callAttributes = scope.callAttributes;
  Location here = builder.location();
  SmallVector<Value> results;
  if (body.inputs.size() != inputs.size()) {
    fail("expected " + Twine(inputs.size()) + " inputs of the subgraph, got " +
         Twine(body.inputs.size()));
    return {};
  }
  if (!addInitializers(body, inner))
    return {};
  for (auto [info, value] : llvm::zip(body.inputs, inputs))
    if (!define(info.name, value, inner))
      return {};
  if (!importNodes(body.nodes, inner))
    return {};
  builder.setLocation(here);
  for (const ValueInfo &output : body.outputs) {
    Value value;
    if (!resolve(output.name, inner, value))
      return {};
    results.push_back(value);
  }
  --depth;
  return results;
}
