// RUN: dlc-opt %s --split-input-file --graph-alter-layout=channel-block=16 --graph-fold-constants --canonicalize | FileCheck %s
// RUN: dlc-opt %s --split-input-file --graph-alter-layout=channel-block=16 --remarks-filter=graph-alter-layout -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: dlc-opt %s --split-input-file --verify-numerics --graph-alter-layout=channel-block=16 -o /dev/null
// RUN: dlc-opt %s --split-input-file --graph-alter-layout | FileCheck %s --check-prefix=PLAIN
// RUN: dlc-opt %s --split-input-file --graph-alter-layout='channel-block=16 plain-gradients=true' | FileCheck %s --check-prefix=GRADIENTS
// Channels in blocks, where convolutions gain by them.
// PLAIN-NOT: channel_block

// Only the ends are converted.

// REMARK: 2 convolutions compute in blocks of 16 channels; 2 values, 401408 bytes, go into blocks or out of them
// CHECK-LABEL: func @residual
// CHECK: %[[S:.*]] = graph.reshape %arg0, %{{.*}} -> tensor<1x16x16x14x14xf32>
// CHECK: %[[X:.*]] = graph.transpose %[[S]] {perm = array<i64: 0, 1, 3, 4, 2>} : (tensor<1x16x16x14x14xf32>) -> tensor<1x16x14x14x16xf32>
// CHECK: %[[A:.*]] = graph.conv %[[X]], {{.*}} {channel_block = 16 : i64, {{.*}} -> tensor<1x16x14x14x16xf32>
// CHECK: %[[R:.*]] = graph.relu %[[A]] : tensor<1x16x14x14x16xf32>
// CHECK: %[[B:.*]] = graph.conv %[[R]], {{.*}} {channel_block = 16 : i64, {{.*}} -> tensor<1x16x14x14x16xf32>
// CHECK: %[[Y:.*]] = graph.add %[[B]], %[[X]] : tensor<1x16x14x14x16xf32>
// CHECK: %[[Z:.*]] = graph.relu %[[Y]] : tensor<1x16x14x14x16xf32>
// CHECK: %[[T:.*]] = graph.transpose %[[Z]] {perm = array<i64: 0, 1, 4, 2, 3>}
// CHECK: %[[P:.*]] = graph.reshape %[[T]], %{{.*}} -> tensor<1x256x14x14xf32>
// CHECK-NEXT: return %[[P]]
func.func @residual(%x: tensor<1x256x14x14xf32>) -> tensor<1x256x14x14xf32> {
  %w = graph.constant dense<0.01> : tensor<256x256x3x3xf32>
  %b = graph.constant dense<0.1> : tensor<256xf32>
  %0 = graph.conv %x, %w, %b {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x256x14x14xf32>, tensor<256x256x3x3xf32>, tensor<256xf32>) -> tensor<1x256x14x14xf32>
  %1 = graph.relu %0 : tensor<1x256x14x14xf32>
  %2 = graph.conv %1, %w, %b {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x256x14x14xf32>, tensor<256x256x3x3xf32>, tensor<256xf32>) -> tensor<1x256x14x14xf32>
  %3 = graph.add %2, %x : tensor<1x256x14x14xf32>
  %4 = graph.relu %3 : tensor<1x256x14x14xf32>
  return %4 : tensor<1x256x14x14xf32>
}

// -----

// The first layer reads plain channels. Windows get a dimension of their own
// for blocks; what is left of the image is a vector without any copy.

