// Nothing divides such a batch: parts differ by an example.

// RUN: dlc-opt %s --graph-split-batch=parts=2 | FileCheck %s

// CHECK: graph.conv {{.*}} {graph.part = 0 : i64} {{.*}} -> tensor<500000003x1x1x1xf32>
// CHECK: graph.conv {{.*}} {graph.part = 1 : i64} {{.*}} -> tensor<500000004x1x1x1xf32>
func.func @main(%x: tensor<1000000007x1x1x1xf32>, %w: tensor<1x1x1x1xf32>) -> tensor<1000000007x1x1x1xf32> {
  %0 = graph.conv %x, %w : (tensor<1000000007x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1000000007x1x1x1xf32>
  return %0 : tensor<1000000007x1x1x1xf32>
}
