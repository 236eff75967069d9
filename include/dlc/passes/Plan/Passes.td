// SPDX-License-Identifier: Apache-2.0
//
// Passes over the Plan dialect.

#ifndef DLC_PASSES_PLAN_PASSES_TD
#define DLC_PASSES_PLAN_PASSES_TD

include "mlir/Pass/PassBase.td"

def ScheduleLaunchesPass : Pass<"plan-schedule-launches", "plan::ProgramOp"> {
  let summary = "Order launches so that least memory is live at once";
  let description = [{
    Requires: a program whose launches are in a legal order
    (`convert-graph-to-plan`).
    Ensures: launches are in the order with the smallest peak of live buffer
    bytes that `Planning/Schedule` finds; never worse than the given order.
    What reads an input comes before the launch that updates it.
    Cost: O(n w) for n launches of which at most w are ready at once.

    ```mlir
    plan.launch @big reads(%x : ...) writes(%a : ...) stream(0)
    plan.launch @other reads(%x : ...) writes(%b : ...) stream(0)
    plan.launch @reduce reads(%a : ...) writes(%c : ...) stream(0)
    ->
    plan.launch @big reads(%x : ...) writes(%a : ...) stream(0)
    plan.launch @reduce reads(%a : ...) writes(%c : ...) stream(0)
    plan.launch @other reads(%x : ...) writes(%b : ...) stream(0)
    ```
  }];
}

def PackArenasPass : Pass<"plan-pack-arenas", "plan::ProgramOp"> {
  let summary = "Assign an arena offset to every transient buffer";
  let description = [{
    Requires: each buffer has one device, launches are in their final order
    (`plan-schedule-launches`).
    Ensures: each `plan.buffer` that a launch uses is a `plan.slice` of its
    device's arena, and the others are gone; buffers whose live ranges overlap
    do not overlap in memory except where a kernel may work in place (checked by
    `Planning/Memory`'s independent validator), each constant has a 64-byte
    aligned offset and equal constants share it.
    Cost: the heuristics are O(n log n) on sparse programs; the search then
    expands at most `search-steps` branches and keeps the best packing.

    ```mlir
    %a = plan.buffer <cpu:0> : memref<16xf32>
    ->
    plan.arena @cpu0 <cpu:0> size(64) lower_bound(64)
    %a = plan.slice @cpu0[0 for 64] : memref<16xf32>
    ```
  }];
  let options = [
    Option<"searchSteps", "search-steps", "int64_t", /*default=*/"20000",
           "Branches the search may expand per arena; 0 means heuristics only">
  ];
}

def VerifyPlanPass : Pass<"plan-verify", "plan::ProgramOp"> {
  let summary = "Check what the artifact writer and the runtime rely on";
  let description = [{
    Requires: `plan-pack-arenas`.
    Ensures: no `plan.buffer` is left; each value that a launch reads was
    written before, or is an input or a constant; each output is written
    exactly once, and an input that it updates is read before that or in place
    by the launch that writes it. Slices are aligned to 64 bytes, and share
    bytes while both are live only where one launch hands them on in place; the
    validator of `Planning/Memory` says so. Launches use slices and pools of
    their own device, but for copies, which read those of any. Constants are
    aligned, in ascending order, and disjoint unless equal. Changes nothing.
    Cost: one walk, O(n log n) for n slices, and their pairs that are live at
    once.

    ```mlir
    %a = plan.buffer <cpu:0> : memref<16xf32> // error: expected a packed buffer
    ```
  }];
}

#endif // DLC_PASSES_PLAN_PASSES_TD
