// RUN: dlc-opt %s --split-input-file --kernel-narrow-values | FileCheck %s

// What a product rounds is bfloat16; inputs and results of functions are not.
// Each kernel that is called with several types is one for each, and knows its
// workspace.

// CHECK: kernel.library @k.matmul "cpu.matmul" {{.*}} workspace({{[0-9]+}}) : (tensor<64x512xf32>, tensor<131072xf32>) -> tensor<64x512xbf16>
// CHECK: kernel.library @k.matmul_0 "cpu.matmul" {{{[^}]*}}} : (tensor<64x512xbf16>, tensor<131072xf32>) -> tensor<64x512xf32>
kernel.library @k.matmul "cpu.matmul" {bf16_parts = 1 : i64, packed_b = 2 : i64, packed_shape = array<i64: 512, 512>} workspace(66560) : (tensor<64x512xf32>, tensor<131072xf32>) -> tensor<64x512xf32>
// CHECK-LABEL: func.func @chain
func.func @chain(%x: tensor<64x512xf32>, %w: tensor<131072xf32>) -> tensor<64x512xf32> {
  // CHECK: %[[A:.*]] = kernel.call @k.matmul(%arg0, %arg1) : {{.*}} -> tensor<64x512xbf16>
  // CHECK: kernel.call @k.matmul_0(%[[A]], %arg1) : (tensor<64x512xbf16>, {{.*}} -> tensor<64x512xf32>
  %0 = kernel.call @k.matmul(%x, %w) : (tensor<64x512xf32>, tensor<131072xf32>) -> tensor<64x512xf32>
  %1 = kernel.call @k.matmul(%0, %w) : (tensor<64x512xf32>, tensor<131072xf32>) -> tensor<64x512xf32>
  return %1 : tensor<64x512xf32>
}

// -----

// Without a kernel that rounds it, a value stays what it is.

kernel.func @k.relu(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %0 = graph.relu %x : tensor<8x64xf32>
  kernel.return %0 : tensor<8x64xf32>
}
// CHECK-LABEL: func.func @floats
func.func @floats(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  // CHECK-NOT: xbf16
  // CHECK: return
  %0 = kernel.call @k.relu(%x) : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %1 = kernel.call @k.relu(%0) : (tensor<8x64xf32>) -> tensor<8x64xf32>
  return %1 : tensor<8x64xf32>
}

// -----

// Generated kernels convert what they write, and lose the memory that a result
// of another size could have overwritten; so does a sum with a residual that
// nobody rounds. Views keep the elements.

// CHECK: kernel.library @k.matmul_add "cpu.matmul" {{{[^}]*}}} : (tensor<8x64xbf16>, tensor<2048xf32>, none, tensor<8x64xbf16>) -> tensor<8x64xf32>
kernel.library @k.matmul_add "cpu.matmul" {bf16_parts = 1 : i64, packed_b = 2 : i64, packed_shape = array<i64: 64, 64>} inPlace([3, 0]) : (tensor<8x64xf32>, tensor<2048xf32>, none, tensor<8x64xf32>) -> tensor<8x64xf32>
// CHECK: kernel.func @k.tanh(%arg0: tensor<8x64xf32>) -> tensor<8x64xbf16> {
// CHECK-NEXT: %[[T:.*]] = graph.tanh %arg0
// CHECK-NEXT: %[[R:.*]] = graph.cast %[[T]] {to = bf16}
// CHECK-NEXT: kernel.return %[[R]]
// CHECK: kernel.func @k.tanh_0(%arg0: tensor<8x64xf32>) -> tensor<8x64xf32> attributes {inPlace = array<i64: 0, 0>}
kernel.func @k.tanh(%x: tensor<8x64xf32>) -> tensor<8x64xf32> attributes {inPlace = array<i64: 0, 0>} {
  %0 = graph.tanh %x : tensor<8x64xf32>
  kernel.return %0 : tensor<8x64xf32>
}
// CHECK-LABEL: func.func @generated
func.func @generated(%x: tensor<8x64xf32>, %w: tensor<2048xf32>) -> tensor<8x64xf32> {
  // CHECK: %[[A:.*]] = kernel.call @k.tanh(%arg0)
  // CHECK: %[[B:.*]] = graph.reshape %[[A]], %{{.*}} : (tensor<8x64xbf16>, tensor<2xi64>) -> tensor<8x64xbf16>
  // CHECK: %[[C:.*]] = kernel.call @k.matmul_add(%[[B]], %arg1, %{{.*}}, %[[B]])
  // CHECK: kernel.call @k.tanh_0(%[[C]])
  %none = graph.none : none
  %shape = graph.constant dense<[8, 64]> : tensor<2xi64>
  %0 = kernel.call @k.tanh(%x) : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %1 = graph.reshape %0, %shape : (tensor<8x64xf32>, tensor<2xi64>) -> tensor<8x64xf32>
  %2 = kernel.call @k.matmul_add(%1, %w, %none, %1) : (tensor<8x64xf32>, tensor<2048xf32>, none, tensor<8x64xf32>) -> tensor<8x64xf32>
  %3 = kernel.call @k.tanh(%2) : (tensor<8x64xf32>) -> tensor<8x64xf32>
  return %3 : tensor<8x64xf32>
}

