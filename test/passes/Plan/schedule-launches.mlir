// RUN: dlc-opt %s --pass-pipeline='builtin.module(plan.program(plan-schedule-launches))' | FileCheck %s
// One branch is finished before the other begins: one large buffer is live
// instead of two.

kernel.library @big "reference.expand" {} : (tensor<4xf32>) -> tensor<1024xf32>
kernel.library @sum "reference.reduce_sum" {} : (tensor<1024xf32>) -> tensor<4xf32>
kernel.library @add "reference.add" {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// CHECK-LABEL: plan.program @main
plan.program @main {
  %x = plan.input 0 "x" : memref<4xf32>
  %y = plan.output 0 "y" : memref<4xf32>
  %a = plan.buffer <cpu:0> : memref<1024xf32>
  %b = plan.buffer <cpu:0> : memref<1024xf32>
  %c = plan.buffer <cpu:0> : memref<4xf32>
  %d = plan.buffer <cpu:0> : memref<4xf32>
  // CHECK: plan.launch @big
  // CHECK-NEXT: plan.launch @sum
  // CHECK-NEXT: plan.launch @big
  // CHECK-NEXT: plan.launch @sum
  // CHECK-NEXT: plan.launch @add
  plan.launch @big reads(%x : memref<4xf32>) writes(%a : memref<1024xf32>) stream(0)
  plan.launch @big reads(%x : memref<4xf32>) writes(%b : memref<1024xf32>) stream(0)
  plan.launch @sum reads(%a : memref<1024xf32>) writes(%c : memref<4xf32>) stream(0)
  plan.launch @sum reads(%b : memref<1024xf32>) writes(%d : memref<4xf32>) stream(0)
  plan.launch @add reads(%c, %d : memref<4xf32>, memref<4xf32>) writes(%y : memref<4xf32>) stream(0)
}

// Who reads a part of a buffer waits for that part, who reads all of it for
// both: one part is of the other, and the second sum of the whole.
kernel.library @both "reference.reduce_sum" {} : (tensor<2x1024xf32>) -> tensor<4xf32>
// CHECK-LABEL: plan.program @parts
plan.program @parts {
  %x = plan.input 0 "x" : memref<4xf32>
  %y = plan.output 0 "y" : memref<4xf32>
  %all = plan.buffer <cpu:0> : memref<2x1024xf32>
  %a = plan.view %all : memref<2x1024xf32> to memref<1024xf32>
  %b = plan.view %all + 4096 : memref<2x1024xf32> to memref<1024xf32>
  %c = plan.buffer <cpu:0> : memref<4xf32>
  // CHECK: plan.launch @big
  // CHECK-NEXT: plan.launch @sum
  // CHECK-NEXT: plan.launch @big
  // CHECK-NEXT: plan.launch @both
  plan.launch @big reads(%x : memref<4xf32>) writes(%a : memref<1024xf32>) stream(0)
  plan.launch @sum reads(%a : memref<1024xf32>) writes(%c : memref<4xf32>) stream(0)
  plan.launch @big reads(%c : memref<4xf32>) writes(%b : memref<1024xf32>) stream(0)
  plan.launch @both reads(%all : memref<2x1024xf32>) writes(%y : memref<4xf32>) stream(0)
}

// What has no bytes is written before it is read, too: the launch that reads
// none of it would free most if it were the first.
kernel.library @none "reference.relu" {} : (tensor<4xf32>) -> tensor<0xf32>
kernel.library @fold "reference.expand" {} : (tensor<1024xf32>, tensor<0xf32>) -> tensor<4xf32>
// CHECK-LABEL: plan.program @empty
plan.program @empty {
  %x = plan.input 0 "x" : memref<4xf32>
  %y = plan.output 0 "y" : memref<4xf32>
  %a = plan.buffer <cpu:0> : memref<1024xf32>
  %e = plan.buffer <cpu:0> : memref<0xf32>
  // CHECK: plan.launch @none
  // CHECK: plan.launch @fold
  plan.launch @big reads(%x : memref<4xf32>) writes(%a : memref<1024xf32>) stream(0)
  plan.launch @none reads(%x : memref<4xf32>) writes(%e : memref<0xf32>) stream(0)
  plan.launch @fold reads(%a, %e : memref<1024xf32>, memref<0xf32>) writes(%y : memref<4xf32>) stream(0)
}

// What reads an input comes before what updates it (NNVM's OrderMutation), which
// would free most memory before.
kernel.library @mix "reference.add" {} : (tensor<1024xf32>, tensor<4xf32>) -> tensor<1024xf32>
kernel.library @move "reference.relu" {} : (tensor<1024xf32>) -> tensor<1024xf32>
// CHECK-LABEL: plan.program @update
plan.program @update {
  %x = plan.input 0 "x" : memref<1024xf32>
  %z = plan.input 1 "z" : memref<4xf32>
  %y = plan.output 0 "y" : memref<4xf32>
  %n = plan.output 1 "new x" updates(0) : memref<1024xf32>
  %a = plan.buffer <cpu:0> : memref<1024xf32>
  %b = plan.buffer <cpu:0> : memref<1024xf32>
  %c = plan.buffer <cpu:0> : memref<4xf32>
  // CHECK: plan.launch @big
  // CHECK-NEXT: plan.launch @sum
  // CHECK-NEXT: plan.launch @mix
  // CHECK: plan.launch @move
  plan.launch @big reads(%z : memref<4xf32>) writes(%a : memref<1024xf32>) stream(0)
  plan.launch @sum reads(%a : memref<1024xf32>) writes(%c : memref<4xf32>) stream(0)
  plan.launch @mix reads(%x, %c : memref<1024xf32>, memref<4xf32>) writes(%b : memref<1024xf32>) stream(0)
  plan.launch @sum reads(%b : memref<1024xf32>) writes(%y : memref<4xf32>) stream(0)
  plan.launch @move reads(%a : memref<1024xf32>) writes(%n : memref<1024xf32>) stream(0)
}

// Without the update it comes first.
// CHECK-LABEL: plan.program @no_update
plan.program @no_update {
  %x = plan.input 0 "x" : memref<1024xf32>
  %z = plan.input 1 "z" : memref<4xf32>
  %y = plan.output 0 "y" : memref<4xf32>
  %n = plan.output 1 "new x" : memref<1024xf32>
  %a = plan.buffer <cpu:0> : memref<1024xf32>
  %b = plan.buffer <cpu:0> : memref<1024xf32>
  %c = plan.buffer <cpu:0> : memref<4xf32>
  // CHECK: plan.launch @move
  // CHECK: plan.launch @mix
  plan.launch @big reads(%z : memref<4xf32>) writes(%a : memref<1024xf32>) stream(0)
  plan.launch @sum reads(%a : memref<1024xf32>) writes(%c : memref<4xf32>) stream(0)
  plan.launch @mix reads(%x, %c : memref<1024xf32>, memref<4xf32>) writes(%b : memref<1024xf32>) stream(0)
  plan.launch @sum reads(%b : memref<1024xf32>) writes(%y : memref<4xf32>) stream(0)
  plan.launch @move reads(%a : memref<1024xf32>) writes(%n : memref<1024xf32>) stream(0)
}
