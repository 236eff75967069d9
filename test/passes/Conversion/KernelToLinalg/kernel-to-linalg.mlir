// RUN: dlc-opt %s --split-input-file --verify-diagnostics --convert-kernel-to-linalg | FileCheck %s
// Kernels get their outputs as arguments and compute in loops over them.

// What feeds a reduction is computed in its loop.
// CHECK-LABEL: kernel.func @row_sums(
// CHECK-SAME: %[[X:.*]]: memref<8x16xf32>, %[[S:.*]]: memref<16xf32>, %[[Y:.*]]: memref<8xf32>
// CHECK-SAME: outputs = 1 : i64
kernel.func @row_sums(%x: tensor<8x16xf32>, %s: tensor<16xf32>) -> tensor<8xf32> {
  // CHECK: linalg.fill {{.*}} outs(%[[Y]]
  // CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[X]], %[[S]] {{.*}} outs(%[[Y]]
  // CHECK: arith.mulf
  // CHECK: arith.addf
  // CHECK-NOT: linalg.generic
  // CHECK: kernel.return
  %axes = graph.constant dense<1> : tensor<1xi64>
  %0 = graph.mul %x, %s : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  %1 = graph.reduce_sum %0, %axes {keepdims = false} : (tensor<8x16xf32>, tensor<1xi64>) -> tensor<8xf32>
  kernel.return %1 : tensor<8xf32>
}

// Elementwise kernels forget their dimensions, spread over a grid, and may
// overwrite what they read.
// CHECK-LABEL: kernel.func @relu(
// CHECK-SAME: grid = array<i64: [[GRID:[0-9]+]]>, inPlace = array<i64: 0, 0>
kernel.func @relu(%x: tensor<256x1024xf32>) -> tensor<256x1024xf32> {
  // CHECK: memref.collapse_shape {{.*}} into memref<262144xf32>
  // CHECK: scf.forall (%{{.*}}) in ([[GRID]])
  // CHECK: linalg.generic {{.*}} iterator_types = ["parallel"]
  %0 = graph.relu %x : tensor<256x1024xf32>
  kernel.return %0 : tensor<256x1024xf32>
}

// A movement that is read out of order may not be overwritten.
// CHECK-LABEL: kernel.func @transpose(
// CHECK-NOT: inPlace
// CHECK: kernel.return
kernel.func @transpose(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %0 = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<16x16xf32>) -> tensor<16x16xf32>
  kernel.return %0 : tensor<16x16xf32>
}

// -----

// Without elements there is nothing to compute, whichever operation it is.
// expected-error @+1 {{expected a kernel with a generated form, got no elements}}
kernel.func @space_to_depth(%x: tensor<1x0x4x4xf32>) -> tensor<1x0x2x2xf32> {
  %0 = graph.space_to_depth %x {blocksize = 2 : i64} : (tensor<1x0x4x4xf32>) -> tensor<1x0x2x2xf32>
  kernel.return %0 : tensor<1x0x2x2xf32>
}

// -----

