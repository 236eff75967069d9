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

// Channels of a block are such neighbours: a tile has all sixteen.
// CHECK: kernel.func @{{.*}}add_transpose_reshape{{.*}} attributes {grid = array<i64: 4>,
// CHECK: memref.subview %{{.*}} [1, 1, 1024, 16] [1, 1, 1, 1]
func.func @blocks(%a: tensor<1x4x1024x16xf32> {graph.name = "a"}, %b: tensor<1x4x1024x16xf32> {graph.name = "b"}) -> (tensor<1x64x1024xf32> {graph.name = "y"}) {
  %sum = graph.add %a, %b : tensor<1x4x1024x16xf32>
  %t = graph.transpose %sum {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x4x1024x16xf32>) -> tensor<1x4x16x1024xf32>
  %shape = graph.constant dense<[1, 64, 1024]> : tensor<3xi64>
  %y = graph.reshape %t, %shape : (tensor<1x4x16x1024xf32>, tensor<3xi64>) -> tensor<1x64x1024xf32>
  return %y : tensor<1x64x1024xf32>
}
