// SPDX-License-Identifier: Apache-2.0
//
// The base class of elementwise operations.

#ifndef DLC_DIALECTS_GRAPH_GRAPHELEMENTWISE_TD
#define DLC_DIALECTS_GRAPH_GRAPHELEMENTWISE_TD

include "dlc/dialects/Graph/GraphBase.td"

// Operands broadcast as in NumPy. Prints one type when all are equal.
class Graph_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : Graph_Op<mnemonic, "Elementwise", [
        DeclareOpInterfaceMethods<ElementwiseOpInterface>,
        InPlaceOpInterface, LayoutOpInterface] # traits> {
  let methods = [{
    // The same of any order: operands broadcast before their dimensions move.
    std::optional<::dlc::graph::PermutedOp>
    permute(::llvm::ArrayRef<int64_t>) { return ::dlc::graph::PermutedOp(); }
    std::optional<::dlc::graph::PermutedOp>
    block(int64_t) { return ::dlc::graph::PermutedOp(); }
    bool keepsChannelsApart() { return true; }
  }];
}

#endif // DLC_DIALECTS_GRAPH_GRAPHELEMENTWISE_TD
