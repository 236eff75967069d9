// SPDX-License-Identifier: Apache-2.0
//
// Files from anyone: nothing in them is believed. Nodes refer to nodes before
// them only, so that there are no cycles; numbers of outputs are bounded, and
// so is the depth of the text, because its parser recurses.

#include "Names.h"
#include "Nnvm.h"

#include "dlc/Symbol/Json.h"
#include "dlc/Symbol/MissingOperators.h"
#include "dlc/runtime/Base/Names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <algorithm>
#include <unordered_set>

using namespace dlc;
using namespace dlc::symbol;
using rt::Result;
using rt::Status;
using rt::StatusCode;
namespace json = llvm::json;

/// Versions of MXNet, as files count them: 0.9.4 is 904.
static constexpr int64_t kFirstWithVersion = 900, kFirstWithAuxiliary = 900,
                         kFirstWithInitializers = 904, kFirstWithAllAxes = 905,
                         kOldestVersion = 800;

static constexpr int kMaxDepth = 64;
static constexpr size_t kMaxOutputs = size_t(1) << 22;
static constexpr size_t kMaxFaults = 1000;
/// Each level of subgraphs multiplies what there is to infer.
static constexpr int kMaxSubgraphDepth = 4;

template <typename... Parts> static Status bad(const Parts &...parts) {
  std::string message;
  ((message += parts), ...);
  return Status(StatusCode::InvalidArgument, std::move(message));
}

template <typename... Parts> static Status unsupported(const Parts &...parts) {
  std::string message = "unsupported: ";
  ((message += parts), ...);
  return Status(StatusCode::Unsupported, std::move(message));
}

//===-- Text --------------------------------------------------------------===//

static Status checkDepth(std::string_view text) {
  int depth = 0;
  bool isString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (isString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        isString = false;
      continue;
    }
    isString = c == '"';
    if (c == '{' || c == '[')
      ++depth;
    if (c == '}' || c == ']')
      --depth;
    if (depth > kMaxDepth)
      return Status(StatusCode::DataLoss, "expected at most " +
                                              std::to_string(kMaxDepth) +
                                              " nested values");
  }
  return Status::ok();
}

static Result<json::Value> parseText(std::string_view text) {
  DLC_RETURN_IF_ERROR(checkDepth(text));
  llvm::Expected<json::Value> value = json::parse(text);
  if (value)
    return std::move(*value);
  return Status(StatusCode::DataLoss,
                "malformed JSON: " + llvm::toString(value.takeError()));
}

/// What stands there in place of a number, for messages: not all of a file.
static std::string textOf(const json::Value &value) {
  std::string text = llvm::formatv("{0}", value).str();
  constexpr size_t most = 40;
  return text.size() > most ? text.substr(0, most) + "..." : text;
}

/// A number of at least 0 and below `bound`.
static std::optional<uint32_t> indexOf(const json::Value &value, size_t bound) {
  std::optional<int64_t> number = value.getAsInteger();
  if (!number || *number < 0 || static_cast<uint64_t>(*number) >= bound)
    return std::nullopt;
  return static_cast<uint32_t>(*number);
}

//===-- The reader --------------------------------------------------------===//

namespace {
using Faults = std::vector<NodeFault>;

class Reader {
public:
  explicit Reader(Faults *faults) : faults(faults) {}
  /// Of a subgraph in a file that another one reads.
  explicit Reader(const Reader &outer)
      : faults(outer.faults), version(outer.version),
        hasNumpyShapes(outer.hasNumpyShapes), isNnvm(outer.isNnvm),
        depth(outer.depth + 1) {}

