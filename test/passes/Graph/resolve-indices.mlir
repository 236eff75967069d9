// RUN: dlc-opt %s --graph-resolve-indices --split-input-file | FileCheck %s
// Indices are checked once, in front of what reads with them.

// CHECK-LABEL: func.func @at_run_time
func.func @at_run_time(%x: tensor<8x16xf32>, %i: tensor<3xi64>, %j: tensor<5x16xi32>, %k: tensor<3x2xi64>) -> (tensor<8x3xf32>, tensor<5x16xf32>, tensor<3xf32>) {
  // CHECK: %[[I:.*]] = graph.resolve_indices %{{.*}} {extents = array<i64: 16>} : (tensor<3xi64>) -> tensor<3xi64>
  // CHECK: graph.gather %{{.*}}, %[[I]] {axis = -1 : i64, in_bounds = true}
  %0 = graph.gather %x, %i {axis = -1 : i64} : (tensor<8x16xf32>, tensor<3xi64>) -> tensor<8x3xf32>
  // CHECK: %[[J:.*]] = graph.resolve_indices %{{.*}} {extents = array<i64: 8>}
  // CHECK: graph.gather_elements %{{.*}}, %[[J]] {in_bounds = true}
  %1 = graph.gather_elements %x, %j : (tensor<8x16xf32>, tensor<5x16xi32>) -> tensor<5x16xf32>
  // CHECK: %[[K:.*]] = graph.resolve_indices %{{.*}} {extents = array<i64: 8, 16>}
  // CHECK: graph.gather_nd %{{.*}}, %[[K]] {in_bounds = true}
  %2 = graph.gather_nd %x, %k : (tensor<8x16xf32>, tensor<3x2xi64>) -> tensor<3xf32>
  return %0, %1, %2 : tensor<8x3xf32>, tensor<5x16xf32>, tensor<3xf32>
}

// -----

// Constants are resolved here, and stay where nothing is negative.

// CHECK-LABEL: func.func @constant
func.func @constant(%x: tensor<8x16xf32>) -> (tensor<2x16xf32>, tensor<2x16xf32>) {
  // CHECK-NOT: graph.resolve_indices
  // CHECK: %[[I:.*]] = graph.constant dense<[1, 7]> : tensor<2xi32>
  // CHECK: graph.gather %{{.*}}, %[[I]] {in_bounds = true}
  %i = graph.constant dense<[1, -1]> : tensor<2xi32>
  %0 = graph.gather %x, %i : (tensor<8x16xf32>, tensor<2xi32>) -> tensor<2x16xf32>
  // CHECK: %[[J:.*]] = graph.constant dense<[3, 2]> : tensor<2xi64>
  // CHECK: graph.gather %{{.*}}, %[[J]] {in_bounds = true}
  %j = graph.constant dense<[3, 2]> : tensor<2xi64>
  %1 = graph.gather %x, %j : (tensor<8x16xf32>, tensor<2xi64>) -> tensor<2x16xf32>
  return %0, %1 : tensor<2x16xf32>, tensor<2x16xf32>
}

// -----

// What cannot be told, and what is wrong, is left to the definition.

// CHECK-LABEL: func.func @left
func.func @left(%x: tensor<8x16xf32>, %d: tensor<?x16xf32>, %k: tensor<2xi64>) -> (tensor<1x16xf32>, tensor<2x16xf32>) {
  // CHECK-NOT: in_bounds
  // CHECK-NOT: graph.resolve_indices
  %i = graph.constant dense<8> : tensor<1xi64>
  %0 = graph.gather %x, %i : (tensor<8x16xf32>, tensor<1xi64>) -> tensor<1x16xf32>
  %1 = graph.gather %d, %k : (tensor<?x16xf32>, tensor<2xi64>) -> tensor<2x16xf32>
  return %0, %1 : tensor<1x16xf32>, tensor<2x16xf32>
}
