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