  Result<Symbol> read(const json::Object &file);
  // After read(): what FileFaults has.
  Symbol findRest() const;
  std::vector<std::string> listVariables() const;

private:
  Status readVersion(const json::Object &file);
  Status readKind(const json::Object &file, const json::Array &nodes);
  Status addNode(const json::Value &value);
  Status readNode(const json::Object &object, Node &node, Faults &found);
  Status readVariable(const json::Object &object, Node &node);
  Status readAttributes(const json::Object &object, const std::string &what,
                        Attributes &attributes);
  Status readEntry(const json::Value &value, const std::string &what,
                   Entry &entry);
  Status readInputs(const json::Object &object, Node &node);
  Status readDependencies(const json::Object &object, Node &node);
  Status readBodies(const json::Object &object, Node &node, Faults &found);
  Status readOperator(const json::Object &object, llvm::StringRef op,
                      Node &node, Faults &found);
  Status readNnvmOperator(const json::Object &object, llvm::StringRef op,
                          Node &node);
  void upgrade(Node &node, Attributes &attributes);
  Status addMissingInputs(Node &node);
  Status checkArguments(const json::Object &file);
  Status readHeads(const json::Object &file);
  Status readNodes(const json::Object &file);

  bool isBroken(size_t node) const { return outputCounts[node] == 0; }

  Faults *faults; ///< Null where the first one is enough.
  std::vector<std::shared_ptr<Node>> nodes;
  std::vector<size_t> outputCounts; ///< By node; 0 where it is at fault.
  std::vector<Entry> outputs;
  Status firstFault; ///< Of a node, where `faults` are told.
  size_t outputTotal = 0;
  int64_t version = kOldestVersion;
  bool hasNumpyShapes = false;
  bool isNnvm = false; ///< Operators are those of NNVM's compiler.
  int depth = 0;       ///< Of subgraphs in subgraphs.
};
} // namespace

static NodeFault faultOf(const Node &node, llvm::StringRef op, Status status,
                         std::string alternative = "") {
  return {node.name, op.str(), std::move(status), std::move(alternative)};
}

/// "attrs" of the file: {"name": ["type", value]}.
Status Reader::readVersion(const json::Object &file) {
  const json::Object *attributes = file.getObject("attrs");
  if (!attributes)
    return Status::ok();
  auto number = [&](llvm::StringRef key) -> std::optional<int64_t> {
    const json::Array *pair = attributes->getArray(key);
    return pair && pair->size() == 2 ? (*pair)[1].getAsInteger() : std::nullopt;
  };
  if (attributes->get("mxnet_version")) {
    std::optional<int64_t> given = number("mxnet_version");
    if (!given || *given < kFirstWithVersion)
      return bad("expected mxnet_version as [\"int\", number]");
    version = *given;
  }
  if (attributes->get("is_np_shape")) {
    std::optional<int64_t> given = number("is_np_shape");
    if (!given)
      return bad("expected is_np_shape as [\"int\", number]");
    hasNumpyShapes = *given != 0;
  }
  return Status::ok();
}

/// Files of MXNet say of which version they are, except for the oldest, and
/// have no operators that only NNVM's compiler has. It knew no versions.
Status Reader::readKind(const json::Object &file, const json::Array &list) {
  const json::Object *attributes = file.getObject("attrs");
  if (depth > 0 || (attributes && attributes->get("mxnet_version")))
    return Status::ok();
  for (const json::Value &value : list) {
    const json::Object *object = value.getAsObject();
    llvm::StringRef op =
        object ? object->getString("op").value_or("") : llvm::StringRef();
    std::string_view name(op.data(), op.size());
    if (name == kCompiledOperator)
      return unsupported(
          "a graph that TVM compiled, whose nodes name kernels in a library "
          "beside the file; expected the graph before nnvm.compiler.build");
    isNnvm |= isOfNnvmOnly(name);
  }
  // All inputs are written down, and attributes as they are today.
  if (isNnvm)
    version = kFirstWithAllAxes;
  return Status::ok();
}

/// Parameters and the user's attributes, wherever the age of the file puts
/// them.
Status Reader::readAttributes(const json::Object &object,
                              const std::string &what, Attributes &attributes) {
  for (llvm::StringRef field : {"attrs", "attr", "param"}) {
    const json::Value *value = object.get(field);
    if (!value)
      continue;
    const json::Object *pairs = value->getAsObject();
    if (!pairs)
      return bad(what, ": expected an object in '", field.str(), "'");
    for (const auto &[key, text] : *pairs) {
      std::optional<llvm::StringRef> string = text.getAsString();
      if (!string)
        return bad(what, ": expected text of attribute '",
                   rt::toPrintable(key.str()), "'");
      attributes.emplace(key.str(), string->str());
    }
  }
  return checkAttributes(attributes).withContext(what);
}

