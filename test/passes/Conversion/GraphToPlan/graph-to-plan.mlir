// RUN: dlc-opt %s -split-input-file -verify-diagnostics --convert-graph-to-plan | FileCheck %s
// Values become memory; a launch writes an output itself where it can.

kernel.library @k "reference.relu" {} : (tensor<4xf32>) -> tensor<4xf32>
kernel.library @nz "reference.non_zero" {} : (tensor<4xf32>) -> tensor<1x?xi64>
kernel.library @clamp "reference.clamp" {} : (tensor<4xf32>, none, tensor<f32>) -> tensor<4xf32>
kernel.library @scratch "cpu.conv" {} workspace(256) : (tensor<4xf32>) -> tensor<4xf32>

// The same value twice, an input and a constant as outputs take copies.
// CHECK-LABEL: plan.program @main
func.func @main(%x: tensor<4xf32> {graph.name = "data"}) -> (tensor<4xf32> {graph.name = "y"}, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[X:.*]] = plan.input 0 "data"
  // CHECK-NEXT: %[[Y0:.*]] = plan.output 0 "y"
  // CHECK-NEXT: %[[Y1:.*]] = plan.output 1 "output1"
  // CHECK-NEXT: %[[Y2:.*]] = plan.output 2 "output2"
  // CHECK-NEXT: %[[Y3:.*]] = plan.output 3 "output3"
  // CHECK-NEXT: %[[C:.*]] = plan.constant
  // CHECK-NEXT: plan.launch @k reads(%[[X]] {{.*}} writes(%[[Y0]] :
  // CHECK-NEXT: plan.launch @copy reads(%[[Y0]] {{.*}} writes(%[[Y1]] :
  // CHECK-NEXT: plan.launch @copy reads(%[[X]] {{.*}} writes(%[[Y2]] :
  // CHECK-NEXT: plan.launch @copy reads(%[[C]] {{.*}} writes(%[[Y3]] :
  %c = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = kernel.call @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %0, %x, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// What is the state of random numbers is marked; the name says nothing.
kernel.library @next "reference.add" {} : (tensor<2xi64>) -> tensor<2xi64>
// CHECK-LABEL: plan.program @random
func.func @random(%x: tensor<2xi64> {graph.name = "random"}, %s: tensor<2xi64> {graph.name = "s", graph.random}) -> (tensor<2xi64>, tensor<2xi64> {graph.updates = "s"}) {
  // CHECK-NEXT: plan.input 0 "random" : memref<2xi64>
  // CHECK-NEXT: plan.input 1 "s" random : memref<2xi64>
  %0 = kernel.call @next(%s) : (tensor<2xi64>) -> tensor<2xi64>
  return %x, %0 : tensor<2xi64>, tensor<2xi64>
}

// The launch writes the output in its own shape; between launches, a view.
// CHECK-LABEL: plan.program @views
func.func @views(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  // CHECK: %[[Y:.*]] = plan.output 0 "output0" : memref<2x2xf32>
  // CHECK: %[[T:.*]] = plan.buffer <cpu:0> : memref<4xf32>
  // CHECK: plan.launch @k {{.*}} writes(%[[T]] :
  // CHECK: %[[M:.*]] = plan.view %[[T]] : memref<4xf32> to memref<2x2xf32>
  // CHECK: %[[B:.*]] = plan.view %[[M]] : memref<2x2xf32> to memref<4xf32>
  // CHECK: %[[V:.*]] = plan.view %[[Y]] : memref<2x2xf32> to memref<4xf32>
  // CHECK: plan.launch @k reads(%[[B]] {{.*}} writes(%[[V]] :
  // CHECK-NOT: @copy
  %s = graph.constant dense<2> : tensor<2xi64>
  %f = graph.constant dense<4> : tensor<1xi64>
  %0 = kernel.call @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.reshape %0, %s : (tensor<4xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  %2 = graph.reshape %1, %f : (tensor<2x2xf32>, tensor<1xi64>) -> tensor<4xf32>
  %3 = kernel.call @k(%2) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.reshape %3, %s : (tensor<4xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  return %4 : tensor<2x2xf32>
}

// What has no static shape lies in the pool.
kernel.library @abs "reference.abs" {} : (tensor<1x?xi64>) -> tensor<1x?xi64>
// CHECK-LABEL: plan.program @pool
func.func @pool(%x: tensor<4xf32>) -> tensor<1x?xi64> {
  // CHECK: %[[Y:.*]] = plan.output 0 "output0" : memref<1x?xi64>
  // CHECK: %[[P:.*]] = plan.pool <cpu:0> : memref<1x?xi64>
  // CHECK: plan.launch @nz {{.*}} writes(%[[P]] :
  // CHECK: plan.launch @abs reads(%[[P]] {{.*}} writes(%[[Y]] :
  %0 = kernel.call @nz(%x) : (tensor<4xf32>) -> tensor<1x?xi64>
  %1 = kernel.call @abs(%0) : (tensor<1x?xi64>) -> tensor<1x?xi64>
  return %1 : tensor<1x?xi64>
}

// Absent operands keep their place; a workspace is the last thing written.
// CHECK-LABEL: plan.program @none
func.func @none(%x: tensor<4xf32>, %h: tensor<f32>) -> tensor<4xf32> {
  // CHECK: %[[N:.*]] = plan.none
  // CHECK: plan.launch @clamp reads(%{{.*}}, %[[N]], %{{.*}} : memref<4xf32>, none, memref<f32>)
  // CHECK: %[[W:.*]] = plan.buffer <cpu:0> : memref<256xi8>
  // CHECK: plan.launch @scratch {{.*}} writes(%{{.*}}, %[[W]] : memref<4xf32>, memref<256xi8>)
  %n = graph.none : none
  %0 = kernel.call @clamp(%x, %n, %h) : (tensor<4xf32>, none, tensor<f32>) -> tensor<4xf32>
  %1 = kernel.call @scratch(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @left(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected a kernel call, a constant, a view or a join of what calls make}}
  %0 = graph.relu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
