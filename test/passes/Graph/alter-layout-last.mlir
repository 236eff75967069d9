// RUN: dlc-opt %s --split-input-file --graph-alter-layout='channel-block=-1 generated=true' | FileCheck %s
// RUN: dlc-opt %s --split-input-file --verify-numerics --graph-alter-layout='channel-block=-1 generated=true' -o /dev/null
// Channels last: blocks of all that each value has. What has as many at a lower
// rank goes along.

// CHECK-LABEL: func.func @channels_last
// CHECK: %[[Y:.*]] = graph.conv {{.*}} {channel_block = 32 : i64, {{.*}}} : (tensor<2x1x9x7x16xf16>, tensor<32x16x3x3xf16>) -> tensor<2x1x9x7x32xf16>
// CHECK: graph.mul %[[Y]], {{.*}} : (tensor<2x1x9x7x32xf16>, tensor<1x1x1x1x32xf16>) -> tensor<2x1x9x7x32xf16>
// CHECK: graph.conv {{.*}} : (tensor<2x1x9x7x32xf16>, tensor<8x32x1x1xf16>) -> tensor<2x8x9x7xf16>
func.func @channels_last(%x: tensor<2x16x9x7xf16>, %w: tensor<32x16x3x3xf16>, %v: tensor<8x32x1x1xf16>, %s: tensor<32x1x1xf16>) -> tensor<2x8x9x7xf16> {
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<2x16x9x7xf16>, tensor<32x16x3x3xf16>) -> tensor<2x32x9x7xf16>
  %1 = graph.mul %0, %s : (tensor<2x32x9x7xf16>, tensor<32x1x1xf16>) -> tensor<2x32x9x7xf16>
  %2 = graph.conv %1, %v : (tensor<2x32x9x7xf16>, tensor<8x32x1x1xf16>) -> tensor<2x8x9x7xf16>
  return %2 : tensor<2x8x9x7xf16>
}

// -----

// What joins or parts different numbers of channels does so along the last
// dimension.
// CHECK-LABEL: func.func @joined
// CHECK: graph.concat {{.*}} {axis = 4 : i64} : (tensor<2x1x9x7x32xf16>, tensor<2x1x9x7x8xf16>) -> tensor<2x1x9x7x40xf16>
// CHECK: graph.conv {{.*}} : (tensor<2x1x9x7x40xf16>, tensor<24x40x3x3xf16>) -> tensor<2x1x9x7x24xf16>
// CHECK: graph.split {{.*}} {axis = 4 : i64} : (tensor<2x1x9x7x24xf16>, tensor<2xi64>) -> (tensor<2x1x9x7x8xf16>, tensor<2x1x9x7x16xf16>)
// CHECK: graph.conv {{.*}} : (tensor<2x1x9x7x16xf16>, tensor<8x16x1x1xf16>)
func.func @joined(%x: tensor<2x32x9x7xf16>, %y: tensor<2x8x9x7xf16>, %u: tensor<24x40x3x3xf16>, %v: tensor<8x8x1x1xf16>, %t: tensor<8x16x1x1xf16>) -> (tensor<2x8x9x7xf16>, tensor<2x8x9x7xf16>) {
  %sizes = graph.constant dense<[8, 16]> : tensor<2xi64>
  %0 = graph.concat %x, %y {axis = 1 : i64} : (tensor<2x32x9x7xf16>, tensor<2x8x9x7xf16>) -> tensor<2x40x9x7xf16>
  %1 = graph.conv %0, %u {pads = array<i64: 1, 1, 1, 1>} : (tensor<2x40x9x7xf16>, tensor<24x40x3x3xf16>) -> tensor<2x24x9x7xf16>
  %2:2 = graph.split %1, %sizes {axis = 1 : i64} : (tensor<2x24x9x7xf16>, tensor<2xi64>) -> (tensor<2x8x9x7xf16>, tensor<2x16x9x7xf16>)
  %3 = graph.conv %2#0, %v : (tensor<2x8x9x7xf16>, tensor<8x8x1x1xf16>) -> tensor<2x8x9x7xf16>
  %4 = graph.conv %2#1, %t : (tensor<2x16x9x7xf16>, tensor<8x16x1x1xf16>) -> tensor<2x8x9x7xf16>
  return %3, %4 : tensor<2x8x9x7xf16>, tensor<2x8x9x7xf16>
}

// -----

