// SPDX-License-Identifier: Apache-2.0
// What holds for the sizes that somebody asks for, and not for those between.
// RUN: dlc-opt %s --split-input-file --graph-specialize-shapes=extents='L=8|16' --remarks-filter=graph-specialize-shapes -o /dev/null 2>&1 | FileCheck %s

// Of rows that became one, the padding of one lies in front of the next.
// CHECK: [Missed] SpecializeShapes {{.*}}cumsum does not keep what there is apart from padding
func.func @main(%arg0: tensor<2x?xf32> {graph.dims = ["", "L"]}) -> (tensor<?x?xf32>) {
  %im1 = graph.constant dense<-1> : tensor<1xi64>
  %0 = graph.reshape %arg0, %im1 : (tensor<2x?xf32>, tensor<1xi64>) -> tensor<?xf32>
  %i0 = graph.constant dense<0> : tensor<i64>
  %1 = graph.cumsum %0, %i0 : (tensor<?xf32>, tensor<i64>) -> tensor<?xf32>
  %2 = graph.shape %arg0 : (tensor<2x?xf32>) -> tensor<2xi64>
  %3 = graph.reshape %1, %2 : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %3 : tensor<?x?xf32>
}

// -----

// What repeats two elements is at the same places for even sizes alone.
// CHECK: [Missed] SpecializeShapes {{.*}}reshape does not keep what there is apart from padding
func.func @main(%arg0: tensor<2x?xf32> {graph.dims = ["", "L"]}) -> (tensor<2x?xf32>) {
  %0 = graph.shape %arg0 : (tensor<2x?xf32>) -> tensor<2xi64>
  %i1 = graph.constant dense<1> : tensor<1xi64>
  %1 = graph.gather %0, %i1 : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
  %c = graph.constant dense<[1.000000e+02, 2.000000e+02]> : tensor<2xf32>
  %2 = graph.tile %c, %1 : (tensor<2xf32>, tensor<1xi64>) -> tensor<?xf32>
  %3 = graph.shape %arg0 : (tensor<2x?xf32>) -> tensor<2xi64>
  %4 = graph.reshape %2, %3 : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %5 = graph.add %arg0, %4 : (tensor<2x?xf32>, tensor<?x?xf32>) -> tensor<2x?xf32>
  return %5 : tensor<2x?xf32>
}

// -----

// How far apart places lie that are interpolated is another for each size.
// CHECK: [Missed] SpecializeShapes {{.*}}what it takes differs by the size
func.func @main(%arg0: tensor<1x4x?xf32> {graph.dims = ["", "", "L"]}) -> (tensor<?x4x?xf32>) {
  %0 = graph.shape %arg0 : (tensor<1x4x?xf32>) -> tensor<3xi64>
  %c = graph.constant dense<0.5> : tensor<1x4x7xf32>
  %none = graph.none : none
  %none_0 = graph.none : none
  %1 = graph.resize %c, %none, %none_0, %0 {mode = "linear"} : (tensor<1x4x7xf32>, none, none, tensor<3xi64>) -> tensor<?x?x?xf32>
  %2 = graph.add %arg0, %1 : (tensor<1x4x?xf32>, tensor<?x?x?xf32>) -> tensor<?x4x?xf32>
  return %2 : tensor<?x4x?xf32>
}

// -----

// A step of the model is no multiple of sizes but by chance.
// CHECK: [Missed] SpecializeShapes {{.*}}slice has an extent that is no multiple of the size
func.func @main(%arg0: tensor<?xf32> {graph.dims = ["L"]}) -> (tensor<?xf32>) {
  %0 = graph.neg %arg0 : tensor<?xf32>
  %1 = graph.concat %arg0, %0 {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %i0 = graph.constant dense<0> : tensor<1xi64>
  %last = graph.constant dense<4611686018427387904> : tensor<1xi64>
  %i0_0 = graph.constant dense<0> : tensor<1xi64>
  %i16 = graph.constant dense<16> : tensor<1xi64>
  %2 = graph.slice %1, %i0, %last, %i0_0, %i16 : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return %2 : tensor<?xf32>
}

// -----

// Results that have one element for a large batch have more for a small one.
// CHECK: [Missed] SpecializeShapes {{.*}}what it takes differs by the size
func.func @main(%arg0: tensor<?xf32> {graph.dims = ["L"]}, %arg1: tensor<?xf32> {graph.dims = ["M"]}) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = graph.shape %arg1 : (tensor<?xf32>) -> tensor<1xi64>
  %i0 = graph.constant dense<0> : tensor<1xi64>
  %1 = graph.gather %0, %i0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %i0_0 = graph.constant dense<0> : tensor<1xi64>
  %last = graph.constant dense<4611686018427387904> : tensor<1xi64>
  %i0_1 = graph.constant dense<0> : tensor<1xi64>
  %2 = graph.slice %arg0, %i0_0, %last, %i0_1, %1 : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  %3 = graph.neg %arg1 : tensor<?xf32>
  return %2, %3 : tensor<?xf32>, tensor<?xf32>
}

