// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// Every operation of the Plan dialect prints as it parses.

kernel.library @add "reference.add" {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
kernel.library @pick "reference.non_zero" {} : (tensor<4xf32>) -> tensor<1x?xi64>

// CHECK-LABEL: plan.program @main
plan.program @main {
  // CHECK: plan.arena @cpu0 <cpu:0> size(128) lower_bound(64)
  plan.arena @cpu0 <cpu:0> size(128) lower_bound(64)
  // CHECK: %[[X:.*]] = plan.input 0 "x" : memref<4xf32>
  %x = plan.input 0 "x" : memref<4xf32>
  // CHECK: plan.input 1 "random" random : memref<2xi64>
  %r = plan.input 1 "random" random : memref<2xi64>
  // CHECK: plan.output 0 "y" : memref<2x2xf32>
  %y = plan.output 0 "y" : memref<2x2xf32>
  // CHECK: plan.output 1 "i" : memref<1x?xi64>
  %i = plan.output 1 "i" : memref<1x?xi64>
  // CHECK: plan.constant dense<1.000000e+00> : tensor<4xf32> at(64) : memref<4xf32>
  %w = plan.constant dense<1.0> : tensor<4xf32> at(64) : memref<4xf32>
  // CHECK: plan.none
  %none = plan.none
  // CHECK: %[[T:.*]] = plan.slice @cpu0[64 for 16] : memref<4xf32>
  %t = plan.slice @cpu0[64 for 16] : memref<4xf32>
  // CHECK: plan.buffer <cpu:0> : memref<4xf32>
  %b = plan.buffer <cpu:0> : memref<4xf32>
  // CHECK: plan.pool <cpu:0> : memref<*xf32>
  %p = plan.pool <cpu:0> : memref<*xf32>
  // CHECK: plan.view %{{.*}} + 8 : memref<4xf32> to memref<2xf32>
  %v = plan.view %t + 8 : memref<4xf32> to memref<2xf32>
  // CHECK: plan.view %{{.*}} : memref<2x2xf32> to memref<4xf32>
  %o = plan.view %y : memref<2x2xf32> to memref<4xf32>
  // CHECK: plan.launch @add reads(%[[X]], %[[T]] : memref<4xf32>, memref<4xf32>) writes(%{{.*}} : memref<4xf32>) stream(0)
  plan.launch @add reads(%x, %t : memref<4xf32>, memref<4xf32>) writes(%o : memref<4xf32>) stream(0)
  // CHECK: stream(1) on <cpu:3>
  plan.launch @add reads(%x, %x : memref<4xf32>, memref<4xf32>) writes(%b : memref<4xf32>) stream(1) on <cpu:3>
  plan.launch @pick reads(%x : memref<4xf32>) writes(%i : memref<1x?xi64>) stream(0)
}