// -----

// What is only added to something that is rounded is rounded, too, and a
// generated kernel reads what somebody rounds.

// CHECK: kernel.library @k.matmul_add {{.*}} inPlace([3, 0]) : (tensor<8x64xf32>, tensor<2048xf32>, none, tensor<8x64xbf16>) -> tensor<8x64xbf16>
kernel.library @k.matmul_add "cpu.matmul" {bf16_parts = 1 : i64, packed_b = 2 : i64, packed_shape = array<i64: 64, 64>} inPlace([3, 0]) : (tensor<8x64xf32>, tensor<2048xf32>, none, tensor<8x64xf32>) -> tensor<8x64xf32>
kernel.library @k.matmul "cpu.matmul" {bf16_parts = 1 : i64, packed_b = 2 : i64, packed_shape = array<i64: 64, 64>} : (tensor<8x64xf32>, tensor<2048xf32>) -> tensor<8x64xf32>
// CHECK: kernel.func @k.tanh(%arg0: tensor<8x64xbf16>) -> tensor<8x64xf32> {
// CHECK-NEXT: %[[F:.*]] = graph.cast %arg0 {to = f32}
// CHECK-NEXT: graph.tanh %[[F]]
kernel.func @k.tanh(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %0 = graph.tanh %x : tensor<8x64xf32>
  kernel.return %0 : tensor<8x64xf32>
}
// CHECK-LABEL: func.func @added
func.func @added(%x: tensor<8x64xf32>, %w: tensor<2048xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>) {
  // CHECK: %[[A:.*]] = kernel.call @k.matmul(%arg0, %arg1) : {{.*}} -> tensor<8x64xbf16>
  // CHECK: %[[B:.*]] = kernel.call @k.matmul_add(%arg0, %arg1, %{{.*}}, %[[A]])
  // CHECK: kernel.call @k.matmul_0(%[[B]], %arg1)
  // CHECK: kernel.call @k.tanh(%[[B]])
  %none = graph.none : none
  %0 = kernel.call @k.matmul(%x, %w) : (tensor<8x64xf32>, tensor<2048xf32>) -> tensor<8x64xf32>
  %1 = kernel.call @k.matmul_add(%x, %w, %none, %0) : (tensor<8x64xf32>, tensor<2048xf32>, none, tensor<8x64xf32>) -> tensor<8x64xf32>
  %2 = kernel.call @k.matmul(%1, %w) : (tensor<8x64xf32>, tensor<2048xf32>) -> tensor<8x64xf32>
  %3 = kernel.call @k.tanh(%1) : (tensor<8x64xf32>) -> tensor<8x64xf32>
  return %2, %3 : tensor<8x64xf32>, tensor<8x64xf32>
}

// -----

