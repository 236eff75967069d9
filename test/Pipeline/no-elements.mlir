// SPDX-License-Identifier: Apache-2.0
// Calls of libraries without results: no tile is run.

// RUN: dlc compile %s --emit=plan | FileCheck %s
// RUN: dlc run %s --random --threads 2
// RUN: dlc run %s --random --threads 2 --precision bf16
// CHECK: kernel.library {{.*}} "cpu.matmul"

func.func @main(%a: tensor<32x64xf32> {graph.name = "a"}, %b: tensor<64x0xf32> {graph.name = "b"}) -> (tensor<32x0xf32> {graph.name = "y"}) {
  %0 = graph.matmul %a, %b : (tensor<32x64xf32>, tensor<64x0xf32>) -> tensor<32x0xf32>
  %y = graph.relu %0 : tensor<32x0xf32>
  return %y : tensor<32x0xf32>
}
