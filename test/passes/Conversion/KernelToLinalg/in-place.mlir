// Which operands a kernel may write over: not one that a stage before the writer
// reads within its tile where the tile that is written lies across others.
// RUN: dlc-opt %s --dlc-to-kernel | FileCheck %s

// The stages: row sums of %a; %v by columns, as its reader wants it; the product.
// CHECK: kernel.func @{{.*}}(%arg0: {{.*}}, %arg1: {{.*}}, %arg2: {{.*}}, %arg3: {{.*}}) attributes {{.*}}inPlace = array<i64: 1, 0, 0, 1>, outputs = 2
// CHECK: memref.subview %arg0[%[[I:.*]], 0] [1, 32]
// CHECK: memref.subview %arg1[0, %[[I]]] [32, 1]
// CHECK: memref.subview %arg2[0, %[[I]]] [32, 1]
// CHECK: memref.subview %arg3[%[[I]], 0] [1, 32]
func.func @main(%a: tensor<32x32xf32> {graph.name = "a"}, %b: tensor<32x32xf32> {graph.name = "b"}) -> (tensor<32x32xf32> {graph.name = "r0"}, tensor<32x32xf32> {graph.name = "v"}) {
  %axes = graph.constant dense<1> : tensor<1xi64>
  %a1 = graph.exp %a : tensor<32x32xf32>
  %u = graph.reduce_sum %a1, %axes {keepdims = true} : (tensor<32x32xf32>, tensor<1xi64>) -> tensor<32x1xf32>
  %e = graph.exp %b : tensor<32x32xf32>
  %v = graph.exp %e : tensor<32x32xf32>
  %t = graph.transpose %v {perm = array<i64: 1, 0>} : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %r = graph.mul %t, %u : (tensor<32x32xf32>, tensor<32x1xf32>) -> tensor<32x32xf32>
  return %r, %v : tensor<32x32xf32>, tensor<32x32xf32>
}
