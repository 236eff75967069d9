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

#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

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
class Reader {
public:
  explicit Reader(std::vector<NodeFault> *faults) : faults(faults) {}
  /// Of a subgraph in a file that another one reads.
  explicit Reader(const Reader &outer)
      : faults(outer.faults), version(outer.version),
        hasNumpyShapes(outer.hasNumpyShapes), isNnvm(outer.isNnvm),
        depth(outer.depth + 1) {}

  Result<Symbol> read(const json::Object &file);
  /// After read(): FileFaults::rest.
  Symbol findRest() const;

private:
  Status readVersion(const json::Object &file);
  Status readKind(const json::Object &file, const json::Array &nodes);
  Status readNode(const json::Object &object);
  Status readAttributes(const json::Object &object, const std::string &what,
                        Attributes &attributes);
  Status readEntry(const json::Value &value, const std::string &what,
                   Entry &entry);
  Status readInputs(const json::Object &object, Node &node);
  Status readDependencies(const json::Object &object, Node &node);
  Status readBodies(const json::Object &object, Node &node);
  Status readOperator(const json::Object &object, llvm::StringRef op,
                      Node &node);
  Status readNnvmOperator(const json::Object &object, llvm::StringRef op,
                          Node &node);
  Status addFault(Status status, llvm::StringRef op, const Node &node,
                  std::string alternative = "");
  Status readHeads(const json::Object &file, std::vector<Entry> &outputs);
  void upgrade(Node &node, Attributes &attributes);
  Status addMissingInputs(Node &node);
  Status checkArguments(const json::Object &file);

  std::vector<NodeFault> *faults;
  std::vector<std::shared_ptr<Node>> nodes;
  std::vector<size_t> outputCounts;
  size_t outputTotal = 0;
  int64_t version = kOldestVersion;
  bool hasNumpyShapes = false;
  bool isNnvm = false; ///< Operators are those of NNVM's compiler.
  int depth = 0;       ///< Of subgraphs in subgraphs.
};
} // namespace

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
  bool isFaulty = outputCounts[*node] == 0;
  std::optional<uint32_t> index =
      indexOf((*numbers)[1], isFaulty ? kMaxOutputs : outputCounts[*node]);
  if (!index)
    return bad(what, ": expected an output of ", nodes[*node]->describe(),
               " below ", std::to_string(outputCounts[*node]), ", got ",
               textOf((*numbers)[1]));
  // Versions are counted anew: old files lack them.
  entry = {nodes[*node], *index, 0};
  return Status::ok();
}

