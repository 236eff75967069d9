// RUN: dlc-opt %s --convert-graph-to-kernel | FileCheck %s
// RUN: dlc-opt %s --convert-graph-to-kernel --remarks-filter='convert-.*' -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY
// Groups and single operations become kernels; equal ones share one.

// Kernels stand before the functions, in the order of their first use.
// A weight is an argument that is constant at the call; a parameter (i64) or a
// single number is part of the kernel.
// CHECK-LABEL: kernel.func @k.mul_add(
// CHECK-SAME: attributes {inPlace = array<i64: 0, 0, 1, 0>}
// CHECK-NEXT: %[[M:.*]] = graph.mul
// CHECK-NEXT: %[[A:.*]] = graph.add %[[M]]
// CHECK-NEXT: kernel.return %[[A]]
// CHECK-LABEL: kernel.func @k.relu(
// CHECK-LABEL: kernel.func @k.mul(%{{.*}}: tensor<8x4xf32>, %{{.*}}: tensor<4xf32> {kernel.constant})
// CHECK-LABEL: kernel.func @k.add(%{{.*}}: tensor<8x4xf32>)
// CHECK-NEXT: graph.constant dense<2.000000e+00> : tensor<f32>
// CHECK: kernel.func @k.reduce_sum(%{{.*}}: tensor<8x4xf32>) -> tensor<8xf32>
// CHECK-NEXT: graph.constant dense<1> : tensor<1xi64>
// CHECK-LABEL: kernel.func @k.exp(%{{.*}}: tensor<*xf32>) -> tensor<*xf32> {
// CHECK-NEXT: graph.exp %{{.*}} : tensor<*xf32>
// CHECK-LABEL: kernel.func @k.mul_add_0(%{{.*}}: tensor<*xf32>, %{{.*}}: tensor<*xf32> {kernel.constant}) -> tensor<*xf32> {
// CHECK: graph.constant dense<2.000000e+00> : tensor<1xf32>
// CHECK: kernel.library @k.cumsum "reference.cumsum" {{.*}} note("shapes that are not static") : (tensor<?xf32>, tensor<i64>) -> tensor<?xf32>
// CHECK-NOT: kernel.func

// CHECK-LABEL: func.func @group
func.func @group(%x: tensor<8x16xf32>, %y: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // CHECK-NEXT: %[[R:.*]] = kernel.call @k.mul_add(%{{.*}}, %{{.*}})
  // CHECK-NEXT: return %[[R]]
  %0 = graph.fusion -> tensor<8x16xf32> {
    %1 = graph.mul %x, %y : tensor<8x16xf32>
    %2 = graph.add %1, %x : tensor<8x16xf32>
    graph.yield %2 : tensor<8x16xf32>
  }
  return %0 : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @equal
func.func @equal(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK-NEXT: %[[A:.*]] = kernel.call @k.relu(
  // CHECK-NEXT: kernel.call @k.relu(%[[A]])
  %0 = graph.relu %x : tensor<8x4xf32>
  %1 = graph.relu %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @constants
func.func @constants(%x: tensor<8x4xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[W:.*]] = graph.constant dense<[1.000000e+00, 2.000000e+00
  // CHECK-NEXT: kernel.call @k.mul(%{{.*}}, %[[W]])
  // CHECK-NEXT: kernel.call @k.add(
  // CHECK-NEXT: kernel.call @k.reduce_sum(
  // CHECK-NEXT: return
  %w = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %axes = graph.constant dense<1> : tensor<1xi64>
  %0 = graph.mul %x, %w : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %1 = graph.add %0, %two : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  %2 = graph.reduce_sum %1, %axes {keepdims = false} : (tensor<8x4xf32>, tensor<1xi64>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// Elementwise kernels are of any shape where shapes are not static: equal ones
// share one whatever their types. Otherwise the definitions run.
// CHECK-LABEL: func.func @dynamic
func.func @dynamic(%x: tensor<?xf32>, %y: tensor<4x?xf32>) -> (tensor<?xf32>, tensor<4x?xf32>, tensor<4x?xf32>) {
  // CHECK: kernel.call @k.exp(%{{.*}}) : (tensor<?xf32>) -> tensor<?xf32>
  // CHECK-NEXT: kernel.call @k.exp(%{{.*}}) : (tensor<4x?xf32>) -> tensor<4x?xf32>
  // CHECK-NEXT: kernel.call @k.mul_add_0(%{{.*}}) : (tensor<4x?xf32>, tensor<4x1xf32>) -> tensor<4x?xf32>
  // WHY: cumsum runs as Reference kernel: shapes that are not static
  %w = graph.constant dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf32>
  %two = graph.constant dense<2.0> : tensor<1xf32>
  %axis = graph.constant dense<0> : tensor<i64>
  %0 = graph.exp %x : tensor<?xf32>
  %1 = graph.exp %y : tensor<4x?xf32>
  %2 = graph.fusion -> tensor<4x?xf32> {
    %3 = graph.mul %y, %w : (tensor<4x?xf32>, tensor<4x1xf32>) -> tensor<4x?xf32>
    %4 = graph.add %3, %two : (tensor<4x?xf32>, tensor<1xf32>) -> tensor<4x?xf32>
    graph.yield %4 : tensor<4x?xf32>
  }
  %5 = graph.cumsum %0, %axis : (tensor<?xf32>, tensor<i64>) -> tensor<?xf32>
  return %5, %1, %2 : tensor<?xf32>, tensor<4x?xf32>, tensor<4x?xf32>
}

// Neither is there code for some operations, whose operands may be left out, nor
// for no elements.
// CHECK-LABEL: func.func @others
func.func @others(%x: tensor<1x1x4x4xf32>, %none: tensor<3x0xf32>) -> (tensor<1x1x8x8xf32>, tensor<3x0xf32>) {
  // WHY: resize runs as Reference kernel: resizing that filters or keeps a ratio
  %roi = graph.none : none
  %sizes = graph.constant dense<[1, 1, 8, 8]> : tensor<4xi64>
  %0 = graph.resize %x, %roi, %roi, %sizes {antialias = true} : (tensor<1x1x4x4xf32>, none, none, tensor<4xi64>) -> tensor<1x1x8x8xf32>
  // WHY: softmax runs as Reference kernel: no elements
  %1 = graph.softmax %none : tensor<3x0xf32>
  return %0, %1 : tensor<1x1x8x8xf32>, tensor<3x0xf32>
}

// Views of static shape cost nothing and need no kernel.
// CHECK-LABEL: func.func @views
func.func @views(%x: tensor<8x4xf32>) -> tensor<32xf32> {
  // CHECK: graph.reshape
  // CHECK-NEXT: return
  %s = graph.constant dense<32> : tensor<1xi64>
  %0 = graph.reshape %x, %s : (tensor<8x4xf32>, tensor<1xi64>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}
