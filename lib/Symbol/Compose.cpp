// SPDX-License-Identifier: Apache-2.0
//
// Making symbols: out of nothing, by composition, by arithmetic.

#include "Names.h"

#include "dlc/Symbol/MissingOperators.h"
#include "dlc/Symbol/Scope.h"
#include "dlc/Symbol/Symbol.h"

#include <algorithm>
#include <unordered_map>

using namespace dlc;
using namespace dlc::symbol;
using rt::Status;
using rt::StatusCode;

static Symbol fail(std::string message) {
  return Symbol(Status(StatusCode::InvalidArgument, std::move(message)));
}

Symbol::Symbol(Status failure)
    : failure(std::make_shared<const Status>(std::move(failure))) {}

Status Symbol::status() const {
  return failure ? Status(failure->code(), failure->message()) : Status::ok();
}

//===-- Variables, operators, groups --------------------------------------===//

Symbol Symbol::variable(std::string name, Attributes attributes) {
  if (name.empty())
    return fail("expected a name of a variable, got an empty one");
  if (Status status = checkText("the name of a variable", name); !status.isOk())
    return Symbol(std::move(status));
  auto node = std::make_shared<Node>();
  node->name = std::move(name);
  node->attributes = AttributeScope::current();
  for (auto &[key, value] : attributes)
    node->attributes[attributeName(key)] = value;
  if (Status status = checkAttributes(node->attributes); !status.isOk())
    return Symbol(std::move(status));
  return Symbol(std::vector<Entry>{{node}});
}

Symbol Symbol::atomic(std::string_view name, Attributes attributes) {
  const Operator *op = findOperator(name);
  if (!op) {
    std::string nearest = alternativeTo(name);
    return Symbol(Status(StatusCode::NotFound,
                         "unknown operator '" + std::string(name) + "'" +
                             (nearest.empty() ? "" : "; nearest: " + nearest)));
  }
  if (op->bodyCount > 0)
    return Symbol(Status(StatusCode::Unsupported,
                         "unsupported: operator '" + std::string(name) +
                             "' without the subgraphs that a file gives it"));
  auto node = std::make_shared<Node>();
  node->op = op;
  node->name = name;
  node->attributes = AttributeScope::current();
  for (auto &[key, value] : normalize(*op, attributes))
    node->attributes[key] = value;
  if (Status status = checkAttributes(node->attributes); !status.isOk())
    return Symbol(std::move(status));
  rt::Result<Parameters> parameters = Parameters::parse(*op, node->attributes);
  if (!parameters.isOk())
    return Symbol(std::move(parameters.status())
                      .withContext("operator " + std::string(op->name)));
  node->parameters = std::move(*parameters);
  std::vector<Entry> outputs;
  for (size_t i = 0; i < node->visibleOutputCount(); ++i)
    outputs.push_back({node, static_cast<uint32_t>(i)});
  return Symbol(std::move(outputs));
}

Symbol Symbol::apply(std::string_view op, std::vector<Symbol> arguments,
                     Attributes attributes, std::string name,
                     NamedSymbols named) {
  Symbol made = atomic(op, std::move(attributes));
  if (!made.isOk() && !name.empty())
    return Symbol(made.status().withContext("node '" + name + "'"));
  return made.compose(arguments, std::move(named), std::move(name));
}

Symbol Symbol::group(const std::vector<Symbol> &parts) {
  std::vector<Entry> entries;
  for (const Symbol &part : parts) {
    if (!part.isOk())
      return part;
    entries.insert(entries.end(), part.entries.begin(), part.entries.end());
  }
  return Symbol(std::move(entries));
}

/// Whether an output is one of the network of `nodes`.
static bool isOf(const std::vector<std::shared_ptr<Node>> &nodes,
                 const Entry &entry) {
  return std::ranges::find(nodes, entry.node) != nodes.end();
}

/// What does not belong to a network has no gradient; zeros would hide that it
/// is a variable of another network, or of the one before a composition.
static Status checkSources(const Symbol &symbol,
                           const std::vector<Symbol> &wrt) {
  std::vector<std::shared_ptr<Node>> nodes = symbol.nodes();
  for (const Symbol &source : wrt)
    for (const Entry &entry : source.outputs())
      if (!isOf(nodes, entry))
        return Status(StatusCode::InvalidArgument,
                      "expected outputs of the network to differentiate by, "
                      "got '" +
                          entry.node->name + "', which is not in it");
  return Status::ok();
}

