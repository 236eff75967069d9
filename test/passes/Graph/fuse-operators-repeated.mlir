// What is computed again goes into the kernel of its reader, not into the one
// that made the value the first time.
// RUN: dlc-opt %s --graph-fuse-operators | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: %[[FIRST:.*]] = graph.fusion -> tensor<64x64xf32>
// CHECK-COUNT-1: graph.tanh
// CHECK: graph.yield
// CHECK: %[[C:.*]] = graph.matmul
// CHECK: graph.fusion
// CHECK: graph.tanh
// CHECK: graph.mul %[[C]]
// CHECK: graph.yield
func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %a = graph.add %x, %w : tensor<64x64xf32>
  %b = graph.tanh %a : tensor<64x64xf32>
  %c = graph.matmul %b, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %a2 = graph.add %x, %w {graph.repeated = 0 : i64} : tensor<64x64xf32>
  %b2 = graph.tanh %a2 {graph.repeated = 0 : i64} : tensor<64x64xf32>
  %d = graph.mul %c, %b2 : tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

// A kernel that an early operation waits for does not let what stands between
// its own operations run before that.

// CHECK-LABEL: func @keeps_late
// CHECK: graph.fusion
// CHECK: graph.exp
// CHECK: graph.tanh
// CHECK: graph.matmul %{{.*}}, %arg1
// CHECK: graph.matmul %arg1, %arg1 {graph.repeated = 0 : i64}
func.func @keeps_late(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  %a = graph.exp %x : tensor<64x64xf32>
  %u = graph.matmul %a, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = graph.matmul %w, %w {graph.repeated = 0 : i64} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = graph.tanh %a : tensor<64x64xf32>
  return %u, %r, %d : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}
