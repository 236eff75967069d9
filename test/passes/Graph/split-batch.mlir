// RUN: dlc-opt %s --split-input-file --graph-split-batch=parts=2 --canonicalize --cse | FileCheck %s
// RUN: dlc-opt %s --split-input-file --graph-split-batch=parts=3 --remarks-filter=graph-split-batch -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: dlc-opt %s --split-input-file --verify-numerics --graph-split-batch=parts=2 -o /dev/null
// RUN: dlc-opt %s --split-input-file --verify-numerics --graph-split-batch=parts=3 -o /dev/null
// RUN: dlc-opt %s --split-input-file --graph-split-batch -o %t && dlc-opt %s --split-input-file -o %t.same && diff %t %t.same
// RUN: not dlc-opt %s --split-input-file --graph-split-batch=parts=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// NEGATIVE: graph-split-batch: expected at least 0 parts, got -1

// All of the first part in front of all of the second. Three parts of four
// examples are four; what is as small as a part of the largest is not split.

// CHECK-LABEL: func @forward
// CHECK-SAME: (%[[X:.*]]: tensor<4x3x8x8xf32>, %[[W:.*]]: tensor<8x3x3x3xf32>, %[[B:.*]]: tensor<8x1x1xf32>)
// CHECK: %[[X0:.*]] = graph.slice %[[X]], {{.*}} -> tensor<2x3x8x8xf32>
// CHECK-NEXT: %[[C0:.*]] = graph.conv %[[X0]], %[[W]] {{.*}} -> tensor<2x8x6x6xf32>
// CHECK-NEXT: %[[A0:.*]] = graph.add %[[C0]], %[[B]] {graph.part = 0 : i64}
// CHECK-NEXT: %[[P0:.*]] = graph.max_pool %[[A0]] {{.*}} -> tensor<2x8x3x3xf32>
// CHECK: %[[X1:.*]] = graph.slice %[[X]], {{.*}} -> tensor<2x3x8x8xf32>
// CHECK: %[[P1:.*]] = graph.max_pool {{.*}} -> tensor<2x8x3x3xf32>
// CHECK-NEXT: %[[P:.*]] = graph.concat %[[P0]], %[[P1]] {axis = 0 : i64}
// CHECK-NEXT: %[[Y:.*]] = graph.relu %[[P]] : tensor<4x8x3x3xf32>
// CHECK-NEXT: return %[[Y]]

