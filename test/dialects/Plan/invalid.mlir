// RUN: dlc-opt %s -split-input-file -verify-diagnostics
// One constraint of the Plan dialect a case.

plan.program @program_c1 {
  // expected-error@+1 {{expected number 0, got 1}}
  %x = plan.input 1 "x" : memref<4xf32>
}

// -----

plan.program @program_c2 {
  plan.arena @a <cpu:0> size(0) lower_bound(0)
  // expected-error@+1 {{expected a new name, got "a" again}}
  plan.arena @a <cpu:0> size(0) lower_bound(0)
}

// -----

plan.program @arena_c1 {
  // expected-error@+1 {{expected a lower bound from 0 to 8, got 9}}
  plan.arena @a <cpu:0> size(8) lower_bound(9)
}

// -----

plan.program @constant_c1 {
  // expected-error@+1 {{expected a value of the memory's type, got 'tensor<4xf32>'}}
  %w = plan.constant dense<1.0> : tensor<4xf32> : memref<5xf32>
}

// -----

plan.program @slice_c1 {
  plan.arena @a <cpu:0> size(64) lower_bound(64)
  // expected-error@+1 {{expected a range within 64 bytes, got [64 for 16]}}
  %t = plan.slice @a[64 for 16] : memref<4xf32>
}

// -----

plan.program @slice_too_small {
  plan.arena @a <cpu:0> size(64) lower_bound(64)
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

plan.program @input_c1 {
  // expected-error@+1 {{expected a state of random numbers of 'memref<2xi64>', got 'memref<3xi64>'}}
  %x = plan.input 0 "random" random : memref<3xi64>
}

// -----

plan.program @program_c3 {
  plan.arena @a <cpu:0> size(0) lower_bound(0)
  // expected-error@+1 {{expected one arena of a device, got a second one of #dlc.device<cpu:0>}}
  plan.arena @b <cpu:0> size(0) lower_bound(0)
}

// -----

// Memory is plain: rows in order, elements that have a width.
plan.program @element_type {
  // expected-error@+1 {{must be static row-major memory of bool, integers or floats, but got 'memref<4xindex>'}}
  %t = plan.buffer <cpu:0> : memref<4xindex>
}

// -----

plan.program @vector_elements {
  // expected-error@+1 {{must be static row-major memory}}
  %t = plan.buffer <cpu:0> : memref<4xvector<4xf32>>
}

// -----

plan.program @layout {
  // expected-error@+1 {{must be row-major memory}}
  %x = plan.input 0 "x" : memref<4x4xf32, strided<[1, 4]>>
}

// -----

plan.program @memory_space {
  // expected-error@+1 {{must be static row-major memory}}
  %t = plan.buffer <cpu:0> : memref<4xf32, 1>
}

// -----

plan.program @too_large {
  // expected-error@+1 {{must be static row-major memory}}
  %t = plan.buffer <cpu:0> : memref<4611686018427387904xf32>
}

// -----

plan.program @no_device {
  // expected-error@+1 {{expected '<'}}
  %t = plan.buffer "nonsense:99" : memref<4xf32>
}

// -----

plan.program @launch_c1 {
  %x = plan.input 0 "x" : memref<4xf32>
  // expected-error@+1 {{expected the name of a kernel, got @nothing}}
  plan.launch @nothing reads(%x : memref<4xf32>) writes() stream(0)
}

// -----

// A program is no kernel, not even itself.
plan.program @launch_c1_program {
  // expected-error@+1 {{expected the name of a kernel, got @launch_c1_program}}
  plan.launch @launch_c1_program reads() writes() stream(0)
}

// -----

// expected-note@+1 {{the kernel is here}}
kernel.library @add "reference.add" {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
plan.program @launch_c2 {
  %x = plan.input 0 "x" : memref<4xf32>
  %y = plan.output 0 "y" : memref<4xf32>
  // expected-error@+1 {{expected 2 reads, got 1}}
  plan.launch @add reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) stream(0)
}

// -----

// Scratch memory counts as written.
// expected-note@+1 {{the kernel is here}}
kernel.library @conv "cpu.conv" {} workspace(64) : (tensor<4xf32>) -> tensor<4xf32>
plan.program @launch_c2_workspace {
  %x = plan.input 0 "x" : memref<4xf32>
  %y = plan.output 0 "y" : memref<4xf32>
  // expected-error@+1 {{expected 2 writes, got 1}}
  plan.launch @conv reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) stream(0)
}

// -----

