// RUN: dlc-opt %s -split-input-file -verify-diagnostics
// One constraint of the Plan dialect a case.

plan.program @program_c1 {
  // expected-error@+1 {{expected number 0, got 1}}
  %x = plan.input 1 "x" : memref<4xf32>
}

// -----

plan.program @program_c2 {
  plan.arena @a "cpu:0" size(0) lower_bound(0)
  // expected-error@+1 {{expected a new name, got "a" again}}
  plan.arena @a "cpu:0" size(0) lower_bound(0)
}

// -----

plan.program @arena_c1 {
  // expected-error@+1 {{expected a lower bound from 0 to 8, got 9}}
  plan.arena @a "cpu:0" size(8) lower_bound(9)
}

// -----

plan.program @constant_c1 {
  // expected-error@+1 {{expected a value of the memory's type, got 'tensor<4xf32>'}}
  %w = plan.constant dense<1.0> : tensor<4xf32> : memref<5xf32>
}

// -----

plan.program @slice_c1 {
  plan.arena @a "cpu:0" size(64) lower_bound(64)
  // expected-error@+1 {{expected a range within 64 bytes, got [64 for 16]}}
  %t = plan.slice @a[64 for 16] : memref<4xf32>
}

// -----

plan.program @slice_too_small {
  plan.arena @a "cpu:0" size(64) lower_bound(64)
  // expected-error@+1 {{expected at least the memory's size, got 8 bytes}}
  %t = plan.slice @a[0 for 8] : memref<4xf32>
}

// -----

plan.program @slice_of_nothing {
  // expected-error@+1 {{expected an arena before it, got "a"}}
  %t = plan.slice @a[0 for 16] : memref<4xf32>
}

// -----

plan.program @view_c1 {
  %x = plan.input 0 "x" : memref<4xf32>
  // expected-error@+1 {{expected 20 bytes, got 16 at offset 0}}
  %v = plan.view %x : memref<4xf32> to memref<5xf32>
}

// -----

plan.program @view_element_type {
  %x = plan.input 0 "x" : memref<4xf32>
  // expected-error@+1 {{expected element type 'f32', got 'i32'}}
  %v = plan.view %x : memref<4xf32> to memref<4xi32>
}

// -----

plan.program @launch_c1 {
  %x = plan.input 0 "x" : memref<4xf32>
  // expected-error@+1 {{expected the name of a kernel, got @nothing}}
  plan.launch @nothing reads(%x : memref<4xf32>) writes() stream(0)
}
