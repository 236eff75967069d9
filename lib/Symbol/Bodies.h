// SPDX-License-Identifier: Apache-2.0
//
// Bodies: networks inside of a node, which control flow computes as often as it
// says. A body's variables, in the order of its inputs, are operands of the
// node or rows of them; its outputs become results.

#ifndef DLC_LIB_SYMBOL_BODIES_H
#define DLC_LIB_SYMBOL_BODIES_H

#include "dlc/Symbol/Relation.h"
#include "dlc/Symbol/Symbol.h"

#include "mlir/IR/MLIRContext.h"

#include <optional>

namespace dlc::symbol {

/// How one body of a node is connected to it.
struct BodyPorts {
  /// By variable of the body.
  struct Input {
    size_t operand = 0; ///< Of the node.
    bool isRow = false; ///< One element along the first axis.
  };
  std::vector<Input> inputs;
  /// By output of the body: the results that it has the type of, or none.
  std::vector<std::optional<size_t>> results;
};

/// Reads the ports of body `index` of a node out of its parameters and checks
/// them against the body.
rt::Result<BodyPorts> portsOfBody(const Node &node, size_t index);

/// A node's bodies say of its operands and results what their nodes do.
void relateBodyTypes(const Node &node, TypeRelation &relation);
/// Of its operands: the lowering says what shapes results have. Gives the
/// number of nodes of bodies that were written down for it, where `before`
/// were.
int64_t relateBodyShapes(const Node &node, ShapeRelation &relation,
                         mlir::MLIRContext &context, int64_t before);

} // namespace dlc::symbol

#endif // DLC_LIB_SYMBOL_BODIES_H
