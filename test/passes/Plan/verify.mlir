// RUN: dlc-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(plan.program(plan-verify))'
// What the plan phase promises to the writer and the runtime.

plan.program @unpacked {
  // expected-error@+1 {{expected a packed buffer}}
  %a = plan.buffer "cpu:0" : memref<16xf32>
}

// -----

kernel.library @relu "reference.relu" {} : (tensor<4xf32>) -> tensor<4xf32>
plan.program @read_before_write {
  plan.arena @cpu0 "cpu:0" size(64) lower_bound(64)
  %y = plan.output 0 "y" : memref<4xf32>
  // expected-note@+1 {{the memory is here}}
  %a = plan.slice @cpu0[0 for 16] : memref<4xf32>
  // expected-error@+1 {{expected memory that is written before it is read}}
  plan.launch @relu reads(%a : memref<4xf32>) writes(%y : memref<4xf32>) stream(0)
}

// -----

plan.program @unwritten_output {
  // expected-error@+1 {{expected a launch that writes it}}
  %y = plan.output 0 "y" : memref<4xf32>
}

// -----

kernel.library @relu "reference.relu" {} : (tensor<4xf32>) -> tensor<4xf32>
plan.program @written_input {
  %x = plan.input 0 "x" : memref<4xf32>
  // expected-error@+1 {{expected writable memory, got an input or a constant}}
  plan.launch @relu reads(%x : memref<4xf32>) writes(%x : memref<4xf32>) stream(0)
}