/// [node, output] or [node, output, version].
Status Reader::readEntry(const json::Value &value, const std::string &what,
                         Entry &entry) {
  const json::Array *numbers = value.getAsArray();
  if (!numbers || numbers->size() < 2 || numbers->size() > 3)
    return bad(what, ": expected [node, output, version]");
  std::optional<uint32_t> node = indexOf((*numbers)[0], nodes.size());
  if (!node)
    return bad(what, ": expected the number of a node before it, below ",
               std::to_string(nodes.size()), ", got ", textOf((*numbers)[0]));
  // Nobody knows how many an operator has that is at fault.
  std::optional<uint32_t> index = indexOf(
      (*numbers)[1], isBroken(*node) ? kMaxOutputs : outputCounts[*node]);
  if (!index)
    return bad(what, ": expected an output of ", nodes[*node]->describe(),
               " below ", std::to_string(outputCounts[*node]), ", got ",
               textOf((*numbers)[1]));
  // Versions are counted anew: old files lack them.
  entry = {nodes[*node], *index, 0};
  return Status::ok();
}

/// Takes all that can be read, for what depends on it.
Status Reader::readInputs(const json::Object &object, Node &node) {
  const json::Array *inputs = object.getArray("inputs");
  if (!inputs)
    return bad(node.describe(), ": expected an array of inputs");
  Status first;
  for (size_t i = 0; i < inputs->size(); ++i) {
    Entry entry;
    Status status = readEntry(
        (*inputs)[i], node.describe() + ": input " + std::to_string(i), entry);
    if (status.isOk())
      node.inputs.push_back(std::move(entry));
    else if (first.isOk())
      first = std::move(status);
  }
  return first;
}

Status Reader::readDependencies(const json::Object &object, Node &node) {
  const json::Value *value = object.get("control_deps");
  if (!value)
    return Status::ok();
  const json::Array *ids = value->getAsArray();
  if (!ids)
    return bad(node.describe(), ": expected an array in 'control_deps'");
  for (const json::Value &each : *ids) {
    std::optional<uint32_t> id = indexOf(each, nodes.size());
    if (!id)
      return bad(node.describe(),
                 ": expected control dependencies on nodes before it, got ",
                 textOf(each));
    node.controlDependencies.push_back(nodes[*id]);
  }
  return Status::ok();
}

/// What later versions of MXNet write in another way.
void Reader::upgrade(Node &node, Attributes &attributes) {
  attributes = normalize(*node.op, attributes);
  bool isArg = node.op->name == "argmax" || node.op->name == "argmin";
  auto axis = attributes.find("axis");
  if (version < kFirstWithAllAxes && isArg && axis != attributes.end() &&
      axis->second == "-1")
    attributes.erase(axis);
}

Status Reader::addMissingInputs(Node &node) {
  std::vector<std::string> names = node.inputNames();
  // Operands that are counted were always written down.
  if (version < kFirstWithAuxiliary && !node.op->isVariadic(node.parameters))
    for (size_t i = node.inputs.size(); i < names.size(); ++i) {
      auto variable = std::make_shared<Node>();
      variable->name = node.name + "_" + names[i];
      variable->attributes = node.attributes;
      node.inputs.push_back({std::move(variable)});
    }
  if (node.inputs.size() == names.size())
    return Status::ok();
  std::string list;
  for (size_t i = 0; i < names.size() && i < 8; ++i)
    list += (i ? ", " : " (") + names[i];
  return bad(node.describe(), ": expected ", std::to_string(names.size()),
             " inputs", list, list.empty() ? "" : ")", ", got ",
             std::to_string(node.inputs.size()));
}