// -----

// CHECK: [Missed] SpecializeShapes {{.*}}what it takes differs by the size
func.func @main(%arg0: tensor<?xf32> {graph.dims = ["L"]}, %arg1: tensor<?xf32> {graph.dims = ["M"]}) -> (tensor<1xf32>, tensor<?xf32>, tensor<?xf32>) {
  %0 = graph.shape %arg0 : (tensor<?xf32>) -> tensor<1xi64>
  %i0 = graph.constant dense<0> : tensor<1xi64>
  %1 = graph.gather %0, %i0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %2 = graph.shape %arg1 : (tensor<?xf32>) -> tensor<1xi64>
  %i0_0 = graph.constant dense<0> : tensor<1xi64>
  %3 = graph.gather %2, %i0_0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %i0_1 = graph.constant dense<0> : tensor<i64>
  %c = graph.constant dense<> : tensor<0xi64>
  %4 = graph.reshape %1, %c : (tensor<1xi64>, tensor<0xi64>) -> tensor<i64>
  %c_2 = graph.constant dense<> : tensor<0xi64>
  %5 = graph.reshape %3, %c_2 : (tensor<1xi64>, tensor<0xi64>) -> tensor<i64>
  %6 = graph.range %i0_1, %4, %5 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %c_3 = graph.constant dense<0.5> : tensor<64xf32>
  %7 = graph.gather %c_3, %6 : (tensor<64xf32>, tensor<?xi64>) -> tensor<?xf32>
  %i0_4 = graph.constant dense<0> : tensor<1xi64>
  %8 = graph.reduce_sum %7, %i0_4 : (tensor<?xf32>, tensor<1xi64>) -> tensor<1xf32>
  %9 = graph.neg %arg0 : tensor<?xf32>
  %10 = graph.neg %arg1 : tensor<?xf32>
  return %8, %9, %10 : tensor<1xf32>, tensor<?xf32>, tensor<?xf32>
}

// -----

