// RUN: dlc-opt %s --graph-hoist-quantization --split-input-file | FileCheck %s
// RUN: dlc-opt %s --graph-hoist-quantization --split-input-file --verify-numerics -o /dev/null
// What is moved is quantised before, and what was so already is not again.

// CHECK-LABEL: func.func @shuffled
// CHECK: %[[A:.*]] = graph.reshape %arg0, %{{.*}} : (tensor<1x4x3xui8>, tensor<4xi64>) -> tensor<1x2x2x3xui8>
// CHECK: %[[T:.*]] = graph.transpose %[[A]] {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x2x2x3xui8>) -> tensor<1x2x2x3xui8>
// CHECK: %[[P:.*]]:2 = graph.split %[[T]], %{{.*}} {axis = 1 : i64} : (tensor<1x2x2x3xui8>, tensor<2xi64>) -> (tensor<1x1x2x3xui8>, tensor<1x1x2x3xui8>)
// CHECK: return %[[P]]#0, %[[P]]#1
func.func @shuffled(%a: tensor<1x4x3xui8>) -> (tensor<1x1x2x3xui8>, tensor<1x1x2x3xui8>) {
  %s = graph.constant dense<0.3> : tensor<f32>
  %z = graph.constant dense<7> : tensor<ui8>
  %shape = graph.constant dense<[1, 2, 2, 3]> : tensor<4xi64>
  %ones = graph.constant dense<1> : tensor<2xi64>
  %0 = graph.dequantize_linear %a, %s, %z : (tensor<1x4x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x3xf32>
  %1 = graph.reshape %0, %shape : (tensor<1x4x3xf32>, tensor<4xi64>) -> tensor<1x2x2x3xf32>
  %2 = graph.quantize_linear %1, %s, %z : (tensor<1x2x2x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x2x3xui8>
  %3 = graph.dequantize_linear %2, %s, %z : (tensor<1x2x2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x2x3xf32>
  %4 = graph.transpose %3 {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x2x2x3xf32>) -> tensor<1x2x2x3xf32>
  %5:2 = graph.split %4, %ones {axis = 1 : i64} : (tensor<1x2x2x3xf32>, tensor<2xi64>) -> (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>)
  %6 = graph.quantize_linear %5#0, %s, %z : (tensor<1x1x2x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x1x2x3xui8>
  %7 = graph.quantize_linear %5#1, %s, %z : (tensor<1x1x2x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x1x2x3xui8>
  return %6, %7 : tensor<1x1x2x3xui8>, tensor<1x1x2x3xui8>
}

// -----

// The largest of integers are those of their floats.
// CHECK-LABEL: func.func @pooled
// CHECK: %[[P:.*]] = graph.max_pool %arg0 {{.*}} : (tensor<1x4x4x4xi8>) -> tensor<1x4x2x2xi8>
// CHECK: %[[M:.*]] = graph.reduce_min %[[P]], {{.*}} -> tensor<1x4x1x1xi8>
// CHECK: return %[[M]]
func.func @pooled(%a: tensor<1x4x4x4xi8>) -> tensor<1x4x1x1xi8> {
  %s = graph.constant dense<0.3> : tensor<f32>
  %z = graph.constant dense<7> : tensor<i8>
  %axes = graph.constant dense<[2, 3]> : tensor<2xi64>
  %0 = graph.dequantize_linear %a, %s, %z : (tensor<1x4x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x4x4x4xf32>
  %1 = graph.max_pool %0 {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x4x4x4xf32>) -> tensor<1x4x2x2xf32>
  %2 = graph.quantize_linear %1, %s, %z : (tensor<1x4x2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x4x2x2xi8>
  %3 = graph.dequantize_linear %2, %s, %z : (tensor<1x4x2x2xi8>, tensor<f32>, tensor<i8>) -> tensor<1x4x2x2xf32>
  %4 = graph.reduce_min %3, %axes {keepdims = true} : (tensor<1x4x2x2xf32>, tensor<2xi64>) -> tensor<1x4x1x1xf32>
  %5 = graph.quantize_linear %4, %s, %z : (tensor<1x4x1x1xf32>, tensor<f32>, tensor<i8>) -> tensor<1x4x1x1xi8>
  return %5 : tensor<1x4x1x1xi8>
}

// -----

// A negative scale turns the order round, another one rounds again, and floats
// may be NaN.
// CHECK-LABEL: func.func @unordered
// CHECK: graph.max_pool {{.*}} -> tensor<1x1x1x1xf32>
// CHECK: graph.max_pool {{.*}} -> tensor<1x1x1x1xf32>
// CHECK: graph.max_pool {{.*}} -> tensor<1x1x1x1xf32>
func.func @unordered(%a: tensor<1x1x2x2xi8>, %x: tensor<1x1x1x1xf32>) -> (tensor<1x1x1x1xi8>, tensor<1x1x1x1xi8>, tensor<1x1x1x1xi8>) {
  %s = graph.constant dense<0.3> : tensor<f32>
  %t = graph.constant dense<-0.3> : tensor<f32>
  %z = graph.constant dense<7> : tensor<i8>
  %0 = graph.dequantize_linear %a, %t, %z : (tensor<1x1x2x2xi8>, tensor<f32>, tensor<i8>) -> tensor<1x1x2x2xf32>
  %1 = graph.max_pool %0 {kernel_shape = array<i64: 2, 2>} : (tensor<1x1x2x2xf32>) -> tensor<1x1x1x1xf32>
  %2 = graph.quantize_linear %1, %t, %z : (tensor<1x1x1x1xf32>, tensor<f32>, tensor<i8>) -> tensor<1x1x1x1xi8>
  %3 = graph.dequantize_linear %a, %s, %z : (tensor<1x1x2x2xi8>, tensor<f32>, tensor<i8>) -> tensor<1x1x2x2xf32>
  %4 = graph.max_pool %3 {kernel_shape = array<i64: 2, 2>} : (tensor<1x1x2x2xf32>) -> tensor<1x1x1x1xf32>
  %5 = graph.quantize_linear %4, %t, %z : (tensor<1x1x1x1xf32>, tensor<f32>, tensor<i8>) -> tensor<1x1x1x1xi8>
  %6 = graph.max_pool %x {kernel_shape = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  %7 = graph.quantize_linear %6, %s, %z : (tensor<1x1x1x1xf32>, tensor<f32>, tensor<i8>) -> tensor<1x1x1x1xi8>
  return %2, %5, %7 : tensor<1x1x1x1xi8>, tensor<1x1x1x1xi8>, tensor<1x1x1x1xi8>
}

// -----

// A table stays one of bytes; one with a scale for each row does not.
// CHECK-LABEL: func.func @gathered
// CHECK: %[[T:.*]] = graph.constant dense<{{.*}}> : tensor<4x2xui8>
// CHECK: %[[G:.*]] = graph.gather %[[T]], %arg0 : (tensor<4x2xui8>, tensor<3xi64>) -> tensor<3x2xui8>
// CHECK: %[[D:.*]] = graph.dequantize_linear %[[G]], {{.*}} -> tensor<3x2xf32>
// CHECK: %[[R:.*]] = graph.dequantize_linear {{.*}} -> tensor<4x2xf32>
// CHECK: %[[S:.*]] = graph.gather %[[R]]
// CHECK: return %[[D]], %[[S]]
func.func @gathered(%i: tensor<3xi64>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %t = graph.constant dense<[[1, 2], [3, 4], [250, 6], [7, 8]]> : tensor<4x2xui8>
  %s = graph.constant dense<0.3> : tensor<f32>
  %z = graph.constant dense<7> : tensor<ui8>
  %rows = graph.constant dense<[0.3, 0.5, 0.7, 0.9]> : tensor<4xf32>
  %zeros = graph.constant dense<[7, 8, 9, 10]> : tensor<4xui8>
  %0 = graph.dequantize_linear %t, %s, %z : (tensor<4x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<4x2xf32>
  %1 = graph.gather %0, %i {axis = 0 : i64} : (tensor<4x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  %2 = graph.dequantize_linear %t, %rows, %zeros {axis = 0 : i64} : (tensor<4x2xui8>, tensor<4xf32>, tensor<4xui8>) -> tensor<4x2xf32>
  %3 = graph.gather %2, %i {axis = 0 : i64} : (tensor<4x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  return %1, %3 : tensor<3x2xf32>, tensor<3x2xf32>
}

// -----

// Each part that is joined is, with the scale of the whole.
// CHECK-LABEL: func.func @joined
// CHECK: %[[D:.*]] = graph.dequantize_linear %arg1
// CHECK: %[[X:.*]] = graph.quantize_linear %arg0
// CHECK: %[[Y:.*]] = graph.quantize_linear %[[D]]
// CHECK: graph.concat %[[X]], %[[Y]] {axis = 1 : i64} : (tensor<1x2xi8>, tensor<1x3xi8>) -> tensor<1x5xi8>
func.func @joined(%x: tensor<1x2xf32>, %b: tensor<1x3xi8>) -> tensor<1x5xi8> {
  %s = graph.constant dense<0.3> : tensor<f32>
  %t = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<7> : tensor<i8>
  %y = graph.dequantize_linear %b, %t, %z : (tensor<1x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x3xf32>
  %0 = graph.concat %x, %y {axis = 1 : i64} : (tensor<1x2xf32>, tensor<1x3xf32>) -> tensor<1x5xf32>
  %1 = graph.quantize_linear %0, %s, %z : (tensor<1x5xf32>, tensor<f32>, tensor<i8>) -> tensor<1x5xi8>
  return %1 : tensor<1x5xi8>
}

// -----

// Floats that something else reads stay, as do fewer elements than there were,
// two scales, and operations that do not only move.
// CHECK-LABEL: func.func @others
// CHECK: %[[T:.*]] = graph.transpose %arg0 {{.*}} -> tensor<2x1xf32>
// CHECK: graph.quantize_linear %[[T]]
// CHECK: %[[P:.*]] = graph.slice %arg1
// CHECK: graph.quantize_linear %[[P]]
// CHECK: %[[R:.*]] = graph.transpose %arg1 {{.*}} -> tensor<3x1xf32>
// CHECK: graph.quantize_linear %[[R]]
// CHECK: graph.quantize_linear %[[R]]
// CHECK: %[[E:.*]] = graph.relu %arg0
// CHECK: graph.quantize_linear %[[E]]
func.func @others(%x: tensor<1x2xf32>, %y: tensor<1x3xf32>) -> (tensor<2x1xf32>, tensor<2x1xi8>, tensor<1x1xi8>, tensor<3x1xi8>, tensor<3x1xi8>, tensor<1x2xi8>) {
  %s = graph.constant dense<0.3> : tensor<f32>
  %t = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<7> : tensor<i8>
  %one = graph.constant dense<1> : tensor<1xi64>
  %zero = graph.constant dense<0> : tensor<1xi64>
  %0 = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<1x2xf32>) -> tensor<2x1xf32>
  %1 = graph.quantize_linear %0, %s, %z : (tensor<2x1xf32>, tensor<f32>, tensor<i8>) -> tensor<2x1xi8>
  %2 = graph.slice %y, %zero, %one, %one, %one : (tensor<1x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x1xf32>
  %3 = graph.quantize_linear %2, %s, %z : (tensor<1x1xf32>, tensor<f32>, tensor<i8>) -> tensor<1x1xi8>
  %4 = graph.transpose %y {perm = array<i64: 1, 0>} : (tensor<1x3xf32>) -> tensor<3x1xf32>
  %5 = graph.quantize_linear %4, %s, %z : (tensor<3x1xf32>, tensor<f32>, tensor<i8>) -> tensor<3x1xi8>
  %6 = graph.quantize_linear %4, %t, %z : (tensor<3x1xf32>, tensor<f32>, tensor<i8>) -> tensor<3x1xi8>
  %7 = graph.relu %x : tensor<1x2xf32>
  %8 = graph.quantize_linear %7, %s, %z : (tensor<1x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2xi8>
  return %0, %1, %3, %5, %6, %8 : tensor<2x1xf32>, tensor<2x1xi8>, tensor<1x1xi8>, tensor<3x1xi8>, tensor<3x1xi8>, tensor<1x2xi8>
}

// -----

// Scales with which integers do not come back, or that nobody knows.
// CHECK-LABEL: func.func @not_again
// CHECK-COUNT-3: graph.quantize_linear
func.func @not_again(%a: tensor<4xui8>, %v: tensor<f32>) -> (tensor<4xui8>, tensor<4xui8>, tensor<4xi8>) {
  %s = graph.constant dense<3.0e38> : tensor<f32>
  %t = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<7> : tensor<ui8>
  %i = graph.constant dense<7> : tensor<i8>
  %0 = graph.dequantize_linear %a, %s, %z : (tensor<4xui8>, tensor<f32>, tensor<ui8>) -> tensor<4xf32>
  %1 = graph.quantize_linear %0, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<ui8>) -> tensor<4xui8>
  %2 = graph.dequantize_linear %a, %v, %z : (tensor<4xui8>, tensor<f32>, tensor<ui8>) -> tensor<4xf32>
  %3 = graph.quantize_linear %2, %v, %z : (tensor<4xf32>, tensor<f32>, tensor<ui8>) -> tensor<4xui8>
  %4 = graph.dequantize_linear %a, %t, %z : (tensor<4xui8>, tensor<f32>, tensor<ui8>) -> tensor<4xf32>
  %5 = graph.quantize_linear %4, %t, %i : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  return %1, %3, %5 : tensor<4xui8>, tensor<4xui8>, tensor<4xi8>
}
