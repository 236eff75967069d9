// RUN: dlc-opt %s --graph-pad-channels=block=4 --graph-fold-constants --split-input-file | FileCheck %s
// An image of few channels gets as many as a block has.

// CHECK-LABEL: func.func @first
// CHECK-SAME: %[[X:.*]]: tensor<1x1x3x3xf32>
func.func @first(%x: tensor<1x1x3x3xf32>) -> tensor<1x4x1x1xf32> {
  %w = graph.constant dense<1.0> : tensor<4x1x3x3xf32>
  // CHECK: %[[P:.*]] = graph.pad %[[X]]{{.*}} -> tensor<1x4x3x3xf32>
  // CHECK: graph.conv %[[P]], %{{.*}} : (tensor<1x4x3x3xf32>, tensor<4x4x3x3xf32>)
  %y = graph.conv %x, %w : (tensor<1x1x3x3xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x1x1xf32>
  return %y : tensor<1x4x1x1xf32>
}

// -----

// Channels enough, one tap, weights that are data, groups.
// CHECK-LABEL: func.func @others
// CHECK-NOT: graph.pad
func.func @others(%x: tensor<1x4x3x3xf32>, %s: tensor<1x2x3x3xf32>, %d: tensor<4x2x3x3xf32>) -> (tensor<1x4x1x1xf32>, tensor<1x4x3x3xf32>, tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>) {
  %w = graph.constant dense<1.0> : tensor<4x4x3x3xf32>
  %u = graph.constant dense<1.0> : tensor<4x2x1x1xf32>
  %v = graph.constant dense<1.0> : tensor<4x1x3x3xf32>
  %0 = graph.conv %x, %w : (tensor<1x4x3x3xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x1x1xf32>
  %1 = graph.conv %s, %u : (tensor<1x2x3x3xf32>, tensor<4x2x1x1xf32>) -> tensor<1x4x3x3xf32>
  %2 = graph.conv %s, %d : (tensor<1x2x3x3xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x1x1xf32>
  %3 = graph.conv %s, %v {group = 2 : i64} : (tensor<1x2x3x3xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x1x1xf32>
  return %0, %1, %2, %3 : tensor<1x4x1x1xf32>, tensor<1x4x3x3xf32>, tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>
}
