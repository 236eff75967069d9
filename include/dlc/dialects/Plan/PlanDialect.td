// SPDX-License-Identifier: Apache-2.0
//
// The Plan dialect: when and where.

#ifndef DLC_DIALECTS_PLAN_PLANDIALECT_TD
#define DLC_DIALECTS_PLAN_PLANDIALECT_TD

include "mlir/IR/OpBase.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::dlc::plan";
  let summary = "When and where a program's kernels run";
  let description = [{
    A `plan.program` is a straight line of launches over named memory: inputs
    and outputs that the caller binds, constants of the artifact, transients
    at offsets of per-device arenas, and values whose size is known only while
    running, from a pool. `reads(...)` and `writes(...)` of a launch are the
    dependency engine's variables.

    Memory is a memref of plain elements (bool, integers, floats) in row-major
    order without a memory space; devices are `#dlc.device` attributes.
  }];
  let dependentDialects = ["::dlc::BaseDialect"];
}

#endif // DLC_DIALECTS_PLAN_PLANDIALECT_TD
