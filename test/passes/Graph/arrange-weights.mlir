// RUN: dlc-opt %s --graph-arrange-weights --split-input-file | FileCheck %s
// Weights of convolutions on a GPU have their channels last, where taps part
// them, and are transposed back in front of the convolution.

// CHECK-LABEL: func.func @taps
func.func @taps(%x: tensor<1x2x4x4xf16>) -> tensor<1x1x3x3xf16> {
  // CHECK-DAG: %[[W:.*]] = graph.constant dense<{{\[\[\[}}[1.0{{.*}}, 5.0{{.*}}], [2.0{{.*}}, 6.0{{.*}}]], {{\[\[}}3.0{{.*}}, 7.0{{.*}}], [4.0{{.*}}, 8.0{{.*}}]]]]> : tensor<1x2x2x2xf16>
  %w = graph.constant dense<[[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]]> : tensor<1x2x2x2xf16>
  // CHECK: %[[B:.*]] = graph.transpose %[[W]] {device = #dlc.device<cuda:0>, perm = array<i64: 0, 3, 1, 2>}
  // CHECK: graph.conv %{{.*}}, %[[B]]
  %y = graph.conv %x, %w {device = #dlc.device<cuda:0>} : (tensor<1x2x4x4xf16>, tensor<1x2x2x2xf16>) -> tensor<1x1x3x3xf16>
  return %y : tensor<1x1x3x3xf16>
}

// -----

// Two convolutions share what they shared.
// CHECK-LABEL: func.func @shared
func.func @shared(%x: tensor<1x2x4x4xf32>) -> (tensor<1x1x3x3xf32>, tensor<1x1x5x5xf32>) {
  // CHECK: %[[W:.*]] = graph.constant dense<{{.*}}1.0{{.*}}, 5.0
  %w = graph.constant dense<[[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]]> : tensor<1x2x2x2xf32>
  // CHECK-COUNT-2: graph.transpose %[[W]]
  %y = graph.conv %x, %w {device = #dlc.device<cuda:0>} : (tensor<1x2x4x4xf32>, tensor<1x2x2x2xf32>) -> tensor<1x1x3x3xf32>
  %z = graph.conv %x, %w {device = #dlc.device<cuda:0>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x2x4x4xf32>, tensor<1x2x2x2xf32>) -> tensor<1x1x5x5xf32>
  return %y, %z : tensor<1x1x3x3xf32>, tensor<1x1x5x5xf32>
}

// -----

// Neighbours already, on the host, or not known while compiling.
// CHECK-LABEL: func.func @others
// CHECK-NOT: graph.transpose
func.func @others(%x: tensor<1x2x4x4xf32>, %v: tensor<1x2x2x2xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>) {
  %u = graph.constant dense<[[[[1.0]], [[2.0]]]]> : tensor<1x2x1x1xf32>
  %w = graph.constant dense<[[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]]> : tensor<1x2x2x2xf32>
  %0 = graph.conv %x, %u {device = #dlc.device<cuda:0>} : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x4x4xf32>
  %1 = graph.conv %x, %w {device = #dlc.device<cpu:0>} : (tensor<1x2x4x4xf32>, tensor<1x2x2x2xf32>) -> tensor<1x1x3x3xf32>
  %2 = graph.conv %x, %v {device = #dlc.device<cuda:0>} : (tensor<1x2x4x4xf32>, tensor<1x2x2x2xf32>) -> tensor<1x1x3x3xf32>
  return %0, %1, %2 : tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>
}