// Images are in blocks of 32 channels then, also those of generated kernels that
// treat all channels alike.

kernel.library @k.conv "cpu.conv" {bf16_parts = 1 : i64, channel_block = 16 : i64, packed_shape = array<i64: 64, 64, 1, 1>, packed_w = 2 : i64} : (tensor<1x4x8x8x16xf32>, tensor<2048xf32>) -> tensor<1x4x8x8x16xf32>
kernel.library @k.conv_0 "cpu.conv" {bf16_parts = 1 : i64, channel_block = 16 : i64, packed_shape = array<i64: 64, 64, 1, 1>, packed_w = 2 : i64} : (tensor<1x4x4x4x16xf32>, tensor<2048xf32>) -> tensor<1x4x4x4x16xf32>
// CHECK: kernel.func @k.max_pool(%arg0: tensor<1x2x8x8x32xbf16>) -> tensor<1x2x4x4x32xbf16> {
// CHECK-NEXT: %[[F:.*]] = graph.cast %arg0 {to = f32} : (tensor<1x2x8x8x32xbf16>) -> tensor<1x2x8x8x32xf32>
// CHECK-NEXT: %[[M:.*]] = graph.max_pool %[[F]] {{.*}} -> tensor<1x2x4x4x32xf32>
// CHECK-NEXT: graph.cast %[[M]] {to = bf16} : (tensor<1x2x4x4x32xf32>) -> tensor<1x2x4x4x32xbf16>
kernel.func @k.max_pool(%x: tensor<1x4x8x8x16xf32>) -> tensor<1x4x4x4x16xf32> {
  %0 = graph.max_pool %x {kernel_shape = array<i64: 3, 3, 1>, pads = array<i64: 1, 1, 0, 1, 1, 0>, strides = array<i64: 2, 2, 1>} : (tensor<1x4x8x8x16xf32>) -> tensor<1x4x4x4x16xf32>
  kernel.return %0 : tensor<1x4x4x4x16xf32>
}
// CHECK-LABEL: func.func @blocks
func.func @blocks(%x: tensor<1x4x8x8x16xf32>, %w: tensor<2048xf32>) -> tensor<1x4x4x4x16xf32> {
  // CHECK: kernel.call @k.conv(%arg0, %arg1) : {{.*}} -> tensor<1x2x8x8x32xbf16>
  // CHECK: kernel.call @k.conv_0({{.*}}) : (tensor<1x2x4x4x32xbf16>, tensor<2048xf32>) -> tensor<1x4x4x4x16xf32>
  %0 = kernel.call @k.conv(%x, %w) : (tensor<1x4x8x8x16xf32>, tensor<2048xf32>) -> tensor<1x4x8x8x16xf32>
  %1 = kernel.call @k.max_pool(%0) : (tensor<1x4x8x8x16xf32>) -> tensor<1x4x4x4x16xf32>
  %2 = kernel.call @k.conv_0(%1, %w) : (tensor<1x4x4x4x16xf32>, tensor<2048xf32>) -> tensor<1x4x4x4x16xf32>
  return %2 : tensor<1x4x4x4x16xf32>
}

// -----

// A mean over the rows of an image does not treat channels alike, and floats
// remain where another reader does not know bfloat16.

