// A budget that a training step keeps only if its largest layers compute the
// batch in parts: the smallest is met, one byte less is refused, and gradients
// are those of the whole batch.

// RUN: dlc-opt %s --graph-gradient -o %t.grad.mlir
// RUN: not dlc compile %t.grad.mlir --memory-budget 1 --emit=plan 2> %t.least
// RUN: sed -n 's/.*at least \([0-9]*\) bytes.*/\1/p' %t.least > %t.bytes
// RUN: dlc compile %t.grad.mlir --memory-budget $(cat %t.bytes) --emit=plan -o %t.plan
// RUN: FileCheck %s --input-file=%t.plan
// RUN: not dlc compile %t.grad.mlir --memory-budget $(($(cat %t.bytes) - 1)) --emit=plan 2>&1 | not diff - %t.least | FileCheck %s --check-prefix=SAME
// RUN: dlc compile %t.grad.mlir --memory-budget $(cat %t.bytes) --remarks --emit=plan -o %t.plan 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARKS
// RUN: dlc run %t.grad.mlir --random --outputs %t.all.npz
// RUN: dlc run %t.grad.mlir --random --memory-budget $(cat %t.bytes) --outputs %t.parts.npz
// RUN: %python %S/compare_npz.py %t.all.npz %t.parts.npz 1e-5
// RUN: dlc compile %t.grad.mlir --memory-budget $(cat %t.bytes) --verify-numerics -o %t.dlc

// CHECK: plan.arena
// Numbers of parts that are tried only are not told.
// REMARKS-COUNT-1: graph-split-batch: {{.*}}Parts={{[248]}}
// REMARKS-NOT: graph-split-batch:
// SAME: of at least [[LEAST:[0-9]+]] bytes, got
// SAME: of at least [[LEAST]] bytes, got 1{{$}}
func.func @main(%x: tensor<8x3x32x32xf32> {graph.name = "x"}, %u: tensor<16x3x3x3xf32> {graph.name = "u"}, %a: tensor<16xf32> {graph.name = "a"}, %v: tensor<16x16x3x3xf32> {graph.name = "v"}, %w: tensor<32x16x3x3xf32> {graph.name = "w"}) -> (tensor<8x32x8x8xf32> {graph.name = "y"}) {
  %0 = graph.conv %x, %u, %a {pads = array<i64: 1, 1, 1, 1>} : (tensor<8x3x32x32xf32>, tensor<16x3x3x3xf32>, tensor<16xf32>) -> tensor<8x16x32x32xf32>
  %1 = graph.relu %0 : tensor<8x16x32x32xf32>
  %2 = graph.conv %1, %v {pads = array<i64: 1, 1, 1, 1>} : (tensor<8x16x32x32xf32>, tensor<16x16x3x3xf32>) -> tensor<8x16x32x32xf32>
  %3 = graph.relu %2 : tensor<8x16x32x32xf32>
  %4 = graph.max_pool %3 {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<8x16x32x32xf32>) -> tensor<8x16x16x16xf32>
  %5 = graph.conv %4, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<8x16x16x16xf32>, tensor<32x16x3x3xf32>) -> tensor<8x32x16x16xf32>
  %6 = graph.relu %5 : tensor<8x32x16x16xf32>
  %7 = graph.max_pool %6 {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<8x32x16x16xf32>) -> tensor<8x32x8x8xf32>
  return %7 : tensor<8x32x8x8xf32>
}
