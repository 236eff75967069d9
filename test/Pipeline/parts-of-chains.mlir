// What a chain around a depthwise convolution keeps for itself, here 28 MB for
// all examples, is in caches already: the batch stays whole. As convolutions one
// by one, which an exponential between them makes of it, it does not.

// RUN: dlc compile %s --remarks -o %t.dlc 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.remarks
// RUN: sed "s/%3 = graph.relu/%3 = graph.exp/" %s > %t.mlir
// RUN: dlc compile %t.mlir --remarks -o %t.dlc 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=APART

// CHECK-NOT: graph-split-batch
// CHECK: Calls=1,
// CHECK-NOT: graph-split-batch
// APART: graph-split-batch: {{.*}}Parts=4
func.func @main(%x: tensor<8x16x96x96xf32> {graph.name = "x"}) -> (tensor<8x16x?x?xf32> {graph.name = "y"}) {
  %u = graph.constant dense<0.125> : tensor<96x16x1x1xf32>
  %v = graph.constant dense<0.25> : tensor<96x1x3x3xf32>
  %w = graph.constant dense<0.0625> : tensor<16x96x1x1xf32>
  %0 = graph.conv %x, %u : (tensor<8x16x96x96xf32>, tensor<96x16x1x1xf32>) -> tensor<8x96x96x96xf32>
  %1 = graph.relu %0 : tensor<8x96x96x96xf32>
  %2 = graph.conv %1, %v {group = 96 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<8x96x96x96xf32>, tensor<96x1x3x3xf32>) -> tensor<8x96x?x?xf32>
  %3 = graph.relu %2 : tensor<8x96x?x?xf32>
  %4 = graph.conv %3, %w : (tensor<8x96x?x?xf32>, tensor<16x96x1x1xf32>) -> tensor<8x16x?x?xf32>
  return %4 : tensor<8x16x?x?xf32>
}
