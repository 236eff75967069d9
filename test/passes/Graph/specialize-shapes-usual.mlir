// SPDX-License-Identifier: Apache-2.0
// RUN: dlc-opt %s --split-input-file --graph-specialize-shapes=usual | FileCheck %s
// RUN: dlc-opt %s --split-input-file --graph-specialize-shapes='usual batches=1,4' | FileCheck %s --check-prefix=BATCHES

// One length beside the batch has the usual sizes, as far as the model has them,
// and a function for any other.
// CHECK-LABEL: func.func private @main(tensor<?x?xi64> {graph.dims = ["batch", "length"], graph.padded = array<i64: -1, 0>}) -> (tensor<?x?x4xf32> {graph.padded = array<i64: -1, 0, -1>})
// CHECK-SAME: graph.by_shape = [@main_8, @main_16, @main_24, @main_32, @main_40, @main_48, @main_56, @main_64, @main_80, @main_96, @main_100, @main_any]
// CHECK: func.func @main_8(%{{.*}}: tensor<?x8xi64> {{.*}}, %{{.*}}: tensor<i64> {graph.name = "size of length"})
// CHECK: func.func @main_any(%{{.*}}: tensor<?x?xi64> {{.*}}, %{{.*}}: tensor<i64> {graph.name = "size of length"}) -> tensor<?x?x4xf32>
func.func @main(%ids: tensor<?x?xi64> {graph.dims = ["batch", "length"]}) -> tensor<?x?x4xf32> {
  %words = graph.constant dense<0.5> : tensor<100x4xf32>
  %places = graph.constant dense<0.25> : tensor<100x4xf32>
  %zero = graph.constant dense<0> : tensor<1xi64>
  %one = graph.constant dense<1> : tensor<1xi64>
  %shape = graph.shape %ids : (tensor<?x?xi64>) -> tensor<2xi64>
  %n = graph.gather %shape, %one {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
  %word = graph.gather %words, %ids {axis = 0 : i64} : (tensor<100x4xf32>, tensor<?x?xi64>) -> tensor<?x?x4xf32>
  %place = graph.slice %places, %zero, %n, %zero, %one : (tensor<100x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x4xf32>
  %y = graph.add %word, %place : (tensor<?x?x4xf32>, tensor<?x4xf32>) -> tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}

// -----

// Of two it is not known which is how long.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: graph.by_shape
// CHECK-NOT: func.func
func.func @main(%x: tensor<1x?x?xf32> {graph.dims = ["", "height", "width"]}) -> tensor<1x?x?xf32> {
  %y = graph.relu %x : tensor<1x?x?xf32>
  return %y : tensor<1x?x?xf32>
}

// -----

// A batch alone is that of graph-specialize-batch.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: func.func
func.func @main(%x: tensor<?x4xf32> {graph.dims = ["batch", ""]}) -> tensor<?x4xf32> {
  %y = graph.relu %x : tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// What cannot be padded stays as it is.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: func.func
func.func @main(%x: tensor<2x?xf32> {graph.dims = ["", "length"]}) -> tensor<2x1xf32> {
  %i = graph.constant dense<-1> : tensor<1xi64>
  %y = graph.gather %x, %i {axis = 1 : i64} : (tensor<2x?xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  return %y : tensor<2x1xf32>
}

// -----

// What is quantised by all examples is of one; where nothing else is open, any
// examples that meet are padded.
// CHECK-LABEL: func.func private @main(tensor<?x?xf32> {graph.dims = ["batch", "length"], graph.padded = array<i64: -1, 0>})
// CHECK-SAME: graph.by_shape = [@main_1x8, @main_1x16,
// CHECK-SAME: @main_1x512, @main_any]
// BATCHES: graph.by_shape = [@main_1x8, {{.*}}, @main_1x512, @main_4x8, {{.*}}, @main_4x512, @main_any]
// CHECK: func.func @main_1x8(%{{.*}}: tensor<1x8xf32> {{.*}}, %{{.*}}: tensor<i64> {graph.name = "size of length"})
// CHECK: graph.reduce_max %{{.*}}, %{{.*}} : (tensor<1x8xf32>, tensor<2xi64>) -> tensor<f32>
// CHECK: func.func @main_any(%{{.*}}: tensor<?x?xf32> {{.*}}, %{{.*}}: tensor<i64> {graph.name = "size of length"}) -> tensor<?x?xui8>
func.func @main(%x: tensor<?x?xf32> {graph.dims = ["batch", "length"]}) -> tensor<?x?xui8> {
  %axes = graph.constant dense<[0, 1]> : tensor<2xi64>
  %zero = graph.constant dense<0> : tensor<ui8>
  %most = graph.reduce_max %x, %axes {keepdims = false} : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<f32>
  %y = graph.quantize_linear %x, %most, %zero : (tensor<?x?xf32>, tensor<f32>, tensor<ui8>) -> tensor<?x?xui8>
  return %y : tensor<?x?xui8>
}

// -----

// Others beside a length may be anything, as steps of a recurrent layer.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: func.func
func.func @main(%x: tensor<?x?xf32> {graph.dims = ["steps", "batch"]}) -> tensor<?x?xf32> {
  %axis = graph.constant dense<0> : tensor<1xi64>
  %most = graph.reduce_max %x, %axis : (tensor<?x?xf32>, tensor<1xi64>) -> tensor<1x?xf32>
  %y = graph.div %x, %most : (tensor<?x?xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: func.func private @main(tensor<?x4xf32> {graph.dims = ["batch", ""], graph.padded = array<i64: 0, -1>})
// CHECK-SAME: graph.by_shape = [@main_1, @main_2, @main_4, @main_8, @main_16, @main_32, @main_64, @main_any]
// BATCHES: graph.by_shape = [@main_1, @main_4, @main_any]
func.func @main(%x: tensor<?x4xf32> {graph.dims = ["batch", ""]}) -> tensor<?x4xf32> {
  %axes = graph.constant dense<[0, 1]> : tensor<2xi64>
  %most = graph.reduce_max %x, %axes : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<1x1xf32>
  %y = graph.div %x, %most : (tensor<?x4xf32>, tensor<1x1xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
