// SPDX-License-Identifier: Apache-2.0
//
// The registry of operators that symbols are made of. An operator is declared
// once, in lib/Symbol/Operators: its names, inputs, outputs and parameters with
// their documentation, what its operands' types say of each other, and how it
// becomes operations of the Graph dialect. Composition, files, inference, the C
// API and the printed reference all read that one declaration.
//
// Names, defaults and semantics are those of MXNet 1.9.1. Nothing here changes
// after it is made, so any thread may read it.

#ifndef DLC_SYMBOL_OPERATOR_H
#define DLC_SYMBOL_OPERATOR_H

#include "dlc/Symbol/Parameter.h"

#include <span>

namespace dlc::symbol {

struct BodyPorts; // How a subgraph is connected: lib/Symbol/Bodies.h.
struct Node;      // See Symbol.h.
class Symbol;
class LoweringContext; // Builds Graph operations: lib/Symbol/LoweringContext.h.
class ShapeRelation;   // See Relation.h.
class TypeRelation;

/// Whether something holds for given parameters: always, or when the text of
/// one parameter is, or is not, `value`.
struct Condition {
  std::string_view parameter;
  std::string_view value;
  bool isNegated = false;
  /// Another parameter that must be None for it to hold; "": none.
  std::string_view alsoNone = {};

  bool holds(const Parameters &parameters) const;
};

constexpr Condition when(std::string_view parameter,
                         std::string_view value = "True") {
  return {parameter, value};
}
constexpr Condition unless(std::string_view parameter,
                           std::string_view value = "True") {
  return {parameter, value, true};
}
constexpr Condition whenNone(std::string_view parameter,
                             std::string_view another = {}) {
  return {parameter, "None", false, another};
}
constexpr Condition never() { return {{}, {}, true}; }

enum class InputRole : uint8_t {
  Argument,
  Auxiliary, ///< Written while training: a variable, not an argument.
  Label,     ///< Read by the gradient only.
};

struct Input {
  std::string_view name;
  Condition exists = {};
  InputRole role = InputRole::Argument;
  /// What MXNet puts into `__init__` of a variable that has none of its own.
  std::string_view initializer = {};
};

struct Output {
  std::string_view name;
  Condition exists = {};
  /// Whether a symbol shows it; others are for the gradient.
  Condition isVisible = {};
};

struct Operator {
  std::string_view name;
  std::vector<std::string_view> aliases = {};
  std::string_view summary; ///< A sentence without a period.
  std::string_view details = {};
  std::vector<Parameter> parameters = {};

  std::vector<Input> inputs = {{"data"}};
  /// The parameter that counts the inputs arg0, arg1, ..., which then replace
  /// `inputs`; filled in when composing. It does so where `countsInputs` holds.
  std::string_view inputCount = {};
  Condition countsInputs = {};
  int64_t inputsOfEach = 1; ///< Inputs for each one that it counts.
  std::vector<Output> outputs = {{"output"}};
  /// The parameter that counts the outputs output0, output1, ..., which then
  /// replace `outputs`.
  std::string_view outputCount = {};
  bool numbersOneOutput = false; ///< One alone is output0, too.
  /// The same where no parameter alone says how many there are; if `outputs`
  /// are several, they name as many.
  int64_t (*countOutputs)(const Parameters &) = nullptr;

  /// What the shapes of operands and results say of each other beyond what the
  /// lowering knows, which gives results from operands: for instance the shape
  /// of a weight. Null: nothing.
  void (*relateShapes)(ShapeRelation &) = nullptr;
  /// The same of element types, complete. Null: all are the same.
  void (*relateTypes)(TypeRelation &) = nullptr;
  void (*lower)(LoweringContext &) = nullptr;

  /// How many subgraphs a node has, which then count among `inputCount`, too,
  /// and how each of them is connected to the node.
  size_t bodyCount = 0;
  rt::Status (*connectBody)(const Parameters &, size_t body,
                            BodyPorts &) = nullptr;

  /// Of an operator that is its only subgraph: the inputs are the variables of
  /// that, and those of these names behind them.
  std::vector<std::string> (*inputsBehindBody)(const Parameters &,
                                               const Symbol &body) = nullptr;
  /// relateTypes where subgraphs say more than parameters.
  void (*relateNodeTypes)(const Node &, TypeRelation &) = nullptr;

  /// How many outputs output0, output1, ... there are, where they are counted.
  std::optional<int64_t> countedOutputs(const Parameters &parameters) const;
  /// The inputs are arg0, arg1, ...
  bool isVariadic(const Parameters &parameters) const;
  std::vector<std::string> inputNames(const Parameters &parameters) const;
  /// Of all outputs, hidden ones included. A single one is called "output".
  std::vector<std::string> outputNames(const Parameters &parameters) const;
  /// outputNames()[index], without the others.
  std::string outputName(const Parameters &parameters, size_t index) const;
  size_t outputCountOf(const Parameters &parameters) const;
  /// Visible outputs come first.
  size_t visibleOutputCount(const Parameters &parameters) const;
  /// The role of input `index` out of inputNames().
  InputRole roleOf(const Parameters &parameters, size_t index) const;
  /// The declaration of input `index`, or null for arg0, arg1, ...
  const Input *declarationOf(const Parameters &parameters, size_t index) const;
};

/// More inputs or outputs than any network has; bounds what files ask for.
inline constexpr int64_t kMaxOperands = 65536;

/// The operator of that name or alias, or null. Those on sparse arrays
/// (`_sparse_dot`) are found as those on dense ones.
const Operator *findOperator(std::string_view name);

/// All operators, by name in the order of bytes.
std::span<const Operator *const> allOperators();

} // namespace dlc::symbol

#endif // DLC_SYMBOL_OPERATOR_H