// The first elements are in the first row where rows are long.
// CHECK: [Missed] SpecializeShapes {{.*}}slice has an extent that is no multiple of the size
func.func @main(%arg0: tensor<?x?xf32> {graph.dims = ["L", "M"]}) -> (tensor<?xf32>) {
  %im1 = graph.constant dense<-1> : tensor<1xi64>
  %0 = graph.reshape %arg0, %im1 : (tensor<?x?xf32>, tensor<1xi64>) -> tensor<?xf32>
  %i0 = graph.constant dense<0> : tensor<1xi64>
  %i5 = graph.constant dense<5> : tensor<1xi64>
  %i0_0 = graph.constant dense<0> : tensor<1xi64>
  %i1 = graph.constant dense<1> : tensor<1xi64>
  %1 = graph.slice %0, %i0, %i5, %i0_0, %i1 : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// CHECK: [Missed] SpecializeShapes {{.*}}gather does not keep what there is apart from padding
func.func @main(%arg0: tensor<2x?x?xf32> {graph.dims = ["", "L", "M"]}) -> (tensor<1xf32>) {
  %im1 = graph.constant dense<-1> : tensor<1xi64>
  %0 = graph.reshape %arg0, %im1 : (tensor<2x?x?xf32>, tensor<1xi64>) -> tensor<?xf32>
  %i1 = graph.constant dense<1> : tensor<1xi64>
  %1 = graph.gather %0, %i1 : (tensor<?xf32>, tensor<1xi64>) -> tensor<1xf32>
  return %1 : tensor<1xf32>
}

// -----

// Floats that are equal for two sizes were rounded.
// CHECK: [Missed] SpecializeShapes {{.*}}add computes with the size
func.func @main(%arg0: tensor<?xf32> {graph.dims = ["L"]}) -> (tensor<?xf32>) {
  %0 = graph.shape %arg0 : (tensor<?xf32>) -> tensor<1xi64>
  %i0 = graph.constant dense<0> : tensor<1xi64>
  %1 = graph.gather %0, %i0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %2 = graph.cast %1 {to = f32} : (tensor<1xi64>) -> tensor<1xf32>
  %c = graph.constant dense<1.07374182E+9> : tensor<1xf32>
  %3 = graph.add %2, %c : tensor<1xf32>
  %c_0 = graph.constant dense<1.07374182E+9> : tensor<1xf32>
  %4 = graph.sub %3, %c_0 : tensor<1xf32>
  %5 = graph.add %arg0, %4 : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
  return %5 : tensor<?xf32>
}

// -----

// One number more than there are places, from behind: others for each size.
// CHECK: [Missed] SpecializeShapes {{.*}}slice has an extent that is no multiple of the size
func.func @main(%x: tensor<?xf32> {graph.dims = ["L"]}) -> tensor<?xf32> {
  %i0 = graph.constant dense<0> : tensor<i64>
  %i1 = graph.constant dense<1> : tensor<i64>
  %none = graph.constant dense<0> : tensor<1xi64>
  %one = graph.constant dense<1> : tensor<1xi64>
  %im1 = graph.constant dense<-1> : tensor<1xi64>
  %end = graph.constant dense<-4611686018427387904> : tensor<1xi64>
  %shape = graph.shape %x : (tensor<?xf32>) -> tensor<1xi64>
  %length = graph.squeeze %shape : (tensor<1xi64>) -> tensor<i64>
  %more = graph.add %length, %i1 : tensor<i64>
  %numbers = graph.range %i0, %more, %i1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %turned = graph.slice %numbers, %im1, %end, %none, %im1 : (tensor<?xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xi64>
  %low = graph.slice %turned, %none, %shape, %none, %one : (tensor<?xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xi64>
  %real = graph.cast %low {to = f32} : (tensor<?xi64>) -> tensor<?xf32>
  %y = graph.add %x, %real : tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// What cuts nothing of a thousand rows cuts some of many.
// CHECK: [Missed] SpecializeShapes {{.*}}slice has an extent that is no multiple of the size
func.func @main(%arg0: tensor<?x?xf32> {graph.dims = ["L", "M"]}) -> (tensor<?xf32>) {
  %im1 = graph.constant dense<-1> : tensor<1xi64>
  %0 = graph.reshape %arg0, %im1 : (tensor<?x?xf32>, tensor<1xi64>) -> tensor<?xf32>
  %im17000 = graph.constant dense<-17000> : tensor<1xi64>
  %i4611686018427387904 = graph.constant dense<4611686018427387904> : tensor<1xi64>
  %i0 = graph.constant dense<0> : tensor<1xi64>
  %i1 = graph.constant dense<1> : tensor<1xi64>
  %1 = graph.slice %0, %im17000, %i4611686018427387904, %i0, %i1 : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  %2 = graph.shape %arg0 : (tensor<?x?xf32>) -> tensor<2xi64>
  %i1_0 = graph.constant dense<1> : tensor<1xi64>
  %3 = graph.gather %2, %i1_0 : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
  %i0_1 = graph.constant dense<0> : tensor<1xi64>
  %i0_2 = graph.constant dense<0> : tensor<1xi64>
  %i1_3 = graph.constant dense<1> : tensor<1xi64>
  %4 = graph.slice %1, %i0_1, %3, %i0_2, %i1_3 : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return %4 : tensor<?xf32>
}

// -----

// A result whose shape is not known before what else stays open is.
// CHECK: [Missed] SpecializeShapes {{.*}}a result's shape depends on what else stays open
func.func @main(%arg0: tensor<?x?xf32> {graph.dims = ["L", "M"]}) -> (tensor<?x?xf32>) {
  %0 = graph.shape %arg0 : (tensor<?x?xf32>) -> tensor<2xi64>
  %i1 = graph.constant dense<1> : tensor<1xi64>
  %1 = graph.gather %0, %i1 : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
  %i0 = graph.constant dense<0> : tensor<1xi64>
  %i0_0 = graph.constant dense<0> : tensor<1xi64>
  %i0_1 = graph.constant dense<0> : tensor<1xi64>
  %2 = graph.concat %i0, %1, %i0_0, %i0_1 {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xi64>
  %c = graph.constant dense<0.000000e+00> : tensor<f32>
  %i0_1_2 = graph.constant dense<[0, 1]> : tensor<2xi64>
  %3 = graph.pad %arg0, %2, %c, %i0_1_2 : (tensor<?x?xf32>, tensor<4xi64>, tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %3 : tensor<?x?xf32>
}