kernel.library @k.conv "cpu.conv" {bf16_parts = 1 : i64, channel_block = 16 : i64, packed_shape = array<i64: 64, 64, 1, 1>, packed_w = 2 : i64} : (tensor<1x4x8x8x16xf32>, tensor<2048xf32>) -> tensor<1x4x8x8x16xf32>
kernel.library @k.plain "cpu.conv" {channel_block = 16 : i64, packed_shape = array<i64: 64, 64, 1, 1>, packed_w = 1 : i64} : (tensor<1x4x8x8x16xf32>, tensor<4096xf32>) -> tensor<1x4x8x8x16xf32>
// CHECK-LABEL: func.func @unknown
func.func @unknown(%x: tensor<1x4x8x8x16xf32>, %w: tensor<2048xf32>, %v: tensor<4096xf32>) -> (tensor<1x4x8x8x16xf32>, tensor<1x4x8x8x16xf32>) {
  // CHECK-NOT: xbf16
  // CHECK: return
  %0 = kernel.call @k.conv(%x, %w) : (tensor<1x4x8x8x16xf32>, tensor<2048xf32>) -> tensor<1x4x8x8x16xf32>
  %1 = kernel.call @k.conv(%0, %w) : (tensor<1x4x8x8x16xf32>, tensor<2048xf32>) -> tensor<1x4x8x8x16xf32>
  %2 = kernel.call @k.plain(%0, %v) : (tensor<1x4x8x8x16xf32>, tensor<4096xf32>) -> tensor<1x4x8x8x16xf32>
  return %1, %2 : tensor<1x4x8x8x16xf32>, tensor<1x4x8x8x16xf32>
}

// -----

// Queries, keys and values are rounded; scores, masks and results are not.

kernel.library @k.matmul "cpu.matmul" {bf16_parts = 1 : i64, packed_b = 2 : i64, packed_shape = array<i64: 64, 64>} : (tensor<2x16x64xf32>, tensor<2048xf32>) -> tensor<2x16x64xf32>
// CHECK: kernel.library @k.attention "cpu.attention" {{.*}} : (tensor<2x16x64xbf16>, tensor<2x16x64xbf16>, tensor<2x16x64xbf16>, tensor<16xf32>) -> tensor<2x16x64xf32>
kernel.library @k.attention "cpu.attention" {bf16_parts = 1 : i64, k_order = array<i64: 0, 2, 1>, masks = array<i64: 0>, scores = array<i64: 2, 16, 16>} : (tensor<2x16x64xf32>, tensor<2x16x64xf32>, tensor<2x16x64xf32>, tensor<16xf32>) -> tensor<2x16x64xf32>
kernel.func @k.neg(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = graph.neg %x : tensor<16xf32>
  kernel.return %0 : tensor<16xf32>
}
// CHECK-LABEL: func.func @attention
func.func @attention(%x: tensor<2x16x64xf32>, %m: tensor<16xf32>, %w: tensor<2048xf32>) -> tensor<2x16x64xf32> {
  // CHECK: kernel.call @k.neg({{.*}}) : (tensor<16xf32>) -> tensor<16xf32>
  // CHECK-COUNT-3: kernel.call @k.matmul{{.*}} -> tensor<2x16x64xbf16>
  // CHECK: kernel.call @k.attention
  // CHECK: kernel.call @k.matmul{{.*}} : (tensor<2x16x64xf32>, tensor<2048xf32>) -> tensor<2x16x64xf32>
  %mask = kernel.call @k.neg(%m) : (tensor<16xf32>) -> tensor<16xf32>
  %q = kernel.call @k.matmul(%x, %w) : (tensor<2x16x64xf32>, tensor<2048xf32>) -> tensor<2x16x64xf32>
  %k = kernel.call @k.matmul(%x, %w) : (tensor<2x16x64xf32>, tensor<2048xf32>) -> tensor<2x16x64xf32>
  %v = kernel.call @k.matmul(%x, %w) : (tensor<2x16x64xf32>, tensor<2048xf32>) -> tensor<2x16x64xf32>
  %a = kernel.call @k.attention(%q, %k, %v, %mask) : (tensor<2x16x64xf32>, tensor<2x16x64xf32>, tensor<2x16x64xf32>, tensor<16xf32>) -> tensor<2x16x64xf32>
  %y = kernel.call @k.matmul(%a, %w) : (tensor<2x16x64xf32>, tensor<2048xf32>) -> tensor<2x16x64xf32>
  return %y : tensor<2x16x64xf32>
}

// -----

// Casts of a kernel's own, and numbers; what is as large as an image and not
// blind to channels stays, and so do operands that are left out.

