// Layers whose values caches do not hold compute two examples after the others:
// the arena has room for those, and results are those of the whole batch.

// RUN: dlc compile %s --remarks --emit=plan -o %t.plan 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.plan
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARKS
// RUN: dlc compile %s --verify-numerics -o %t.dlc
// RUN: dlc run %t.dlc --random --outputs %t.parts.npz
// RUN: dlc run %s --random --whole-batches --outputs %t.whole.npz
// RUN: %python %S/compare_npz.py %t.whole.npz %t.parts.npz 1e-5

// RUN: dlc compile %s --whole-batches --emit=plan | FileCheck %s --check-prefix=WHOLE
// RUN: dlc run %s --random --train --grads %t.grads.npz --outputs %t.train.npz
// RUN: %python %S/compare_npz.py %t.whole.npz %t.train.npz 1e-5

// WHOLE: plan.arena @cpu0 <cpu:0> size(75{{......}})
// WHOLE-NOT: plan.launch @k.slice
// REMARKS: graph-split-batch: {{.*}}Operations=7, Parts=4

// All examples of a value of 32 channels have 37.7 MB, of which two were live.
// CHECK: plan.arena @cpu0 <cpu:0> size(18{{......}})
// CHECK-COUNT-4: plan.launch @k.slice
// CHECK-NOT: plan.launch @k.slice
func.func @main(%x: tensor<8x3x192x192xf32> {graph.name = "x"}, %u: tensor<32x3x3x3xf32> {graph.name = "u"}, %v: tensor<32x32x1x1xf32> {graph.name = "v"}, %w: tensor<8x32x3x3xf32> {graph.name = "w"}) -> (tensor<8x8x22x22xf32> {graph.name = "y"}) {
  %0 = graph.conv %x, %u {pads = array<i64: 1, 1, 1, 1>} : (tensor<8x3x192x192xf32>, tensor<32x3x3x3xf32>) -> tensor<8x32x192x192xf32>
  %1 = graph.relu %0 : tensor<8x32x192x192xf32>
  %2 = graph.conv %1, %v : (tensor<8x32x192x192xf32>, tensor<32x32x1x1xf32>) -> tensor<8x32x192x192xf32>
  %3 = graph.relu %2 : tensor<8x32x192x192xf32>
  %4 = graph.max_pool %3 {kernel_shape = array<i64: 8, 8>, strides = array<i64: 8, 8>} : (tensor<8x32x192x192xf32>) -> tensor<8x32x24x24xf32>
  %5 = graph.conv %4, %w : (tensor<8x32x24x24xf32>, tensor<8x32x3x3xf32>) -> tensor<8x8x22x22xf32>
  return %5 : tensor<8x8x22x22xf32>
}