// CHECK-LABEL: func @tail
// CHECK-NOT: graph.transpose
// CHECK: graph.conv %arg0, {{.*}}channel_block = 16 : i64{{.*}} -> tensor<1x4x56x56x16xf32>
// CHECK: graph.max_pool {{.*}} {{{.*}}kernel_shape = array<i64: 3, 3, 1>, pads = array<i64: 1, 1, 0, 1, 1, 0>, strides = array<i64: 2, 2, 1>} : (tensor<1x4x56x56x16xf32>) -> tensor<1x4x28x28x16xf32>
// CHECK: graph.avg_pool {{.*}} {count_include_pad = true, kernel_shape = array<i64: 2, 2, 1>, pads = array<i64: 1, 1, 0, 0, 0, 0>} : {{.*}} -> tensor<1x4x28x28x16xf32>
// CHECK: graph.conv {{.*}}channel_block = 16 : i64{{.*}} -> tensor<1x8x28x28x16xf32>
// CHECK: %[[M:.*]] = graph.reduce_mean {{.*}} -> tensor<1x8x1x1x16xf32>
// CHECK: %[[F:.*]] = graph.reshape %[[M]], %{{.*}} -> tensor<1x128xf32>
// CHECK: graph.matmul %[[F]]
// CHECK-NOT: graph.transpose
func.func @tail(%x: tensor<1x3x112x112xf32>) -> tensor<1x10xf32> {
  %w = graph.constant dense<0.01> : tensor<64x3x7x7xf32>
  %v = graph.constant dense<0.02> : tensor<128x64x3x3xf32>
  %m = graph.constant dense<0.03> : tensor<128x10xf32>
  %axes = graph.constant dense<[-1, 2]> : tensor<2xi64>
  %flat = graph.constant dense<[1, -1]> : tensor<2xi64>
  %0 = graph.conv %x, %w {pads = array<i64: 3, 3, 3, 3>, strides = array<i64: 2, 2>} : (tensor<1x3x112x112xf32>, tensor<64x3x7x7xf32>) -> tensor<1x64x56x56xf32>
  %1 = graph.max_pool %0 {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x64x56x56xf32>) -> tensor<1x64x28x28xf32>
  %2 = graph.avg_pool %1 {count_include_pad = true, kernel_shape = array<i64: 2, 2>, pads = array<i64: 1, 1, 0, 0>} : (tensor<1x64x28x28xf32>) -> tensor<1x64x28x28xf32>
  %3 = graph.conv %2, %v {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x28x28xf32>, tensor<128x64x3x3xf32>) -> tensor<1x128x28x28xf32>
  %4 = graph.reduce_mean %3, %axes : (tensor<1x128x28x28xf32>, tensor<2xi64>) -> tensor<1x128x1x1xf32>
  %5 = graph.reshape %4, %flat : (tensor<1x128x1x1xf32>, tensor<2xi64>) -> tensor<1x128xf32>
  %6 = graph.matmul %5, %m : (tensor<1x128xf32>, tensor<128x10xf32>) -> tensor<1x10xf32>
  return %6 : tensor<1x10xf32>
}

// -----

// The same without dimensions to keep.

// CHECK-LABEL: func @reduced
// CHECK: %[[M:.*]] = graph.reduce_max {{.*}} {keepdims = false} : {{.*}} -> tensor<2x4x16xf32>
// CHECK: %[[F:.*]] = graph.reshape %[[M]], %{{.*}} -> tensor<2x64xf32>
// CHECK-NEXT: return %[[F]]
func.func @reduced(%x: tensor<2x3x56x56xf32>) -> tensor<2x64xf32> {
  %w = graph.constant dense<0.01> : tensor<64x3x3x3xf32>
  %v = graph.constant dense<0.01> : tensor<64x64x3x3xf32>
  %axes = graph.constant dense<[3, 2]> : tensor<2xi64>
  %0 = graph.conv %x, %w : (tensor<2x3x56x56xf32>, tensor<64x3x3x3xf32>) -> tensor<2x64x54x54xf32>
  %1 = graph.conv %0, %v : (tensor<2x64x54x54xf32>, tensor<64x64x3x3xf32>) -> tensor<2x64x52x52xf32>
  %2 = graph.reduce_max %1, %axes {keepdims = false} : (tensor<2x64x52x52xf32>, tensor<2xi64>) -> tensor<2x64xf32>
  return %2 : tensor<2x64xf32>
}

// -----

// Concatenation and parts along channels, padding and sampling along the
// others; depthwise convolutions; factors for each channel, image or place.

