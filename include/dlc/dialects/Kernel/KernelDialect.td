// SPDX-License-Identifier: Apache-2.0
//
// The Kernel dialect: how a part of the graph is computed.

#ifndef DLC_DIALECTS_KERNEL_KERNELDIALECT_TD
#define DLC_DIALECTS_KERNEL_KERNELDIALECT_TD

include "mlir/IR/OpBase.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::dlc::kernel";
  let summary = "How a part of the graph is computed";
  // Devices: what is called is on one, by default on the first.
  let dependentDialects = ["::dlc::BaseDialect"];
  let description = [{
    A kernel is a symbol: either `kernel.func`, whose body Codegen turns into
    machine code, or `kernel.library`, one call into a kernel library or into
    the Reference definition of an operation. `kernel.call` uses either one by
    name; fusion, planning and the runtime never ask which of the two it is.
  }];
  let usePropertiesForAttributes = 0;
}

#endif // DLC_DIALECTS_KERNEL_KERNELDIALECT_TD
