// SPDX-License-Identifier: Apache-2.0
// RUN: dlc-opt %s --split-input-file --graph-specialize-batch=sizes=1,4 | FileCheck %s

// Masks of attention are read flat, at places that are computed of numbers of
// examples: those are each example's own.
// CHECK-LABEL: func private @main(tensor<?x6xi1>
// CHECK-SAME: graph.by_rows
func.func @main(%m: tensor<?x6xi1>) -> tensor<?x1x6xi1> {
  %i0 = graph.constant dense<0> : tensor<i64>
  %i1 = graph.constant dense<1> : tensor<i64>
  %i6 = graph.constant dense<6> : tensor<i64>
  %axes = graph.constant dense<[1, 2]> : tensor<2xi64>
  %flat_shape = graph.constant dense<-1> : tensor<1xi64>
  %shape = graph.shape %m : (tensor<?x6xi1>) -> tensor<2xi64>
  %n = graph.gather %shape, %i0 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %rows = graph.range %i0, %n, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %rows3 = graph.unsqueeze %rows, %axes : (tensor<?xi64>, tensor<2xi64>) -> tensor<?x1x1xi64>
  %first = graph.mul %rows3, %i6 : (tensor<?x1x1xi64>, tensor<i64>) -> tensor<?x1x1xi64>
  %columns = graph.range %i0, %i6, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<6xi64>
  %at = graph.add %first, %columns : (tensor<?x1x1xi64>, tensor<6xi64>) -> tensor<?x1x6xi64>
  %flat = graph.reshape %m, %flat_shape : (tensor<?x6xi1>, tensor<1xi64>) -> tensor<?xi1>
  %y = graph.gather %flat, %at : (tensor<?xi1>, tensor<?x1x6xi64>) -> tensor<?x1x6xi1>
  return %y : tensor<?x1x6xi1>
}

// -----

// One place further is the next example's.
// CHECK-LABEL: func @main(%{{.*}}: tensor<?x6xi1>
// CHECK-NOT: graph.by_rows
func.func @main(%m: tensor<?x6xi1>) -> tensor<?x1x6xi1> {
  %i0 = graph.constant dense<0> : tensor<i64>
  %i1 = graph.constant dense<1> : tensor<i64>
  %i6 = graph.constant dense<6> : tensor<i64>
  %i7 = graph.constant dense<7> : tensor<i64>
  %axes = graph.constant dense<[1, 2]> : tensor<2xi64>
  %flat_shape = graph.constant dense<-1> : tensor<1xi64>
  %shape = graph.shape %m : (tensor<?x6xi1>) -> tensor<2xi64>
  %n = graph.gather %shape, %i0 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %rows = graph.range %i0, %n, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %rows3 = graph.unsqueeze %rows, %axes : (tensor<?xi64>, tensor<2xi64>) -> tensor<?x1x1xi64>
  %first = graph.mul %rows3, %i6 : (tensor<?x1x1xi64>, tensor<i64>) -> tensor<?x1x1xi64>
  %columns = graph.range %i1, %i7, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<6xi64>
  %at = graph.add %first, %columns : (tensor<?x1x1xi64>, tensor<6xi64>) -> tensor<?x1x6xi64>
  %flat = graph.reshape %m, %flat_shape : (tensor<?x6xi1>, tensor<1xi64>) -> tensor<?xi1>
  %y = graph.gather %flat, %at : (tensor<?xi1>, tensor<?x1x6xi64>) -> tensor<?x1x6xi1>
  return %y : tensor<?x1x6xi1>
}

// -----

// The number of an example is not the same in a part of the batch, nor is the
// largest of them.
// CHECK-LABEL: func @main(%{{.*}}: tensor<?x6xi64>
// CHECK-NOT: graph.by_rows
func.func @main(%x: tensor<?x6xi64>) -> tensor<?x6xi64> {
  %i0 = graph.constant dense<0> : tensor<i64>
  %i1 = graph.constant dense<1> : tensor<i64>
  %axes = graph.constant dense<1> : tensor<1xi64>
  %shape = graph.shape %x : (tensor<?x6xi64>) -> tensor<2xi64>
  %n = graph.gather %shape, %i0 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %rows = graph.range %i0, %n, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %column = graph.unsqueeze %rows, %axes : (tensor<?xi64>, tensor<1xi64>) -> tensor<?x1xi64>
  %y = graph.add %x, %column : (tensor<?x6xi64>, tensor<?x1xi64>) -> tensor<?x6xi64>
  return %y : tensor<?x6xi64>
}

// -----

// CHECK-LABEL: func @main(%{{.*}}: tensor<?x6xi64>
// CHECK-NOT: graph.by_rows
func.func @main(%x: tensor<?x6xi64>) -> tensor<?x6xi64> {
  %i0 = graph.constant dense<0> : tensor<i64>
  %i1 = graph.constant dense<1> : tensor<i64>
  %shape = graph.shape %x : (tensor<?x6xi64>) -> tensor<2xi64>
  %n = graph.gather %shape, %i0 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %rows = graph.range %i0, %n, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %last = graph.reduce_max %rows {keepdims = false} : (tensor<?xi64>) -> tensor<i64>
  %y = graph.add %x, %last : (tensor<?x6xi64>, tensor<i64>) -> tensor<?x6xi64>
  return %y : tensor<?x6xi64>
}

// -----

// Nor are the numbers themselves, as a result.
// CHECK-LABEL: func @main(%{{.*}}: tensor<?x6xi64>
// CHECK-NOT: graph.by_rows
func.func @main(%x: tensor<?x6xi64>) -> (tensor<?x6xi64>, tensor<?xi64>) {
  %i0 = graph.constant dense<0> : tensor<i64>
  %i1 = graph.constant dense<1> : tensor<i64>
  %shape = graph.shape %x : (tensor<?x6xi64>) -> tensor<2xi64>
  %n = graph.gather %shape, %i0 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %rows = graph.range %i0, %n, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %y = graph.neg %x : tensor<?x6xi64>
  return %y, %rows : tensor<?x6xi64>, tensor<?xi64>
}

// -----

// Rows of a table that go by the number of an example are others in a part.
// CHECK-LABEL: func @main(%{{.*}}: tensor<?x6xf32>
// CHECK-NOT: graph.by_rows
func.func @main(%x: tensor<?x6xf32>, %t: tensor<64x6xf32>) -> tensor<?x6xf32> {
  %i0 = graph.constant dense<0> : tensor<i64>
  %i1 = graph.constant dense<1> : tensor<i64>
  %shape = graph.shape %x : (tensor<?x6xf32>) -> tensor<2xi64>
  %n = graph.gather %shape, %i0 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %rows = graph.range %i0, %n, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %p = graph.gather %t, %rows : (tensor<64x6xf32>, tensor<?xi64>) -> tensor<?x6xf32>
  %y = graph.add %x, %p : (tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}
