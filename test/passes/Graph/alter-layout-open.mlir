// RUN: dlc-opt %s --split-input-file --graph-alter-layout=channel-block=16 --graph-fold-constants --canonicalize | FileCheck %s
// RUN: dlc-opt %s --split-input-file --graph-alter-layout='channel-block=16 bf16-parts=1' | FileCheck %s --check-prefix=PLAIN
// RUN: dlc-opt %s --split-input-file --graph-alter-layout='channel-block=8 generated=true' | FileCheck %s --check-prefix=PLAIN
// Channels in blocks of images whose batch and extents are found while running.
// Rounded floats and generated code have none of them.
// PLAIN-NOT: channel_block

// What is around channels stays where it was, so shapes are told of blocks; the
// result is brought out of them with the extents that it has.

// CHECK-LABEL: func @residual
// CHECK-DAG: %[[C:.*]] = graph.constant dense<64> : tensor<1xi64>
// CHECK: %[[A:.*]] = graph.conv %arg0, {{.*}} {channel_block = 16 : i64, {{.*}} -> tensor<?x4x?x?x16xf32>
// CHECK: %[[P:.*]] = graph.max_pool %[[A]] {kernel_shape = array<i64: 3, 3, 1>, {{.*}} -> tensor<?x4x?x?x16xf32>
// CHECK: %[[B:.*]] = graph.conv %[[P]], {{.*}} {channel_block = 16 : i64, {{.*}} -> tensor<?x4x?x?x16xf32>
// CHECK: %[[S:.*]] = graph.add %[[B]], %[[P]] : tensor<?x4x?x?x16xf32>
// CHECK: %[[Y:.*]] = graph.conv %[[S]], {{.*}} {channel_block = 16 : i64, {{.*}} -> tensor<?x4x?x?x16xf32>
// CHECK-DAG: %[[T:.*]] = graph.transpose %[[Y]] {perm = array<i64: 0, 1, 4, 2, 3>} : (tensor<?x4x?x?x16xf32>) -> tensor<?x4x16x?x?xf32>
// CHECK-DAG: %[[N:.*]] = graph.shape %[[T]] {end = 1 : i64} : {{.*}} -> tensor<1xi64>
// CHECK-DAG: %[[D:.*]] = graph.shape %[[T]] {end = 5 : i64, start = 3 : i64} : {{.*}} -> tensor<2xi64>
// CHECK-DAG: %[[L:.*]] = graph.concat %[[N]], %[[C]], %[[D]] {axis = 0 : i64}
// CHECK-DAG: %[[Z:.*]] = graph.reshape %[[T]], %[[L]] {allowzero = true} : {{.*}} -> tensor<?x64x?x?xf32>
// CHECK-DAG: %[[BATCH:.*]] = graph.shape %[[Y]] {end = 1 : i64} : {{.*}} -> tensor<1xi64>
// CHECK-DAG: %[[SPACE:.*]] = graph.shape %[[Y]] {end = 4 : i64, start = 2 : i64} : {{.*}} -> tensor<2xi64>
// CHECK-DAG: %[[SHAPE:.*]] = graph.concat %[[BATCH]], %[[C]], %[[SPACE]] {axis = 0 : i64}
// CHECK: return %[[Z]], %[[SHAPE]]
func.func @residual(%x: tensor<?x3x?x?xf32>) -> (tensor<?x64x?x?xf32>, tensor<4xi64>) {
  %w = graph.constant dense<0.01> : tensor<64x3x3x3xf32>
  %v = graph.constant dense<0.02> : tensor<64x64x3x3xf32>
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<?x3x?x?xf32>, tensor<64x3x3x3xf32>) -> tensor<?x64x?x?xf32>
  %1 = graph.max_pool %0 {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<?x64x?x?xf32>) -> tensor<?x64x?x?xf32>
  %2 = graph.conv %1, %v {pads = array<i64: 1, 1, 1, 1>} : (tensor<?x64x?x?xf32>, tensor<64x64x3x3xf32>) -> tensor<?x64x?x?xf32>
  %3 = graph.add %2, %1 : tensor<?x64x?x?xf32>
  %4 = graph.conv %3, %v {pads = array<i64: 1, 1, 1, 1>} : (tensor<?x64x?x?xf32>, tensor<64x64x3x3xf32>) -> tensor<?x64x?x?xf32>
  %5 = graph.shape %4 : (tensor<?x64x?x?xf32>) -> tensor<4xi64>
  return %4, %5 : tensor<?x64x?x?xf32>, tensor<4xi64>
}

