// RUN: dlc-opt %s --split-input-file --graph-alter-layout='channel-block=16' | FileCheck %s
// RUN: dlc-opt %s --split-input-file --verify-numerics --graph-alter-layout='channel-block=16' -o /dev/null
// Where most convolutions are of integers, channels are last: blocks of all that
// each value has.

// CHECK-LABEL: func.func @separable
// CHECK: %[[X:.*]] = graph.integer_conv {{.*}} {channel_block = 32 : i64, {{.*}}} : (tensor<1x3x16x16xui8>, {{.*}}) -> tensor<1x1x16x16x32xi32>
// CHECK: %[[A:.*]] = graph.requantize %[[X]], {{.*}} -> tensor<1x1x16x16x32xui8>
// CHECK: %[[D:.*]] = graph.integer_conv %[[A]], {{.*}} {channel_block = 32 : i64, group = 32 : i64, {{.*}} -> tensor<1x1x16x16x32xi32>
// CHECK: %[[B:.*]] = graph.requantize %[[D]]
// CHECK: %[[P:.*]] = graph.integer_conv %[[B]], {{.*}} {channel_block = 24 : i64} : (tensor<1x1x16x16x32xui8>, tensor<24x32x1x1xi8>, {{.*}}) -> tensor<1x1x16x16x24xi32>
// CHECK: graph.requantize %[[P]], %{{.*}} : (tensor<1x1x16x16x24xi32>, tensor<1x1x1x1x24xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x1x16x16x24xui8>
func.func @separable(%x: tensor<1x3x16x16xui8>, %u: tensor<32x3x3x3xi8>, %v: tensor<32x1x3x3xi8>, %w: tensor<24x32x1x1xi8>, %m: tensor<24x1x1xf32>) -> tensor<1x24x16x16xui8> {
  %z = graph.constant dense<3> : tensor<ui8>
  %i = graph.constant dense<0> : tensor<i8>
  %s = graph.constant dense<0.01> : tensor<f32>
  %0 = graph.integer_conv %x, %u, %z, %i {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x16x16xui8>, tensor<32x3x3x3xi8>, tensor<ui8>, tensor<i8>) -> tensor<1x32x16x16xi32>
  %1 = graph.requantize %0, %s, %s, %z : (tensor<1x32x16x16xi32>, tensor<f32>, tensor<f32>, tensor<ui8>) -> tensor<1x32x16x16xui8>
  %2 = graph.integer_conv %1, %v, %z, %i {pads = array<i64: 1, 1, 1, 1>, group = 32 : i64} : (tensor<1x32x16x16xui8>, tensor<32x1x3x3xi8>, tensor<ui8>, tensor<i8>) -> tensor<1x32x16x16xi32>
  %3 = graph.requantize %2, %s, %s, %z : (tensor<1x32x16x16xi32>, tensor<f32>, tensor<f32>, tensor<ui8>) -> tensor<1x32x16x16xui8>
  %4 = graph.integer_conv %3, %w, %z, %i : (tensor<1x32x16x16xui8>, tensor<24x32x1x1xi8>, tensor<ui8>, tensor<i8>) -> tensor<1x24x16x16xi32>
  %5 = graph.requantize %4, %m, %s, %z : (tensor<1x24x16x16xi32>, tensor<24x1x1xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x24x16x16xui8>
  return %5 : tensor<1x24x16x16xui8>
}

// -----

// Where most are of floats those have blocks of 16, and integers none.
// CHECK-LABEL: func.func @floats
// CHECK: graph.conv {{.*}} -> tensor<1x4x16x16x16xf32>
// CHECK: graph.integer_conv {{.*}} : (tensor<1x64x16x16xui8>, {{.*}}) -> tensor<1x8x16x16xi32>
func.func @floats(%x: tensor<1x64x16x16xf32>, %a: tensor<1x64x16x16xui8>, %u: tensor<8x64x1x1xi8>) -> (tensor<1x64x16x16xf32>, tensor<1x8x16x16xi32>) {
  %w = graph.constant dense<0.01> : tensor<64x64x3x3xf32>
  %z = graph.constant dense<3> : tensor<ui8>
  %i = graph.constant dense<0> : tensor<i8>
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x16x16xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x16x16xf32>
  %1 = graph.conv %0, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x16x16xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x16x16xf32>
  %2 = graph.integer_conv %a, %u, %z, %i : (tensor<1x64x16x16xui8>, tensor<8x64x1x1xi8>, tensor<ui8>, tensor<i8>) -> tensor<1x8x16x16xi32>
  return %1, %2 : tensor<1x64x16x16xf32>, tensor<1x8x16x16xi32>
}

// -----

// Images whose batch and extents are found while running have all channels last,
// too.

// CHECK-LABEL: func @open
// CHECK: graph.integer_conv {{.*}} {channel_block = 16 : i64, {{.*}} -> tensor<?x1x?x?x16xi32>
// CHECK: graph.requantize {{.*}} : (tensor<?x1x?x?x16xi32>, tensor<f32>, tensor<1x1x1x1x16xf32>, tensor<ui8>) -> tensor<?x1x?x?x16xui8>
// CHECK: graph.integer_conv {{.*}} : (tensor<?x1x?x?x16xui8>, {{.*}} -> tensor<?x16x?x?xi32>
func.func @open(%x: tensor<?x8x?x?xui8>) -> tensor<?x16x?x?xi32> {
  %w = graph.constant dense<3> : tensor<16x8x3x3xi8>
  %v = graph.constant dense<-3> : tensor<16x16x3x3xi8>
  %a = graph.constant dense<128> : tensor<ui8>
  %b = graph.constant dense<0> : tensor<i8>
  %m = graph.constant dense<0.01> : tensor<f32>
  %o = graph.constant dense<2.0> : tensor<16x1x1xf32>
  %0 = graph.integer_conv %x, %w, %a, %b {pads = array<i64: 1, 1, 1, 1>} : (tensor<?x8x?x?xui8>, tensor<16x8x3x3xi8>, tensor<ui8>, tensor<i8>) -> tensor<?x16x?x?xi32>
  %1 = graph.requantize %0, %m, %o, %a : (tensor<?x16x?x?xi32>, tensor<f32>, tensor<16x1x1xf32>, tensor<ui8>) -> tensor<?x16x?x?xui8>
  %2 = graph.integer_conv %1, %v, %a, %b {pads = array<i64: 1, 1, 1, 1>} : (tensor<?x16x?x?xui8>, tensor<16x16x3x3xi8>, tensor<ui8>, tensor<i8>) -> tensor<?x16x?x?xi32>
  return %2 : tensor<?x16x?x?xi32>
}