// Gradients of weights take what others have with channels last, of the image,
// of the result, or of both, and give weights as they were.
// CHECK-LABEL: func.func @gradients
// CHECK: %[[Y:.*]] = graph.conv {{.*}} -> tensor<2x1x9x7x32xf16>
// CHECK: %[[Z:.*]] = graph.conv %[[Y]], {{.*}} -> tensor<2x1x9x7x8xf16>
// CHECK: graph.conv_weight_gradient %[[Y]], %[[Z]] {{.*}} : (tensor<2x1x9x7x32xf16>, tensor<2x1x9x7x8xf16>) -> tensor<8x32x1x1xf16>
// CHECK: graph.conv_weight_gradient %{{.*}}, %[[Y]] {{.*}} : (tensor<2x3x9x7xf16>, tensor<2x1x9x7x32xf16>) -> tensor<32x3x3x3xf16>
func.func @gradients(%x: tensor<2x16x9x7xf16>, %w: tensor<32x16x3x3xf16>, %v: tensor<8x32x1x1xf16>, %u: tensor<16x8x3x3xf16>, %g: tensor<2x3x9x7xf16>) -> (tensor<2x16x7x5xf16>, tensor<8x32x1x1xf16>, tensor<32x3x3x3xf16>) {
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<2x16x9x7xf16>, tensor<32x16x3x3xf16>) -> tensor<2x32x9x7xf16>
  %1 = graph.conv %0, %v : (tensor<2x32x9x7xf16>, tensor<8x32x1x1xf16>) -> tensor<2x8x9x7xf16>
  %2 = graph.conv_weight_gradient %0, %1 {kernel_shape = array<i64: 1, 1>} : (tensor<2x32x9x7xf16>, tensor<2x8x9x7xf16>) -> tensor<8x32x1x1xf16>
  %3 = graph.conv_weight_gradient %g, %0 {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<2x3x9x7xf16>, tensor<2x32x9x7xf16>) -> tensor<32x3x3x3xf16>
  %4 = graph.conv %1, %u : (tensor<2x8x9x7xf16>, tensor<16x8x3x3xf16>) -> tensor<2x16x7x5xf16>
  return %4, %2, %3 : tensor<2x16x7x5xf16>, tensor<8x32x1x1xf16>, tensor<32x3x3x3xf16>
}

// -----

// Those of groups stay as they are.
// CHECK-LABEL: func.func @gradient_of_groups
// CHECK: graph.conv_weight_gradient {{.*}} : (tensor<2x32x9x7xf16>, tensor<2x8x9x7xf16>) -> tensor<8x16x1x1xf16>
func.func @gradient_of_groups(%x: tensor<2x16x9x7xf16>, %w: tensor<32x16x3x3xf16>, %g: tensor<2x8x9x7xf16>) -> tensor<8x16x1x1xf16> {
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<2x16x9x7xf16>, tensor<32x16x3x3xf16>) -> tensor<2x32x9x7xf16>
  %1 = graph.conv_weight_gradient %0, %g {kernel_shape = array<i64: 1, 1>, group = 2 : i64} : (tensor<2x32x9x7xf16>, tensor<2x8x9x7xf16>) -> tensor<8x16x1x1xf16>
  return %1 : tensor<8x16x1x1xf16>
}

// -----

// Integers that code is generated for stay as they are.
// CHECK-LABEL: func.func @integers
// CHECK: graph.integer_conv {{.*}} : (tensor<2x16x9x7xui8>, {{.*}}) -> tensor<2x8x9x7xi32>
func.func @integers(%x: tensor<2x16x9x7xf16>, %w: tensor<32x16x3x3xf16>, %v: tensor<8x32x1x1xf16>, %b: tensor<2x16x9x7xui8>, %t: tensor<8x16x1x1xi8>, %z: tensor<ui8>, %i: tensor<i8>) -> (tensor<2x8x9x7xf16>, tensor<2x8x9x7xi32>) {
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<2x16x9x7xf16>, tensor<32x16x3x3xf16>) -> tensor<2x32x9x7xf16>
  %1 = graph.conv %0, %v : (tensor<2x32x9x7xf16>, tensor<8x32x1x1xf16>) -> tensor<2x8x9x7xf16>
  %2 = graph.integer_conv %b, %t, %z, %i : (tensor<2x16x9x7xui8>, tensor<8x16x1x1xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x8x9x7xi32>
  return %1, %2 : tensor<2x8x9x7xf16>, tensor<2x8x9x7xi32>
}
