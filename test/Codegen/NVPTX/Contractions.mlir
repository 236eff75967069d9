// SPDX-License-Identifier: Apache-2.0
//
// Contractions as code, which devices without a library for them have: tiles
// are rectangles of the result, and taps outside of an image are dropped where
// they are read. At the end what a host has faster ways for. KernelsTest.cpp
// compares all of them with their definitions.
//
// RUN: dlc-opt %s --convert-kernel-to-linalg | FileCheck %s

// CHECK-LABEL: @matmul_of_tiles
// CHECK: scf.forall (%{{.*}}, %{{.*}}) in (8, 12)
// CHECK: linalg.generic {{.*}}"parallel", "parallel", "reduction"]} ins({{.*}} : memref<16x20xf32, {{.*}}>, memref<20x16xf32, {{.*}}>) outs({{.*}} : memref<16x16xf32
// CHECK: arith.mulf
// CHECK-NEXT: arith.addf

// CHECK-LABEL: @matmul_f16
// CHECK: memref.alloca() : memref<{{.*}}xf32>
// CHECK: arith.extf
// CHECK: arith.truncf

// CHECK-LABEL: @conv_padded
// CHECK: %[[SUMS:.*]] = memref.alloca() : memref<8x11xf32>
// CHECK: %[[HERE:.*]] = arith.andi
// CHECK-NEXT: %[[TAP:.*]] = memref.load
// CHECK: %[[TERM:.*]] = arith.mulf %[[TAP]]
// CHECK: arith.select %[[HERE]], %[[TERM]]
// CHECK: linalg.generic {{.*}} ins(%[[SUMS]], %{{.*}} : memref<8x11xf32>, memref<8xf32>)

// CHECK-LABEL: @conv_weight_gradient_f16
// CHECK: memref.alloca() : memref<{{.*}}xf32>
// CHECK: arith.truncf

// Where an extent has no divisor that makes a tile, it is taken as a whole.
// CHECK-LABEL: @matmul_of_prime_rows
// CHECK: scf.forall (%{{.*}}, %{{.*}}) in (4, 48)
// CHECK: linalg.generic {{.*}} outs({{.*}} : memref<197x16xf32

// CHECK-LABEL: @matmul_of_prime_columns
// CHECK: scf.forall (%{{.*}}) in (128)
// CHECK: linalg.generic {{.*}} outs({{.*}} : memref<8x1013xf32

// Each element looks for its updates.
// CHECK-LABEL: @scatter_add
// CHECK: linalg.generic {{.*}}"reduction"
// CHECK: arith.cmpi eq
// CHECK: arith.select
// CHECK: arith.addf