/// Subgraphs, which only control flow has. Their own nodes' faults are told as
/// such; then the result is the first of these.
Status Reader::readBodies(const json::Object &object, Node &node,
                          Faults &found) {
  const json::Array *bodies = object.getArray("subgraphs");
  size_t count = bodies ? bodies->size() : 0;
  auto fail = [&](Status status) {
    found.push_back(faultOf(node, node.op->name, std::move(status)));
    return Status::ok();
  };
  if (count > 0 && node.op->bodyCount == 0)
    return fail(unsupported("subgraphs of ", node.describe()));
  if (count != node.op->bodyCount)
    return fail(bad(node.describe(), ": expected ",
                    std::to_string(node.op->bodyCount), " subgraphs, got ",
                    std::to_string(count)));
  if (count > 0 && depth == kMaxSubgraphDepth)
    return fail(unsupported(node.describe(), ": subgraphs in more than ",
                            std::to_string(kMaxSubgraphDepth), " others"));
  Status first;
  for (size_t i = 0; i < count; ++i) {
    const json::Object *body = (*bodies)[i].getAsObject();
    std::string what = node.describe() + ": subgraph " + std::to_string(i);
    size_t known = faults ? faults->size() : 0;
    Reader inner(*this);
    Result<Symbol> symbol =
        body ? inner.read(*body) : Result<Symbol>(bad("expected an object"));
    if (symbol.isOk()) {
      node.bodies.push_back(std::move(*symbol));
      continue;
    }
    Status status = std::move(symbol.status()).withContext(what);
    if (inner.firstFault.isOk())
      found.push_back(faultOf(node, node.op->name, std::move(status)));
    else if (first.isOk())
      first = std::move(status);
    for (size_t j = known; faults && j < faults->size(); ++j)
      if (NodeFault &fault = (*faults)[j]; fault.node.empty())
        fault = faultOf(node, node.op->name,
                        std::move(fault.status).withContext(what));
  }
  return first;
}

Status Reader::readNnvmOperator(const json::Object &object, llvm::StringRef op,
                                Node &node) {
  std::string_view name(op.data(), op.size());
  if (!isOfNnvm(name))
    return unsupported("operator '", rt::toPrintable(op), "' of node '",
                       rt::toPrintable(node.name), "' in a graph of NNVM");
  node.op = declarationOfNnvm(name);
  node.sourceName = node.name;
  node.sourceOperator = name;
  if (const json::Value *bodies = object.get("subgraphs");
      bodies && bodies->getAsArray() && !bodies->getAsArray()->empty())
    return unsupported("subgraphs of ", node.describe());
  Attributes attributes;
  DLC_RETURN_IF_ERROR(readAttributes(object, node.describe(), attributes));
  DLC_RETURN_IF_ERROR(readInputs(object, node));
  return applyNnvm(name, attributes, node);
}

/// All that is wrong with an operator goes to `found`; the result is the first
/// fault in its subgraphs that has been told.
Status Reader::readOperator(const json::Object &object, llvm::StringRef op,
                            Node &node, Faults &found) {
  auto take = [&](Status status, std::string alternative = "") {
    if (!status.isOk())
      found.push_back(
          faultOf(node, op, std::move(status), std::move(alternative)));
  };
  std::string_view name(op.data(), op.size());
  if (isNnvm) {
    Status status = readNnvmOperator(object, op, node);
    take(std::move(status), node.op ? "" : alternativeTo(name));
    return Status::ok();
  }
  node.op = findOperator(name);
  Status inputs = readInputs(object, node);
  if (!node.op) {
    std::string reason(reasonOfMissing(name));
    take(unsupported("operator '", rt::toPrintable(op), "' of node '",
                     rt::toPrintable(node.name), "'",
                     reason.empty() ? reason : ": " + reason),
         alternativeTo(name));
    return Status::ok();
  }
  Status ofBodies = readBodies(object, node, found);
  Attributes attributes;
  if (Status status = readAttributes(object, node.describe(), attributes);
      status.isOk()) {
    upgrade(node, attributes);
    std::vector<ParameterFault> wrong;
    Result<Parameters> parameters =
        Parameters::parse(*node.op, attributes, &wrong);
    for (ParameterFault &fault : wrong)
      take(std::move(fault.status).withContext(node.describe()),
           std::move(fault.alternative));
    if (parameters.isOk())
      node.parameters = std::move(*parameters);
    node.attributes = std::move(attributes);
  } else {
    take(std::move(status));
  }
  take(std::move(inputs));
  if (!found.empty() || !ofBodies.isOk())
    return ofBodies;
  if (Status status = addMissingInputs(node); !status.isOk()) {
    take(std::move(status));
    return Status::ok();
  }
  giveToInputs(node);
  if (version < kFirstWithInitializers)
    setInitializers(node);
  return Status::ok();
}

