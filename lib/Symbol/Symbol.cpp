// SPDX-License-Identifier: Apache-2.0
//
// What symbols tell of themselves; Compose.cpp makes them.

#include "dlc/Symbol/Symbol.h"

#include "Names.h"
#include "dlc/runtime/Base/Names.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

using namespace dlc;
using namespace dlc::symbol;
using rt::Status;
using rt::StatusCode;

//===-- Nodes -------------------------------------------------------------===//

/// Moves what `node` refers to behind `children`.
static void takeChildren(Node &node,
                         std::vector<std::shared_ptr<Node>> &children) {
  for (Entry &input : node.inputs)
    children.push_back(std::move(input.node));
  for (std::shared_ptr<Node> &dependency : node.controlDependencies)
    children.push_back(std::move(dependency));
}

Node::~Node() {
  std::vector<std::shared_ptr<Node>> children;
  takeChildren(*this, children);
  while (!children.empty()) {
    std::shared_ptr<Node> node = std::move(children.back());
    children.pop_back();
    // A node may stand there several times; the last of them frees it.
    if (node.use_count() == 1)
      takeChildren(*node, children);
  }
}

bool Node::isApplied() const {
  if (!op || !inputs.empty() || op->inputs.empty())
    return true;
  // Parameters may stand for all of its inputs.
  return !op->isVariadic(parameters) && op->inputNames(parameters).empty();
}

Status Node::checkApplied() const {
  return isApplied()
             ? Status::ok()
             : Status(StatusCode::InvalidArgument,
                      describe() + ": expected an operator that is applied");
}

size_t Node::outputCount() const {
  return op ? op->outputCountOf(parameters) : 1;
}

size_t Node::visibleOutputCount() const {
  return op ? op->visibleOutputCount(parameters) : 1;
}

std::string Node::outputName(size_t index) const {
  return op ? name + "_" + op->outputName(parameters, index) : name;
}

std::string Node::describe() const {
  if (!op)
    return "variable '" + rt::toPrintable(name) + "'";
  return "node '" + rt::toPrintable(shownName()) + "' (" +
         std::string(shownOperator()) + ")";
}

const std::string &Node::shownName() const {
  return sourceName.empty() ? name : sourceName;
}

std::string_view Node::shownOperator() const {
  if (!sourceOperator.empty())
    return sourceOperator;
  return op ? op->name : std::string_view();
}

//===-- Attributes --------------------------------------------------------===//

std::string symbol::attributeName(std::string_view key) {
  bool isKnown = std::ranges::find(kReservedKeys, key) != kReservedKeys.end();
  return isKnown ? "__" + std::string(key) + "__" : std::string(key);
}

/// The node that has all outputs, or null.
static Node *onlyNode(const std::vector<Entry> &entries) {
  if (entries.empty())
    return nullptr;
  for (const Entry &entry : entries)
    if (entry.node != entries.front().node)
      return nullptr;
  return entries.front().node.get();
}

std::string Symbol::name() const {
  const Node *node = onlyNode(entries);
  return node ? node->name : "";
}

Attributes Symbol::attributes() const {
  const Node *node = onlyNode(entries);
  return node ? node->attributes : Attributes();
}

std::map<std::string, Attributes, std::less<>> Symbol::allAttributes() const {
  std::map<std::string, Attributes, std::less<>> result;
  for (const std::shared_ptr<Node> &node : nodes())
    if (!node->attributes.empty())
      result[node->name] = node->attributes;
  return result;
}

/// "inputs" or "outputs" that other parameters would change and that somebody
/// may refer to; else null.
static const char *changedOperands(const Node &node,
                                   const Parameters &parameters) {
  const Operator &op = *node.op;
  Node changed = node;
  changed.parameters = parameters;
  if (node.isApplied() && changed.inputNames() != node.inputNames())
    return "inputs";
  bool isSame = op.outputNames(parameters) == op.outputNames(node.parameters) &&
                op.visibleOutputCount(parameters) == node.visibleOutputCount();
  return isSame ? nullptr : "outputs";
}

