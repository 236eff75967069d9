// SPDX-License-Identifier: Apache-2.0
//
// What moves between devices.

#ifndef DLC_DIALECTS_GRAPH_GRAPHPLACEMENT_TD
#define DLC_DIALECTS_GRAPH_GRAPHPLACEMENT_TD

include "dlc/dialects/Graph/GraphBase.td"

def CopyOp : Graph_Op<"copy", "Opaque", [
    DeclareOpInterfaceMethods<GradientOpInterface>]> {
  let summary = "The same tensor on another device";
  let description = [{
    The elements of `x` in memory of the operation's own device, `device`;
    `graph-insert-copies` makes them. It is the only operation whose operand may
    be on another device.

    Any operation may say where it runs: `device` is a `#dlc.device`, and
    `graph.group` names a group of operations that `graph-place-devices` finds
    the device of. Arguments may carry `graph.device` and `graph.group` alike:
    where their value is. `graph.recompute` on an operation asks
    `graph-recompute` not to keep its value, and `graph.gradient` on a function
    tells that `graph-gradient` has differentiated it.

    Constraints:
    - (copy_c1) `y` has the type of `x`.

    ```mlir
    %y = graph.copy %x {device = #dlc.device<cpu:1>} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x);
  let results = (outs Graph_Tensor:$y);
  let selects = 1;
}

#endif // DLC_DIALECTS_GRAPH_GRAPHPLACEMENT_TD