Status Reader::readVariable(const json::Object &object, Node &node) {
  Attributes attributes;
  DLC_RETURN_IF_ERROR(readAttributes(object, node.describe(), attributes));
  for (const auto &[key, value] : attributes)
    node.attributes[attributeName(key)] = value;
  if (const json::Array *inputs = object.getArray("inputs");
      inputs && !inputs->empty())
    return bad(node.describe(), ": expected no inputs");
  return Status::ok();
}

/// As readOperator().
Status Reader::readNode(const json::Object &object, Node &node, Faults &found) {
  std::string what = "node " + std::to_string(nodes.size());
  std::optional<llvm::StringRef> op = object.getString("op");
  std::optional<llvm::StringRef> name = object.getString("name");
  // Its result is that of subgraphs, of which there are none.
  auto take = [&](Status status) {
    if (!status.isOk())
      found.push_back({node.name.empty() ? what : node.name,
                       op.value_or("").str(), std::move(status), ""});
    return Status::ok();
  };
  if (!op || !name)
    return take(bad(what, ": expected text in '", op ? "name" : "op", "'"));
  if (Status status = checkText("the name of " + what, name->str());
      !status.isOk())
    return take(std::move(status));
  node.name = name->str();
  if (*op == "null" && name->empty())
    return take(
        bad(what, ": expected a name of the variable, got an empty one"));
  Status ofBodies = *op == "null" ? take(readVariable(object, node))
                                  : readOperator(object, *op, node, found);
  if (!found.empty() || !ofBodies.isOk())
    return ofBodies;
  if (hasNumpyShapes || isNumpyOperator(node))
    node.attributes[std::string(kNumpyShapeKey)] = hasNumpyShapes ? "1" : "0";
  return take(readDependencies(object, node));
}

/// Goes on behind a node that is at fault, to find the others, where the caller
/// wants to know them.
Status Reader::addNode(const json::Value &value) {
  auto node = std::make_shared<Node>();
  Faults found;
  std::string what = "node " + std::to_string(nodes.size());
  Status ofBodies;
  if (const json::Object *object = value.getAsObject())
    ofBodies = readNode(*object, *node, found);
  else
    found.push_back({what, "", bad(what, ": expected an object"), ""});
  bool isGood = found.empty() && ofBodies.isOk();
  if (!isGood && !faults)
    return found.empty() ? std::move(ofBodies)
                         : std::move(found.front().status);
  if (!isGood && firstFault.isOk()) {
    const Status &first = found.empty() ? ofBodies : found.front().status;
    firstFault = Status(first.code(), first.message());
  }
  for (NodeFault &fault : found)
    if (faults->size() < kMaxFaults)
      faults->push_back(std::move(fault));
  outputCounts.push_back(isGood ? node->outputCount() : 0);
  outputTotal += outputCounts.back();
  if (outputTotal > kMaxOutputs)
    return unsupported("more than ", std::to_string(kMaxOutputs),
                       " outputs of nodes");
  nodes.push_back(std::move(node));
  return Status::ok();
}

/// The list of variables says nothing new, but what it says must be true.
Status Reader::checkArguments(const json::Object &file) {
  const json::Array *arguments = file.getArray("arg_nodes");
  if (!arguments)
    return bad("expected an array in 'arg_nodes'");
  for (const json::Value &value : *arguments) {
    std::optional<uint32_t> id = indexOf(value, nodes.size());
    if (!id || !nodes[*id]->isVariable())
      return bad("expected numbers of variables in 'arg_nodes'");
  }
  return Status::ok();
}

/// Takes all that can be read, for what they are made of.
Status Reader::readHeads(const json::Object &file) {
  const json::Array *heads = file.getArray("heads");
  if (!heads || heads->empty())
    return bad("expected entries in 'heads'");
  Status first;
  for (size_t i = 0; i < heads->size(); ++i) {
    Entry entry;
    Status status = readEntry((*heads)[i], "head " + std::to_string(i), entry);
    if (status.isOk())
      outputs.push_back(std::move(entry));
    else if (first.isOk())
      first = std::move(status);
  }
  return first;
}

