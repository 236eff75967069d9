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

// What a clamp gives is there, whatever data there is, also with NaN among it.
// CHECK-LABEL: func @clamped
// CHECK-NOT: graph.resolve_indices
// CHECK: graph.gather_elements {{.*}}in_bounds = true
func.func @clamped(%x: tensor<1x3x12xf32>, %at: tensor<1x1x5xf32>, %row: tensor<1x1x5xf32>) -> tensor<1x3x5xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %three = graph.constant dense<3.0> : tensor<f32>
  %four = graph.constant dense<4> : tensor<i64>
  %shape = graph.constant dense<[1, 3, 5]> : tensor<3xi64>
  %0 = graph.clamp %at, %zero, %three : (tensor<1x1x5xf32>, tensor<f32>, tensor<f32>) -> tensor<1x1x5xf32>
  %1 = graph.cast %0 {to = i64} : (tensor<1x1x5xf32>) -> tensor<1x1x5xi64>
  %2 = graph.clamp %row, %zero, %two : (tensor<1x1x5xf32>, tensor<f32>, tensor<f32>) -> tensor<1x1x5xf32>
  %3 = graph.cast %2 {to = i64} : (tensor<1x1x5xf32>) -> tensor<1x1x5xi64>
  %4 = graph.mul %3, %four : (tensor<1x1x5xi64>, tensor<i64>) -> tensor<1x1x5xi64>
  %5 = graph.add %4, %1 : tensor<1x1x5xi64>
  %6 = graph.expand %5, %shape : (tensor<1x1x5xi64>, tensor<3xi64>) -> tensor<1x3x5xi64>
  %y = graph.gather_elements %x, %6 {axis = 2 : i64} : (tensor<1x3x12xf32>, tensor<1x3x5xi64>) -> tensor<1x3x5xf32>
  return %y : tensor<1x3x5xf32>
}

// One further is not there.
// CHECK-LABEL: func @beyond
// CHECK: graph.resolve_indices
func.func @beyond(%x: tensor<4xf32>, %at: tensor<5xf32>) -> tensor<5xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %four = graph.constant dense<4.0> : tensor<f32>
  %0 = graph.clamp %at, %zero, %four : (tensor<5xf32>, tensor<f32>, tensor<f32>) -> tensor<5xf32>
  %1 = graph.cast %0 {to = i64} : (tensor<5xf32>) -> tensor<5xi64>
  %y = graph.gather %x, %1 : (tensor<4xf32>, tensor<5xi64>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// Products of narrow integers may wrap around.
// CHECK-LABEL: func @narrow
// CHECK: graph.resolve_indices
func.func @narrow(%x: tensor<500xf32>, %at: tensor<5xf32>) -> tensor<5xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %most = graph.constant dense<49.0> : tensor<f32>
  %ten = graph.constant dense<10> : tensor<i8>
  %0 = graph.clamp %at, %zero, %most : (tensor<5xf32>, tensor<f32>, tensor<f32>) -> tensor<5xf32>
  %1 = graph.cast %0 {to = i8} : (tensor<5xf32>) -> tensor<5xi8>
  %2 = graph.mul %1, %ten : (tensor<5xi8>, tensor<i8>) -> tensor<5xi8>
  %3 = graph.cast %2 {to = i64} : (tensor<5xi8>) -> tensor<5xi64>
  %y = graph.gather %x, %3 : (tensor<500xf32>, tensor<5xi64>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}
