// RUN: dlc-opt %s --dlc-to-kernel | FileCheck %s
// RUN: dlc-opt %s --verify-numerics --dlc-to-fused -o /dev/null
// RUN: dlc explain %s --random --runs 1 | FileCheck %s --check-prefix=EXPLAIN
// A network with its channels in blocks from the first layer to the vector at
// its end: normalisation, residual and activation are parts of the
// convolutions, and nothing is transposed.

// CHECK-DAG: kernel.library {{.*}} "cpu.conv" {activation = "relu", algorithm = "winograd", channel_block = 16 : i64, group = 1 : i64, packed_shape = array<i64: 64, 3, 7, 7>
// CHECK-DAG: kernel.library {{.*}} "cpu.conv" {activation = "relu", {{.*}}channel_block = 16 : i64, {{.*}}inPlace([3, 0]){{.*}}, none, tensor<1x4x28x28x16xf32>) -> tensor<1x4x28x28x16xf32>
// CHECK-LABEL: func.func @main
// CHECK-NOT: transpose
// CHECK: kernel.call {{.*}} -> tensor<1x4x56x56x16xf32>
// CHECK: kernel.call @k.max_pool
// CHECK: kernel.call @k.reduce_mean_reshape
// CHECK-NEXT: kernel.call {{.*}} -> tensor<1x10xf32>
// CHECK-NEXT: return

// EXPLAIN: Library{{ +}}2e-05{{ +}}cpu.conv (winograd, 16c)
// EXPLAIN: Generated{{ +}}k.max_pool
// EXPLAIN: us in 5 launches
func.func @main(%x: tensor<1x3x112x112xf32> {graph.name = "x"}) -> (tensor<1x10xf32> {graph.name = "y"}) {
  %w = graph.constant dense<0.01> : tensor<64x3x7x7xf32>
  %v = graph.constant dense<0.02> : tensor<64x64x3x3xf32>
  %s = graph.constant dense<0.5> : tensor<64xf32>
  %m = graph.constant dense<0.03> : tensor<64x10xf32>
  %axes = graph.constant dense<[2, 3]> : tensor<2xi64>
  %flat = graph.constant dense<[1, -1]> : tensor<2xi64>
  %0 = graph.conv %x, %w {pads = array<i64: 3, 3, 3, 3>, strides = array<i64: 2, 2>} : (tensor<1x3x112x112xf32>, tensor<64x3x7x7xf32>) -> tensor<1x64x56x56xf32>
  %1 = graph.batch_norm %0, %s, %s, %s, %s : (tensor<1x64x56x56xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<1x64x56x56xf32>
  %2 = graph.relu %1 : tensor<1x64x56x56xf32>
  %3 = graph.max_pool %2 {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x64x56x56xf32>) -> tensor<1x64x28x28xf32>
  %4 = graph.conv %3, %v {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x28x28xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x28x28xf32>
  %5 = graph.add %4, %3 : tensor<1x64x28x28xf32>
  %6 = graph.relu %5 : tensor<1x64x28x28xf32>
  %7 = graph.reduce_mean %6, %axes : (tensor<1x64x28x28xf32>, tensor<2xi64>) -> tensor<1x64x1x1xf32>
  %8 = graph.reshape %7, %flat : (tensor<1x64x1x1xf32>, tensor<2xi64>) -> tensor<1x64xf32>
  %9 = graph.matmul %8, %m : (tensor<1x64xf32>, tensor<64x10xf32>) -> tensor<1x10xf32>
  return %9 : tensor<1x10xf32>
}
