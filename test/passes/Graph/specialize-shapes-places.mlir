// SPDX-License-Identifier: Apache-2.0
// RUN: dlc-opt %s --split-input-file --graph-specialize-shapes=extents='length=8|16' --remarks-filter=graph-specialize-shapes -o /dev/null 2>&1 | FileCheck %s
// RUN: dlc-opt %s --split-input-file --graph-specialize-shapes=extents='length=8|16' --graph-specialize-batch --remarks-filter=graph-specialize-batch -o /dev/null 2>&1 | FileCheck %s --check-prefix=BATCH

// A mask that is read flat, at n * S + s, as exporters of today write it: the
// place of an element follows from where it is, for each size.
// CHECK: [Passed] SpecializeShapes {{.*}}Extent=length, Remark=padded
// BATCH: [Passed] SpecializeBatch
func.func @main(%x: tensor<?x?xf32> {graph.dims = ["batch", "length"]}) -> tensor<?x?xf32> {
  %i0 = graph.constant dense<0> : tensor<i64>
  %i1 = graph.constant dense<1> : tensor<i64>
  %first = graph.constant dense<0> : tensor<1xi64>
  %second = graph.constant dense<1> : tensor<1xi64>
  %flat = graph.constant dense<-1> : tensor<1xi64>
  %shape = graph.shape %x : (tensor<?x?xf32>) -> tensor<2xi64>
  %n = graph.gather %shape, %i0 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %s = graph.gather %shape, %i1 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %rows = graph.range %i0, %n, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %column = graph.unsqueeze %rows, %second : (tensor<?xi64>, tensor<1xi64>) -> tensor<?x1xi64>
  %begins = graph.mul %column, %s : (tensor<?x1xi64>, tensor<i64>) -> tensor<?x1xi64>
  %places = graph.range %i0, %s, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %at = graph.add %begins, %places : (tensor<?x1xi64>, tensor<?xi64>) -> tensor<?x?xi64>
  %elements = graph.reshape %x, %flat : (tensor<?x?xf32>, tensor<1xi64>) -> tensor<?xf32>
  %y = graph.gather %elements, %at : (tensor<?xf32>, tensor<?x?xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// The same by pairs of places, (n, s), which are one tensor.
// CHECK: [Passed] SpecializeShapes {{.*}}Extent=length, Remark=padded
// BATCH: [Passed] SpecializeBatch
func.func @main(%x: tensor<?x?xf32> {graph.dims = ["batch", "length"]}) -> tensor<?x?xf32> {
  %i0 = graph.constant dense<0> : tensor<i64>
  %i1 = graph.constant dense<1> : tensor<i64>
  %last = graph.constant dense<2> : tensor<1xi64>
  %second = graph.constant dense<1> : tensor<1xi64>
  %shape = graph.shape %x : (tensor<?x?xf32>) -> tensor<2xi64>
  %n = graph.gather %shape, %i0 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %s = graph.gather %shape, %i1 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %rows = graph.range %i0, %n, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %column = graph.unsqueeze %rows, %second : (tensor<?xi64>, tensor<1xi64>) -> tensor<?x1xi64>
  %places = graph.range %i0, %s, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %0 = graph.expand %column, %shape : (tensor<?x1xi64>, tensor<2xi64>) -> tensor<?x?xi64>
  %1 = graph.expand %places, %shape : (tensor<?xi64>, tensor<2xi64>) -> tensor<?x?xi64>
  %2 = graph.unsqueeze %0, %last : (tensor<?x?xi64>, tensor<1xi64>) -> tensor<?x?x1xi64>
  %3 = graph.unsqueeze %1, %last : (tensor<?x?xi64>, tensor<1xi64>) -> tensor<?x?x1xi64>
  %pairs = graph.concat %2, %3 {axis = 2 : i64} : (tensor<?x?x1xi64>, tensor<?x?x1xi64>) -> tensor<?x?x2xi64>
  %y = graph.gather_nd %x, %pairs : (tensor<?x?xf32>, tensor<?x?x2xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// Steps that are those of one size alone: of 8 elements these are others.
// CHECK: [Missed] SpecializeShapes {{.*}}gather does not keep what there is apart from padding
func.func @main(%x: tensor<2x?xf32> {graph.dims = ["", "length"]}) -> tensor<?xf32> {
  %i0 = graph.constant dense<0> : tensor<i64>
  %i1 = graph.constant dense<1> : tensor<i64>
  %begin = graph.constant dense<15> : tensor<i64>
  %flat = graph.constant dense<-1> : tensor<1xi64>
  %shape = graph.shape %x : (tensor<2x?xf32>) -> tensor<2xi64>
  %s = graph.gather %shape, %i1 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %elements = graph.reshape %x, %flat : (tensor<2x?xf32>, tensor<1xi64>) -> tensor<?xf32>
  %places = graph.range %i0, %s, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %same = graph.mul %places, %i0 : (tensor<?xi64>, tensor<i64>) -> tensor<?xi64>
  %at = graph.add %same, %begin : (tensor<?xi64>, tensor<i64>) -> tensor<?xi64>
  %y = graph.gather %elements, %at : (tensor<?xf32>, tensor<?xi64>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// Places in a table that have the size in them are others for each.
// CHECK: [Missed] SpecializeShapes {{.*}}gather does not keep what there is apart from padding
func.func @main(%x: tensor<4x?xf32> {graph.dims = ["", "length"]}) -> tensor<4x?xf32> {
  %table = graph.constant dense<0.5> : tensor<64xf32>
  %i1 = graph.constant dense<1> : tensor<i64>
  %last = graph.constant dense<1> : tensor<1xi64>
  %numbers = graph.constant dense<[0, 1, 2, 3]> : tensor<4xi64>
  %shape = graph.shape %x : (tensor<4x?xf32>) -> tensor<2xi64>
  %s = graph.gather %shape, %i1 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %at = graph.mul %numbers, %s : (tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
  %row = graph.gather %table, %at : (tensor<64xf32>, tensor<4xi64>) -> tensor<4xf32>
  %column = graph.unsqueeze %row, %last : (tensor<4xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  %y = graph.add %x, %column : (tensor<4x?xf32>, tensor<4x1xf32>) -> tensor<4x?xf32>
  return %y : tensor<4x?xf32>
}

// -----

// Places that have the size in them are no data.
// CHECK: [Missed] SpecializeShapes {{.*}}add computes with the size
func.func @main(%x: tensor<?x?xi64> {graph.dims = ["batch", "length"]}) -> tensor<?x?xi64> {
  %i0 = graph.constant dense<0> : tensor<i64>
  %i1 = graph.constant dense<1> : tensor<i64>
  %second = graph.constant dense<1> : tensor<1xi64>
  %shape = graph.shape %x : (tensor<?x?xi64>) -> tensor<2xi64>
  %n = graph.gather %shape, %i0 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %s = graph.gather %shape, %i1 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %rows = graph.range %i0, %n, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %column = graph.unsqueeze %rows, %second : (tensor<?xi64>, tensor<1xi64>) -> tensor<?x1xi64>
  %begins = graph.mul %column, %s : (tensor<?x1xi64>, tensor<i64>) -> tensor<?x1xi64>
  %y = graph.add %x, %begins : (tensor<?x?xi64>, tensor<?x1xi64>) -> tensor<?x?xi64>
  return %y : tensor<?x?xi64>
}

// -----

// Narrow integers wrap around where there is more of them than was looked at.
// CHECK: [Missed] SpecializeShapes {{.*}}gather does not keep what there is apart from padding
func.func @main(%x: tensor<?xf32> {graph.dims = ["length"]}) -> tensor<?xf32> {
  %i0 = graph.constant dense<0> : tensor<i64>
  %i1 = graph.constant dense<1> : tensor<i64>
  %shape = graph.shape %x : (tensor<?xf32>) -> tensor<1xi64>
  %s = graph.gather %shape, %i0 : (tensor<1xi64>, tensor<i64>) -> tensor<i64>
  %places = graph.range %i0, %s, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %tall = graph.constant dense<[600, 1]> : tensor<2xi64>
  %half = graph.expand %places, %tall : (tensor<?xi64>, tensor<2xi64>) -> tensor<600x?xi64>
  %narrow = graph.cast %half {to = i8} : (tensor<600x?xi64>) -> tensor<600x?xi8>
  %at = graph.cast %narrow {to = i64} : (tensor<600x?xi8>) -> tensor<600x?xi64>
  %all = graph.gather %x, %at : (tensor<?xf32>, tensor<600x?xi64>) -> tensor<600x?xf32>
  %axes = graph.constant dense<0> : tensor<1xi64>
  %y = graph.reduce_max %all, %axes {keepdims = false} : (tensor<600x?xf32>, tensor<1xi64>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// What depends on the batch, too, was looked at for one.
// CHECK: [Missed] SpecializeShapes {{.*}}add depends on another size than that of the extent
func.func @main(%x: tensor<?x?xf32> {graph.dims = ["batch", "length"]}) -> tensor<?x?xf32> {
  %i0 = graph.constant dense<0> : tensor<i64>
  %i1 = graph.constant dense<1> : tensor<i64>
  %three = graph.constant dense<3> : tensor<i64>
  %shape = graph.shape %x : (tensor<?x?xf32>) -> tensor<2xi64>
  %n = graph.gather %shape, %i0 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %s = graph.gather %shape, %i1 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %few = graph.min %n, %three : tensor<i64>
  %none = graph.sub %few, %three : tensor<i64>
  %places = graph.range %i0, %s, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %at = graph.add %places, %none : (tensor<?xi64>, tensor<i64>) -> tensor<?xi64>
  %y = graph.gather %x, %at {axis = 1 : i64} : (tensor<?x?xf32>, tensor<?xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// Nor is a slice that ends by the size of the batch one of all.
// CHECK: [Missed] SpecializeShapes {{.*}}slice depends on another size than that of the extent
func.func @main(%x: tensor<?x?xf32> {graph.dims = ["batch", "length"]}) -> tensor<?x?xf32> {
  %first = graph.constant dense<0> : tensor<1xi64>
  %second = graph.constant dense<1> : tensor<1xi64>
  %four = graph.constant dense<4> : tensor<1xi64>
  %shape = graph.shape %x : (tensor<?x?xf32>) -> tensor<2xi64>
  %n = graph.gather %shape, %first : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
  %end = graph.mul %n, %four : tensor<1xi64>
  %y = graph.slice %x, %first, %end, %second, %second : (tensor<?x?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
