// What reductions leave shares the grid of the images they came from, whatever
// its rank: here a tile is a channel.
// RUN: dlc-opt %s --dlc-to-kernel | FileCheck %s

// CHECK: kernel.func @{{.*}}memref<4x8x16x16xf32>{{.*}}memref<8xf32>{{.*}} attributes {grid = array<i64: 8>
// CHECK: scf.forall ({{.*}}) in (8)
// CHECK-NOT: kernel.func
func.func @main(%x: tensor<4x8x16x16xf32> {graph.name = "x"}, %m: tensor<8xf32> {graph.name = "m"}) -> (tensor<4x8x16x16xf32> {graph.name = "centered"}, tensor<8xf32> {graph.name = "mean"}) {
  %axes = graph.constant dense<[0, 2, 3]> : tensor<3xi64>
  %count = graph.constant dense<1024.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %sum = graph.reduce_sum %x, %axes {keepdims = true} : (tensor<4x8x16x16xf32>, tensor<3xi64>) -> tensor<1x8x1x1xf32>
  %mean = graph.div %sum, %count : (tensor<1x8x1x1xf32>, tensor<f32>) -> tensor<1x8x1x1xf32>
  %y = graph.sub %x, %mean : (tensor<4x8x16x16xf32>, tensor<1x8x1x1xf32>) -> tensor<4x8x16x16xf32>
  %all = graph.constant dense<[0, 2, 3]> : tensor<3xi64>
  %flat = graph.squeeze %mean, %all : (tensor<1x8x1x1xf32>, tensor<3xi64>) -> tensor<8xf32>
  %both = graph.add %flat, %m : tensor<8xf32>
  %next = graph.mul %both, %half : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %y, %next : tensor<4x8x16x16xf32>, tensor<8xf32>
}

// An input that lies across the rows of a tile is read in whole lines: tiles of
// long rows hold squares of sixteen.
// CHECK: kernel.func @{{.*}}transpose_add{{.*}} attributes {grid = array<i64: 96>
// CHECK: memref.subview %{{.*}} [2048, 16] [1, 1]
func.func @rows(%x: tensor<2048x1536xf32> {graph.name = "x"}, %b: tensor<1536x2048xf32> {graph.name = "b"}) -> (tensor<1536x2048xf32> {graph.name = "y"}) {
  %t = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<2048x1536xf32>) -> tensor<1536x2048xf32>
  %y = graph.add %t, %b : tensor<1536x2048xf32>
  return %y : tensor<1536x2048xf32>
}

// Channels of a block are such neighbours: a tile has all sixteen, of fewer
// pixels.
// CHECK: kernel.func @{{.*}}add_transpose_reshape{{.*}} attributes {grid = array<i64: 4, 4>,
// CHECK: memref.subview %{{.*}} [1, 1, 256, 16] [1, 1, 1, 1]
func.func @blocks(%a: tensor<1x4x1024x16xf32> {graph.name = "a"}, %b: tensor<1x4x1024x16xf32> {graph.name = "b"}) -> (tensor<1x64x1024xf32> {graph.name = "y"}) {
  %sum = graph.add %a, %b : tensor<1x4x1024x16xf32>
  %t = graph.transpose %sum {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x4x1024x16xf32>) -> tensor<1x4x16x1024xf32>
  %shape = graph.constant dense<[1, 64, 1024]> : tensor<3xi64>
  %y = graph.reshape %t, %shape : (tensor<1x4x16x1024xf32>, tensor<3xi64>) -> tensor<1x64x1024xf32>
  return %y : tensor<1x64x1024xf32>
}

// The same of large images, whose rows were tiles of one channel.
// CHECK: kernel.func @{{.*}}relu_transpose_reshape{{.*}} attributes {grid = array<i64: 4, 112>,
// CHECK: memref.subview %{{.*}} [1, 1, 1, 112, 16] [1, 1, 1, 1, 1]
func.func @images(%x: tensor<1x4x112x112x16xf32> {graph.name = "x"}) -> (tensor<1x64x112x112xf32> {graph.name = "y"}) {
  %0 = graph.relu %x : tensor<1x4x112x112x16xf32>
  %t = graph.transpose %0 {perm = array<i64: 0, 1, 4, 2, 3>} : (tensor<1x4x112x112x16xf32>) -> tensor<1x4x16x112x112xf32>
  %shape = graph.constant dense<[1, 64, 112, 112]> : tensor<4xi64>
  %y = graph.reshape %t, %shape : (tensor<1x4x16x112x112xf32>, tensor<4xi64>) -> tensor<1x64x112x112xf32>
  return %y : tensor<1x64x112x112xf32>
}

