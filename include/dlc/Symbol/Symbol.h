// SPDX-License-Identifier: Apache-2.0
//
// Symbols: networks that are composed out of variables and operators before
// anything is known of shapes. A symbol is a list of outputs of nodes; nodes
// are shared between symbols. The semantics are those of NNVM and MXNet 1.9.1.
//
//   Symbol data = Symbol::variable("data");
//   Symbol fc = Symbol::apply("FullyConnected", {data},
//                             {{"num_hidden", "10"}}, "fc");
//   fc.listArguments();   // data, fc_weight, fc_bias
//   Symbol c = b * a, d = c + 1.0;
//
// Errors stick, so that composition reads as expressions: a function whose
// arguments it cannot combine gives a failed symbol, and whatever is made of a
// failed symbol is failed for the first reason. status() has it; functions that
// leave the world of symbols (files, inference, lowering) return it. A failed
// symbol has no outputs.
//
// Symbols are cheap to copy. They may be read by several threads at once;
// compose(), setAttribute() and addControlDependencies() write nodes, also such
// as others share.

#ifndef DLC_SYMBOL_SYMBOL_H
#define DLC_SYMBOL_SYMBOL_H

#include "dlc/Symbol/Operator.h"

#include <memory>
#include <utility>

namespace dlc::symbol {

struct Node;
class Symbol;

/// One output of a node. Of a variable that operators write (an auxiliary
/// state), `version` counts the writes up to the use that this entry is, which
/// may be one of them.
struct Entry {
  std::shared_ptr<Node> node;
  uint32_t index = 0;
  uint32_t version = 0;
};

/// A variable (no operator) or an application of an operator.
struct Node {
  Node() = default;
  Node(const Node &) = default;
  Node &operator=(const Node &) = delete;
  ~Node(); ///< Frees chains of nodes without recursion.

  bool isVariable() const { return !op; }
  /// A variable, or an operator with its operands.
  bool isApplied() const;
  /// InvalidArgument when it is not.
  rt::Status checkApplied() const;
  std::vector<std::string> inputNames() const;
  /// Of all inputs. What the subgraph writes that an operator is, is an
  /// auxiliary state of the node.
  std::vector<InputRole> inputRoles() const;
  size_t outputCount() const;        ///< Hidden ones included.
  size_t visibleOutputCount() const; ///< 1 for a variable.
  /// "fc_output", or the name of a variable.
  std::string outputName(size_t index) const;
  /// "node 'fc' (FullyConnected)" or "variable 'data'", for messages: as the
  /// file has it that the node came from.
  std::string describe() const;
  const std::string &shownName() const;
  std::string_view shownOperator() const; ///< None of a variable.

  const Operator *op = nullptr;
  std::string name;
  /// What a file calls the node and its operator, where these stand for another
  /// one's, as NNVM's do; else empty.
  std::string sourceName, sourceOperator;
  Attributes attributes;
  Parameters parameters; ///< Of an operator; read from the attributes.
  /// As many as the operator has, or none: then it was not applied yet.
  std::vector<Entry> inputs;
  std::vector<std::shared_ptr<Node>> controlDependencies;
  uint32_t version = 0; ///< Of a variable: how many nodes write it.
  /// Networks of their own, as many as the operator says. Nobody changes them.
  std::vector<Symbol> bodies;
};

/// Arguments by name.
using NamedSymbols = std::vector<std::pair<std::string, Symbol>>;

class Symbol {
public:
  /// Without outputs; an empty group.
  Symbol() = default;
  explicit Symbol(rt::Status failure);
  explicit Symbol(std::vector<Entry> outputs) : entries(std::move(outputs)) {}

  bool isOk() const { return !failure; }
  /// A copy of the reason why the symbol is failed, or OK.
  rt::Status status() const;

  // Making symbols.

  static Symbol variable(std::string name, Attributes attributes = {});
  /// An operator that was not applied to anything yet: compose() does that. Its
  /// name is what it was called here, maybe an alias, until then.
  /// Attributes that are no parameters stand in double underscores, except the
  /// known ones (ctx_group, lr_mult, wd_mult, force_mirroring, mirror_stage,
  /// profiler_scope), which get them, alone or behind the name of an input
  /// (weight_lr_mult).
  static Symbol atomic(std::string_view op, Attributes attributes = {});
  /// Both in one; an empty name is made up ("convolution0").
  static Symbol apply(std::string_view op, std::vector<Symbol> arguments,
                      Attributes attributes = {}, std::string name = {},
                      NamedSymbols named = {});
  static Symbol group(const std::vector<Symbol> &parts);

