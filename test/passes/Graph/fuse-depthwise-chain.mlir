// RUN: dlc-opt %s --graph-fuse-operators | FileCheck %s
// RUN: dlc-opt %s --graph-fuse-operators --convert-graph-to-kernel --convert-kernel-to-call | FileCheck %s --check-prefix=CALL
// A depthwise convolution is one kernel with the one in front of it and the one
// of single pixels behind it.

// With a residual, which is also what the chain reads: the result cannot take
// its memory.
// CHECK-LABEL: func.func @inverted_residual
// CALL: kernel.library {{.*}} "cpu.depthwise_chain" {activation = "relu", channel_block = 16 : i64, front_activation = "clamp", front_alpha = 0.000000e+00 : f64, front_beta = 6.000000e+00 : f64, packed_shape = array<i64: 192, 32, 1, 1>, packed_shape_3 = array<i64: 192, 1, 3, 3>, packed_shape_5 = array<i64: 32, 192, 1, 1>, packed_w = 1 : i64, pads = array<i64: 1, 1, 1, 1>} workspace({{[0-9]+}})
// CALL-SAME: note("library kernel for a depthwise convolution and its neighbours")
// CALL-SAME: (tensor<1x2x28x28x16xf32>, tensor<6144xf32>, none, tensor<1728xf32>, tensor<192xf32>, tensor<6144xf32>, none, tensor<1x2x28x28x16xf32>) -> tensor<1x2x28x28x16xf32>
func.func @inverted_residual(%x: tensor<1x2x28x28x16xf32>) -> tensor<1x2x28x28x16xf32> {
  // CHECK: graph.fusion
  // CHECK: graph.conv
  // CHECK-NEXT: graph.clamp
  // CHECK-NEXT: graph.conv
  // CHECK-NEXT: graph.relu
  // CHECK-NEXT: graph.conv
  // CHECK-NEXT: graph.add
  // CHECK-NEXT: graph.yield
  %w0 = graph.constant dense<0.1> : tensor<192x32x1x1xf32>
  %w1 = graph.constant dense<0.2> : tensor<192x1x3x3xf32>
  %b1 = graph.constant dense<0.5> : tensor<192xf32>
  %w2 = graph.constant dense<0.3> : tensor<32x192x1x1xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %six = graph.constant dense<6.0> : tensor<f32>
  %0 = graph.conv %x, %w0 {channel_block = 16 : i64} : (tensor<1x2x28x28x16xf32>, tensor<192x32x1x1xf32>) -> tensor<1x12x28x28x16xf32>
  %1 = graph.clamp %0, %zero, %six : (tensor<1x12x28x28x16xf32>, tensor<f32>, tensor<f32>) -> tensor<1x12x28x28x16xf32>
  %2 = graph.conv %1, %w1, %b1 {channel_block = 16 : i64, group = 192 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x12x28x28x16xf32>, tensor<192x1x3x3xf32>, tensor<192xf32>) -> tensor<1x12x28x28x16xf32>
  %3 = graph.relu %2 : tensor<1x12x28x28x16xf32>
  %4 = graph.conv %3, %w2 {channel_block = 16 : i64} : (tensor<1x12x28x28x16xf32>, tensor<32x192x1x1xf32>) -> tensor<1x2x28x28x16xf32>
  %5 = graph.add %4, %x : tensor<1x2x28x28x16xf32>
  return %5 : tensor<1x2x28x28x16xf32>
}

