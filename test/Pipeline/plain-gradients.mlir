// Gradients of weights that compute in blocks are faster, but what they read is
// made for them: where a budget cannot be met so, they stay plain.

// RUN: dlc-opt %s --graph-gradient -o %t.mlir
// RUN: dlc compile %t.mlir --emit=plan | FileCheck %s --check-prefix=BLOCKS
// BLOCKS-COUNT-2: "cpu.conv_weight_gradient"{{.*}}, tensor<1x{{[0-9]+}}x28x28x{{[0-9]+}}xf32>) ->

// RUN: not dlc compile %t.mlir --memory-budget 1 --emit=plan 2> %t.least
// RUN: sed -n 's/.*at least \([0-9]*\) bytes.*/\1/p' %t.least > %t.bytes
// RUN: dlc compile %t.mlir --memory-budget $(cat %t.bytes) --remarks --emit=plan 2> %t.remarks | FileCheck %s --check-prefix=PLAIN
// PLAIN-COUNT-2: "cpu.conv_weight_gradient"{{.*}}, tensor<1x{{[0-9]+}}x28x28xf32>) ->

// What is told is told of what came first and of what is taken, not of trials.
// RUN: FileCheck %s --check-prefix=REMARKS --input-file=%t.remarks
// REMARKS-COUNT-2: convolutions compute in blocks
// REMARKS-NOT: convolutions compute in blocks

// RUN: dlc run %t.mlir --random --outputs %t.blocks.npz
// RUN: dlc run %t.mlir --random --memory-budget $(cat %t.bytes) --outputs %t.plain.npz
// RUN: %python %S/compare_npz.py %t.blocks.npz %t.plain.npz 1e-5
func.func @main(%x: tensor<1x3x28x28xf32> {graph.name = "x"}, %w0: tensor<32x3x3x3xf32> {graph.name = "w0"}, %w1: tensor<32x32x3x3xf32> {graph.name = "w1"}) -> (tensor<1x32x28x28xf32> {graph.name = "y"}) {
  %c0 = graph.conv %x, %w0 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x28x28xf32>, tensor<32x3x3x3xf32>) -> tensor<1x32x28x28xf32>
  %r0 = graph.relu %c0 : tensor<1x32x28x28xf32>
  %c1 = graph.conv %r0, %w1 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x28x28xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x28x28xf32>
  %r1 = graph.relu %c1 : tensor<1x32x28x28xf32>
  return %r1 : tensor<1x32x28x28xf32>
}
