// SPDX-License-Identifier: Apache-2.0
// RUN: dlc-opt %s --graph-specialize-shapes='extents=length=4|8' | FileCheck %s
// RUN: dlc-opt %s --graph-specialize-shapes='extents=length=4|8 batches=1,2' | FileCheck %s --check-prefix=TWO
// RUN: dlc-opt %s --graph-specialize-shapes='extents=length=4|8 by-rows=false' | FileCheck %s --check-prefix=OPEN
// RUN: dlc-opt %s --graph-specialize-shapes='extents=length=4' | FileCheck %s --check-prefix=ONE
// A batch that is left open beside sizes that are asked for, and that meets in
// what is quantised, is one example, or as many as are said; others come as they
// are.

// CHECK: graph.by_shape = [@main_1x4, @main_1x8, @main_any]
// TWO: graph.by_shape = [@main_1x4, @main_1x8, @main_2x4, @main_2x8, @main_any]
// ONE: graph.by_shape = [@main_1, @main_2, @main_4, @main_8, @main_16, @main_32, @main_64, @main_any]
// OPEN: graph.by_shape = [@main_4, @main_8]
func.func @main(%x: tensor<?x?xf32> {graph.dims = ["batch", "length"]}) -> tensor<?x?xui8> {
  %axes = graph.constant dense<[0, 1]> : tensor<2xi64>
  %zero = graph.constant dense<0> : tensor<ui8>
  %most = graph.reduce_max %x, %axes {keepdims = false} : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<f32>
  %y = graph.quantize_linear %x, %most, %zero : (tensor<?x?xf32>, tensor<f32>, tensor<ui8>) -> tensor<?x?xui8>
  return %y : tensor<?x?xui8>
}