// CHECK-LABEL: func @between
// CHECK-NOT: graph.transpose
// CHECK: %[[P:.*]]:2 = graph.split {{.*}} {axis = 1 : i64} : {{.*}} -> (tensor<1x2x56x56x16xf32>, tensor<1x4x56x56x16xf32>)
// CHECK: graph.concat %[[P]]#1, {{.*}} {axis = 1 : i64} : {{.*}} -> tensor<1x8x56x56x16xf32>
// CHECK: graph.conv {{.*}}group = 128 : i64{{.*}} -> tensor<1x8x56x56x16xf32>
// CHECK: graph.mul {{.*}} : (tensor<1x8x56x56x16xf32>, tensor<1x8x1x1x16xf32>)
// CHECK: graph.mul {{.*}} : (tensor<1x8x56x56x16xf32>, tensor<1x1x56x1x1xf32>)
// CHECK: graph.mul {{.*}} : (tensor<1x8x56x56x16xf32>, tensor<f32>)
// CHECK: graph.pad {{.*}} -> tensor<1x8x58x56x16xf32>
// CHECK: graph.slice {{.*}} -> tensor<1x8x28x56x16xf32>
// CHECK: graph.resize {{.*}} {axes = array<i64: 2, 3>{{.*}} -> tensor<1x8x56x112x16xf32>
// CHECK: graph.conv
func.func @between(%x: tensor<1x3x56x56xf32>) -> tensor<1x16xf32> {
  %w = graph.constant dense<0.01> : tensor<96x3x3x3xf32>
  %d = graph.constant dense<0.02> : tensor<128x1x3x3xf32>
  %v = graph.constant dense<0.03> : tensor<16x128x3x3xf32>
  %c = graph.constant dense<0.5> : tensor<128x1x1xf32>
  %h = graph.constant dense<0.7> : tensor<56x1xf32>
  %s = graph.constant dense<0.9> : tensor<f32>
  %sizes = graph.constant dense<[32, 64]> : tensor<2xi64>
  %pads = graph.constant dense<[1, 1]> : tensor<2xi64>
  %two = graph.constant dense<-2> : tensor<1xi64>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %i0 = graph.constant dense<0> : tensor<1xi64>
  %i28 = graph.constant dense<28> : tensor<1xi64>
  %i1 = graph.constant dense<1> : tensor<1xi64>
  %twice = graph.constant dense<2.0> : tensor<2xf32>
  %axes = graph.constant dense<[2, 3]> : tensor<2xi64>
  %none = graph.none : none
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x56x56xf32>, tensor<96x3x3x3xf32>) -> tensor<1x96x56x56xf32>
  %1:2 = graph.split %0, %sizes {axis = -3 : i64} : (tensor<1x96x56x56xf32>, tensor<2xi64>) -> (tensor<1x32x56x56xf32>, tensor<1x64x56x56xf32>)
  %2 = graph.concat %1#1, %1#0, %1#0 {axis = 1 : i64} : (tensor<1x64x56x56xf32>, tensor<1x32x56x56xf32>, tensor<1x32x56x56xf32>) -> tensor<1x128x56x56xf32>
  %3 = graph.conv %2, %d {group = 128 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x128x56x56xf32>, tensor<128x1x3x3xf32>) -> tensor<1x128x56x56xf32>
  %4 = graph.mul %3, %c : (tensor<1x128x56x56xf32>, tensor<128x1x1xf32>) -> tensor<1x128x56x56xf32>
  %5 = graph.mul %4, %h : (tensor<1x128x56x56xf32>, tensor<56x1xf32>) -> tensor<1x128x56x56xf32>
  %6 = graph.mul %5, %s : (tensor<1x128x56x56xf32>, tensor<f32>) -> tensor<1x128x56x56xf32>
  %7 = graph.pad %6, %pads, %zero, %two : (tensor<1x128x56x56xf32>, tensor<2xi64>, tensor<f32>, tensor<1xi64>) -> tensor<1x128x58x56xf32>
  %8 = graph.slice %7, %i0, %i28, %two, %i1 : (tensor<1x128x58x56xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x128x28x56xf32>
  %9 = graph.resize %8, %none, %twice, %none {axes = array<i64: -2, -1>} : (tensor<1x128x28x56xf32>, none, tensor<2xf32>, none) -> tensor<1x128x56x112xf32>
  %10 = graph.conv %9, %v : (tensor<1x128x56x112xf32>, tensor<16x128x3x3xf32>) -> tensor<1x16x54x110xf32>
  %y = graph.reduce_max %10, %axes {keepdims = false} : (tensor<1x16x54x110xf32>, tensor<2xi64>) -> tensor<1x16xf32>
  return %y : tensor<1x16xf32>
}

// -----

// Another order of dimensions goes into blocks, and out of them, in one step.

// CHECK-LABEL: func @channels_last
// CHECK: graph.reshape %arg0, %{{.*}} -> tensor<1x14x14x16x16xf32>
// CHECK-NEXT: graph.transpose %{{.*}} {perm = array<i64: 0, 3, 1, 2, 4>}
// CHECK-NEXT: graph.conv
// CHECK-NEXT: graph.transpose %{{.*}} {perm = array<i64: 0, 2, 3, 1, 4>}
// CHECK-NEXT: graph.reshape
// CHECK-NEXT: return
func.func @channels_last(%x: tensor<1x14x14x256xf32>) -> tensor<1x14x14x256xf32> {
  %w = graph.constant dense<0.01> : tensor<256x256x3x3xf32>
  %0 = graph.transpose %x {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x14x14x256xf32>) -> tensor<1x256x14x14xf32>
  %1 = graph.conv %0, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x256x14x14xf32>, tensor<256x256x3x3xf32>) -> tensor<1x256x14x14xf32>
  %2 = graph.transpose %1 {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x256x14x14xf32>) -> tensor<1x14x14x256xf32>
  return %2 : tensor<1x14x14x256xf32>
}

// -----

// What needs plain channels in the middle gets them.

