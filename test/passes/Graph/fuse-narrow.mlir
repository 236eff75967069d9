// SPDX-License-Identifier: Apache-2.0
// RUN: dlc-opt %s --graph-fuse-operators | FileCheck %s
// Bytes that a library reads are in memory: a kernel that needs them as floats
// widens them itself, rather than the one that makes them writing both.

// CHECK-LABEL: func.func @kept
// CHECK: %[[B:.*]] = graph.fusion -> tensor<8x16xui8> {
// CHECK: %[[Q:.*]] = graph.cast {{.*}} -> tensor<8x16xui8>
// CHECK-NEXT: graph.yield %[[Q]] : tensor<8x16xui8>
// CHECK: graph.integer_matmul %[[B]]
// CHECK: graph.fusion -> tensor<8x16xf32> {
// CHECK: graph.cast %[[B]] {{.*}} -> tensor<8x16xf32>
// CHECK: graph.add
func.func @kept(%x: tensor<8x16xf32>, %y: tensor<8x16xf32>, %w: tensor<16x16xi8>) -> (tensor<8x16xi32>, tensor<8x16xf32>) {
  %zx = graph.constant dense<3> : tensor<ui8>
  %zw = graph.constant dense<0> : tensor<i8>
  %s = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.mul %x, %s : (tensor<8x16xf32>, tensor<f32>) -> tensor<8x16xf32>
  %1 = graph.cast %0 {to = ui8} : (tensor<8x16xf32>) -> tensor<8x16xui8>
  %2 = graph.integer_matmul %1, %w, %zx, %zw : (tensor<8x16xui8>, tensor<16x16xi8>, tensor<ui8>, tensor<i8>) -> tensor<8x16xi32>
  %3 = graph.cast %1 {to = f32} : (tensor<8x16xui8>) -> tensor<8x16xf32>
  %4 = graph.mul %3, %s : (tensor<8x16xf32>, tensor<f32>) -> tensor<8x16xf32>
  %5 = graph.add %4, %y : tensor<8x16xf32>
  return %2, %5 : tensor<8x16xi32>, tensor<8x16xf32>
}

// Where a library reads the floats, too, both are written at once.
// CHECK-LABEL: func.func @both
// CHECK: %[[B:.*]]:2 = graph.fusion
// CHECK: graph.yield %{{.*}}, %{{.*}} : tensor<8x16xui8>, tensor<8x16xf32>
// CHECK: graph.integer_matmul %[[B]]#0
// CHECK: graph.matmul %[[B]]#1
func.func @both(%x: tensor<8x16xf32>, %w: tensor<16x16xi8>, %v: tensor<16x16xf32>) -> (tensor<8x16xi32>, tensor<8x16xf32>) {
  %zx = graph.constant dense<3> : tensor<ui8>
  %zw = graph.constant dense<0> : tensor<i8>
  %s = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.mul %x, %s : (tensor<8x16xf32>, tensor<f32>) -> tensor<8x16xf32>
  %1 = graph.cast %0 {to = ui8} : (tensor<8x16xf32>) -> tensor<8x16xui8>
  %2 = graph.integer_matmul %1, %w, %zx, %zw : (tensor<8x16xui8>, tensor<16x16xi8>, tensor<ui8>, tensor<i8>) -> tensor<8x16xi32>
  %3 = graph.cast %1 {to = f32} : (tensor<8x16xui8>) -> tensor<8x16xf32>
  %4 = graph.mul %3, %s : (tensor<8x16xf32>, tensor<f32>) -> tensor<8x16xf32>
  %5 = graph.matmul %4, %v : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  return %2, %5 : tensor<8x16xi32>, tensor<8x16xf32>
}
