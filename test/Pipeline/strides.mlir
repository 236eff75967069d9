// The way back of strided convolutions, over statistics and masks, computes in
// blocks of channels what the definitions do.

// RUN: dlc-opt %s --graph-gradient -o %t.mlir
// RUN: dlc compile %t.mlir --remarks --emit=graph -o %t.graph 2>&1 | FileCheck %s
// RUN: dlc compile %t.mlir --verify-numerics -o %t.dlc

// CHECK: 15 convolutions compute in blocks of 16 channels
func.func @main(%x: tensor<2x64x29x28xf32> {graph.name = "x"}, %u: tensor<64x64x3x3xf32> {graph.name = "u"}, %w: tensor<128x64x3x3xf32> {graph.name = "w"}, %v: tensor<128x64x1x1xf32> {graph.name = "v"}, %t: tensor<128x128x3x3xf32> {graph.name = "t"}) -> (tensor<2x128x15x14xf32> {graph.name = "y"}) {
  %axes = graph.constant dense<[0, 2, 3]> : tensor<3xi64>
  %0 = graph.conv %x, %u {pads = array<i64: 1, 1, 1, 1>} : (tensor<2x64x29x28xf32>, tensor<64x64x3x3xf32>) -> tensor<2x64x29x28xf32>
  %1 = graph.reduce_mean %0, %axes : (tensor<2x64x29x28xf32>, tensor<3xi64>) -> tensor<1x64x1x1xf32>
  %2 = graph.sub %0, %1 : (tensor<2x64x29x28xf32>, tensor<1x64x1x1xf32>) -> tensor<2x64x29x28xf32>
  %3 = graph.tanh %2 : tensor<2x64x29x28xf32>
  %4 = graph.conv %3, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} : (tensor<2x64x29x28xf32>, tensor<128x64x3x3xf32>) -> tensor<2x128x15x14xf32>
  %5 = graph.conv %3, %v {strides = array<i64: 2, 2>} : (tensor<2x64x29x28xf32>, tensor<128x64x1x1xf32>) -> tensor<2x128x15x14xf32>
  %6 = graph.tanh %4 : tensor<2x128x15x14xf32>
  %7 = graph.conv %6, %t {pads = array<i64: 1, 1, 1, 1>} : (tensor<2x128x15x14xf32>, tensor<128x128x3x3xf32>) -> tensor<2x128x15x14xf32>
  %8 = graph.add %5, %7 : tensor<2x128x15x14xf32>
  %9 = graph.relu %8 : tensor<2x128x15x14xf32>
  return %9 : tensor<2x128x15x14xf32>
}
