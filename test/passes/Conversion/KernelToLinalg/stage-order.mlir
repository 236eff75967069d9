// A value that is written by one of its readers is written before the others
// read it, whichever of them was planned first: here the second sum needs more
// than the first, and its stage makes the exponentials.
// RUN: dlc-opt %s --dlc-to-kernel | FileCheck %s

// CHECK-LABEL: kernel.func
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: math.exp
// CHECK-NOT: math.exp
// CHECK: kernel.return
func.func @main(%x: tensor<4x64x7x7xf32> {graph.name = "x"}, %s: tensor<64x1x1xf32> {graph.name = "s"}) -> (tensor<1x64x1x1xf32> {graph.name = "first"}, tensor<1x64x1x1xf32> {graph.name = "second"}, tensor<4x64x7x7xf32> {graph.name = "y"}) {
  %axes = graph.constant dense<[0, 2, 3]> : tensor<3xi64>
  %e = graph.exp %x : tensor<4x64x7x7xf32>
  %a = graph.mul %e, %s : (tensor<4x64x7x7xf32>, tensor<64x1x1xf32>) -> tensor<4x64x7x7xf32>
  %b = graph.mul %e, %x : tensor<4x64x7x7xf32>
  %first = graph.reduce_sum %b, %axes {keepdims = true} : (tensor<4x64x7x7xf32>, tensor<3xi64>) -> tensor<1x64x1x1xf32>
  %n = graph.neg %a : tensor<4x64x7x7xf32>
  %second = graph.reduce_sum %n, %axes {keepdims = true} : (tensor<4x64x7x7xf32>, tensor<3xi64>) -> tensor<1x64x1x1xf32>
  %y = graph.add %a, %first : (tensor<4x64x7x7xf32>, tensor<1x64x1x1xf32>) -> tensor<4x64x7x7xf32>
  return %first, %second, %y : tensor<1x64x1x1xf32>, tensor<1x64x1x1xf32>, tensor<4x64x7x7xf32>
}
