// SPDX-License-Identifier: Apache-2.0
// RUN: dlc-opt %s -split-input-file --graph-decompose --graph-fold-constants --canonicalize | FileCheck %s

// A transposed convolution without strides is one with the weights turned.
// CHECK-LABEL: func @turned
// CHECK-NEXT: %[[W:.*]] = graph.constant dense<{{.*}}4.000000e+00, 3.000000e+00{{.*}}> : tensor<1x1x2x2xf32>
// CHECK-NEXT: %[[Y:.*]] = graph.conv %{{.*}}, %[[W]], %{{.*}} {dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x1x4x4xf32>, tensor<1x1x2x2xf32>, tensor<1xf32>) -> tensor<1x1x5x5xf32>
// CHECK-NEXT: return %[[Y]]
func.func @turned(%x: tensor<1x1x4x4xf32>, %b: tensor<1xf32>) -> tensor<1x1x5x5xf32> {
  %w = graph.constant dense<[[[[1., 2.], [3., 4.]]]]> : tensor<1x1x2x2xf32>
  %y = graph.conv_transpose %x, %w, %b : (tensor<1x1x4x4xf32>, tensor<1x1x2x2xf32>, tensor<1xf32>) -> tensor<1x1x5x5xf32>
  return %y : tensor<1x1x5x5xf32>
}

// -----

// Windows side by side: one convolution of 1x1 for all four remainders, which
// adds each bias four times.
// CHECK-LABEL: func @doubled
// CHECK-NOT: conv_transpose
// CHECK: graph.conv %{{.*}} : (tensor<1x4x8x8xf32>, tensor<12x4x1x1xf32>, tensor<12xf32>) -> tensor<1x12x8x8xf32>
// CHECK-NOT: graph.conv
// CHECK-NOT: graph.add
// CHECK: graph.transpose
// CHECK: return
func.func @doubled(%x: tensor<1x4x8x8xf32>, %w: tensor<4x3x2x2xf32>, %b: tensor<3xf32>) -> tensor<1x3x16x16xf32> {
  %y = graph.conv_transpose %x, %w, %b {strides = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>, tensor<4x3x2x2xf32>, tensor<3xf32>) -> tensor<1x3x16x16xf32>
  return %y : tensor<1x3x16x16xf32>
}

// -----

