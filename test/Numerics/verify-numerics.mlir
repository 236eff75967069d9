// RUN: dlc-opt %s --verify-numerics --dlc-to-plan -o %t
// RUN: dlc-opt %s --verify-numerics --canonicalize --graph-simplify-inference --graph-fuse-operators --remarks-filter=verify-numerics -o - 2>&1 | FileCheck %s
// RUN: dlc-opt %s --verify-numerics --pass-pipeline="builtin.module(func.func(graph-gradient,graph-split-gradient{part=backward arguments=2 results=1}))" --remarks-filter=verify-numerics -o %t 2>&1 | FileCheck %s --check-prefix=SPLIT
// RUN: dlc-opt %s --verify-numerics --convert-graph-to-kernel --remarks-filter=verify-numerics -o %t 2>&1 | FileCheck %s --check-prefix=KERNEL
// RUN: dlc compile %s --verify-numerics -o %t.dlc

// Every pass of the compiler, and some alone, leave the numbers as they are.
// What is not compared is told.

// CHECK-NOT: NumbersNotCompared
// SPLIT: NumbersNotCompared{{.*}}graph-split-gradient: the signature is another behind it
// SPLIT-NOT: NumbersNotCompared
// KERNEL: NumbersNotCompared{{.*}}convert-graph-to-kernel: the function is not all Graph operations behind it

// CHECK-LABEL: func.func @main
// CHECK: graph.fusion
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %four = graph.constant dense<4.0> : tensor<f32>
  %i1 = graph.constant dense<1> : tensor<1xi64>
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = graph.div %0, %four : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %2 = graph.exp %1 : tensor<4x8xf32>
  %3 = graph.reduce_sum %2, %i1 : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  %4 = graph.div %2, %3 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}
