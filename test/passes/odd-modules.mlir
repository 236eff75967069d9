// RUN: split-file %s %t
// RUN: %python %S/odd_modules.py %t
// Every pass and pipeline on modules that passes tend to forget: it works or
// says why not, and never crashes.

//--- empty.mlir
module {}

//--- declaration.mlir
func.func private @main(tensor<2xf32>) -> tensor<2xf32>

//--- no-operations.mlir
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

//--- nothing.mlir
func.func @main() {
  return
}

//--- unranked.mlir
func.func @main(%x: tensor<*xf32>) -> tensor<*xf32> {
  %0 = graph.relu %x : tensor<*xf32>
  %1 = graph.exp %0 : tensor<*xf32>
  return %1 : tensor<*xf32>
}
func.func @turned(%x: tensor<*xf32>, %m: tensor<2x3xf32>) -> (tensor<*xf32>, tensor<3x2xf32>) {
  %0 = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<*xf32>) -> tensor<*xf32>
  %1 = graph.transpose %m {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0, %1 : tensor<*xf32>, tensor<3x2xf32>
}

//--- dynamic.mlir
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = graph.relu %x : tensor<?x4xf32>
  %1 = graph.softmax %0 : tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}

//--- zero-size.mlir
func.func @main(%x: tensor<0x4xf32>) -> tensor<0x4xf32> {
  %0 = graph.relu %x : tensor<0x4xf32>
  %1 = graph.exp %0 : tensor<0x4xf32>
  return %1 : tensor<0x4xf32>
}

//--- blocks.mlir
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^next
^next:
  %0 = graph.relu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- call.mlir
func.func private @g(tensor<2xf32>) -> tensor<2xf32>
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = func.call @g(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

//--- kernel-declaration.mlir
kernel.library @relu "reference.relu" {} : (tensor<4xf32>) -> tensor<4xf32>
func.func private @main(tensor<4xf32>) -> tensor<4xf32>

//--- empty-program.mlir
plan.program @main {
}

//--- dead-memory.mlir
plan.program @main {
  %a = plan.buffer <cpu:0> : memref<0xf32>
  %b = plan.buffer <cuda:1> : memref<16xf32>
  %p = plan.pool <cpu:0> : memref<*xf32>
}