Symbol Symbol::gradient(const std::vector<Symbol> &wrt,
                        std::string name) const {
  if (!isOk())
    return *this;
  if (entries.empty() || wrt.empty())
    return Symbol(Status(StatusCode::InvalidArgument,
                         "expected outputs to differentiate and something to "
                         "differentiate them by, got none"));
  if (Status status = checkSources(*this, wrt); !status.isOk())
    return Symbol(std::move(status));
  std::vector<Symbol> arguments;
  for (const Entry &entry : entries)
    arguments.push_back(Symbol(std::vector{entry}));
  arguments.insert(arguments.end(), wrt.begin(), wrt.end());
  return apply("_gradient", std::move(arguments),
               {{"num_outputs", std::to_string(wrt.size())}}, std::move(name));
}

//===-- Copies and substitution -------------------------------------------===//

/// The version that a use of `entry` has now: a variable may have been written
/// since.
static Entry currentOf(const Entry &entry) {
  Entry result = entry;
  if (entry.node->isVariable())
    result.version = entry.node->version;
  return result;
}

/// Counts the writes of variables anew, in the order of `nodes`.
static Status countVersions(const std::vector<Node *> &nodes) {
  for (Node *node : nodes)
    DLC_RETURN_IF_ERROR(checkStates(*node));
  for (Node *node : nodes) {
    node->version = 0;
    DLC_RETURN_IF_ERROR(setVersions(*node));
  }
  return Status::ok();
}

/// The network of `symbol` in new nodes, with other entries in the place of the
/// variables in `replaced`. If there are some, writes count anew in the order
/// of the network. InvalidArgument for an auxiliary state that would be no
/// variable.
static rt::Result<std::vector<Entry>>
rebuild(const Symbol &symbol,
        const std::unordered_map<const Node *, Entry> &replaced) {
  std::unordered_map<const Node *, std::shared_ptr<Node>> copies;
  std::vector<Node *> order;
  auto translate = [&](const Entry &entry) {
    auto other = replaced.find(entry.node.get());
    if (other != replaced.end())
      return other->second;
    return Entry{copies.at(entry.node.get()), entry.index, entry.version};
  };
  for (const std::shared_ptr<Node> &node : symbol.nodes()) {
    if (replaced.contains(node.get()))
      continue;
    auto copy = std::make_shared<Node>(*node);
    for (Entry &input : copy->inputs)
      input = translate(input);
    for (std::shared_ptr<Node> &dependency : copy->controlDependencies)
      dependency = translate({dependency}).node;
    order.push_back(copy.get());
    copies.emplace(node.get(), std::move(copy));
  }
  if (!replaced.empty())
    DLC_RETURN_IF_ERROR(countVersions(order));
  std::vector<Entry> outputs;
  for (const Entry &entry : symbol.outputs())
    outputs.push_back(replaced.empty() ? translate(entry)
                                       : currentOf(translate(entry)));
  return outputs;
}

Symbol Symbol::copy() const {
  return isOk() ? Symbol(std::move(*rebuild(*this, {}))) : *this;
}

/// Why `argument` cannot stand for one value; empty when it can.
static Symbol checkArgument(const Symbol &argument, const std::string &what) {
  if (!argument.isOk())
    return argument;
  if (argument.size() != 1)
    return fail(what + ": expected a symbol with 1 output, got " +
                std::to_string(argument.size()));
  if (const Node &node = *argument.outputs().front().node; !node.isApplied())
    return fail(what + ": expected an operator that is applied, got " +
                std::string(node.op->name) + " without inputs");
  return {};
}

