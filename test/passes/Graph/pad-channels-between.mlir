// RUN: dlc-opt %s '--graph-pad-channels=block=16 between' --graph-fold-constants --split-input-file | FileCheck %s
// Values between convolutions get whole blocks of channels, zeros behind the
// others: weights and biases of what makes them, weights of what reads them.

// CHECK-LABEL: func.func @residual
func.func @residual(%x: tensor<1x16x4x4xf32>) -> tensor<1x16x4x4xf32> {
  %u = graph.constant dense<1.0> : tensor<24x16x1x1xf32>
  %b = graph.constant dense<2.0> : tensor<24xf32>
  %v = graph.constant dense<1.0> : tensor<24x24x3x3xf32>
  %w = graph.constant dense<1.0> : tensor<16x24x1x1xf32>
  // CHECK: %[[A:.*]] = graph.conv %arg0, %{{.*}}, %{{.*}} : (tensor<1x16x4x4xf32>, tensor<32x16x1x1xf32>, tensor<32xf32>) -> tensor<1x32x4x4xf32>
  // CHECK: %[[B:.*]] = graph.conv %[[A]], %{{.*}} {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x4x4xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x4x4xf32>
  // CHECK: %[[C:.*]] = graph.add %[[A]], %[[B]] : tensor<1x32x4x4xf32>
  // CHECK: %[[D:.*]] = graph.relu %[[C]] : tensor<1x32x4x4xf32>
  // CHECK: %[[E:.*]] = graph.mul %[[D]], %{{.*}} : (tensor<1x32x4x4xf32>, tensor<f32>) -> tensor<1x32x4x4xf32>
  // CHECK: graph.conv %[[E]], %{{.*}} : (tensor<1x32x4x4xf32>, tensor<16x32x1x1xf32>) -> tensor<1x16x4x4xf32>
  %0 = graph.conv %x, %u, %b : (tensor<1x16x4x4xf32>, tensor<24x16x1x1xf32>, tensor<24xf32>) -> tensor<1x24x4x4xf32>
  %1 = graph.conv %0, %v {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x24x4x4xf32>, tensor<24x24x3x3xf32>) -> tensor<1x24x4x4xf32>
  %2 = graph.add %0, %1 : tensor<1x24x4x4xf32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %3 = graph.relu %2 : tensor<1x24x4x4xf32>
  %4 = graph.mul %3, %two : (tensor<1x24x4x4xf32>, tensor<f32>) -> tensor<1x24x4x4xf32>
  %5 = graph.conv %4, %w : (tensor<1x24x4x4xf32>, tensor<16x24x1x1xf32>) -> tensor<1x16x4x4xf32>
  return %5 : tensor<1x16x4x4xf32>
}

// -----

