// SPDX-License-Identifier: Apache-2.0
//
// Constants, absent operands and fused groups.

#ifndef DLC_DIALECTS_GRAPH_GRAPHSTRUCTURE_TD
#define DLC_DIALECTS_GRAPH_GRAPHSTRUCTURE_TD

include "dlc/dialects/Graph/GraphBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def ConstantOp : Graph_OpBase<"constant", "Opaque", [
    ConstantLike, AllTypesMatch<["value", "y"]>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "A tensor whose value is known to the compiler";
  let description = [{
    Small values are `dense`; weights are `dense_resource`, whose bytes stay
    where they were loaded. Integers of at most four elements give the SSA value
    its name.

    Constraints:
    - (constant_c1) the value has the result's type, which is static.
    - (constant_c2) a resource exists and holds exactly the bytes of the type;
      bool takes one byte per element.

    ```mlir
    %i1_3 = graph.constant dense<[1, 3]> : tensor<2xi64>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "attr-dict $value";
  let builders = [OpBuilder<(ins "::mlir::ElementsAttr":$value), [{
    build($_builder, $_state, value.getShapedType(), value);
  }]>];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def NoneOp : Graph_OpBase<"none", "Opaque", [
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "An operand that is absent";
  let description = [{
    Stands in for an absent operand of operations that have several optional
    ones, so that every operand keeps its position.

    ```mlir
    %none = graph.none : none
    ```
  }];
  let results = (outs NoneType:$y);
  let assemblyFormat = "attr-dict `:` type($y)";
}

def FusionOp : Graph_OpBase<"fusion", "Opaque", [
    SingleBlockImplicitTerminator<"::dlc::graph::YieldOp">,
    NoRegionArguments]> {
  let summary = "Operations that one kernel computes";
  let description = [{
    What `graph-fuse-operators` decided: the body sees the values around it and
    yields those of its own that are used outside.

    Constraint (fusion_c1): the yielded types are the result types.

    ```mlir
    %y = graph.fusion -> tensor<8x16xf32> {
      %0 = graph.mul %a, %a : tensor<8x16xf32>
      %1 = graph.relu %0 : tensor<8x16xf32>
      graph.yield %1 : tensor<8x16xf32>
    }
    ```
  }];
  let results = (outs Variadic<Graph_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`->` type($results)^)? $body attr-dict";
}

def YieldOp : Graph_OpBase<"yield", "Opaque", [
    HasParent<"FusionOp">, ReturnLike, Terminator]> {
  let summary = "Ends the body of a fusion";
  let description = [{
    ```mlir
    %y = graph.fusion -> tensor<8x16xf32> {
      %0 = graph.relu %a : tensor<8x16xf32>
      graph.yield %0 : tensor<8x16xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{
    build($_builder, $_state, ::mlir::ValueRange());
  }]>];
  let hasVerifier = 1;
}

#endif // DLC_DIALECTS_GRAPH_GRAPHSTRUCTURE_TD