// REMARK: Function=forward | Operations=3, Parts=4
// REMARK: Function=both_ways | Operations=6, Parts=3
func.func @forward(%x: tensor<4x3x8x8xf32>, %w: tensor<8x3x3x3xf32>, %b: tensor<8x1x1xf32>) -> tensor<4x8x3x3xf32> {
  %0 = graph.conv %x, %w : (tensor<4x3x8x8xf32>, tensor<8x3x3x3xf32>) -> tensor<4x8x6x6xf32>
  %1 = graph.add %0, %b : (tensor<4x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<4x8x6x6xf32>
  %2 = graph.max_pool %1 {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<4x8x6x6xf32>) -> tensor<4x8x3x3xf32>
  %3 = graph.relu %2 : tensor<4x8x3x3xf32>
  return %3 : tensor<4x8x3x3xf32>
}

// -----

// Gradients of weights are sums over the parts. The way back takes the parts
// that the way there made, and waits for what needs all of them.

// CHECK-LABEL: func @both_ways
// CHECK-DAG: %[[C0:.*]] = graph.conv {{.*}} -> tensor<3x8x6x6xf32>
// CHECK: graph.concat
// CHECK: graph.reduce_mean
// CHECK: graph.max_pool_gradient {{.*}} -> tensor<3x8x6x6xf32>
// CHECK: graph.conv_weight_gradient {{.*}} : (tensor<3x3x8x8xf32>, tensor<3x8x6x6xf32>) -> tensor<8x3x3x3xf32>
// CHECK: graph.reduce_sum
// CHECK: graph.max_pool_gradient {{.*}} -> tensor<3x8x6x6xf32>
// CHECK: %[[W1:.*]] = graph.conv_weight_gradient
// CHECK: graph.add %{{.*}}, %[[W1]] {graph.part = 1 : i64} : tensor<8x3x3x3xf32>
// CHECK-NOT: tensor<6x8x6x6xf32>
// CHECK: return
func.func @both_ways(%x: tensor<6x3x8x8xf32>, %w: tensor<8x3x3x3xf32>) -> (tensor<8x3x3x3xf32>, tensor<8xf32>) {
  %axes = graph.constant dense<[0, 2, 3]> : tensor<3xi64>
  %batch = graph.constant dense<[0]> : tensor<1xi64>
  %0 = graph.conv %x, %w : (tensor<6x3x8x8xf32>, tensor<8x3x3x3xf32>) -> tensor<6x8x6x6xf32>
  %1 = graph.max_pool %0 {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<6x8x6x6xf32>) -> tensor<6x8x3x3xf32>
  %2 = graph.reduce_mean %1, %batch : (tensor<6x8x3x3xf32>, tensor<1xi64>) -> tensor<1x8x3x3xf32>
  %3 = graph.mul %1, %2 : (tensor<6x8x3x3xf32>, tensor<1x8x3x3xf32>) -> tensor<6x8x3x3xf32>
  %4 = graph.max_pool_gradient %0, %3 {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<6x8x6x6xf32>, tensor<6x8x3x3xf32>) -> tensor<6x8x6x6xf32>
  %5 = graph.mul %4, %0 : tensor<6x8x6x6xf32>
  %6 = graph.conv_weight_gradient %x, %5 {kernel_shape = array<i64: 3, 3>} : (tensor<6x3x8x8xf32>, tensor<6x8x6x6xf32>) -> tensor<8x3x3x3xf32>
  %7 = graph.reduce_sum %5, %axes {keepdims = false} : (tensor<6x8x6x6xf32>, tensor<3xi64>) -> tensor<8xf32>
  return %6, %7 : tensor<8x3x3x3xf32>, tensor<8xf32>
}

// -----

// A batch of one and weights alone have no parts.

// CHECK-LABEL: func @no_batch
// CHECK-NOT: graph.slice
// CHECK: return
func.func @no_batch(%x: tensor<1x3x8x8xf32>, %w: tensor<8x3x3x3xf32>) -> (tensor<1x8x6x6xf32>, tensor<8x3x3x3xf32>) {
  %0 = graph.conv %x, %w : (tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
  %1 = graph.exp %w : tensor<8x3x3x3xf32>
  return %0, %1 : tensor<1x8x6x6xf32>, tensor<8x3x3x3xf32>
}

// -----

// Operands that all parts read whole, transposes and pads that leave the batch
// where it is, and those that do not; a sum that has the batch's extent is none.

// CHECK-LABEL: func @odd
// CHECK: graph.transpose %{{.*}} {graph.part = {{[01]}} : i64, perm = array<i64: 0, 1, 3, 2>} : (tensor<2x
// CHECK: graph.transpose %{{.*}} {perm = array<i64: 1, 0, 2, 3>} : (tensor<4x
func.func @odd(%x: tensor<4x4x6x6xf32>, %w: tensor<4x4x3x3xf32>) -> (tensor<4x4x6x6xf32>, tensor<4x4x3x3xf32>, tensor<4x4x6x8xf32>) {
  %pads = graph.constant dense<1> : tensor<2xi64>
  %none = graph.constant dense<0.0> : tensor<f32>
  %last = graph.constant dense<-1> : tensor<1xi64>
  %0 = graph.transpose %x {perm = array<i64: 0, 1, 3, 2>} : (tensor<4x4x6x6xf32>) -> tensor<4x4x6x6xf32>
  %1 = graph.conv %0, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<4x4x6x6xf32>, tensor<4x4x3x3xf32>) -> tensor<4x4x6x6xf32>
  %2 = graph.transpose %1 {perm = array<i64: 1, 0, 2, 3>} : (tensor<4x4x6x6xf32>) -> tensor<4x4x6x6xf32>
  %3 = graph.conv_weight_gradient %2, %1 {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<4x4x6x6xf32>, tensor<4x4x6x6xf32>) -> tensor<4x4x3x3xf32>
  %4 = graph.conv %2, %3 {pads = array<i64: 1, 1, 1, 1>} : (tensor<4x4x6x6xf32>, tensor<4x4x3x3xf32>) -> tensor<4x4x6x6xf32>
  %5 = graph.pad %4, %pads, %none, %last : (tensor<4x4x6x6xf32>, tensor<2xi64>, tensor<f32>, tensor<1xi64>) -> tensor<4x4x6x8xf32>
  return %4, %3, %5 : tensor<4x4x6x6xf32>, tensor<4x4x3x3xf32>, tensor<4x4x6x8xf32>
}
