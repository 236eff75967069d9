// RUN: dlc-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(plan.program(plan-verify))'
// What the plan phase promises to the writer and the runtime.

plan.program @unpacked {
  // expected-error@+1 {{expected a packed buffer}}
  %a = plan.buffer <cpu:0> : memref<16xf32>
}

// -----

kernel.library @relu "reference.relu" {} : (tensor<4xf32>) -> tensor<4xf32>
plan.program @read_before_write {
  plan.arena @cpu0 <cpu:0> size(64) lower_bound(64)
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
kernel.library @add "reference.add" {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// expected-error@+1 {{expected slices of "cpu0" that keep apart: buffer '0 at 0' and buffer '1 at 0' share bytes at time 1}}
plan.program @overlap {
  plan.arena @cpu0 <cpu:0> size(64) lower_bound(64)
  %x = plan.input 0 "x" : memref<4xf32>
  %y = plan.output 0 "y" : memref<4xf32>
  %a = plan.slice @cpu0[0 for 16] : memref<4xf32>
  %b = plan.slice @cpu0[0 for 16] : memref<4xf32>
  plan.launch @relu reads(%x : memref<4xf32>) writes(%a : memref<4xf32>) stream(0)
  plan.launch @relu reads(%x : memref<4xf32>) writes(%b : memref<4xf32>) stream(0)
  plan.launch @add reads(%a, %b : memref<4xf32>, memref<4xf32>) writes(%y : memref<4xf32>) stream(0)
}

// -----

kernel.library @relu "reference.relu" {} : (tensor<4xf32>) -> tensor<4xf32>
// expected-error@+1 {{expected slices of "cpu0" that keep apart: buffer '0 at 7': expected an offset aligned to 64, got 7}}
plan.program @misaligned {
  plan.arena @cpu0 <cpu:0> size(64) lower_bound(64)
  %x = plan.input 0 "x" : memref<4xf32>
  %y = plan.output 0 "y" : memref<4xf32>
  %a = plan.slice @cpu0[7 for 16] : memref<4xf32>
  plan.launch @relu reads(%x : memref<4xf32>) writes(%a : memref<4xf32>) stream(0)
  plan.launch @relu reads(%a : memref<4xf32>) writes(%y : memref<4xf32>) stream(0)
}

// -----

// The same bytes one after the other, and handed on in place, are what packing
// is for.
kernel.library @relu "reference.relu" {} inPlace([0, 0]) : (tensor<4xf32>) -> tensor<4xf32>
plan.program @in_place {
  plan.arena @cpu0 <cpu:0> size(64) lower_bound(64)
  %x = plan.input 0 "x" : memref<4xf32>
  %y = plan.output 0 "y" : memref<4xf32>
  %a = plan.slice @cpu0[0 for 16] : memref<4xf32>
  %b = plan.slice @cpu0[0 for 16] : memref<4xf32>
  %c = plan.slice @cpu0[0 for 16] : memref<4xf32>
  plan.launch @relu reads(%x : memref<4xf32>) writes(%a : memref<4xf32>) stream(0)
  plan.launch @relu reads(%a : memref<4xf32>) writes(%b : memref<4xf32>) stream(0)
  plan.launch @relu reads(%b : memref<4xf32>) writes(%c : memref<4xf32>) stream(0)
  plan.launch @relu reads(%c : memref<4xf32>) writes(%y : memref<4xf32>) stream(0)
}

// -----

// The same without the kernel's promise.
kernel.library @relu "reference.relu" {} : (tensor<4xf32>) -> tensor<4xf32>
// expected-error@+1 {{buffer '0 at 0' and buffer '1 at 0' share bytes at time 1}}
plan.program @not_in_place {
  plan.arena @cpu0 <cpu:0> size(64) lower_bound(64)
  %x = plan.input 0 "x" : memref<4xf32>
  %y = plan.output 0 "y" : memref<4xf32>
  %a = plan.slice @cpu0[0 for 16] : memref<4xf32>
  %b = plan.slice @cpu0[0 for 16] : memref<4xf32>
  plan.launch @relu reads(%x : memref<4xf32>) writes(%a : memref<4xf32>) stream(0)
  plan.launch @relu reads(%a : memref<4xf32>) writes(%b : memref<4xf32>) stream(0)
  plan.launch @relu reads(%b : memref<4xf32>) writes(%y : memref<4xf32>) stream(0)
}

// -----

// One operand cannot be handed on to two results.
kernel.library @two "reference.two" {} inPlace([0, 0, 0, 1]) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
kernel.library @add "reference.add" {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
kernel.library @relu "reference.relu" {} : (tensor<4xf32>) -> tensor<4xf32>
// expected-error@+1 {{share bytes at time 1}}
plan.program @in_place_twice {
  plan.arena @cpu0 <cpu:0> size(64) lower_bound(64)
  %x = plan.input 0 "x" : memref<4xf32>
  %y = plan.output 0 "y" : memref<4xf32>
  %a = plan.slice @cpu0[0 for 16] : memref<4xf32>
  %b = plan.slice @cpu0[0 for 16] : memref<4xf32>
  %c = plan.slice @cpu0[0 for 16] : memref<4xf32>
  plan.launch @relu reads(%x : memref<4xf32>) writes(%a : memref<4xf32>) stream(0)
  plan.launch @two reads(%a : memref<4xf32>) writes(%b, %c : memref<4xf32>, memref<4xf32>) stream(0)
  plan.launch @add reads(%b, %c : memref<4xf32>, memref<4xf32>) writes(%y : memref<4xf32>) stream(0)
}

// -----

plan.program @constant_without_place {
  // expected-error@+1 {{expected an offset, got none}}
  %w = plan.constant dense<1.0> : tensor<4xf32> : memref<4xf32>
}

// -----

plan.program @constants_overlap {
  %w = plan.constant dense<1.0> : tensor<32xf32> at(0) : memref<32xf32>
  %same = plan.constant dense<1.0> : tensor<32xf32> at(0) : memref<32xf32>
  %none = plan.constant dense<> : tensor<0xf32> at(0) : memref<0xf32>
  // expected-error@+1 {{expected an offset of at least 128, or that of an equal constant, got 64}}
  %v = plan.constant dense<2.0> : tensor<32xf32> at(64) : memref<32xf32>
}

// -----

plan.program @constant_misaligned {
  // expected-error@+1 {{expected an offset aligned to 64, got 4}}
  %w = plan.constant dense<1.0> : tensor<4xf32> at(4) : memref<4xf32>
}

// -----

// What is updated is read before, or in place by the launch that writes.

kernel.library @relu "reference.relu" {} : (tensor<4xf32>) -> tensor<4xf32>
kernel.library @copy "copy" {} inPlace([0, 0]) : (tensor<4xf32>) -> tensor<4xf32>
plan.program @update {
  %x = plan.input 0 "x" : memref<4xf32>
  %y = plan.output 0 "y" : memref<4xf32>
  %n = plan.output 1 "n" updates(0) : memref<4xf32>
  plan.launch @relu reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) stream(0)
  plan.launch @copy reads(%x : memref<4xf32>) writes(%n : memref<4xf32>) stream(0)
}

// -----

kernel.library @relu "reference.relu" {} : (tensor<4xf32>) -> tensor<4xf32>
plan.program @read_after_update {
  %x = plan.input 0 "x" : memref<4xf32>
  %z = plan.input 1 "z" : memref<4xf32>
  %y = plan.output 0 "y" : memref<4xf32>
  // expected-note@+1 {{the update is here}}
  %n = plan.output 1 "n" updates(0) : memref<4xf32>
  plan.launch @relu reads(%z : memref<4xf32>) writes(%n : memref<4xf32>) stream(0)
  // expected-error@+1 {{expected to read what is updated before it is written}}
  plan.launch @relu reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) stream(0)
}

// -----

kernel.library @relu "reference.relu" {} : (tensor<4xf32>) -> tensor<4xf32>
plan.program @update_not_in_place {
  %x = plan.input 0 "x" : memref<4xf32>
  // expected-note@+1 {{the update is here}}
  %n = plan.output 0 "n" updates(0) : memref<4xf32>
  // expected-error@+1 {{expected to read what is updated before it is written}}
  plan.launch @relu reads(%x : memref<4xf32>) writes(%n : memref<4xf32>) stream(0)
}

// -----

// Copies alone read memory of another device.
kernel.library @relu "reference.relu" {} : (tensor<4xf32>) -> tensor<4xf32>
kernel.library @copy "copy" {} : (tensor<4xf32>) -> tensor<4xf32>
plan.program @devices {
  plan.arena @cpu0 <cpu:0> size(64) lower_bound(64)
  plan.arena @cpu1 <cpu:1> size(64) lower_bound(64)
  %x = plan.input 0 "x" : memref<4xf32>
  %y = plan.output 0 "y" : memref<4xf32>
  %z = plan.output 1 "z" : memref<4xf32>
  %a = plan.slice @cpu0[0 for 16] : memref<4xf32>
  %b = plan.slice @cpu1[0 for 16] : memref<4xf32>
  plan.launch @relu reads(%x : memref<4xf32>) writes(%a : memref<4xf32>) stream(0)
  plan.launch @copy reads(%a : memref<4xf32>) writes(%b : memref<4xf32>) stream(1) on <cpu:1>
  plan.launch @relu reads(%b : memref<4xf32>) writes(%y : memref<4xf32>) stream(0) on <cpu:1>
  // expected-error@+1 {{expected memory of cpu:0, where it runs, got memory of cpu:1}}
  plan.launch @relu reads(%b : memref<4xf32>) writes(%z : memref<4xf32>) stream(0)
}

// -----

// Half of what is read was written.
kernel.library @relu "reference.relu" {} : (tensor<16xf32>) -> tensor<16xf32>
kernel.library @sum "reference.reduce_sum" {} : (tensor<32xf32>) -> tensor<16xf32>
plan.program @half_written {
  plan.arena @cpu0 <cpu:0> size(128) lower_bound(128)
  %x = plan.input 0 "x" : memref<16xf32>
  %y = plan.output 0 "y" : memref<16xf32>
  // expected-note@+1 {{the memory is here}}
  %a = plan.slice @cpu0[0 for 128] : memref<32xf32>
  %b = plan.view %a + 64 : memref<32xf32> to memref<16xf32>
  plan.launch @relu reads(%x : memref<16xf32>) writes(%b : memref<16xf32>) stream(0)
  // expected-error@+1 {{expected memory that is written before it is read}}
  plan.launch @sum reads(%a : memref<32xf32>) writes(%y : memref<16xf32>) stream(0)
}

// -----

kernel.library @relu "reference.relu" {} : (tensor<16xf32>) -> tensor<16xf32>
kernel.library @sum "reference.reduce_sum" {} : (tensor<32xf32>) -> tensor<16xf32>
plan.program @written_in_parts {
  plan.arena @cpu0 <cpu:0> size(128) lower_bound(128)
  %x = plan.input 0 "x" : memref<16xf32>
  %y = plan.output 0 "y" : memref<16xf32>
  %a = plan.slice @cpu0[0 for 128] : memref<32xf32>
  %b = plan.view %a + 64 : memref<32xf32> to memref<16xf32>
  %c = plan.view %a : memref<32xf32> to memref<16xf32>
  plan.launch @relu reads(%x : memref<16xf32>) writes(%b : memref<16xf32>) stream(0)
  plan.launch @relu reads(%b : memref<16xf32>) writes(%c : memref<16xf32>) stream(0)
  plan.launch @sum reads(%a : memref<32xf32>) writes(%y : memref<16xf32>) stream(0)
}
