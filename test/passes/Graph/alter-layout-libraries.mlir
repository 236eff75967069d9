// SPDX-License-Identifier: Apache-2.0
//
// For GPUs, channels of large convolutions are last, as cuDNN wants them, where
// these have most of the multiplications; else they lie in blocks.
//
// RUN: dlc-opt %s "--pass-pipeline=builtin.module(func.func(graph-alter-layout{generated=true channel-block=8 ask-libraries=true}))" | FileCheck %s

// CHECK-LABEL: @large(
// CHECK: graph.conv {{.*}} : (tensor<32x1x56x56x64xf16>,
func.func @large(%x: tensor<32x64x56x56xf16>) -> tensor<32x64x56x56xf16> {
  %w = graph.constant dense<0.03125> : tensor<64x64x3x3xf16>
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<32x64x56x56xf16>, tensor<64x64x3x3xf16>) -> tensor<32x64x56x56xf16>
  return %0 : tensor<32x64x56x56xf16>
}

// CHECK-LABEL: @small(
// CHECK: graph.conv {{.*}} : (tensor<1x8x14x14x8xf16>,
func.func @small(%x: tensor<1x64x14x14xf16>) -> tensor<1x64x14x14xf16> {
  %w = graph.constant dense<0.03125> : tensor<64x64x3x3xf16>
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x14x14xf16>, tensor<64x64x3x3xf16>) -> tensor<1x64x14x14xf16>
  return %0 : tensor<1x64x14x14xf16>
}

// A first layer, however large, is left out of that.
// CHECK-LABEL: @first(
// CHECK-NOT: graph.conv {{.*}}x1x112x112x64xf16>
// CHECK: return
func.func @first(%x: tensor<32x8x224x224xf16>) -> tensor<32x8x112x112xf16> {
  %w = graph.constant dense<0.03125> : tensor<64x8x7x7xf16>
  %0 = graph.conv %x, %w {pads = array<i64: 3, 3, 3, 3>, strides = array<i64: 2, 2>} : (tensor<32x8x224x224xf16>, tensor<64x8x7x7xf16>) -> tensor<32x64x112x112xf16>
  %v = graph.constant dense<0.03125> : tensor<8x64x1x1xf16>
  %1 = graph.conv %0, %v : (tensor<32x64x112x112xf16>, tensor<8x64x1x1xf16>) -> tensor<32x8x112x112xf16>
  return %1 : tensor<32x8x112x112xf16>
}

// Weights that may be infinite meet what lies outside.
// CHECK-LABEL: @unknown(
// CHECK: graph.conv {{.*}} : (tensor<32x8x56x56x8xf16>,
func.func @unknown(%x: tensor<32x64x56x56xf16>, %w: tensor<64x64x3x3xf16>) -> tensor<32x64x56x56xf16> {
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<32x64x56x56xf16>, tensor<64x64x3x3xf16>) -> tensor<32x64x56x56xf16>
  return %0 : tensor<32x64x56x56xf16>
}