kernel.func @matmul(%a: tensor<16x24xf32>, %b: tensor<24x30xf32>) -> (tensor<16x30xf32>) {
  %0 = graph.matmul %a, %b : (tensor<16x24xf32>, tensor<24x30xf32>) -> tensor<16x30xf32>
  kernel.return %0 : tensor<16x30xf32>
}
kernel.func @matmul_of_tiles(%a: tensor<128x20xf32>, %b: tensor<20x192xf32>) -> (tensor<128x192xf32>) {
  %0 = graph.matmul %a, %b : (tensor<128x20xf32>, tensor<20x192xf32>) -> tensor<128x192xf32>
  kernel.return %0 : tensor<128x192xf32>
}
kernel.func @matmul_of_odd_extents(%a: tensor<67x29xf32>, %b: tensor<29x31xf32>) -> (tensor<67x31xf32>) {
  %0 = graph.matmul %a, %b : (tensor<67x29xf32>, tensor<29x31xf32>) -> tensor<67x31xf32>
  kernel.return %0 : tensor<67x31xf32>
}
kernel.func @matmul_of_a_row(%a: tensor<1x70xf32>, %b: tensor<70x300xf32>) -> (tensor<1x300xf32>) {
  %0 = graph.matmul %a, %b : (tensor<1x70xf32>, tensor<70x300xf32>) -> tensor<1x300xf32>
  kernel.return %0 : tensor<1x300xf32>
}
kernel.func @matmul_of_a_column(%a: tensor<90x70xf32>, %b: tensor<70x1xf32>) -> (tensor<90x1xf32>) {
  %0 = graph.matmul %a, %b : (tensor<90x70xf32>, tensor<70x1xf32>) -> tensor<90x1xf32>
  kernel.return %0 : tensor<90x1xf32>
}
kernel.func @matmul_of_one_term(%a: tensor<33x1xf32>, %b: tensor<1x48xf32>) -> (tensor<33x48xf32>) {
  %0 = graph.matmul %a, %b : (tensor<33x1xf32>, tensor<1x48xf32>) -> tensor<33x48xf32>
  kernel.return %0 : tensor<33x48xf32>
}
kernel.func @matmul_of_batches(%a: tensor<3x2x17x12xf32>, %b: tensor<2x12x20xf32>) -> (tensor<3x2x17x20xf32>) {
  %0 = graph.matmul %a, %b : (tensor<3x2x17x12xf32>, tensor<2x12x20xf32>) -> tensor<3x2x17x20xf32>
  kernel.return %0 : tensor<3x2x17x20xf32>
}
kernel.func @matmul_of_one_batch(%a: tensor<1x20x12xf32>, %b: tensor<5x12x9xf32>) -> (tensor<5x20x9xf32>) {
  %0 = graph.matmul %a, %b : (tensor<1x20x12xf32>, tensor<5x12x9xf32>) -> tensor<5x20x9xf32>
  kernel.return %0 : tensor<5x20x9xf32>
}
kernel.func @matmul_f64(%a: tensor<20x24xf64>, %b: tensor<24x18xf64>) -> (tensor<20x18xf64>) {
  %0 = graph.matmul %a, %b : (tensor<20x24xf64>, tensor<24x18xf64>) -> tensor<20x18xf64>
  kernel.return %0 : tensor<20x18xf64>
}
kernel.func @matmul_f16(%a: tensor<20x24xf16>, %b: tensor<24x18xf16>) -> (tensor<20x18xf16>) {
  %0 = graph.matmul %a, %b : (tensor<20x24xf16>, tensor<24x18xf16>) -> tensor<20x18xf16>
  kernel.return %0 : tensor<20x18xf16>
}
kernel.func @matmul_bf16(%a: tensor<20x24xbf16>, %b: tensor<24x18xbf16>) -> (tensor<20x18xbf16>) {
  %0 = graph.matmul %a, %b : (tensor<20x24xbf16>, tensor<24x18xbf16>) -> tensor<20x18xbf16>
  kernel.return %0 : tensor<20x18xbf16>
}
kernel.func @matmul_i32(%a: tensor<20x24xi32>, %b: tensor<24x18xi32>) -> (tensor<20x18xi32>) {
  %0 = graph.matmul %a, %b : (tensor<20x24xi32>, tensor<24x18xi32>) -> tensor<20x18xi32>
  kernel.return %0 : tensor<20x18xi32>
}
kernel.func @matmul_ui8(%a: tensor<20x24xui8>, %b: tensor<24x18xui8>) -> (tensor<20x18xui8>) {
  %0 = graph.matmul %a, %b : (tensor<20x24xui8>, tensor<24x18xui8>) -> tensor<20x18xui8>
  kernel.return %0 : tensor<20x18xui8>
}
kernel.func @matmul_with_bias_and_relu(%a: tensor<80x40xf32>, %b: tensor<40x96xf32>, %c: tensor<96xf32>) -> (tensor<80x96xf32>) {
  %0 = graph.matmul %a, %b : (tensor<80x40xf32>, tensor<40x96xf32>) -> tensor<80x96xf32>
  %1 = graph.add %0, %c : (tensor<80x96xf32>, tensor<96xf32>) -> tensor<80x96xf32>
  %y = graph.relu %1 : tensor<80x96xf32>
  kernel.return %y : tensor<80x96xf32>
}
kernel.func @matmul_with_residual(%a: tensor<80x40xf32>, %b: tensor<40x96xf32>, %c: tensor<80x96xf32>) -> (tensor<80x96xf32>) {
  %0 = graph.matmul %a, %b : (tensor<80x40xf32>, tensor<40x96xf32>) -> tensor<80x96xf32>
  %1 = graph.gelu %0 : tensor<80x96xf32>
  %y = graph.add %1, %c : tensor<80x96xf32>
  kernel.return %y : tensor<80x96xf32>
}
kernel.func @matmul_and_its_relu(%a: tensor<80x40xf32>, %b: tensor<40x96xf32>) -> (tensor<80x96xf32>, tensor<80x96xf32>) {
  %0 = graph.matmul %a, %b : (tensor<80x40xf32>, tensor<40x96xf32>) -> tensor<80x96xf32>
  %1 = graph.relu %0 : tensor<80x96xf32>
  kernel.return %0, %1 : tensor<80x96xf32>, tensor<80x96xf32>
}
kernel.func @conv(%x: tensor<2x6x9x11xf32>, %w: tensor<8x6x3x3xf32>) -> (tensor<2x8x7x9xf32>) {
  %0 = graph.conv %x, %w : (tensor<2x6x9x11xf32>, tensor<8x6x3x3xf32>) -> tensor<2x8x7x9xf32>
  kernel.return %0 : tensor<2x8x7x9xf32>
}
kernel.func @conv_padded(%x: tensor<2x6x9x11xf32>, %w: tensor<8x6x3x3xf32>, %c: tensor<8xf32>) -> (tensor<2x8x9x11xf32>) {
  %0 = graph.conv %x, %w, %c {pads = array<i64: 1, 1, 1, 1>} : (tensor<2x6x9x11xf32>, tensor<8x6x3x3xf32>, tensor<8xf32>) -> tensor<2x8x9x11xf32>
  %1 = graph.relu %0 : tensor<2x8x9x11xf32>
  kernel.return %1 : tensor<2x8x9x11xf32>
}
kernel.func @conv_of_tiles(%x: tensor<1x5x32x32xf32>, %w: tensor<128x5x3x3xf32>) -> (tensor<1x128x32x32xf32>) {
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x5x32x32xf32>, tensor<128x5x3x3xf32>) -> tensor<1x128x32x32xf32>
  kernel.return %0 : tensor<1x128x32x32xf32>
}
kernel.func @conv_strided(%x: tensor<1x4x15x16xf32>, %w: tensor<10x4x3x3xf32>, %c: tensor<10xf32>) -> (tensor<1x10x8x8xf32>) {
  %0 = graph.conv %x, %w, %c {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x4x15x16xf32>, tensor<10x4x3x3xf32>, tensor<10xf32>) -> tensor<1x10x8x8xf32>
  kernel.return %0 : tensor<1x10x8x8xf32>
}
kernel.func @conv_dilated(%x: tensor<1x4x15x16xf32>, %w: tensor<10x4x3x2xf32>) -> (tensor<1x10x11x12xf32>) {
  %0 = graph.conv %x, %w {dilations = array<i64: 3, 5>, pads = array<i64: 2, 0, 0, 1>} : (tensor<1x4x15x16xf32>, tensor<10x4x3x2xf32>) -> tensor<1x10x11x12xf32>
  kernel.return %0 : tensor<1x10x11x12xf32>
}
kernel.func @conv_1x1(%x: tensor<2x12x7x7xf32>, %w: tensor<40x12x1x1xf32>, %r: tensor<2x40x7x7xf32>) -> (tensor<2x40x7x7xf32>) {
  %0 = graph.conv %x, %w : (tensor<2x12x7x7xf32>, tensor<40x12x1x1xf32>) -> tensor<2x40x7x7xf32>
  %1 = graph.add %0, %r : tensor<2x40x7x7xf32>
  kernel.return %1 : tensor<2x40x7x7xf32>
}
kernel.func @conv_of_groups(%x: tensor<2x6x9x8xf32>, %w: tensor<9x2x3x3xf32>, %c: tensor<9xf32>) -> (tensor<2x9x9x8xf32>) {
  %0 = graph.conv %x, %w, %c {pads = array<i64: 1, 1, 1, 1>, group = 3 : i64} : (tensor<2x6x9x8xf32>, tensor<9x2x3x3xf32>, tensor<9xf32>) -> tensor<2x9x9x8xf32>
  kernel.return %0 : tensor<2x9x9x8xf32>
}
kernel.func @conv_depthwise(%x: tensor<2x20x9x8xf32>, %w: tensor<20x1x3x3xf32>) -> (tensor<2x20x9x8xf32>) {
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>, group = 20 : i64} : (tensor<2x20x9x8xf32>, tensor<20x1x3x3xf32>) -> tensor<2x20x9x8xf32>
  kernel.return %0 : tensor<2x20x9x8xf32>
}
kernel.func @conv_same(%x: tensor<1x3x9x8xf32>, %w: tensor<4x3x2x2xf32>) -> (tensor<1x4x9x8xf32>) {
  %0 = graph.conv %x, %w {auto_pad = "SAME_UPPER"} : (tensor<1x3x9x8xf32>, tensor<4x3x2x2xf32>) -> tensor<1x4x9x8xf32>
  kernel.return %0 : tensor<1x4x9x8xf32>
}
kernel.func @conv_of_one_dimension(%x: tensor<2x3x40xf32>, %w: tensor<5x3x4xf32>) -> (tensor<2x5x19xf32>) {
  %0 = graph.conv %x, %w {strides = array<i64: 2>, pads = array<i64: 1, 0>} : (tensor<2x3x40xf32>, tensor<5x3x4xf32>) -> tensor<2x5x19xf32>
  kernel.return %0 : tensor<2x5x19xf32>
}
kernel.func @conv_f16(%x: tensor<1x4x9x8xf16>, %w: tensor<6x4x3x3xf16>, %c: tensor<6xf16>) -> (tensor<1x6x9x8xf16>) {
  %0 = graph.conv %x, %w, %c {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x9x8xf16>, tensor<6x4x3x3xf16>, tensor<6xf16>) -> tensor<1x6x9x8xf16>
  kernel.return %0 : tensor<1x6x9x8xf16>
}
kernel.func @conv_f64(%x: tensor<1x4x9x8xf64>, %w: tensor<6x4x3x3xf64>, %c: tensor<6xf64>) -> (tensor<1x6x9x8xf64>) {
  %0 = graph.conv %x, %w, %c {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x9x8xf64>, tensor<6x4x3x3xf64>, tensor<6xf64>) -> tensor<1x6x9x8xf64>
  kernel.return %0 : tensor<1x6x9x8xf64>
}
kernel.func @conv_i32(%x: tensor<1x4x9x8xi32>, %w: tensor<6x4x3x3xi32>) -> (tensor<1x6x9x8xi32>) {
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x9x8xi32>, tensor<6x4x3x3xi32>) -> tensor<1x6x9x8xi32>
  kernel.return %0 : tensor<1x6x9x8xi32>
}
kernel.func @conv_weight_gradient(%x: tensor<2x6x9x11xf32>, %g: tensor<2x8x9x11xf32>) -> (tensor<8x6x3x3xf32>) {
  %w = graph.conv_weight_gradient %x, %g {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<2x6x9x11xf32>, tensor<2x8x9x11xf32>) -> tensor<8x6x3x3xf32>
  kernel.return %w : tensor<8x6x3x3xf32>
}
kernel.func @conv_weight_gradient_strided(%x: tensor<2x6x9x11xf32>, %g: tensor<2x8x5x6xf32>) -> (tensor<8x6x3x3xf32>) {
  %w = graph.conv_weight_gradient %x, %g {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<2x6x9x11xf32>, tensor<2x8x5x6xf32>) -> tensor<8x6x3x3xf32>
  kernel.return %w : tensor<8x6x3x3xf32>
}
kernel.func @conv_weight_gradient_of_groups(%x: tensor<2x6x9x8xf32>, %g: tensor<2x9x9x8xf32>) -> (tensor<9x2x3x3xf32>) {
  %w = graph.conv_weight_gradient %x, %g {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, group = 3 : i64} : (tensor<2x6x9x8xf32>, tensor<2x9x9x8xf32>) -> tensor<9x2x3x3xf32>
  kernel.return %w : tensor<9x2x3x3xf32>
}
kernel.func @conv_weight_gradient_1x1(%x: tensor<3x12x5x5xf32>, %g: tensor<3x40x5x5xf32>) -> (tensor<40x12x1x1xf32>) {
  %w = graph.conv_weight_gradient %x, %g {kernel_shape = array<i64: 1, 1>} : (tensor<3x12x5x5xf32>, tensor<3x40x5x5xf32>) -> tensor<40x12x1x1xf32>
  kernel.return %w : tensor<40x12x1x1xf32>
}
kernel.func @conv_weight_gradient_channels_last(%x: tensor<2x1x9x11x8xf16>, %g: tensor<2x1x7x10x16xf16>) -> (tensor<16x8x3x2xf16>) {
  %w = graph.conv_weight_gradient %x, %g {kernel_shape = array<i64: 3, 2>} : (tensor<2x1x9x11x8xf16>, tensor<2x1x7x10x16xf16>) -> tensor<16x8x3x2xf16>
  kernel.return %w : tensor<16x8x3x2xf16>
}
kernel.func @conv_weight_gradient_last_1x1(%x: tensor<3x12x5x5xf32>, %g: tensor<3x1x5x5x40xf32>) -> (tensor<40x12x1x1xf32>) {
  %w = graph.conv_weight_gradient %x, %g {kernel_shape = array<i64: 1, 1>} : (tensor<3x12x5x5xf32>, tensor<3x1x5x5x40xf32>) -> tensor<40x12x1x1xf32>
  kernel.return %w : tensor<40x12x1x1xf32>
}
kernel.func @conv_padded_special(%x: tensor<1x1x5x6xf32>, %w: tensor<8x1x3x3xf32>) -> (tensor<1x8x5x6xf32>) {
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x5x6xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x5x6xf32>
  kernel.return %0 : tensor<1x8x5x6xf32>
}
kernel.func @conv_weight_gradient_special(%x: tensor<1x4x3x4xf32>, %g: tensor<1x5x3x4xf32>) -> (tensor<5x4x3x3xf32>) {
  %w = graph.conv_weight_gradient %x, %g {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x3x4xf32>, tensor<1x5x3x4xf32>) -> tensor<5x4x3x3xf32>
  kernel.return %w : tensor<5x4x3x3xf32>
}
kernel.func @conv_weight_gradient_last_special(%x: tensor<1x1x3x4x4xf32>, %g: tensor<1x1x3x4x5xf32>) -> (tensor<5x4x3x3xf32>) {
  %w = graph.conv_weight_gradient %x, %g {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x3x4x4xf32>, tensor<1x1x3x4x5xf32>) -> tensor<5x4x3x3xf32>
  kernel.return %w : tensor<5x4x3x3xf32>
}
kernel.func @matmul_f16_twice(%a: tensor<20x24xf16>, %b: tensor<24x18xf16>) -> (tensor<20x18xf16>) {
  %0 = graph.matmul %a, %b : (tensor<20x24xf16>, tensor<24x18xf16>) -> tensor<20x18xf16>
  %y = graph.add %0, %0 : tensor<20x18xf16>
  kernel.return %y : tensor<20x18xf16>
}
kernel.func @matmul_bf16_with_residual(%a: tensor<20x24xbf16>, %b: tensor<24x18xbf16>, %c: tensor<20x18xbf16>) -> (tensor<20x18xbf16>) {
  %0 = graph.matmul %a, %b : (tensor<20x24xbf16>, tensor<24x18xbf16>) -> tensor<20x18xbf16>
  %y = graph.mul %0, %c : tensor<20x18xbf16>
  kernel.return %y : tensor<20x18xbf16>
}
kernel.func @conv_weight_gradient_f16(%x: tensor<2x2x24x24xf16>, %g: tensor<2x3x24x24xf16>) -> (tensor<3x2x3x3xf16>) {
  %w = graph.conv_weight_gradient %x, %g {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<2x2x24x24xf16>, tensor<2x3x24x24xf16>) -> tensor<3x2x3x3xf16>
  kernel.return %w : tensor<3x2x3x3xf16>
}
kernel.func @exp_before_a_matmul(%a: tensor<80x40xf32>, %b: tensor<40x96xf32>, %c: tensor<80x96xf32>) -> (tensor<80x96xf32>) {
  %e = graph.exp %c : tensor<80x96xf32>
  %0 = graph.matmul %a, %b : (tensor<80x40xf32>, tensor<40x96xf32>) -> tensor<80x96xf32>
  %y = graph.add %0, %e : tensor<80x96xf32>
  kernel.return %y : tensor<80x96xf32>
}
kernel.func @matmul_of_prime_rows(%a: tensor<4x197x3xf32>, %b: tensor<3x768xf32>) -> (tensor<4x197x768xf32>) {
  %y = graph.matmul %a, %b : (tensor<4x197x3xf32>, tensor<3x768xf32>) -> tensor<4x197x768xf32>
  kernel.return %y : tensor<4x197x768xf32>
}
kernel.func @matmul_of_prime_columns(%a: tensor<1024x2xf32>, %b: tensor<2x1013xf32>) -> (tensor<1024x1013xf32>) {
  %y = graph.matmul %a, %b : (tensor<1024x2xf32>, tensor<2x1013xf32>) -> tensor<1024x1013xf32>
  kernel.return %y : tensor<1024x1013xf32>
}
kernel.func @conv_weight_gradient_by_warps(%x: tensor<2x3x18x18xf32>, %g: tensor<2x4x18x18xf32>) -> (tensor<4x3x3x3xf32>) {
  %w = graph.conv_weight_gradient %x, %g {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<2x3x18x18xf32>, tensor<2x4x18x18xf32>) -> tensor<4x3x3x3xf32>
  kernel.return %w : tensor<4x3x3x3xf32>
}
// From tiles in shared memory.
kernel.func @conv_tiles_special(%x: tensor<1x8x9x9xf32>, %w: tensor<16x8x3x3xf32>) -> (tensor<1x16x9x9xf32>) {
  %y = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x9x9xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x9x9xf32>
  kernel.return %y : tensor<1x16x9x9xf32>
}
kernel.func @conv_tiles_f16_special(%x: tensor<1x16x9x9xf16>, %w: tensor<16x16x3x3xf16>) -> (tensor<1x16x9x9xf16>) {
  %y = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x9x9xf16>, tensor<16x16x3x3xf16>) -> tensor<1x16x9x9xf16>
  kernel.return %y : tensor<1x16x9x9xf16>
}
kernel.func @conv_blocked_f16_special(%x: tensor<1x4x6x7x8xf16>, %w: tensor<24x32x3x3xf16>) -> (tensor<1x3x6x7x8xf16>) {
  %y = graph.conv %x, %w {channel_block = 8 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x6x7x8xf16>, tensor<24x32x3x3xf16>) -> tensor<1x3x6x7x8xf16>
  kernel.return %y : tensor<1x3x6x7x8xf16>
}
kernel.func @conv_blocked_bf16_with_bias(%x: tensor<2x3x9x9x8xbf16>, %w: tensor<3x3x24x16xbf16>, %b: tensor<16xbf16>) -> (tensor<2x2x4x4x8xbf16>) {
  %0 = graph.transpose %w {perm = array<i64: 3, 2, 0, 1>} : (tensor<3x3x24x16xbf16>) -> tensor<16x24x3x3xbf16>
  %1 = graph.conv %x, %0, %b {channel_block = 8 : i64, strides = array<i64: 2, 2>} : (tensor<2x3x9x9x8xbf16>, tensor<16x24x3x3xbf16>, tensor<16xbf16>) -> tensor<2x2x4x4x8xbf16>
  %y = graph.relu %1 : tensor<2x2x4x4x8xbf16>
  kernel.return %y : tensor<2x2x4x4x8xbf16>
}
kernel.func @conv_out_of_blocks(%x: tensor<1x3x5x6x8xf32>, %w: tensor<20x24x1x1xf32>) -> (tensor<1x20x5x6xf32>) {
  %y = graph.conv %x, %w : (tensor<1x3x5x6x8xf32>, tensor<20x24x1x1xf32>) -> tensor<1x20x5x6xf32>
  kernel.return %y : tensor<1x20x5x6xf32>
}
kernel.func @conv_into_blocks(%x: tensor<1x3x9x9xf32>, %w: tensor<16x3x3x3xf32>) -> (tensor<1x2x4x4x8xf32>) {
  %y = graph.conv %x, %w {channel_block = 8 : i64, strides = array<i64: 2, 2>} : (tensor<1x3x9x9xf32>, tensor<16x3x3x3xf32>) -> tensor<1x2x4x4x8xf32>
  kernel.return %y : tensor<1x2x4x4x8xf32>
}
kernel.func @conv_depthwise_blocked(%x: tensor<1x2x9x9x8xf32>, %w: tensor<16x1x3x3xf32>) -> (tensor<1x2x9x9x8xf32>) {
  %y = graph.conv %x, %w {channel_block = 8 : i64, group = 16 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x2x9x9x8xf32>, tensor<16x1x3x3xf32>) -> tensor<1x2x9x9x8xf32>
  kernel.return %y : tensor<1x2x9x9x8xf32>
}
kernel.func @max_pool_blocked(%x: tensor<1x2x9x9x8xf16>) -> (tensor<1x2x5x5x8xf16>) {
  %y = graph.max_pool %x {kernel_shape = array<i64: 3, 3, 1>, strides = array<i64: 2, 2, 1>, pads = array<i64: 1, 1, 0, 1, 1, 0>} : (tensor<1x2x9x9x8xf16>) -> tensor<1x2x5x5x8xf16>
  kernel.return %y : tensor<1x2x5x5x8xf16>
}
kernel.func @matmul_many_terms_f16(%a: tensor<32x1536xf16>, %b: tensor<1536x48xf16>, %c: tensor<48xf16>) -> (tensor<32x48xf16>) {
  %0 = graph.matmul %a, %b : (tensor<32x1536xf16>, tensor<1536x48xf16>) -> tensor<32x48xf16>
  %y = graph.add %0, %c : (tensor<32x48xf16>, tensor<48xf16>) -> tensor<32x48xf16>
  kernel.return %y : tensor<32x48xf16>
}
kernel.func @matmul_many_terms(%a: tensor<17x1100xf32>, %b: tensor<1100x31xf32>) -> (tensor<17x31xf32>) {
  %y = graph.matmul %a, %b : (tensor<17x1100xf32>, tensor<1100x31xf32>) -> tensor<17x31xf32>
  kernel.return %y : tensor<17x31xf32>
}
kernel.func @matmul_one_row(%a: tensor<1x1024xbf16>, %b: tensor<1024x100xbf16>) -> (tensor<1x100xbf16>) {
  %y = graph.matmul %a, %b : (tensor<1x1024xbf16>, tensor<1024x100xbf16>) -> tensor<1x100xbf16>
  kernel.return %y : tensor<1x100xbf16>
}
kernel.func @matmul_moved_operands(%q: tensor<1x40x6x16xf16>, %k: tensor<1x40x6x16xf16>) -> (tensor<1x6x40x40xf16>) {
  %0 = graph.transpose %q {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x40x6x16xf16>) -> tensor<1x6x40x16xf16>
  %1 = graph.transpose %k {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x40x6x16xf16>) -> tensor<1x6x16x40xf16>
  %y = graph.matmul %0, %1 : (tensor<1x6x40x16xf16>, tensor<1x6x16x40xf16>) -> tensor<1x6x40x40xf16>
  kernel.return %y : tensor<1x6x40x40xf16>
}
kernel.func @matmul_odd_f16(%a: tensor<37x51xf16>, %b: tensor<51x29xf16>) -> (tensor<37x29xf16>) {
  %y = graph.matmul %a, %b : (tensor<37x51xf16>, tensor<51x29xf16>) -> tensor<37x29xf16>
  kernel.return %y : tensor<37x29xf16>
}
kernel.func @softmax_of_many_rows(%x: tensor<600x96xf32>) -> (tensor<600x96xf32>) {
  %y = graph.softmax %x {axis = 1 : i64} : tensor<600x96xf32>
  kernel.return %y : tensor<600x96xf32>
}
// Two results of the same sums, by all blocks of a tile or one.
kernel.func @matmul_two_results(%a: tensor<32x1536xf16>, %b: tensor<1536x48xf16>, %c: tensor<48xf16>) -> (tensor<32x48xf16>, tensor<32x48xbf16>) {
  %0 = graph.matmul %a, %b : (tensor<32x1536xf16>, tensor<1536x48xf16>) -> tensor<32x48xf16>
  %y = graph.add %0, %c : (tensor<32x48xf16>, tensor<48xf16>) -> tensor<32x48xf16>
  %z = graph.cast %0 {to = bf16} : (tensor<32x48xf16>) -> tensor<32x48xbf16>
  kernel.return %y, %z : tensor<32x48xf16>, tensor<32x48xbf16>
}
// Steps of two elements that are no neighbours.
kernel.func @conv_strided_and_dilated(%x: tensor<1x6x12x20xf32>, %w: tensor<12x6x3x3xf32>) -> (tensor<1x12x12x8xf32>) {
  %y = graph.conv %x, %w {pads = array<i64: 2, 0, 2, 0>, strides = array<i64: 1, 2>, dilations = array<i64: 2, 2>} : (tensor<1x6x12x20xf32>, tensor<12x6x3x3xf32>) -> tensor<1x12x12x8xf32>
  kernel.return %y : tensor<1x12x12x8xf32>
}
kernel.func @conv_strided_and_dilated_f16(%x: tensor<1x8x12x36xf16>, %w: tensor<16x8x3x2xf16>) -> (tensor<1x16x12x8xf16>) {
  %y = graph.conv %x, %w {pads = array<i64: 1, 0, 1, 0>, strides = array<i64: 1, 4>, dilations = array<i64: 1, 4>} : (tensor<1x8x12x36xf16>, tensor<16x8x3x2xf16>) -> tensor<1x16x12x8xf16>
  kernel.return %y : tensor<1x16x12x8xf16>
}
kernel.func @conv_weight_gradient_strided_and_dilated(%x: tensor<1x6x12x20xf32>, %g: tensor<1x12x12x8xf32>) -> (tensor<12x6x3x3xf32>) {
  %w = graph.conv_weight_gradient %x, %g {kernel_shape = array<i64: 3, 3>, pads = array<i64: 2, 0, 2, 0>, strides = array<i64: 1, 2>, dilations = array<i64: 2, 2>} : (tensor<1x6x12x20xf32>, tensor<1x12x12x8xf32>) -> tensor<12x6x3x3xf32>
  kernel.return %w : tensor<12x6x3x3xf32>
}
// Sums along which nothing changes.
kernel.func @sum_of_repeated(%x: tensor<4x1xf32>) -> (tensor<4x1xf32>) {
  %s = graph.constant dense<[4, 100]> : tensor<2xi64>
  %a = graph.constant dense<1> : tensor<1xi64>
  %e = graph.expand %x, %s : (tensor<4x1xf32>, tensor<2xi64>) -> tensor<4x100xf32>
  %y = graph.reduce_sum %e, %a : (tensor<4x100xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  kernel.return %y : tensor<4x1xf32>
}
kernel.func @mean_of_repeated(%x: tensor<3x100x1xf32>) -> (tensor<3x1x1xf32>) {
  %s = graph.constant dense<[3, 100, 36]> : tensor<3xi64>
  %a = graph.constant dense<[1, 2]> : tensor<2xi64>
  %e = graph.expand %x, %s : (tensor<3x100x1xf32>, tensor<3xi64>) -> tensor<3x100x36xf32>
  %y = graph.reduce_mean %e, %a : (tensor<3x100x36xf32>, tensor<2xi64>) -> tensor<3x1x1xf32>
  kernel.return %y : tensor<3x1x1xf32>
}
kernel.func @conv_of_flat_images_f16(%x: tensor<1x34x4x1xf16>, %w: tensor<8x34x1x1xf16>) -> (tensor<1x8x2x1xf16>) {
  %y = graph.conv %x, %w {strides = array<i64: 2, 1>} : (tensor<1x34x4x1xf16>, tensor<8x34x1x1xf16>) -> tensor<1x8x2x1xf16>
  kernel.return %y : tensor<1x8x2x1xf16>
}
// Rows of more results than registers, or than shared memory, hold.
kernel.func @sum_of_scaled_rows(%x: tensor<16x1xf32>, %y: tensor<16x4000xf32>) -> (tensor<4000xf32>) {
  %a = graph.constant dense<0> : tensor<1xi64>
  %p = graph.mul %x, %y : (tensor<16x1xf32>, tensor<16x4000xf32>) -> tensor<16x4000xf32>
  %s = graph.reduce_sum %p, %a {keepdims = false} : (tensor<16x4000xf32>, tensor<1xi64>) -> tensor<4000xf32>
  kernel.return %s : tensor<4000xf32>
}
kernel.func @sum_of_scaled_long_rows(%x: tensor<16x1xf32>, %y: tensor<16x25000xf32>) -> (tensor<25000xf32>) {
  %a = graph.constant dense<0> : tensor<1xi64>
  %p = graph.mul %x, %y : (tensor<16x1xf32>, tensor<16x25000xf32>) -> tensor<16x25000xf32>
  %s = graph.reduce_sum %p, %a {keepdims = false} : (tensor<16x25000xf32>, tensor<1xi64>) -> tensor<25000xf32>
  kernel.return %s : tensor<25000xf32>
}
kernel.func @scatter_add(%i: tensor<7x1xi64>, %u: tensor<7x24xf32>) -> (tensor<50x24xf32>) attributes {kernel.runs_on = "cuda"} {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %shape = graph.constant dense<[50, 24]> : tensor<2xi64>
  %x = graph.expand %zero, %shape : (tensor<f32>, tensor<2xi64>) -> tensor<50x24xf32>
  %y = graph.scatter_nd %x, %i, %u {reduction = "add", in_bounds = true} : (tensor<50x24xf32>, tensor<7x1xi64>, tensor<7x24xf32>) -> tensor<50x24xf32>
  kernel.return %y : tensor<50x24xf32>
}
kernel.func @scatter_add_f16(%x: tensor<4x5x6xf16>, %i: tensor<3x4x2xi64>, %u: tensor<3x4x6xf16>) -> (tensor<4x5x6xf16>) attributes {kernel.runs_on = "cuda"} {
  %y = graph.scatter_nd %x, %i, %u {reduction = "add", in_bounds = true} : (tensor<4x5x6xf16>, tensor<3x4x2xi64>, tensor<3x4x6xf16>) -> tensor<4x5x6xf16>
  kernel.return %y : tensor<4x5x6xf16>
}
kernel.func @scatter_add_i64(%x: tensor<30xi64>, %i: tensor<40x1xi64>, %u: tensor<40xi64>) -> (tensor<30xi64>) attributes {kernel.runs_on = "cuda"} {
  %y = graph.scatter_nd %x, %i, %u {reduction = "add", in_bounds = true} : (tensor<30xi64>, tensor<40x1xi64>, tensor<40xi64>) -> tensor<30xi64>
  kernel.return %y : tensor<30xi64>
}

// Rows that threads have in registers from one operation to the next: rows of a
// block and, where there are many, of a warp; of short floats, with a value that
// each row has of its own, with what is read across, and with a second result;
// and rows that are too long for that, or no whole vectors.
kernel.func @rows_of_warps(%x: tensor<4096x128xf32>) -> tensor<4096x128xf32> {
  %y = graph.softmax %x : tensor<4096x128xf32>
  kernel.return %y : tensor<4096x128xf32>
}

kernel.func @rows_of_warps_norm(%x: tensor<4096x256xf16>, %s: tensor<256xf16>, %b: tensor<256xf16>) -> tensor<4096x256xf16> {
  %y = graph.layer_norm %x, %s, %b {axis = 1 : i64} : (tensor<4096x256xf16>, tensor<256xf16>, tensor<256xf16>) -> tensor<4096x256xf16>
  kernel.return %y : tensor<4096x256xf16>
}

kernel.func @rows_softmax(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %y = graph.softmax %x : tensor<64x1024xf32>
  kernel.return %y : tensor<64x1024xf32>
}

kernel.func @rows_softmax_of_16(%x: tensor<16x1024xf32>) -> tensor<16x1024xf32> {
  %y = graph.softmax %x : tensor<16x1024xf32>
  kernel.return %y : tensor<16x1024xf32>
}

kernel.func @rows_softmax_f16(%x: tensor<32x2048xf16>) -> tensor<32x2048xf16> {
  %y = graph.softmax %x : tensor<32x2048xf16>
  kernel.return %y : tensor<32x2048xf16>
}

kernel.func @rows_log_softmax_bf16(%x: tensor<4x6x2048xbf16>) -> tensor<4x6x2048xbf16> {
  %y = graph.log_softmax %x : tensor<4x6x2048xbf16>
  kernel.return %y : tensor<4x6x2048xbf16>
}

kernel.func @rows_softmax_masked(%x: tensor<24x1024xf32>, %m: tensor<1024xf32>, %s: tensor<24x1xf32>) -> tensor<24x1024xf32> {
  %0 = graph.mul %x, %s : (tensor<24x1024xf32>, tensor<24x1xf32>) -> tensor<24x1024xf32>
  %1 = graph.add %0, %m : (tensor<24x1024xf32>, tensor<1024xf32>) -> tensor<24x1024xf32>
  %y = graph.softmax %1 : tensor<24x1024xf32>
  kernel.return %y : tensor<24x1024xf32>
}

kernel.func @rows_layer_norm(%x: tensor<64x2048xf32>, %r: tensor<64x2048xf32>, %s: tensor<2048xf32>, %b: tensor<2048xf32>) -> tensor<64x2048xf32> {
  %0 = graph.add %x, %r : tensor<64x2048xf32>
  %y = graph.layer_norm %0, %s, %b {axis = 1 : i64} : (tensor<64x2048xf32>, tensor<2048xf32>, tensor<2048xf32>) -> tensor<64x2048xf32>
  kernel.return %y : tensor<64x2048xf32>
}

kernel.func @rows_layer_norm_f16(%x: tensor<8x1024xf16>, %s: tensor<1024xf16>, %b: tensor<1024xf16>) -> tensor<8x1024xf16> {
  %y = graph.layer_norm %x, %s, %b {axis = 1 : i64} : (tensor<8x1024xf16>, tensor<1024xf16>, tensor<1024xf16>) -> tensor<8x1024xf16>
  kernel.return %y : tensor<8x1024xf16>
}

kernel.func @rows_of_two_results(%x: tensor<32x1024xf32>) -> (tensor<32x1024xf32>, tensor<32x1024xf32>) {
  %y = graph.softmax %x : tensor<32x1024xf32>
  %0 = graph.sub %x, %y : tensor<32x1024xf32>
  %z = graph.relu %0 : tensor<32x1024xf32>
  kernel.return %y, %z : tensor<32x1024xf32>, tensor<32x1024xf32>
}

kernel.func @rows_too_long(%x: tensor<8x10240xf32>) -> tensor<8x10240xf32> {
  %y = graph.softmax %x : tensor<8x10240xf32>
  kernel.return %y : tensor<8x10240xf32>
}

kernel.func @rows_with_a_rest(%x: tensor<64x260xf32>) -> tensor<64x260xf32> {
  %y = graph.softmax %x : tensor<64x260xf32>
  kernel.return %y : tensor<64x260xf32>
}

kernel.func @rows_of_images(%x: tensor<8x32x4x8xf32>) -> tensor<8x32x4x8xf32> {
  %axes = graph.constant dense<[1, 2, 3]> : tensor<3xi64>
  %0 = graph.reduce_mean %x, %axes {keepdims = true} : (tensor<8x32x4x8xf32>, tensor<3xi64>) -> tensor<8x1x1x1xf32>
  %y = graph.sub %x, %0 : (tensor<8x32x4x8xf32>, tensor<8x1x1x1xf32>) -> tensor<8x32x4x8xf32>
  kernel.return %y : tensor<8x32x4x8xf32>
}

// Floats that may be rounded to tf32, in every direction of their neighbours.
kernel.func @tf32_matmul(%a: tensor<96x80xf32>, %b: tensor<80x72xf32>, %c: tensor<72xf32>) -> tensor<96x72xf32> attributes {kernel.compute = "tf32"} {
  %0 = graph.matmul %a, %b : (tensor<96x80xf32>, tensor<80x72xf32>) -> tensor<96x72xf32>
  %y = graph.add %0, %c : (tensor<96x72xf32>, tensor<72xf32>) -> tensor<96x72xf32>
  kernel.return %y : tensor<96x72xf32>
}

kernel.func @tf32_matmul_turned(%a: tensor<80x96xf32>, %b: tensor<72x80xf32>) -> tensor<96x72xf32> attributes {kernel.compute = "tf32"} {
  %0 = graph.transpose %a {perm = array<i64: 1, 0>} : (tensor<80x96xf32>) -> tensor<96x80xf32>
  %1 = graph.transpose %b {perm = array<i64: 1, 0>} : (tensor<72x80xf32>) -> tensor<80x72xf32>
  %y = graph.matmul %0, %1 : (tensor<96x80xf32>, tensor<80x72xf32>) -> tensor<96x72xf32>
  kernel.return %y : tensor<96x72xf32>
}

kernel.func @tf32_matmul_odd(%a: tensor<3x37x51xf32>, %b: tensor<3x51x29xf32>) -> tensor<3x37x29xf32> attributes {kernel.compute = "tf32"} {
  %y = graph.matmul %a, %b : (tensor<3x37x51xf32>, tensor<3x51x29xf32>) -> tensor<3x37x29xf32>
  kernel.return %y : tensor<3x37x29xf32>
}

kernel.func @tf32_matmul_long(%a: tensor<32x2048xf32>, %b: tensor<2048x32xf32>) -> tensor<32x32xf32> attributes {kernel.compute = "tf32"} {
  %y = graph.matmul %a, %b : (tensor<32x2048xf32>, tensor<2048x32xf32>) -> tensor<32x32xf32>
  kernel.return %y : tensor<32x32xf32>
}

kernel.func @tf32_conv(%x: tensor<2x16x9x8xf32>, %w: tensor<24x16x3x3xf32>, %b: tensor<24xf32>) -> tensor<2x24x9x8xf32> attributes {kernel.compute = "tf32"} {
  %0 = graph.conv %x, %w, %b {pads = array<i64: 1, 1, 1, 1>} : (tensor<2x16x9x8xf32>, tensor<24x16x3x3xf32>, tensor<24xf32>) -> tensor<2x24x9x8xf32>
  %y = graph.relu %0 : tensor<2x24x9x8xf32>
  kernel.return %y : tensor<2x24x9x8xf32>
}

kernel.func @tf32_conv_last(%x: tensor<2x1x9x8x16xf32>, %w: tensor<24x3x3x16xf32>) -> tensor<2x1x9x8x24xf32> attributes {kernel.compute = "bf16"} {
  %0 = graph.transpose %w {perm = array<i64: 0, 3, 1, 2>} : (tensor<24x3x3x16xf32>) -> tensor<24x16x3x3xf32>
  %y = graph.conv %x, %0 {channel_block = 24 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<2x1x9x8x16xf32>, tensor<24x16x3x3xf32>) -> tensor<2x1x9x8x24xf32>
  kernel.return %y : tensor<2x1x9x8x24xf32>
}

// Rows of two parts are reduced in two stages, and what the first one left in
// registers is of no use behind the second.
kernel.func @rows_softmax_of_parts(%x: tensor<2x1024xf32>, %y: tensor<2x1024xf32>) -> tensor<2x2048xf32> {
  %0 = graph.concat %x, %y {axis = 1 : i64} : (tensor<2x1024xf32>, tensor<2x1024xf32>) -> tensor<2x2048xf32>
  %1 = graph.softmax %0 : tensor<2x2048xf32>
  kernel.return %1 : tensor<2x2048xf32>
}

kernel.func @rows_mean_of_parts(%x: tensor<4096x32xf16>, %y: tensor<4096x96xf16>, %z: tensor<4096x128xf16>) -> tensor<4096x128xf16> {
  %0 = graph.concat %x, %y {axis = 1 : i64} : (tensor<4096x32xf16>, tensor<4096x96xf16>) -> tensor<4096x128xf16>
  %axis = graph.constant dense<[1]> : tensor<1xi64>
  %1 = graph.reduce_mean %0, %axis {keepdims = true} : (tensor<4096x128xf16>, tensor<1xi64>) -> tensor<4096x1xf16>
  %2 = graph.max %z, %1 : (tensor<4096x128xf16>, tensor<4096x1xf16>) -> tensor<4096x128xf16>
  kernel.return %2 : tensor<4096x128xf16>
}

kernel.func @rows_mean_of_padded(%x: tensor<64x1000xf32>, %y: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %pads = graph.constant dense<[16, 8]> : tensor<2xi64>
  %axis = graph.constant dense<[1]> : tensor<1xi64>
  %value = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.pad %x, %pads, %value, %axis : (tensor<64x1000xf32>, tensor<2xi64>, tensor<f32>, tensor<1xi64>) -> tensor<64x1024xf32>
  %1 = graph.reduce_mean %0, %axis {keepdims = true} : (tensor<64x1024xf32>, tensor<1xi64>) -> tensor<64x1xf32>
  %2 = graph.sub %y, %1 : (tensor<64x1024xf32>, tensor<64x1xf32>) -> tensor<64x1024xf32>
  kernel.return %2 : tensor<64x1024xf32>
}

// Attention as one kernel: warps with all keys and with a part of them, rows
// and keys that are no whole tiles, one step and many, few matrices of keys for
// many of queries, and what is cut out of one tensor and turned round.
kernel.func @attention(%q: tensor<2x40x32xf16>, %k: tensor<2x50x32xf16>, %v: tensor<2x50x16xf16>) -> tensor<2x40x16xf16> attributes {kernel.runs_on = "cuda"} {
  %c = graph.constant dense<0.0625> : tensor<f16>
  %0 = graph.transpose %k {perm = array<i64: 0, 2, 1>} : (tensor<2x50x32xf16>) -> tensor<2x32x50xf16>
  %p = graph.matmul %q, %0 : (tensor<2x40x32xf16>, tensor<2x32x50xf16>) -> tensor<2x40x50xf16>
  %1 = graph.mul %p, %c : (tensor<2x40x50xf16>, tensor<f16>) -> tensor<2x40x50xf16>
  %2 = graph.softmax %1 : tensor<2x40x50xf16>
  %y = graph.matmul %2, %v : (tensor<2x40x50xf16>, tensor<2x50x16xf16>) -> tensor<2x40x16xf16>
  kernel.return %y : tensor<2x40x16xf16>
}

kernel.func @attention_of_many_rows(%q: tensor<140x129x16xbf16>, %k: tensor<140x40x16xbf16>, %v: tensor<140x40x16xbf16>) -> tensor<140x129x16xbf16> attributes {kernel.runs_on = "cuda"} {
  %c = graph.constant dense<0.0625> : tensor<bf16>
  %0 = graph.transpose %k {perm = array<i64: 0, 2, 1>} : (tensor<140x40x16xbf16>) -> tensor<140x16x40xbf16>
  %p = graph.matmul %q, %0 : (tensor<140x129x16xbf16>, tensor<140x16x40xbf16>) -> tensor<140x129x40xbf16>
  %1 = graph.mul %p, %c : (tensor<140x129x40xbf16>, tensor<bf16>) -> tensor<140x129x40xbf16>
  %2 = graph.softmax %1 : tensor<140x129x40xbf16>
  %y = graph.matmul %2, %v : (tensor<140x129x40xbf16>, tensor<140x40x16xbf16>) -> tensor<140x129x16xbf16>
  kernel.return %y : tensor<140x129x16xbf16>
}

kernel.func @attention_of_many_keys(%q: tensor<66x49x40xf16>, %k: tensor<66x300x40xf16>, %v: tensor<66x300x72xf16>) -> tensor<66x49x72xf16> attributes {kernel.runs_on = "cuda"} {
  %c = graph.constant dense<0.03125> : tensor<f16>
  %0 = graph.transpose %k {perm = array<i64: 0, 2, 1>} : (tensor<66x300x40xf16>) -> tensor<66x40x300xf16>
  %p = graph.matmul %q, %0 : (tensor<66x49x40xf16>, tensor<66x40x300xf16>) -> tensor<66x49x300xf16>
  %1 = graph.mul %p, %c : (tensor<66x49x300xf16>, tensor<f16>) -> tensor<66x49x300xf16>
  %2 = graph.softmax %1 : tensor<66x49x300xf16>
  %y = graph.matmul %2, %v : (tensor<66x49x300xf16>, tensor<66x300x72xf16>) -> tensor<66x49x72xf16>
  kernel.return %y : tensor<66x49x72xf16>
}

// The widest rows leave shared memory for one step alone.
kernel.func @attention_of_wide_rows(%q: tensor<3x17x128xbf16>, %k: tensor<3x257x128xbf16>, %v: tensor<3x257x128xbf16>) -> tensor<3x17x128xbf16> attributes {kernel.runs_on = "cuda"} {
  %c = graph.constant dense<-0.125> : tensor<bf16>
  %0 = graph.transpose %k {perm = array<i64: 0, 2, 1>} : (tensor<3x257x128xbf16>) -> tensor<3x128x257xbf16>
  %1 = graph.matmul %q, %0 : (tensor<3x17x128xbf16>, tensor<3x128x257xbf16>) -> tensor<3x17x257xbf16>
  %2 = graph.mul %1, %c : (tensor<3x17x257xbf16>, tensor<bf16>) -> tensor<3x17x257xbf16>
  %3 = graph.softmax %2 : tensor<3x17x257xbf16>
  %y = graph.matmul %3, %v : (tensor<3x17x257xbf16>, tensor<3x257x128xbf16>) -> tensor<3x17x128xbf16>
  kernel.return %y : tensor<3x17x128xbf16>
}

kernel.func @attention_of_groups(%q: tensor<2x4x20x16xf16>, %k: tensor<2x1x30x16xf16>, %v: tensor<2x1x30x16xf16>, %m: tensor<2x1x1x30xf16>) -> tensor<2x20x4x16xf16> attributes {kernel.runs_on = "cuda"} {
  %c = graph.constant dense<0.125> : tensor<f16>
  %0 = graph.transpose %k {perm = array<i64: 0, 1, 3, 2>} : (tensor<2x1x30x16xf16>) -> tensor<2x1x16x30xf16>
  %p = graph.matmul %q, %0 : (tensor<2x4x20x16xf16>, tensor<2x1x16x30xf16>) -> tensor<2x4x20x30xf16>
  %1 = graph.mul %p, %c : (tensor<2x4x20x30xf16>, tensor<f16>) -> tensor<2x4x20x30xf16>
  %2 = graph.add %1, %m : (tensor<2x4x20x30xf16>, tensor<2x1x1x30xf16>) -> tensor<2x4x20x30xf16>
  %3 = graph.softmax %2 : tensor<2x4x20x30xf16>
  %4 = graph.matmul %3, %v : (tensor<2x4x20x30xf16>, tensor<2x1x30x16xf16>) -> tensor<2x4x20x16xf16>
  %y = graph.transpose %4 {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x4x20x16xf16>) -> tensor<2x20x4x16xf16>
  kernel.return %y : tensor<2x20x4x16xf16>
}

kernel.func @attention_masked(%x: tensor<2x20x144xf16>, %c: tensor<20x20xi1>, %m: tensor<3x20x1xf16>, %d: tensor<2x1x1x20xi1>) -> tensor<2x3x20x16xf16> attributes {kernel.runs_on = "cuda"} {
  %i0 = graph.constant dense<0> : tensor<1xi64>
  %i1 = graph.constant dense<1> : tensor<1xi64>
  %i2 = graph.constant dense<2> : tensor<1xi64>
  %i48 = graph.constant dense<48> : tensor<1xi64>
  %i96 = graph.constant dense<96> : tensor<1xi64>
  %i144 = graph.constant dense<144> : tensor<1xi64>
  %heads = graph.constant dense<[2, 20, 3, 16]> : tensor<4xi64>
  %fill = graph.constant dense<-6.0e+04> : tensor<f16>
  %scale = graph.constant dense<4.0> : tensor<f16>
  %0 = graph.slice %x, %i0, %i48, %i2, %i1 : (tensor<2x20x144xf16>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x20x48xf16>
  %1 = graph.slice %x, %i48, %i96, %i2, %i1 : (tensor<2x20x144xf16>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x20x48xf16>
  %2 = graph.slice %x, %i96, %i144, %i2, %i1 : (tensor<2x20x144xf16>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x20x48xf16>
  %3 = graph.reshape %0, %heads : (tensor<2x20x48xf16>, tensor<4xi64>) -> tensor<2x20x3x16xf16>
  %4 = graph.reshape %1, %heads : (tensor<2x20x48xf16>, tensor<4xi64>) -> tensor<2x20x3x16xf16>
  %5 = graph.reshape %2, %heads : (tensor<2x20x48xf16>, tensor<4xi64>) -> tensor<2x20x3x16xf16>
  %q = graph.transpose %3 {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x20x3x16xf16>) -> tensor<2x3x20x16xf16>
  %k = graph.transpose %4 {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x20x3x16xf16>) -> tensor<2x3x16x20xf16>
  %v = graph.transpose %5 {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x20x3x16xf16>) -> tensor<2x3x20x16xf16>
  %6 = graph.div %q, %scale : (tensor<2x3x20x16xf16>, tensor<f16>) -> tensor<2x3x20x16xf16>
  %7 = graph.matmul %6, %k : (tensor<2x3x20x16xf16>, tensor<2x3x16x20xf16>) -> tensor<2x3x20x20xf16>
  %8 = graph.select %c, %7, %fill : (tensor<20x20xi1>, tensor<2x3x20x20xf16>, tensor<f16>) -> tensor<2x3x20x20xf16>
  %9 = graph.add %8, %m : (tensor<2x3x20x20xf16>, tensor<3x20x1xf16>) -> tensor<2x3x20x20xf16>
  %10 = graph.select %d, %fill, %9 : (tensor<2x1x1x20xi1>, tensor<f16>, tensor<2x3x20x20xf16>) -> tensor<2x3x20x20xf16>
  %11 = graph.softmax %10 : tensor<2x3x20x20xf16>
  %y = graph.matmul %11, %v : (tensor<2x3x20x20xf16>, tensor<2x3x20x16xf16>) -> tensor<2x3x20x16xf16>
  kernel.return %y : tensor<2x3x20x16xf16>
}

// Scores near the end of what floats hold, and rows that see none but such.
kernel.func @attention_of_lowest(%q: tensor<2x20x16xbf16>, %k: tensor<2x40x16xbf16>, %v: tensor<2x40x16xbf16>, %m: tensor<20x40xi1>, %r: tensor<20x1xi1>) -> tensor<2x20x16xbf16> attributes {kernel.runs_on = "cuda"} {
  %fill = graph.constant dense<0xFF7F> : tensor<bf16>
  %0 = graph.transpose %k {perm = array<i64: 0, 2, 1>} : (tensor<2x40x16xbf16>) -> tensor<2x16x40xbf16>
  %1 = graph.matmul %q, %0 : (tensor<2x20x16xbf16>, tensor<2x16x40xbf16>) -> tensor<2x20x40xbf16>
  %2 = graph.select %m, %1, %fill : (tensor<20x40xi1>, tensor<2x20x40xbf16>, tensor<bf16>) -> tensor<2x20x40xbf16>
  %3 = graph.select %r, %fill, %2 : (tensor<20x1xi1>, tensor<bf16>, tensor<2x20x40xbf16>) -> tensor<2x20x40xbf16>
  %4 = graph.softmax %3 : tensor<2x20x40xbf16>
  %y = graph.matmul %4, %v : (tensor<2x20x40xbf16>, tensor<2x40x16xbf16>) -> tensor<2x20x16xbf16>
  kernel.return %y : tensor<2x20x16xbf16>
}

kernel.func @attention_of_large(%q: tensor<2x8x16xbf16>, %k: tensor<2x4x16xbf16>, %v: tensor<2x4x16xbf16>) -> tensor<2x8x16xbf16> attributes {kernel.runs_on = "cuda"} {
  %c = graph.constant dense<1.0e+30> : tensor<bf16>
  %0 = graph.transpose %k {perm = array<i64: 0, 2, 1>} : (tensor<2x4x16xbf16>) -> tensor<2x16x4xbf16>
  %1 = graph.matmul %q, %0 : (tensor<2x8x16xbf16>, tensor<2x16x4xbf16>) -> tensor<2x8x4xbf16>
  %2 = graph.mul %1, %c : (tensor<2x8x4xbf16>, tensor<bf16>) -> tensor<2x8x4xbf16>
  %3 = graph.softmax %2 : tensor<2x8x4xbf16>
  %y = graph.matmul %3, %v : (tensor<2x8x4xbf16>, tensor<2x4x16xbf16>) -> tensor<2x8x16xbf16>
  kernel.return %y : tensor<2x8x16xbf16>
}

// Large enough for groups of warps, where a GPU has products of such: terms side
// by side in one factor, the other, both and neither; a padded convolution.
kernel.func @groups_plain(%a: tensor<512x128xf16>, %b: tensor<128x1024xf16>, %c: tensor<1024xf16>) -> tensor<512x1024xf16> {
  %0 = graph.matmul %a, %b : (tensor<512x128xf16>, tensor<128x1024xf16>) -> tensor<512x1024xf16>
  %1 = graph.add %0, %c : (tensor<512x1024xf16>, tensor<1024xf16>) -> tensor<512x1024xf16>
  %y = graph.relu %1 : tensor<512x1024xf16>
  kernel.return %y : tensor<512x1024xf16>
}

kernel.func @groups_turned(%a: tensor<768x240xbf16>, %b: tensor<832x240xbf16>) -> tensor<768x832xbf16> {
  %0 = graph.transpose %b {perm = array<i64: 1, 0>} : (tensor<832x240xbf16>) -> tensor<240x832xbf16>
  %y = graph.matmul %a, %0 : (tensor<768x240xbf16>, tensor<240x832xbf16>) -> tensor<768x832xbf16>
  kernel.return %y : tensor<768x832xbf16>
}

kernel.func @groups_of_columns(%a: tensor<64x512xf16>, %b: tensor<64x1024xf16>) -> tensor<512x1024xf16> {
  %0 = graph.transpose %a {perm = array<i64: 1, 0>} : (tensor<64x512xf16>) -> tensor<512x64xf16>
  %y = graph.matmul %0, %b : (tensor<512x64xf16>, tensor<64x1024xf16>) -> tensor<512x1024xf16>
  kernel.return %y : tensor<512x1024xf16>
}

kernel.func @groups_both(%a: tensor<112x640xf16>, %b: tensor<1024x112xf16>) -> tensor<640x1024xf16> {
  %0 = graph.transpose %a {perm = array<i64: 1, 0>} : (tensor<112x640xf16>) -> tensor<640x112xf16>
  %1 = graph.transpose %b {perm = array<i64: 1, 0>} : (tensor<1024x112xf16>) -> tensor<112x1024xf16>
  %y = graph.matmul %0, %1 : (tensor<640x112xf16>, tensor<112x1024xf16>) -> tensor<640x1024xf16>
  kernel.return %y : tensor<640x1024xf16>
}

kernel.func @groups_conv(%x: tensor<16x8x16x16x8xf16>, %w: tensor<3x3x64x64xf16>) -> tensor<16x8x16x16x8xf16> {
  %0 = graph.transpose %w {perm = array<i64: 3, 2, 0, 1>} : (tensor<3x3x64x64xf16>) -> tensor<64x64x3x3xf16>
  %1 = graph.conv %x, %0 {channel_block = 8 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<16x8x16x16x8xf16>, tensor<64x64x3x3xf16>) -> tensor<16x8x16x16x8xf16>
  %y = graph.relu %1 : tensor<16x8x16x16x8xf16>
  kernel.return %y : tensor<16x8x16x16x8xf16>
}

kernel.func @groups_in_clusters(%a: tensor<1024x1024xbf16>, %b: tensor<1024x512xbf16>) -> tensor<1024x512xbf16> {
  %y = graph.matmul %a, %b : (tensor<1024x1024xbf16>, tensor<1024x512xbf16>) -> tensor<1024x512xbf16>
  kernel.return %y : tensor<1024x512xbf16>
}
