// RUN: dlc-opt %s --convert-kernel-to-call | FileCheck %s
// RUN: dlc-opt %s --convert-kernel-to-call=strict | FileCheck %s --check-prefix=STRICT
// RUN: dlc-opt %s --convert-kernel-to-call=bf16-parts=1 | FileCheck %s --check-prefix=ROUNDED
// RUN: dlc-opt %s --convert-kernel-to-call --remarks-filter='convert-.*' -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY
// Kernels that a library has become calls of it; constant weights are packed.

// The packed form is a plain vector; packed_shape keeps what it was. The
// residual is the fourth operand, and the output may overwrite it.
// CHECK: kernel.library @conv "cpu.conv" {activation = "relu", group = 1 : i64, packed_shape = array<i64: 32, 16, 1, 1>, packed_w = 1 : i64}
// CHECK-SAME: inPlace([3, 0])
// CHECK-SAME: (tensor<1x16x8x8xf32>, tensor<[[N:.*]]xf32>, none, tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
kernel.func @conv(%x: tensor<1x16x8x8xf32>, %w: tensor<32x16x1x1xf32> {kernel.constant}, %r: tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32> {
  %0 = graph.conv %x, %w : (tensor<1x16x8x8xf32>, tensor<32x16x1x1xf32>) -> tensor<1x32x8x8xf32>
  %1 = graph.add %0, %r : tensor<1x32x8x8xf32>
  %2 = graph.relu %1 : tensor<1x32x8x8xf32>
  kernel.return %2 : tensor<1x32x8x8xf32>
}

// Of several algorithms the one of the least modelled time; its workspace is
// the call's.
// CHECK: kernel.library @winograd "cpu.conv" {algorithm = "winograd", group = 1 : i64, packed_shape = array<i64: 32, 32, 3, 3>, packed_w = 1 : i64} workspace(294912)
// STRICT: kernel.library @winograd "cpu.conv" {group = 1 : i64, packed_shape = array<i64: 32, 32, 3, 3>, packed_w = 1 : i64} note
kernel.func @winograd(%x: tensor<1x32x34x34xf32>, %w: tensor<32x32x3x3xf32> {kernel.constant}) -> tensor<1x32x32x32xf32> {
  %0 = graph.conv %x, %w : (tensor<1x32x34x34xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x32x32xf32>
  kernel.return %0 : tensor<1x32x32x32xf32>
}

// Few tiles and many channels: weights of 36 points would take longer to read.
// CHECK: kernel.library @direct "cpu.conv" {group = 1 : i64, packed_shape = array<i64: 512, 512, 3, 3>, packed_w = 1 : i64} note
kernel.func @direct(%x: tensor<1x512x9x9xf32>, %w: tensor<512x512x3x3xf32> {kernel.constant}) -> tensor<1x512x7x7xf32> {
  %0 = graph.conv %x, %w : (tensor<1x512x9x9xf32>, tensor<512x512x3x3xf32>) -> tensor<1x512x7x7xf32>
  kernel.return %0 : tensor<1x512x7x7xf32>
}

// In blocks weights are transformed as they are multiplied, of small images
// from what they were.
// CHECK: kernel.library @small_image "cpu.conv" {algorithm = "winograd", channel_block = 16 : i64, group = 1 : i64, packed_shape = array<i64: 512, 512, 3, 3>, packed_w = 1 : i64} workspace(
// STRICT: kernel.library @small_image "cpu.conv" {channel_block = 16 : i64, group = 1 : i64, packed_shape = array<i64: 512, 512, 3, 3>, packed_w = 1 : i64} note
kernel.func @small_image(%x: tensor<1x32x9x9x16xf32>, %w: tensor<512x512x3x3xf32> {kernel.constant}) -> tensor<1x32x7x7x16xf32> {
  %0 = graph.conv %x, %w {channel_block = 16 : i64} : (tensor<1x32x9x9x16xf32>, tensor<512x512x3x3xf32>) -> tensor<1x32x7x7x16xf32>
  kernel.return %0 : tensor<1x32x7x7x16xf32>
}

// CHECK: kernel.library @large_image "cpu.conv" {algorithm = "winograd", channel_block = 16 : i64
kernel.func @large_image(%x: tensor<1x16x16x16x16xf32>, %w: tensor<256x256x3x3xf32> {kernel.constant}) -> tensor<1x16x14x14x16xf32> {
  %0 = graph.conv %x, %w {channel_block = 16 : i64} : (tensor<1x16x16x16x16xf32>, tensor<256x256x3x3xf32>) -> tensor<1x16x14x14x16xf32>
  kernel.return %0 : tensor<1x16x14x14x16xf32>
}

// Of two taps in each direction, every other one of three or both of two; but
// not where one image has four tiles, or outputs are left over.
// CHECK: kernel.library @steps_of_two "cpu.conv" {algorithm = "winograd", channel_block = 16 : i64, group = 1 : i64, packed_shape = array<i64: 256, 256, 3, 3>, packed_w = 1 : i64, strides = array<i64: 2, 2>} workspace(
// STRICT: kernel.library @steps_of_two "cpu.conv" {channel_block = 16 : i64, group = 1 : i64, packed_shape = array<i64: 256, 256, 3, 3>, packed_w = 1 : i64, strides = array<i64: 2, 2>} note
kernel.func @steps_of_two(%x: tensor<1x16x29x29x16xf32>, %w: tensor<256x256x3x3xf32> {kernel.constant}) -> tensor<1x16x14x14x16xf32> {
  %0 = graph.conv %x, %w {channel_block = 16 : i64, strides = array<i64: 2, 2>} : (tensor<1x16x29x29x16xf32>, tensor<256x256x3x3xf32>) -> tensor<1x16x14x14x16xf32>
  kernel.return %0 : tensor<1x16x14x14x16xf32>
}

// CHECK: kernel.library @two_taps "cpu.conv" {algorithm = "winograd", channel_block = 16 : i64, group = 1 : i64, packed_shape = array<i64: 512, 256, 2, 2>, packed_w = 1 : i64} workspace(
kernel.func @two_taps(%x: tensor<1x16x32x32x16xf32>, %w: tensor<512x256x2x2xf32> {kernel.constant}) -> tensor<1x32x31x31x16xf32> {
  %0 = graph.conv %x, %w {channel_block = 16 : i64} : (tensor<1x16x32x32x16xf32>, tensor<512x256x2x2xf32>) -> tensor<1x32x31x31x16xf32>
  kernel.return %0 : tensor<1x32x31x31x16xf32>
}

// CHECK: kernel.library @few_tiles "cpu.conv" {channel_block = 16 : i64, group = 1 : i64, packed_shape = array<i64: 512, 512, 3, 3>, packed_w = 1 : i64, strides = array<i64: 2, 2>} note
kernel.func @few_tiles(%x: tensor<1x32x15x15x16xf32>, %w: tensor<512x512x3x3xf32> {kernel.constant}) -> tensor<1x32x7x7x16xf32> {
  %0 = graph.conv %x, %w {channel_block = 16 : i64, strides = array<i64: 2, 2>} : (tensor<1x32x15x15x16xf32>, tensor<512x512x3x3xf32>) -> tensor<1x32x7x7x16xf32>
  kernel.return %0 : tensor<1x32x7x7x16xf32>
}

// CHECK: kernel.library @left_over "cpu.conv" {channel_block = 16 : i64, group = 1 : i64, packed_shape = array<i64: 64, 64, 2, 2>, packed_w = 1 : i64} note
kernel.func @left_over(%x: tensor<1x4x41x6x16xf32>, %w: tensor<64x64x2x2xf32> {kernel.constant}) -> tensor<1x4x40x5x16xf32> {
  %0 = graph.conv %x, %w {channel_block = 16 : i64} : (tensor<1x4x41x6x16xf32>, tensor<64x64x2x2xf32>) -> tensor<1x4x40x5x16xf32>
  kernel.return %0 : tensor<1x4x40x5x16xf32>
}

// Weights that are not constant are transformed in each run, of tensors in
// blocks.
// CHECK: kernel.library @transformed "cpu.conv" {algorithm = "winograd", channel_block = 16 : i64, group = 1 : i64} workspace(
// CHECK-SAME: (tensor<4x2x34x34x16xf32>, tensor<32x32x3x3xf32>) -> tensor<4x2x32x32x16xf32>
// STRICT: kernel.library @transformed "cpu.conv" {channel_block = 16 : i64, group = 1 : i64} workspace(36864)
kernel.func @transformed(%x: tensor<4x2x34x34x16xf32>, %w: tensor<32x32x3x3xf32>) -> tensor<4x2x32x32x16xf32> {
  %0 = graph.conv %x, %w {channel_block = 16 : i64} : (tensor<4x2x34x34x16xf32>, tensor<32x32x3x3xf32>) -> tensor<4x2x32x32x16xf32>
  kernel.return %0 : tensor<4x2x32x32x16xf32>
}

// The gradient of weights as the adjoint of that, with its workspace.
// CHECK: kernel.library @gradient "cpu.conv_weight_gradient" {algorithm = "winograd", group = 1 : i64} workspace(
// CHECK-SAME: (tensor<4x2x34x34x16xf32>, tensor<4x2x32x32x16xf32>) -> tensor<32x32x3x3xf32>
// STRICT: kernel.library @gradient "cpu.conv_weight_gradient" {group = 1 : i64} note
kernel.func @gradient(%x: tensor<4x2x34x34x16xf32>, %g: tensor<4x2x32x32x16xf32>) -> tensor<32x32x3x3xf32> {
  %0 = graph.conv_weight_gradient %x, %g {kernel_shape = array<i64: 3, 3>} : (tensor<4x2x34x34x16xf32>, tensor<4x2x32x32x16xf32>) -> tensor<32x32x3x3xf32>
  kernel.return %0 : tensor<32x32x3x3xf32>
}

// The image, the residual and the result in blocks of channels.
// CHECK: kernel.library @blocked "cpu.conv" {activation = "relu", channel_block = 16 : i64, group = 1 : i64, packed_shape = array<i64: 32, 16, 1, 1>, packed_w = 1 : i64}
// CHECK-SAME: inPlace([3, 0])
// CHECK-SAME: (tensor<1x1x8x8x16xf32>, tensor<{{.*}}xf32>, none, tensor<1x2x8x8x16xf32>) -> tensor<1x2x8x8x16xf32>
// ROUNDED: kernel.library @blocked "cpu.conv" {activation = "relu", bf16_parts = 1 : i64, channel_block = 16
// ROUNDED-SAME: (tensor<1x1x8x8x16xf32>, tensor<256xf32>, none, tensor<1x2x8x8x16xf32>)
kernel.func @blocked(%x: tensor<1x1x8x8x16xf32>, %w: tensor<32x16x1x1xf32> {kernel.constant}, %r: tensor<1x2x8x8x16xf32>) -> tensor<1x2x8x8x16xf32> {
  %0 = graph.conv %x, %w {channel_block = 16 : i64} : (tensor<1x1x8x8x16xf32>, tensor<32x16x1x1xf32>) -> tensor<1x2x8x8x16xf32>
  %1 = graph.add %0, %r : tensor<1x2x8x8x16xf32>
  %2 = graph.relu %1 : tensor<1x2x8x8x16xf32>
  kernel.return %2 : tensor<1x2x8x8x16xf32>
}

// Weights that are not known are not packed.
// CHECK: kernel.library @matmul "cpu.matmul" {activation = "gelu"}
// CHECK-SAME: (tensor<4x16xf32>, tensor<16x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
kernel.func @matmul(%x: tensor<4x16xf32>, %w: tensor<16x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = graph.matmul %x, %w : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %1 = graph.add %0, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %2 = graph.gelu %1 : tensor<4x8xf32>
  kernel.return %2 : tensor<4x8xf32>
}

// Nothing is split for tiles of bfloat16 that was not timed.
// CHECK: kernel.library @parts "cpu.matmul" {packed_b = 2
// STRICT: kernel.library @parts "cpu.matmul" {packed_b = 2
// Weights that are rounded take half a float each.
// ROUNDED: kernel.library @parts "cpu.matmul" {bf16_parts = 1 : i64, packed_b = 2
kernel.func @parts(%x: tensor<48x64xf32>, %w: tensor<64x64xf32>) -> tensor<48x64xf32> {
  %0 = graph.matmul %x, %w : (tensor<48x64xf32>, tensor<64x64xf32>) -> tensor<48x64xf32>
  kernel.return %0 : tensor<48x64xf32>
}

// Transposed operands are read as they are; the product's own shapes stay.
// CHECK: kernel.library @transposed "cpu.matmul" {trans_a = 1 : i64, trans_b = 1 : i64}
// CHECK-SAME: (tensor<16x4xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
kernel.func @transposed(%x: tensor<16x4xf32>, %w: tensor<8x16xf32>) -> tensor<4x8xf32> {
  %0 = graph.transpose %w {perm = array<i64: 1, 0>} : (tensor<8x16xf32>) -> tensor<16x8xf32>
  %1 = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<16x4xf32>) -> tensor<4x16xf32>
  %2 = graph.matmul %1, %0 : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  kernel.return %2 : tensor<4x8xf32>
}

// One that other operations read is no part of the product.
// CHECK: kernel.func @read_twice
// WHY: read_twice is generated: expected a matrix that is read by the product only
kernel.func @read_twice(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.matmul %0, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  kernel.return %1 : tensor<4x4xf32>
}

// A layer with both of its weights packed; it has all of its results, and what
// is absent stays so.
// CHECK: kernel.library @lstm "cpu.recurrent" {{{.*}}cell = "lstm", {{.*}}direction = "reverse", hidden_size = 4 : i64, {{.*}}packed_shape = array<i64: 1, 16, 3>, packed_shape_2 = array<i64: 1, 16, 4>, packed_w = 2 : i64} workspace(
// CHECK-SAME: (tensor<5x2x3xf32>, tensor<48xf32>, tensor<64xf32>, none, tensor<2xi32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>)
kernel.func @lstm(%x: tensor<5x2x3xf32>, %w: tensor<1x16x3xf32> {kernel.constant}, %r: tensor<1x16x4xf32> {kernel.constant}, %none: none, %lengths: tensor<2xi32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>) {
  %y, %h, %c = graph.lstm %x, %w, %r, %none, %lengths, %none, %none, %none {direction = "reverse", hidden_size = 4 : i64} : (tensor<5x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>, none, tensor<2xi32>, none, none, none) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>)
  kernel.return %y, %h, %c : tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>
}