// expected-note@+1 {{the kernel is here}}
kernel.library @relu "reference.relu" {} : (tensor<4xf32>) -> tensor<4xf32>
plan.program @launch_c3 {
  %x = plan.input 0 "x" : memref<5xf32>
  %y = plan.output 0 "y" : memref<4xf32>
  // expected-error@+1 {{expected reads 0 of 'tensor<4xf32>', got 'memref<5xf32>'}}
  plan.launch @relu reads(%x : memref<5xf32>) writes(%y : memref<4xf32>) stream(0)
}

// -----

kernel.library @relu "reference.relu" {} : (tensor<4xf32>) -> tensor<4xf32>
plan.program @launch_c4 {
  %x = plan.input 0 "x" : memref<4xf32>
  %v = plan.view %x : memref<4xf32> to memref<4xf32>
  // expected-error@+1 {{expected writable memory, got an input or a constant}}
  plan.launch @relu reads(%x : memref<4xf32>) writes(%v : memref<4xf32>) stream(0)
}

// -----

kernel.library @relu "reference.relu" {} : (tensor<4xf32>) -> tensor<4xf32>
plan.program @launch_c5 {
  %x = plan.input 0 "x" : memref<4xf32>
  %y = plan.output 0 "y" : memref<4xf32>
  // expected-error@+1 {{expected a stream of at least 0, got -7}}
  plan.launch @relu reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) stream(-7)
}

// -----

plan.program @program_c4_number {
  %x = plan.input 0 "x" : memref<4xf32>
  // expected-error@+1 {{expected the number of an input to update, got 1}}
  %y = plan.output 0 "y" updates(1) : memref<4xf32>
}

// -----

plan.program @program_c4_type {
  %x = plan.input 0 "x" : memref<4xf32>
  // expected-error@+1 {{expected the static type of the input that it updates, 'memref<4xf32>', got 'memref<5xf32>'}}
  %y = plan.output 0 "y" updates(0) : memref<5xf32>
}

// -----

plan.program @program_c4_twice {
  %x = plan.input 0 "x" : memref<4xf32>
  %y = plan.output 0 "y" updates(0) : memref<4xf32>
  // expected-error@+1 {{expected one update of input 0, got a second}}
  %z = plan.output 1 "z" updates(0) : memref<4xf32>
}

// -----

plan.program @program_c5 by_rows([@one]) {
  %x = plan.input 0 "x" : memref<?xf32>
  // expected-error@+1 {{expected inputs and outputs alone in a program of others}}
  %t = plan.pool <cpu:0> : memref<?xf32>
}
plan.program @one rows(1) {
  %x = plan.input 0 "x" : memref<1xf32>
}

// -----

// expected-error@+1 {{expected the name of a program of fewer rows, got @none}}
plan.program @program_c6_name by_rows([@none]) {
  %x = plan.input 0 "x" : memref<?xf32>
}

// -----

// expected-error@+1 {{expected the name of a program of fewer rows, got @four}}
plan.program @program_c6_order by_rows([@one, @four]) {
  %x = plan.input 0 "x" : memref<?xf32>
}
plan.program @one rows(1) {
  %x = plan.input 0 "x" : memref<1xf32>
}
plan.program @four rows(4) {
  %x = plan.input 0 "x" : memref<4xf32>
}

// -----

// expected-error@+1 {{expected a program of one row at last}}
plan.program @program_c6_last by_rows([@four]) {
  %x = plan.input 0 "x" : memref<?xf32>
}
plan.program @four rows(4) {
  %x = plan.input 0 "x" : memref<4xf32>
}

// -----

plan.program @program_c6_ports by_rows([@one]) {
  %x = plan.input 0 "x" : memref<?xf32>
}
// expected-error@+1 {{expected the inputs and outputs of "program_c6_ports"}}
plan.program @one rows(1) {
  %x = plan.input 0 "x" : memref<1xf32>
  %y = plan.input 1 "y" : memref<1xf32>
}

// -----

plan.program @program_c6_each by_rows([@four, @one]) {
  %x = plan.input 0 "x" : memref<?x3xf32>
}
plan.program @four rows(4) {
  %x = plan.input 0 "x" : memref<8x3xf32>
}
plan.program @one rows(1) {
  // expected-error@+1 {{expected rows of "x" of type 'memref<?x3xf32>', got "x" of type 'memref<1x3xf32>'}}
  %x = plan.input 0 "x" : memref<1x3xf32>
}

// -----

plan.program @program_c6_type by_rows([@one]) {
  %x = plan.input 0 "x" : memref<?x3xf32>
}
plan.program @one rows(1) {
  // expected-error@+1 {{expected rows of "x" of type 'memref<?x3xf32>', got "x" of type 'memref<1x4xf32>'}}
  %x = plan.input 0 "x" : memref<1x4xf32>
}

