// SPDX-License-Identifier: Apache-2.0
//
// What an operator's rules see while shapes and types are inferred: what is
// known of its operands and results, of which they may say more. Saying what
// contradicts is an error: the first one sticks and becomes the message.

#ifndef DLC_SYMBOL_RELATION_H
#define DLC_SYMBOL_RELATION_H

#include "dlc/Symbol/Operator.h"
#include "dlc/runtime/Base/Tensor.h"

namespace dlc::symbol {

/// Dimensions, of which rt::kUnknownDim are not known; none when not even their
/// number is.
using Shape = std::optional<std::vector<int64_t>>;

/// Every dimension is known.
bool isStatic(const Shape &shape);

/// "(1, ?, 224)", or "?" for an unknown rank; "float32", or "?".
std::string toText(const Shape &shape);
std::string toText(rt::DataType type);

/// Adds what `found` knows to `known`; false when they contradict each other.
bool unify(Shape &known, const Shape &found);
bool unify(rt::DataType &known, rt::DataType found);

/// What is known of all operands and results of one node.
template <typename Fact> class Relation {
public:
  Relation(const Parameters &parameters, std::vector<Fact> inputs,
           std::vector<Fact> outputs)
      : parameters(parameters), ins(std::move(inputs)),
        outs(std::move(outputs)) {}

  const Parameters &parameters;

  size_t inputCount() const { return ins.size(); }
  size_t outputCount() const { return outs.size(); }
  const Fact &input(size_t index) const { return ins[index]; }
  const Fact &output(size_t index) const { return outs[index]; }

  // Each says something of operands or results that exist; of others nothing.

  void setInput(size_t index, const Fact &fact) { set(ins, index, fact); }
  void setOutput(size_t index, const Fact &fact) { set(outs, index, fact); }
  void equateInputs(size_t a, size_t b) {
    if (a >= ins.size() || b >= ins.size())
      return;
    setInput(a, Fact(ins[b]));
    setInput(b, Fact(ins[a]));
  }
  void equate(size_t input, size_t output) {
    if (input >= ins.size() || output >= outs.size())
      return;
    setInput(input, Fact(outs[output]));
    setOutput(output, Fact(ins[input]));
  }
  /// All operands and results are alike.
  void equateAll() {
    for (size_t i = 1; i < ins.size(); ++i)
      equateInputs(0, i);
    for (size_t i = 0; i < outs.size(); ++i)
      equate(0, i);
    for (size_t i = 1; i < ins.size(); ++i)
      equateInputs(0, i);
  }

  /// Something else is wrong with the node.
  void fail(std::string message) {
    if (!isFailed)
      failureText = std::move(message);
    isFailed = true;
  }

  // The first failure. It is of one operand, of one result, or of the node.

  bool failed() const { return isFailed; }
  std::optional<size_t> failedInput() const { return badInput; }
  std::optional<size_t> failedOutput() const { return badOutput; }
  /// "expected (3, 4), got (3, 5)".
  const std::string &failure() const { return failureText; }

private:
  void set(std::vector<Fact> &facts, size_t index, const Fact &fact) {
    if (isFailed || index >= facts.size())
      return;
    Fact known = facts[index];
    if (unify(facts[index], fact))
      return;
    (&facts == &ins ? badInput : badOutput) = index;
    fail("expected " + toText(fact) + ", got " + toText(known));
  }

  std::vector<Fact> ins, outs;
  bool isFailed = false;
  std::optional<size_t> badInput, badOutput;
  std::string failureText;
};

class ShapeRelation : public Relation<Shape> {
public:
  using Relation::Relation;

  /// A dimension, negative ones from the end; unknown where the rank is, or
  /// there is no such one.
  int64_t inputDim(size_t index, int64_t axis) const;
  int64_t outputDim(size_t index, int64_t axis) const;
};

class TypeRelation : public Relation<rt::DataType> {
public:
  using Relation::Relation;
};

} // namespace dlc::symbol

#endif // DLC_SYMBOL_RELATION_H
