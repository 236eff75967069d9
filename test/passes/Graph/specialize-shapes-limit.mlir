// SPDX-License-Identifier: Apache-2.0
// A size that no run could have, since a table has no such rows.
// RUN: dlc-opt %s --split-input-file --graph-specialize-shapes=extents='L=8|16' --verify-diagnostics
// RUN: dlc-opt %s --split-input-file --graph-specialize-shapes=usual | FileCheck %s

// Where nobody asks for one, the longest that there is gets a function.
// CHECK: graph.by_shape = [@main_8, @main_12, @main_any]
func.func @main(%x: tensor<?x?xf32> {graph.dims = ["batch", "L"]}) -> tensor<?x?xf32> {
  %i0 = graph.constant dense<0> : tensor<i64>
  %i1 = graph.constant dense<1> : tensor<i64>
  %i3 = graph.constant dense<3> : tensor<i64>
  %table = graph.constant dense<0.5> : tensor<15xf32>
  %shape = graph.shape %x : (tensor<?x?xf32>) -> tensor<2xi64>
  %s = graph.gather %shape, %i1 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %places = graph.range %i0, %s, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %at = graph.add %places, %i3 : (tensor<?xi64>, tensor<i64>) -> tensor<?xi64>
  // expected-error @+1 {{L=16: expected an index in [-15, 15), got 18}}
  %rows = graph.gather %table, %at : (tensor<15xf32>, tensor<?xi64>) -> tensor<?xf32>
  %y = graph.add %x, %rows : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// An index into what stays open may be one.
func.func @main(%x: tensor<?x?xf32> {graph.dims = ["batch", "L"]}) -> tensor<1x?xf32> {
  %second = graph.constant dense<1> : tensor<1xi64>
  %y = graph.gather %x, %second {axis = 0 : i64} : (tensor<?x?xf32>, tensor<1xi64>) -> tensor<1x?xf32>
  return %y : tensor<1x?xf32>
}