std::vector<std::string> Reader::listVariables() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i]->isVariable() && !isBroken(i))
      names.push_back(nodes[i]->name);
  return names;
}

Symbol Reader::findRest() const {
  std::unordered_set<const Node *> ofFile, broken, live, read;
  for (const std::shared_ptr<Node> &node : nodes)
    ofFile.insert(node.get());
  // One of NNVM's may be several, of which the file has the last.
  auto visitOperands = [&](const Node &node, auto &&visit) {
    std::vector<const Node *> parts = {&node};
    std::unordered_set<const Node *> known;
    auto take = [&](const Node *operand) {
      if (ofFile.contains(operand))
        visit(operand);
      else if (known.insert(operand).second)
        parts.push_back(operand);
    };
    while (!parts.empty()) {
      const Node *part = parts.back();
      parts.pop_back();
      for (const Entry &input : part->inputs)
        take(input.node.get());
      for (const std::shared_ptr<Node> &each : part->controlDependencies)
        take(each.get());
    }
  };
  for (size_t i = 0; i < nodes.size(); ++i) {
    bool dependsOnBroken = isBroken(i);
    visitOperands(*nodes[i], [&](const Node *operand) {
      dependsOnBroken |= broken.contains(operand);
    });
    if (dependsOnBroken)
      broken.insert(nodes[i].get());
  }
  for (const Entry &output : outputs)
    live.insert(output.node.get());
  std::vector<Entry> sound;
  for (const std::shared_ptr<Node> &node : llvm::reverse(nodes)) {
    if (!live.contains(node.get()))
      continue;
    bool isSound = !broken.contains(node.get());
    if (isSound && !node->isVariable() && !read.contains(node.get()))
      sound.push_back({node, 0, 0});
    visitOperands(*node, [&](const Node *operand) {
      live.insert(operand);
      if (isSound)
        read.insert(operand);
    });
  }
  std::ranges::reverse(sound);
  for (const std::shared_ptr<Node> &node : Symbol(sound).nodes())
    if (!node->isVariable() && !setVersions(*node).isOk())
      return Symbol();
  for (Entry &output : sound)
    output.version = output.node->version;
  return Symbol(std::move(sound));
}

Status Reader::readNodes(const json::Object &file) {
  DLC_RETURN_IF_ERROR(readVersion(file));
  const json::Array *list = file.getArray("nodes");
  if (!list)
    return bad("expected an array in 'nodes'");
  DLC_RETURN_IF_ERROR(readKind(file, *list));
  for (const json::Value &value : *list)
    DLC_RETURN_IF_ERROR(addNode(value));
  Status status = checkArguments(file);
  Status ofHeads = readHeads(file);
  return status.isOk() ? std::move(ofHeads) : std::move(status);
}

Result<Symbol> Reader::read(const json::Object &file) {
  Status status = readNodes(file);
  if (!firstFault.isOk()) {
    if (!status.isOk() && faults->size() < kMaxFaults)
      faults->push_back({"", "", std::move(status), ""});
    return Status(firstFault.code(), firstFault.message());
  }
  if (!status.isOk())
    return status;
  // In the order of the network, so that it is the same when read again.
  for (const std::shared_ptr<Node> &node : Symbol(outputs).nodes())
    if (!node->isVariable())
      DLC_RETURN_IF_ERROR(setVersions(*node));
  for (Entry &output : outputs)
    output.version = output.node->version;
  return Symbol(outputs);
}

Result<Symbol> symbol::fromJson(std::string_view text, FileFaults *faults) {
  Result<json::Value> value = parseText(text);
  if (!value.isOk())
    return std::move(value.status());
  const json::Object *file = value->getAsObject();
  if (!file)
    return bad("expected an object at the top");
  Reader reader(faults ? &faults->nodes : nullptr);
  Result<Symbol> symbol = reader.read(*file);
  if (!faults || faults->nodes.empty())
    return symbol;
  faults->rest = reader.findRest();
  faults->variables = reader.listVariables();
  return symbol;
}
