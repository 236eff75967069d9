// SPDX-License-Identifier: Apache-2.0
//
// The interface of operations that can leave elements out.

#ifndef DLC_DIALECTS_GRAPH_MASKS_TD
#define DLC_DIALECTS_GRAPH_MASKS_TD

include "mlir/IR/OpBase.td"

def MaskOpInterface : OpInterface<"MaskOpInterface"> {
  let cppNamespace = "::dlc::graph";
  let description = [{
    Operations in which elements along a dimension of an operand meet, and what
    keeps those that there are from others behind them: a number that counts
    nothing, 0 in a sum, or that nothing is made of what comes behind it.
  }];
  let methods = [InterfaceMethod<[{
      The element that leaves results what they are without it, where elements
      along dimension `dim` of operand number `operand` meet; null where they do
      not, or there is none. Other operands have it at the same places.
    }],
    "::mlir::TypedAttr", "getNeutral",
    (ins "unsigned":$operand, "unsigned":$dim), "", "return {};">,
    InterfaceMethod<[{
      What the result, which has the dimensions of that operand, has at the places
      of such elements; null where that is no one number.
    }],
    "::mlir::TypedAttr", "getNeutralResult", (ins), "", "return {};">,
    InterfaceMethod<[{
      Whether each element of the result, of the shape of the first operand, is
      made of elements of that at its own place and at smaller ones.
    }],
    "bool", "readsBackwards", (ins), "", "return false;">];
}

#endif // DLC_DIALECTS_GRAPH_MASKS_TD