// Plain tensors around it: what is between is in blocks all the same. Another
// residual may give its memory away.
// CHECK-LABEL: func.func @plain_ends
// CALL: kernel.library {{.*}} "cpu.depthwise_chain" {front_activation = "relu", front_pads = array<i64: 1, 1, 1, 1>, front_strides = array<i64: 2, 2>, last_activation = "relu", {{.*}}packed_w = 1 : i64, pads = array<i64: 1, 1, 1, 1>} workspace({{[0-9]+}}) inPlace({{\[7, 0\]}})
// CALL-SAME: (tensor<1x3x224x224xf32>, {{.*}}, tensor<1x24x112x112xf32>) -> tensor<1x24x112x112xf32>
func.func @plain_ends(%x: tensor<1x3x224x224xf32>, %r: tensor<1x24x112x112xf32>) -> tensor<1x24x112x112xf32> {
  // CHECK: graph.fusion
  // CHECK: graph.conv
  // CHECK: graph.conv
  // CHECK: graph.conv
  // CHECK-NEXT: graph.add
  // CHECK-NEXT: graph.relu
  // CHECK-NEXT: graph.yield
  %w0 = graph.constant dense<0.1> : tensor<32x3x3x3xf32>
  %w1 = graph.constant dense<0.2> : tensor<32x1x3x3xf32>
  %w2 = graph.constant dense<0.3> : tensor<24x32x1x1xf32>
  %0 = graph.conv %x, %w0 {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x224x224xf32>, tensor<32x3x3x3xf32>) -> tensor<1x32x112x112xf32>
  %1 = graph.relu %0 : tensor<1x32x112x112xf32>
  %2 = graph.conv %1, %w1 {group = 32 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x112x112xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x112x112xf32>
  %3 = graph.conv %2, %w2 : (tensor<1x32x112x112xf32>, tensor<24x32x1x1xf32>) -> tensor<1x24x112x112xf32>
  %4 = graph.add %3, %r : tensor<1x24x112x112xf32>
  %5 = graph.relu %4 : tensor<1x24x112x112xf32>
  return %5 : tensor<1x24x112x112xf32>
}

// MobileNet's first kind: no convolution in front.
// CHECK-LABEL: func.func @separable
// CALL: kernel.library {{.*}} "cpu.depthwise_chain" {activation = "relu", channel_block = 16 : i64, last_activation = "relu", packed_shape_3 = array<i64: 128, 1, 3, 3>, packed_shape_5 = array<i64: 128, 128, 1, 1>, packed_w = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
// CALL-SAME: (tensor<1x8x112x112x16xf32>, none, none, tensor<1152xf32>, none, tensor<16384xf32>) -> tensor<1x8x56x56x16xf32>
func.func @separable(%x: tensor<1x8x112x112x16xf32>) -> tensor<1x8x56x56x16xf32> {
  %w1 = graph.constant dense<0.2> : tensor<128x1x3x3xf32>
  %w2 = graph.constant dense<0.3> : tensor<128x128x1x1xf32>
  %0 = graph.conv %x, %w1 {channel_block = 16 : i64, group = 128 : i64, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x112x112x16xf32>, tensor<128x1x3x3xf32>) -> tensor<1x8x56x56x16xf32>
  %1 = graph.relu %0 : tensor<1x8x56x56x16xf32>
  %2 = graph.conv %1, %w2 {channel_block = 16 : i64} : (tensor<1x8x56x56x16xf32>, tensor<128x128x1x1xf32>) -> tensor<1x8x56x56x16xf32>
  %3 = graph.relu %2 : tensor<1x8x56x56x16xf32>
  return %3 : tensor<1x8x56x56x16xf32>
}

// EfficientNet's: what follows reads the depthwise one twice, and is no part.
// CHECK-LABEL: func.func @read_twice
// CALL: kernel.library {{.*}} "cpu.depthwise_chain" {activation = "silu", channel_block = 16 : i64, front_activation = "silu",
// CALL-SAME: -> tensor<1x4x112x112x16xf32>
func.func @read_twice(%x: tensor<1x1x112x112x16xf32>) -> (tensor<1x4x112x112x16xf32>, tensor<1x1x112x112x16xf32>) {
  // CHECK: graph.fusion
  // CHECK: graph.conv
  // CHECK-NEXT: graph.silu
  // CHECK-NEXT: graph.conv
  // CHECK-NEXT: graph.silu
  // CHECK-NEXT: graph.yield
  %w0 = graph.constant dense<0.1> : tensor<64x16x1x1xf32>
  %w1 = graph.constant dense<0.2> : tensor<64x1x5x5xf32>
  %w2 = graph.constant dense<0.3> : tensor<16x64x1x1xf32>
  %0 = graph.conv %x, %w0 {channel_block = 16 : i64} : (tensor<1x1x112x112x16xf32>, tensor<64x16x1x1xf32>) -> tensor<1x4x112x112x16xf32>
  %1 = graph.silu %0 : tensor<1x4x112x112x16xf32>
  %2 = graph.conv %1, %w1 {channel_block = 16 : i64, group = 64 : i64, pads = array<i64: 2, 2, 2, 2>} : (tensor<1x4x112x112x16xf32>, tensor<64x1x5x5xf32>) -> tensor<1x4x112x112x16xf32>
  %3 = graph.silu %2 : tensor<1x4x112x112x16xf32>
  %4 = graph.conv %3, %w2 {channel_block = 16 : i64} : (tensor<1x4x112x112x16xf32>, tensor<16x64x1x1xf32>) -> tensor<1x1x112x112x16xf32>
  return %3, %4 : tensor<1x4x112x112x16xf32>, tensor<1x1x112x112x16xf32>
}

// What is between them stays in caches anyhow: nothing is gained.
// CHECK-LABEL: func.func @small
func.func @small(%x: tensor<1x4x14x14x16xf32>) -> tensor<1x4x14x14x16xf32> {
  // CHECK: graph.conv
  // CHECK-NEXT: graph.conv
  // CHECK-NEXT: graph.conv
  // CHECK-NEXT: return
  %w0 = graph.constant dense<0.1> : tensor<384x64x1x1xf32>
  %w1 = graph.constant dense<0.2> : tensor<384x1x3x3xf32>
  %w2 = graph.constant dense<0.3> : tensor<64x384x1x1xf32>
  %0 = graph.conv %x, %w0 {channel_block = 16 : i64} : (tensor<1x4x14x14x16xf32>, tensor<384x64x1x1xf32>) -> tensor<1x24x14x14x16xf32>
  %1 = graph.conv %0, %w1 {channel_block = 16 : i64, group = 384 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x24x14x14x16xf32>, tensor<384x1x3x3xf32>) -> tensor<1x24x14x14x16xf32>
  %2 = graph.conv %1, %w2 {channel_block = 16 : i64} : (tensor<1x24x14x14x16xf32>, tensor<64x384x1x1xf32>) -> tensor<1x4x14x14x16xf32>
  return %2 : tensor<1x4x14x14x16xf32>
}

// Apart: weights that are trained, something else in between, and no blocks.
// CHECK-LABEL: func.func @apart
// CALL-NOT: depthwise_chain
func.func @apart(%x: tensor<1x1x99x99x16xf32>, %w: tensor<16x1x3x3xf32>, %y: tensor<1x20x99x99xf32>) -> (tensor<1x1x99x99x16xf32>, tensor<1x1x99x99x16xf32>, tensor<1x20x99x99xf32>) {
  // CHECK-NOT: graph.fusion
  %w0 = graph.constant dense<0.1> : tensor<16x16x1x1xf32>
  %w1 = graph.constant dense<0.2> : tensor<16x1x3x3xf32>
  %0 = graph.conv %x, %w {channel_block = 16 : i64, group = 16 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x99x99x16xf32>, tensor<16x1x3x3xf32>) -> tensor<1x1x99x99x16xf32>
  %1 = graph.conv %0, %w0 {channel_block = 16 : i64} : (tensor<1x1x99x99x16xf32>, tensor<16x16x1x1xf32>) -> tensor<1x1x99x99x16xf32>
  %2 = graph.conv %x, %w1 {channel_block = 16 : i64, group = 16 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x99x99x16xf32>, tensor<16x1x3x3xf32>) -> tensor<1x1x99x99x16xf32>
  %3 = graph.exp %2 : tensor<1x1x99x99x16xf32>
  %4 = graph.conv %3, %w0 {channel_block = 16 : i64} : (tensor<1x1x99x99x16xf32>, tensor<16x16x1x1xf32>) -> tensor<1x1x99x99x16xf32>
  %v0 = graph.constant dense<0.1> : tensor<20x20x1x1xf32>
  %v1 = graph.constant dense<0.2> : tensor<20x1x3x3xf32>
  %5 = graph.conv %y, %v0 : (tensor<1x20x99x99xf32>, tensor<20x20x1x1xf32>) -> tensor<1x20x99x99xf32>
  %6 = graph.conv %5, %v1 {group = 20 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x20x99x99xf32>, tensor<20x1x3x3xf32>) -> tensor<1x20x99x99xf32>
  return %1, %4, %6 : tensor<1x1x99x99x16xf32>, tensor<1x1x99x99x16xf32>, tensor<1x20x99x99xf32>
}

// Single pixels in steps, with padding, are others, though extents stay.
// CHECK-LABEL: func.func @steps
// CALL-NOT: depthwise_chain
func.func @steps(%x: tensor<1x1x99x99x16xf32>) -> tensor<1x1x99x99x16xf32> {
  // CHECK-NOT: graph.fusion
  %w0 = graph.constant dense<0.1> : tensor<16x16x1x1xf32>
  %w1 = graph.constant dense<0.2> : tensor<16x1x3x3xf32>
  %0 = graph.conv %x, %w1 {channel_block = 16 : i64, group = 16 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x99x99x16xf32>, tensor<16x1x3x3xf32>) -> tensor<1x1x99x99x16xf32>
  %1 = graph.conv %0, %w0 {channel_block = 16 : i64, pads = array<i64: 49, 49, 49, 49>, strides = array<i64: 2, 2>} : (tensor<1x1x99x99x16xf32>, tensor<16x16x1x1xf32>) -> tensor<1x1x99x99x16xf32>
  return %1 : tensor<1x1x99x99x16xf32>
}