// CHECK-LABEL: func @plain_in_the_middle
// CHECK: %[[A:.*]] = graph.conv %{{.*}} -> tensor<1x16x14x14x16xf32>
// CHECK: %[[T:.*]] = graph.transpose %[[A]]
// CHECK: %[[P:.*]] = graph.reshape %[[T]]
// CHECK: graph.cumsum %[[P]], {{.*}} : (tensor<1x256x14x14xf32>
// CHECK: graph.conv {{.*}} -> tensor<1x16x14x14x16xf32>
func.func @plain_in_the_middle(%x: tensor<1x256x14x14xf32>) -> tensor<1x256x14x14xf32> {
  %w = graph.constant dense<0.01> : tensor<256x256x3x3xf32>
  %one = graph.constant dense<1> : tensor<i64>
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x256x14x14xf32>, tensor<256x256x3x3xf32>) -> tensor<1x256x14x14xf32>
  %1 = graph.cumsum %0, %one : (tensor<1x256x14x14xf32>, tensor<i64>) -> tensor<1x256x14x14xf32>
  %2 = graph.conv %1, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x256x14x14xf32>, tensor<256x256x3x3xf32>) -> tensor<1x256x14x14xf32>
  return %2 : tensor<1x256x14x14xf32>
}

// -----

// Nothing changes: channels that are no multiple of a block, an extent that is
// not known, another element type, no convolution at all.