// Much of R, all of it multiples by bytes, is packed as these, with a scale for
// each row.
// CHECK: kernel.library @lstm_of_bytes {{.*}}packed_w = 3 : i64} workspace(
// CHECK-SAME: (tensor<5x2x3xf32>, tensor<3072xf32>, tensor<66560xf32>) ->
kernel.func @lstm_of_bytes(%x: tensor<5x2x3xf32>, %w: tensor<1x1024x3xf32> {kernel.constant}, %r: tensor<1x1024x256xf32> {kernel.constant}, %none: none) -> (tensor<5x1x2x256xf32>, tensor<1x2x256xf32>, tensor<1x2x256xf32>) {
  %y, %h, %c = graph.lstm %x, %w, %r, %none, %none, %none, %none, %none {hidden_size = 256 : i64} : (tensor<5x2x3xf32>, tensor<1x1024x3xf32>, tensor<1x1024x256xf32>, none, none, none, none, none) -> (tensor<5x1x2x256xf32>, tensor<1x2x256xf32>, tensor<1x2x256xf32>)
  kernel.return %y, %h, %c : tensor<5x1x2x256xf32>, tensor<1x2x256xf32>, tensor<1x2x256xf32>
}

// Not where another call of the same kernel has other floats.
// CHECK: kernel.library @lstm_of_both {{.*}}packed_w = 2 : i64} workspace(
kernel.func @lstm_of_both(%x: tensor<5x2x3xf32>, %w: tensor<1x1024x3xf32> {kernel.constant}, %r: tensor<1x1024x256xf32> {kernel.constant}, %none: none) -> (tensor<5x1x2x256xf32>, tensor<1x2x256xf32>, tensor<1x2x256xf32>) {
  %y, %h, %c = graph.lstm %x, %w, %r, %none, %none, %none, %none, %none {hidden_size = 256 : i64} : (tensor<5x2x3xf32>, tensor<1x1024x3xf32>, tensor<1x1024x256xf32>, none, none, none, none, none) -> (tensor<5x1x2x256xf32>, tensor<1x2x256xf32>, tensor<1x2x256xf32>)
  kernel.return %y, %h, %c : tensor<5x1x2x256xf32>, tensor<1x2x256xf32>, tensor<1x2x256xf32>
}