Symbol Symbol::substitute(const std::vector<Symbol> &arguments,
                          NamedSymbols named) const {
  std::vector<std::string> names = listArguments();
  if (arguments.size() > names.size())
    return fail("expected at most " + std::to_string(names.size()) +
                " arguments, got " + std::to_string(arguments.size()));
  for (size_t i = 0; i < arguments.size(); ++i)
    named.emplace_back(names[i], arguments[i]);
  std::unordered_map<std::string, Entry> byName;
  for (const auto &[name, argument] : named) {
    std::string what = "argument '" + name + "'";
    if (Symbol bad = checkArgument(argument, what); !bad.isOk())
      return bad;
    if (!byName.emplace(name, argument.entries.front()).second)
      return fail(what + " is given twice");
  }
  std::unordered_map<const Node *, Entry> replaced;
  for (const std::shared_ptr<Node> &node : nodes())
    if (auto found = byName.find(node->name);
        node->isVariable() && found != byName.end())
      replaced.emplace(node.get(), found->second);
  std::vector<std::string> known = listInputs();
  for (const auto &[name, argument] : named)
    if (std::ranges::find(known, name) == known.end())
      return fail("expected an argument of the symbol, got '" + name + "'");
  rt::Result<std::vector<Entry>> outputs = rebuild(*this, replaced);
  return outputs.isOk() ? Symbol(std::move(*outputs))
                        : Symbol(std::move(outputs.status()));
}

//===-- Application -------------------------------------------------------===//

/// Tells a variadic operator how many arguments it gets.
static Status countArguments(Node &node, size_t count) {
  const Operator &op = *node.op;
  if (!op.isVariadic(node.parameters))
    return Status::ok();
  std::string name(op.inputCount);
  auto each = static_cast<size_t>(op.inputsOfEach);
  if (node.parameters.isGiven(name) &&
      static_cast<size_t>(node.parameters.getInt(name)) * each != count)
    return Status(
        StatusCode::InvalidArgument,
        node.describe() + ": expected " +
            std::to_string(node.parameters.getInt(name) * op.inputsOfEach) +
            " arguments, as parameter '" + name + "' says, got " +
            std::to_string(count));
  if (count % each != 0)
    return Status(StatusCode::InvalidArgument,
                  node.describe() + ": expected a multiple of " +
                      std::to_string(each) + " arguments, got " +
                      std::to_string(count));
  node.attributes[name] = std::to_string(count / each);
  rt::Result<Parameters> parameters = Parameters::parse(op, node.attributes);
  if (!parameters.isOk())
    return std::move(parameters.status()).withContext(node.describe());
  node.parameters = std::move(*parameters);
  return Status::ok();
}

/// The argument of each input of `node`; null for those that nobody gave.
static Status matchArguments(const Node &node,
                             const std::vector<std::string> &names,
                             const std::vector<Symbol> &arguments,
                             const NamedSymbols &named,
                             std::vector<const Symbol *> &matched) {
  auto bad = [&](const std::string &message) {
    return Status(StatusCode::InvalidArgument,
                  node.describe() + ": " + message);
  };
  matched.assign(names.size(), nullptr);
  if (arguments.size() > names.size())
    return bad("expected at most " + std::to_string(names.size()) +
               " arguments, got " + std::to_string(arguments.size()));
  for (size_t i = 0; i < arguments.size(); ++i)
    matched[i] = &arguments[i];
  for (const auto &[name, argument] : named) {
    auto found = std::ranges::find(names, name);
    if (found == names.end()) {
      std::string known;
      for (const std::string &each : names)
        known += (known.empty() ? "" : ", ") + each;
      return bad("expected an input out of " + known + ", got '" + name + "'");
    }
    const Symbol *&place = matched[found - names.begin()];
    if (place)
      return bad("input '" + name + "' is given twice");
    place = &argument;
  }
  return Status::ok();
}

Symbol Symbol::applyAtomic(const std::vector<Symbol> &arguments,
                           NamedSymbols named, std::string name) const {
  const Node &functor = *entries.front().node;
  auto node = std::make_shared<Node>(functor);
  node->name = NameScope::nameFor(functor.name, std::move(name));
  if (Status status = checkText("the name of a node", node->name);
      !status.isOk())
    return Symbol(std::move(status));
  if (Status status = countArguments(*node, arguments.size()); !status.isOk())
    return Symbol(std::move(status));
  std::vector<std::string> names = node->op->inputNames(node->parameters);
  std::vector<const Symbol *> matched;
  if (Status status = matchArguments(*node, names, arguments, named, matched);
      !status.isOk())
    return Symbol(std::move(status));
  for (size_t i = 0; i < names.size(); ++i) {
    if (!matched[i]) {
      auto variable = std::make_shared<Node>();
      variable->name = node->name + "_" + names[i];
      variable->attributes = node->attributes;
      node->inputs.push_back({variable});
      continue;
    }
    std::string what = node->describe() + ": input '" + names[i] + "'";
    if (Symbol bad = checkArgument(*matched[i], what); !bad.isOk())
      return bad;
    node->inputs.push_back(matched[i]->entries.front());
  }
  if (Status status = setVersions(*node); !status.isOk())
    return Symbol(std::move(status));
  giveToInputs(*node);
  setInitializers(*node);
  std::vector<Entry> outputs;
  for (size_t i = 0; i < node->visibleOutputCount(); ++i)
    outputs.push_back({node, static_cast<uint32_t>(i)});
  return Symbol(std::move(outputs));
}