// -----

// Extents that are known stay so, whatever is inferred of blocks; where only the
// batch is open a constant says how to reshape.

// CHECK-LABEL: func @known
// CHECK: %[[L:.*]] = graph.constant dense<[0, 32, 8, 8]> : tensor<4xi64>
// CHECK: graph.conv {{.*}} -> tensor<?x4x1x?x16xf32>
// CHECK: graph.conv {{.*}} : (tensor<?x4x1x?x16xf32>, {{.*}} -> tensor<?x64x1x?xf32>
// CHECK: graph.conv {{.*}} -> tensor<?x2x8x8x16xf32>
// CHECK: graph.reshape %{{.*}}, %[[L]] : (tensor<?x2x16x8x8xf32>, tensor<4xi64>) -> tensor<?x32x8x8xf32>
func.func @known(%x: tensor<?x3x?x?xf32>, %z: tensor<?x32x8x8xf32>) -> (tensor<?x64x1x?xf32>, tensor<?x32x8x8xf32>) {
  %u = graph.constant dense<0.01> : tensor<64x3x3x3xf32>
  %w = graph.constant dense<0.01> : tensor<64x64x3x3xf32>
  %v = graph.constant dense<0.01> : tensor<32x32x3x3xf32>
  %0 = graph.conv %x, %u {pads = array<i64: 1, 1, 1, 1>} : (tensor<?x3x?x?xf32>, tensor<64x3x3x3xf32>) -> tensor<?x64x1x?xf32>
  %1 = graph.conv %0, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<?x64x1x?xf32>, tensor<64x64x3x3xf32>) -> tensor<?x64x1x?xf32>
  %2 = graph.conv %z, %v {pads = array<i64: 1, 1, 1, 1>} : (tensor<?x32x8x8xf32>, tensor<32x32x3x3xf32>) -> tensor<?x32x8x8xf32>
  return %1, %2 : tensor<?x64x1x?xf32>, tensor<?x32x8x8xf32>
}

// -----

// Windows far larger than any image that is assumed: a transform of frames.

// CHECK-LABEL: func @frames
// CHECK: graph.conv %arg0, {{.*}}channel_block = 16 : i64{{.*}} -> tensor<?x26x?x16xf32>
func.func @frames(%x: tensor<?x1x?xf32>) -> tensor<?x402x?xf32> {
  %w = graph.constant dense<0.01> : tensor<402x1x400xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 160>} : (tensor<?x1x?xf32>, tensor<402x1x400xf32>) -> tensor<?x402x?xf32>
  return %0 : tensor<?x402x?xf32>
}

// -----

// Channels that are not known are in no blocks.

// CHECK-LABEL: func @channels
// CHECK-NOT: channel_block = 16
func.func @channels(%x: tensor<1x?x?x?xf32>, %w: tensor<?x?x3x3xf32>) -> tensor<1x?x?x?xf32> {
  %0 = graph.conv %x, %w : (tensor<1x?x?x?xf32>, tensor<?x?x3x3xf32>) -> tensor<1x?x?x?xf32>
  return %0 : tensor<1x?x?x?xf32>
}

// -----

// Nor what is reduced to channels of which nobody says how many.

// CHECK-LABEL: func @reduced
// CHECK: graph.reduce_mean %{{.*}} {keepdims = false} : (tensor<?x64x?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
func.func @reduced(%x: tensor<?x3x?x?xf32>) -> tensor<?x?xf32> {
  %w = graph.constant dense<0.01> : tensor<64x3x3x3xf32>
  %v = graph.constant dense<0.02> : tensor<64x64x3x3xf32>
  %axes = graph.constant dense<[2, 3]> : tensor<2xi64>
  %0 = graph.conv %x, %w : (tensor<?x3x?x?xf32>, tensor<64x3x3x3xf32>) -> tensor<?x64x?x?xf32>
  %1 = graph.conv %0, %v : (tensor<?x64x?x?xf32>, tensor<64x64x3x3xf32>) -> tensor<?x64x?x?xf32>
  %2 = graph.reduce_mean %1, %axes {keepdims = false} : (tensor<?x64x?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}
