// RUN: dlc-opt %s --graph-multiply-integers --split-input-file | FileCheck %s
// Products of what was quantised are those of its integers.

// CHECK-LABEL: func.func @columns
// CHECK-SAME: %[[A:.*]]: tensor<8x16xui8>, %[[B:.*]]: tensor<16x4xi8>, %[[S:.*]]: tensor<f32>, %[[Z:.*]]: tensor<ui8>, %[[T:.*]]: tensor<4xf32>, %[[U:.*]]: tensor<4xi8>
func.func @columns(%a: tensor<8x16xui8>, %b: tensor<16x4xi8>, %s: tensor<f32>, %z: tensor<ui8>, %t: tensor<4xf32>, %u: tensor<4xi8>) -> tensor<8x4xf32> {
  // CHECK-DAG: %[[SUMS:.*]] = graph.integer_matmul %[[A]], %[[B]], %[[Z]], %[[U]]
  // CHECK-DAG: %[[SCALE:.*]] = graph.mul %[[S]], %[[T]]
  // CHECK: %[[FLOATS:.*]] = graph.cast %[[SUMS]] {to = f32}
  // CHECK: %[[Y:.*]] = graph.mul %[[FLOATS]], %[[SCALE]]
  // CHECK: return %[[Y]]
  %x = graph.dequantize_linear %a, %s, %z : (tensor<8x16xui8>, tensor<f32>, tensor<ui8>) -> tensor<8x16xf32>
  %w = graph.dequantize_linear %b, %t, %u : (tensor<16x4xi8>, tensor<4xf32>, tensor<4xi8>) -> tensor<16x4xf32>
  %y = graph.matmul %x, %w : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// What was turned round since is, before: columns were rows.
// CHECK-LABEL: func.func @turned
// CHECK: %[[B:.*]] = graph.transpose %{{.*}} {perm = array<i64: 1, 0>} : (tensor<4x16xi8>) -> tensor<16x4xi8>
// CHECK: graph.integer_matmul %{{.*}}, %[[B]]
func.func @turned(%a: tensor<8x16xi8>, %b: tensor<4x16xi8>, %s: tensor<1xf32>, %z: tensor<1xi8>, %t: tensor<4xf32>, %u: tensor<4xi8>) -> tensor<8x4xf32> {
  %x = graph.dequantize_linear %a, %s, %z : (tensor<8x16xi8>, tensor<1xf32>, tensor<1xi8>) -> tensor<8x16xf32>
  %w = graph.dequantize_linear %b, %t, %u {axis = 0 : i64} : (tensor<4x16xi8>, tensor<4xf32>, tensor<4xi8>) -> tensor<4x16xf32>
  %v = graph.transpose %w {perm = array<i64: 1, 0>} : (tensor<4x16xf32>) -> tensor<16x4xf32>
  %y = graph.matmul %x, %v : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// Scales along the summed dimension are no factor of sums.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: graph.integer_matmul
func.func @rows(%a: tensor<8x16xui8>, %b: tensor<16x4xi8>, %s: tensor<f32>, %z: tensor<ui8>, %t: tensor<16xf32>, %u: tensor<16xi8>) -> tensor<8x4xf32> {
  %x = graph.dequantize_linear %a, %s, %z : (tensor<8x16xui8>, tensor<f32>, tensor<ui8>) -> tensor<8x16xf32>
  %w = graph.dequantize_linear %b, %t, %u {axis = 0 : i64} : (tensor<16x4xi8>, tensor<16xf32>, tensor<16xi8>) -> tensor<16x4xf32>
  %y = graph.matmul %x, %w : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// Nor one for each row of the first factor, blocks, 16 bits or doubles.
// CHECK-LABEL: func.func @others
// CHECK-NOT: graph.integer_matmul
func.func @others(%a: tensor<8x16xui8>, %h: tensor<8x16xi16>, %b: tensor<16x4xi8>, %s: tensor<f32>, %d: tensor<f64>, %z: tensor<ui8>, %zh: tensor<i16>, %u: tensor<i8>, %r: tensor<8xf32>, %zr: tensor<8xui8>, %t: tensor<2x4xf32>, %zt: tensor<2x4xi8>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf64>) {
  %w = graph.dequantize_linear %b, %s, %u : (tensor<16x4xi8>, tensor<f32>, tensor<i8>) -> tensor<16x4xf32>
  %0 = graph.dequantize_linear %a, %r, %zr {axis = 0 : i64} : (tensor<8x16xui8>, tensor<8xf32>, tensor<8xui8>) -> tensor<8x16xf32>
  %1 = graph.matmul %0, %w : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %2 = graph.dequantize_linear %a, %s, %z : (tensor<8x16xui8>, tensor<f32>, tensor<ui8>) -> tensor<8x16xf32>
  %3 = graph.dequantize_linear %b, %t, %zt {axis = 0 : i64, block_size = 8 : i64} : (tensor<16x4xi8>, tensor<2x4xf32>, tensor<2x4xi8>) -> tensor<16x4xf32>
  %4 = graph.matmul %2, %3 : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %5 = graph.dequantize_linear %h, %s, %zh : (tensor<8x16xi16>, tensor<f32>, tensor<i16>) -> tensor<8x16xf32>
  %6 = graph.matmul %5, %w : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %7 = graph.dequantize_linear %a, %d, %z : (tensor<8x16xui8>, tensor<f64>, tensor<ui8>) -> tensor<8x16xf64>
  %8 = graph.dequantize_linear %b, %d, %u : (tensor<16x4xi8>, tensor<f64>, tensor<i8>) -> tensor<16x4xf64>
  %9 = graph.matmul %7, %8 : (tensor<8x16xf64>, tensor<16x4xf64>) -> tensor<8x4xf64>
  return %1, %4, %6, %9 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf64>
}

// -----

// Sums of more terms might wrap around.
// CHECK-LABEL: func.func @long
// CHECK-NOT: graph.integer_matmul
func.func @long(%a: tensor<1x32769xui8>, %b: tensor<32769x1xi8>, %s: tensor<f32>, %z: tensor<ui8>, %u: tensor<i8>) -> tensor<1x1xf32> {
  %x = graph.dequantize_linear %a, %s, %z : (tensor<1x32769xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x32769xf32>
  %w = graph.dequantize_linear %b, %s, %u : (tensor<32769x1xi8>, tensor<f32>, tensor<i8>) -> tensor<32769x1xf32>
  %y = graph.matmul %x, %w : (tensor<1x32769xf32>, tensor<32769x1xf32>) -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}

// -----

// A GPU's libraries have faster products of floats. The number of rows need not
// be known.
// CHECK-LABEL: func.func @placed
// CHECK: graph.matmul {{.*}} {device = #dlc.device<cuda:0>}
// CHECK: graph.integer_matmul {{.*}} {graph.group = "g"}
// CHECK: graph.mul {{.*}} {graph.group = "g"}
func.func @placed(%a: tensor<?x16xui8>, %b: tensor<16x4xi8>, %s: tensor<f32>, %z: tensor<ui8>, %u: tensor<i8>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %x = graph.dequantize_linear %a, %s, %z : (tensor<?x16xui8>, tensor<f32>, tensor<ui8>) -> tensor<?x16xf32>
  %w = graph.dequantize_linear %b, %s, %u : (tensor<16x4xi8>, tensor<f32>, tensor<i8>) -> tensor<16x4xf32>
  %y = graph.matmul %x, %w {device = #dlc.device<cuda:0>} : (tensor<?x16xf32>, tensor<16x4xf32>) -> tensor<?x4xf32>
  %t = graph.matmul %x, %w {graph.group = "g"} : (tensor<?x16xf32>, tensor<16x4xf32>) -> tensor<?x4xf32>
  return %y, %t : tensor<?x4xf32>, tensor<?x4xf32>
}