// expected-error @+1 {{got no elements}}
kernel.func @sum_of_none(%x: tensor<3x0xf32>) -> tensor<3x1xf32> {
  %axes = graph.constant dense<1> : tensor<1xi64>
  %0 = graph.reduce_sum %x, %axes : (tensor<3x0xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  kernel.return %0 : tensor<3x1xf32>
}

// -----

// expected-error @+1 {{got no elements}}
kernel.func @slice_backwards(%x: tensor<0x6xf32>) -> tensor<0x6xf32> {
  %s = graph.constant dense<-1> : tensor<1xi64>
  %e = graph.constant dense<-9> : tensor<1xi64>
  %a = graph.constant dense<0> : tensor<1xi64>
  %t = graph.constant dense<-1> : tensor<1xi64>
  %0 = graph.slice %x, %s, %e, %a, %t : (tensor<0x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<0x6xf32>
  kernel.return %0 : tensor<0x6xf32>
}

// -----

// Something in between, that only a hand could write.
// expected-error @+1 {{got no elements}}
kernel.func @between(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %none = graph.constant dense<> : tensor<0x4xf32>
  %0 = graph.concat %x, %none {axis = 0 : i64} : (tensor<3x4xf32>, tensor<0x4xf32>) -> tensor<3x4xf32>
  kernel.return %0 : tensor<3x4xf32>
}

// -----

// Parameters may be empty: they are not computed with.
kernel.func @scalar(%x: tensor<1x1xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %shape = graph.constant dense<> : tensor<0xi64>
  %0 = graph.reshape %x, %shape : (tensor<1x1xf32>, tensor<0xi64>) -> tensor<f32>
  %1 = graph.add %0, %y : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  kernel.return %1 : tensor<4xf32>
}

// -----

// expected-error @+1 {{got shapes that are not static}}
kernel.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = graph.exp %x : tensor<?xf32>
  kernel.return %0 : tensor<?xf32>
}

// -----

// Scores of 64 rows do not fit scratch memory: tiles have fewer.
// CHECK-LABEL: kernel.func @long_rows(
kernel.func @long_rows(%q: tensor<1024x8xf32>, %k: tensor<8x1024xf32>, %v: tensor<1024x8xf32>) -> tensor<1024x8xf32> {
  // CHECK: scf.forall {{.*}} in (128)
  // CHECK: memref.alloca() : memref<8x1024xf32>
  // CHECK: linalg.generic
  %0 = graph.matmul %q, %k : (tensor<1024x8xf32>, tensor<8x1024xf32>) -> tensor<1024x1024xf32>
  %1 = graph.softmax %0 {axis = 1 : i64} : tensor<1024x1024xf32>
  %2 = graph.matmul %1, %v : (tensor<1024x1024xf32>, tensor<1024x8xf32>) -> tensor<1024x8xf32>
  kernel.return %2 : tensor<1024x8xf32>
}

// -----

// Convolutions over three dimensions are made others before they are kernels:
// what would not be in the sums of this one is not left out.
// expected-error @+1 {{expected a kernel with a generated form, got a bias within the sum}}
kernel.func @deep(%x: tensor<1x2x4x5x6xf32>, %w: tensor<3x2x2x2x2xf32>, %b: tensor<3xf32>) -> tensor<1x3x3x4x5xf32> {
  %0 = graph.conv %x, %w, %b : (tensor<1x2x4x5x6xf32>, tensor<3x2x2x2x2xf32>, tensor<3xf32>) -> tensor<1x3x3x4x5xf32>
  kernel.return %0 : tensor<1x3x3x4x5xf32>
}

// -----

// expected-error @+1 {{expected a kernel with a generated form, got sums in short floats}}
kernel.func @deep_f16(%x: tensor<1x2x4x5x6xf16>, %w: tensor<3x2x2x2x2xf16>) -> tensor<1x3x3x4x5xf16> {
  %0 = graph.conv %x, %w : (tensor<1x2x4x5x6xf16>, tensor<3x2x2x2x2xf16>) -> tensor<1x3x3x4x5xf16>
  kernel.return %0 : tensor<1x3x3x4x5xf16>
}

// -----

// Which group a channel is of is computed as it runs: that is no reason to cut
// loops when its image is not in memory.
// expected-error @+1 {{expected a kernel with a generated form, got a place given by data in a value that is computed here}}
kernel.func @groups_of_computed(%x: tensor<2x6x9x8xf32>, %z: tensor<2x6x9x8xf32>, %w: tensor<9x2x3x3xf32>) -> tensor<2x9x7x6xf32> {
  %0 = graph.add %x, %z : tensor<2x6x9x8xf32>
  %1 = graph.conv %0, %w {group = 3 : i64} : (tensor<2x6x9x8xf32>, tensor<9x2x3x3xf32>) -> tensor<2x9x7x6xf32>
  kernel.return %1 : tensor<2x9x7x6xf32>
}