// One tap is taken as it is.
// CHECK-LABEL: func @one_tap
// CHECK-NOT: graph.pad
// CHECK: graph.conv %{{.*}} : (tensor<1x4x8x8xf32>, tensor<3x4x1x1xf32>) -> tensor<1x3x8x8xf32>
// CHECK-NOT: graph.conv
// CHECK: graph.pad
func.func @one_tap(%x: tensor<1x4x8x8xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<1x3x15x15xf32> {
  %y = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x3x15x15xf32>
  return %y : tensor<1x3x15x15xf32>
}

// -----

// No tap reaches each third element, which is the bias.
// CHECK-LABEL: func @gaps
// CHECK: graph.conv %
// CHECK: graph.pad
// CHECK: graph.add
func.func @gaps(%x: tensor<1x4x8xf32>, %w: tensor<4x3x2xf32>, %b: tensor<3xf32>) -> tensor<1x3x23xf32> {
  %y = graph.conv_transpose %x, %w, %b {strides = array<i64: 3>} : (tensor<1x4x8xf32>, tensor<4x3x2xf32>, tensor<3xf32>) -> tensor<1x3x23xf32>
  return %y : tensor<1x3x23xf32>
}

// -----

// The taps of depth are channels, the positions images.
// CHECK-LABEL: func @deep
// CHECK: %[[D:.*]] = graph.transpose %{{.*}} {perm = array<i64: 0, 2, 1, 3, 4>}
// CHECK-COUNT-3: graph.slice %[[D]]
// CHECK: graph.concat
// CHECK: graph.conv %{{.*}} : (tensor<8x12x6x6xf32>, tensor<5x12x3x3xf32>, tensor<5xf32>) -> tensor<8x5x6x6xf32>
// CHECK: %[[Y:.*]] = graph.transpose %{{.*}} {perm = array<i64: 0, 2, 1, 3, 4>} : (tensor<2x4x5x6x6xf32>) -> tensor<2x5x4x6x6xf32>
// CHECK: return %[[Y]]
func.func @deep(%x: tensor<2x4x4x6x6xf32>, %w: tensor<5x4x3x3x3xf32>, %b: tensor<5xf32>) -> tensor<2x5x4x6x6xf32> {
  %y = graph.conv %x, %w, %b {pads = array<i64: 1, 1, 1, 1, 1, 1>} : (tensor<2x4x4x6x6xf32>, tensor<5x4x3x3x3xf32>, tensor<5xf32>) -> tensor<2x5x4x6x6xf32>
  return %y : tensor<2x5x4x6x6xf32>
}

// -----

// Where windows are one pixel of each plane, planes are rows.
// CHECK-LABEL: func @temporal
// CHECK-NOT: graph.transpose
// CHECK: graph.conv %{{.*}} {{.*}}strides = array<i64: 2, 1>{{.*}} : (tensor<2x4x8x36xf32>, tensor<5x4x3x1xf32>) -> tensor<2x5x3x36xf32>
// CHECK-NOT: graph.transpose
// CHECK: return
func.func @temporal(%x: tensor<2x4x8x6x6xf32>, %w: tensor<5x4x3x1x1xf32>) -> tensor<2x5x3x6x6xf32> {
  %y = graph.conv %x, %w {strides = array<i64: 2, 1, 1>} : (tensor<2x4x8x6x6xf32>, tensor<5x4x3x1x1xf32>) -> tensor<2x5x3x6x6xf32>
  return %y : tensor<2x5x3x6x6xf32>
}

// -----

// Of images of any size, those without strides: weights are turned round.
// CHECK-LABEL: func @open
// CHECK: %[[S:.*]] = graph.slice %arg1
// CHECK: %[[W:.*]] = graph.transpose %[[S]] {perm = array<i64: 1, 0, 2, 3>} : (tensor<4x3x4x2xf32>) -> tensor<3x4x4x2xf32>
// CHECK: %[[Y:.*]] = graph.conv %arg0, %[[W]], %arg2 {dilations = array<i64: 1, 2>, pads = array<i64: 2, 2, 3, 1>, strides = array<i64: 1, 1>} {{.*}} -> tensor<?x3x?x?xf32>
// CHECK: return %[[Y]]
func.func @open(%x: tensor<?x4x?x?xf32>, %w: tensor<4x3x4x2xf32>, %b: tensor<3xf32>) -> tensor<?x3x?x?xf32> {
  %y = graph.conv_transpose %x, %w, %b {dilations = array<i64: 1, 2>, pads = array<i64: 1, 0, 0, 1>} : (tensor<?x4x?x?xf32>, tensor<4x3x4x2xf32>, tensor<3xf32>) -> tensor<?x3x?x?xf32>
  return %y : tensor<?x3x?x?xf32>
}

// -----

// Of extents that are not known, letters that one factor has are summed, and
// factors come in pairs; where that is so already, they stay.
// CHECK-LABEL: func @einsum_open
// CHECK: %[[S:.*]] = graph.reduce_sum %arg1
// CHECK: %[[P:.*]] = graph.einsum %arg0, %[[S]] {equation = "bij,jk->bik"}
// CHECK: %[[Y:.*]] = graph.einsum %[[P]], %arg2 {equation = "bik,kl->bil"}
// CHECK: %[[Z:.*]] = graph.einsum %arg2, %arg2 {equation = "kl,ml->km"}
// CHECK: return %[[Y]], %[[Z]]
func.func @einsum_open(%a: tensor<?x?x?xf32>, %b: tensor<?x?x?xf32>, %c: tensor<?x?xf32>) -> (tensor<?x?x?xf32>, tensor<?x?xf32>) {
  %y = graph.einsum %a, %b, %c {equation = "bij,jxk,kl->bil"} : (tensor<?x?x?xf32>, tensor<?x?x?xf32>, tensor<?x?xf32>) -> tensor<?x?x?xf32>
  %z = graph.einsum %c, %c {equation = "kl,ml->km"} : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y, %z : tensor<?x?x?xf32>, tensor<?x?xf32>
}

// -----

// Where pads may leave nothing of an image, there would be no convolution.
// CHECK-LABEL: func @nothing_left
// CHECK: graph.conv_transpose
func.func @nothing_left(%x: tensor<?x1x1x4xf32>, %w: tensor<1x1x3x3xf32>) -> tensor<?x1x0x6xf32> {
  %y = graph.conv_transpose %x, %w {pads = array<i64: 2, 0, 1, 0>} : (tensor<?x1x1x4xf32>, tensor<1x1x3x3xf32>) -> tensor<?x1x0x6xf32>
  return %y : tensor<?x1x0x6xf32>
}

// -----

// Weights over three dimensions that would meet zeros are finite.
// CHECK-LABEL: func @infinite
// CHECK: graph.conv_transpose
// CHECK-NOT: graph.conv
func.func @infinite(%x: tensor<1x1x2x2x2xf32>) -> tensor<1x1x3x3x3xf32> {
  %w = graph.constant dense<[[[[[1.0, 0x7F800000], [1.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]]]]> : tensor<1x1x2x2x2xf32>
  %y = graph.conv_transpose %x, %w : (tensor<1x1x2x2x2xf32>, tensor<1x1x2x2x2xf32>) -> tensor<1x1x3x3x3xf32>
  return %y : tensor<1x1x3x3x3xf32>
}

// -----

// Groups, strides, weights that are not known and convolutions of two dimensions
// stay.
// CHECK-LABEL: func @stays
// CHECK: graph.conv_transpose
// CHECK: graph.conv_transpose
// CHECK: graph.conv_transpose
// CHECK: graph.conv %
// CHECK: return
func.func @stays(%x: tensor<?x4x8x8xf32>, %w: tensor<4x3x2x2xf32>, %u: tensor<4x3x?x?xf32>, %v: tensor<5x6x1x1xf32>) -> (tensor<?x5x9x9xf32>, tensor<?x3x16x9xf32>, tensor<?x3x?x?xf32>) {
  %y = graph.conv_transpose %x, %w {group = 2 : i64} : (tensor<?x4x8x8xf32>, tensor<4x3x2x2xf32>) -> tensor<?x6x9x9xf32>
  %s = graph.conv_transpose %x, %w {strides = array<i64: 2, 1>} : (tensor<?x4x8x8xf32>, tensor<4x3x2x2xf32>) -> tensor<?x3x16x9xf32>
  %t = graph.conv_transpose %x, %u : (tensor<?x4x8x8xf32>, tensor<4x3x?x?xf32>) -> tensor<?x3x?x?xf32>
  %z = graph.conv %y, %v : (tensor<?x6x9x9xf32>, tensor<5x6x1x1xf32>) -> tensor<?x5x9x9xf32>
  return %z, %s, %t : tensor<?x5x9x9xf32>, tensor<?x3x16x9xf32>, tensor<?x3x?x?xf32>
}

// -----

// What is built stays where the operation was.
// CHECK-LABEL: func @placed
// CHECK: graph.conv {{.*}}device = #dlc.device<cpu:1>
func.func @placed(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32> {
  %y = graph.conv_transpose %x, %w {device = #dlc.device<cpu:1>} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  return %y : tensor<1x1x4x4xf32>
}

// -----

// A large window is one of rows of one of columns; so is a mean, but for short
// floats, which would be rounded in between.
// CHECK-LABEL: func @separated
// CHECK: %[[R:.*]] = graph.max_pool %{{.*}} {dilations = array<i64: 1, 1>, kernel_shape = array<i64: 9, 1>, pads = array<i64: 4, 0, 4, 0>, strides = array<i64: 2, 1>} : (tensor<1x4x20x20xf32>) -> tensor<1x4x10x20xf32>
// CHECK: %[[M:.*]] = graph.max_pool %[[R]] {dilations = array<i64: 1, 2>, kernel_shape = array<i64: 1, 3>, pads = array<i64: 0, 2, 0, 2>, strides = array<i64: 1, 1>} : (tensor<1x4x10x20xf32>) -> tensor<1x4x10x20xf32>
// CHECK: %[[A:.*]] = graph.avg_pool %[[M]] {{.*}}kernel_shape = array<i64: 7, 1>
// CHECK: graph.avg_pool %[[A]] {{.*}}kernel_shape = array<i64: 1, 5>
// CHECK: graph.cast
// CHECK: graph.avg_pool %{{.*}} {kernel_shape = array<i64: 7, 5>}
func.func @separated(%x: tensor<1x4x20x20xf32>) -> (tensor<1x4x4x16xf32>, tensor<1x4x4x16xf16>) {
  %y = graph.max_pool %x {kernel_shape = array<i64: 9, 3>, strides = array<i64: 2, 1>, pads = array<i64: 4, 2, 4, 2>, dilations = array<i64: 1, 2>} : (tensor<1x4x20x20xf32>) -> tensor<1x4x10x20xf32>
  %z = graph.avg_pool %y {kernel_shape = array<i64: 7, 5>} : (tensor<1x4x10x20xf32>) -> tensor<1x4x4x16xf32>
  %h = graph.cast %y {to = f16} : (tensor<1x4x10x20xf32>) -> tensor<1x4x10x20xf16>
  %g = graph.avg_pool %h {kernel_shape = array<i64: 7, 5>} : (tensor<1x4x10x20xf16>) -> tensor<1x4x4x16xf16>
  return %z, %g : tensor<1x4x4x16xf32>, tensor<1x4x4x16xf16>
}

// -----

// Letters of both, of the left and of the right one are dimensions of a product.
// CHECK-LABEL: func @scores
// CHECK-NEXT: %[[Q:.*]] = graph.transpose %{{.*}} {perm = array<i64: 0, 1, 3, 2>} : (tensor<2x4x8x16xf32>) -> tensor<2x4x16x8xf32>
// CHECK-NEXT: %[[Y:.*]] = graph.matmul %[[Q]], %{{.*}} : (tensor<2x4x16x8xf32>, tensor<2x4x8x12xf32>) -> tensor<2x4x16x12xf32>
// CHECK-NEXT: return %[[Y]]
func.func @scores(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x8x12xf32>) -> tensor<2x4x16x12xf32> {
  %y = graph.einsum %q, %k {equation = "bhdi,bhdj->bhij"} : (tensor<2x4x8x16xf32>, tensor<2x4x8x12xf32>) -> tensor<2x4x16x12xf32>
  return %y : tensor<2x4x16x12xf32>
}

// -----

// What is assigned to a slice is put between the rest: its places are computed
// of ranges.
// CHECK-LABEL: func @assigned
// CHECK-NOT: graph.scatter_nd
// CHECK: graph.concat %{{.*}} {axis = 1 : i64} : (tensor<4x1x3xf32>, tensor<4x5x3xf32>) -> tensor<4x6x3xf32>
func.func @assigned(%x: tensor<4x6x3xf32>, %u: tensor<4x5x3xf32>) -> tensor<4x6x3xf32> {
  %i0 = graph.constant dense<0> : tensor<i64>
  %i1 = graph.constant dense<1> : tensor<i64>
  %i4 = graph.constant dense<4> : tensor<i64>
  %i6 = graph.constant dense<6> : tensor<i64>
  %both = graph.constant dense<[4, 5]> : tensor<2xi64>
  %second = graph.constant dense<1> : tensor<1xi64>
  %last = graph.constant dense<2> : tensor<1xi64>
  %rows = graph.range %i0, %i4, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<4xi64>
  %columns = graph.range %i1, %i6, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<5xi64>
  %0 = graph.unsqueeze %rows, %second : (tensor<4xi64>, tensor<1xi64>) -> tensor<4x1xi64>
  %1 = graph.expand %0, %both : (tensor<4x1xi64>, tensor<2xi64>) -> tensor<4x5xi64>
  %2 = graph.unsqueeze %1, %last : (tensor<4x5xi64>, tensor<1xi64>) -> tensor<4x5x1xi64>
  %3 = graph.expand %columns, %both : (tensor<5xi64>, tensor<2xi64>) -> tensor<4x5xi64>
  %4 = graph.unsqueeze %3, %last : (tensor<4x5xi64>, tensor<1xi64>) -> tensor<4x5x1xi64>
  %places = graph.concat %2, %4 {axis = 2 : i64} : (tensor<4x5x1xi64>, tensor<4x5x1xi64>) -> tensor<4x5x2xi64>
  %y = graph.scatter_nd %x, %places, %u : (tensor<4x6x3xf32>, tensor<4x5x2xi64>, tensor<4x5x3xf32>) -> tensor<4x6x3xf32>
  return %y : tensor<4x6x3xf32>
}

// -----

// Places in another order are no slice's.
// CHECK-LABEL: func @turned_places
// CHECK: graph.scatter_nd
func.func @turned_places(%x: tensor<3x4xf32>, %u: tensor<2x4xf32>) -> tensor<3x4xf32> {
  %i = graph.constant dense<[[1], [0]]> : tensor<2x1xi64>
  %y = graph.scatter_nd %x, %i, %u : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

// A diagonal has no such form.
// CHECK-LABEL: func @diagonal
// CHECK-NEXT: graph.einsum
func.func @diagonal(%x: tensor<3x3xf32>) -> tensor<3xf32> {
  %y = graph.einsum %x {equation = "ii->i"} : (tensor<3x3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// CHECK-LABEL: func @doubled_channels
// CHECK: graph.conv %{{.*}} {group = 16 : i64} : (tensor<1x16x8x8xf32>, tensor<16x1x3x3xf32>) -> tensor<1x16x6x6xf32>
func.func @doubled_channels(%x: tensor<1x8x8x8xf32>, %w: tensor<16x1x3x3xf32>) -> tensor<1x16x6x6xf32> {
  %y = graph.conv %x, %w {group = 8 : i64} : (tensor<1x8x8x8xf32>, tensor<16x1x3x3xf32>) -> tensor<1x16x6x6xf32>
  return %y : tensor<1x16x6x6xf32>
}

// -----

// Rows by two constant places and weights of each element, while there are few,
// then columns.
// CHECK-LABEL: func @enlarged
// CHECK: graph.gather %{{.*}} {axis = 3 : i64} : (tensor<1x21x9x9xf32>, tensor<72xi64>) -> tensor<1x21x9x72xf32>
// CHECK: graph.gather %{{.*}} {axis = 3 : i64} : (tensor<1x21x9x9xf32>, tensor<72xi64>) -> tensor<1x21x9x72xf32>
// CHECK: graph.resize %{{.*}} {axes = array<i64: 2>, {{.*}}} : (tensor<1x21x9x72xf32>, none, none, tensor<1xi64>) -> tensor<1x21x72x72xf32>
func.func @enlarged(%x: tensor<1x21x9x9xf32>) -> tensor<1x21x72x72xf32> {
  %none = graph.none : none
  %sizes = graph.constant dense<72> : tensor<2xi64>
  %y = graph.resize %x, %none, %none, %sizes {mode = "linear", axes = array<i64: 2, 3>} : (tensor<1x21x9x9xf32>, none, none, tensor<2xi64>) -> tensor<1x21x72x72xf32>
  return %y : tensor<1x21x72x72xf32>
}

// -----

// What becomes smaller comes first; channels that may lie in blocks have the
// same weights.
// CHECK-LABEL: func @stretched
// CHECK: graph.resize %{{.*}} {axes = array<i64: 2>, {{.*}}tensor<1x32x3x9xf32>
// CHECK: graph.resize %{{.*}} {axes = array<i64: 3>, {{.*}}tensor<1x32x3x72xf32>
func.func @stretched(%x: tensor<1x32x9x9xf32>) -> tensor<1x32x3x72xf32> {
  %none = graph.none : none
  %sizes = graph.constant dense<[3, 72]> : tensor<2xi64>
  %y = graph.resize %x, %none, %none, %sizes {mode = "linear", axes = array<i64: 2, 3>} : (tensor<1x32x9x9xf32>, none, none, tensor<2xi64>) -> tensor<1x32x3x72xf32>
  return %y : tensor<1x32x3x72xf32>
}

// -----

// Short sums of small integers in groups are exact as floats, which have fast
// kernels; long ones, those of one group and channels by themselves stay.
// CHECK-LABEL: func @grouped_integers
// CHECK: %[[W:.*]] = graph.sub %{{.*}} : (tensor<4x2x3x3xf32>, tensor<4x1x1x1xf32>)
// CHECK: %[[X:.*]] = graph.sub %{{.*}} : (tensor<1x4x8x8xf32>, tensor<f32>)
// CHECK: %[[Y:.*]] = graph.conv %[[X]], %[[W]] {group = 2 : i64, pads = array<i64: 1, 1, 1, 1>}
// CHECK: graph.cast %[[Y]] {to = i32}
// CHECK: graph.integer_conv
// CHECK: graph.integer_conv
// CHECK: graph.integer_conv {{.*}} {group = 4 : i64}
// CHECK-NOT: graph.conv
func.func @grouped_integers(%x: tensor<1x4x8x8xui8>, %w: tensor<4x2x3x3xi8>, %v: tensor<4x4x3x3xi8>, %t: tensor<4x1x3x3xi8>, %long: tensor<1x66x8x8xui8>, %u: tensor<2x33x3x3xi8>, %zx: tensor<ui8>, %zw: tensor<4xi8>, %z: tensor<i8>) -> (tensor<1x4x8x8xi32>, tensor<1x4x6x6xi32>, tensor<1x2x6x6xi32>, tensor<1x4x6x6xi32>) {
  %0 = graph.integer_conv %x, %w, %zx, %zw {group = 2 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x8x8xui8>, tensor<4x2x3x3xi8>, tensor<ui8>, tensor<4xi8>) -> tensor<1x4x8x8xi32>
  %1 = graph.integer_conv %x, %v, %zx, %zw : (tensor<1x4x8x8xui8>, tensor<4x4x3x3xi8>, tensor<ui8>, tensor<4xi8>) -> tensor<1x4x6x6xi32>
  %2 = graph.integer_conv %long, %u, %zx, %z {group = 2 : i64} : (tensor<1x66x8x8xui8>, tensor<2x33x3x3xi8>, tensor<ui8>, tensor<i8>) -> tensor<1x2x6x6xi32>
  %3 = graph.integer_conv %x, %t, %zx, %zw {group = 4 : i64} : (tensor<1x4x8x8xui8>, tensor<4x1x3x3xi8>, tensor<ui8>, tensor<4xi8>) -> tensor<1x4x6x6xi32>
  return %0, %1, %2, %3 : tensor<1x4x8x8xi32>, tensor<1x4x6x6xi32>, tensor<1x2x6x6xi32>, tensor<1x4x6x6xi32>
}

// -----

// Where much would be cut off at the border of a small image, each remainder is
// a convolution for itself, and nothing is.
// CHECK-LABEL: func @small_image
// CHECK-NOT: graph.pad
// CHECK-NOT: graph.slice %arg0
// CHECK-COUNT-4: graph.conv {{.*}} : (tensor<1x4x4x4xf32>, tensor<3x4x2x2xf32>) -> tensor<1x3x4x4xf32>
// CHECK-NOT: graph.conv
// CHECK-NOT: graph.pad
// CHECK: return
func.func @small_image(%x: tensor<1x4x4x4xf32>) -> tensor<1x3x8x8xf32> {
  %w = graph.constant dense<0.5> : tensor<4x3x4x4xf32>
  %y = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x4x4xf32>, tensor<4x3x4x4xf32>) -> tensor<1x3x8x8xf32>
  return %y : tensor<1x3x8x8xf32>
}

// -----

// Not so many of them, nor of a large image.
// CHECK-LABEL: func @many_remainders
// CHECK-COUNT-1: graph.conv
// CHECK-NOT: graph.conv
func.func @many_remainders(%x: tensor<1x4x4x4xf32>, %w: tensor<4x3x8x8xf32>) -> tensor<1x3x16x16xf32> {
  %y = graph.conv_transpose %x, %w {strides = array<i64: 4, 4>, pads = array<i64: 2, 2, 2, 2>} : (tensor<1x4x4x4xf32>, tensor<4x3x8x8xf32>) -> tensor<1x3x16x16xf32>
  return %y : tensor<1x3x16x16xf32>
}

// CHECK-LABEL: func @large_image
// CHECK-COUNT-1: graph.conv
// CHECK-NOT: graph.conv
func.func @large_image(%x: tensor<1x4x32x32xf32>, %w: tensor<4x3x4x4xf32>) -> tensor<1x3x64x64xf32> {
  %y = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x32x32xf32>, tensor<4x3x4x4xf32>) -> tensor<1x3x64x64xf32>
  return %y : tensor<1x3x64x64xf32>
}

// -----

// One pixel is a product; of the image all is there.
// CHECK-LABEL: func @one_pixel
// CHECK: %[[Y:.*]] = graph.matmul {{.*}} : (tensor<2x100xf32>, tensor<100x48xf32>) -> tensor<2x48xf32>
// CHECK: graph.reshape %[[Y]], {{.*}} -> tensor<2x3x4x4xf32>
// CHECK-NOT: graph.conv
func.func @one_pixel(%x: tensor<2x100x1x1xf32>, %w: tensor<100x3x4x4xf32>) -> tensor<2x3x4x4xf32> {
  %y = graph.conv_transpose %x, %w : (tensor<2x100x1x1xf32>, tensor<100x3x4x4xf32>) -> tensor<2x3x4x4xf32>
  return %y : tensor<2x3x4x4xf32>
}

// -----

// The library that multiplies bytes of channels by themselves is the host's.
// CHECK-LABEL: func @integers_of_a_gpu
// CHECK: graph.conv {{.*}} {device = #dlc.device<cuda:0>, group = 4 : i64}
// CHECK-NOT: graph.integer_conv
func.func @integers_of_a_gpu(%x: tensor<1x4x8x8xui8>, %w: tensor<4x1x3x3xi8>, %zx: tensor<ui8>, %zw: tensor<i8>) -> tensor<1x4x6x6xi32> {
  %0 = graph.integer_conv %x, %w, %zx, %zw {group = 4 : i64, device = #dlc.device<cuda:0>} : (tensor<1x4x8x8xui8>, tensor<4x1x3x3xi8>, tensor<ui8>, tensor<i8>) -> tensor<1x4x6x6xi32>
  return %0 : tensor<1x4x6x6xi32>
}

// -----

// What one thread would fold is folded in parts, a row each; what leaves more,
// or is small, is not.
// CHECK-LABEL: func @fold_in_parts
// CHECK-DAG: %[[ROW:.*]] = graph.constant dense<2> : tensor<1xi64>
// CHECK: %[[MOST:.*]] = graph.reduce_max %{{.*}}, %[[ROW]] : (tensor<1x32x1536xf32>, tensor<1xi64>) -> tensor<1x32x1xf32>
// CHECK: graph.reduce_max %[[MOST]] {keepdims = false} : (tensor<1x32x1xf32>) -> tensor<f32>
// CHECK: graph.reduce_min %{{.*}} : (tensor<1x2x384xf32>) -> tensor<f32>
// CHECK: graph.reduce_sum %{{.*}} : (tensor<8x8192xf32>, tensor<1xi64>) -> tensor<8xf32>
func.func @fold_in_parts(%x: tensor<1x32x1536xf32>, %small: tensor<1x2x384xf32>, %rows: tensor<8x8192xf32>) -> (tensor<f32>, tensor<f32>, tensor<8xf32>) {
  %i1 = graph.constant dense<1> : tensor<1xi64>
  %most = graph.reduce_max %x {keepdims = false} : (tensor<1x32x1536xf32>) -> tensor<f32>
  %least = graph.reduce_min %small {keepdims = false} : (tensor<1x2x384xf32>) -> tensor<f32>
  %sums = graph.reduce_sum %rows, %i1 {keepdims = false} : (tensor<8x8192xf32>, tensor<1xi64>) -> tensor<8xf32>
  return %most, %least, %sums : tensor<f32>, tensor<f32>, tensor<8xf32>
}

// -----

// Only what is reduced makes parts: here two dimensions of three, the inner of
// which stays; of a mean the sum.
// CHECK-LABEL: func @fold_some
// CHECK-DAG: %[[OUTER:.*]] = graph.constant dense<[0, 2]> : tensor<2xi64>
// CHECK-DAG: %[[INNER:.*]] = graph.constant dense<2> : tensor<1xi64>
// CHECK: %[[PARTS:.*]] = graph.reduce_sum %{{.*}}, %[[INNER]] : (tensor<64x3x256xf32>, tensor<1xi64>) -> tensor<64x3x1xf32>
// CHECK: %[[SUM:.*]] = graph.reduce_sum %[[PARTS]], %[[OUTER]] : (tensor<64x3x1xf32>, tensor<2xi64>) -> tensor<1x3x1xf32>
// CHECK: graph.mul %[[SUM]]
func.func @fold_some(%x: tensor<64x3x256xf32>) -> tensor<1x3x1xf32> {
  %i02 = graph.constant dense<[0, 2]> : tensor<2xi64>
  %y = graph.reduce_mean %x, %i02 {keepdims = true} : (tensor<64x3x256xf32>, tensor<2xi64>) -> tensor<1x3x1xf32>
  return %y : tensor<1x3x1xf32>
}

// -----

// Of open shapes what is folded along dimensions that others part is folded
// along each of them; a mean is one of means.
// CHECK-LABEL: func @fold_apart
// CHECK-DAG: %[[ALL:.*]] = graph.constant dense<[0, 2, 3]> : tensor<3xi64>
// CHECK-DAG: %[[INNER:.*]] = graph.constant dense<[3, 2]> : tensor<2xi64>
// CHECK: %[[MOST:.*]] = graph.reduce_max %arg0, %[[INNER]] : (tensor<?x3x?x?xf32>, tensor<2xi64>) -> tensor<?x3x1x1xf32>
// CHECK: graph.reduce_max %[[MOST]], %[[ALL]] {keepdims = false} : (tensor<?x3x1x1xf32>, tensor<3xi64>) -> tensor<3xf32>
// CHECK: %[[MEANS:.*]] = graph.reduce_mean %arg0, %[[INNER]] : (tensor<?x3x?x?xf32>, tensor<2xi64>) -> tensor<?x3x1x1xf32>
// CHECK: graph.reduce_mean %[[MEANS]], %[[ALL]] {keepdims = false}
// CHECK: graph.reduce_sum %arg1, %{{.*}} : (tensor<?x1x?xf32>, tensor<2xi64>) -> tensor<1x1x1xf32>
func.func @fold_apart(%x: tensor<?x3x?x?xf32>, %y: tensor<?x1x?xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<1x1x1xf32>) {
  %i = graph.constant dense<[0, 2, 3]> : tensor<3xi64>
  %j = graph.constant dense<[0, 2]> : tensor<2xi64>
  %0 = graph.reduce_max %x, %i {keepdims = false} : (tensor<?x3x?x?xf32>, tensor<3xi64>) -> tensor<3xf32>
  %1 = graph.reduce_mean %x, %i {keepdims = false} : (tensor<?x3x?x?xf32>, tensor<3xi64>) -> tensor<3xf32>
  %2 = graph.reduce_sum %y, %j {keepdims = true} : (tensor<?x1x?xf32>, tensor<2xi64>) -> tensor<1x1x1xf32>
  return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<1x1x1xf32>
}

// -----

// Sums of short floats are rounded once, and a product, of which parts may
// overflow where the whole does not, has none.
// CHECK-LABEL: func @fold_short
// CHECK: %[[WIDE:.*]] = graph.cast %{{.*}} : (tensor<128x512xf16>) -> tensor<128x512xf32>
// CHECK: graph.reduce_sum %[[WIDE]]
// CHECK: %[[SUM:.*]] = graph.reduce_sum %{{.*}} {keepdims = false} : (tensor<128x1xf32>) -> tensor<f32>
// CHECK: graph.cast %[[SUM]] {{.*}}: (tensor<f32>) -> tensor<f16>
// CHECK: graph.reduce_prod %{{.*}} {keepdims = false} : (tensor<128x512xf16>) -> tensor<f16>
func.func @fold_short(%x: tensor<128x512xf16>) -> (tensor<f16>, tensor<f16>) {
  %sum = graph.reduce_sum %x {keepdims = false} : (tensor<128x512xf16>) -> tensor<f16>
  %product = graph.reduce_prod %x {keepdims = false} : (tensor<128x512xf16>) -> tensor<f16>
  return %sum, %product : tensor<f16>, tensor<f16>
}

// -----

// A short-time Fourier transform of signals of any length is a convolution.
// CHECK-LABEL: func @open_signal
// CHECK: %[[W:.*]] = graph.mul {{.*}} : (tensor<18x1x16xf32>, tensor<1x1x16xf32>) -> tensor<18x1x16xf32>
// CHECK: graph.conv %{{.*}}, %[[W]] {{.*}}strides = array<i64: 4>{{.*}} : (tensor<?x1x?xf32>, tensor<18x1x16xf32>) -> tensor<?x18x?xf32>
// CHECK: graph.reshape {{.*}} -> tensor<?x?x9x2xf32>
func.func @open_signal(%x: tensor<?x?x1xf32>, %w: tensor<16xf32>) -> tensor<?x?x9x2xf32> {
  %none = graph.none : none
  %step = graph.constant dense<4> : tensor<i64>
  %y = graph.stft %x, %step, %w, %none : (tensor<?x?x1xf32>, tensor<i64>, tensor<16xf32>, none) -> tensor<?x?x9x2xf32>
  return %y : tensor<?x?x9x2xf32>
}