// CHECK-LABEL: func @odd
// CHECK-NOT: channel_block
func.func @odd(%x: tensor<1x24x56x56xf32>, %y: tensor<?x64x56x56xf32>, %z: tensor<1x64x56x56xf64>) -> (tensor<1x24x54x54xf32>, tensor<?x64x54x54xf32>, tensor<1x64x54x54xf64>) {
  %u = graph.constant dense<0.01> : tensor<24x24x3x3xf32>
  %v = graph.constant dense<0.01> : tensor<64x64x3x3xf32>
  %w = graph.constant dense<0.01> : tensor<64x64x3x3xf64>
  %0 = graph.conv %x, %u : (tensor<1x24x56x56xf32>, tensor<24x24x3x3xf32>) -> tensor<1x24x54x54xf32>
  %1 = graph.conv %y, %v : (tensor<?x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<?x64x54x54xf32>
  %2 = graph.conv %z, %w : (tensor<1x64x56x56xf64>, tensor<64x64x3x3xf64>) -> tensor<1x64x54x54xf64>
  return %0, %1, %2 : tensor<1x24x54x54xf32>, tensor<?x64x54x54xf32>, tensor<1x64x54x54xf64>
}

// -----

// CHECK-LABEL: func @no_convolution
// CHECK-NEXT: graph.relu %arg0 : tensor<1x64x56x56xf32>
// CHECK-NEXT: return
func.func @no_convolution(%x: tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32> {
  %y = graph.relu %x : tensor<1x64x56x56xf32>
  return %y : tensor<1x64x56x56xf32>
}

// -----

// Two conversions for a convolution that hardly computes: not worth it.

// CHECK-LABEL: func @not_worth_it
// CHECK-NOT: channel_block
func.func @not_worth_it(%x: tensor<1x16x112x112xf32>) -> tensor<1x16x112x112xf32> {
  %w = graph.constant dense<0.01> : tensor<16x16x1x1xf32>
  %y = graph.conv %x, %w : (tensor<1x16x112x112xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x112x112xf32>
  return %y : tensor<1x16x112x112xf32>
}

// -----

// The gradient of weights takes blocks, beside that of the image: no plain copy
// of the image or of the gradient is left.

// CHECK-LABEL: func @weight_gradient
// CHECK: %[[R:.*]] = graph.relu %{{.*}} : tensor<8x4x28x28x16xf32>
// CHECK: %[[G:.*]] = graph.mul %{{.*}} : tensor<8x4x28x28x16xf32>
// CHECK-NOT: graph.transpose
// CHECK: graph.conv_weight_gradient %[[R]], %[[G]] {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<8x4x28x28x16xf32>, tensor<8x4x28x28x16xf32>) -> tensor<64x64x3x3xf32>
// CHECK: graph.conv %[[G]]
// GRADIENTS-LABEL: func @weight_gradient
// GRADIENTS: graph.conv_weight_gradient {{.*}} : (tensor<8x64x28x28xf32>, tensor<8x64x28x28xf32>) -> tensor<64x64x3x3xf32>
func.func @weight_gradient(%x: tensor<8x64x28x28xf32>, %u: tensor<64x64x3x3xf32>, %v: tensor<64x64x3x3xf32>) -> (tensor<64x64x3x3xf32>, tensor<8x64x28x28xf32>) {
  %0 = graph.conv %x, %u {pads = array<i64: 1, 1, 1, 1>} : (tensor<8x64x28x28xf32>, tensor<64x64x3x3xf32>) -> tensor<8x64x28x28xf32>
  %1 = graph.relu %0 : tensor<8x64x28x28xf32>
  %2 = graph.conv %1, %v {pads = array<i64: 1, 1, 1, 1>} : (tensor<8x64x28x28xf32>, tensor<64x64x3x3xf32>) -> tensor<8x64x28x28xf32>
  %3 = graph.mul %2, %2 : tensor<8x64x28x28xf32>
  %4 = graph.conv_weight_gradient %1, %3 {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<8x64x28x28xf32>, tensor<8x64x28x28xf32>) -> tensor<64x64x3x3xf32>
  %5 = graph.conv %3, %v {pads = array<i64: 1, 1, 1, 1>} : (tensor<8x64x28x28xf32>, tensor<64x64x3x3xf32>) -> tensor<8x64x28x28xf32>
  return %4, %5 : tensor<64x64x3x3xf32>, tensor<8x64x28x28xf32>
}

// -----

// Both operands of one value, and a gradient whose channels cannot be in blocks.

// CHECK-LABEL: func @gradients_apart
// CHECK: graph.conv_weight_gradient %[[X:.*]], %[[X]] {{.*}} : (tensor<8x4x28x28x16xf32>, tensor<8x4x28x28x16xf32>) -> tensor<64x64x3x3xf32>
// CHECK: graph.conv_weight_gradient %arg0, %arg1 {{.*}} : (tensor<8x64x28x28xf32>, tensor<8x24x28x28xf32>) -> tensor<24x64x3x3xf32>
func.func @gradients_apart(%x: tensor<8x64x28x28xf32>, %g: tensor<8x24x28x28xf32>) -> (tensor<64x64x3x3xf32>, tensor<24x64x3x3xf32>) {
  %0 = graph.conv_weight_gradient %x, %x {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<8x64x28x28xf32>, tensor<8x64x28x28xf32>) -> tensor<64x64x3x3xf32>
  %1 = graph.conv_weight_gradient %x, %g {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<8x64x28x28xf32>, tensor<8x24x28x28xf32>) -> tensor<24x64x3x3xf32>
  return %0, %1 : tensor<64x64x3x3xf32>, tensor<24x64x3x3xf32>
}

// -----

// Gradients of pooling, and of the weights of a first layer, whose image stays
// plain.

// CHECK-LABEL: func @first_layer_gradient
// CHECK-NOT: graph.transpose
// CHECK: graph.max_pool_gradient {{.*}}kernel_shape = array<i64: 2, 2, 1>{{.*}} : (tensor<8x4x56x56x16xf32>, tensor<8x4x28x28x16xf32>) -> tensor<8x4x56x56x16xf32>
// CHECK-NOT: graph.transpose
// CHECK: graph.conv_weight_gradient %arg0, {{.*}} : (tensor<8x3x56x56xf32>, tensor<8x4x56x56x16xf32>) -> tensor<64x3x3x3xf32>
// CHECK-NEXT: return
func.func @first_layer_gradient(%x: tensor<8x3x56x56xf32>, %u: tensor<64x3x3x3xf32>, %v: tensor<64x64x3x3xf32>) -> tensor<64x3x3x3xf32> {
  %0 = graph.conv %x, %u {pads = array<i64: 1, 1, 1, 1>} : (tensor<8x3x56x56xf32>, tensor<64x3x3x3xf32>) -> tensor<8x64x56x56xf32>
  %1 = graph.conv %0, %v {pads = array<i64: 1, 1, 1, 1>} : (tensor<8x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<8x64x56x56xf32>
  %2 = graph.max_pool %1 {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<8x64x56x56xf32>) -> tensor<8x64x28x28xf32>
  %3 = graph.mul %2, %2 : tensor<8x64x28x28xf32>
  %4 = graph.max_pool_gradient %1, %3 {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<8x64x56x56xf32>, tensor<8x64x28x28xf32>) -> tensor<8x64x56x56xf32>
  %5 = graph.conv %4, %v {pads = array<i64: 1, 1, 1, 1>} : (tensor<8x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<8x64x56x56xf32>
  %6 = graph.conv_weight_gradient %x, %5 {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<8x3x56x56xf32>, tensor<8x64x56x56xf32>) -> tensor<64x3x3x3xf32>
  return %6 : tensor<64x3x3x3xf32>
}

// -----

// Single channels are not repeated here, as they are where tensors broadcast.
// CHECK-LABEL: @single_channels
// CHECK: graph.concat {{.*}} -> tensor<1x80x56x56xf32>
func.func @single_channels(%x: tensor<1x64x56x56xf32>, %a: tensor<1x1x56x56xf32>, %w: tensor<64x64x3x3xf32>, %v: tensor<64x80x3x3xf32>) -> tensor<1x64x54x54xf32> {
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
  %1 = graph.concat %0, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a {axis = 1 : i64} : (tensor<1x64x56x56xf32>, tensor<1x1x56x56xf32>, tensor<1x1x56x56xf32>, tensor<1x1x56x56xf32>, tensor<1x1x56x56xf32>, tensor<1x1x56x56xf32>, tensor<1x1x56x56xf32>, tensor<1x1x56x56xf32>, tensor<1x1x56x56xf32>, tensor<1x1x56x56xf32>, tensor<1x1x56x56xf32>, tensor<1x1x56x56xf32>, tensor<1x1x56x56xf32>, tensor<1x1x56x56xf32>, tensor<1x1x56x56xf32>, tensor<1x1x56x56xf32>, tensor<1x1x56x56xf32>) -> tensor<1x80x56x56xf32>
  %2 = graph.conv %1, %v : (tensor<1x80x56x56xf32>, tensor<64x80x3x3xf32>) -> tensor<1x64x54x54xf32>
  return %2 : tensor<1x64x54x54xf32>
}

// -----

// A step of training: statistics over the batch, masks and what is between the
// elements of a strided gradient are all in blocks; only the ends are converted,
// and weights are not.

// CHECK-LABEL: func @training
// CHECK: graph.transpose {{.*}} -> tensor<1x16x14x14x16xf32>
// CHECK-NOT: graph.transpose
// CHECK: graph.mul {{.*}} : tensor<256x256x1x3x1x3xf32>
// CHECK: %[[A:.*]] = graph.conv {{.*}} {channel_block = 16 : i64, {{.*}} -> tensor<1x16x14x14x16xf32>
// CHECK: %[[M:.*]] = graph.reduce_sum %[[A]], %{{.*}} {keepdims = false} : {{.*}} -> tensor<16x16xf32>
// CHECK: %[[V:.*]] = graph.reshape %[[M]], %{{.*}} -> tensor<1x16x1x1x16xf32>
// CHECK: %[[S:.*]] = graph.sub %[[A]], %[[V]]
// CHECK: %[[G:.*]] = graph.greater %[[S]], {{.*}} -> tensor<1x16x14x14x16xi1>
// CHECK: %[[R:.*]] = graph.select %[[G]], %[[S]]
// CHECK: %[[B:.*]] = graph.conv %[[R]], {{.*}} {channel_block = 16 : i64, {{.*}} -> tensor<1x16x14x14x16xf32>
// CHECK: graph.reshape %[[B]], %{{.*}} -> tensor<1x16x14x1x14x1x16xf32>
// CHECK: graph.pad {{.*}} -> tensor<1x16x14x2x14x2x16xf32>
// CHECK: %[[D:.*]] = graph.reshape {{.*}} -> tensor<1x16x28x28x16xf32>
// CHECK: graph.conv %[[D]], {{.*}} {channel_block = 16 : i64,
func.func @training(%x: tensor<1x256x14x14xf32>, %u: tensor<256x256x3x3xf32>) -> tensor<1x256x28x28xf32> {
  %w = graph.constant dense<0.01> : tensor<256x256x3x3xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %axes = graph.constant dense<[0, 2, 3]> : tensor<3xi64>
  %vector = graph.constant dense<[1, 256, 1, 1]> : tensor<4xi64>
  %apart = graph.constant dense<[1, 256, 14, 1, 14, 1]> : tensor<6xi64>
  %ends = graph.constant dense<[0, 0, 1, 1]> : tensor<4xi64>
  %remainders = graph.constant dense<[3, 5]> : tensor<2xi64>
  %large = graph.constant dense<[1, 256, 28, 28]> : tensor<4xi64>
  %taps = graph.constant dense<[256, 256, 1, 3, 1, 3]> : tensor<6xi64>
  %rows = graph.constant dense<[256, 256, 3, 3]> : tensor<4xi64>
  %v0 = graph.reshape %u, %taps : (tensor<256x256x3x3xf32>, tensor<6xi64>) -> tensor<256x256x1x3x1x3xf32>
  %v1 = graph.mul %v0, %v0 : tensor<256x256x1x3x1x3xf32>
  %v = graph.reshape %v1, %rows : (tensor<256x256x1x3x1x3xf32>, tensor<4xi64>) -> tensor<256x256x3x3xf32>
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x256x14x14xf32>, tensor<256x256x3x3xf32>) -> tensor<1x256x14x14xf32>
  %1 = graph.reduce_sum %0, %axes {keepdims = false} : (tensor<1x256x14x14xf32>, tensor<3xi64>) -> tensor<256xf32>
  %2 = graph.reshape %1, %vector : (tensor<256xf32>, tensor<4xi64>) -> tensor<1x256x1x1xf32>
  %4 = graph.sub %0, %2 : (tensor<1x256x14x14xf32>, tensor<1x256x1x1xf32>) -> tensor<1x256x14x14xf32>
  %5 = graph.greater %4, %zero : (tensor<1x256x14x14xf32>, tensor<f32>) -> tensor<1x256x14x14xi1>
  %6 = graph.select %5, %4, %zero : (tensor<1x256x14x14xi1>, tensor<1x256x14x14xf32>, tensor<f32>) -> tensor<1x256x14x14xf32>
  %7 = graph.conv %6, %v {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x256x14x14xf32>, tensor<256x256x3x3xf32>) -> tensor<1x256x14x14xf32>
  %8 = graph.reshape %7, %apart : (tensor<1x256x14x14xf32>, tensor<6xi64>) -> tensor<1x256x14x1x14x1xf32>
  %9 = graph.pad %8, %ends, %zero, %remainders : (tensor<1x256x14x1x14x1xf32>, tensor<4xi64>, tensor<f32>, tensor<2xi64>) -> tensor<1x256x14x2x14x2xf32>
  %10 = graph.reshape %9, %large : (tensor<1x256x14x2x14x2xf32>, tensor<4xi64>) -> tensor<1x256x28x28xf32>
  %11 = graph.conv %10, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x256x28x28xf32>, tensor<256x256x3x3xf32>) -> tensor<1x256x28x28xf32>
  return %11 : tensor<1x256x28x28xf32>
}

// -----

// Repetition along dimensions, also along channels, of what is in blocks, of a
// single channel and of a scalar of the rank; one that adds dimensions stays.

// CHECK-LABEL: func @repeated
// CHECK: graph.transpose {{.*}} -> tensor<2x16x14x14x16xf32>
// CHECK-NOT: graph.transpose
// CHECK: %[[A:.*]] = graph.conv {{.*}} -> tensor<2x16x14x14x16xf32>
// CHECK: %[[M:.*]] = graph.reduce_mean %[[A]], {{.*}} -> tensor<2x16x1x1x16xf32>
// CHECK: %[[E:.*]] = graph.expand %[[M]], {{.*}} : (tensor<2x16x1x1x16xf32>, tensor<5xi64>) -> tensor<2x16x14x14x16xf32>
// CHECK: %[[S:.*]] = graph.sub %[[A]], %[[E]]
// CHECK: %[[C:.*]] = graph.reshape %arg1, {{.*}} -> tensor<1x1x14x1x1xf32>
// CHECK: %[[R:.*]] = graph.expand %[[C]], {{.*}} : (tensor<1x1x14x1x1xf32>, tensor<5xi64>) -> tensor<2x16x14x14x16xf32>
// CHECK: %[[P:.*]] = graph.mul %[[S]], %[[R]]
// CHECK: graph.conv %[[P]], {{.*}}channel_block = 16
func.func @repeated(%x: tensor<2x256x14x14xf32>, %c: tensor<1x1x14x1xf32>) -> tensor<2x256xf32> {
  %w = graph.constant dense<0.01> : tensor<256x256x3x3xf32>
  %axes = graph.constant dense<[2, 3]> : tensor<2xi64>
  %shape = graph.constant dense<[2, 256, 14, 14]> : tensor<4xi64>
  %spatial = graph.constant dense<[1, 256, 14, 14]> : tensor<4xi64>
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<2x256x14x14xf32>, tensor<256x256x3x3xf32>) -> tensor<2x256x14x14xf32>
  %1 = graph.reduce_mean %0, %axes : (tensor<2x256x14x14xf32>, tensor<2xi64>) -> tensor<2x256x1x1xf32>
  // As ever, the shape may leave dimensions to the operand.
  %2 = graph.expand %1, %spatial : (tensor<2x256x1x1xf32>, tensor<4xi64>) -> tensor<2x256x14x14xf32>
  %3 = graph.sub %0, %2 : tensor<2x256x14x14xf32>
  %4 = graph.expand %c, %shape : (tensor<1x1x14x1xf32>, tensor<4xi64>) -> tensor<2x256x14x14xf32>
  %5 = graph.mul %3, %4 : tensor<2x256x14x14xf32>
  %6 = graph.conv %5, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<2x256x14x14xf32>, tensor<256x256x3x3xf32>) -> tensor<2x256x14x14xf32>
  %7 = graph.reduce_max %6, %axes {keepdims = false} : (tensor<2x256x14x14xf32>, tensor<2xi64>) -> tensor<2x256xf32>
  return %7 : tensor<2x256xf32>
}

// -----

// More dimensions than before have no place in blocks: the operation stays.

// CHECK-LABEL: func @more_dimensions
// CHECK: graph.expand %{{.*}} : (tensor<256x1x1xf32>, tensor<4xi64>) -> tensor<1x256x14x14xf32>
func.func @more_dimensions(%x: tensor<1x256x14x14xf32>, %c: tensor<256x1x1xf32>) -> tensor<1x256xf32> {
  %w = graph.constant dense<0.01> : tensor<256x256x3x3xf32>
  %axes = graph.constant dense<[2, 3]> : tensor<2xi64>
  %shape = graph.constant dense<[1, 256, 14, 14]> : tensor<4xi64>
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x256x14x14xf32>, tensor<256x256x3x3xf32>) -> tensor<1x256x14x14xf32>
  %1 = graph.expand %c, %shape : (tensor<256x1x1xf32>, tensor<4xi64>) -> tensor<1x256x14x14xf32>
  %2 = graph.add %0, %1 : tensor<1x256x14x14xf32>
  %3 = graph.conv %2, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x256x14x14xf32>, tensor<256x256x3x3xf32>) -> tensor<1x256x14x14xf32>
  %4 = graph.reduce_max %3, %axes {keepdims = false} : (tensor<1x256x14x14xf32>, tensor<2xi64>) -> tensor<1x256xf32>
  return %4 : tensor<1x256xf32>
}

