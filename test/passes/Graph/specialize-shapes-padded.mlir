// SPDX-License-Identifier: Apache-2.0
// RUN: dlc-opt %s --split-input-file --graph-specialize-shapes=extents='length=8|16' | FileCheck %s
// RUN: dlc-opt %s --split-input-file --graph-specialize-shapes=extents='length=8|16' --remarks-filter=graph-specialize-shapes -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Elements meet in sums, and get what counts nothing where there are none. The
// batch, which stays open, is asked for nothing.
// REMARK: [Passed] SpecializeShapes {{.*}}Extent=length, Remark=padded
// CHECK-LABEL: func.func private @main(tensor<?x?x4xf32> {graph.dims = ["batch", "length", ""], graph.padded = array<i64: -1, 0, -1>}) -> (tensor<?x?x4xf32> {graph.padded = array<i64: -1, 0, -1>}, tensor<?x1x4xf32>, tensor<?x4xf32>)
// CHECK: func.func @main_8(%[[X:.*]]: tensor<?x8x4xf32> {{.*}}, %[[SIZE:.*]]: tensor<i64> {graph.name = "size of length"})
// CHECK: %[[EXP:.*]] = graph.exp %[[X]]
// CHECK: %[[PLACE:.*]] = graph.constant dense<{{\[\[}}0], [1], [2], [3], [4], [5], [6], [7]]> : tensor<8x1xi64>
// CHECK: %[[IS:.*]] = graph.less %[[PLACE]], %[[SIZE]]
// CHECK: %[[ZERO:.*]] = graph.constant dense<0.000000e+00> : tensor<f32>
// CHECK: %[[SELECTED:.*]] = graph.select %[[IS]], %[[EXP]], %[[ZERO]] : (tensor<8x1xi1>, tensor<?x8x4xf32>, tensor<f32>) -> tensor<?x8x4xf32>
// CHECK: graph.reduce_sum %[[SELECTED]]
// CHECK: %[[LEAST:.*]] = graph.constant dense<0xFF800000> : tensor<f32>
// CHECK: %[[SELECTED:.*]] = graph.select %{{.*}}, %[[EXP]], %[[LEAST]]
// CHECK: graph.reduce_max %[[SELECTED]]
// CHECK: func.func @main_16(
func.func @main(%x: tensor<?x?x4xf32> {graph.dims = ["batch", "length", ""]})
    -> (tensor<?x?x4xf32>, tensor<?x1x4xf32>, tensor<?x4xf32>) {
  %axes = graph.constant dense<1> : tensor<1xi64>
  %0 = graph.exp %x : tensor<?x?x4xf32>
  %1 = graph.reduce_sum %0, %axes {keepdims = true} : (tensor<?x?x4xf32>, tensor<1xi64>) -> tensor<?x1x4xf32>
  %2 = graph.reduce_max %0, %axes {keepdims = false} : (tensor<?x?x4xf32>, tensor<1xi64>) -> tensor<?x4xf32>
  return %0, %1, %2 : tensor<?x?x4xf32>, tensor<?x1x4xf32>, tensor<?x4xf32>
}

// -----

