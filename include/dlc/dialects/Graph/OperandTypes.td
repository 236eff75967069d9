// SPDX-License-Identifier: Apache-2.0
//
// The interface of operations whose results, or other operands, tell shapes of
// operands.

#ifndef DLC_DIALECTS_GRAPH_OPERANDTYPES_TD
#define DLC_DIALECTS_GRAPH_OPERANDTYPES_TD

include "mlir/IR/OpBase.td"

def OperandTypesOpInterface : OpInterface<"OperandTypesOpInterface"> {
  let cppNamespace = "::dlc::graph";
  let description = [{
    Operations that tell shapes of operands: the way back of the shape rule,
    which gives results from operands. Elementwise operations need no rule of
    their own: theirs is that of broadcasting.
  }];
  let methods = [InterfaceMethod<[{
      Says in `shapes` what holds whenever the operation does.
    }],
    "void", "inferOperandTypes", (ins "::dlc::graph::OperandShapes &":$shapes)>];
}

#endif // DLC_DIALECTS_GRAPH_OPERANDTYPES_TD
