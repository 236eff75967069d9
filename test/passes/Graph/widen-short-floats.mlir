// SPDX-License-Identifier: Apache-2.0
//
// RUN: dlc-opt %s --graph-widen-short-floats | FileCheck %s
// RUN: dlc-opt %s --graph-widen-short-floats=device=cuda:0 | FileCheck %s --check-prefix=CUDA
// RUN: not dlc-opt %s --graph-widen-short-floats=device=gpu 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: expected a device like cuda:0, got 'gpu'

// A library computes f32 only; a GPU has generated code.
// CHECK-LABEL: @product(
// CHECK: %[[A:.*]] = graph.cast %{{.*}} {to = f32} : (tensor<8x4xf16>) -> tensor<8x4xf32>
// CHECK: %[[B:.*]] = graph.cast %{{.*}} {to = f32} : (tensor<4x8xf16>) -> tensor<4x8xf32>
// CHECK: %[[Y:.*]] = graph.matmul %[[A]], %[[B]] : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
// CHECK: %[[R:.*]] = graph.cast %[[Y]] {to = f16} : (tensor<8x8xf32>) -> tensor<8x8xf16>
// CHECK: graph.relu %[[R]] : tensor<8x8xf16>
// CUDA-LABEL: @product(
// CUDA-NOT: graph.cast
// CUDA: return
func.func @product(%a: tensor<8x4xf16>, %b: tensor<4x8xf16>) -> tensor<8x8xf16> {
  %0 = graph.matmul %a, %b : (tensor<8x4xf16>, tensor<4x8xf16>) -> tensor<8x8xf16>
  %y = graph.relu %0 : tensor<8x8xf16>
  return %y : tensor<8x8xf16>
}

// Means have no form of short floats anywhere.
// CHECK-LABEL: @mean(
// CHECK: graph.avg_pool {{.*}} tensor<1x8x4x4xf32>
// CUDA-LABEL: @mean(
// CUDA: graph.avg_pool {{.*}} tensor<1x8x4x4xf32>
// CUDA: graph.cast {{.*}} {to = bf16}
func.func @mean(%x: tensor<1x8x8x8xbf16>) -> tensor<1x8x4x4xbf16> {
  %y = graph.avg_pool %x {kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x8x8xbf16>) -> tensor<1x8x4x4xbf16>
  return %y : tensor<1x8x4x4xbf16>
}

// What asks for a device is left to it, and f64 is as wide as before.
// CHECK-LABEL: @others(
// CHECK-COUNT-3: graph.cast
// CHECK-NOT: graph.cast
// CHECK: return
// CUDA-LABEL: @others(
// CUDA-NOT: graph.cast
// CUDA: return
func.func @others(%a: tensor<8x4xf16>, %b: tensor<4x8xf16>, %c: tensor<8x4xf64>, %d: tensor<4x8xf64>) -> (tensor<8x8xf16>, tensor<8x8xf64>) {
  %y = graph.matmul %a, %b {graph.group = "a"} : (tensor<8x4xf16>, tensor<4x8xf16>) -> tensor<8x8xf16>
  %z = graph.matmul %c, %d : (tensor<8x4xf64>, tensor<4x8xf64>) -> tensor<8x8xf64>
  return %y, %z : tensor<8x8xf16>, tensor<8x8xf64>
}

// Of shapes that are found while running a library may have the product, of f32.
// CHECK-LABEL: @open(
// CHECK: graph.matmul {{.*}} : (tensor<?x4xf32>, tensor<4x8xf32>) -> tensor<?x8xf32>
// It is the host's, whatever else there is.
// CUDA-LABEL: @open(
// CUDA: graph.matmul {{.*}} : (tensor<?x4xf32>, tensor<4x8xf32>) -> tensor<?x8xf32>
func.func @open(%a: tensor<?x4xf16>, %b: tensor<4x8xf16>) -> tensor<?x8xf16> {
  %y = graph.matmul %a, %b : (tensor<?x4xf16>, tensor<4x8xf16>) -> tensor<?x8xf16>
  return %y : tensor<?x8xf16>
}