// Of 1000 rows 40 are a tile, of which 48 are computed, and not 20, of 32.
// CHECK: kernel.func @{{.*}}tanh_transpose{{.*}} attributes {grid = array<i64: 25>,
// CHECK: memref.subview %{{.*}} [1000, 40] [1, 1]
func.func @thousand(%x: tensor<1000x1000xf32> {graph.name = "x"}) -> (tensor<1000x1000xf32> {graph.name = "y"}) {
  %0 = graph.tanh %x : tensor<1000x1000xf32>
  %y = graph.transpose %0 {perm = array<i64: 1, 0>} : (tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  return %y : tensor<1000x1000xf32>
}

// Rows come from pairs of an input's, so that a tile has both; channels are cut
// where the one input ends and the other one begins, and are no grid.
// CHECK: kernel.func @{{.*}}concat{{.*}} attributes {grid = array<i64: 64>,
// CHECK: scf.forall ({{.*}}) in (64)
func.func @pairs(%x: tensor<1x32x64x64xf32> {graph.name = "x"}, %s: tensor<1x8x128x128xf32> {graph.name = "s"}) -> (tensor<1x16x128x128xf32> {graph.name = "y"}) {
  %parts = graph.constant dense<[1, 8, 2, 2, 64, 64]> : tensor<6xi64>
  %whole = graph.constant dense<[1, 8, 128, 128]> : tensor<4xi64>
  %0 = graph.reshape %x, %parts : (tensor<1x32x64x64xf32>, tensor<6xi64>) -> tensor<1x8x2x2x64x64xf32>
  %1 = graph.transpose %0 {perm = array<i64: 0, 1, 4, 2, 5, 3>} : (tensor<1x8x2x2x64x64xf32>) -> tensor<1x8x64x2x64x2xf32>
  %2 = graph.reshape %1, %whole : (tensor<1x8x64x2x64x2xf32>, tensor<4xi64>) -> tensor<1x8x128x128xf32>
  %y = graph.concat %2, %s {axis = 1 : i64} : (tensor<1x8x128x128xf32>, tensor<1x8x128x128xf32>) -> tensor<1x16x128x128xf32>
  return %y : tensor<1x16x128x128xf32>
}

// A step of a decoder: queries, and keys behind those of before. The largest
// result says what the grid is, and the others have it in their own shapes.
// CHECK: kernel.func @{{.*}}memref<1x8x1x64xf32>{{.*}}memref<1x8x257x64xf32>{{.*}} attributes {grid = array<i64: 8>,
// CHECK: scf.forall ({{.*}}) in (8)
func.func @step(%x: tensor<1x1x1024xf32> {graph.name = "x"}, %before: tensor<1x8x256x64xf32> {graph.name = "before"}) -> (tensor<1x8x1x64xf32> {graph.name = "q"}, tensor<1x8x257x64xf32> {graph.name = "k"}) {
  %sizes = graph.constant dense<[512, 512]> : tensor<2xi64>
  %heads = graph.constant dense<[1, 8, 1, 64]> : tensor<4xi64>
  %0:2 = graph.split %x, %sizes {axis = 2 : i64} : (tensor<1x1x1024xf32>, tensor<2xi64>) -> (tensor<1x1x512xf32>, tensor<1x1x512xf32>)
  %q = graph.reshape %0#0, %heads : (tensor<1x1x512xf32>, tensor<4xi64>) -> tensor<1x8x1x64xf32>
  %1 = graph.reshape %0#1, %heads : (tensor<1x1x512xf32>, tensor<4xi64>) -> tensor<1x8x1x64xf32>
  %k = graph.concat %before, %1 {axis = 2 : i64} : (tensor<1x8x256x64xf32>, tensor<1x8x1x64xf32>) -> tensor<1x8x257x64xf32>
  return %q, %k : tensor<1x8x1x64xf32>, tensor<1x8x257x64xf32>
}

// Where the dimensions that tiles would be are cut, inner ones are the grid:
// rows of an image, and parts of the last dimension.
// CHECK: kernel.func @{{.*}}memref<1x64x64x64xf32>{{.*}} attributes {grid = array<i64: 64>,
func.func @small_images(%a: tensor<1x64x64x64xf32> {graph.name = "a"}, %b: tensor<1x64x64x64xf32> {graph.name = "b"}) -> (tensor<1x128x64x64xf32> {graph.name = "y"}) {
  %y = graph.concat %a, %b {axis = 1 : i64} : (tensor<1x64x64x64xf32>, tensor<1x64x64x64xf32>) -> tensor<1x128x64x64xf32>
  return %y : tensor<1x128x64x64xf32>
}
// CHECK: kernel.func @{{.*}}memref<128x4096xf32>{{.*}} attributes {grid = array<i64: 64>,
// CHECK: memref.subview %{{.*}} [128, 64] [1, 1]
func.func @long_rows(%a: tensor<128x4096xf32> {graph.name = "a"}, %b: tensor<128x4096xf32> {graph.name = "b"}) -> (tensor<256x4096xf32> {graph.name = "y"}) {
  %y = graph.concat %a, %b {axis = 0 : i64} : (tensor<128x4096xf32>, tensor<128x4096xf32>) -> tensor<256x4096xf32>
  return %y : tensor<256x4096xf32>
}
