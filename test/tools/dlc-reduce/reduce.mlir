// RUN: dlc-reduce %s --reduction-tree='traversal-mode=0 test=%S/Inputs/has-softmax.sh' | FileCheck %s
// What is not needed for the failure goes: here, the functions without softmax,
// and what is computed for it, of which zeros are left.

// CHECK-NOT: func.func @first
func.func @first(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = graph.relu %x : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK: func.func @second
// CHECK-NEXT: %[[ZEROS:.*]] = graph.constant dense<0.000000e+00> : tensor<2x3xf32>
// CHECK-NEXT: %[[Y:.*]] = graph.softmax %[[ZEROS]]
// CHECK-NEXT: return %[[Y]]
func.func @second(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = graph.exp %x : tensor<2x3xf32>
  %b = graph.mul %a, %x : tensor<2x3xf32>
  %y = graph.softmax %b {axis = 1} : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-NOT: func.func @third
func.func @third(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = graph.add %x, %x : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