// Results of the function, what something else reads, sums with such values,
// groups, channels that are no whole block, and what zeros make infinite.
// CHECK-LABEL: func.func @others
// CHECK-NOT: x32x4x4xf32
// CHECK-NOT: x16x4x4xf32
// CHECK: return
func.func @others(%x: tensor<1x12x4x4xf32>, %r: tensor<1x24x4x4xf32>) -> (tensor<1x24x4x4xf32>, tensor<1x24x4x4xf32>, tensor<1x24x4x4xf32>, tensor<1x12x4x4xf32>, tensor<1x24x4x4xf32>, tensor<1x24x4x4xf32>) {
  %u = graph.constant dense<1.0> : tensor<24x12x1x1xf32>
  %v = graph.constant dense<1.0> : tensor<24x24x1x1xf32>
  %g = graph.constant dense<1.0> : tensor<24x12x1x1xf32>
  %w = graph.constant dense<1.0> : tensor<12x12x1x1xf32>
  %0 = graph.conv %x, %u : (tensor<1x12x4x4xf32>, tensor<24x12x1x1xf32>) -> tensor<1x24x4x4xf32>
  %1 = graph.conv %0, %v : (tensor<1x24x4x4xf32>, tensor<24x24x1x1xf32>) -> tensor<1x24x4x4xf32>
  %2 = graph.softmax %0 : tensor<1x24x4x4xf32>
  %10 = graph.conv %x, %u : (tensor<1x12x4x4xf32>, tensor<24x12x1x1xf32>) -> tensor<1x24x4x4xf32>
  %11 = graph.log %10 : tensor<1x24x4x4xf32>
  %12 = graph.conv %11, %v : (tensor<1x24x4x4xf32>, tensor<24x24x1x1xf32>) -> tensor<1x24x4x4xf32>
  %3 = graph.conv %x, %u : (tensor<1x12x4x4xf32>, tensor<24x12x1x1xf32>) -> tensor<1x24x4x4xf32>
  %4 = graph.add %3, %r : tensor<1x24x4x4xf32>
  %5 = graph.conv %4, %v : (tensor<1x24x4x4xf32>, tensor<24x24x1x1xf32>) -> tensor<1x24x4x4xf32>
  %6 = graph.conv %x, %w : (tensor<1x12x4x4xf32>, tensor<12x12x1x1xf32>) -> tensor<1x12x4x4xf32>
  %7 = graph.conv %6, %w : (tensor<1x12x4x4xf32>, tensor<12x12x1x1xf32>) -> tensor<1x12x4x4xf32>
  %8 = graph.conv %x, %u : (tensor<1x12x4x4xf32>, tensor<24x12x1x1xf32>) -> tensor<1x24x4x4xf32>
  %9 = graph.conv %8, %g {group = 2 : i64} : (tensor<1x24x4x4xf32>, tensor<24x12x1x1xf32>) -> tensor<1x24x4x4xf32>
  return %1, %2, %5, %7, %9, %12 : tensor<1x24x4x4xf32>, tensor<1x24x4x4xf32>, tensor<1x24x4x4xf32>, tensor<1x12x4x4xf32>, tensor<1x24x4x4xf32>, tensor<1x24x4x4xf32>
}

// -----

// Where a third more to multiply takes longer than floats do, whose 3x3 windows
// Winograd's algorithm computes: no channels are added.
// CHECK-LABEL: func.func @windows
// CHECK-NOT: x48x
// CHECK: return
func.func @windows(%x: tensor<1x16x64x64xf32>) -> tensor<1x16x64x64xf32> {
  %u = graph.constant dense<1.0> : tensor<36x16x3x3xf32>
  %v = graph.constant dense<1.0> : tensor<36x36x3x3xf32>
  %w = graph.constant dense<1.0> : tensor<16x36x3x3xf32>
  %0 = graph.conv %x, %u {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x64x64xf32>, tensor<36x16x3x3xf32>) -> tensor<1x36x64x64xf32>
  %1 = graph.conv %0, %v {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x36x64x64xf32>, tensor<36x36x3x3xf32>) -> tensor<1x36x64x64xf32>
  %2 = graph.conv %1, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x36x64x64xf32>, tensor<16x36x3x3xf32>) -> tensor<1x16x64x64xf32>
  return %2 : tensor<1x16x64x64xf32>
}

// -----

// Products of single pixels are rounded at twice the rate.
// CHECK-LABEL: func.func @pixels
// CHECK-COUNT-2: tensor<1x48x64x64xf32>
func.func @pixels(%x: tensor<1x16x64x64xf32>) -> tensor<1x16x64x64xf32> {
  %u = graph.constant dense<1.0> : tensor<40x16x1x1xf32>
  %v = graph.constant dense<1.0> : tensor<40x40x1x1xf32>
  %w = graph.constant dense<1.0> : tensor<16x40x1x1xf32>
  %0 = graph.conv %x, %u : (tensor<1x16x64x64xf32>, tensor<40x16x1x1xf32>) -> tensor<1x40x64x64xf32>
  %1 = graph.conv %0, %v : (tensor<1x40x64x64xf32>, tensor<40x40x1x1xf32>) -> tensor<1x40x64x64xf32>
  %2 = graph.conv %1, %w : (tensor<1x40x64x64xf32>, tensor<16x40x1x1xf32>) -> tensor<1x16x64x64xf32>
  return %2 : tensor<1x16x64x64xf32>
}
