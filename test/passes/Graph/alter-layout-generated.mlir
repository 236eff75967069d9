// RUN: dlc-opt %s --split-input-file --graph-alter-layout='channel-block=8 generated=true' --graph-fold-constants --canonicalize | FileCheck %s
// RUN: dlc-opt %s --split-input-file --verify-numerics --graph-alter-layout='channel-block=8 generated=true' -o /dev/null
// Convolutions that are generated read channels in blocks, short floats, too.

// CHECK-LABEL: func @short
// CHECK: %[[X:.*]] = graph.transpose {{.*}} -> tensor<1x2x6x6x8xf16>
// CHECK: %[[A:.*]] = graph.conv %[[X]], {{.*}} {channel_block = 8 : i64, {{.*}} -> tensor<1x3x6x6x8xf16>
// CHECK: %[[R:.*]] = graph.relu %[[A]]
// CHECK: %[[B:.*]] = graph.conv %[[R]], {{.*}} -> tensor<1x16x6x6xf16>
// CHECK: return %[[B]]
func.func @short(%x: tensor<1x16x6x6xf16>) -> tensor<1x16x6x6xf16> {
  %w = graph.constant dense<0.0625> : tensor<24x16x3x3xf16>
  %v = graph.constant dense<0.0625> : tensor<16x24x3x3xf16>
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x6x6xf16>, tensor<24x16x3x3xf16>) -> tensor<1x24x6x6xf16>
  %1 = graph.relu %0 : tensor<1x24x6x6xf16>
  %2 = graph.conv %1, %v {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x24x6x6xf16>, tensor<16x24x3x3xf16>) -> tensor<1x16x6x6xf16>
  return %2 : tensor<1x16x6x6xf16>
}

// -----

// A group for each channel lies as its neighbours do; other groups, and numbers
// of channels that are no blocks, stay plain.
// CHECK-LABEL: func @groups
// CHECK: graph.conv {{.*}} {channel_block = 8 : i64, {{.*}} -> tensor<1x2x6x6x8xf32>
// CHECK: graph.conv {{.*}} {channel_block = 8 : i64, {{.*}}group = 16 : i64{{.*}} -> tensor<1x2x6x6x8xf32>
// CHECK: graph.conv {{.*}} -> tensor<1x20x6x6xf32>
// CHECK: graph.conv {{.*}}group = 2 : i64{{.*}} -> tensor<1x16x6x6xf32>
func.func @groups(%x: tensor<1x16x6x6xf32>) -> tensor<1x16x6x6xf32> {
  %w = graph.constant dense<0.0625> : tensor<16x16x3x3xf32>
  %d = graph.constant dense<0.5> : tensor<16x1x3x3xf32>
  %v = graph.constant dense<0.0625> : tensor<20x16x3x3xf32>
  %g = graph.constant dense<0.0625> : tensor<16x10x3x3xf32>
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x6x6xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x6x6xf32>
  %1 = graph.conv %0, %d {group = 16 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x6x6xf32>, tensor<16x1x3x3xf32>) -> tensor<1x16x6x6xf32>
  %2 = graph.conv %1, %v {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x6x6xf32>, tensor<20x16x3x3xf32>) -> tensor<1x20x6x6xf32>
  %3 = graph.conv %2, %g {group = 2 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x20x6x6xf32>, tensor<16x10x3x3xf32>) -> tensor<1x16x6x6xf32>
  return %3 : tensor<1x16x6x6xf32>
}