Status Reader::readInputs(const json::Object &object, Node &node) {
  const json::Array *inputs = object.getArray("inputs");
  if (!inputs)
    return bad(node.describe(), ": expected an array of inputs");
  for (const json::Value &value : *inputs) {
    Entry entry;
    DLC_RETURN_IF_ERROR(readEntry(value,
                                  node.describe() + ": input " +
                                      std::to_string(node.inputs.size()),
                                  entry));
    node.inputs.push_back(std::move(entry));
  }
  return Status::ok();
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

/// Subgraphs, which only control flow has.
Status Reader::readBodies(const json::Object &object, Node &node) {
  const json::Array *bodies = object.getArray("subgraphs");
  size_t count = bodies ? bodies->size() : 0;
  if (count > 0 && node.op->bodyCount == 0)
    return unsupported("subgraphs of ", node.describe());
  if (count != node.op->bodyCount)
    return bad(node.describe(), ": expected ",
               std::to_string(node.op->bodyCount), " subgraphs, got ",
               std::to_string(count));
  if (count > 0 && depth == kMaxSubgraphDepth)
    return unsupported(node.describe(), ": subgraphs in more than ",
                       std::to_string(kMaxSubgraphDepth), " others");
  for (size_t i = 0; i < count; ++i) {
    const json::Object *body = (*bodies)[i].getAsObject();
    std::string what = node.describe() + ": subgraph " + std::to_string(i);
    if (!body)
      return bad(what, ": expected an object");
    Result<Symbol> symbol = Reader(*this).read(*body);
    if (!symbol.isOk())
      return std::move(symbol.status()).withContext(what);
    node.bodies.push_back(std::move(*symbol));
  }
  return Status::ok();
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

Status Reader::readOperator(const json::Object &object, llvm::StringRef op,
                            Node &node) {
  if (isNnvm)
    return readNnvmOperator(object, op, node);
  node.op = findOperator({op.data(), op.size()});
  if (!node.op) {
    std::string reason(reasonOfMissing({op.data(), op.size()}));
    return unsupported("operator '", rt::toPrintable(op), "' of node '",
                       rt::toPrintable(node.name), "'",
                       reason.empty() ? reason : ": " + reason);
  }
  DLC_RETURN_IF_ERROR(readBodies(object, node));
  Attributes attributes;
  DLC_RETURN_IF_ERROR(readAttributes(object, node.describe(), attributes));
  upgrade(node, attributes);
  std::vector<ParameterFault> wrong;
  Result<Parameters> parameters =
      Parameters::parse(*node.op, attributes, &wrong);
  if (!parameters.isOk()) {
    for (ParameterFault &fault : wrong)
      DLC_RETURN_IF_ERROR(
          addFault(std::move(fault.status).withContext(node.describe()), op,
                   node, std::move(fault.alternative)));
    return std::move(parameters.status()).withContext(node.describe());
  }
  node.attributes = std::move(attributes);
  node.parameters = std::move(*parameters);
  DLC_RETURN_IF_ERROR(readInputs(object, node));
  DLC_RETURN_IF_ERROR(addMissingInputs(node));
  giveToInputs(node);
  if (version < kFirstWithInitializers)
    setInitializers(node);
  return Status::ok();
}

/// Goes on behind an operator that is at fault, to find the others, where the
/// caller wants to know them.
Status Reader::addFault(Status status, llvm::StringRef op, const Node &node,
                        std::string alternative) {
  if (!faults || faults->size() == kMaxFaults)
    return status;
  if (!node.op)
    alternative = alternativeTo({op.data(), op.size()});
  faults->push_back(
      {node.name, op.str(), std::move(status), std::move(alternative)});
  return Status::ok();
}

Status Reader::readNode(const json::Object &object) {
  auto node = std::make_shared<Node>();
  std::string what = "node " + std::to_string(nodes.size());
  std::optional<llvm::StringRef> op = object.getString("op");
  std::optional<llvm::StringRef> name = object.getString("name");
  if (!op || !name)
    return bad(what, ": expected text in '", op ? "name" : "op", "'");
  node->name = name->str();
  DLC_RETURN_IF_ERROR(checkText("the name of " + what, node->name));
  if (*op == "null") {
    if (name->empty())
      return bad(what, ": expected a name of the variable, got an empty one");
    Attributes attributes;
    DLC_RETURN_IF_ERROR(readAttributes(object, node->describe(), attributes));
    for (const auto &[key, value] : attributes)
      node->attributes[attributeName(key)] = value;
    if (const json::Array *inputs = object.getArray("inputs");
        inputs && !inputs->empty())
      return bad(node->describe(), ": expected no inputs");
  } else {
    size_t known = faults ? faults->size() : 0;
    Status status = readOperator(object, *op, *node);
    if (!status.isOk()) {
      // What is wrong inside of it is said already.
      if (!faults || faults->size() == known)
        DLC_RETURN_IF_ERROR(addFault(std::move(status), *op, *node));
      outputCounts.push_back(0);
      nodes.push_back(std::move(node));
      return Status::ok();
    }
  }
  if (hasNumpyShapes || isNumpyOperator(*node))
    node->attributes[std::string(kNumpyShapeKey)] = hasNumpyShapes ? "1" : "0";
  DLC_RETURN_IF_ERROR(readDependencies(object, *node));
  outputCounts.push_back(node->outputCount());
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

Status Reader::readHeads(const json::Object &file,
                         std::vector<Entry> &outputs) {
  const json::Array *heads = file.getArray("heads");
  if (!heads || heads->empty())
    return bad("expected entries in 'heads'");
  for (const json::Value &value : *heads) {
    Entry entry;
    DLC_RETURN_IF_ERROR(
        readEntry(value, "head " + std::to_string(outputs.size()), entry));
    outputs.push_back(std::move(entry));
  }
  return Status::ok();
}

Symbol Reader::findRest() const {
  std::unordered_set<const Node *> broken, read;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node &node = *nodes[i];
    bool isBroken = outputCounts[i] == 0;
    for (const Entry &input : node.inputs)
      isBroken |= broken.contains(input.node.get());
    for (const std::shared_ptr<Node> &each : node.controlDependencies)
      isBroken |= broken.contains(each.get());
    if (isBroken) {
      broken.insert(&node);
      continue;
    }
    for (const Entry &input : node.inputs)
      read.insert(input.node.get());
  }
  std::vector<Entry> outputs;
  for (const std::shared_ptr<Node> &node : nodes)
    if (!node->isVariable() && !broken.contains(node.get()) &&
        !read.contains(node.get()))
      outputs.push_back({node, 0, 0});
  for (const std::shared_ptr<Node> &node : Symbol(outputs).nodes())
    if (!node->isVariable() && !setVersions(*node).isOk())
      return Symbol();
  for (Entry &output : outputs)
    output.version = output.node->version;
  return Symbol(std::move(outputs));
}

Result<Symbol> Reader::read(const json::Object &file) {
  size_t known = faults ? faults->size() : 0;
  DLC_RETURN_IF_ERROR(readVersion(file));
  const json::Array *list = file.getArray("nodes");
  if (!list)
    return bad("expected an array in 'nodes'");
  DLC_RETURN_IF_ERROR(readKind(file, *list));
  for (const json::Value &value : *list) {
    const json::Object *object = value.getAsObject();
    if (!object)
      return bad("node ", std::to_string(nodes.size()), ": expected an object");
    DLC_RETURN_IF_ERROR(readNode(*object));
  }
  std::vector<Entry> outputs;
  Status status = checkArguments(file);
  if (status.isOk())
    status = readHeads(file, outputs);
  if (faults && faults->size() > known) {
    if (!status.isOk() && depth == 0 && faults->size() < kMaxFaults)
      faults->push_back({"", "", std::move(status), ""});
    const Status &first = (*faults)[known].status;
    return Status(first.code(), first.message());
  }
  if (!status.isOk())
    return status;
  // In the order of the network, so that it is the same when read again.
  for (const std::shared_ptr<Node> &node : Symbol(outputs).nodes())
    if (!node->isVariable())
      DLC_RETURN_IF_ERROR(setVersions(*node));
  for (Entry &output : outputs)
    output.version = output.node->version;
  return Symbol(std::move(outputs));
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
  // Behind what ends the file nothing was read.
  const Status &first = faults->nodes.front().status;
  if (symbol.status().message() != first.message())
    faults->nodes.push_back(
        {"", "", Status(symbol.status().code(), symbol.status().message()),
         ""});
  else
    faults->rest = reader.findRest();
  return symbol;
}
