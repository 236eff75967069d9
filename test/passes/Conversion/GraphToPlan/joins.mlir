// RUN: dlc-opt %s -split-input-file -verify-diagnostics --convert-graph-to-plan | FileCheck %s
// Calls write what is joined side by side into one buffer.

kernel.library @k "reference.relu" {} : (tensor<1x16xf32>) -> tensor<1x16xf32>
kernel.library @two "reference.softmax" {} : (tensor<2x16xf32>) -> tensor<2x16xf32>
kernel.library @three "reference.softmax" {} : (tensor<3x16xf32>) -> tensor<3x16xf32>

// CHECK-LABEL: plan.program @nested
func.func @nested(%x: tensor<1x16xf32>) -> (tensor<2x16xf32>, tensor<3x16xf32>) {
  // CHECK: %[[ALL:.*]] = plan.buffer <cpu:0> : memref<3x16xf32>
  // CHECK: %[[TWO:.*]] = plan.view %[[ALL]] : memref<3x16xf32> to memref<2x16xf32>
  // CHECK: %[[A:.*]] = plan.view %[[TWO]] : memref<2x16xf32> to memref<1x16xf32>
  // CHECK: plan.launch @k reads(%{{.*}}) writes(%[[A]] :
  // CHECK: %[[B:.*]] = plan.view %[[TWO]] + 64 : memref<2x16xf32> to memref<1x16xf32>
  // CHECK: plan.launch @k reads(%[[A]] : memref<1x16xf32>) writes(%[[B]] :
  // CHECK: plan.launch @two reads(%[[TWO]] :
  // CHECK: %[[C:.*]] = plan.view %[[ALL]] + 128 : memref<3x16xf32> to memref<1x16xf32>
  // CHECK: plan.launch @k reads(%[[B]] : memref<1x16xf32>) writes(%[[C]] :
  // CHECK: plan.launch @three reads(%[[ALL]] :
  %a = kernel.call @k(%x) : (tensor<1x16xf32>) -> tensor<1x16xf32>
  %b = kernel.call @k(%a) : (tensor<1x16xf32>) -> tensor<1x16xf32>
  %y = graph.concat %a, %b {axis = 0 : i64} : (tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<2x16xf32>
  %s = kernel.call @two(%y) : (tensor<2x16xf32>) -> tensor<2x16xf32>
  %c = kernel.call @k(%b) : (tensor<1x16xf32>) -> tensor<1x16xf32>
  %z = graph.concat %y, %c {axis = 0 : i64} : (tensor<2x16xf32>, tensor<1x16xf32>) -> tensor<3x16xf32>
  %t = kernel.call @three(%z) : (tensor<3x16xf32>) -> tensor<3x16xf32>
  return %s, %t : tensor<2x16xf32>, tensor<3x16xf32>
}

// -----

kernel.library @k "reference.relu" {} : (tensor<1x16xf32>) -> tensor<1x16xf32>
kernel.library @two "reference.softmax" {} : (tensor<2x16xf32>) -> tensor<2x16xf32>
func.func @argument(%x: tensor<1x16xf32>) -> tensor<2x16xf32> {
  %a = kernel.call @k(%x) : (tensor<1x16xf32>) -> tensor<1x16xf32>
  // expected-error@+1 {{expected a kernel call, a constant, a view or a join of what calls make}}
  %y = graph.concat %a, %x {axis = 0 : i64} : (tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<2x16xf32>
  %s = kernel.call @two(%y) : (tensor<2x16xf32>) -> tensor<2x16xf32>
  return %s : tensor<2x16xf32>
}

// -----

kernel.library @k "reference.relu" {} : (tensor<1x16xf32>) -> tensor<1x16xf32>
kernel.library @two "reference.softmax" {} : (tensor<2x16xf32>) -> tensor<2x16xf32>
func.func @twice(%x: tensor<1x16xf32>) -> tensor<2x16xf32> {
  %a = kernel.call @k(%x) : (tensor<1x16xf32>) -> tensor<1x16xf32>
  // expected-error@+1 {{expected a kernel call, a constant, a view or a join of what calls make}}
  %y = graph.concat %a, %a {axis = 0 : i64} : (tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<2x16xf32>
  %s = kernel.call @two(%y) : (tensor<2x16xf32>) -> tensor<2x16xf32>
  return %s : tensor<2x16xf32>
}
