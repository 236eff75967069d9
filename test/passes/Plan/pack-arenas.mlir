// RUN: dlc-opt %s --pass-pipeline='builtin.module(plan.program(plan-pack-arenas))' | FileCheck %s
// Buffers share memory when their lives do not meet; a kernel that may work in
// place writes over its operand; constants get aligned offsets, equal ones one.

kernel.library @f "reference.expand" {} : (tensor<4xf32>) -> tensor<16xf32>
kernel.library @relu "reference.relu" {} inPlace([0, 0]) : (tensor<16xf32>) -> tensor<16xf32>
kernel.library @exp "reference.exp" {} : (tensor<16xf32>) -> tensor<16xf32>
kernel.library @add "reference.add" {} : (tensor<16xf32>, tensor<4xf32>) -> tensor<4xf32>

// CHECK-LABEL: plan.program @main
plan.program @main {
  // CHECK: plan.arena @cpu0 <cpu:0> size(128) lower_bound(128)
  %x = plan.input 0 "x" : memref<4xf32>
  %y = plan.output 0 "y" : memref<4xf32>
  // CHECK: plan.constant dense<1.000000e+00> : tensor<4xf32> at(0)
  %w = plan.constant dense<1.0> : tensor<4xf32> : memref<4xf32>
  // CHECK: plan.constant dense<2.000000e+00> : tensor<4xf32> at(64)
  %u = plan.constant dense<2.0> : tensor<4xf32> : memref<4xf32>
  // CHECK: plan.constant dense<1.000000e+00> : tensor<4xf32> at(0)
  %v = plan.constant dense<1.0> : tensor<4xf32> : memref<4xf32>
  // The second buffer dies before the third is written, but the second is read
  // while the third is: two slots.
  // CHECK: plan.slice @cpu0[[[A:.*]] for 64] : memref<16xf32>
  %a = plan.buffer <cpu:0> : memref<16xf32>
  // CHECK-NOT: plan.slice @cpu0[[[A]] for
  // CHECK: plan.slice @cpu0[[[B:.*]] for 64] : memref<16xf32>
  %b = plan.buffer <cpu:0> : memref<16xf32>
  // CHECK: plan.slice @cpu0[[[A]] for 64] : memref<16xf32>
  %c = plan.buffer <cpu:0> : memref<16xf32>
  plan.launch @f reads(%x : memref<4xf32>) writes(%a : memref<16xf32>) stream(0)
  plan.launch @exp reads(%a : memref<16xf32>) writes(%b : memref<16xf32>) stream(0)
  plan.launch @exp reads(%b : memref<16xf32>) writes(%c : memref<16xf32>) stream(0)
  plan.launch @add reads(%c, %w : memref<16xf32>, memref<4xf32>) writes(%y : memref<4xf32>) stream(0)
}

// Every step may overwrite its operand: one slot.
// CHECK-LABEL: plan.program @in_place
plan.program @in_place {
  // CHECK: plan.arena @cpu0 <cpu:0> size(64) lower_bound(64)
  %x = plan.input 0 "x" : memref<4xf32>
  %y = plan.output 0 "y" : memref<4xf32>
  %w = plan.constant dense<1.0> : tensor<4xf32> : memref<4xf32>
  // CHECK: plan.slice @cpu0[0 for 64] : memref<16xf32>
  %a = plan.buffer <cpu:0> : memref<16xf32>
  // CHECK: plan.slice @cpu0[0 for 64] : memref<16xf32>
  %b = plan.buffer <cpu:0> : memref<16xf32>
  plan.launch @f reads(%x : memref<4xf32>) writes(%a : memref<16xf32>) stream(0)
  plan.launch @relu reads(%a : memref<16xf32>) writes(%b : memref<16xf32>) stream(0)
  plan.launch @add reads(%b, %w : memref<16xf32>, memref<4xf32>) writes(%y : memref<4xf32>) stream(0)
}

// Memory that no launch uses has no place.
// CHECK-LABEL: plan.program @unused
plan.program @unused {
  // CHECK: plan.arena @cpu0 <cpu:0> size(64) lower_bound(64)
  %x = plan.input 0 "x" : memref<4xf32>
  %y = plan.output 0 "y" : memref<4xf32>
  %w = plan.constant dense<1.0> : tensor<4xf32> : memref<4xf32>
  // CHECK-NOT: plan.buffer
  // CHECK-NOT: plan.view
  // CHECK-COUNT-1: plan.slice
  // CHECK-NOT: plan.slice
  // CHECK: plan.launch
  %unused = plan.buffer <cpu:0> : memref<1024xf32>
  %viewed = plan.buffer <cpu:0> : memref<1024xf32>
  %view = plan.view %viewed : memref<1024xf32> to memref<32x32xf32>
  %a = plan.buffer <cpu:0> : memref<16xf32>
  plan.launch @f reads(%x : memref<4xf32>) writes(%a : memref<16xf32>) stream(0)
  plan.launch @add reads(%a, %w : memref<16xf32>, memref<4xf32>) writes(%y : memref<4xf32>) stream(0)
}

// An arena that nothing lies in is none.
// CHECK-LABEL: plan.program @all_unused
plan.program @all_unused {
  // CHECK-NOT: plan.arena
  // CHECK-NOT: plan.buffer
  // CHECK: plan.launch
  %x = plan.input 0 "x" : memref<4xf32>
  %y = plan.output 0 "y" : memref<16xf32>
  %unused = plan.buffer <cpu:0> : memref<1024xf32>
  plan.launch @f reads(%x : memref<4xf32>) writes(%y : memref<16xf32>) stream(0)
}