/// The operator that all outputs are of, if there is one.
static std::shared_ptr<Node> operatorOf(const Symbol &symbol) {
  const auto &outputs = symbol.outputs();
  std::shared_ptr<Node> node = outputs.empty() ? nullptr : outputs.front().node;
  bool isOne =
      node && node->op && std::ranges::all_of(outputs, [&](const Entry &entry) {
        return entry.node == node;
      });
  return isOne ? node : nullptr;
}

/// `symbol` with another name of its operator.
static Symbol rename(const Symbol &symbol, std::string name) {
  if (Status status = checkText("the name of a node", name); !status.isOk())
    return Symbol(std::move(status));
  auto renamed = std::make_shared<Node>(*operatorOf(symbol));
  renamed->name = std::move(name);
  std::vector<Entry> entries = symbol.outputs();
  for (Entry &entry : entries)
    entry.node = renamed;
  return Symbol(std::move(entries));
}

Symbol Symbol::compose(const std::vector<Symbol> &arguments, NamedSymbols named,
                       std::string name) const {
  if (!isOk())
    return *this;
  const Node *first = entries.empty() ? nullptr : entries.front().node.get();
  bool isAtomic = first && first->op && first->inputs.empty() &&
                  std::ranges::all_of(entries, [&](const Entry &entry) {
                    return entry.node.get() == first;
                  });
  if (isAtomic)
    return applyAtomic(arguments, std::move(named), std::move(name));
  if (!name.empty() && !operatorOf(*this))
    return Symbol(Status(StatusCode::InvalidArgument,
                         "expected the outputs of one operator to name '" +
                             name + "', got " +
                             (size() == 1 ? first->describe() : "a group")));
  Symbol composed = substitute(arguments, std::move(named));
  return name.empty() || !composed.isOk() ? composed
                                          : rename(composed, std::move(name));
}

//===-- Arithmetic --------------------------------------------------------===//

static Symbol withScalar(std::string_view op, const Symbol &a, double scalar) {
  return Symbol::apply(op, {a}, {{"scalar", toText(ParameterValue(scalar))}});
}

Symbol symbol::operator+(const Symbol &a, const Symbol &b) {
  return Symbol::apply("_Plus", {a, b});
}
Symbol symbol::operator-(const Symbol &a, const Symbol &b) {
  return Symbol::apply("_Minus", {a, b});
}
Symbol symbol::operator*(const Symbol &a, const Symbol &b) {
  return Symbol::apply("_Mul", {a, b});
}
Symbol symbol::operator/(const Symbol &a, const Symbol &b) {
  return Symbol::apply("_Div", {a, b});
}
Symbol symbol::operator+(const Symbol &a, double b) {
  return withScalar("_PlusScalar", a, b);
}
Symbol symbol::operator-(const Symbol &a, double b) {
  return withScalar("_MinusScalar", a, b);
}
Symbol symbol::operator*(const Symbol &a, double b) {
  return withScalar("_MulScalar", a, b);
}
Symbol symbol::operator/(const Symbol &a, double b) {
  return withScalar("_DivScalar", a, b);
}
Symbol symbol::operator+(double a, const Symbol &b) { return b + a; }
Symbol symbol::operator-(double a, const Symbol &b) {
  return withScalar("_RMinusScalar", b, a);
}
Symbol symbol::operator*(double a, const Symbol &b) { return b * a; }
Symbol symbol::operator/(double a, const Symbol &b) {
  return withScalar("_RDivScalar", b, a);
}
Symbol symbol::operator-(const Symbol &a) { return a * -1.0; }