Status Symbol::setAttribute(std::string_view key, std::string_view value) {
  if (!isOk())
    return status();
  Node *node = onlyNode(entries);
  if (!node)
    return Status(StatusCode::InvalidArgument,
                  "expected a symbol of one node to give attribute '" +
                      std::string(key) + "' to");
  DLC_RETURN_IF_ERROR(
      checkAttributes({{std::string(key), std::string(value)}}));
  Attributes changed = node->attributes;
  changed[attributeName(key)] = value;
  if (node->op) {
    rt::Result<Parameters> parameters = Parameters::parse(*node->op, changed);
    if (!parameters.isOk())
      return std::move(parameters.status()).withContext(node->describe());
    if (const char *operands = changedOperands(*node, *parameters))
      return Status(StatusCode::InvalidArgument,
                    node->describe() + ": expected attribute '" +
                        std::string(key) + "' to leave the " + operands +
                        " as they are");
    node->parameters = std::move(*parameters);
  }
  node->attributes = std::move(changed);
  return Status::ok();
}

//===-- The network -------------------------------------------------------===//

std::vector<std::shared_ptr<Node>> Symbol::nodes() const {
  struct Visit {
    const std::shared_ptr<Node> *node;
    size_t next = 0; ///< The child to see next: inputs, then dependencies.
  };
  std::vector<std::shared_ptr<Node>> order;
  std::unordered_set<const Node *> seen;
  std::vector<Visit> stack;
  auto enter = [&](const std::shared_ptr<Node> &node) {
    if (seen.insert(node.get()).second)
      stack.push_back({&node});
  };
  for (const Entry &entry : entries) {
    enter(entry.node);
    while (!stack.empty()) {
      const Node &node = **stack.back().node;
      size_t next = stack.back().next++, inputs = node.inputs.size();
      if (next < inputs) {
        enter(node.inputs[next].node);
      } else if (next < inputs + node.controlDependencies.size()) {
        enter(node.controlDependencies[next - inputs]);
      } else {
        order.push_back(*stack.back().node);
        stack.pop_back();
      }
    }
  }
  return order;
}

/// Variables that some operator among `nodes` writes.
static std::unordered_set<const Node *>
writtenVariables(const std::vector<std::shared_ptr<Node>> &nodes) {
  std::unordered_set<const Node *> written;
  for (const std::shared_ptr<Node> &node : nodes) {
    std::vector<InputRole> roles = node->inputRoles();
    for (size_t i = 0; i < node->inputs.size(); ++i)
      if (roles[i] == InputRole::Auxiliary)
        written.insert(node->inputs[i].node.get());
  }
  return written;
}

static std::vector<std::string>
listVariables(const Symbol &symbol, bool wantsRead, bool wantsWritten) {
  std::vector<std::shared_ptr<Node>> nodes = symbol.nodes();
  std::unordered_set<const Node *> written = writtenVariables(nodes);
  std::vector<std::string> names;
  for (const std::shared_ptr<Node> &node : nodes)
    if (node->isVariable() &&
        (written.contains(node.get()) ? wantsWritten : wantsRead))
      names.push_back(node->name);
  return names;
}

std::vector<std::string> Symbol::listArguments() const {
  return listVariables(*this, true, false);
}

std::vector<std::string> Symbol::listAuxiliaryStates() const {
  return listVariables(*this, false, true);
}

std::vector<std::string> Symbol::listInputs() const {
  return listVariables(*this, true, true);
}

std::vector<std::string> Symbol::listOutputs() const {
  std::vector<std::string> names;
  for (const Entry &entry : entries)
    names.push_back(entry.node->outputName(entry.index));
  return names;
}

/// The visible outputs of a node, which a variable has one of.
static void addOutputs(const std::shared_ptr<Node> &node,
                       std::vector<Entry> &entries) {
  for (size_t i = 0; i < node->visibleOutputCount(); ++i)
    entries.push_back({node, static_cast<uint32_t>(i), node->version});
}