// -----

// Channels that end within a block: it has zeros behind them where it is made
// of a tensor without blocks, and anything in results; what reads them is told
// by the weights. What computes each channel by itself takes such blocks.

// CHECK-LABEL: func @endsWithin
// CHECK: %[[Z:.*]] = graph.pad %arg0, %{{.*}} -> tensor<1x208x28x28xf32>
// CHECK: %[[S:.*]] = graph.reshape %[[Z]], %{{.*}} -> tensor<1x13x16x28x28xf32>
// CHECK: %[[X:.*]] = graph.transpose %[[S]]
// CHECK: %[[A:.*]] = graph.conv %[[X]], {{.*}}channel_block = 16 : i64{{.*}} : (tensor<1x13x28x28x16xf32>, tensor<200x200x3x3xf32>, tensor<200xf32>) -> tensor<1x13x14x14x16xf32>
// CHECK: %[[M:.*]] = graph.mul %[[A]], %{{.*}} : (tensor<1x13x14x14x16xf32>, tensor<1x13x1x1x16xf32>) -> tensor<1x13x14x14x16xf32>
// CHECK: %[[P:.*]] = graph.max_pool %[[M]] {{.*}} -> tensor<1x13x7x7x16xf32>
// CHECK: %[[D:.*]] = graph.conv %[[P]], {{.*}}channel_block = 16 : i64, group = 200 : i64{{.*}} -> tensor<1x13x7x7x16xf32>
// CHECK: %[[B:.*]] = graph.conv %[[D]], {{.*}}channel_block = 16 : i64{{.*}} : (tensor<1x13x7x7x16xf32>, tensor<200x200x3x3xf32>, tensor<200xf32>) -> tensor<1x13x4x4x16xf32>
// CHECK: %[[E:.*]] = graph.conv %[[B]], {{.*}}channel_block = 16 : i64, group = 200 : i64{{.*}} -> tensor<1x13x4x4x16xf32>
// CHECK: %[[T:.*]] = graph.transpose %[[E]]
// CHECK: %[[U:.*]] = graph.reshape %[[T]], %{{.*}} -> tensor<1x208x4x4xf32>
// CHECK: %[[V:.*]] = graph.slice %[[U]], {{.*}} -> tensor<1x200x4x4xf32>
// CHECK: %[[R:.*]] = graph.reduce_mean %[[E]], %{{.*}} -> tensor<1x13x16xf32>
// CHECK: %[[F:.*]] = graph.reshape %[[R]], %{{.*}} -> tensor<1x208xf32>
// CHECK: graph.slice %[[F]], {{.*}} -> tensor<1x200xf32>
// CHECK: graph.softmax %[[V]]
func.func @endsWithin(%x: tensor<1x200x28x28xf32>) -> (tensor<1x200xf32>, tensor<1x200x4x4xf32>) {
  %w = graph.constant dense<0.01> : tensor<200x200x3x3xf32>
  %d = graph.constant dense<0.3> : tensor<200x1x3x3xf32>
  %b = graph.constant dense<0.1> : tensor<200xf32>
  %s = graph.constant dense<0.5> : tensor<200x1x1xf32>
  %axes = graph.constant dense<[2, 3]> : tensor<2xi64>
  %0 = graph.conv %x, %w, %b {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x200x28x28xf32>, tensor<200x200x3x3xf32>, tensor<200xf32>) -> tensor<1x200x14x14xf32>
  %1 = graph.mul %0, %s : (tensor<1x200x14x14xf32>, tensor<200x1x1xf32>) -> tensor<1x200x14x14xf32>
  %2 = graph.max_pool %1 {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x200x14x14xf32>) -> tensor<1x200x7x7xf32>
  %3 = graph.conv %2, %d {group = 200 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x200x7x7xf32>, tensor<200x1x3x3xf32>) -> tensor<1x200x7x7xf32>
  %4 = graph.conv %3, %w, %b {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x200x7x7xf32>, tensor<200x200x3x3xf32>, tensor<200xf32>) -> tensor<1x200x4x4xf32>
  %5 = graph.conv %4, %d {group = 200 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x200x4x4xf32>, tensor<200x1x3x3xf32>) -> tensor<1x200x4x4xf32>
  %6 = graph.reduce_mean %5, %axes {keepdims = false} : (tensor<1x200x4x4xf32>, tensor<2xi64>) -> tensor<1x200xf32>
  %7 = graph.softmax %5 {axis = 1 : i64} : tensor<1x200x4x4xf32>
  return %6, %7 : tensor<1x200xf32>, tensor<1x200x4x4xf32>
}