// -----

// expected-error@+1 {{expected the name of a program for one shape, got @none}}
plan.program @program_c7_name by_shape([@none]) {
  %x = plan.input 0 "x" : memref<?xf32>
}

// -----

// expected-error@+1 {{expected the name of a program for one shape, got @inner}}
plan.program @program_c7_nested by_shape([@inner]) {
  %x = plan.input 0 "x" : memref<?xf32>
}
plan.program @inner by_shape([@one]) {
  %x = plan.input 0 "x" : memref<?xf32>
}
plan.program @one {
  %x = plan.input 0 "x" : memref<1xf32>
}

// -----

plan.program @program_c7_shape by_shape([@one]) {
  %x = plan.input 0 "x" : memref<?x4xf32>
}
plan.program @one {
  // expected-error@+1 {{expected a shape of "x" of type 'memref<?x4xf32>', got "x" of type 'memref<1x5xf32>'}}
  %x = plan.input 0 "x" : memref<1x5xf32>
}

// -----

plan.program @program_c7_type by_shape([@one]) {
  %x = plan.input 0 "x" : memref<*xf32>
}
plan.program @one {
  // expected-error@+1 {{expected a shape of "x" of type 'memref<*xf32>', got "x" of type 'memref<1xi32>'}}
  %x = plan.input 0 "x" : memref<1xi32>
}

// -----

plan.program @program_c7_ports by_shape([@one]) {
  %x = plan.input 0 "x" : memref<?xf32>
}
// expected-error@+1 {{expected the inputs and outputs of "program_c7_ports"}}
plan.program @one {
  %y = plan.output 0 "y" : memref<1xf32>
}

// -----

// expected-error@+1 {{expected programs by shape or by rows}}
plan.program @program_c7_both by_rows([@one]) by_shape([@one]) {
  %x = plan.input 0 "x" : memref<?xf32>
}
plan.program @one rows(1) {
  %x = plan.input 0 "x" : memref<1xf32>
}

// -----

plan.program @program_c8_alone {
  // expected-error@+1 {{expected of each dimension that a program by shape leaves open -1 or the number of an extent, which inputs have, got array<i64: 0>}}
  %x = plan.input 0 "x" padded([0]) : memref<?xf32>
}

// -----

plan.program @program_c8_known by_shape([@one]) {
  // expected-error@+1 {{expected of each dimension that a program by shape leaves open}}
  %x = plan.input 0 "x" padded([-1, 0]) : memref<?x4xf32>
}
plan.program @one {
  %x = plan.input 0 "x" : memref<1x4xf32>
  %n = plan.input 1 "n" : memref<i64>
}

// -----

plan.program @program_c8_output by_shape([@one]) {
  %x = plan.input 0 "x" padded([0]) : memref<?xf32>
  // expected-error@+1 {{which inputs have, got array<i64: 1>}}
  %y = plan.output 0 "y" padded([1]) : memref<?xf32>
}
plan.program @one {
  %x = plan.input 0 "x" : memref<1xf32>
  %n = plan.input 1 "n" : memref<i64>
  %y = plan.output 0 "y" : memref<1xf32>
}

// -----

// expected-error@+1 {{expected padded extents 0, 1, ..., got 1 of 1}}
plan.program @program_c8_gap by_shape([@one]) {
  %x = plan.input 0 "x" padded([1]) : memref<?xf32>
}
plan.program @one {
  %x = plan.input 0 "x" : memref<1xf32>
  %n = plan.input 1 "n" : memref<i64>
}

// -----

plan.program @program_c8_size by_shape([@one]) {
  %x = plan.input 0 "x" padded([0]) : memref<?xf32>
}
// expected-error@+1 {{expected the inputs and outputs of "program_c8_size"}}
plan.program @one {
  %x = plan.input 0 "x" : memref<1xf32>
}

// -----

plan.program @program_c8_type by_shape([@one]) {
  %x = plan.input 0 "x" padded([0]) : memref<?xf32>
}
plan.program @one {
  %x = plan.input 0 "x" : memref<1xf32>
  // expected-error@+1 {{expected the size of an extent, memref<i64>, got 'memref<1xi64>'}}
  %n = plan.input 1 "n" : memref<1xi64>
}

// -----

plan.program @program_c8_sizes by_shape([@one]) {
  %x = plan.input 0 "x" padded([0, 0]) : memref<?x?xf32>
}
plan.program @one {
  // expected-error@+1 {{expected one size of padded extent 0, got 'memref<1x2xf32>'}}
  %x = plan.input 0 "x" : memref<1x2xf32>
  %n = plan.input 1 "n" : memref<i64>
}