  /// An atomic symbol is applied to `arguments`, in the order of its inputs,
  /// and `named` ones; inputs that neither gives become variables
  /// <name>_<input> with the operator's attributes. Of any other symbol the
  /// variables, in the order of listArguments() or by name, are replaced in a
  /// copy, whose node gets `name`, if any. Every argument has one output.
  Symbol compose(const std::vector<Symbol> &arguments, NamedSymbols named = {},
                 std::string name = {}) const;
  /// The same network in nodes of its own.
  Symbol copy() const;

  // Outputs.

  const std::vector<Entry> &outputs() const { return entries; }
  size_t size() const { return entries.size(); }
  /// One output; failed when there is no such.
  Symbol operator[](size_t index) const;
  /// The output of that name, or of the node of that name if it has one output.
  Symbol output(std::string_view name) const;

  // The network.

  /// Every visible output of every node, in post-order.
  Symbol internals() const;
  /// The inputs of the nodes that have the outputs; empty for variables.
  Symbol children() const;
  /// Variables in post-order: those that no operator writes, those that some
  /// operator writes, all.
  std::vector<std::string> listArguments() const;
  std::vector<std::string> listAuxiliaryStates() const;
  std::vector<std::string> listInputs() const;
  std::vector<std::string> listOutputs() const;
  /// Nodes in post-order, inputs before control dependencies.
  std::vector<std::shared_ptr<Node>> nodes() const;

  /// The gradients of the sum of all elements of all outputs, by each of `wrt`,
  /// in their order: one output each, of the shape of what it is by. These are
  /// outputs in the network of this symbol, usually variables, or it is
  /// InvalidArgument; of a variable by itself the gradient is one, of what does
  /// not depend on it zero. The result
  /// is a symbol as any other: it computes with what this one computes, and has
  /// gradients again. An empty name is made up. Loss layers count as the
  /// outputs that they have forward. Lowering fails where an operator on the
  /// way has no gradient.
  Symbol gradient(const std::vector<Symbol> &wrt, std::string name = {}) const;

  // Attributes.

  /// The name of the node, if all outputs are of one; else "".
  std::string name() const;
  /// Those of the node, if all outputs are of one; else none.
  Attributes attributes() const;
  /// Those of all nodes that have some, by node.
  std::map<std::string, Attributes, std::less<>> allAttributes() const;
  /// Changes the node, which other symbols may share. The known names get their
  /// underscores as in atomic(), but not behind the name of an input.
  /// InvalidArgument for a group, and for text that is not UTF-8, is no value
  /// of a parameter or changes which inputs and outputs there are.
  rt::Status setAttribute(std::string_view key, std::string_view value);

  /// Makes the nodes of this symbol's outputs run after those of `others`.
  /// InvalidArgument when these need results of this symbol.
  rt::Status addControlDependencies(const Symbol &others);

  /// The network as text for people, one node a paragraph.
  std::string print() const;

private:
  Symbol applyAtomic(const std::vector<Symbol> &arguments, NamedSymbols named,
                     std::string name) const;
  Symbol substitute(const std::vector<Symbol> &arguments,
                    NamedSymbols named) const;

  std::vector<Entry> entries;
  std::shared_ptr<const rt::Status> failure;
};

// Arithmetic of one-output symbols, element by element on equal shapes, and
// with scalars.
Symbol operator+(const Symbol &a, const Symbol &b);
Symbol operator-(const Symbol &a, const Symbol &b);
Symbol operator*(const Symbol &a, const Symbol &b);
Symbol operator/(const Symbol &a, const Symbol &b);
Symbol operator+(const Symbol &a, double b);
Symbol operator-(const Symbol &a, double b);
Symbol operator*(const Symbol &a, double b);
Symbol operator/(const Symbol &a, double b);
Symbol operator+(double a, const Symbol &b);
Symbol operator-(double a, const Symbol &b);
Symbol operator*(double a, const Symbol &b);
Symbol operator/(double a, const Symbol &b);
Symbol operator-(const Symbol &a);

/// The name that attributes like ctx_group have in a node, `__ctx_group__`, or
/// `key` itself.
std::string attributeName(std::string_view key);

} // namespace dlc::symbol

#endif // DLC_SYMBOL_SYMBOL_H
