// RUN: dlc-opt %s --kernel-verify --split-input-file --verify-diagnostics
// The end of the kernel phase is checked, every violation reported.

kernel.func @good(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  kernel.return
}
kernel.library @relu "reference.relu" {} : (tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<1x4xf32> {
  %0 = kernel.call @good(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = kernel.call @relu(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %axes = graph.constant dense<0> : tensor<1xi64>
  %2 = graph.unsqueeze %1, %axes : (tensor<4xf32>, tensor<1xi64>) -> tensor<1x4xf32>
  return %2 : tensor<1x4xf32>
}

// -----

// expected-error @+1 {{expected an entry of a kernel library, got "cpu.frob"}}
kernel.library @k "cpu.frob" {} : (tensor<4xf32>) -> tensor<4xf32>
// expected-error @+1 {{expected an entry of a kernel library, got "reference.frob"}}
kernel.library @r "reference.frob" {} : (tensor<4xf32>) -> tensor<4xf32>
// expected-error @+1 {{expected a kernel in destination style, got one of values}}
kernel.func @values(%x: tensor<4xf32>) -> tensor<4xf32> {
  kernel.return %x : tensor<4xf32>
}
// expected-error @+1 {{expected a call of the kernel, got none}}
kernel.library @nobody "copy" {} : (tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = kernel.call @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = kernel.call @r(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = kernel.call @values(%1) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{expected a kernel call, a constant, a view or a join}}
  %3 = graph.relu %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected a body of one block, got 0}}
func.func private @declaration(tensor<4xf32>)