Symbol Symbol::internals() const {
  if (!isOk())
    return *this;
  std::vector<Entry> all;
  for (const std::shared_ptr<Node> &node : nodes())
    addOutputs(node, all);
  return Symbol(std::move(all));
}

Symbol Symbol::children() const {
  if (!isOk())
    return *this;
  std::vector<Entry> all;
  std::unordered_set<const Node *> seen;
  for (const Entry &entry : entries)
    if (seen.insert(entry.node.get()).second)
      all.insert(all.end(), entry.node->inputs.begin(),
                 entry.node->inputs.end());
  return Symbol(std::move(all));
}

Symbol Symbol::operator[](size_t index) const {
  if (!isOk())
    return *this;
  if (index >= entries.size())
    return Symbol(Status(StatusCode::InvalidArgument,
                         "expected an output below " +
                             std::to_string(entries.size()) + ", got " +
                             std::to_string(index)));
  return Symbol(std::vector{entries[index]});
}

Symbol Symbol::output(std::string_view name) const {
  if (!isOk())
    return *this;
  std::vector<Entry> found;
  for (const Entry &entry : entries)
    if (entry.node->outputName(entry.index) == name)
      found.push_back(entry);
  if (found.empty())
    for (const Entry &entry : entries)
      if (entry.node->name == name)
        found.push_back(entry);
  if (found.size() == 1)
    return Symbol(std::move(found));
  return Symbol(Status(StatusCode::NotFound, "expected one output called '" +
                                                 std::string(name) + "', got " +
                                                 std::to_string(found.size())));
}

//===-- Text --------------------------------------------------------------===//

static void printNode(const Node &node, std::string &text) {
  if (node.isVariable()) {
    text += "Variable:" + node.name + "\n";
    return;
  }
  text += "--------------------\nOp:" + std::string(node.op->name) +
          ", Name=" + node.name + "\nInputs:\n";
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Entry &input = node.inputs[i];
    text += "\targ[" + std::to_string(i) + "]=" + input.node->name + "(" +
            std::to_string(input.index) + ")";
    if (input.node->isVariable())
      text += " version=" + std::to_string(input.version);
    text += '\n';
  }
  if (!node.attributes.empty())
    text += "Attrs:\n";
  for (const auto &[key, value] : node.attributes)
    text += "\t" + key + "=" + value + "\n";
  if (!node.controlDependencies.empty())
    text += "Control deps:\n";
  for (size_t i = 0; i < node.controlDependencies.size(); ++i)
    text += "\tcdep[" + std::to_string(i) +
            "]=" + node.controlDependencies[i]->name + "\n";
}

std::string Symbol::print() const {
  if (!isOk())
    return "Error:" + failure->message() + "\n";
  std::string text = "Symbol Outputs:\n";
  for (size_t i = 0; i < entries.size(); ++i)
    text += "\toutput[" + std::to_string(i) + "]=" + entries[i].node->name +
            "(" + std::to_string(entries[i].index) + ")\n";
  for (const std::shared_ptr<Node> &node : nodes())
    printNode(*node, text);
  return text;
}

//===-- Order without data ------------------------------------------------===//

Status Symbol::addControlDependencies(const Symbol &others) {
  for (const Symbol *symbol : {static_cast<const Symbol *>(this), &others})
    if (!symbol->isOk())
      return symbol->status();
  std::unordered_set<const Node *> mine;
  for (const Entry &entry : entries)
    mine.insert(entry.node.get());
  for (const std::shared_ptr<Node> &node : others.nodes())
    if (mine.contains(node.get()))
      return Status(StatusCode::InvalidArgument,
                    node->describe() +
                        ": expected no control dependency on its own results");
  for (const Entry &entry : entries)
    for (const Entry &other : others.entries) {
      auto &dependencies = entry.node->controlDependencies;
      if (std::ranges::find(dependencies, other.node) == dependencies.end())
        dependencies.push_back(other.node);
    }
  return Status::ok();
}