// Packed with all weights or none.
// CHECK: kernel.library @gru "cpu.recurrent" {{{.*}}cell = "gru", {{.*}}linear_before_reset = false} workspace(
// CHECK-SAME: (tensor<5x2x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
kernel.func @gru(%x: tensor<5x2x3xf32>, %w: tensor<1x12x3xf32> {kernel.constant}, %r: tensor<1x12x4xf32>, %none: none) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>) {
  %y, %h = graph.gru %x, %w, %r, %none, %none, %none {hidden_size = 4 : i64} : (tensor<5x2x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>, none, none, none) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  kernel.return %y, %h : tensor<5x1x2x4xf32>, tensor<1x2x4xf32>
}

// CHECK: kernel.func @generated
// WHY: generated is generated: no library has this operation
kernel.func @generated(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.exp %x : tensor<4xf32>
  kernel.return %0 : tensor<4xf32>
}

// Two calls with one constant pack it once.
// CHECK-LABEL: func.func @calls
func.func @calls(%x: tensor<1x16x8x8xf32>, %r: tensor<1x32x8x8xf32>) -> (tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>) {
  // CHECK: graph.constant dense<5.000000e-01> : tensor<[[N]]xf32>
  // CHECK-NOT: tensor<32x16x1x1xf32>
  // CHECK: kernel.call @conv(
  // CHECK: kernel.call @conv(
  %w = graph.constant dense<0.5> : tensor<32x16x1x1xf32>
  %0 = kernel.call @conv(%x, %w, %r) : (tensor<1x16x8x8xf32>, tensor<32x16x1x1xf32>, tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
  %1 = kernel.call @conv(%x, %w, %0) : (tensor<1x16x8x8xf32>, tensor<32x16x1x1xf32>, tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
  return %0, %1 : tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>
}

// CHECK-LABEL: func.func @blocks
func.func @blocks(%x: tensor<1x1x8x8x16xf32>, %r: tensor<1x2x8x8x16xf32>) -> tensor<1x2x8x8x16xf32> {
  // CHECK: kernel.call @blocked(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
  %w = graph.constant dense<0.5> : tensor<32x16x1x1xf32>
  %0 = kernel.call @blocked(%x, %w, %r) : (tensor<1x1x8x8x16xf32>, tensor<32x16x1x1xf32>, tensor<1x2x8x8x16xf32>) -> tensor<1x2x8x8x16xf32>
  return %0 : tensor<1x2x8x8x16xf32>
}

// CHECK-LABEL: func.func @trained
func.func @trained(%x: tensor<4x2x34x34x16xf32>, %w: tensor<32x32x3x3xf32>) -> tensor<4x2x32x32x16xf32> {
  // CHECK: kernel.call @transformed(%arg0, %arg1)
  %0 = kernel.call @transformed(%x, %w) : (tensor<4x2x34x34x16xf32>, tensor<32x32x3x3xf32>) -> tensor<4x2x32x32x16xf32>
  return %0 : tensor<4x2x32x32x16xf32>
}

// CHECK-LABEL: func.func @products
func.func @products(%x: tensor<4x16xf32>, %w: tensor<16x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK: kernel.call @matmul(%{{.*}}, %{{.*}}, %{{.*}})
  %0 = kernel.call @matmul(%x, %w, %b) : (tensor<4x16xf32>, tensor<16x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

func.func @bytes(%x: tensor<5x2x3xf32>) -> (tensor<5x1x2x256xf32>, tensor<5x1x2x256xf32>, tensor<5x1x2x256xf32>) {
  %none = graph.none : none
  %w = graph.constant dense<0.5> : tensor<1x1024x3xf32>
  %r = graph.constant dense<0.01> : tensor<1x1024x256xf32>
  %y, %h, %c = kernel.call @lstm_of_bytes(%x, %w, %r, %none) : (tensor<5x2x3xf32>, tensor<1x1024x3xf32>, tensor<1x1024x256xf32>, none) -> (tensor<5x1x2x256xf32>, tensor<1x2x256xf32>, tensor<1x2x256xf32>)
  %none_finite = graph.constant dense<0x7F800000> : tensor<1x1024x256xf32>
  %0, %1, %2 = kernel.call @lstm_of_both(%x, %w, %r, %none) : (tensor<5x2x3xf32>, tensor<1x1024x3xf32>, tensor<1x1024x256xf32>, none) -> (tensor<5x1x2x256xf32>, tensor<1x2x256xf32>, tensor<1x2x256xf32>)
  %3, %4, %5 = kernel.call @lstm_of_both(%x, %w, %none_finite, %none) : (tensor<5x2x3xf32>, tensor<1x1024x3xf32>, tensor<1x1024x256xf32>, none) -> (tensor<5x1x2x256xf32>, tensor<1x2x256xf32>, tensor<1x2x256xf32>)
  return %y, %0, %3 : tensor<5x1x2x256xf32>, tensor<5x1x2x256xf32>, tensor<5x1x2x256xf32>
}

// CHECK-LABEL: func.func @layers
func.func @layers(%x: tensor<5x2x3xf32>, %lengths: tensor<2xi32>, %r: tensor<1x12x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<5x1x2x4xf32>) {
  // CHECK: %[[NONE:.*]] = graph.none
  // CHECK: kernel.call @lstm(%arg0, %{{.*}}, %{{.*}}, %[[NONE]], %arg1) :
  // CHECK: kernel.call @gru(%arg0, %{{.*}}, %arg2) :
  %none = graph.none : none
  %w = graph.constant dense<0.5> : tensor<1x16x3xf32>
  %s = graph.constant dense<0.5> : tensor<1x16x4xf32>
  %v = graph.constant dense<0.5> : tensor<1x12x3xf32>
  %y, %h, %c = kernel.call @lstm(%x, %w, %s, %none, %lengths) : (tensor<5x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>, none, tensor<2xi32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>)
  %z, %i = kernel.call @gru(%x, %v, %r, %none) : (tensor<5x2x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>, none) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return %y, %c, %z : tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<5x1x2x4xf32>
}

// Of products of integers the second factor is packed, too, while running where
// it is no constant.
// CHECK: kernel.library @integers "cpu.integer_matmul" {packed_b = 1 : i64, packed_shape = array<i64: 30, 20>} note
// CHECK-SAME: (tensor<2x30xui8>, tensor<544xf32>, tensor<ui8>, tensor<20xi8>) -> tensor<2x20xi32>
kernel.func @integers(%a: tensor<2x30xui8>, %b: tensor<30x20xi8> {kernel.constant}, %za: tensor<ui8>, %zb: tensor<20xi8>) -> tensor<2x20xi32> {
  %0 = graph.integer_matmul %a, %b, %za, %zb : (tensor<2x30xui8>, tensor<30x20xi8>, tensor<ui8>, tensor<20xi8>) -> tensor<2x20xi32>
  kernel.return %0 : tensor<2x20xi32>
}

// CHECK: kernel.library @variable_integers "cpu.integer_matmul" {} workspace(2176)
kernel.func @variable_integers(%a: tensor<2x30xui8>, %b: tensor<30x20xi8>, %za: tensor<ui8>, %zb: tensor<i8>) -> tensor<2x20xi32> {
  %0 = graph.integer_matmul %a, %b, %za, %zb : (tensor<2x30xui8>, tensor<30x20xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x20xi32>
  kernel.return %0 : tensor<2x20xi32>
}

// A zero point for each row is none that the library has.
// CHECK: kernel.func @integers_of_rows
// WHY: integers_of_rows is generated: cpu.integer_matmul: expected a zero point of a of 1 element, got 2x1xu8
kernel.func @integers_of_rows(%a: tensor<2x30xui8>, %b: tensor<30x20xi8>, %za: tensor<2x1xui8>, %zb: tensor<i8>) -> tensor<2x20xi32> {
  %0 = graph.integer_matmul %a, %b, %za, %zb : (tensor<2x30xui8>, tensor<30x20xi8>, tensor<2x1xui8>, tensor<i8>) -> tensor<2x20xi32>
  kernel.return %0 : tensor<2x20xi32>
}

// CHECK-LABEL: func.func @byte_products
func.func @byte_products(%a: tensor<2x30xui8>, %b: tensor<30x20xi8>, %za: tensor<ui8>, %zb: tensor<i8>) -> tensor<2x20xi32> {
  // CHECK: kernel.call @variable_integers(%arg0, %arg1, %arg2, %arg3)
  // CHECK: %[[B:.*]] = graph.constant dense_resource<{{.*}}> : tensor<544xf32>
  // CHECK: kernel.call @integers(%{{.*}}, %[[B]], %arg2, %{{.*}})
  %0 = kernel.call @variable_integers(%a, %b, %za, %zb) : (tensor<2x30xui8>, tensor<30x20xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x20xi32>
  %w = graph.constant dense<3> : tensor<30x20xi8>
  %z = graph.constant dense<1> : tensor<20xi8>
  %1 = kernel.call @integers(%a, %w, %za, %z) : (tensor<2x30xui8>, tensor<30x20xi8>, tensor<ui8>, tensor<20xi8>) -> tensor<2x20xi32>
  %2 = graph.add %0, %1 : tensor<2x20xi32>
  return %2 : tensor<2x20xi32>
}

// What rounds sums is part of the call.
// CHECK: kernel.library @rounded_conv "cpu.integer_conv" {packed_shape = array<i64: 4, 3, 3, 3>, packed_w = 1 : i64, pads = array<i64: 1, 1, 1, 1>} workspace(192)
// CHECK-SAME: (tensor<1x3x8x8xui8>, tensor<{{.*}}xf32>, tensor<ui8>, tensor<i8>, tensor<4x1x1xf32>, tensor<4x1x1xf32>, tensor<ui8>) -> tensor<1x4x8x8xui8>
kernel.func @rounded_conv(%x: tensor<1x3x8x8xui8>, %w: tensor<4x3x3x3xi8> {kernel.constant}, %zx: tensor<ui8>, %zw: tensor<i8>, %m: tensor<4x1x1xf32>, %o: tensor<4x1x1xf32>, %zy: tensor<ui8>) -> tensor<1x4x8x8xui8> {
  %0 = graph.integer_conv %x, %w, %zx, %zw {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x8x8xui8>, tensor<4x3x3x3xi8>, tensor<ui8>, tensor<i8>) -> tensor<1x4x8x8xi32>
  %1 = graph.requantize %0, %m, %o, %zy : (tensor<1x4x8x8xi32>, tensor<4x1x1xf32>, tensor<4x1x1xf32>, tensor<ui8>) -> tensor<1x4x8x8xui8>
  kernel.return %1 : tensor<1x4x8x8xui8>
}

// CHECK: kernel.func @grouped_integers
// WHY: grouped_integers is generated: {{.*}}expected one group, or one for each channel of both x and y
kernel.func @grouped_integers(%x: tensor<1x4x8x8xui8>, %w: tensor<4x2x3x3xi8>, %zx: tensor<ui8>, %zw: tensor<i8>) -> tensor<1x4x6x6xi32> {
  %0 = graph.integer_conv %x, %w, %zx, %zw {group = 2 : i64} : (tensor<1x4x8x8xui8>, tensor<4x2x3x3xi8>, tensor<ui8>, tensor<i8>) -> tensor<1x4x6x6xi32>
  kernel.return %0 : tensor<1x4x6x6xi32>
}

// With channels last nothing is written down before.
// CHECK: kernel.library @last_integers "cpu.integer_conv" {channel_block = 4 : i64, group = 4 : i64, packed_shape = array<i64: 4, 1, 3, 3>, packed_w = 1 : i64} note({{.*}}) : (tensor<1x1x8x8x4xui8>, tensor<52xf32>,
kernel.func @last_integers(%x: tensor<1x1x8x8x4xui8>, %w: tensor<4x1x3x3xi8> {kernel.constant}, %zx: tensor<ui8>, %zw: tensor<i8>) -> tensor<1x1x6x6x4xi32> {
  %0 = graph.integer_conv %x, %w, %zx, %zw {group = 4 : i64, channel_block = 4 : i64} : (tensor<1x1x8x8x4xui8>, tensor<4x1x3x3xi8>, tensor<ui8>, tensor<i8>) -> tensor<1x1x6x6x4xi32>
  kernel.return %0 : tensor<1x1x6x6x4xi32>
}

// CHECK-LABEL: func.func @rounded_convs
func.func @rounded_convs(%x: tensor<1x3x8x8xui8>, %l: tensor<1x1x8x8x4xui8>, %zx: tensor<ui8>, %zw: tensor<i8>, %m: tensor<4x1x1xf32>) -> (tensor<1x4x8x8xui8>, tensor<1x1x6x6x4xi32>) {
  %w = graph.constant dense<3> : tensor<4x3x3x3xi8>
  %v = graph.constant dense<3> : tensor<4x1x3x3xi8>
  %1 = kernel.call @last_integers(%l, %v, %zx, %zw) : (tensor<1x1x8x8x4xui8>, tensor<4x1x3x3xi8>, tensor<ui8>, tensor<i8>) -> tensor<1x1x6x6x4xi32>
  %0 = kernel.call @rounded_conv(%x, %w, %zx, %zw, %m, %m, %zx) : (tensor<1x3x8x8xui8>, tensor<4x3x3x3xi8>, tensor<ui8>, tensor<i8>, tensor<4x1x1xf32>, tensor<4x1x1xf32>, tensor<ui8>) -> tensor<1x4x8x8xui8>
  return %0, %1 : tensor<1x4x8x8xui8>, tensor<1x1x6x6x4xi32>
}

// Pooling of plain rows, of windows that generated code would go through tap by
// tap, or of rows too short for its lanes.
// CHECK: kernel.library @wide_windows "cpu.pool" {kernel_shape = array<i64: 1, 13>, pads = array<i64: 0, 6, 0, 6>} note("library kernel for pooling")
kernel.func @wide_windows(%x: tensor<1x4x32x32xf32>) -> tensor<1x4x32x32xf32> {
  %0 = graph.max_pool %x {kernel_shape = array<i64: 1, 13>, pads = array<i64: 0, 6, 0, 6>} : (tensor<1x4x32x32xf32>) -> tensor<1x4x32x32xf32>
  kernel.return %0 : tensor<1x4x32x32xf32>
}
// CHECK: kernel.library @short_rows "cpu.pool" {count_include_pad = 1 : i64, kernel_shape = array<i64: 3, 3>, mean = 1 : i64, pads = array<i64: 1, 1, 1, 1>}
kernel.func @short_rows(%x: tensor<1x4x7x7xf32>) -> tensor<1x4x7x7xf32> {
  %0 = graph.avg_pool %x {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, count_include_pad = true} : (tensor<1x4x7x7xf32>) -> tensor<1x4x7x7xf32>
  kernel.return %0 : tensor<1x4x7x7xf32>
}
// CHECK: kernel.library @far_apart "cpu.pool" {dilations = array<i64: 2>, kernel_shape = array<i64: 3>, mean = 1 : i64, strides = array<i64: 4>}
kernel.func @far_apart(%x: tensor<1x4x64xf32>) -> tensor<1x4x15xf32> {
  %0 = graph.avg_pool %x {kernel_shape = array<i64: 3>, strides = array<i64: 4>, dilations = array<i64: 2>} : (tensor<1x4x64xf32>) -> tensor<1x4x15xf32>
  kernel.return %0 : tensor<1x4x15xf32>
}

// Others are generated: few taps, what follows them, and vectors of channels.
// WHY: few_taps is generated: generated code takes less time, or as little
// WHY: columns is generated: generated code takes less time, or as little
// WHY: short_halves is generated: cpu.pool: expected x to be f32
// WHY: activated is generated: the library adds nothing to it
// WHY: channels is generated: generated code pools volumes and channels in blocks
kernel.func @few_taps(%x: tensor<1x4x32x32xf32>) -> tensor<1x4x16x16xf32> {
  %0 = graph.max_pool %x {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x4x32x32xf32>) -> tensor<1x4x16x16xf32>
  kernel.return %0 : tensor<1x4x16x16xf32>
}
kernel.func @columns(%x: tensor<1x4x56x8xf32>) -> tensor<1x4x56x8xf32> {
  %0 = graph.max_pool %x {kernel_shape = array<i64: 3, 1>, pads = array<i64: 1, 0, 1, 0>} : (tensor<1x4x56x8xf32>) -> tensor<1x4x56x8xf32>
  kernel.return %0 : tensor<1x4x56x8xf32>
}
kernel.func @nothing(%x: tensor<1x1x4x0xf32>) -> tensor<1x1x4x0xf32> {
  %0 = graph.max_pool %x {kernel_shape = array<i64: 1, 3>, strides = array<i64: 1, 3>, pads = array<i64: 0, 0, 0, 3>, ceil_mode = true} : (tensor<1x1x4x0xf32>) -> tensor<1x1x4x0xf32>
  kernel.return %0 : tensor<1x1x4x0xf32>
}
kernel.func @short_halves(%x: tensor<1x4x7x7xf16>) -> tensor<1x4x7x7xf16> {
  %0 = graph.max_pool %x {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x7x7xf16>) -> tensor<1x4x7x7xf16>
  kernel.return %0 : tensor<1x4x7x7xf16>
}
kernel.func @activated(%x: tensor<1x4x7x7xf32>) -> tensor<1x4x7x7xf32> {
  %0 = graph.max_pool %x {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x7x7xf32>) -> tensor<1x4x7x7xf32>
  %1 = graph.relu %0 : tensor<1x4x7x7xf32>
  kernel.return %1 : tensor<1x4x7x7xf32>
}
kernel.func @channels(%x: tensor<1x4x7x7x8xf32>) -> tensor<1x4x7x7x8xf32> {
  %0 = graph.max_pool %x {kernel_shape = array<i64: 3, 3, 1>, pads = array<i64: 1, 1, 0, 1, 1, 0>} : (tensor<1x4x7x7x8xf32>) -> tensor<1x4x7x7x8xf32>
  kernel.return %0 : tensor<1x4x7x7x8xf32>
}
