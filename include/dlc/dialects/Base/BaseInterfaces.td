// SPDX-License-Identifier: Apache-2.0
//
// What one dialect asks of another one's operations without knowing them.

#ifndef DLC_DIALECTS_BASE_BASEINTERFACES_TD
#define DLC_DIALECTS_BASE_BASEINTERFACES_TD

include "mlir/IR/OpBase.td"

def LaunchableOpInterface : OpInterface<"LaunchableOpInterface"> {
  let cppNamespace = "::dlc";
  let description = "Symbols that a `plan.launch` may name: kernels.";
  let methods = [InterfaceMethod<[{
      The tensors that a launch reads and writes, in order; scratch memory is
      the last one written. Unranked ones may be of any shape.
    }],
    "::mlir::FunctionType", "getLaunchType">];
}

#endif // DLC_DIALECTS_BASE_BASEINTERFACES_TD