// Attention: a softmax leaves zeros, so the other factor alone gets some. Rows
// of the batch and of the sequence become one dimension and two again. Places
// in a table and numbers of places are those of any size.
// REMARK: [Passed] SpecializeShapes {{.*}}Extent=length, Remark=padded
// CHECK-LABEL: func.func private @main(tensor<?x?xi64> {graph.dims = ["batch", "length"], graph.padded = array<i64: -1, 0>}) -> (tensor<?x?x8xf32> {graph.padded = array<i64: -1, 0, -1>})
// CHECK: func.func @main_8(
// CHECK: graph.gather
// CHECK: graph.slice
// CHECK: graph.reshape {{.*}} -> tensor<?x8xf32>
// CHECK: %[[ROWS:.*]] = graph.relu
// CHECK: %[[V:.*]] = graph.reshape %[[ROWS]]
// CHECK: %[[SCORES:.*]] = graph.matmul {{.*}} -> tensor<?x8x8xf32>
// CHECK: %[[MASKED:.*]] = graph.select %{{.*}}, %[[SCORES]], %{{.*}} : (tensor<8xi1>,
// CHECK: %[[WEIGHTS:.*]] = graph.softmax %[[MASKED]]
// CHECK: %[[VALUES:.*]] = graph.select %{{.*}}, %[[V]], %{{.*}} : (tensor<8x1xi1>,
// CHECK: graph.matmul %[[WEIGHTS]], %[[VALUES]]
func.func @main(%ids: tensor<?x?xi64> {graph.dims = ["batch", "length"]}) -> tensor<?x?x8xf32> {
  %words = graph.constant dense<0.5> : tensor<100x8xf32>
  %places = graph.constant dense<0.25> : tensor<16x8xf32>
  %zero = graph.constant dense<0> : tensor<1xi64>
  %none = graph.constant dense<0> : tensor<i64>
  %one = graph.constant dense<1> : tensor<1xi64>
  %step = graph.constant dense<1> : tensor<i64>
  %rows = graph.constant dense<[-1, 8]> : tensor<2xi64>
  %width = graph.constant dense<8> : tensor<1xi64>
  %shape = graph.shape %ids : (tensor<?x?xi64>) -> tensor<2xi64>
  %n = graph.gather %shape, %one {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
  %number = graph.squeeze %n, %zero : (tensor<1xi64>, tensor<1xi64>) -> tensor<i64>
  %word = graph.gather %words, %ids {axis = 0 : i64} : (tensor<100x8xf32>, tensor<?x?xi64>) -> tensor<?x?x8xf32>
  %place = graph.slice %places, %zero, %n, %zero, %one : (tensor<16x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x8xf32>
  %count = graph.range %none, %number, %step : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %again = graph.gather %places, %count {axis = 0 : i64} : (tensor<16x8xf32>, tensor<?xi64>) -> tensor<?x8xf32>
  %0 = graph.add %word, %place : (tensor<?x?x8xf32>, tensor<?x8xf32>) -> tensor<?x?x8xf32>
  %1 = graph.add %0, %again : (tensor<?x?x8xf32>, tensor<?x8xf32>) -> tensor<?x?x8xf32>
  %2 = graph.reshape %1, %rows : (tensor<?x?x8xf32>, tensor<2xi64>) -> tensor<?x8xf32>
  %3 = graph.relu %2 : tensor<?x8xf32>
  %whole = graph.concat %shape, %width {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<3xi64>
  %v = graph.reshape %3, %whole : (tensor<?x8xf32>, tensor<3xi64>) -> tensor<?x?x8xf32>
  %k = graph.transpose %1 {perm = array<i64: 0, 2, 1>} : (tensor<?x?x8xf32>) -> tensor<?x8x?xf32>
  %scores = graph.matmul %1, %k : (tensor<?x?x8xf32>, tensor<?x8x?xf32>) -> tensor<?x?x?xf32>
  %weights = graph.softmax %scores {axis = -1 : i64} : tensor<?x?x?xf32>
  %y = graph.matmul %weights, %v : (tensor<?x?x?xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// Integers have extremes, the first element is there for each size, and what
// norms go over is not the extent.
// REMARK: [Passed] SpecializeShapes {{.*}}Extent=length, Remark=padded
// CHECK-LABEL: func.func private @main(
// CHECK-SAME: -> (tensor<i32>, tensor<1xi32>, tensor<?x4xf32> {graph.padded = array<i64: 0, -1>})
// CHECK: graph.constant dense<2147483647> : tensor<i32>
// CHECK: graph.reduce_min
func.func @main(%x: tensor<?xi32> {graph.dims = ["length"]}, %y: tensor<?x4xf32> {graph.dims = ["length", ""]})
    -> (tensor<i32>, tensor<1xi32>, tensor<?x4xf32>) {
  %axes = graph.constant dense<0> : tensor<1xi64>
  %scale = graph.constant dense<2.0> : tensor<4xf32>
  %0 = graph.reduce_min %x, %axes {keepdims = false} : (tensor<?xi32>, tensor<1xi64>) -> tensor<i32>
  %1 = graph.gather %x, %axes {axis = 0 : i64} : (tensor<?xi32>, tensor<1xi64>) -> tensor<1xi32>
  %2 = graph.layer_norm %y, %scale, %scale : (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  return %0, %1, %2 : tensor<i32>, tensor<1xi32>, tensor<?x4xf32>
}

// -----

// Numbers without a sign, and of one bit.
// REMARK: [Passed] SpecializeShapes {{.*}}Extent=length, Remark=padded
// CHECK-LABEL: func.func private @main(
// CHECK: graph.constant dense<255> : tensor<ui8>
// CHECK: graph.reduce_min
// CHECK: graph.constant dense<false> : tensor<i1>
// CHECK: graph.reduce_max
func.func @main(%x: tensor<?xui8> {graph.dims = ["length"]}, %y: tensor<?xi1> {graph.dims = ["length"]}) -> (tensor<ui8>, tensor<i1>) {
  %axes = graph.constant dense<0> : tensor<1xi64>
  %0 = graph.reduce_min %x, %axes {keepdims = false} : (tensor<?xui8>, tensor<1xi64>) -> tensor<ui8>
  %1 = graph.reduce_max %y, %axes {keepdims = false} : (tensor<?xi1>, tensor<1xi64>) -> tensor<i1>
  return %0, %1 : tensor<ui8>, tensor<i1>
}

// -----

// What is summed up to each element is in front of it; RoBERTa numbers its words
// so.
// REMARK: [Passed] SpecializeShapes {{.*}}Extent=length, Remark=padded
// CHECK-LABEL: func.func private @main(
// CHECK-SAME: -> (tensor<2x?xi64> {graph.padded = array<i64: -1, 0>})
// CHECK-NOT: graph.select
func.func @main(%ids: tensor<2x?xi64> {graph.dims = ["", "length"]}) -> tensor<2x?xi64> {
  %pad = graph.constant dense<1> : tensor<i64>
  %0 = graph.equal %ids, %pad : (tensor<2x?xi64>, tensor<i64>) -> tensor<2x?xi1>
  %1 = graph.logical_not %0 : tensor<2x?xi1>
  %2 = graph.cast %1 {to = i64} : (tensor<2x?xi1>) -> tensor<2x?xi64>
  %3 = graph.cumsum %2, %pad : (tensor<2x?xi64>, tensor<i64>) -> tensor<2x?xi64>
  %4 = graph.mul %3, %2 : tensor<2x?xi64>
  %5 = graph.add %4, %pad : (tensor<2x?xi64>, tensor<i64>) -> tensor<2x?xi64>
  return %5 : tensor<2x?xi64>
}

// -----

// Windows over places that are not there read what images have around them.
// REMARK: [Passed] SpecializeShapes {{.*}}Extent=length, Remark=padded
// CHECK-LABEL: func.func private @main(
// CHECK-SAME: -> (tensor<?x4x?xf32> {graph.padded = array<i64: -1, -1, 0>})
// CHECK: %[[MASKED:.*]] = graph.select {{.*}} : (tensor<8xi1>, tensor<?x4x8xf32>, tensor<f32>)
// CHECK: graph.conv %[[MASKED]]
func.func @main(%x: tensor<?x4x?xf32> {graph.dims = ["batch", "", "length"]}) -> tensor<?x4x?xf32> {
  %w = graph.constant dense<0.5> : tensor<4x4x3xf32>
  %b = graph.constant dense<1.0> : tensor<4xf32>
  %0 = graph.conv %x, %w, %b {pads = array<i64: 1, 1>} : (tensor<?x4x?xf32>, tensor<4x4x3xf32>, tensor<4xf32>) -> tensor<?x4x?xf32>
  %1 = graph.relu %0 : tensor<?x4x?xf32>
  return %1 : tensor<?x4x?xf32>
}

// -----

// There are fewer of them, by a number that depends on the size, where they move
// by two.
// REMARK: not padded to larger ones: conv has an extent that is no multiple of the size
// CHECK-LABEL: func.func private @main(
// CHECK-NOT: graph.padded
func.func @main(%x: tensor<3x4x?xf32> {graph.dims = ["", "", "length"]}) -> tensor<3x4x?xf32> {
  %w = graph.constant dense<0.5> : tensor<4x4x3xf32>
  %b = graph.constant dense<1.0> : tensor<4xf32>
  %0 = graph.conv %x, %w, %b {pads = array<i64: 1, 1>, strides = array<i64: 2>} : (tensor<3x4x?xf32>, tensor<4x4x3xf32>, tensor<4xf32>) -> tensor<3x4x?xf32>
  return %0 : tensor<3x4x?xf32>
}

// -----

// A mask that begins where the length ends that was before it: at 0, as GPT-2
// has it.
// REMARK: [Passed] SpecializeShapes {{.*}}Extent=length, Remark=padded
// CHECK-LABEL: func.func private @main(
// CHECK-SAME: -> (tensor<?x?xf32> {graph.padded = array<i64: 0, 0>})
func.func @main(%x: tensor<?x?xf32> {graph.dims = ["length", "length"]}) -> tensor<?x?xf32> {
  %mask = graph.constant dense<true> : tensor<16x16xi1>
  %zero = graph.constant dense<0> : tensor<1xi64>
  %one = graph.constant dense<1> : tensor<1xi64>
  %least = graph.constant dense<-1.0e4> : tensor<f32>
  %shape = graph.shape %x : (tensor<?x?xf32>) -> tensor<2xi64>
  %n = graph.gather %shape, %zero {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
  %m = graph.gather %shape, %one {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
  %first = graph.sub %m, %n : tensor<1xi64>
  %rows = graph.slice %mask, %first, %m, %zero, %one : (tensor<16x16xi1>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x16xi1>
  %all = graph.slice %rows, %zero, %m, %one, %one : (tensor<?x16xi1>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?xi1>
  %0 = graph.select %all, %x, %least : (tensor<?x?xi1>, tensor<?x?xf32>, tensor<f32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// Rows of a table that all examples have one after the other are in other places
// for another size.
// REMARK: not padded to larger ones: add does not keep what there is apart from padding
// CHECK-LABEL: func.func private @main(
// CHECK-NOT: graph.padded
func.func @main(%x: tensor<2x?x4xf32> {graph.dims = ["", "length", ""]}) -> tensor<2x?x4xf32> {
  %table = graph.constant dense<0.5> : tensor<32x4xf32>
  %zero = graph.constant dense<0> : tensor<1xi64>
  %one = graph.constant dense<1> : tensor<1xi64>
  %two = graph.constant dense<2> : tensor<1xi64>
  %rows = graph.constant dense<[-1, 4]> : tensor<2xi64>
  %shape = graph.shape %x : (tensor<2x?x4xf32>) -> tensor<3xi64>
  %n = graph.gather %shape, %one {axis = 0 : i64} : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %all = graph.mul %n, %two : tensor<1xi64>
  %part = graph.slice %table, %zero, %all, %zero, %one : (tensor<32x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x4xf32>
  %flat = graph.reshape %x, %rows : (tensor<2x?x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  %0 = graph.add %flat, %part : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = graph.reshape %0, %shape : (tensor<?x4xf32>, tensor<3xi64>) -> tensor<2x?x4xf32>
  return %1 : tensor<2x?x4xf32>
}

// -----

// Eight and seven have four even numbers each, six has three.
// REMARK: not padded to larger ones: reduce_sum computes with an extent that is no multiple of the size
// CHECK-LABEL: func.func private @main(
// CHECK-NOT: graph.padded
func.func @main(%x: tensor<?xf32> {graph.dims = ["length"]}) -> (tensor<?xf32>, tensor<i64>) {
  %zero = graph.constant dense<0> : tensor<i64>
  %two = graph.constant dense<2> : tensor<i64>
  %axes = graph.constant dense<0> : tensor<1xi64>
  %shape = graph.shape %x : (tensor<?xf32>) -> tensor<1xi64>
  %n = graph.squeeze %shape, %axes : (tensor<1xi64>, tensor<1xi64>) -> tensor<i64>
  %r = graph.range %zero, %n, %two : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %0 = graph.reduce_sum %r, %axes {keepdims = false} : (tensor<?xi64>, tensor<1xi64>) -> tensor<i64>
  return %x, %0 : tensor<?xf32>, tensor<i64>
}

// -----

// There are zeros behind, but a mean counts them.
// REMARK: not padded to larger ones: reduce_mean does not keep what there is apart from padding
// CHECK-LABEL: func.func private @main(
// CHECK-NOT: graph.padded
func.func @main(%x: tensor<?x4xf32> {graph.dims = ["length", ""]}) -> tensor<4xf32> {
  %axes = graph.constant dense<0> : tensor<1xi64>
  %0 = graph.softmax %x {axis = 0 : i64} : tensor<?x4xf32>
  %1 = graph.reduce_mean %0, %axes {keepdims = false} : (tensor<?x4xf32>, tensor<1xi64>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// What has one element has one dimension less.
// REMARK: not padded to larger ones: squeeze has an extent that is no multiple of the size
// CHECK-LABEL: func.func private @main(
// CHECK-NOT: graph.padded
func.func @main(%x: tensor<?x1x4xf32> {graph.dims = ["length", "", ""]}) -> tensor<*xf32> {
  %0 = graph.squeeze %x : (tensor<?x1x4xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// Indices that are computed may be beyond the table behind the length; those that
// are given are not.
// REMARK: [Passed] SpecializeShapes {{.*}}Extent=length, Remark=padded
// CHECK-LABEL: func.func private @main(
// CHECK: func.func @main_8(%[[IDS:.*]]: tensor<8xi64>
// CHECK: graph.gather %{{.*}}, %[[IDS]]
// CHECK: %[[SUM:.*]] = graph.add
// CHECK: %[[INSIDE:.*]] = graph.select %{{.*}}, %[[SUM]], %{{.*}} : (tensor<8xi1>, tensor<8xi64>, tensor<i64>)
// CHECK: graph.gather %{{.*}}, %[[INSIDE]]
func.func @main(%ids: tensor<?xi64> {graph.dims = ["length"]}) -> (tensor<?xf32>, tensor<?xf32>) {
  %table = graph.constant dense<0.5> : tensor<9xf32>
  %zero = graph.constant dense<0> : tensor<i64>
  %sums = graph.cumsum %ids, %zero : (tensor<?xi64>, tensor<i64>) -> tensor<?xi64>
  %0 = graph.gather %table, %ids {axis = 0 : i64} : (tensor<9xf32>, tensor<?xi64>) -> tensor<?xf32>
  %places = graph.add %sums, %ids : tensor<?xi64>
  %1 = graph.gather %table, %places {axis = 0 : i64} : (tensor<9xf32>, tensor<?xi64>) -> tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}

// -----

// The last element is another one for each size.
// REMARK: not padded to larger ones: gather does not keep what there is apart from padding
// CHECK-LABEL: func.func private @main(
// CHECK-NOT: graph.padded
func.func @main(%x: tensor<?x4xf32> {graph.dims = ["length", ""]}) -> tensor<1x4xf32> {
  %last = graph.constant dense<-1> : tensor<1xi64>
  %0 = graph.gather %x, %last {axis = 0 : i64} : (tensor<?x4xf32>, tensor<1xi64>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// -----

// REMARK: not padded to larger ones: cumsum does not keep what there is apart from padding
// CHECK-LABEL: func.func private @main(
// CHECK-NOT: graph.padded
func.func @main(%x: tensor<?xf32> {graph.dims = ["length"]}) -> tensor<?xf32> {
  %axis = graph.constant dense<0> : tensor<i64>
  %0 = graph.cumsum %x, %axis {reverse = true} : (tensor<?xf32>, tensor<i64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// Backwards.
// REMARK: not padded to larger ones: slice does not keep what there is apart from padding
// CHECK-LABEL: func.func private @main(
// CHECK-NOT: graph.padded
func.func @main(%x: tensor<?xf32> {graph.dims = ["length"]}) -> tensor<?xf32> {
  %first = graph.constant dense<-1> : tensor<1xi64>
  %end = graph.constant dense<-1000> : tensor<1xi64>
  %axis = graph.constant dense<0> : tensor<1xi64>
  %step = graph.constant dense<-1> : tensor<1xi64>
  %0 = graph.slice %x, %first, %end, %axis, %step : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// REMARK: not padded to larger ones: mul computes with the size
// CHECK-LABEL: func.func private @main(
// CHECK-NOT: graph.padded
func.func @main(%x: tensor<?xf32> {graph.dims = ["length"]}) -> tensor<?xf32> {
  %shape = graph.shape %x : (tensor<?xf32>) -> tensor<1xi64>
  %n = graph.cast %shape {to = f32} : (tensor<1xi64>) -> tensor<1xf32>
  %0 = graph.mul %x, %n : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// Rows of all examples are numbered through, by other numbers for another size.
// REMARK: not padded to larger ones: mul does not keep what there is apart from padding
// CHECK-LABEL: func.func private @main(
// CHECK-NOT: graph.padded
func.func @main(%x: tensor<3x?xf32> {graph.dims = ["", "length"]}) -> tensor<?xf32> {
  %zero = graph.constant dense<0> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %three = graph.constant dense<3> : tensor<i64>
  %flat = graph.constant dense<[-1]> : tensor<1xi64>
  %shape = graph.shape %x : (tensor<3x?xf32>) -> tensor<2xi64>
  %n = graph.gather %shape, %one {axis = 0 : i64} : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %all = graph.mul %n, %three : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %r = graph.range %zero, %all, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %f = graph.cast %r {to = f32} : (tensor<?xi64>) -> tensor<?xf32>
  %y = graph.reshape %x, %flat : (tensor<3x?xf32>, tensor<1xi64>) -> tensor<?xf32>
  %0 = graph.mul %y, %f : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// REMARK: not padded to larger ones: concat has an extent that is no multiple of the size
// CHECK-LABEL: func.func private @main(
// CHECK-NOT: graph.padded
func.func @main(%x: tensor<?xf32> {graph.dims = ["length"]}) -> tensor<?xf32> {
  %c = graph.constant dense<1.0> : tensor<1xf32>
  %0 = graph.concat %x, %c {axis = 0 : i64} : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// REMARK: not padded to larger ones: return has the extent together with others
// CHECK-LABEL: func.func private @main(
// CHECK-NOT: graph.padded
func.func @main(%x: tensor<?x4xf32> {graph.dims = ["length", ""]}) -> tensor<?xf32> {
  %flat = graph.constant dense<[-1]> : tensor<1xi64>
  %0 = graph.reshape %x, %flat : (tensor<?x4xf32>, tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// REMARK: not padded to larger ones: return gives the size
// CHECK-LABEL: func.func private @main(
// CHECK-NOT: graph.padded
func.func @main(%x: tensor<?x4xf32> {graph.dims = ["length", ""]}) -> tensor<2xi64> {
  %0 = graph.shape %x : (tensor<?x4xf32>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// -----

// REMARK: not padded to larger ones: it draws random numbers
// CHECK-LABEL: func.func private @main(
// CHECK-NOT: graph.padded
func.func @main(%x: tensor<?xf32> {graph.dims = ["length"]}, %r: tensor<2xi64> {graph.random}) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
