// SPDX-License-Identifier: Apache-2.0
//
// What an operator's lowering sees: one node, its operands as values, its
// parameters, and the builder of Graph operations. Errors stick in the builder.

#ifndef DLC_LIB_SYMBOL_LOWERINGCONTEXT_H
#define DLC_LIB_SYMBOL_LOWERINGCONTEXT_H

#include "Bodies.h"

#include "dlc/Frontend/GraphBuilder.h"
#include "dlc/Symbol/Relation.h"
#include "dlc/Symbol/Symbol.h"

#include <functional>

namespace dlc::symbol {

using frontend::GraphBuilder;
using frontend::Ints;
using frontend::NamedValue;

/// "(2, 3)".
std::string toText(llvm::ArrayRef<int64_t> dims);

/// What all nodes of a network share while it is lowered.
struct NetworkState {
  bool isTraining = false;
  /// The argument with `graph.random`, made by `addRandom` for the first node
  /// that asks; null where nothing is random.
  mlir::Value random = {};
  std::function<mlir::Value()> addRandom = {};
  int64_t randomStreams = 0;
  int64_t bodyNodes = 0; ///< Nodes of bodies that were lowered.
  /// What is known of the first result of the node that is lowered next.
  Shape inferredShape = {};
};

class LoweringContext {
public:
  LoweringContext(GraphBuilder &b, const Node &node,
                  llvm::ArrayRef<mlir::Value> operands, NetworkState &network)
      : b(b), p(node.parameters), node(node), operands(operands),
        network(network),
        inferred(std::exchange(network.inferredShape, std::nullopt)),
        results(node.outputCount()), newOperands(operands.size()) {}

  GraphBuilder &b;
  const Parameters &p;

  size_t inputCount() const { return operands.size(); }
  llvm::ArrayRef<mlir::Value> inputs() const { return operands; }
  mlir::Value in(size_t index) const { return operands[index]; }
  std::string inputName(size_t index) const { return node.inputNames()[index]; }
  /// "variable 'x'": where operand `index` comes from, for messages.
  std::string sourceOf(size_t index) const {
    return node.inputs[index].node->describe();
  }
  /// The operand of that name; null when the parameters say there is none.
  mlir::Value named(std::string_view name) const;
  /// A symbol shows result `index`.
  bool shows(size_t index) const { return index < node.visibleOutputCount(); }
  void set(size_t index, mlir::Value value) { results[index] = value; }
  llvm::ArrayRef<mlir::Value> outputs() const { return results; }

  /// The shape of the first result, as far as its readers and operands tell.
  const Shape &inferredShape() const { return inferred; }
  bool isTraining() const { return network.isTraining; }
  /// The file has NumPy's shapes: a result without dimensions is a scalar.
  bool hasNumpyShapes() const;
  /// From now on the auxiliary state that is operand `index` has this value.
  void update(size_t index, mlir::Value value) { newOperands[index] = value; }
  /// One for each operand: what update() gave it, or null.
  llvm::ArrayRef<mlir::Value> updates() const { return newOperands; }
  // Bodies.

  rt::Result<BodyPorts> portsOfBody(size_t index) const {
    return symbol::portsOfBody(node, index);
  }
  /// The outputs of a body where its variables have these values; none after a
  /// failure.
  llvm::SmallVector<mlir::Value> lowerBody(size_t index,
                                           llvm::ArrayRef<mlir::Value> values);
  const Symbol &body(size_t index) const { return node.bodies[index]; }
  /// Of a node of a body, with these operands.
  LoweringContext inside(const Node &inner,
                         llvm::ArrayRef<mlir::Value> values) {
    return LoweringContext(b, inner, values, network);
  }

  // Random numbers, f32, other ones in each run and for each call.

  /// Of [0, 1).
  mlir::Value randomUniform(llvm::ArrayRef<int64_t> shape);
  /// One of `graph.<mnemonic>` (random_gamma, random_poisson) for each element
  /// of `parameter`, f32.
  mlir::Value randomOf(llvm::StringRef mnemonic, mlir::Value parameter);

  /// The values of a parameter.
  Ints ints(std::string_view name) const {
    return Ints(llvm::ArrayRef<int64_t>(p.getInts(name)));
  }

  // Checks that fail the node.

  void fail(const llvm::Twine &message) { b.fail(message); }
  /// `unsupported: <what>`.
  void unsupported(const llvm::Twine &what) { b.fail("unsupported: " + what); }
  /// `unsupported: <what> that is not known`, where shapes of inputs would tell
  /// it.
  void unknown(const llvm::Twine &what) {
    b.fail("unsupported: " + what + " that is not known",
           "--shape of the network's inputs");
  }
  /// Fails unless the parameter has its default value.
  void expectDefault(std::string_view parameter);
  /// The number of dimensions of a value, which inference made known.
  int64_t rank(mlir::Value value);
  /// All dimensions; fails the node when one is not known.
  Ints shape(mlir::Value value, const char *what);
  /// The value of a parameter, an axis in [-rank, rank), made positive; fails
  /// the node otherwise.
  int64_t axisOf(std::string_view parameter, int64_t rank);
  /// The same for an axis that is no parameter by itself.
  int64_t axis(int64_t axis, int64_t rank, const llvm::Twine &what = "");
  Ints axes(llvm::ArrayRef<int64_t> axes, int64_t rank);

  // Shorthand.

  mlir::Value scalarLike(mlir::Value like, double value) {
    return b.scalarLike(like, value);
  }
  /// `x` with a shape of [1, C, 1...]: one element for each `axis` of `like`.
  mlir::Value perChannel(mlir::Value x, mlir::Value like, int64_t axis);

private:
  mlir::Value drawRandom(llvm::StringRef mnemonic, mlir::Value operand);

  const Node &node;
  llvm::ArrayRef<mlir::Value> operands;
  NetworkState &network;
  Shape inferred;
  llvm::SmallVector<mlir::Value> results, newOperands;
};

/// begin, begin + 1, ..., end - 1.
inline Ints range(int64_t begin, int64_t end) {
  Ints values;
  for (int64_t i = begin; i < end; ++i)
    values.push_back(i);
  return values;
}

/// What the lowering of a node gives: one value for each output, null for
/// hidden ones that it does not give, and one for each operand, null unless it
/// is a state that the node updates.
struct LoweredNode {
  llvm::SmallVector<mlir::Value> results, updates;
};

/// Lowers one application of an operator. No values after a failure, which is
/// diagnosed at the builder's location.
LoweredNode lowerNode(GraphBuilder &b, const Node &node,
                      llvm::ArrayRef<mlir::Value> operands,
                      NetworkState &network);

} // namespace dlc::symbol

#endif // DLC_LIB_SYMBOL_LOWERINGCONTEXT_H