kernel.library @k.conv "cpu.conv" {bf16_parts = 1 : i64, channel_block = 16 : i64, packed_shape = array<i64: 64, 64, 1, 1>, packed_w = 2 : i64} : (tensor<1x4x8x8x16xf32>, tensor<2048xf32>) -> tensor<1x4x8x8x16xf32>
// CHECK: kernel.func @k.gate(%arg0: tensor<1x2x8x8x32xbf16>) -> tensor<1x2x8x8x32xbf16> {
// CHECK: graph.cast {{.*}} : (tensor<1x2x8x8x32xf32>) -> tensor<1x2x8x8x32xi32>
// CHECK: graph.cast {{.*}} : (tensor<1x2x8x8x32xi32>) -> tensor<1x2x8x8x32xf32>
kernel.func @k.gate(%x: tensor<1x4x8x8x16xf32>) -> tensor<1x4x8x8x16xf32> {
  %two = graph.constant dense<2.0> : tensor<f32>
  %0 = graph.cast %x {to = i32} : (tensor<1x4x8x8x16xf32>) -> tensor<1x4x8x8x16xi32>
  %1 = graph.cast %0 {to = f32} : (tensor<1x4x8x8x16xi32>) -> tensor<1x4x8x8x16xf32>
  %2 = graph.mul %1, %two : (tensor<1x4x8x8x16xf32>, tensor<f32>) -> tensor<1x4x8x8x16xf32>
  kernel.return %2 : tensor<1x4x8x8x16xf32>
}
// CHECK: kernel.func @k.ramp(%arg0: tensor<1x4x8x8x16xf32>, %arg1: none)
kernel.func @k.ramp(%x: tensor<1x4x8x8x16xf32>, %n: none) -> tensor<1x4x8x8x16xf32> {
  %c = graph.constant dense<2.0> : tensor<1x4x8x8x16xf32>
  %0 = graph.mul %x, %c : tensor<1x4x8x8x16xf32>
  kernel.return %0 : tensor<1x4x8x8x16xf32>
}
// CHECK-LABEL: func.func @moved
func.func @moved(%x: tensor<1x4x8x8x16xf32>, %w: tensor<2048xf32>) -> (tensor<1x4x8x8x16xf32>, tensor<1x4x8x8x16xf32>, tensor<1x4x8x8x16xf32>) {
  // CHECK: %[[A:.*]] = kernel.call @k.conv({{.*}} -> tensor<1x2x8x8x32xbf16>
  // CHECK: kernel.call @k.gate(%[[A]])
  // CHECK: kernel.call @k.ramp({{.*}}) : (tensor<1x4x8x8x16xf32>, none) -> tensor<1x4x8x8x16xf32>
  %n = graph.none : none
  %0 = kernel.call @k.conv(%x, %w) : (tensor<1x4x8x8x16xf32>, tensor<2048xf32>) -> tensor<1x4x8x8x16xf32>
  %1 = kernel.call @k.conv(%0, %w) : (tensor<1x4x8x8x16xf32>, tensor<2048xf32>) -> tensor<1x4x8x8x16xf32>
  %2 = kernel.call @k.gate(%0) : (tensor<1x4x8x8x16xf32>) -> tensor<1x4x8x8x16xf32>
  %3 = kernel.call @k.conv(%2, %w) : (tensor<1x4x8x8x16xf32>, tensor<2048xf32>) -> tensor<1x4x8x8x16xf32>
  %4 = kernel.call @k.conv(%x, %w) : (tensor<1x4x8x8x16xf32>, tensor<2048xf32>) -> tensor<1x4x8x8x16xf32>
  %5 = kernel.call @k.ramp(%4, %n) : (tensor<1x4x8x8x16xf32>, none) -> tensor<1x4x8x8x16xf32>
  %6 = kernel.call @k.conv(%5, %w) : (tensor<1x4x8x8x16xf32>, tensor<2048xf32>) -> tensor<1x4x8x8x16xf32>
  return %1, %3, %6 : tensor<1x4x8x8x16xf32>, tensor<1x4x8x8x16xf32>, tensor<1x4x8x8x16xf32>
}
